"""Pages that run the web app's copy and engine without its interface, controlled by JavaScript from tests."""

import uuid
from collections.abc import Callable

from client import PASSWORD, Client, Server
from device import Device
from playwright.sync_api import BrowserContext, Page

# Helpers for the JavaScript of all tests.
PRELUDE = """
const later = ms => new Promise(resolve => setTimeout(resolve, ms))
const until = async (test, what, seconds = 15) => {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end;) { if (await test()) return; await later(10) }
  throw new Error(`never: ${what}: ${JSON.stringify(engine.status)} ${JSON.stringify(engine.requests().slice(-4))}`)
}
const thrown = async task => { try { await task() } catch (error) { return error.slug ?? String(error) } return "nothing" }
const raw = store => copy.transaction([store], "readonly", tx => tx.getAll(store))
const textOf = id => copy.note(id)?.text
// As an editor does: from the version that it shows.
const type = (id, text) => copy.write(id, text, {clock: copy.note(id).textClock, value: copy.note(id).text})
const synced = (seconds) => until(() => engine.status.phase === "synced", "synced", seconds)
// What was written a moment ago the status may not know of yet.
const identical = (seconds) => until(() => engine.status.identical && copy.unsentCount() === 0, "identical", seconds)
"""
PAGE = "https.html"  # a page of the server without scripts


class EngineTab:
    """One tab with `copy` and `engine`. Tabs of a profile share the database."""

    def __init__(self, context: BrowserContext, url: str, start: bool = True):
        self.context, self.url = context, url
        self.page: Page = context.new_page()
        self.open(start)

    def open(self, start: bool = True) -> None:
        self.page.goto(f"{self.url}/{PAGE}")
        self.begin(start)

    def begin(self, start: bool = True) -> None:
        self.page.evaluate(
            """async start => {
                const {Copy} = await import("/js/store/copy.js")
                const {Engine} = await import("/js/sync/engine.js")
                globalThis.copy = await Copy.open()
                await copy.loaded
                globalThis.engine = new Engine(copy)
                if (start) engine.start()
            }""",
            start,
        )

    def run(self, body: str, argument=None):
        """Runs JavaScript with `copy`, `engine` and the helpers of PRELUDE. Returns its result."""
        return self.page.evaluate(f"async argument => {{ {PRELUDE}\n{body} }}", argument)

    def reload(self) -> None:
        self.page.reload()
        self.begin()

    def another(self) -> "EngineTab":
        return EngineTab(self.context, self.url)

    def close(self) -> None:
        self.page.close()

    def go_offline(self) -> None:
        self.context.set_offline(True)

    def go_online(self) -> None:
        self.context.set_offline(False)

    def visible(self, is_visible: bool) -> None:
        self.run("engine.visible(argument)", is_visible)

    def sign_up(self) -> str:
        """Signs up. Returns the e-mail address."""
        email = f"{uuid.uuid4().hex}@example.org"
        self.run("await engine.signUp(argument)", {"email": email, "password": PASSWORD, "deviceName": "browser"})
        return email

    def sign_in(self, email: str, name: str = "browser") -> None:
        self.run("await engine.signIn(argument)", {"email": email, "password": PASSWORD, "deviceName": name})

    @property
    def status(self) -> dict:
        return self.run("return engine.status")

    def synced(self, seconds: float = 60) -> None:
        self.run("await synced(argument)", seconds)

    def identical(self, seconds: float = 60) -> None:
        self.run("await identical(argument)", seconds)

    @property
    def digest(self) -> str:
        return self.run("return engine.rounds.record.digest")

    def text(self, note: str) -> str | None:
        return self.run("return textOf(argument) ?? null", note)


def device_of(server: Server, email: str, name: str = "device") -> Device:
    """A Python client as another device of the account."""
    client = Client(server.url)
    client.sign_in(email, device_name=name)
    return Device(client)


# `profile(server)` returns a tab in a new profile. The second argument is another URL of the server.
Profile = Callable[..., EngineTab]
