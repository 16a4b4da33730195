"""The web app with 5,000 notes in Debian's Chromium: start time, latency of keystrokes and memory use."""

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from uuid import UUID

from app import CHROMIUM, App
from client import Client, Server
from clocks import ClockSource, date
from load import rounds
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from report import Row

NOTES = 5_000
KEYS = 150
BETWEEN_KEYS = 60  # ms, for a fast typist
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage"]
PLAIN = b"<!doctype html><html lang=en><title>Plain</title><main><p>Words</p><textarea autofocus></textarea></main>"

# Records when the first element that matches a selector was drawn.
WATCH = """selector => {
  const check = () => document.querySelector(selector)
    ? requestAnimationFrame(() => { window.shownAt = performance.now() }) : requestAnimationFrame(check)
  requestAnimationFrame(check)
}"""
# Measures from each key event to the task after the next frame.
TIME_KEYS = """() => {
  window.keys = []
  addEventListener("keydown", event => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => window.keys.push(performance.now() - event.timeStamp)
    port2.postMessage(null)
  }), { capture: true })
}"""
# Reads the pages of a first sync, which are as large as those that the app requests, and discards them.
READ_ALL = """async () => {
  const begin = performance.now()
  for (let syncToken, hasMore = true; hasMore;) {
    const body = JSON.stringify({ limit: syncToken ? 1000 : 250, ...syncToken && { syncToken } })
    const response = await fetch("/v1/sync", { method: "POST", body, headers: { "Content-Type": "application/json" } });
    ({ syncToken, hasMore } = await response.json())
  }
  return performance.now() - begin
}"""


def web_app() -> list[Row]:
    with Server() as server, plain_page() as plain, chromium() as browser:
        owner = server.client()
        write_notes(owner)
        begun = Starts()
        typed = Typing()
        for _ in range(rounds()):
            context = browser.new_context()
            app = App(context, server.url)
            first_start(app, owner, browser, plain, begun)
            typing(app, browser, plain, typed)
            second_start(app, browser, plain, begun)
            context.close()
            if app.page_errors:
                raise RuntimeError("; ".join(app.page_errors))
        return begun.rows + typed.rows


