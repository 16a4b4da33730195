"""One note in two browsers: concurrent edits are merged, and incoming edits keep the cursor and all keystrokes."""

import json
import time

import clocks
import pytest
from app import App
from browser_device import CHANGE_RECORD, BrowserClock
from device import Device
from playwright.sync_api import expect
from test_web_looks import PHONE

pytestmark = pytest.mark.long


def shared_note(a: App, b: App, text: str) -> None:
    """Opens a new note in both browsers."""
    a.new_note(text).leave()
    a.wait_synced()
    b.wait_synced()
    b.open(text.split("\n")[0])
    b.expect_text(text)


@pytest.mark.thorough
def test_two_browsers_edit_one_note_offline_and_converge(two_browsers: list[App]):
    a, b = two_browsers
    shared_note(a, b, "Bread\n\nrye\n\nsalt")
    for app in two_browsers:
        app.go_offline()
    a.write("start")
    a.page.keyboard.press("Control+Delete")
    a.type("Loaf")
    a.leave()
    b.write()
    b.type(", a spoon of honey")
    b.leave()
    a.expect_sync("Offline")
    b.expect_sync("Offline")
    a.expect_text("Loaf\n\nrye\n\nsalt")
    b.expect_text("Bread\n\nrye\n\nsalt, a spoon of honey")
    a.go_online()
    a.wait_synced()
    b.go_online()
    for app in two_browsers:
        app.expect_text("Loaf\n\nrye\n\nsalt, a spoon of honey")
        app.wait_synced()
    assert a.run("return engine.status.identical") and b.run("return engine.status.identical")


@pytest.mark.thorough
def test_both_browsers_type_at_once(two_browsers: list[App]):
    a, b = two_browsers
    shared_note(a, b, "top\n\nmiddle\n\nend")
    a.write("start")
    b.write("end")
    for number in range(12):
        a.type(f"a{number} ")
        b.type(f" b{number}")
    a.leave()
    b.leave()
    expected = "".join(f"a{number} " for number in range(12)) + "top\n\nmiddle\n\nend"
    expected += "".join(f" b{number}" for number in range(12))
    for app in two_browsers:
        app.expect_text(expected)
        app.wait_synced()


def test_incoming_text_keeps_the_cursor(two_browsers: list[App]):
    a, b = two_browsers
    shared_note(a, b, "first line\nsecond line\nthird line")
    a.write("start")
    a.page.keyboard.press("ArrowDown")
    for _ in range(6):
        a.page.keyboard.press("ArrowRight")
    caret = a.selection[1]
    b.write("start")
    b.type("A whole new beginning\n")
    b.leave()
    a.expect_text("A whole new beginning\nfirst line\nsecond line\nthird line")
    assert a.selection[1] == caret + len("A whole new beginning\n")
    expect(a.editor).to_be_focused()
    a.type("|")
    a.leave()
    at, text = caret + len("A whole new beginning\n"), "A whole new beginning\nfirst line\nsecond line\nthird line"
    for app in two_browsers:
        app.expect_text(text[:at] + "|" + text[at:])


def test_typing_after_an_incoming_edit_continues_from_it(two_browsers: list[App]):
    """Text that arrived before the first keystroke is the base of the edit."""
    a, b = two_browsers
    shared_note(a, b, "the red door")
    a.write("end")
    a.type(" is open")
    a.leave()
    b.expect_text("the red door is open")
    b.write("end")
    b.type(" wide")
    b.leave()
    for app in two_browsers:
        app.expect_text("the red door is open wide")
        app.wait_synced()
        assert app.run("return copy.notices()") == []


def test_a_click_places_the_cursor(signed_up: App):
    app = signed_up
    app.new_note("Milk and bread").leave()
    box = app.editor.evaluate(
        """element => { const range = document.createRange(), node = element.firstChild.firstChild
        range.setStart(node, 4); range.setEnd(node, 5)
        const {x, y, height} = range.getBoundingClientRect(); return [x + 0.5, y + height / 2] }"""
    )
    app.page.mouse.click(*box)
    expect(app.editor).to_be_focused()
    app.type(", eggs")
    app.expect_text("Milk, eggs and bread")


