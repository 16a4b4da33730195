"""The styled text: looks, check boxes, lists, formatting, pasting, dragging, links between notes, plain text."""

import pytest
from app import App
from device import Device
from playwright.sync_api import expect
from test_web_looks import PHONE


def looks(app: App, words: str) -> str:
    """The classes of the part that has these words, and of its line."""
    part = app.editor.locator(".md-line *").get_by_text(words, exact=True).first
    return part.evaluate("part => `${part.className} / ${part.closest('.md-line').className}`")


def test_markdown_is_styled_while_it_is_typed(signed_up: App):
    app = signed_up
    text = "Soup\n## To buy\n**leeks** and *cream*, ~~salt~~ `dill`\n> said she\n1. one\n```\n**code**\n```\n---\nend"
    app.new_note()
    app.type(text.replace("> said she\n1.", "> said she\n\n1.").replace("\n```\n**", "\n\n```\n**"))
    app.expect_text(text)
    assert looks(app, "leeks") == "md-bold / md-line"
    assert looks(app, "**") == "md-bold md-mark / md-line"
    assert looks(app, "cream") == "md-italic / md-line"
    assert looks(app, "salt") == "md-struck / md-line"
    assert looks(app, "dill") == "md-code / md-line"
    kinds = app.editor.locator("> div").evaluate_all("lines => lines.map(line => line.className.replace(/md-/g, ''))")
    fenced = ["line fenced fence-start", "line fenced", "line fenced fence-end"]
    assert kinds == ["line title", "line heading level-2", "line", "line quote", "line item", *fenced, "line rule", "line"]
    sizes = app.editor.locator("> div").evaluate_all("lines => lines.map(line => parseFloat(getComputedStyle(line).fontSize))")
    assert sizes[0] > sizes[2] and sizes[1] > sizes[2] > sizes[6]
    # Removing a fence changes the lines below it.
    app.select(text.index("```"))
    app.page.keyboard.press("Control+Delete")
    assert app.editor.locator("> div").nth(6).evaluate("line => line.textContent + line.className") == "**code**md-line"
    app.page.keyboard.press("Control+z")
    app.expect_text(text)
    app.leave()
    app.reload()
    app.expect_text(text)
    # Copying and cutting take the text as it is.
    app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.write("start")
    app.page.keyboard.press("Shift+ArrowDown")
    app.page.keyboard.press("Shift+ArrowDown")
    app.page.keyboard.press("Control+x")
    assert app.page.evaluate("() => navigator.clipboard.readText()") == "Soup\n## To buy\n"
    app.expect_text(text.removeprefix("Soup\n## To buy\n"))
    app.page.keyboard.press("Control+v")
    app.expect_text(text)


def test_check_lists(browser_and_device: tuple[App, Device]):
    app, other = browser_and_device
    app.new_note("Packing\n- [ ] tent")
    app.page.keyboard.press("Enter")
    app.type("lamp")
    app.page.keyboard.press("Enter")
    app.page.keyboard.press("Tab")
    app.type("batteries")
    app.expect_text("Packing\n- [ ] tent\n- [ ] lamp\n  - [ ] batteries")
    app.page.keyboard.press("Shift+Tab")
    app.page.keyboard.press("Enter")
    app.page.keyboard.press("Enter")
    app.type("Home")
    app.expect_text("Packing\n- [ ] tent\n- [ ] lamp\n- [ ] batteries\nHome")
    app.wait_synced()
    before = app.selection
    app.editor.locator(".md-box").nth(1).click()
    app.expect_text("Packing\n- [ ] tent\n- [x] lamp\n- [ ] batteries\nHome")
    assert app.selection == before
    app.page.keyboard.press("Control+z")
    app.expect_text("Packing\n- [ ] tent\n- [ ] lamp\n- [ ] batteries\nHome")
    # By keyboard: Ctrl+Enter in the line. Ctrl+Shift+C makes items of lines.
    app.select(10)
    app.page.keyboard.press("Control+Enter")
    app.write("end")
    app.page.keyboard.press("Control+Shift+c")
    app.leave()
    app.expect_text("Packing\n- [x] tent\n- [ ] lamp\n- [ ] batteries\n- [ ] Home")
    app.wait_synced()
    # Another device checks an item at the same time: both stand.
    other.sync()
    [note] = other.notes
    other.write(note, other.text(note).replace("[ ] lamp", "[x] lamp"))
    other.sync()
    app.editor.locator(".md-box").last.click()
    app.expect_text("Packing\n- [x] tent\n- [x] lamp\n- [ ] batteries\n- [x] Home")
    app.wait_synced()
    other.sync()
    assert other.text(note) == app.text


def test_formatting_with_keys(signed_up: App):
    app = signed_up
    app.new_note("a word here")
    app.select(2, 6)
    app.page.keyboard.press("Control+b")
    app.page.keyboard.press("Control+i")
    app.expect_text("a ***word*** here")
    app.page.keyboard.press("Control+b")
    app.expect_text("a *word* here")
    app.page.keyboard.press("Control+k")
    app.page.keyboard.type("https://example.org")
    app.expect_text("a *[word](https://example.org)* here")
    app.write("end")
    app.page.keyboard.press("Shift+Control+ArrowLeft")
    app.page.evaluate("""() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData("text/plain", "https://a.example")
      document.activeElement.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}))
    }""")
    app.expect_text("a *[word](https://example.org)* [here](https://a.example)")


