"""Access tokens in the browser: creating, showing once, using and revoking them."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from app import App
from client import PASSWORD, Client, Server
from playwright.sync_api import Locator, expect
from test_web_language import CUT
from test_web_looks import PHONE

TOKEN = re.compile(r"^hesper_[\w-]{43}$")


def open_form(app: App) -> Locator:
    """The form for a new token, in a dialog."""
    app.go("#/devices")
    app.button("New token").click()
    expect(app.dialog.get_by_label("Name")).to_be_focused()
    return app.dialog


def create(app: App, name: str, permission: str = "Read and change", tag: str = "", expires: str = "Never") -> str:
    """Creates a token and returns its text."""
    form = open_form(app)
    form.get_by_label("Name").fill(name)
    form.get_by_role("radio", name=re.compile(rf"^{permission}( \(|$)")).check()
    if tag:
        form.get_by_label("Tag").select_option(tag)
    form.get_by_label("Expires").select_option(expires)
    form.get_by_label("Current password").fill(PASSWORD)
    form.get_by_role("button", name="Create token").click()
    shown = app.page.get_by_label(f"Token “{name}”")
    expect(shown).to_be_focused()
    expect(shown).to_have_value(TOKEN)
    return shown.input_value()


def tokens(app: App) -> Locator:
    return app.page.get_by_role("list", name="Access tokens").get_by_role("listitem")


def use(app: App, token: str) -> Client:
    return Client(app.url, token)


def listed(app: App) -> list[dict]:
    """The access tokens as the server lists them."""
    client = Client(app.url)
    client.sign_in(app.email)
    return client.get("/v1/tokens").json()["tokens"]


def test_a_token_is_shown_once_works_and_is_revoked(signed_up: App):
    app = signed_up
    app.run('await copy.createNote({text: "Milk"})')
    app.wait_synced()
    app.go("#/devices")
    expect(app.page.get_by_text("No access tokens yet.")).to_be_visible()
    token = create(app, "Backup", "Read", expires="In 30 days")
    expect(app.page.get_by_text("It cannot be shown again.", exact=False)).to_be_visible()
    expect(tokens(app)).to_contain_text(["Read"])
    expect(tokens(app)).to_contain_text([re.compile("Never used · created: .* · expires:")])
    assert app.accessibility() == []
    [known] = listed(app)
    assert (known["name"], known["scopes"], "tag" in known) == ("Backup", ["read"], False)
    days = datetime.fromisoformat(known["expiryDate"]) - datetime.now(UTC)
    assert timedelta(days=29, hours=23) < days < timedelta(days=30, hours=1)

    app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.button("Copy").click()
    expect(app.toast("Copied")).to_be_visible()
    assert app.page.evaluate("() => navigator.clipboard.readText()") == token
    app.button("Done").click()
    expect(app.button("New token")).to_be_focused()
    expect(app.page.get_by_label("Token “Backup”")).to_have_count(0)

    script = use(app, token)
    assert [note["text"] for note in script.get("/v1/notes").json()["notes"]] == ["Milk"]
    refused = script.post("/v1/notes", {"text": "Wine"})
    assert (refused.status_code, refused.json()["slug"]) == (403, "insufficient-scope")
    app.wait_for("(await engine.tokens())[0].lastUseDate")
    app.reload()
    expect(tokens(app)).to_contain_text([re.compile(r"Last used .* from 127\.0\.0\.1 · created: ")])
    assert token not in app.page.content()

    app.button("Revoke Backup").click()
    app.dialog.get_by_role("button", name="Cancel").click()
    assert script.get("/v1/notes").status_code == 200
    app.button("Revoke Backup").click()
    app.dialog.get_by_role("button", name="Revoke").click()
    expect(app.toast("Token “Backup” revoked")).to_be_visible()
    expect(tokens(app)).to_have_count(0)
    expect(app.button("New token")).to_be_focused()
    assert script.get("/v1/notes").status_code == 401


def test_problems_are_shown_at_their_fields(signed_up: App):
    app = signed_up
    app.tolerated.add("403")
    app.tolerated.add("422")
    app.wait_synced()
    app.run('await copy.createTag("Garden")')
    app.wait_synced()
    form = open_form(app)
    create = form.get_by_role("button", name="Create token")

    def expect_error(label: str, words: str) -> None:
        field = form.get_by_label(label, exact=True)
        expect(field).to_be_focused()
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_have_accessible_description(re.compile(re.escape(words)))
        expect(form.get_by_text(words)).to_be_visible()

    create.click()
    expect_error("Name", "Enter a name.")
    form.get_by_label("Name").fill("   ")
    create.click()
    expect_error("Name", "Enter a name.")
    form.get_by_label("Name").fill("Backup")
    expect(form.get_by_text("Enter a name.")).to_have_count(0)
    create.click()
    expect_error("Current password", "Enter your current password.")
    form.get_by_label("Current password").fill("not my password")
    create.click()
    expect_error("Current password", "Incorrect password.")
    assert app.accessibility() == []

    # Another device deletes the tag while it is chosen.
    client = Client(app.url)
    client.sign_in(app.email)
    [tag] = client.read_all()[0]["tags"]
    assert client.delete(f"/v1/tags/{tag['uniqueID']}").status_code == 200
    form.get_by_label("Tag").select_option("Garden")
    form.get_by_label("Current password").fill(PASSWORD)
    create.click()
    expect_error("Tag", "The server does not have this tag.")
    form.get_by_label("Tag").select_option("All notes")

    app.go_offline()
    create.click()
    expect(form.get_by_role("alert")).to_contain_text("Cannot reach the server")
    app.go_online()

    app.page.route("**/v1/tokens", lambda route: route.fulfill(
        status=413, content_type="application/problem+json",
        body='{"slug": "too-large", "title": "Too large", "detail": "Too many", "status": 413, "limit": 100}'))  # fmt: skip
    app.tolerated.add("413")
    create.click()
    expect(form.get_by_role("alert")).to_contain_text("Too many access tokens")
    app.page.unroute("**/v1/tokens")
    create.click()
    expect(app.page.get_by_label("Token “Backup”")).to_have_value(TOKEN)
    assert [token["name"] for token in listed(app)] == ["Backup"]


def test_a_token_of_a_tag_and_its_name_in_the_history(signed_up: App):
    app = signed_up
    app.run("""const tag = await copy.createTag("Shopping")
      await copy.createNote({text: "Milk", tags: [tag]})
      await copy.createNote({text: "A secret"})""")
    app.wait_synced()
    script = use(app, create(app, "Shopping list", tag="Shopping"))
    expect(tokens(app)).to_contain_text(["Read and change · notes with the tag “Shopping”"])
    ids = app.run("return copy.notes().map(id => copy.note(id)).map(({uniqueID, text}) => [text, uniqueID])")
    notes = dict(ids)
    assert script.get(f"/v1/notes/{notes['A secret']}").status_code == 404
    assert script.get("/v1/notes").status_code == 403
    assert script.patch(f"/v1/notes/{notes['Milk']}", {"text": "Milk and bread"}).status_code == 200
    app.go(f"#/note/{notes['Milk']}")
    app.expect_text("Milk and bread")
    app.choose("History")
    latest = app.page.get_by_role("main").get_by_role("listitem").first
    expect(latest).to_contain_text("Shopping list")
    expect(latest.get_by_role("insertion")).to_have_text(" and bread")
    # The name of a revoked token is not stored.
    app.go("#/devices")
    app.button("Revoke Shopping list").click()
    app.dialog.get_by_role("button", name="Revoke").click()
    expect(tokens(app)).to_have_count(0)
    app.go(f"#/history/{notes['Milk']}")
    expect(latest).to_contain_text("Removed device or token · 2 words added")


def test_all_kinds_of_tokens_are_described(signed_up: App):
    app = signed_up
    tag = app.run('return copy.createTag("Garden")')
    past, future = "2020-03-05T10:00:00.000Z", "2099-03-05T10:00:00.000Z"
    kinds = [
        {"name": "A", "scopes": ["append"], "expiryDate": future},
        {"name": "B", "scopes": ["append", "read"], "tag": tag},
        {"name": "C", "scopes": ["append", "read", "write"], "tag": "77c1b0a4-2f3e-4d5c-8b6a-9e0f1a2b3c4d"},
        {"name": "D", "scopes": ["read", "share"], "expiryDate": past, "lastUseDate": past},
    ]
    body = {"tokens": [kind | {"uniqueID": f"{at:016x}", "creationDate": past} for at, kind in enumerate(kinds)]}
    app.page.route("**/v1/tokens", lambda route: route.fulfill(content_type="application/json", body=json.dumps(body)))
    app.go("#/devices")
    expect(tokens(app)).to_have_count(4)
    for at, words in enumerate((
        ["Add notes only", "Never used", "expires: 5 Mar 2099"],
        ["Read, and add notes · notes with the tag “Garden”"],
        ["Read and change · notes with a deleted tag"],
        ["read, share", "Last used", "expired: 5 Mar 2020"],
    )):  # fmt: skip
        for part in words:
            expect(tokens(app).nth(at)).to_contain_text(part)
    assert app.accessibility() == []


def test_the_section_needs_a_server_with_tokens(signed_up: App):
    app = signed_up
    app.wait_synced()
    # Offline, the page lists this device only, as it does not know what the server has.
    app.go_offline()
    app.go("#/devices")
    expect(app.page.get_by_role("alert")).to_contain_text("Cannot reach the server")
    expect(app.button("New token")).to_have_count(0)
    app.go_online()
    app.button("Try again").click()
    expect(app.button("New token")).to_be_visible()

    def without_tokens(route) -> None:
        server = route.fetch().json()
        server["features"].remove("access-tokens")
        route.fulfill(json=server)

    app.page.route("**/v1/server", without_tokens)
    app.go("#/")
    with app.page.expect_response("**/v1/server"):
        app.go("#/devices")
    expect(app.page.get_by_text("Last used", exact=False)).to_be_visible()
    expect(app.button("New token")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.thorough)])
def test_tokens_in_german_on_a_phone(new_app, server: Server, scheme):
    client = server.client()
    assert client.post("/v1/tags", {"name": "Garten/Beete/Gemüse"}).status_code == 201
    app = new_app(**PHONE, locale="de-DE", color_scheme=scheme, reduced_motion="reduce")
    app.tolerated.add("403")
    app.email = client.email
    app.run("await engine.signIn(argument)", {"email": client.email, "password": PASSWORD, "deviceName": "Handy"})
    app.wait_for("engine.status.identical && copy.tags().length === 1")
    page, found = app.page, {}

    def check(name: str) -> None:
        if faults := app.accessibility(touch=True) + page.evaluate(CUT):
            found[name] = faults

    app.go("#/devices")
    page.get_by_role("button", name="Neues Token").click()
    form = page.get_by_role("dialog", name="Neues Zugriffstoken")
    form.get_by_label("Name").fill("Einkaufsliste")
    form.get_by_role("radio", name="Lesen und Notizen hinzufügen").check()
    form.get_by_label("Schlagwort", exact=True).select_option("Garten/Beete/Gemüse")
    form.get_by_label("Läuft ab").select_option("In 1 Jahr")
    form.get_by_label("Aktuelles Passwort").fill("falsch-geraten")
    form.get_by_role("button", name="Token erstellen").click()
    expect(form.get_by_text("Falsches Passwort.")).to_be_visible()
    check("form")
    form.get_by_label("Aktuelles Passwort").fill(PASSWORD)
    form.get_by_role("button", name="Token erstellen").click()
    expect(page.get_by_label("Token „Einkaufsliste“")).to_have_value(TOKEN)
    row = page.get_by_role("list", name="Zugriffstoken").get_by_role("listitem")
    expect(row).to_contain_text("Lesen und Notizen hinzufügen · Notizen mit dem Schlagwort „Garten/Beete/Gemüse“")
    expect(row).to_contain_text(re.compile(r"Noch nie verwendet · erstellt: .* · gültig bis: \d+\. "))
    check("created")
    page.get_by_role("button", name="Einkaufsliste widerrufen").click()
    check("revoke")
    page.get_by_role("dialog").get_by_role("button", name="Widerrufen").click()
    expect(page.get_by_role("region", name="Mitteilungen")).to_contain_text("Token „Einkaufsliste“ widerrufen")
    expect(row).to_have_count(0)
    expect(page.get_by_label("Token „Einkaufsliste“")).to_have_count(0)
    assert found == {}