@pytest.mark.thorough
def test_no_keystroke_is_lost_while_pushes_are_in_flight(browser_and_device):
    """Responses are slow and another device writes while the user types."""
    app, other = browser_and_device
    note = other.make_note("start\n\nend")
    other.sync()
    app.wait_synced()
    app.open("start")

    def slowly(route) -> None:
        time.sleep(0.25)
        route.continue_()

    app.page.route("**/v1/sync", slowly)
    app.write("start")
    words = ""
    for number in range(40):
        word = f"w{number} "
        app.type(word)
        words += word
        app.page.wait_for_timeout(40)
        if number % 8 == 4:
            other.sync()
            other.write(note, other.text(note) + f" other{number}")
            other.sync()
    app.page.unroute("**/v1/sync")
    app.leave()
    expected = words + "start\n\nend" + "".join(f" other{number}" for number in range(4, 40, 8))
    app.expect_text(expected)
    app.wait_synced()
    other.sync()
    assert other.text(note) == expected
    assert app.run("return copy.notices()") == []


def test_changes_of_other_devices_appear_in_the_list(browser_and_device):
    app, other = browser_and_device
    app.wait_synced()
    app.wait_for("engine.status.live")
    note = other.make_note("From elsewhere\nand its second line")
    other.sync()
    expect(app.row("From elsewhere")).to_be_visible()
    other.write(note, "Renamed elsewhere")
    other.sync()
    expect(app.row("Renamed elsewhere")).to_be_visible()
    other.delete(note)
    other.sync()
    expect(app.row("Renamed elsewhere")).to_have_count(0)


def test_editing_on_another_device_is_shown(two_browsers: list[App]):
    a, b = two_browsers
    shared_note(a, b, "A note")
    a.wait_for("engine.status.live && engine.status.listeners > 0")
    a.write()
    line = b.page.get_by_text("editing on A")
    for _ in range(30):  # it is reported only every few seconds
        if line.is_visible():
            break
        a.type(".")
        a.page.wait_for_timeout(200)
    expect(line).to_be_visible()
    a.leave()
    expect(line).to_have_count(0)


def test_typing_is_not_reported_without_listeners(signed_up: App):
    reported = []
    signed_up.page.on("request", lambda request: reported.append(request.url) if "/v1/ephemeral" in request.url else None)
    signed_up.wait_for("engine.status.live")
    signed_up.new_note("Alone with my words").leave()
    signed_up.wait_synced()
    assert reported == []


def write_conflicting_texts(app: App, other: Device, note: str, is_base_known: bool) -> None:
    """Both replace the same word of "the red door". The browser writes first, and the other device's word remains."""
    app.open("the red door")
    app.go_offline()
    app.write("start")
    for _ in range(4):
        app.page.keyboard.press("ArrowRight")
    app.page.keyboard.press("Control+Delete")
    app.type("blue")
    app.leave()
    app.wait_saved()
    app.expect_text("the blue door")
    if not is_base_known:
        base = clocks.clock(clocks.wall() - 86_400_000, 0, "00000000000000aa")
        app.page.evaluate(CHANGE_RECORD, ["unsent", [note, "text"], {"base": base, "baseValue": None}])
    # Both have measured the server's clock. A slow response makes such a measurement too early.
    other.clock.observe(BrowserClock(app).greatest)
    other.write(note, "the green door")
    other.sync()
    app.go_online()
    app.expect_text("the green door")


# Words in conflict, or the whole text if the server does not know its base (merge.md, Descent, rule 6).
@pytest.mark.parametrize("is_base_known", [True, pytest.param(False, marks=pytest.mark.thorough)], ids=["contest", "unknown base"])
def test_replaced_words_are_shown_and_can_be_restored(browser_and_device, is_base_known):
    app, other = browser_and_device
    note = other.make_note("the red door")
    other.sync()
    app.wait_synced()
    write_conflicting_texts(app, other, note, is_base_known)
    line = app.page.get_by_role("article", name="Note")
    notice = line.get_by_text("your version was replaced", exact=False)
    expect(notice).to_be_visible()
    expect(line.get_by_role("blockquote")).to_have_text("blue" if is_base_known else "the blue door")
    app.button("Restore").click()
    app.expect_text("the blue door")
    expect(notice).to_have_count(0)
    app.undo()
    app.expect_text("the green door")
    app.wait_synced()
    other.sync()
    assert other.text(note) == "the green door"


