"""Scripts in texts, names and files never run, whether they come from this device or another one.

A script that runs calls `xss`. A blocked script violates the Content-Security-Policy. Both are page errors and fail the test.
"""

import re
import uuid

import pytest
from app import App
from attachments import attach
from client import PASSWORD, Client
from playwright.sync_api import expect

pytestmark = pytest.mark.long

SCRIPTS = [
    "<script>xss()</script>",
    "<img src=x onerror=xss()>",
    "<svg onload=xss()>",
    '"><img src=x onerror=xss()>',
    "'-xss()-'",
    "javascript:xss()",
    "</textarea><script>xss()</script>",
    "<iframe srcdoc='<script>parent.xss()</script>'></iframe>",
    "{{constructor.constructor('xss()')()}}",
    "[link](javascript:xss())",
    "data:text/html,<script>xss()</script>",
    "https://example.org/\"onmouseover=\"xss()",
    "\u202ejavascript:xss()\u2028xss()",
]
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" onload="xss()"><script>xss()</script></svg>'
HTML = b"<!doctype html><script>xss();opener&&opener.xss();parent.xss&&parent.xss()</script>"
SENTINEL = "window.xss = () => { window.hasRun = true; console.error('a script ran') }"


@pytest.fixture
def watched(new_app):
    """Opens apps that report scripts that run."""

    def make(**options) -> App:
        app = new_app(visit=False, **options)
        app.context.add_init_script(SENTINEL)
        return app.visit()

    return make


def open_all_views(app: App) -> None:
    """Opens every view, note and tag."""
    for fragment in ("#/", "#/archive", "#/deleted", "#/devices", "#/transfer"):
        app.go(fragment)
        app.page.wait_for_timeout(150)
    for tag in app.run("return copy.tags().map(tag => tag.uniqueID)"):
        app.go(f"#/tag/{tag}")
    for note in app.run("return copy.notes({archived: null})"):
        app.go(f"#/note/{note}")
        app.page.wait_for_timeout(60)
        app.go(f"#/history/{note}")
        app.page.wait_for_timeout(60)
    app.go("#/")
    app.sync_button.click()
    app.page.keyboard.press("Escape")


def check(app: App) -> None:
    for page in app.context.pages:
        assert not page.evaluate("() => Boolean(window.hasRun)")
        assert page.locator("iframe, object, embed, script:not([src])").count() == 0
        # Links have only harmless schemes.
        addresses = page.locator("a[href]").evaluate_all("links => links.map(link => link.protocol)")
        assert set(addresses) <= {"http:", "https:", "mailto:", "blob:"}
    assert not app.page_errors


def test_scripts_from_another_device(watched, client: Client):
    """Texts, tags, names, attributes, previews and files from another client of the account."""
    for number, script in enumerate(SCRIPTS):
        tag = client.post("/v1/tags", {"name": f"{script[:100]} {number}"}).json()["uniqueID"]
        attributes = {"pinned": script, "color": script, "constructor": True, "__proto__x".strip("_"): script}
        note = client.post("/v1/notes", {"text": f"{script}\n{script}\n\n{script}", "tags": [tag], "attributes": attributes})
        assert note.status_code == 201, note.text
        picture = attach(client, SVG if number % 2 else HTML, ["image/svg+xml", "text/html", "image/png"][number % 3],
            filename=f"{script}.svg".replace("/", "∕"), preview="PHN2ZyBvbmxvYWQ9eHNzKCk+")  # fmt: skip
        unique_id = note.json()["uniqueID"]
        assert client.patch(f"/v1/notes/{unique_id}", {"attachments": [picture]}).status_code == 200
    # Names that every JavaScript object inherits.
    for name in ("constructor", "toString", "valueOf", "hasOwnProperty"):
        assert client.post("/v1/objects", {"objectType": name, "attributes": {name: "<b>"}}).status_code == 201
    token = {"name": SCRIPTS[1], "scopes": ["read"], "currentPassword": PASSWORD}
    assert client.post("/v1/tokens", token).status_code == 201
    app = watched()
    app.sign_in(client.email, device_name="<img src=x onerror=xss()>")
    app.wait_synced()
    open_all_views(app)
    app.search("<script>")
    expect(app.rows.first).to_be_visible()
    app.search("")
    assert app.run("return copy.notes().length") == len(SCRIPTS)
    check(app)