def write_notes(owner: Client) -> None:
    """Creates 5,000 notes of about 500 bytes. Words have a Zipf distribution, so that a search finds some of the notes."""
    random, clock = Random(1), ClockSource(owner.device["uniqueID"])
    syllables = [first + vowel for first in "bdfghklmnprstvw" for vowel in ("a", "e", "i", "o", "u", "ei")]
    words = ["".join(random.choices(syllables, k=random.randint(1, 4))) for _ in range(8_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    for begin in range(0, NOTES, 500):
        notes = []
        for _ in range(begin, begin + 500):
            lines = [" ".join(random.choices(words, weights, k=count)) for count in (5, 60)]
            stamp = clock.tick()
            notes.append({"uniqueID": str(UUID(int=random.getrandbits(128), version=4)), "creationDate": date(clock.now),
                "text": "\n\n".join(lines), "clocks": {"text": stamp}})  # fmt: skip
        response = owner.sync({"notes": notes})
        if any(result["status"] != "applied" for result in response["results"]):
            raise RuntimeError("not all notes were stored")


class Starts:
    def __init__(self):
        notes = f"of the web app with {NOTES:,} notes"
        self.first = Row(f"first start {notes}, from sign-in until notes are shown", "an empty page", "ms")
        self.synced = Row("the same, until all notes are synced", "reading and discarding the same pages", "ms", 5, most=True)
        self.second = Row(f"second start {notes}, offline, until notes are shown", "an empty page", "ms")
        self.heap = Row(f"JavaScript heap {notes}", "an empty page", "MB")
        self.rows = [self.first, self.synced, self.second, self.heap]


class Typing:
    def __init__(self):
        where = f"in a note, {NOTES:,} notes"
        self.half = Row(f"key to paint {where}, p50", "a plain textarea", "ms")
        self.most = Row("the same, p95", "a plain textarea", "ms")
        self.script = Row(f"script of a key {where}, p50", "16 ms, a frame", "ms", 1, most=True)
        self.script_most = Row("the same, p95", "16 ms, a frame", "ms", 1, most=True)
        self.search = Row(f"key to paint in the search over {NOTES:,} notes, p95", "a plain textarea", "ms")
        self.search_script = Row("script of such a key, p95", "16 ms, a frame", "ms", 1, most=True)
        self.rows = list(vars(self).values())


def first_start(app: App, owner: Client, browser: Browser, plain: str, rows: Starts) -> None:
    """Measures from the response to the sign-in, which is slow by design."""
    app.visit()
    app.choose_form("Sign in")
    app.fill_sign_in(owner.email)
    app.page.evaluate(WATCH, app.ROW)
    app.submit_sign_in()
    app.wait_synced(seconds=120)
    signed_in, shown, synced = app.page.evaluate(
        """async () => {
          const [{ responseEnd }] = performance.getEntriesByType("resource").filter(entry => entry.name.endsWith("/v1/devices"))
          const { engine } = await import("/js/app.js")
          return [responseEnd, window.shownAt, engine.status.lastSync - performance.timeOrigin]
        }"""
    )
    rows.first.add(shown - signed_in, nothing(browser, plain))
    rows.synced.add(synced - signed_in, app.page.evaluate(READ_ALL))
    rows.heap.add(heap(app.page), of_plain(browser, plain, heap))


def second_start(app: App, browser: Browser, plain: str, rows: Starts) -> None:
    app.wait_installed()
    app.go_offline()
    app.context.add_init_script(f"({WATCH})({app.ROW!r})")
    app.reload()
    app.page.wait_for_function("() => window.shownAt")
    rows.second.add(app.page.evaluate("() => window.shownAt"), nothing(browser, plain))


def typing(app: App, browser: Browser, plain: str, rows: Typing) -> None:
    app.open_first()
    app.write()
    paint, script = type_keys(app.page)
    plain_paint, _ = of_plain(browser, plain, type_keys)
    rows.half.add(at(paint, 50), at(plain_paint, 50))
    rows.most.add(at(paint, 95), at(plain_paint, 95))
    rows.script.add(at(script, 50), 16)
    rows.script_most.add(at(script, 95), 16)
    app.search_box.click()
    paint, script = type_keys(app.page, "the of and to in")
    rows.search.add(at(paint, 95), at(plain_paint, 95))
    rows.search_script.add(at(script, 95), 16)
    app.search_box.fill("")


def type_keys(page: Page, words: str = "evening ") -> tuple[list[float], list[float]]:
    """Milliseconds from key to paint, and of script, per key. Saving counts for the preceding key."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    page.evaluate(TIME_KEYS)
    script = []
    for number in range(KEYS):
        before = metric(devtools, "ScriptDuration")
        page.keyboard.press(words[number % len(words)].replace(" ", "Space"))
        page.wait_for_timeout(BETWEEN_KEYS)
        script.append((metric(devtools, "ScriptDuration") - before) * 1000)
        if words != "evening " and number % len(words) == len(words) - 1:
            page.keyboard.press("Control+A")  # starts another query
    devtools.detach()
    return page.evaluate("() => window.keys"), script


def at(figures: list[float], percent: int) -> float:
    return sorted(figures)[min(len(figures) - 1, len(figures) * percent // 100)]


def metric(devtools, name: str) -> float:
    return next(entry["value"] for entry in devtools.send("Performance.getMetrics")["metrics"] if entry["name"] == name)


def heap(page: Page) -> float:
    """The heap in use after a garbage collection, in megabytes."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.collectGarbage")
    used = devtools.send("Runtime.getHeapUsage")["usedSize"]
    devtools.detach()
    return used / 1e6


def nothing(browser: Browser, plain: str) -> float:
    """Milliseconds until an empty page is shown."""

    def shown(page: Page) -> float:
        page.wait_for_function("() => window.shownAt")
        return page.evaluate("() => window.shownAt")

    return of_plain(browser, plain, shown)


def of_plain(browser: Browser, plain: str, measure: Callable[[Page], Any]) -> Any:
    context: BrowserContext = browser.new_context()
    context.add_init_script(f"({WATCH})('p')")
    page = context.new_page()
    page.goto(plain)
    page.locator("textarea").click()
    try:
        return measure(page)
    finally:
        context.close()


@contextmanager
def plain_page() -> Iterator[str]:
    """Serves one page, and yields its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(PLAIN)))
            self.end_headers()
            self.wfile.write(PLAIN)

        def log_message(self, *_) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()
