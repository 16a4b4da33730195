"""Controls the web app as a user does: elements are found by their roles and names, as screen readers find them."""

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

# The headless shell needs a fifth of the processor time of Chromium. HESPER_BROWSER names another browser: `chromium`.
CHROMIUM = shutil.which(os.environ.get("HESPER_BROWSER", "chromium-headless-shell")) or shutil.which("chromium")
TIMEOUT = 60_000  # ms, for two cores that other tests keep busy
ACCESSIBLE = (Path(__file__).parent / "accessible.js").read_text()
EDITOR = (Path(__file__).parent / "editor.js").read_text()
# Statuses that can be responses to a correct client: signed out, in use, gone, busy, over quota. Others fail the test.
TOLERATED = ("401", "409", "410", "429", "503", "507")
# Reports scripts that the policy blocks, and dialogs that injected scripts open.
SENTINEL = """
addEventListener("securitypolicyviolation", event => console.error(
  `policy: ${event.effectiveDirective} kept ${event.blockedURI} from ${event.sourceFile}:${event.lineNumber}`))
window.alert = window.prompt = window.confirm = text => { console.error(`a dialog: ${text}`) }
"""
# The app then works as in a browser that has no room for the worker's files. Installing it takes a third of the processor time of
# a new profile, and it handles only requests for the app's files.
WITHOUT_WORKER = "if (navigator.serviceWorker) navigator.serviceWorker.register = () => Promise.reject(new Error('left out'))"