def test_scripts_from_the_user(watched):
    app = watched()
    app.sign_up(email=f'"<img/src=x/onerror=xss()>"{uuid.uuid4().hex[:8]}@example.org', device_name="<svg onload=xss()>")
    for script in SCRIPTS[:6]:
        app.go("#/")
        app.new_note(script)
        app.leave()
        assert app.text == script
        app.add_tag(script[:100])
        app.paste(HTML, f"{script}.html".replace("/", "∕"), "text/html")
        app.paste(SVG, "drawing.svg", "image/svg+xml")
        app.wait_for("copy.note(argument).attachments.length >= 1", app.note_id)
    for script in SCRIPTS:
        app.go("#/")
        app.search(script)
        app.page.wait_for_timeout(50)
    app.search("")
    app.wait_synced()
    open_all_views(app)
    other = watched()
    other.sign_in(app.email)
    other.wait_synced()
    open_all_views(other)
    check(app)
    check(other)


def test_files_are_shown_or_downloaded_but_never_run(watched):
    app = watched()
    app.sign_up()
    app.new_note("Files\n")
    app.wait_saved()
    app.attach({"name": "page.html", "mimeType": "text/html", "buffer": HTML},
        {"name": "drawing.svg", "mimeType": "image/svg+xml", "buffer": SVG})  # fmt: skip
    app.wait_synced()
    for name in ("page.html", "drawing.svg"):
        with app.page.expect_download() as download:
            app.page.get_by_role("button", name=re.compile(name)).first.click()
        assert download.value.suggested_filename == name
    # Opening the URL of the bytes downloads them, or shows them without scripts.
    for unique_id in app.run("return copy.note(argument).attachments", app.note_id):
        response = app.context.request.get(f"{app.url}/v1/attachments/{unique_id}/data")
        assert response.headers["content-type"] == "application/octet-stream"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in response.headers.get("content-security-policy", "") or "sandbox" in response.headers.get(
            "content-security-policy", "")  # fmt: skip
    check(app)


ADDRESSES = [
    "#/note/<img src=x onerror=xss()>", "#javascript:xss()", "#/tag/%3Cscript%3Exss()%3C/script%3E", "#/note/constructor",
    "#/__proto__/x", "#/constructor", "#/toString/1", "#/note/%E0%A4%A", "?q=<script>xss()</script>#/",
]  # fmt: skip


def test_scripts_in_addresses(watched):
    app = watched()
    app.sign_up()
    for number, address in enumerate(ADDRESSES, 1):
        app.page.goto("about:blank")  # so that the app starts with the address
        app.page.goto(f"{app.url}/{address}")
        app.wait_signed_in()
        app.page.wait_for_timeout(200)
        check(app)
        app.go("#/")
        app.new_note("It still works").leave()
        app.wait_for("copy.notes().length === argument", number)
    app.wait_synced()


def test_the_content_security_policy(new_app):
    """The policy is strict, and the page has no inline scripts or styles."""
    app = new_app()
    page = app.context.request.get(app.url)
    policy = page.headers["content-security-policy"]
    for part in ("default-src 'self'", "img-src 'self' blob: data:", "media-src 'self' blob:", "object-src 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"):
        assert part in policy, policy
    assert "unsafe" not in policy
    html = page.text()
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son\w+=", html)
    # Not directly in `evaluate`, where the browser allows eval.
    call_eval = "() => new Promise(done => setTimeout(() => { try { done(eval('1')) } catch (error) { done(error.name) } }))"
    assert app.page.evaluate(call_eval) == "EvalError"
    assert app.page.evaluate("() => { try { document.body.innerHTML = '<b>' } catch (error) { return error.name } }") == "TypeError"
    app.page.wait_for_timeout(200)
    app.page_errors.clear()  # from the two attempts