@pytest.mark.thorough
def test_replaced_words_can_be_copied_after_the_text_has_changed(browser_and_device):
    app, other = browser_and_device
    note = other.make_note("the red door")
    other.sync()
    app.wait_synced()
    write_conflicting_texts(app, other, note, is_base_known=False)
    expect(app.button("Restore")).to_be_visible()
    app.write("end")
    app.type(" and a key")
    expect(app.button("Copy")).to_be_visible()
    expect(app.button("Restore")).to_have_count(0)
    app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.button("Copy").click()
    expect(app.toast("Copied")).to_be_visible()
    assert app.page.evaluate("() => navigator.clipboard.readText()") == "the blue door"
    app.wait_synced()
    app.page.get_by_role("article", name="Note").get_by_role("button", name="Dismiss").click()
    expect(app.button("Copy")).to_have_count(0)
    app.reload()
    app.expect_text("the green door and a key")
    assert app.run("return copy.notices()") == []


def test_a_change_of_another_device_is_shown_after_a_reverted_keystroke(browser_and_device):
    app, other = browser_and_device
    note = other.make_note("milk")
    other.sync()
    app.wait_synced()
    app.open("milk")
    app.write("end")
    app.type("x")
    other.write(note, "Today: milk")
    other.sync()
    # It waits until the keystroke is saved, a second later. By then nothing is left to save.
    app.wait_for("copy.note(location.hash.split('/')[2]).text.startsWith('Today')")
    app.page.keyboard.press("Backspace")
    app.expect_text("Today: milk")


def delete_elsewhere(other: Device, note: str, seen: str) -> None:
    """A third device deletes the note after reading the text with this clock."""
    deletion = {"uniqueID": note, "objectType": "note", "textSeen": seen, "textAfter": []}
    [result] = other.client.another_device().sync({"deletedObjects": [deletion]})["results"]
    assert result["status"] == "rescued"


@pytest.mark.parametrize("how", ["writing", *(pytest.param(how, marks=pytest.mark.thorough) for how in ("writing offline", "reading"))])
def test_an_open_note_that_was_deleted_is_replaced_by_its_rescue_note(browser_and_device, how):
    """merge.md, case 33, on the device that wrote: the cursor and all keystrokes are kept."""
    app, other = browser_and_device
    note = other.make_note("First line\nlast line")
    other.sync()
    seen = other.copy.objects[note].clock("text")
    app.wait_synced()
    app.open("First line")
    app.write("start")
    app.type("Mine: ")
    app.wait_synced()
    if how == "writing offline":
        app.go_offline()
    if how == "reading":
        app.leave()
    else:
        app.type("one ")
    delete_elsewhere(other, note, seen)
    if how == "writing offline":
        app.type("two ")
        app.wait_saved()
        app.go_online()
    app.wait_for("location.hash.split('/')[2] !== argument", note)
    expect(app.toast("This note was deleted on another device")).to_be_visible()
    if how != "reading":
        expect(app.editor).to_be_focused()
        app.type("and on, ")
        app.leave()
    words = {"writing": "Mine: one and on, ", "writing offline": "Mine: one two and on, ", "reading": "Mine: "}[how]
    app.expect_text(words + "First line\nlast line")
    app.wait_synced()
    rescued = app.note_id
    device = Device(other.client)
    device.sync()
    assert list(device.notes) == [rescued] and device.text(rescued) == words + "First line\nlast line"


@pytest.mark.parametrize("how", [pytest.param("typing", marks=pytest.mark.thorough), "unsent"])
def test_a_note_deleted_while_being_edited_is_rescued(browser_and_device, how):
    app, other = browser_and_device
    tag = other.make_tag("kept")
    note = other.make_note("Words", tags=[tag])
    other.sync()
    app.wait_synced()
    app.open("Words")
    if how == "unsent":
        app.go_offline()
    app.write()
    app.type(" and mine")
    app.wait_saved()
    if how == "typing":
        app.wait_synced()
    other.sync()
    other.delete(note)
    other.sync()
    app.go_online()
    app.wait_for("!copy.note(argument)", note)
    app.expect_titles("Words and mine")
    app.expect_text("Words and mine")
    app.wait_synced()
    device = Device(other.client)
    device.sync()
    assert [(one["text"], one["tags"]) for one in device.notes.values()] == [("Words and mine", [tag])]


