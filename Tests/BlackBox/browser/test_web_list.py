"""The list of notes: its orders, dates, excerpts and search, several selected notes, swiping; nested tags."""

import time

import pytest
from app import App
from device import Device
from playwright.sync_api import Locator, expect

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def shelf(browser_and_device) -> tuple[App, Device]:
    """Four notes that were created in this order, and edited in this order: Cherry, Banana, Date, Apple."""
    app, device = browser_and_device
    notes = {}
    for number, name in enumerate(("Date", "Cherry", "Banana", "Apple")):
        notes[name] = device.make_note(f"{name}\n\n**Fruit** number {number}")
        time.sleep(0.003)
    device.sync()
    for name in ("Cherry", "Banana", "Date", "Apple"):
        device.write(notes[name], f"# {name}\n\n- [x] **Fruit**, see [the book](https://example.org) ![](attachment:7b0c) and [[Pears]]")
        time.sleep(0.003)
    device.sync()
    app.wait_synced()
    app.expect_titles("Apple", "Date", "Banana", "Cherry")
    device.by_name = notes
    return app, device


def sort_by(app: App, name: str) -> None:
    app.button("Sort and select").click()
    app.page.get_by_role("menuitemradio", name=name).click()


def marks(locator: Locator) -> list[str]:
    return locator.locator("mark").all_text_contents()


def drag(app: App, name: str, onto: str) -> None:
    begin, end = app.row(name).bounding_box(), app.row(onto).bounding_box()
    app.page.mouse.move(begin["x"] + 60, begin["y"] + 40)
    app.page.mouse.down()
    app.page.mouse.move(begin["x"] + 60, begin["y"] + 20, steps=3)
    app.page.mouse.move(end["x"] + 60, end["y"] + 8, steps=8)
    app.page.wait_for_timeout(150)  # the row follows in animation frames
    app.page.mouse.up()


# Orders, dates, excerpts


def test_orders_of_the_list(shelf):
    app, device = shelf
    expect(app.row("Apple").locator(".note-excerpt")).to_have_text("Fruit, see the book  and Pears")
    # Tags, pins, archiving and the manual order are no edits.
    device.archive(device.by_name["Cherry"])
    device.archive(device.by_name["Cherry"], False)
    device.tag(device.by_name["Banana"], device.make_tag("yellow"))
    device.edit(device.by_name["Date"], "sortDate", "2001-01-01T00:00:00.000Z")
    device.sync()
    app.wait_for("copy.tags().length === 1")
    app.expect_titles("Apple", "Date", "Banana", "Cherry")
    for order, titles in (
        ("Date created", ["Apple", "Banana", "Cherry", "Date"]), ("Title", ["Apple", "Banana", "Cherry", "Date"]),
        ("Date edited", ["Apple", "Date", "Banana", "Cherry"]), ("Manual", ["Apple", "Banana", "Cherry", "Date"]),
    ):  # fmt: skip
        sort_by(app, order)
        app.expect_titles(*titles)
    # Only the manual order can be changed by dragging.
    drag(app, "Date", "Banana")
    app.expect_titles("Apple", "Date", "Banana", "Cherry")
    app.reload()
    app.expect_titles("Apple", "Date", "Banana", "Cherry")
    app.button("Sort and select").click()
    expect(app.page.get_by_role("menuitemradio", name="Manual")).to_have_attribute("aria-checked", "true")
    app.page.keyboard.press("Escape")
    sort_by(app, "Title")
    drag(app, "Date", "Banana")
    app.expect_titles("Apple", "Banana", "Cherry", "Date")
    app.row("Date").focus()
    app.page.keyboard.press("Alt+ArrowUp")
    app.page.get_by_role("region", name="Messages").get_by_role("button", name="Sort manually").click()
    app.expect_titles("Apple", "Date", "Banana", "Cherry")
    app.row("Date").focus()
    app.page.keyboard.press("Alt+ArrowDown")
    app.expect_titles("Apple", "Banana", "Date", "Cherry")


