"""Writing in the web app: shortcuts, undo, tags, search, printing, imported Markdown."""

import base64
import re
import time

import pytest
from app import App
from device import Device
from playwright.sync_api import expect


def test_typing_with_a_note_selected_in_the_list_destroys_nothing(signed_up: App):
    app = signed_up
    for text in ("First", "Second", "Third"):
        app.new_note(text).leave()
    app.row("Second").click()
    expect(app.row("Second")).to_be_focused()
    app.page.keyboard.type("e##")
    app.page.keyboard.press("Delete")
    app.page.wait_for_timeout(200)
    app.expect_titles("Third", "Second", "First")
    app.page.keyboard.press("Control+Delete")
    app.expect_titles("Third", "First")
    app.undo()
    app.expect_titles("Third", "Second", "First")
    app.row("Second").focus()
    app.page.keyboard.press("Control+e")
    app.expect_titles("Third", "First")


def test_letters_are_no_shortcuts_in_a_note(signed_up: App):
    app = signed_up
    app.new_note("Read me").leave()
    expect(app.after_text).to_be_focused()
    app.page.keyboard.type("npht?")
    app.page.keyboard.press("Control+Delete")
    app.page.wait_for_timeout(200)
    app.expect_titles("Read me")
    assert app.run("return copy.note(copy.notes()[0]).pinned") is False
    expect(app.dialog).to_have_count(0)


def test_a_tab_in_the_text_is_a_tab(signed_up: App):
    app = signed_up
    app.new_note("one")
    app.page.keyboard.press("Tab")
    app.type("two")
    app.expect_text("one\ttwo")
    app.page.keyboard.press("Escape")
    app.page.keyboard.press("Tab")
    expect(app.page.get_by_role("combobox", name="Add a tag")).to_be_focused()


def test_words_in_the_tag_field_become_a_tag_when_another_note_is_opened(signed_up: App):
    app = signed_up
    app.new_note("Other").leave()
    app.new_note("Garden plan").leave()
    field = app.page.get_by_role("combobox", name="Add a tag")
    field.fill("spring")
    app.row("Other").click()
    app.row("Garden plan").click()
    expect(app.button("Remove tag spring")).to_be_visible()
    field.fill("not this")
    field.press("Escape")
    expect(field).to_have_value("")
    field.press("Escape")
    app.wait_synced()
    assert app.run("return copy.tags().map(tag => tag.name)") == ["spring"]


def test_undo_survives_edits_of_another_device(browser_and_device: tuple[App, Device]):
    app, device = browser_and_device
    app.new_note()
    # At once, because typing is undone in steps that end with a pause of a second.
    app.page.keyboard.insert_text("Milk")
    app.page.wait_for_timeout(1_100)
    app.page.keyboard.insert_text(" and bread")
    app.wait_synced()
    device.sync()
    [note] = device.notes
    device.edit(note, "text", "Today: Milk and bread")
    device.sync()
    app.expect_text("Today: Milk and bread")
    app.page.keyboard.press("Control+z")
    app.expect_text("Today: Milk")
    app.page.keyboard.press("Control+Shift+z")
    app.expect_text("Today: Milk and bread")
    app.page.keyboard.press("Control+z")
    app.page.keyboard.press("Control+z")
    app.expect_text("Today: ")
    app.page.keyboard.press("Control+y")
    app.type(" for Ann")
    app.expect_text("Today: Milk for Ann")
    app.wait_synced()
    device.sync()
    assert device.notes[note]["text"] == "Today: Milk for Ann"


@pytest.mark.parametrize("count", [1_500, pytest.param(5_000, marks=pytest.mark.thorough)])
def test_the_first_search_after_a_start_never_blocks(browser_and_device: tuple[App, Device], count: int):
    """The limit is several times the 50 ms of a long task, because the machine may be busy."""
    app, device = browser_and_device
    body = "Wörter, die gesucht werden: naïve café Ελληνικά русский " * 30
    for start in range(0, count, 250):
        for number in range(start, start + 250):
            device.make_note(f"Note {number}\n{body}{'needle' if number % (count // 5) == 7 else ''}")
        device.sync()
    app.wait_for("copy.notes().length === argument", count)
    app.wait_synced(60)
    app.reload()
    app.wait_signed_in()
    app.run("await copy.loaded")
    app.run(
        """window.longest = 0
        new PerformanceObserver(list => { for (const {duration} of list.getEntries()) longest = Math.max(longest, duration) })
          .observe({type: "longtask"})
        document.querySelector("input[type=search]").focus()"""
    )
    app.page.keyboard.type("needle")
    app.page.wait_for_function("() => document.querySelectorAll('[role=listbox] [role=option]').length === 5", timeout=30_000)
    longest = app.page.evaluate("() => longest")
    whole = app.run("const begin = performance.now(); copy.notes({query: 'naïve'}); return performance.now() - begin")
    print(f"longest task {longest:.0f} ms; a search of all {whole:.0f} ms")
    assert longest < 400


