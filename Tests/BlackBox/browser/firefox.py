"""Controls Firefox over WebDriver BiDi (https://w3c.github.io/webdriver-bidi/), because Playwright cannot control Debian's Firefox.

`Firefox` is a browser process. `FirefoxApp` is a profile with one window of the web app: the methods that the tests of the editor
need, under the names that they have in app.py. Every wait has a limit.
"""

import atexit
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import websocket
from app import EDITOR, SENTINEL, TOLERATED
from client import PASSWORD

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
SECONDS = 120  # the limit of each wait, for two cores that other tests keep busy
# With a remote agent, Firefox itself turns off first-run pages, updates and telemetry.
PREFERENCES = {
    "network.proxy.type": 1,  # all hosts but this machine are behind a proxy that does not exist
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.server": "",
    "dom.storageManager.prompt.testing": True,  # answers requests for persistent storage without asking
    "dom.storageManager.prompt.testing.allow": True,
    "intl.accept_languages": "en-GB",
}
# The keys of the WebDriver standard (https://w3c.github.io/webdriver/#keyboard-actions) by their names in Playwright.
KEYS = {
    "Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue007", "Shift": "\ue008", "Control": "\ue009", "Alt": "\ue00a",
    "Escape": "\ue00c", "PageUp": "\ue00e", "PageDown": "\ue00f", "End": "\ue010", "Home": "\ue011", "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Delete": "\ue017",
}  # fmt: skip


class Firefox:
    """A headless Firefox with a new profile, without access to other machines."""

    def __init__(self):
        assert FIREFOX, "firefox-esr is not installed: Tools/set-up.sh test"
        self.profile = Path(tempfile.mkdtemp(prefix="hesper-firefox-"))
        preferences = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
        (self.profile / "user.js").write_text("".join(preferences))
        command = [FIREFOX, "--headless", "--no-remote", "--profile", str(self.profile), "--remote-debugging-port", "0"]
        with (self.profile / "log").open("w") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=os.environ | {"HOME": str(self.profile)})  # fmt: skip
        atexit.register(self.close)
        self.count = 0
        self.listeners: dict[str, Callable[[dict], None]] = {}  # of log entries, by browsing context
        try:
            address = wait_until(self._address, "Firefox did not start")
            self.socket = websocket.create_connection(f"{address}/session", timeout=SECONDS, suppress_origin=True)
            # An alert of the page, such as that before it is left, must not wait for an answer.
            self.send("session.new", capabilities={"alwaysMatch": {"unhandledPromptBehavior": {"default": "accept"}}})
            self.send("session.subscribe", events=["log.entryAdded"])
        except BaseException:
            self.close()
            raise

    def _address(self) -> str | None:
        assert self.process.poll() is None, f"Firefox ended:\n{(self.profile / 'log').read_text()}"
        try:
            address = json.loads((self.profile / "WebDriverBiDiServer.json").read_text())
        except (OSError, ValueError):  # not written yet
            return None
        return f"ws://{address['ws_host']}:{address['ws_port']}"

    def send(self, method: str, seconds: float = SECONDS, **parameters: Any) -> dict:
        """Sends a command, and waits for its result. Events that arrive before it are handled."""
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                message = json.loads(self.socket.recv())
            except websocket.WebSocketTimeoutException:
                break
            if message["type"] == "event" and (listener := self.listeners.get(message["params"]["source"].get("context"))):
                listener(message["params"])
            if message.get("id") == self.count:
                assert message["type"] == "success", f"{method}: {message['error']}: {message['message']}"
                return message["result"]
        raise TimeoutError(f"{method} had no result within {seconds} s")

    def close(self) -> None:
        """Ends the process and removes the profile. Also called when Python exits."""
        atexit.unregister(self.close)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