def test_dates_of_rows(shelf):
    app, device = shelf
    device.client.sync({"notes": [{
        "uniqueID": "00000000-0000-4000-8000-00000000000a", "creationDate": "2019-05-04T10:00:00.000Z", "text": "Old",
        "clocks": {"text": "2021-06-07T10:00:00.000Z-0000-00000000000000aa"}}]})  # fmt: skip
    device.client.sync({"notes": [{"uniqueID": "00000000-0000-4000-8000-00000000000b", "creationDate": "2018-05-04T10:00:00.000Z"}]})
    app.expect_titles("Apple", "Date", "Banana", "Cherry", "Old", "Empty note")
    date = app.row("Old").locator("time")
    expect(date).to_have_text("7 Jun 2021")
    expect(app.row("Empty note").locator("time")).to_have_text("4 May 2018")
    sort_by(app, "Date created")
    expect(date).to_have_text("4 May 2019")
    # An edit makes it the newest; a pinned note stays above it.
    sort_by(app, "Date edited")
    app.row("Cherry").focus()
    app.page.keyboard.press("p")
    app.open("Old")
    app.write()
    app.type(" and new")
    app.leave()
    app.expect_titles("Cherry", "Old and new", "Apple", "Date", "Banana", "Empty note")


def test_the_edited_order_shows_before_everything_is_loaded(shelf):
    """The database has the notes in this order. The first rows are not replaced when the rest is there."""
    app, device = shelf
    device.write(device.by_name["Cherry"], "Cherry again")
    device.sync()
    app.expect_titles("Cherry again", "Apple", "Date", "Banana")
    app.wait_synced()
    first = app.run("return copy.transaction(['objects'], 'readonly', tx => tx.packs.first(4))")
    assert [note["registers"]["text"][0].split("\n")[0].strip("# ") for note in first] == ["Cherry again", "Apple", "Date", "Banana"]


# Search


def test_search_marks_what_it_finds(shelf):
    app, device = shelf
    long = device.make_note("Élan vital\n\n" + "lorem ipsum " * 40 + "the **needle** in a haystack\nand so on", tags=[device.make_tag("Grünzeug")])
    device.archive(device.make_note("Straw\n\nneedle"))
    device.sync()
    app.wait_for("copy.note(argument)", long)
    app.search("elan need")
    app.expect_titles("Élan vital")
    row = app.row("Élan vital")
    assert marks(row) == ["Élan", "need"]
    expect(row.locator(".note-excerpt")).to_contain_text("the needle in a haystack and so on")
    for query, titles in (
        ("eedle", ["Straw", "Élan vital"]), ("eedle -straw", ["Élan vital"]), ("needle is:archived", ["Straw"]),
        ("grunz", ["Élan vital"]), ("tag:grünzeug", ["Élan vital"]), ("-tag:grünzeug fruit", ["Apple", "Date", "Banana", "Cherry"]),
        ('"in a hay"', ["Élan vital"]), ('"hay in"', []),
    ):  # fmt: skip
        app.search(query)
        app.expect_titles(*titles)
    # The empty result says what can be searched for.
    expect(app.page.get_by_text("is:pinned")).to_be_visible()
    app.search("grunz")
    assert marks(row.locator(".note-tag")) == ["Grünz"]
    app.search("")
    app.row("Banana").focus()
    app.page.keyboard.press("p")
    app.search("is:pinned")
    app.expect_titles("Banana")
    app.search("has:file")
    expect(app.page.get_by_text("No notes found").first).to_be_visible()


# Several notes


def selected(app: App) -> list[str]:
    return app.page.locator("[data-selecting] [role=option][aria-selected=true] .note-title bdi").all_text_contents()