def test_text_is_moved_by_dragging(signed_up: App):
    app = signed_up
    app.new_note("one two three")
    app.select(4, 8)
    def middle(start: int) -> tuple[float, float]:
        return app.editor.evaluate(
            """(element, start) => { const range = document.createRange(), {firstChild: node} = element.firstChild
            range.setStart(node, start); range.setEnd(node, start + 1)
            const {x, y, height} = range.getBoundingClientRect(); return [x + 1, y + height / 2] }""", start)
    app.page.mouse.move(*middle(5))
    app.page.mouse.down()
    app.page.mouse.move(*middle(2))
    app.page.mouse.move(*middle(0))
    app.page.mouse.up()
    app.expect_text("two one three")
    app.page.keyboard.press("Control+z")
    app.expect_text("one two three")
    # What comes from another page is Markdown.
    x, y = middle(0)
    app.editor.evaluate(
        """(element, [clientX, clientY]) => { const dataTransfer = new DataTransfer()
        dataTransfer.setData("text/html", "<b>zero</b>"), dataTransfer.setData("text/plain", "zero")
        element.dispatchEvent(new DragEvent("drop", {dataTransfer, clientX, clientY, bubbles: true, cancelable: true})) }""", [x - 1, y])
    app.expect_text("**zero**one two three")


def test_plain_text_is_a_setting_and_large_texts_are_plain(signed_up: App):
    app = signed_up
    app.new_note("# Soup\n- [ ] leeks")
    expect(app.editor.locator(".md-box")).to_have_count(1)
    app.leave()
    app.choose("Plain text")
    assert app.editor.evaluate("element => element.localName") == "textarea"
    app.write("end")
    app.page.keyboard.press("Enter")
    app.type("cream")
    app.expect_text("# Soup\n- [ ] leeks\n- [ ] cream")
    app.page.keyboard.press("Control+z")
    app.leave()
    app.reload()
    assert app.editor.evaluate("element => element.localName") == "textarea"
    app.choose("Plain text")
    assert app.editor.evaluate("element => element.localName") == "div"
    # A large text is edited in a text area, and nothing of it is lost on the way there.
    app.write("end")
    app.page.keyboard.insert_text("\n" + "word " * 60_000)
    assert app.editor.evaluate("element => element.localName") == "textarea"
    expect(app.editor).to_be_focused()
    app.type("end")
    app.wait_saved()
    assert app.text.endswith("word end") and len(app.text) > 300_000


def test_notes_link_to_each_other(signed_up: App):
    app = signed_up
    app.new_note("Leek soup\nhot").leave()
    app.new_note("Sunday\nCook [[lee")
    options = app.page.get_by_role("listbox", name="Titles").get_by_role("option")
    expect(options.filter(has_text="Leek soup")).to_be_visible()
    app.page.keyboard.press("Enter")
    app.type(" and [[Ce")
    app.page.keyboard.press("Escape")
    app.type("llar]]")
    app.expect_text("Sunday\nCook [[Leek soup]] and [[Cellar]]")
    expect(app.editor).to_be_focused()
    app.editor.locator(".md-note-link").get_by_text("Leek soup").click()
    app.expect_text("Leek soup\nhot")
    expect(app.page.get_by_text("Linked from")).to_be_visible()
    # The links follow the title.
    app.write("start")
    app.page.keyboard.press("Control+Delete")
    app.type("Potato")
    app.leave()
    app.page.get_by_role("region", name="Messages").get_by_role("button", name="Update links").click()
    app.page.get_by_role("listitem").get_by_role("link", name="Sunday").click()
    app.expect_text("Sunday\nCook [[Potato soup]] and [[Cellar]]")
    # A link to a note that does not exist creates it.
    app.editor.locator(".md-note-link").get_by_text("Cellar").click()
    expect(app.editor).to_be_focused()
    app.type("potatoes")
    app.expect_text("Cellar\npotatoes")
    app.wait_saved()
    app.page.get_by_role("listitem").get_by_role("link", name="Sunday").click()
    app.write("end")
    app.page.keyboard.press("ArrowLeft")
    app.page.keyboard.press("Control+Enter")
    app.expect_text("Cellar\npotatoes")


def test_writing_on_a_phone(new_app):
    app = new_app(**PHONE)
    app.sign_up()
    app.new_note("Packing\ntent")
    bar = app.page.get_by_role("toolbar", name="Format")
    bar.get_by_role("button", name="Checklist").tap()
    app.expect_text("Packing\n- [ ] tent")
    expect(app.editor).to_be_focused()
    # A finger hits the box beside it too.
    x, y, width, height = app.editor.locator(".md-box").evaluate(
        "box => { const {x, y, width, height} = box.getBoundingClientRect(); return [x, y, width, height] }")
    app.page.touchscreen.tap(x + width / 2 + 18, y + height / 2 + 10)
    app.expect_text("Packing\n- [x] tent")
    assert app.accessibility(touch=True) == []
    app.button("Done").tap()
    expect(bar).to_be_hidden()


TEXTS = ["a\r\nb\r\n", "\n\n", "x", "tab\there", "‮right", "e\u0301 🏳️‍🌈"]


def test_the_note_stays_exactly_the_text(browser_and_device: tuple[App, Device]):
    app, other = browser_and_device
    notes = {other.make_note(text): text for text in TEXTS}
    other.sync()
    app.wait_synced()
    for note, text in notes.items():
        app.go(f"#/note/{note}")
        expect(app.editor).to_be_visible()
        app.expect_text(text)
        app.write("end")
        app.type("!")
        app.leave()
        app.wait_synced()
        other.sync()
        assert other.text(note) == text + "!"
        app.write("end")
        app.page.keyboard.press("Backspace")
        app.leave()
        app.wait_synced()
        other.sync()
        assert other.text(note) == text
