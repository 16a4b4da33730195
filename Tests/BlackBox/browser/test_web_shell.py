"""The app without a network: cached files, requests per visit, updates, and pages without a secure context."""

import re
import shutil
import time
from collections.abc import Iterator

import pytest
from app import App
from client import ROOT, Server, plain_session
from playwright.sync_api import expect

pytestmark = pytest.mark.service_worker

PUBLIC = ROOT / "Public"


@pytest.fixture
def logged_server() -> Iterator[Server]:
    """A server that logs every request."""
    with Server(log_level="debug") as server:
        yield server


def requested_paths(server: Server, since: int = 0) -> list[str]:
    """The requested paths except for /v1/ and /readyz."""
    paths = re.findall(r" path=(/[^ ]*) ", server.log[since:])
    return [path for path in paths if not path.startswith("/v1/") and path != "/readyz"]


def test_requests_of_the_first_and_second_visit(new_app, logged_server: Server):
    app = new_app(server=logged_server)
    app.page.wait_for_load_state("networkidle")
    app.wait_installed()
    first = requested_paths(logged_server)
    assert len(first) <= 70, first
    # The worker gets files that the page has loaded from the browser's cache. After 3 s, the page loads what an export needs, which
    # the worker may have loaded before.
    exporting = {"/js/archive/export.js", "/js/archive/zip.js"}
    assert [path for path in set(first) - exporting if first.count(path) > 1] == []
    app.sign_up()
    app.new_note("Kept").leave()
    app.wait_synced()
    since = len(logged_server.log)
    app.reload()
    app.expect_titles("Kept")
    app.wait_synced()
    # The browser checks for a new worker.
    assert set(requested_paths(logged_server, since)) <= {"/sw.js", "/shell.js"}


def test_a_reload_offline(new_app, fresh_server: Server):
    """Without a server, the app can be reloaded, and notes can be read, written and searched."""
    app = new_app(server=fresh_server)
    app.sign_up()
    app.new_note("Milk and bread").leave()
    app.new_note("Oats").leave()
    app.wait_synced()
    app.wait_installed()
    fresh_server.stop()
    app.reload()
    app.expect_titles("Oats", "Milk and bread")
    app.expect_sync("Offline")
    app.search("bread")
    app.expect_titles("Milk and bread")
    app.open("Milk and bread")
    app.write()
    app.type(", butter")
    app.leave()
    app.reload()
    app.expect_text("Milk and bread, butter")
    app.go("#/")
    app.new_note("Made offline").leave()
    app.expect_sync("to send")
    fresh_server.start()
    app.run("engine.syncNow()")
    app.wait_synced()
    app.expect_titles("Made offline", "Milk and bread, butter", "Oats")


def test_the_worker_caches_no_api_responses(signed_up: App):
    app = signed_up
    app.wait_installed()
    app.reload()
    app.wait_synced()
    cached = app.page.evaluate(
        """async () => {
          const urls = []
          for (const name of await caches.keys()) for (const request of await (await caches.open(name)).keys()) urls.push(request.url)
          return urls
        }"""
    )
    assert cached and not [url for url in cached if "/v1/" in url]


@pytest.fixture
def published(tmp_path):
    """A server with a copy of Public/ that the test can change."""
    shutil.copytree(PUBLIC, tmp_path / "share/Public")
    shutil.copy(ROOT / "openapi.yaml", tmp_path / "share/openapi.yaml")
    with Server(arguments=["--public", str(tmp_path / "share")]) as server:
        yield server, tmp_path / "share/Public"


def test_a_new_version_is_offered_and_loaded(new_app, published):
    server, public = published
    app = new_app(server=server)
    app.sign_up()
    app.new_note("From before")
    app.wait_saved()
    app.wait_synced()
    app.wait_installed()
    tab = app.tab()
    tab.wait_synced()
    css = public / "css/app.css"
    css.write_text(css.read_text() + "\n:root { --new-version: 7 }\n")
    time.sleep(1.2)  # the server checks once a second
    app.page.evaluate("() => navigator.serviceWorker.getRegistration().then(registration => registration.update())")
    expect(app.page.get_by_text("A new version is available")).to_be_visible()
    version = "() => getComputedStyle(document.documentElement).getPropertyValue('--new-version').trim()"
    assert app.page.evaluate(version) == ""
    app.type(", typed on")
    with app.page.expect_navigation():
        app.page.get_by_role("status").get_by_role("button", name="Reload").click()
    app.expect_text("From before, typed on")
    assert app.page.evaluate(version) == "7"
    app.wait_synced()
    # All tabs have the same version, and the old files are deleted.
    tab.reload()
    assert tab.page.evaluate(version) == "7"
    assert len(app.page.evaluate("() => caches.keys()")) == 1
    app.go_offline()
    app.reload()
    assert app.page.evaluate(version) == "7"
    app.expect_text("From before, typed on")


