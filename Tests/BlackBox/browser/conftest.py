"""What the tests of the web app share: a browser, and people who use it, each with a profile of his own.

Whatever the page complains of (an error, an unhandled rejection, something its Content-Security-Policy kept from running)
fails the test. What failed leaves a picture and the log of its console in .build/results/browser.
"""

import re
from collections.abc import Callable, Iterator

import pytest
from app import CHROMIUM, PATIENCE, App
from browser_device import MOVED_CLOCK, BrowserDevice
from client import ROOT, Server
from device import Device
from engine_page import EngineTab, Profile
from playwright.sync_api import Browser, expect, sync_playwright

RESULTS = ROOT / ".build/results/browser"
# The sandbox wants a user namespace and the shared memory is small where tests run as root in a container.
# The browser's own accessible names and roles are what accessible.js looks at.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--enable-blink-features=ComputedAccessibilityInfo",
    "--host-resolver-rules=MAP hesper.test 127.0.0.1",  # a name that makes no secure context
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, once for all tests; what one profile holds no other sees."""
    assert CHROMIUM, "there is no chromium on the PATH: Tools/set-up.sh test installs it"
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def person(browser: Browser, server: Server, request: pytest.FixtureRequest) -> Iterator[Callable[..., App]]:
    """`person()`: somebody with a fresh profile, at the first page of the server for all (or `server=` another).

    Other arguments are those of a context: `color_scheme="dark"`, `viewport=…`, `has_touch=True`.
    """
    people: list[App] = []

    def make(server: Server = server, url: str | None = None, visit: bool = True, **profile) -> App:
        context = browser.new_context(**({"locale": "en-GB", "timezone_id": "Europe/Berlin"} | profile))
        context.set_default_timeout(PATIENCE)
        app = App(context, url or server.url)
        people.append(app)
        if visit:
            app.visit()
        return app

    yield make
    failed = getattr(request.node, "has_failed", False) or any(app.complaints for app in people)
    for number, app in enumerate(people, 1):
        if failed:
            name = re.sub(r"[^A-Za-z0-9_.-]+", "-", request.node.name)
            app.leave_traces(RESULTS, f"{name}-{number}")
        app.context.close()
    complaints = [complaint for app in people for complaint in app.complaints]
    assert not complaints, "the page complained:\n" + "\n".join(complaints)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    report = yield
    if report.failed:
        item.has_failed = True
    return report


@pytest.fixture
def signed_up(person: Callable[..., App]) -> App:
    """Somebody who has just signed up."""
    app = person()
    app.sign_up()
    return app


@pytest.fixture
def two_browsers(person: Callable[..., App]) -> list[App]:
    """One account, signed in in two browsers: A, B."""
    a, b = person(), person()
    a.sign_up(device_name="A")
    b.sign_in(a.email, device_name="B")
    return [a, b]


@pytest.fixture
def browser_and_device(person: Callable[..., App], server: Server) -> tuple[App, Device]:
    """One account: A is a browser, B a client in Python that follows clients.md."""
    client = server.client(device_name="B")
    app = person()
    app.sign_in(client.email, device_name="A")
    return app, Device(client)


@pytest.fixture
def browser_device(person: Callable[..., App], server: Server) -> Callable[..., tuple[BrowserDevice, Device]]:
    """`browser_device(wall=ms)`: one account; A is a browser whose wall clock is off by that much, B a client in Python."""

    def make(wall: int = 0) -> tuple[BrowserDevice, Device]:
        client = server.client(device_name="B")
        app = person(visit=False)
        app.context.add_init_script(MOVED_CLOCK % wall)
        app.visit()
        app.sign_in(client.email, device_name="A")
        return BrowserDevice(app, client), Device(client)

    return make


@pytest.fixture
def profile(browser: Browser) -> Iterator[Profile]:
    """`profile(server)`: a page with the copy and the engine alone, in a fresh profile. None may throw."""
    contexts, errors = [], []

    def make(server: Server, url: str | None = None) -> EngineTab:
        context = browser.new_context()
        context.on("weberror", lambda error: errors.append(str(error.error)))
        contexts.append(context)
        return EngineTab(context, url or server.url)

    yield make
    for context in contexts:
        context.close()
    assert not errors, "the page threw:\n" + "\n".join(errors)
