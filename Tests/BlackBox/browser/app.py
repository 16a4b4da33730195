"""The web app as a person uses it: everything is found by its role and its name, as a screen reader finds it."""

import base64
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from client import PASSWORD
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, expect

# Without the windows that nobody sees it needs a fifth of the processor's time. HESPER_BROWSER names another: `chromium`.
CHROMIUM = shutil.which(os.environ.get("HESPER_BROWSER", "chromium-headless-shell")) or shutil.which("chromium")
PATIENCE = 20_000  # ms: on two cores that other tests keep busy
ACCESSIBLE = (Path(__file__).parent / "accessible.js").read_text()
# What a server may say while all is well: signed out, gone, in use, busy. A fault of the client's is a failed test.
TOLERATED = ("401", "409", "410", "429", "503", "507")
# Somebody's script that runs is heard of.
SENTINEL = """
addEventListener("securitypolicyviolation", event => console.error(
  `policy: ${event.effectiveDirective} kept ${event.blockedURI} from ${event.sourceFile}:${event.lineNumber}`))
window.alert = window.prompt = window.confirm = text => { console.error(`a dialog: ${text}`) }
"""


class App:
    """One browser profile, and one of its tabs. `complaints` is all that its pages said was wrong."""

    def __init__(self, context: BrowserContext, url: str, first: "App | None" = None):
        self.context, self.url = context, url.rstrip("/")
        self.email: str | None = first.email if first else None
        self.log: list[str] = first.log if first else []
        self.complaints: list[str] = first.complaints if first else []
        self.tolerated: set[str] = first.tolerated if first else set(TOLERATED)
        if not first:
            context.add_init_script(SENTINEL)
            context.on("console", self._hear)
            context.on("weberror", lambda error: self._complain(f"error: {error.error}"))
        self.page: Page = context.new_page()

    # What goes wrong

    def _hear(self, message: ConsoleMessage) -> None:
        where = message.location.get("url", "")
        self.log.append(f"{message.type}: {message.text} ({where})")
        if message.type != "error" or self._is_expected(message.text, where):
            return
        self._complain(f"console: {message.text} ({where})")

    def _is_expected(self, text: str, where: str) -> bool:
        """The browser itself logs each request that fails; whether the app coped is for the tests to see."""
        if "net::ERR_" in text or "An unknown error occurred when fetching the script" in text:
            return True
        if "Cross-Origin-Opener-Policy header has been ignored" in text:  # as it is without a secure context
            return True
        return "/v1/" in where and any(f"status of {status}" in text for status in self.tolerated)

    def _complain(self, text: str) -> None:
        self.log.append(text)
        self.complaints.append(text)

    def leave_traces(self, folder: Path, name: str) -> None:
        """A picture of each tab, and the log of all, for whoever looks why a test failed."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.log").write_text("\n".join(self.log))
        for number, page in enumerate(self.context.pages, 1):
            try:
                page.screenshot(path=folder / f"{name}-tab{number}.png", timeout=5_000)
                (folder / f"{name}-tab{number}.txt").write_text(page.locator("body").aria_snapshot(timeout=5_000))
            except Exception as failure:  # a picture that cannot be taken must not hide why the test failed
                (folder / f"{name}-tab{number}.txt").write_text(str(failure))

    def accessibility(self, touch: bool = False) -> list[str]:
        return self.page.evaluate(ACCESSIBLE, {"touch": touch})

    # The browser

    def visit(self, fragment: str = "") -> "App":
        self.page.goto(f"{self.url}/{fragment}")
        return self

    def reload(self) -> None:
        self.page.reload()

    def tab(self, fragment: str = "") -> "App":
        """Another tab of the same profile."""
        return App(self.context, self.url, first=self).visit(fragment)

    def go_offline(self, offline: bool = True) -> None:
        self.context.set_offline(offline)

    def go_online(self) -> None:
        self.go_offline(False)

    def hide(self, hidden: bool = True) -> None:
        """What the page is told when another tab is in front. Without a head, every page is always visible."""
        self.page.evaluate(
            """hidden => {
              Object.defineProperty(document, "visibilityState", {configurable: true, get: () => hidden ? "hidden" : "visible"})
              Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden})
              document.dispatchEvent(new Event("visibilitychange", {bubbles: true}))
            }""",
            hidden,
        )

    def run(self, body: str, argument=None):
        """JavaScript against the app's own copy and engine, where the interface would add nothing."""
        return self.page.evaluate(
            f'async argument => {{ const {{copy, engine}} = await import("/js/app.js"); {body} }}', argument
        )

    def wait_for(self, body: str, argument=None, seconds: float = 15) -> None:
        """Until JavaScript against the app's own copy and engine (an expression) is true."""
        # `wait_for_function` takes the promise of an async function for true.
        self.page.evaluate(
            f"""async ([argument, milliseconds]) => {{
              const {{copy, engine}} = await import("/js/app.js")
              const end = performance.now() + milliseconds
              while (!({body})) {{
                if (performance.now() > end) throw new Error(
                  `never came true: ${{JSON.stringify([engine.status, engine.requests().slice(-6)])}}`)
                await new Promise(resolve => setTimeout(resolve, 20))
              }}
            }}""",
            [argument, seconds * 1000],
        )

    # Signing in and out

    def sign_up(self, email: str | None = None, device_name: str | None = None, password: str = PASSWORD) -> "App":
        email = email or f"{uuid.uuid4().hex}@example.org"
        self.choose_form("Create an account")
        self.fill_sign_in(email, device_name, password)
        self.button("Create account").click()
        return self.wait_signed_in()

    def choose_form(self, name: str) -> None:
        """The form of this name. Which of them comes first depends on what the server says of itself."""
        form = self.page.get_by_role("form", name="Sign in")
        self.page.wait_for_function("() => performance.getEntriesByType('resource').some(one => one.name.endsWith('/v1/server'))")
        self.page.wait_for_timeout(50)
        if not form.get_by_role("heading", name=re.compile(f"^{name}")).is_visible():
            form.get_by_role("button", name=name, exact=True).click()
        expect(form.get_by_role("heading", name=re.compile(f"^{name}"))).to_be_visible()

    def sign_in(self, email: str, device_name: str | None = None, password: str = PASSWORD) -> "App":
        self.choose_form("Sign in")
        self.fill_sign_in(email, device_name, password)
        self.submit_sign_in()
        return self.wait_signed_in()

    def fill_sign_in(self, email: str, device_name: str | None = None, password: str = PASSWORD) -> None:
        field = self.page.get_by_label("E-mail")
        if field.is_editable():
            field.fill(email)
        self.page.get_by_label("Password", exact=True).fill(password)
        if device_name is not None:
            self.page.get_by_label("Device name").fill(device_name)
        self.email = email

    def submit_sign_in(self) -> None:
        self.page.get_by_role("form", name="Sign in").locator("[type=submit]").click()

    def wait_signed_in(self) -> "App":
        expect(self.sync_button).to_be_visible()
        return self

    def sign_out(self, confirm: str = "Sign out") -> None:
        self.go("#/devices")
        self.button("Sign out this device").click()
        self.dialog.get_by_role("button", name=confirm, exact=True).click()
        expect(self.page.get_by_label("Password", exact=True)).to_be_visible()

    # Getting about

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    def go(self, fragment: str) -> None:
        """A link to somewhere in the app, followed without loading it again."""
        self.page.evaluate("fragment => { location.hash = fragment }", fragment)

    def toast(self, words: str) -> Locator:
        return self.page.get_by_role("region", name="Messages").get_by_text(words)

    def undo(self) -> None:
        """What the message at the foot of the page offers."""
        self.page.get_by_role("region", name="Messages").get_by_role("button", name="Undo").last.click()

    # The list

    ROW = "[role=listbox] [role=option][data-note]"

    @property
    def rows(self) -> Locator:
        return self.page.get_by_role("listbox", name="Notes", exact=True).get_by_role("option")

    def row(self, words: str) -> Locator:
        return self.rows.filter(has_text=words)

    @property
    def titles(self) -> list[str]:
        """Of the rows that are drawn, in their order."""
        return self.page.locator(self.ROW).evaluate_all(
            """rows => rows.sort((a, b) => a.ariaPosInSet - b.ariaPosInSet)
              .map(row => row.querySelector(".note-title bdi").textContent)"""
        )

    def expect_titles(self, *titles: str) -> None:
        self._expect(lambda: self.titles, list(titles))

    def _expect(self, look: Callable[[], Any], expected: Any) -> None:
        deadline = time.monotonic() + PATIENCE / 1000
        while (shown := look()) != expected and time.monotonic() < deadline:
            self.page.wait_for_timeout(50)
        assert shown == expected, f"{shown!r}, not {expected!r}"

    @property
    def search_box(self) -> Locator:
        return self.page.get_by_role("searchbox", name="Search notes")

    def search(self, words: str) -> None:
        self.search_box.fill(words)

    def open(self, words: str) -> None:
        self.row(words).click()
        expect(self.reading.or_(self.editor)).to_be_visible()

    def open_first(self) -> None:
        self.rows.first.click()
        expect(self.reading.or_(self.editor)).to_be_visible()

    # One note

    @property
    def editor(self) -> Locator:
        return self.page.get_by_role("textbox", name="Note text")

    @property
    def reading(self) -> Locator:
        return self.page.get_by_role("group", name="Note. Press Enter to edit.")

    @property
    def note_id(self) -> str:
        """Of the note that is open, from the address."""
        return self.page.evaluate("() => location.hash.split('/')[2] ?? ''").split("?")[0]

    def new_note(self, text: str = "") -> "App":
        self.button("New note").first.click()
        expect(self.editor).to_be_focused()
        if text:
            self.type(text)
        return self

    def type(self, text: str) -> None:
        """Key by key, at the caret."""
        for number, line in enumerate(text.split("\n")):
            if number:
                self.page.keyboard.press("Enter")
            if line:
                self.page.keyboard.type(line)

    def write(self, place: str = "end") -> None:
        """Begins to write in the open note, at its end or its start."""
        if not self.editor.is_visible():
            self.reading.press("Enter")
        expect(self.editor).to_be_focused()
        self.page.keyboard.press("Control+End" if place == "end" else "Control+Home")

    def leave(self) -> None:
        """Leaves the text, which saves it."""
        words = self.editor.input_value()
        self.page.keyboard.press("Escape")
        expect(self.reading).to_be_visible()
        # Saved a moment later; after a second, somebody else has changed it already.
        self.wait_for(
            "copy.note(location.hash.split('/')[2])?.text === argument || !argument || performance.now() > end - 14000", words
        )

    @property
    def text(self) -> str | None:
        """What the open note shows; None while there is none."""
        if self.editor.is_visible():
            return self.editor.input_value()
        return self.reading.evaluate("element => element.textContent") if self.reading.is_visible() else None

    def expect_text(self, text: str) -> None:
        self._expect(lambda: self.text, text)

    def choose(self, entry: str) -> None:
        """From the note's menu."""
        self.page.get_by_role("article", name="Note").get_by_role("button", name="More", exact=True).click()
        self.page.get_by_role("menuitem", name=entry).click()

    def add_tag(self, name: str) -> None:
        field = self.page.get_by_role("combobox", name="Add a tag")
        field.fill(name)
        field.press("Enter")
        expect(self.button(f"Remove tag {name}")).to_be_visible()

    def attach(self, *files: Path | dict) -> None:
        """Chooses files, as a person does in the dialog of the system."""
        with self.page.expect_file_chooser() as chooser:
            self.button("Add pictures or files").first.click()
        chooser.value.set_files(list(files))

    def paste(self, data: bytes, filename: str, mime_type: str) -> None:
        """A file from the clipboard into what has the focus."""
        self.page.evaluate(
            """([data, name, type]) => {
              const clipboardData = new DataTransfer()
              clipboardData.items.add(new File([Uint8Array.from(atob(data), letter => letter.charCodeAt(0))], name, {type}))
              document.activeElement.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}))
            }""",
            [base64.b64encode(data).decode(), filename, mime_type],
        )

    # Sync

    @property
    def sync_button(self) -> Locator:
        return self.page.get_by_role("button", name=re.compile("^Sync:"))

    def wait_synced(self, seconds: float = 20) -> None:
        """Until all that was written is sent, all is fetched, the digests agree, and the app says so."""
        self.wait_saved()
        self.wait_for(
            "engine.status.phase === 'synced' && engine.status.identical && copy.unsentCount() === 0", seconds=seconds
        )
        if self.sync_button.is_visible():  # not in views of their own
            self.expect_sync("Synced")

    def expect_sync(self, words: str) -> None:
        """What the indicator says."""
        expect(self.page.get_by_role("button", name=re.compile(f"^Sync: .*{words}"))).to_be_visible()

    def wait_saved(self) -> None:
        """Until what was typed is on the disk: the words of the editor are those of the copy."""
        self.wait_for(
            """(area => !area?.value || area.hidden || copy.note(location.hash.split("/")[2])?.text === area.value)(
              document.querySelector("textarea"))"""
        )

    def wait_installed(self) -> None:
        """Until the service worker has everything that a start without a network needs."""
        self.page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
        self.page.wait_for_function("() => navigator.serviceWorker.controller")
