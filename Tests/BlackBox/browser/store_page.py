"""Pages that run only the web app's store, with IndexedDB in a real browser and without a server of Hesper."""

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from client import ROOT
from playwright.sync_api import Browser, BrowserContext, Page

# Helpers for the JavaScript of all tests.
PRELUDE = """
const {Copy} = await import("/js/store/copy.js")
const records = await import("/js/store/records.js")
const later = ms => new Promise(resolve => setTimeout(resolve, ms))
const thrown = async task => { try { await task() } catch (error) { return error.slug ?? String(error) } return "nothing" }
const until = async (test, what) => {
  for (let left = 500; left > 0; left--) { if (await test()) return; await later(10) }
  throw new Error(`never: ${what}`)
}
const signIn = copy => copy.transaction(["meta"], "readwrite", tx => tx.put("meta", {
  account: {uniqueID: "11111111-1111-4111-8111-111111111111", email: "grace@example.com"},
  device: {uniqueID: "9f86d081884c7d65", name: "test"},
}, "session"))
// What the server sent: objects, and a DeletedObject.
const put = (...all) => copy.transaction(["objects", "deleted", "meta"], "readwrite", tx =>
  Promise.all(all.map(one => records.putEntity(tx, one))))
const bury = one => copy.transaction(["objects", "deleted", "meta"], "readwrite", tx => records.putDeleted(tx, one))
const raw = (copy, store) => copy.transaction([store], "readonly", tx => tx.getAll(store))
// Takes what is unsent for acknowledged, as the engine does.
const acknowledge = copy => copy.transaction(["objects", "deleted", "meta", "unsent", "made"], "readwrite", async tx => {
  for (const {uniqueID, type, fixed} of await tx.getAll("made")) {
    await records.putEntity(tx, {uniqueID, type, fixed, registers: {}})
    tx.delete("made", uniqueID)
  }
  for (const {uniqueID, attribute, type, value, clock} of await tx.getAll("unsent")) {
    await records.putEntity(tx, {uniqueID, type, fixed: {}, registers: {[attribute]: [value, clock]}})
    tx.delete("unsent", [uniqueID, attribute])
  }
})
"""


class Handler(SimpleHTTPRequestHandler):
    """Serves Public/ and an empty page at /. Chromium requires the right type for modules."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".js": "text/javascript"}

    def do_GET(self) -> None:
        if self.path != "/":
            return super().do_GET()
        body = b"<!doctype html><title>store</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


@contextmanager
def static_pages() -> Iterator[str]:
    """Serves Public/ on a free loopback port, which is a secure context. Yields the URL."""
    handler = functools.partial(Handler, directory=ROOT / "Public")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class StoreTab:
    """One tab with its own `copy`. Tabs of a profile share the database."""

    def __init__(self, context: BrowserContext, url: str, sign_in: bool = True):
        self.context, self.url = context, url
        self.page: Page = context.new_page()
        self.page.goto(url)
        self.begin(sign_in)

    def begin(self, sign_in: bool = False) -> None:
        """Opens the copy and waits until it is completely in memory."""
        self.run("globalThis.copy = await Copy.open(); await copy.loaded; if (argument) await signIn(copy)", sign_in)

    def run(self, body: str, argument=None):
        """Runs JavaScript with `copy` and the helpers of PRELUDE. Returns its result."""
        return self.page.evaluate(f"async argument => {{ {PRELUDE}\n{body} }}", argument)

    def reload(self) -> None:
        self.page.reload()
        self.begin()

    def another(self) -> "StoreTab":
        return StoreTab(self.context, self.url, sign_in=False)


# Fixtures that test modules import


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    with static_pages() as url:
        yield url


@pytest.fixture
def tab(browser: Browser, pages: str) -> Iterator[StoreTab]:
    """A signed-in tab in a new profile. Errors in the page fail the test."""
    context = browser.new_context()
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield StoreTab(context, pages)
    context.close()
    assert not errors
