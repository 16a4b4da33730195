"""Writing with input methods: Japanese, Korean, accents, phones, voice input, and a spelling checker."""

import pytest
from app import App
from composing import InputMethod
from device import Device
from playwright.sync_api import expect


def expect_everywhere(app: App, text: str) -> None:
    """Waits until this text is shown, and in the copy on disk."""
    app.expect_text(text)
    app.wait_for("copy.note(argument[0])?.text === argument[1]", [app.note_id, text])


def test_composing_in_an_empty_note_at_the_end_of_a_line_and_in_a_text(signed_up: App):
    app, method = signed_up, InputMethod(signed_up)
    app.new_note()
    method.compose("k", "か", "かn", "かん", "かんj", "かんじ", "漢字").commit()
    app.expect_text("漢字")
    app.type("\nsecond\n\nlast")
    app.select(2)
    method.compose("h", "は").commit("は")
    app.expect_text("漢字は\nsecond\n\nlast")
    app.select(app.text.index("cond"))
    method.compose("に", "日本").commit()
    app.type("+")
    app.expect_text("漢字は\nse日本+cond\n\nlast")
    app.select(app.text.index("\n\n") + 1)  # in an empty line
    method.compose("ㅎ", "하", "한").commit()
    method.compose("ㄱ", "그", "글").commit()
    app.expect_text("漢字は\nse日本+cond\n한글\nlast")
    assert app.selection == [app.text.index("글") + 1] * 2

    # A cancelled composition leaves nothing, also one over a selection, which it replaces.
    method.compose("x", "xy").cancel()
    app.expect_text("漢字は\nse日本+cond\n한글\nlast")
    app.select(0, 2)
    method.compose("a", "あ").commit()
    app.expect_text("あは\nse日本+cond\n한글\nlast")
    start = app.text.index("日本")
    app.select(start, app.text.index("글"))
    method.compose("に", "にほ").commit("二")
    expect_everywhere(app, "あは\nse二글\nlast")
    assert app.selection == [start + 1, start + 1]

    # The click on the search box ends the composition.
    app.write("end")
    method.compose("ま", "また")
    app.search_box.click()
    expect_everywhere(app, "あは\nse二글\nlastまた")


@pytest.mark.parametrize("order", ["key first", pytest.param("key last", marks=pytest.mark.thorough)])
def test_enter_that_ends_a_composition_adds_no_line(signed_up: App, order: str):
    app, method = signed_up, InputMethod(signed_up)
    app.new_note("- ")
    method.compose("に", "日").commit_with_enter(order)
    app.expect_text("- 日")
    method.compose("ほ", "本").commit_with_enter(order)
    app.type("\nnext")
    # Lists may continue with the next line.
    assert app.text in ("- 日本\nnext", "- 日本\n- next")
    expect_everywhere(app, app.text)


def test_accents_phones_and_voice(signed_up: App):
    app, method = signed_up, InputMethod(signed_up)
    app.new_note("Caf\nend")
    app.select(3)
    method.type_with_dead_key("´", "é", composes=True)
    method.type_with_dead_key("´", "è", composes=False)
    app.expect_text("Caféè\nend")
    app.page.keyboard.press("Backspace")
    app.page.keyboard.press("ArrowDown")
    app.page.keyboard.press("End")
    method.type_as_on_a_phone(" of the day")
    app.expect_text("Café\nend of the day ")
    # The keyboard corrects the word when it ends, and takes a blank back for a full stop.
    method.compose("t", "te", "teh").commit("the ")
    app.page.keyboard.press("Backspace")
    method.speak(". ")
    app.expect_text("Café\nend of the day the. ")
    # The caret is put into an earlier word, which the keyboard continues, then shortens.
    start = app.text.index("day")
    app.select(start + 3)
    method.compose("day", over=(start, start + 3)).compose("days", "day", "da").commit("date")
    app.expect_text("Café\nend of the date the. ")
    app.select(0)
    method.speak("A sentence, spoken. ")
    app.expect_text("A sentence, spoken. Café\nend of the date the. ")
    method.speak("Two lines,\nand 🎉. ")
    app.expect_text("A sentence, spoken. Two lines,\nand 🎉. Café\nend of the date the. ")
    # A spelling checker replaces a word.
    start = app.text.index("sentence")
    method.replace(start, start + len("sentence"), "phrase")
    app.type("s")
    expect_everywhere(app, "A phrases, spoken. Two lines,\nand 🎉. Café\nend of the date the. ")


def test_undo_after_a_composition(signed_up: App):
    app, method = signed_up, InputMethod(signed_up)
    app.new_note("one two")
    app.select(3)
    method.compose("に", "にほ", "日本").commit()
    app.expect_text("one日本 two")
    presses = 0
    while app.text != "one two" and presses < 5:
        app.page.keyboard.press("Control+z")
        presses += 1
        assert app.text.startswith("one") and app.text.endswith(" two")
    app.expect_text("one two")
    for _ in range(presses):
        app.page.keyboard.press("Control+Shift+z")
    app.expect_text("one日本 two")
    # Undo right after a cancelled composition, and keys after it.
    method.compose("x").cancel()
    app.type("!")
    expect_everywhere(app, "one日本! two")


@pytest.mark.parametrize("end", ["commit", *(pytest.param(end, marks=pytest.mark.thorough) for end in ("cancel", "leave"))])
def test_an_edit_of_another_device_waits_for_the_end_of_a_composition(browser_and_device: tuple[App, Device], end: str):
    app, device = browser_and_device
    note = device.make_note("top\nmiddle\nbottom")
    device.sync()
    app.wait_synced()
    app.open("top")
    app.write("start")
    method = InputMethod(app)
    app.select(len("top\nmid"))
    method.compose("に", "にほ")
    app.expect_text("top\nmidにほdle\nbottom")
    device.write(note, "Over the top\nmiddle\nbottom, and below")
    device.sync()
    app.wait_for("copy.note(argument).text.startsWith('Over')", note)
    # The text under the composition does not change.
    assert app.text == "top\nmidにほdle\nbottom"
    method.compose("日本")
    assert app.text == "top\nmid日本dle\nbottom"
    if end == "cancel":
        method.cancel()
    elif end == "leave":
        app.search_box.click()
    else:
        method.commit("日本語")
        device.write(note, "Over the top\nmiddle\nbottom, and below that")
        device.sync()
    mine = {"commit": "日本語", "cancel": "", "leave": "日本"}[end]
    expected = f"Over the top\nmid{mine}dle\nbottom, and below{' that' if end == 'commit' else ''}"
    app.expect_text(expected)
    if end != "leave":
        expect(app.editor).to_be_focused()
        place = len(f"Over the top\nmid{mine}")
        assert app.selection == [place, place]
    app.wait_synced()
    device.sync()
    assert device.text(note) == expected
    assert app.run("return copy.notices()") == []