def test_selecting_with_the_mouse_and_the_keyboard(shelf):
    app, _ = shelf
    press = app.page.keyboard.press
    bar = app.page.get_by_role("toolbar", name="Selected notes")
    app.open("Date")
    app.row("Cherry").click(modifiers=["ControlOrMeta"])
    app._expect(lambda: selected(app), ["Date", "Cherry"])
    expect(bar).to_contain_text("2 selected")
    expect(app.page.locator("#live")).to_have_text("2 selected")
    app.row("Apple").click(modifiers=["Shift"])
    app._expect(lambda: selected(app), ["Apple", "Date", "Banana", "Cherry"])
    press("Escape")
    expect(bar).to_be_hidden()
    expect(app.row("Date")).to_have_attribute("aria-selected", "true")
    app.row("Date").focus()
    press("Shift+ArrowDown")
    press("Shift+ArrowDown")
    app._expect(lambda: selected(app), ["Date", "Banana", "Cherry"])
    press("Shift+ArrowUp")
    app._expect(lambda: selected(app), ["Date", "Banana"])
    press("ArrowUp")
    press("ArrowUp")
    press("Space")
    app._expect(lambda: selected(app), ["Apple", "Date", "Banana"])
    press("Control+a")
    expect(bar).to_contain_text("4 selected")
    assert app.page.get_by_role("listbox", name="Notes", exact=True).get_attribute("aria-multiselectable") == "true"
    # A search drops what it does not find.
    app.search("apple")
    expect(bar).to_contain_text("1 selected")
    app.search("")
    app.row("Banana").click()
    expect(bar).to_be_hidden()
    expect(app.editor).to_contain_text("Banana")


def test_actions_on_several_notes(shelf):
    app, device = shelf
    press = app.page.keyboard.press
    bar = app.page.get_by_role("toolbar", name="Selected notes")

    def choose(*names: str) -> None:
        press("Escape")
        for name in names:
            app.row(name).click(modifiers=["ControlOrMeta"])
        app._expect(lambda: sorted(selected(app)), sorted(names))

    choose("Apple", "Banana")
    bar.get_by_role("button", name="Archive").click()
    app.expect_titles("Date", "Cherry")
    expect(bar).to_be_hidden()
    app.undo()
    app.expect_titles("Apple", "Date", "Banana", "Cherry")
    choose("Cherry", "Banana")
    press("p")
    app.expect_titles("Banana", "Cherry", "Apple", "Date")
    app.row("Date").click(modifiers=["ControlOrMeta"])
    bar.get_by_role("button", name="Pin", exact=True).click()  # two are pinned already
    app.expect_titles("Date", "Banana", "Cherry", "Apple")
    app.undo()
    app.expect_titles("Banana", "Cherry", "Apple", "Date")
    choose("Cherry", "Banana")
    bar.get_by_role("button", name="Unpin").click()
    app.expect_titles("Apple", "Date", "Banana", "Cherry")
    # Tags: one that all have, one that some have, a new one.
    app.run("""const [one, other] = copy.notes(); const tag = await copy.createTag("old"); await copy.addTag(one, tag)
      await copy.addTag(other, tag); await copy.addTag(one, await copy.createTag("some"))""")
    names = "return copy.notes().map(id => copy.note(id).tags.map(tag => copy.tag(tag).name).sort().join())"
    choose("Apple", "Date")
    press("t")
    expect(app.dialog).to_be_visible()
    old, some = app.dialog.get_by_role("checkbox", name="old"), app.dialog.get_by_role("checkbox", name="some")
    expect(old).to_be_checked()
    assert some.evaluate("box => box.indeterminate")
    old.uncheck()
    app.dialog.get_by_label("Find or add a tag").fill("fresh")
    press("Enter")
    expect(app.dialog.get_by_role("checkbox", name="fresh")).to_be_checked()
    app.button("Apply").click()
    app.wait_for("copy.tags().length === 3 && copy.tag(copy.tagNamed('fresh')).count === 2")
    assert app.run(names) == ["fresh,some", "fresh", "", ""]
    app.undo()
    app.wait_for("copy.tag(copy.tagNamed('fresh')).count === 0")
    assert app.run(names) == ["old,some", "old", "", ""]
    # Deleting, with the keyboard.
    press("Escape")
    app.open("Apple")
    app.row("Apple").focus()
    press("Control+a")
    press("Control+Delete")
    app.expect_titles()
    expect(app.toast("4 notes deleted")).to_be_visible()
    press("Control+z")
    app.expect_titles("Apple", "Date", "Banana", "Cherry")
    app.wait_synced()
    device.sync()
    assert len(device.notes) == 4 and not any(note["archived"] or note["attributes"].get("pinned") for note in device.notes.values())