def test_without_a_secure_context_it_works_online(new_app, fresh_server: Server):
    """With plain HTTP and a name other than localhost there are no workers, locks or crypto.subtle. The app shows a warning."""
    app = new_app(server=fresh_server, url=f"http://hesper.test:{fresh_server.port}")
    assert not app.page.evaluate("() => isSecureContext")
    app.sign_in(fresh_server.client().email)
    expect(app.page.get_by_text("plain HTTP", exact=False).first).to_be_visible()
    link = app.page.get_by_role("link", name=re.compile("HTTPS"))
    response = plain_session().get(fresh_server.url + link.first.get_attribute("href"))
    assert response.status_code == 200 and "HTTPS" in response.text
    app.new_note("Works all the same").leave()
    app.attach({"name": "file.bin", "mimeType": "application/octet-stream", "buffer": bytes(100_000)})
    app.wait_synced()
    # Each tab syncs on its own, and both show the changes.
    tab = app.tab()
    tab.wait_synced()
    tab.open("Works all the same")
    app.write()
    app.type(", in both tabs")
    tab.expect_text("Works all the same, in both tabs")
    app.leave()
    other = new_app(server=fresh_server)
    other.sign_in(app.email)
    other.expect_titles("Works all the same, in both tabs")
    other.wait_synced()
    app.reload()
    app.expect_text("Works all the same, in both tabs")


def test_the_manifest_makes_it_installable(new_app):
    app = new_app()
    manifest = app.context.request.get(f"{app.url}/manifest.webmanifest").json()
    assert manifest["name"] and manifest["start_url"] and manifest["display"] == "standalone"
    sizes = {size for icon in manifest["icons"] for size in icon["sizes"].split()}
    assert {"192x192", "512x512"} <= sizes
    for icon in manifest["icons"]:
        response = app.context.request.get(app.url + icon["src"])
        assert response.status == 200 and response.headers["content-type"].startswith(icon["type"])
    app.wait_installed()
    devtools = app.context.new_cdp_session(app.page)
    assert devtools.send("Page.getInstallabilityErrors")["installabilityErrors"] in ([], [{"errorId": "in-incognito", "errorArguments": []}])


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("Object.defineProperty(window, 'indexedDB', {value: undefined})", marks=pytest.mark.thorough),
        "IDBFactory.prototype.open = () => { throw new DOMException('Not here.', 'SecurityError') }",
    ],
    ids=["no IndexedDB", "IndexedDB refused"],
)
def test_without_storage_the_app_shows_an_error(browser, server: Server, script: str):
    page = browser.new_page()
    page.add_init_script(script)
    page.goto(server.url)
    # The app retries for some seconds, because the browser may be busy.
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("Browser storage is not available.", timeout=60_000)
    expect(problem.get_by_role("button", name="Try again")).to_be_visible()
    page.close()


def test_the_offline_banner(signed_up: App):
    """It says that nothing is lost, is not a warning, and is not shown again after it was dismissed."""
    app = signed_up
    app.wait_synced()
    banner = app.page.locator(".banners").get_by_text("Offline. Changes are saved on this device and sync later.")
    app.go_offline()
    app.sync_button.click()
    app.button("Sync now").click()
    expect(app.dialog.get_by_role("alert")).to_have_count(0)
    app.page.keyboard.press("Escape")
    expect(banner).to_be_visible()
    assert app.page.locator(".banner.warn").count() == 0
    app.button("Dismiss").click()
    expect(banner).to_have_count(0)
    app.go_online()
    app.wait_synced()
    app.go_offline()
    app.sync_button.click()
    app.button("Sync now").click()
    app.page.keyboard.press("Escape")
    app.expect_sync("Offline")
    expect(banner).to_have_count(0)
