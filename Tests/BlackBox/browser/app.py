"""The web app as a person uses it: everything is found by its role and its name, as a screen reader finds it."""

from pathlib import Path

from playwright.sync_api import BrowserContext, ConsoleMessage, Page

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
        self.page.wait_for_function(
            f'async argument => {{ const {{copy, engine}} = await import("/js/app.js"); return {body} }}',
            arg=argument, timeout=seconds * 1000,
        )  # fmt: skip