def test_text_that_a_closed_tab_left_is_kept_until_it_is_in_the_note(signed_up: App):
    """Another tab that saves the same note does not delete it."""
    app = signed_up
    app.new_note("Milk")
    app.wait_saved()
    leave = """const note = copy.note(argument), base = {clock: note.textClock, value: note.text}
        localStorage[`typed ${argument} closed`] =
          JSON.stringify({account: copy.session.account.uniqueID, value: "Milk and bread", base, tags: []})"""
    app.run(leave, app.note_id)
    app.page.keyboard.press("Control+Home")
    app.type("Oat ")
    app.wait_saved()
    app.wait_synced()
    app.reload()
    app.expect_titles("Oat Milk and bread")
    app.wait_synced()
    assert app.page.evaluate("() => Object.keys(localStorage).filter(name => name.startsWith('typed '))") == []


def test_text_that_could_not_be_saved_is_saved_after_the_next_start(signed_up: App):
    app = signed_up
    app.new_note("Milk")
    app.wait_saved()
    app.run("copy.write = async () => { throw new Error('the test says so') }")
    app.type(" and bread")
    expect(app.toast("the test says so")).to_be_visible()
    app.page_errors.clear()  # the app also logs the message
    app.leave()
    app.go("#/")
    app.reload()
    app.expect_titles("Milk and bread")


@pytest.mark.parametrize("how", ["closed", *(pytest.param(how, marks=pytest.mark.thorough) for how in ("reloaded", "left"))])
def test_closing_the_page_while_typing_loses_nothing(signed_up: App, how):
    """Not even the last keystrokes, which were not saved yet."""
    app = signed_up
    app.new_note("First words")
    app.wait_saved()
    other_tab = app.tab()
    app.type(", and the last")
    if how == "closed":
        with app.page.expect_event("close"):
            app.page.close(run_before_unload=True)
    elif how == "reloaded":
        app.page.reload()
    else:
        app.page.goto("about:blank")
    other_tab.reload()
    other_tab.expect_titles("First words, and the last")
    other_tab.wait_synced()


def test_links_addresses_and_dates_in_a_text_are_links(signed_up: App):
    app = signed_up
    app.new_note("See https://example.org/a?b=c, write to ada@example.com until 2 December 2026.").leave()
    link = app.editor.locator("a").get_by_text("https://example.org/a?b=c", exact=True)
    assert link.get_attribute("href") == "https://example.org/a?b=c"
    assert app.editor.locator("a").get_by_text("ada@example.com").get_attribute("href") == "mailto:ada@example.com"
    app.context.route("https://example.org/**", lambda route: route.fulfill(body="A page"))
    with app.page.expect_popup() as popup:
        link.click()
    assert popup.value.evaluate("() => opener") is None
    popup.value.close()
    with app.page.expect_download() as download:
        app.editor.get_by_text("2 December 2026").click()
    calendar = download.value.path().read_text()
    assert "DTSTART;VALUE=DATE:20261202" in calendar and "BEGIN:VEVENT" in calendar
    app.wait_synced()
    # Computed, never synced (clients.md, rule 7).
    [pushed] = app.run("return [...copy.entities()].map(one => JSON.stringify(one.registers))")
    assert sorted(json.loads(pushed)) == ["text"]


def test_done_closes_the_keyboard_of_a_phone(new_app):
    """A touch takes a moment, and the text loses the focus before it ends."""
    app = new_app(**PHONE)
    app.sign_up()
    app.new_note("Some words")
    app.button("Done").click(delay=200)
    expect(app.editor).not_to_be_focused()
    expect(app.button("Done")).to_be_hidden()
    app.editor.tap()
    expect(app.editor).to_be_focused()
    app.page.keyboard.press("Control+End")
    app.type(" more")
    app.button("Done").click()
    app.expect_text("Some words more")
