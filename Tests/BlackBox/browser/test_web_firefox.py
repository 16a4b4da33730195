"""The editor in Firefox: keys, mouse and touch, undo, edits of another device, no network, a reload."""

import pytest
from device import Device
from firefox import FirefoxApp, wait_until

# On two busy processors, Firefox takes minutes for what takes seconds otherwise.
pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
UNDO_PAUSE = 1.1  # seconds, after which typing is another step of undo


def test_writing_with_keys(firefox_and_device: tuple[FirefoxApp, Device]):
    app, device = firefox_and_device
    app.new_note("Shopping list\nMilk\n\nBread")
    app.expect_text("Shopping list\nMilk\n\nBread")
    for keys in ("ArrowUp", "ArrowUp", "End"):
        app.press(keys)
    app.type(", eggs")
    app.press("Home")
    app.press("Shift+ArrowRight")
    assert app.selection == [14, 15]
    app.type("m")
    app.press("ArrowDown")
    app.press("Delete")
    app.press("Control+End")
    app.press("Control+Backspace")
    app.type("Rye bread, été, 日本語, 🎉")
    text = "Shopping list\nmilk, eggs\nRye bread, été, 日本語, 🎉"
    app.expect_text(text)

    # The end of a line and its start, across which Backspace and Delete join lines.
    app.press("Control+Home")
    app.press("End")
    app.press("Enter")
    app.press("Enter")
    app.press("Backspace")
    app.press("Delete")
    app.expect_text(text)
    app.wait_synced()
    assert app.saved_text == text
    app.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
    assert "A new version" not in app.evaluate("() => document.body.innerText")

    # Undo and redo. An edit of another device is not undone.
    app.press("Control+End")
    app.pause(UNDO_PAUSE)
    # A busy machine may take a second from one key to the next, which would begin another step.
    app.evaluate("() => { const begin = performance.now(); performance.now = () => begin }")
    app.type(" and salt")
    app.evaluate("() => { delete performance.now }")
    app.wait_synced()
    device.sync()
    [note] = device.notes
    assert device.text(note) == text + " and salt"
    device.write(note, "Today: " + text + " and salt")
    device.sync()
    app.expect_text("Today: " + text + " and salt")
    at = len(("Today: " + text + " and salt").encode("utf-16-le")) // 2
    assert app.selection == [at, at]
    app.press("Control+z")
    app.expect_text("Today: " + text)
    app.press("Control+Shift+z")
    app.expect_text("Today: " + text + " and salt")
    app.press("Control+z")
    app.type(" and pepper")
    expected = "Today: " + text + " and pepper"
    app.expect_text(expected)
    app.wait_synced()
    device.sync()
    assert device.text(note) == expected

    # Written without a network, and reloaded at once.
    app.go_offline()
    app.type(" offline")
    wait_until(lambda: app.saved_text == expected + " offline", "not saved")
    app.go_online()
    app.reload()
    app.wait_visible("New note")
    app.expect_text(expected + " offline")
    app.wait_synced()
    device.sync()
    assert device.text(note) == expected + " offline"


@pytest.mark.thorough
def test_writing_with_mouse_and_touch(firefox_and_device: tuple[FirefoxApp, Device]):
    app, device = firefox_and_device
    app.new_note("Milk and bread\nTea")
    top, left, height = app.evaluate(
        """() => {
          const editor = document.querySelector("[aria-label='Note text']")
          const {top, left} = editor.getBoundingClientRect()
          const {paddingTop, paddingLeft, lineHeight} = getComputedStyle(editor)
          return [top + parseFloat(paddingTop), left + parseFloat(paddingLeft), parseFloat(lineHeight)]
        }"""
    )
    first = (left + 12, top + height / 2)
    app.click(first)
    assert app.selection[0] == app.selection[1] < 4
    app.click(first, times=2)
    assert app.selection == [0, 4]
    app.type("Water")
    app.click((left + 2, top + height / 2))
    app.drag((left + 2, top + height / 2), (left + 400, top + height / 2))
    assert app.selection == [0, len("Water and bread")]
    app.click((left + 2, top + height * 1.5), touch=True)
    app.press("End")
    app.type(" and salt")
    app.expect_text("Water and bread\nTea and salt")
    app.wait_synced()
    device.sync()
    assert [note["text"] for note in device.notes.values()] == ["Water and bread\nTea and salt"]