class App:
    """A browser profile, and one of its tabs. `page_errors` are the errors that its pages reported.

    `service_worker`: whether the app installs its service worker.
    """

    def __init__(
        self, context: BrowserContext, url: str, first: "App | None" = None, service_worker: bool = True
    ):
        self.context, self.url = context, url.rstrip("/")
        self.email: str | None = first.email if first else None
        self.log: list[str] = first.log if first else []
        self.page_errors: list[str] = first.page_errors if first else []
        self.tolerated: set[str] = first.tolerated if first else set(TOLERATED)
        if not first:
            context.add_init_script(SENTINEL)
            if not service_worker:
                context.add_init_script(WITHOUT_WORKER)
            context.on("console", self._on_console)
            context.on("weberror", lambda error: self._record_error(f"error: {error.error}"))
        self.page: Page = context.new_page()

    # Errors

    def _on_console(self, message: ConsoleMessage) -> None:
        where = message.location.get("url", "")
        self.log.append(f"{message.type}: {message.text} ({where})")
        if message.type != "error" or self._is_expected(message.text, where):
            return
        self._record_error(f"console: {message.text} ({where})")

    def _is_expected(self, text: str, where: str) -> bool:
        """The browser logs every failed request. The tests check what the app does about it."""
        if "net::ERR_" in text or "An unknown error occurred when fetching the script" in text:
            return True
        if "Cross-Origin-Opener-Policy header has been ignored" in text:  # outside secure contexts
            return True
        return "/v1/" in where and any(f"status of {status}" in text for status in self.tolerated)

    def _record_error(self, text: str) -> None:
        self.log.append(text)
        self.page_errors.append(text)

    def save_diagnostics(self, folder: Path, name: str) -> None:
        """Saves a screenshot of each tab and the log of all tabs, for finding out why a test failed."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.log").write_text("\n".join(self.log))
        for number, page in enumerate(self.context.pages, 1):
            try:
                page.screenshot(path=folder / f"{name}-tab{number}.png", timeout=5_000)
                (folder / f"{name}-tab{number}.txt").write_text(page.locator("body").aria_snapshot(timeout=5_000))
            except Exception as failure:  # must not replace the failure of the test
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
        """Simulates that another tab is in front. In a headless browser, all pages are visible at all times."""
        self.page.evaluate(
            """hidden => {
              Object.defineProperty(document, "visibilityState", {configurable: true, get: () => hidden ? "hidden" : "visible"})
              Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden})
              document.dispatchEvent(new Event("visibilitychange", {bubbles: true}))
            }""",
            hidden,
        )

    def run(self, body: str, argument=None):
        """Runs JavaScript with the copy and the engine of the app, where the user interface does not matter."""
        return self.page.evaluate(
            f'async argument => {{ const {{copy, engine}} = await import("/js/app.js"); {body} }}', argument
        )

    def wait_for(self, body: str, argument=None, seconds: float = 60) -> None:
        """Waits until a JavaScript expression about the copy and the engine of the app is true."""
        # `wait_for_function` treats the promise of an async function as true.
        self.page.evaluate(
            f"""async ([argument, milliseconds]) => {{
              const {{copy, engine}} = await import("/js/app.js")
              const end = performance.now() + milliseconds
              while (!({body})) {{
                if (performance.now() > end) throw new Error(
                  `timeout: ${{JSON.stringify([engine.status, engine.requests().slice(-6)])}}`)
                await new Promise(resolve => setTimeout(resolve, 20))
              }}
            }}""",
            [argument, seconds * 1000],
        )

    # Signing in and out

    def sign_up(self, email: str | None = None, device_name: str | None = None, password: str = PASSWORD) -> "App":
        """Creates an account without notes. The form, which also creates the welcome note, is used by `sign_up_in_form`."""
        self.email = email or f"{uuid.uuid4().hex}@example.org"
        self._enter("signUp", device_name, password)
        return self

    def sign_up_in_form(self, email: str | None = None, password: str = PASSWORD) -> "App":
        self.choose_form("Create")
        self.fill_sign_in(email or f"{uuid.uuid4().hex}@example.org", password)
        self.button("Create account").click()
        return self.wait_signed_in()

    def _enter(self, method: str, device_name: str | None, password: str) -> None:
        credentials = {"email": self.email, "password": password, "deviceName": device_name or "browser"}
        self.run(f"await engine.{method}(argument)", credentials)
        self.go("#/")
        self.wait_signed_in()

    def choose_form(self, name: str) -> None:
        """Shows the form whose heading begins with this name. Which one is shown first depends on the server."""
        form = self.page.get_by_role("form", name="Sign in")
        self.page.wait_for_function("() => performance.getEntriesByType('resource').some(one => one.name.endsWith('/v1/server'))")
        self.page.wait_for_timeout(50)
        if not form.get_by_role("heading", name=re.compile(f"^{name}")).is_visible():
            form.get_by_role("button", name=re.compile(f"^{name}( an account)?$")).click()
        expect(form.get_by_role("heading", name=re.compile(f"^{name}"))).to_be_visible()

    def sign_in(self, email: str, device_name: str | None = None, password: str = PASSWORD) -> "App":
        """Signs in with the form, which chooses the name of the device itself, or else as a device of this name."""
        if device_name is not None:
            self.email = email
            self._enter("signIn", device_name, password)
            return self
        self.choose_form("Sign in")
        self.fill_sign_in(email, password)
        self.submit_sign_in()
        return self.wait_signed_in()

    def fill_sign_in(self, email: str, password: str = PASSWORD) -> None:
        field = self.page.get_by_label("E-mail")
        if field.is_editable():
            field.fill(email)
        self.page.get_by_label("Password", exact=True).fill(password)
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

    # Navigation

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    def go(self, fragment: str) -> None:
        """Follows a link in the app, without reloading it."""
        self.page.evaluate("fragment => { location.hash = fragment }", fragment)

    def toast(self, words: str) -> Locator:
        return self.page.get_by_role("region", name="Messages").get_by_text(words)

    def undo(self) -> None:
        """Presses Undo in the message at the bottom of the page."""
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
        """The titles of the rendered rows, in their order."""
        return self.page.locator(self.ROW).evaluate_all(
            """rows => rows.sort((a, b) => a.ariaPosInSet - b.ariaPosInSet)
              .map(row => row.querySelector(".note-title bdi").textContent)"""
        )

    def expect_titles(self, *titles: str) -> None:
        self._expect(lambda: self.titles, list(titles))

    def _expect(self, read: Callable[[], Any], expected: Any) -> None:
        deadline = time.monotonic() + TIMEOUT / 1000
        while (shown := read()) != expected and time.monotonic() < deadline:
            self.page.wait_for_timeout(50)
        assert shown == expected, f"{shown!r} instead of {expected!r}"

    @property
    def search_box(self) -> Locator:
        return self.page.get_by_role("searchbox", name="Search notes")

    def search(self, words: str) -> None:
        self.search_box.fill(words)

    def open(self, words: str) -> None:
        self.row(words).click()
        expect(self.editor).to_be_visible()

    def open_first(self) -> None:
        self.rows.first.click()
        expect(self.editor).to_be_visible()

    # One note

    @property
    def editor(self) -> Locator:
        return self.page.get_by_role("textbox", name="Note text")

    @property
    def after_text(self) -> Locator:
        """The element that has the focus after Escape in the text. Enter returns to the text, Tab goes to the tags."""
        return self.page.get_by_role("group", name="Note. Press Enter to edit.")

    @property
    def note_id(self) -> str:
        """The ID of the open note, from the address."""
        return self.page.evaluate("() => location.hash.split('/')[2] ?? ''").split("?")[0]

    def new_note(self, text: str = "") -> "App":
        self.button("New note").first.click()
        expect(self.editor).to_be_focused()
        if text:
            self.type(text)
        return self

    def type(self, text: str) -> None:
        """Types key by key at the caret."""
        for number, line in enumerate(text.split("\n")):
            if number:
                self.page.keyboard.press("Enter")
            if line:
                self.page.keyboard.type(line)

    def write(self, position: str = "end") -> None:
        """Puts the caret at the end or the start of the open note."""
        self.editor.focus()
        expect(self.editor).to_be_focused()
        self.page.keyboard.press("Control+End" if position == "end" else "Control+Home")

    def leave(self) -> None:
        """Leaves the text, which saves it."""
        words = self.text
        self.page.keyboard.press("Escape")
        expect(self.editor).not_to_be_focused()
        # Saving takes a moment. After ten seconds, another device may have changed the text already.
        self.wait_for(
            "copy.note(location.hash.split('/')[2])?.text === argument || !argument || performance.now() > end - 50_000", words
        )

    @property
    def text(self) -> str | None:
        """The shown text of the open note. None without an open note."""
        return self.page.evaluate(f"() => ({EDITOR}).text")

    @property
    def selection(self) -> list[int]:
        """The start and the end of the selection in the text, in UTF-16 code units."""
        return self.page.evaluate(f"() => ({EDITOR}).selection")

    def select(self, start: int, end: int | None = None) -> None:
        """Selects a part of the text, or puts the caret at a place."""
        self.page.evaluate(f"([start, end]) => ({EDITOR}).select(start, end ?? start)", [start, end])

    def expect_text(self, text: str) -> None:
        self._expect(lambda: self.text, text)

    def choose(self, entry: str) -> None:
        """Chooses an entry of the note's menu."""
        self.page.get_by_role("article", name="Note").get_by_role("button", name="More", exact=True).click()
        item, checkbox = (self.page.get_by_role(role, name=entry) for role in ("menuitem", "menuitemcheckbox"))
        item.or_(checkbox).click()

    def add_tag(self, name: str) -> None:
        field = self.page.get_by_role("combobox", name="Add a tag")
        field.fill(name)
        field.press("Enter")
        expect(self.button(f"Remove tag {name}")).to_be_visible()

    def attach(self, *files: Path | dict) -> None:
        """Chooses files in the file dialog."""
        with self.page.expect_file_chooser() as chooser:
            self.button("Add pictures or files").first.click()
        chooser.value.set_files(list(files))

    def paste(self, data: bytes, filename: str, mime_type: str) -> None:
        """Pastes a file into the focused element."""
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

    def wait_synced(self, seconds: float = 60) -> None:
        """Waits until all is sent and fetched, the digests are equal, and the app shows it."""
        self.wait_saved()
        # A click may have begun a transaction. This one begins after it has ended.
        self.run("await copy.transaction(['unsent', 'made', 'deletions'], 'readonly', tx => tx.count('unsent'))")
        self.wait_for(
            "engine.status.phase === 'synced' && engine.status.identical && copy.unsentCount() === 0", seconds=seconds
        )
        if self.sync_button.is_visible():  # not in views that cover the list
            self.expect_sync("Synced")

    def expect_sync(self, words: str) -> None:
        """Waits for the text of the sync indicator."""
        expect(self.page.get_by_role("button", name=re.compile(f"^Sync: .*{words}"))).to_be_visible()

    def wait_saved(self) -> None:
        """Waits until the typed text is in the copy on disk."""
        self.wait_for(f"({EDITOR}).isSaved(copy)")

    def wait_installed(self) -> None:
        """Waits until the service worker has the files for a start without a network."""
        self.page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
        self.page.wait_for_function("() => navigator.serviceWorker.controller")