class FirefoxApp:
    """The web app in a Firefox profile of its own. `page_errors` are the errors that the page reported."""

    def __init__(self, firefox: Firefox, url: str):
        self.firefox, self.url = firefox, url.rstrip("/")
        self.log: list[str] = []
        self.page_errors: list[str] = []
        self.user_context = firefox.send("browser.createUserContext")["userContext"]
        # A window, because a tab behind another one is hidden and has slow timers.
        window = firefox.send("browsingContext.create", type="window", userContext=self.user_context)
        self.context = window["context"]
        firefox.listeners[self.context] = self._on_log
        firefox.send("script.addPreloadScript", functionDeclaration=f"() => {{ {SENTINEL} }}", contexts=[self.context])
        self.visit()

    def _on_log(self, entry: dict) -> None:
        text = f"{entry['type']}: {entry['level']}: {entry['text']}"
        self.log.append(text)
        if entry["level"] == "error" and not any(f"status of {status}" in text for status in TOLERATED):
            self.page_errors.append(text)

    def save_diagnostics(self, folder: Path, name: str) -> None:
        """Saves a screenshot and the log, for finding out why a test failed."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.log").write_text("\n".join(self.log))
        (folder / f"{name}.png").write_bytes(self.screenshot())

    def screenshot(self) -> bytes:
        return base64.b64decode(self._send("browsingContext.captureScreenshot")["data"])

    def close(self) -> None:
        """Closes the window and deletes the data of its profile."""
        self.firefox.send("browser.removeUserContext", userContext=self.user_context)
        self.firefox.listeners.pop(self.context, None)  # after the events that were sent before the window was closed

    # The page

    def _send(self, method: str, **parameters: Any) -> dict:
        return self.firefox.send(method, context=self.context, **parameters)

    def visit(self, fragment: str = "") -> "FirefoxApp":
        self._send("browsingContext.navigate", url=f"{self.url}/{fragment}", wait="complete")
        return self

    def reload(self) -> None:
        self._send("browsingContext.reload", wait="complete")

    def go_offline(self, offline: bool = True) -> None:
        conditions = {"type": "offline"} if offline else None
        self.firefox.send("emulation.setNetworkConditions", contexts=[self.context], networkConditions=conditions)

    def go_online(self) -> None:
        self.go_offline(False)

    def evaluate(self, function: str, argument: Any = None) -> Any:
        """Calls a JavaScript function with an argument, both JSON. Waits for the promise that it returns."""
        call = f"(async () => JSON.stringify(await ({function})({json.dumps(argument)})))()"
        answer = self.firefox.send("script.evaluate", expression=call, target={"context": self.context}, awaitPromise=True)
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        value = answer["result"]
        return json.loads(value["value"]) if value["type"] == "string" else None

    def run(self, body: str, argument: Any = None) -> Any:
        """Runs JavaScript with the copy and the engine of the app."""
        return self.evaluate(f'async argument => {{ const {{copy, engine}} = await import("/js/app.js"); {body} }}', argument)

    def wait_for(self, expression: str, argument: Any = None) -> None:
        """Waits until a JavaScript expression about the copy and the engine of the app is true."""
        wait_until(lambda: self.run(f"return Boolean({expression})", argument), f"not true: {expression}")

    def wait_synced(self) -> None:
        """Waits until the shown text is saved, all is sent and fetched, and the digests are equal."""
        saved = f"({EDITOR}).isSaved(copy)"
        self.wait_for(f"{saved} && engine.status.phase === 'synced' && engine.status.identical && copy.unsentCount() === 0")

    # Elements

    def find(self, label: str) -> dict | None:
        """The first visible element with this label. It is found by a script, because on a busy machine Firefox may never respond to
        a search for accessible names in a page that it has just loaded."""
        function = """label => [...document.querySelectorAll("[aria-label], button")]
          .find(one => one.checkVisibility() && (one.ariaLabel || one.innerText.trim()) === label) ?? null"""
        answer = self.firefox.send(
            "script.callFunction", functionDeclaration=function, arguments=[{"type": "string", "value": label}],
            target={"context": self.context}, awaitPromise=False,
        )  # fmt: skip
        return answer["result"] if answer["result"]["type"] == "node" else None

    def wait_visible(self, label: str) -> dict:
        """Waits for an element, and returns it."""
        return wait_until(lambda: self.find(label), f"no element “{label}”")

    def press_button(self, name: str) -> None:
        self.click(self.wait_visible(name))

    def click(self, at: dict | tuple[float, float], times: int = 1, touch: bool = False) -> None:
        """Clicks or taps the middle of an element, or a place of the viewport."""
        is_place = isinstance(at, tuple)
        origin = "viewport" if is_place else {"type": "element", "element": {"sharedId": at["sharedId"]}}
        x, y = at if is_place else (0, 0)
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._perform("pointer", [{"type": "pointerMove", "x": round(x), "y": round(y), "origin": origin}, *press * times],
                      parameters={"pointerType": "touch" if touch else "mouse"})  # fmt: skip

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drags from one place of the viewport to another, such as to select text."""
        places = [{"type": "pointerMove", "x": round(x), "y": round(y)} for x, y in (start, end)]
        self._perform("pointer", [places[0], {"type": "pointerDown", "button": 0}, places[1], {"type": "pointerUp", "button": 0}])

    def press(self, keys: str) -> None:
        """Presses a key, or a combination such as "Control+Shift+z"."""
        values = [KEYS.get(key, key) for key in re.split(r"\+(?!$)", keys)]
        down = [{"type": "keyDown", "value": value} for value in values]
        self._perform("key", down + [{"type": "keyUp", "value": value} for value in reversed(values)])

    def type(self, text: str) -> None:
        """Types key by key at the caret."""
        values = [KEYS["Enter"] if letter == "\n" else letter for letter in text]
        self._perform("key", [{"type": kind, "value": value} for value in values for kind in ("keyDown", "keyUp")])

    def _perform(self, kind: str, actions: list[dict], **options: Any) -> None:
        self._send("input.performActions", actions=[{"type": kind, "id": kind, "actions": actions} | options])

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    # The app

    def sign_in(self, email: str, password: str = PASSWORD) -> "FirefoxApp":
        wait_until(
            lambda: self.evaluate("""() => {
              const named = selector => [...document.querySelectorAll(selector)]
                .find(one => one.checkVisibility() && one.innerText.trim() === "Sign in")
              if (named("h1, h2")) return true
              named("button, a")?.click()
              return false
            }"""),
            "no form to sign in",
        )
        # Filled by a script, because Firefox takes 20 ms for each event of a key.
        self.evaluate(
            """values => {
              for (const [id, value] of Object.entries(values)) document.querySelector(`#${id}`).value = value
              document.querySelector("#password").focus()
            }""",
            {"email": email, "password": password},
        )
        self.press("Enter")
        self.wait_for("copy.session")
        self.wait_visible("New note")
        return self

    def new_note(self, text: str = "") -> "FirefoxApp":
        self.press_button("New note")
        self.wait_for("document.activeElement?.ariaLabel === 'Note text'")
        self.type(text)
        return self

    def go(self, fragment: str) -> None:
        """Follows a link in the app, without reloading it."""
        self.evaluate("fragment => { location.hash = fragment }", fragment)

    @property
    def note_id(self) -> str:
        """The ID of the open note, from the address."""
        return self.evaluate("() => location.hash.split('/')[2]?.split('?')[0] ?? ''")

    @property
    def editor(self) -> dict:
        return self.wait_visible("Note text")

    @property
    def text(self) -> str | None:
        """The shown text of the open note. None without an open note."""
        return self.evaluate(f"() => ({EDITOR}).text")

    @property
    def saved_text(self) -> str | None:
        """The text of the open note in the copy on disk."""
        return self.run("return copy.note(location.hash.split('/')[2])?.text ?? null")

    @property
    def selection(self) -> list[int]:
        """The start and the end of the selection in the text, in UTF-16 code units."""
        return self.evaluate(f"() => ({EDITOR}).selection")

    def expect_text(self, text: str) -> None:
        deadline = time.monotonic() + SECONDS
        while (shown := self.text) != text and time.monotonic() < deadline:
            time.sleep(0.05)
        assert shown == text, f"{shown!r} instead of {text!r}"


def wait_until(read: Callable[[], Any], failure: str) -> Any:
    """Waits until `read` returns a value that is true, and returns it."""
    deadline = time.monotonic() + SECONDS
    while not (value := read()):
        assert time.monotonic() < deadline, failure
        time.sleep(0.03)
    return value