def swipe(app: App, name: str, by: int, down: int = 0, hold: int = 0) -> None:
    """Moves a finger over a row, by so many px to the right and down."""
    box = app.row(name).bounding_box()
    x, y = box["x"] + box["width"] / 2 - by / 2, box["y"] + box["height"] / 2
    session = app.page.context.new_cdp_session(app.page)
    touch = lambda kind, *points: session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})  # noqa: E731
    touch("touchStart", (x, y))
    if hold:
        app.page.wait_for_timeout(hold)
    for step in range(1, 9):
        touch("touchMove", (x + by * step / 8, y + down * step / 8))
    # The finger rests before it is lifted. Otherwise the browser takes the next tap for the end of a fling.
    app.page.wait_for_timeout(100)
    touch("touchMove", (x + by + 1, y + down))
    app.page.wait_for_timeout(100)
    touch("touchEnd")


def test_swiping_and_selecting_on_a_phone(new_app, server):
    device = Device(server.client())
    for name in ("Cherry", "Banana", "Apple"):
        device.make_note(name)
        time.sleep(0.003)
    device.sync()
    app = new_app(**PHONE)
    app.sign_in(device.client.email)
    app.wait_synced()
    app.expect_titles("Apple", "Banana", "Cherry")
    # A long swipe to the right pins, one to the left archives.
    swipe(app, "Cherry", 300)
    app.expect_titles("Cherry", "Apple", "Banana")
    swipe(app, "Cherry", 300)
    app.expect_titles("Apple", "Banana", "Cherry")
    swipe(app, "Banana", -300)
    app.expect_titles("Apple", "Cherry")
    app.undo()
    app.expect_titles("Apple", "Banana", "Cherry")
    # A short one shows buttons. A tap beside them closes them and opens nothing.
    swipe(app, "Banana", -120)
    expect(app.button("Delete")).to_be_visible()
    app.row("Apple").tap()
    expect(app.button("Delete")).to_have_count(0)
    expect(app.row("Apple")).to_be_visible()
    # The buttons of a note that is no longer in the list are gone.
    swipe(app, "Banana", -120)
    expect(app.button("Delete")).to_be_visible()
    app.go("#/archive")
    expect(app.button("Delete")).to_have_count(0)
    app.go("#/")
    swipe(app, "Banana", -120)
    app.button("Delete").tap()
    app.expect_titles("Apple", "Cherry")
    app.undo()
    app.expect_titles("Apple", "Banana", "Cherry")
    # Scrolling is no swipe.
    swipe(app, "Banana", 30, 200)
    app.expect_titles("Apple", "Banana", "Cherry")
    expect(app.page.locator(".swipe")).to_have_count(0)
    # "Select": each tap selects.
    app.button("Sort and select").tap()
    app.page.get_by_role("menuitem", name="Select notes").tap()
    app.row("Apple").tap()
    app.row("Cherry").tap()
    app._expect(lambda: selected(app), ["Apple", "Cherry"])
    assert app.accessibility(touch=True) == []
    app.page.get_by_role("toolbar").get_by_role("button", name="Delete").tap()
    app.expect_titles("Banana")
    app.undo()
    app.expect_titles("Apple", "Banana", "Cherry")
    expect(app.page.get_by_role("toolbar")).to_have_count(0)
    app.row("Banana").tap()
    expect(app.editor).to_be_visible()


# Nested tags


def tag(app: App, name: str) -> Locator:
    return app.page.get_by_role("tree", name="Tags").get_by_role("treeitem", name=name)


def tree(app: App) -> list[str]:
    return app.page.get_by_role("tree", name="Tags").get_by_role("treeitem").evaluate_all(
        "items => items.map(item => '  '.repeat(item.ariaLevel - 1) + item.querySelector('bdi').textContent)")  # fmt: skip


