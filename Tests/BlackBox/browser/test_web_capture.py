"""Text that another app shares: the address /capture, which the manifest names, and the page on which it is saved."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode

import pytest
import requests
from app import App
from client import ROOT, Client, Server
from playwright.sync_api import Locator, expect


def visit(app: App, **shared: str) -> None:
    manifest = json.loads((ROOT / "Public/manifest.webmanifest").read_text())
    target = manifest["share_target"]
    assert target["method"] == "GET"
    app.page.goto(f"{app.url}{target['action']}?{urlencode({target['params'][name]: text for name, text in shared.items()})}")


class Elsewhere(BaseHTTPRequestHandler):
    """A web page of another site."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        title = "<!doctype html><title>Rye &amp; salt</title>"
        self.wfile.write(f"{title}<p>Not this.</p><p id=recipe>A &lt;b&gt;recipe, {'è' * 20_000}</p>".encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://localhost:{server.server_port}"  # another site than 127.0.0.1
        server.shutdown()
        thread.join()


def field(app: App) -> Locator:
    return app.page.get_by_role("textbox", name="New note")


def count(app: App) -> int:
    return app.run("await copy.loaded; return copy.notes({archived: null}).length")


def test_shared_text_is_saved_only_on_a_click(signed_up: App):
    app = signed_up
    shared = {"title": "Rye & salt", "text": "A <b>recipe</b>\nfrom Ada", "url": "https://example.org/bread?a=1&b=2"}
    text = "Rye & salt\n\nA <b>recipe</b>\nfrom Ada\n\nhttps://example.org/bread?a=1&b=2"
    visit(app, **shared)
    expect(field(app)).to_have_value(text)
    expect(field(app)).to_be_focused()
    assert app.page.url.endswith("/#/capture"), "the text must not stay in the address"
    assert app.accessibility() == []
    # The text can be changed. A reload keeps it.
    field(app).press("Control+End")
    app.type("!")
    app.page.wait_for_function("() => history.state.shared.endsWith('!')")
    app.reload()
    expect(field(app)).to_have_value(f"{text}!")
    assert count(app) == 0
    app.button("Cancel").click()
    expect(app.page.get_by_text("Create your first note", exact=False)).to_be_visible()
    visit(app, text="Milk")
    app.add_tag("Shopping")
    app.add_tag("Home")
    app.button("Remove tag Home").click()
    assert count(app) == 0 and app.run("return copy.tags().length") == 0
    app.button("Save note").click()
    app.expect_text("Milk")
    expect(app.button("Remove tag Shopping")).to_be_visible()
    app.wait_synced()
    # The page is not in the history of the browser any more: Back does not offer to save again.
    assert count(app) == 1
    app.page.go_back()
    expect(field(app)).to_have_count(0)
    assert count(app) == 1


def test_the_bookmarklet_on_a_page_of_another_site(signed_up: App, elsewhere: str):
    app = signed_up
    app.go("#/devices")
    link = app.page.get_by_role("link", name="Save to Hesper")
    code = link.get_attribute("href")
    assert code.startswith("javascript:")
    # The page itself does not run it: the policy would report a violation.
    link.click()
    expect(app.toast("Drag this link to the bookmarks bar")).to_be_visible()
    app.button("Copy the link").click()
    expect(app.toast("Copied")).to_be_visible()
    page = app.context.new_page()
    page.goto(f"{elsewhere}/bread?a=1&b=2#salt")
    page.evaluate(
        """code => {
          const link = document.createElement("a")
          link.href = code
          document.body.append(link)
          link.focus()
          getSelection().selectAllChildren(recipe)
        }""",
        code,
    )
    with app.context.expect_page() as opened:
        page.keyboard.press("Enter")
    window = App(app.context, app.url, first=app)
    window.page.close()
    window.page = opened.value
    # The text may be longer than the server accepts in an address.
    text = f"Rye & salt\n\nA <b>recipe, {'è' * 20_000}\n\n{elsewhere}/bread?a=1&b=2#salt"
    expect(field(window)).to_have_value(text)
    assert window.page.url == f"{app.url}/#/capture"
    assert window.page.evaluate("opener") is None
    assert page.url == f"{elsewhere}/bread?a=1&b=2#salt" and count(app) == 0
    window.button("Save note").click()
    window.expect_text(text)
    app.wait_for("copy.notes({archived: null}).length === 1")
    window.wait_synced()


@pytest.mark.service_worker
def test_shared_text_offline(signed_up: App):
    app = signed_up
    app.wait_installed()
    app.wait_synced()
    app.go_offline()
    visit(app, title="Read later", url="https://example.org")
    expect(field(app)).to_have_value("Read later\n\nhttps://example.org")
    app.button("Save note").click()
    app.expect_text("Read later\n\nhttps://example.org")
    expect(app.page.get_by_text("Changes are saved on this device and sync later.").or_(
        app.page.get_by_text("saved in this browser, synced later", exact=False)).first).to_be_visible()  # fmt: skip
    app.go_online()
    app.wait_synced()


def test_shared_text_waits_for_the_sign_in(new_app, client: Client):
    app = new_app()
    visit(app, text="Kept until then")
    expect(app.page.get_by_text("Sign in to save the shared text.")).to_be_visible()
    app.choose_form("Sign in")
    app.fill_sign_in(client.email)
    app.submit_sign_in()
    expect(field(app)).to_have_value("Kept until then")
    assert count(app) == 0
    app.button("Save note").click()
    app.expect_text("Kept until then")
    app.wait_synced()
    assert [note["text"] for note in client.read_all()[0]["notes"]] == ["Kept until then"]


def test_text_that_cannot_be_saved(signed_up: App):
    app = signed_up
    app.wait_synced()
    limit = app.run("return copy.limits.textBytes")
    visit(app)
    app.button("Save note").click()
    expect(app.page.get_by_text("Enter some text.")).to_be_visible()
    # Set by a script, because the browser takes many seconds to insert such a text.
    field(app).evaluate(
        """(field, length) => {
          field.value = "é".repeat(length)
          field.dispatchEvent(new InputEvent("input", {bubbles: true}))
        }""",
        limit // 2 + 1,
    )
    error = app.page.get_by_role("alert").filter(has_text="The text is too long: 1 MB, at most 1 MB.")
    expect(error).to_be_visible()
    expect(field(app)).to_have_attribute("aria-invalid", "true")
    app.button("Save note").click()
    expect(error).to_be_visible()
    assert count(app) == 0
    field(app).press("Control+End")
    app.page.keyboard.press("Backspace")
    expect(error).to_have_count(0)
    app.button("Save note").click()
    expect(app.page.get_by_role("article", name="Note")).to_be_visible()
    assert count(app) == 1


def test_the_server_serves_the_app_at_the_address(server: Server):
    page, capture = (requests.get(f"{server.url}{path}") for path in ("/", "/capture?text=" + "x" * 2_000))
    assert capture.status_code == 200 and capture.content == page.content
    varying = ("Date", "X-Request-ID")
    without = [{name: value for name, value in answer.headers.items() if name not in varying} for answer in (page, capture)]
    assert without[0] == without[1]
    head = requests.head(f"{server.url}/capture")
    assert head.status_code == 200 and head.headers["Content-Type"] == page.headers["Content-Type"]
    assert requests.post(f"{server.url}/capture", data={"text": "x"}).status_code == 405
