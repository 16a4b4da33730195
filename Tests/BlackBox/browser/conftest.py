"""Fixtures of the browser tests: a browser, and apps with separate profiles.

Errors, unhandled rejections and violations of the Content-Security-Policy in a page fail the test. Screenshots and console
logs of failed tests are in .build/results/browser.
"""

import re
from collections.abc import Callable, Iterator

import pytest
from app import CHROMIUM, TIMEOUT, App
from browser_device import MOVED_CLOCK, BrowserDevice
from client import ROOT, Server
from device import Device
from engine_page import EngineTab, Profile
from firefox import Firefox, FirefoxApp
from playwright.sync_api import Browser, expect, sync_playwright

RESULTS = ROOT / ".build/results/browser"
# Tests may run as root in a container, where Chromium's sandbox is not available and shared memory is small.
# accessible.js uses the browser's computed names and roles.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--enable-blink-features=ComputedAccessibilityInfo",
    "--host-resolver-rules=MAP hesper.test 127.0.0.1",  # a host name that is not a secure context
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium shared by all tests. Profiles are separate."""
    assert CHROMIUM, "chromium is not installed: Tools/set-up.sh test"
    expect.set_options(timeout=TIMEOUT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def new_app(browser: Browser, server: Server, request: pytest.FixtureRequest) -> Iterator[Callable[..., App]]:
    """`new_app()` opens the shared server's first page (or that of `server=`) with a new profile.

    Other arguments are those of a browser context: `color_scheme="dark"`, `viewport=…`, `has_touch=True`.
    The app has a service worker only in tests marked `service_worker`.
    """
    apps: list[App] = []
    service_worker = request.node.get_closest_marker("service_worker") is not None

    def make(server: Server = server, url: str | None = None, visit: bool = True, **profile) -> App:
        context = browser.new_context(**({"locale": "en-GB", "timezone_id": "Europe/Berlin"} | profile))
        context.set_default_timeout(TIMEOUT)
        app = App(context, url or server.url, service_worker=service_worker)
        apps.append(app)
        if visit:
            app.visit()
        return app

    yield make
    failed = getattr(request.node, "has_failed", False) or any(app.page_errors for app in apps)
    for number, app in enumerate(apps, 1):
        if failed:
            name = re.sub(r"[^A-Za-z0-9_.-]+", "-", request.node.name)
            app.save_diagnostics(RESULTS, f"{name}-{number}")
        app.context.close()
    page_errors = [error for app in apps for error in app.page_errors]
    assert not page_errors, "errors in the page:\n" + "\n".join(page_errors)


@pytest.fixture(scope="session")
def firefox() -> Iterator[Firefox]:
    """A Firefox shared by all tests of a worker. Profiles are separate."""
    browser = Firefox()
    yield browser
    browser.close()


@pytest.fixture
def firefox_and_device(firefox: Firefox, server: Server, request: pytest.FixtureRequest) -> Iterator[tuple[FirefoxApp, Device]]:
    """The app in Firefox, signed in, and a Python client of the same account. Errors in the page fail the test."""
    client = server.client(device_name="B")
    app = FirefoxApp(firefox, server.url)
    app.sign_in(client.email)
    yield app, Device(client)
    if getattr(request.node, "has_failed", False) or app.page_errors:
        app.save_diagnostics(RESULTS, re.sub(r"[^A-Za-z0-9_.-]+", "-", request.node.name))
    app.close()
    assert not app.page_errors, "errors in the page:\n" + "\n".join(app.page_errors)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    report = yield
    if report.failed:
        item.has_failed = True
    return report


@pytest.fixture
def signed_up(new_app: Callable[..., App]) -> App:
    """An app after signing up."""
    app = new_app()
    app.sign_up()
    return app


@pytest.fixture
def two_browsers(new_app: Callable[..., App]) -> list[App]:
    """Two apps signed in to one account: A, B."""
    a, b = new_app(), new_app()
    a.sign_up(device_name="A")
    b.sign_in(a.email, device_name="B")
    return [a, b]


@pytest.fixture
def browser_and_device(new_app: Callable[..., App], server: Server) -> tuple[App, Device]:
    """A browser, A, and a Python client, B, of one account."""
    client = server.client(device_name="B")
    app = new_app()
    app.sign_in(client.email, device_name="A")
    return app, Device(client)


@pytest.fixture
def browser_device(new_app: Callable[..., App], server: Server) -> Callable[..., tuple[BrowserDevice, Device]]:
    """`browser_device(wall=ms)`: a browser with a wall clock offset, A, and a Python client, B, of one account."""

    def make(wall: int = 0) -> tuple[BrowserDevice, Device]:
        client = server.client(device_name="B")
        app = new_app(visit=False)
        app.context.add_init_script(MOVED_CLOCK % wall)
        app.visit()
        app.sign_in(client.email, device_name="A")
        return BrowserDevice(app, client), Device(client)

    return make


@pytest.fixture
def profile(browser: Browser) -> Iterator[Profile]:
    """`profile(server)` opens a page with only the copy and the engine, in a new profile. Errors in pages fail the test."""
    contexts, errors = [], []

    def make(server: Server, url: str | None = None) -> EngineTab:
        context = browser.new_context()
        context.on("weberror", lambda error: errors.append(str(error.error)))
        contexts.append(context)
        return EngineTab(context, url or server.url)

    yield make
    for context in contexts:
        context.close()
    assert not errors, "errors in the page:\n" + "\n".join(errors)