def test_a_search_for_an_emoji_finds_it_alone(signed_up: App):
    app = signed_up
    for text in ("Party 🎉", "Plain words", "Another 🎈"):
        app.new_note(text).leave()
    app.search("🎉")
    app.expect_titles("Party 🎉")
    app.search("🦆")
    expect(app.page.get_by_text("No notes found").first).to_be_visible()


def test_rows_are_in_the_order_in_which_they_are_seen(browser_and_device: tuple[App, Device]):
    """Screen readers follow the order of the document."""
    app, device = browser_and_device
    for number in range(80):
        device.make_note(f"Note {number:02}")
        time.sleep(0.002)
    device.sync()
    app.wait_synced()
    order = "() => [...document.querySelectorAll('[role=listbox] [role=option]')].map(row => Number(row.ariaPosInSet))"
    for to in (3_000, 0, 1_500):
        app.page.locator("[role=listbox][aria-label=Notes]").evaluate("(box, top) => { box.scrollTop = top }", to)
        app.page.wait_for_timeout(200)
        shown = app.page.evaluate(order)
        assert shown == sorted(shown)
    app.rows.first.focus()
    device.edit(next(iter(device.notes)), "sortDate", "2099-01-01T00:00:00.000Z")
    device.sync()
    app.page.wait_for_timeout(1_000)
    shown = app.page.evaluate(order)
    assert shown == sorted(shown)


def test_a_long_title_ends_before_the_thumbnail(signed_up: App):
    app = signed_up
    app.new_note("A title without an end " * 12).leave()
    pixel = app.page.evaluate(
        """() => { const canvas = Object.assign(document.createElement('canvas'), {width: 60, height: 60})
          canvas.getContext('2d').fillRect(0, 0, 60, 60); return canvas.toDataURL('image/png').split(',')[1] }"""
    )
    app.attach({"name": "square.png", "mimeType": "image/png", "buffer": base64.b64decode(pixel)})
    picture = app.rows.first.locator("img")
    expect(picture).to_be_visible()
    title = app.rows.first.locator(".note-title").bounding_box()
    box = picture.bounding_box()
    assert title and box and title["x"] + title["width"] <= box["x"]


def test_merging_tags_asks_first_and_can_be_undone(browser_and_device: tuple[App, Device]):
    app, device = browser_and_device
    soup, bread = device.make_tag("soup"), device.make_tag("bread")
    device.make_note("Leek soup", tags=[soup])
    device.make_note("Rye loaf", tags=[bread])
    device.make_note("Bread soup", tags=[soup, bread])
    device.sync()
    app.wait_synced()

    def rename() -> None:
        app.button("Tag bread: rename or delete").click()
        app.page.get_by_role("menuitem", name="Rename").click()
        app.page.keyboard.press("Control+A")
        app.page.keyboard.type("Soup")
        app.page.keyboard.press("Enter")
        expect(app.dialog.get_by_text("“soup” already exists. Its 2 notes and the 2 notes with “bread” will share one tag.")).to_be_visible()

    def tags() -> dict[str, list[str]]:
        device.sync()
        return {n["text"]: sorted(device.tags[tag].lower() for tag in n["tags"]) for n in device.notes.values()}

    before = tags()
    rename()
    app.dialog.get_by_role("button", name="Cancel").click()
    app.wait_synced()
    assert tags() == before
    rename()
    app.dialog.get_by_role("button", name="Merge tags").click()
    app.wait_synced()
    app.wait_for("copy.tags().length === 1")
    assert tags() == {"Leek soup": ["soup"], "Rye loaf": ["soup"], "Bread soup": ["soup"]}
    app.undo()
    app._expect(tags, before)


@pytest.mark.service_worker
def test_no_new_version_is_announced_after_signing_out(signed_up: App):
    app = signed_up
    app.wait_installed()
    app.wait_synced()
    app.sign_out()
    app.page.wait_for_timeout(1_500)
    expect(app.page.get_by_text("A new version is available")).to_have_count(0)


def test_a_note_is_printed_whole_and_alone(browser_and_device: tuple[App, Device]):
    app, device = browser_and_device
    device.make_note("Title to print\n" + "\n".join(f"Line {number}" for number in range(300)))
    device.sync()
    app.wait_synced()
    app.open("Title to print")
    app.write()
    app.page.emulate_media(media="print")
    app.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    visible = app.page.evaluate("() => document.body.innerText")
    assert visible.lstrip().startswith("Title to print") and "Line 299" in visible
    assert "New note" not in visible and "All notes" not in visible
    app.page.emulate_media(media=None)
    pages = len(re.findall(rb"/Type\s*/Page\b", app.page.pdf(format="A4")))
    assert pages > 4, f"{pages} pages"


def test_front_matter_is_not_the_title(browser_and_device: tuple[App, Device]):
    app, device = browser_and_device
    device.make_note("---\ntags: [kitchen]\ndate: 2026-11-24\n---\n\n# Leek soup\nLeeks and potatoes")
    device.sync()
    app.wait_synced()
    app.expect_titles("Leek soup")