def test_nested_tags(browser_and_device):
    app, device = browser_and_device
    names = ["work", "work/mail", "home/garden", "home/garden/beds"]
    tags = {name: device.make_tag(name) for name in names}
    for title, having in (("Letter", ["work/mail"]), ("Plan", ["work"]), ("Roses", ["home/garden", "home/garden/beds"]), ("Other", [])):
        device.make_note(title, tags=[tags[name] for name in having])
        time.sleep(0.003)
    device.sync()
    app.wait_synced()
    app._expect(lambda: tree(app), ["home", "  garden", "    beds", "work", "  mail"])
    # A parent shows the notes of the tags below it, each once, also if it is no tag.
    expect(tag(app, "home")).to_contain_text("1")
    tag(app, "home").click()
    app.expect_titles("Roses")
    expect(app.page.get_by_role("heading", name="home")).to_be_visible()
    tag(app, "work").click()
    app.expect_titles("Plan", "Letter")
    tag(app, "mail").click()
    app.expect_titles("Letter")
    # Keys, as in every tree.
    press = app.page.keyboard.press
    tag(app, "mail").focus()
    press("ArrowLeft")
    expect(tag(app, "work")).to_be_focused()
    press("ArrowLeft")
    expect(tag(app, "work")).to_have_attribute("aria-expanded", "false")
    app._expect(lambda: tree(app), ["home", "  garden", "    beds", "work"])
    press("Home")
    expect(tag(app, "home")).to_be_focused()
    press("ArrowRight")
    expect(tag(app, "garden")).to_be_focused()
    app.button("Collapse home").click()
    app._expect(lambda: tree(app), ["home", "work"])
    app.go("#/")
    app.reload()
    app._expect(lambda: tree(app), ["home", "work"])
    # The tag of the address is never hidden.
    app.go(f"#/tag/{tags['home/garden/beds']}")
    app._expect(lambda: tree(app), ["home", "  garden", "    beds", "work"])
    # A new note in a parent that is no tag makes it one.
    tag(app, "home").click()
    app.new_note("Attic").leave()
    app.wait_for("copy.tagNamed('home')")
    app.expect_titles("Attic", "Roses")
    # Renaming a parent renames the tags below it; a name that exists is merged after a question.
    app.button("Tag home: rename or delete").click()
    app.page.get_by_role("menuitem", name="Rename").click()
    app.dialog.get_by_label("Name").fill("house")
    press("Enter")
    app._expect(lambda: tree(app), ["house", "  garden", "    beds", "work"])
    app.wait_synced()
    device.sync()
    assert sorted(device.tags.values()) == ["house", "house/garden", "house/garden/beds", "work", "work/mail"]
    tag(app, "work").focus()
    press("F2")
    app.dialog.get_by_label("Name").fill("house")
    press("Enter")
    expect(app.dialog.get_by_text("already exists")).to_be_visible()
    app.button("Merge tags").click()
    expect(app.toast("merged")).to_be_visible()
    app.wait_synced()
    app._expect(lambda: tree(app), ["house", "  garden", "    beds", "  mail"])
    app.undo()
    app._expect(lambda: tree(app), ["house", "  garden", "    beds", "work"])  # "work" is still collapsed
    app.wait_synced()
    device.sync()
    assert sorted(device.tags.values()) == ["house", "house/garden", "house/garden/beds", "work", "work/mail"]
    tag(app, "work").click()
    app.expect_titles("Plan", "Letter")


@pytest.mark.thorough
def test_many_tags(browser_and_device):
    app, device = browser_and_device
    for number in range(40):
        device.make_tag(f"{'plants' if number % 2 else 'animals'}/number {number:02}")
    device.sync()
    app.page.set_viewport_size({"width": 1280, "height": 620})
    expect(tag(app, "number 01")).to_be_attached()
    for name in ("Recently deleted", "Account and devices", "Import and export"):
        box = app.page.get_by_role("navigation").get_by_role("link", name=name).bounding_box()
        assert box["y"] + box["height"] <= 620
    field = app.page.get_by_role("searchbox", name="Filter tags")
    field.fill("number 07")
    app._expect(lambda: tree(app), ["plants", "  number 07"])
    field.press("ArrowDown")
    expect(tag(app, "plants")).to_be_focused()
    field.press("Escape")
    app._expect(lambda: len(tree(app)), 42)
    assert app.accessibility() == []
