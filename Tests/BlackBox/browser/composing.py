"""Types in Chromium as input methods do, over the DevTools protocol.

Limits: on a desktop, a click or an arrow key ends a composition before the page gets the event. Here it does not, because no input method
of the system is connected, so tests call `commit()` first. Leaving the text ends a composition. The replacements of a spelling checker
are events that a script dispatches, because the protocol has no command for them.
"""

from app import EDITOR, App

# Replaces a word as a browser does: unless the page cancels the event, the browser inserts the text.
REPLACE = (
    """([start, end, text]) => {
      const editor = %s
      editor.select(start, end)
      const {activeElement: element} = document
      const dataTransfer = new DataTransfer()
      dataTransfer.setData("text/plain", text)
      const targetRanges = "value" in element ? [] : [new StaticRange(getSelection().getRangeAt(0))]
      const inputType = "insertReplacementText"
      const event = new InputEvent("beforeinput", {inputType, dataTransfer, data: "value" in element ? text : null, targetRanges,
        bubbles: true, cancelable: true, composed: true})
      if (element.dispatchEvent(event)) document.execCommand("insertText", false, text)
    }"""
    % EDITOR
)


class InputMethod:
    """An input method that composes at the caret of a page, or over the selection."""

    def __init__(self, app: App):
        self.app = app
        self.session = app.context.new_cdp_session(app.page)
        self.composed = ""

    def compose(self, *texts: str, over: tuple[int, int] | None = None) -> "InputMethod":
        """Shows these texts one after another as the text that is being composed.

        `over`: the start and the end of a part of the note that becomes the composition, as with Android's keyboard when the caret
        is in a word.
        """
        for text in texts:
            self._key("rawKeyDown", "Process")
            place = {"replacementStart": over[0], "replacementEnd": over[1]} if over else {}
            over = None
            caret = {"selectionStart": len(text), "selectionEnd": len(text)}
            self.session.send("Input.imeSetComposition", {"text": text} | caret | place)
            self._key("keyUp", "Process")
            self.composed = text
        return self

    def commit(self, text: str | None = None) -> None:
        """Ends the composition with this text, or with the text that is shown."""
        self.session.send("Input.insertText", {"text": self.composed if text is None else text})
        self.composed = ""

    def cancel(self) -> None:
        """Ends the composition without a text."""
        self.session.send("Input.imeSetComposition", {"text": "", "selectionStart": 0, "selectionEnd": 0})
        self.composed = ""

    def commit_with_enter(self, order: str = "key first") -> None:
        """Ends the composition with Enter. In Safari ("key last") the event of the key comes after the end."""
        if order == "key first":
            self._key("rawKeyDown", "Enter")
        self.commit()
        if order == "key last":
            self._key("rawKeyDown", "Enter")
        self._key("keyUp", "Enter")

    def type_as_on_a_phone(self, text: str) -> None:
        """Types each word as a composition that a space ends."""
        for word in text.split(" "):
            self.compose(*(word[: end + 1] for end in range(len(word))))
            self.commit(word + " ")

    def type_with_dead_key(self, accent: str, letter: str, composes: bool) -> None:
        """Types an accented letter. macOS composes the accent, other systems insert only the letter."""
        self._key("rawKeyDown", "Dead", code=222)
        if composes:
            self.compose(accent)
            self.commit(letter)
        else:
            self.session.send("Input.dispatchKeyEvent", {"type": "keyDown", "key": letter, "text": letter})
            self.session.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": letter})

    def speak(self, text: str) -> None:
        """Inserts a text at once, as voice input and emoji pickers do."""
        self.session.send("Input.insertText", {"text": text})

    def replace(self, start: int, end: int, text: str) -> None:
        """Replaces a part of the note, as a spelling checker does."""
        self.app.page.evaluate(REPLACE, [start, end, text])

    def _key(self, kind: str, key: str, code: int = 229) -> None:
        """Sends the event of a key that the input method handles."""
        self.session.send("Input.dispatchKeyEvent", {"type": kind, "key": key, "windowsVirtualKeyCode": code})
