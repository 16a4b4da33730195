"""Signing up, in and out in the browser, and being signed out by another device (clients.md, rule 13)."""

import re
import uuid

import pytest
from app import App
from client import PASSWORD, Client, Server
from device import Device
from playwright.sync_api import Route, expect

pytestmark = pytest.mark.long


def another_client(app: App) -> Client:
    """Another client of the account."""
    client = Client(app.url)
    client.sign_in(app.email, device_name="another")
    return client


def sign_out_remotely(app: App) -> Client:
    """Another client of the account signs this browser out."""
    client = another_client(app)
    devices = client.get("/v1/devices").json()["devices"]
    for device in devices:
        if not device["current"]:
            assert client.delete(f"/v1/devices/{device['uniqueID']}").status_code == 204
    return client


@pytest.mark.service_worker
def test_the_first_account_of_a_server(new_app, fresh_server: Server):
    """A server without accounts shows the sign-up form first. The account begins with one note, which can be deleted."""
    app = new_app(server=fresh_server)
    expect(app.page).to_have_title(re.compile("Hesper"))
    expect(app.page.get_by_role("heading", name="Create your account")).to_be_visible()
    expect(app.page.get_by_text("This server has no accounts yet.", exact=False)).to_be_visible()
    expect(app.page.get_by_label("E-mail")).to_be_focused()
    expect(app.page.get_by_role("textbox")).to_have_count(2)
    assert app.accessibility() == []
    app.sign_up_in_form()
    app.expect_titles("Welcome to Hesper")
    app.wait_synced()
    app.open_first()
    assert app.text.count("- [ ] ") == 4 and "https://" in app.text
    client = another_client(app)
    [note] = client.read_all()[0]["notes"]
    account = client.get("/v1/account").json()["uniqueID"]
    assert note["uniqueID"] == str(uuid.uuid5(uuid.UUID(account), "welcome"))
    # Another browser gets the same note, and makes none itself. A deleted one never comes back.
    other = new_app(server=fresh_server)
    expect(other.page.get_by_role("heading", name="Sign in")).to_be_visible()
    other.sign_in(app.email)
    other.expect_titles("Welcome to Hesper")
    other.wait_synced()
    assert client.delete(f"/v1/notes/{note['uniqueID']}").status_code == 200
    other.expect_titles()
    other.sign_out()
    other.sign_in(app.email)
    other.wait_synced()
    other.expect_titles()
    expect(other.page.get_by_text("Create your first note", exact=False)).to_be_visible()


def test_devices_have_names_that_can_be_changed(two_browsers: list[App]):
    app, other = two_browsers
    app.go("#/devices")
    app.button("Rename B").click()
    expect(app.dialog.get_by_label("Name")).to_have_value("B")
    app.dialog.get_by_label("Name").fill("Kitchen")
    app.dialog.get_by_role("button", name="Rename").click()
    expect(app.page.get_by_text("Kitchen", exact=True)).to_be_visible()
    # Its own name, by keyboard.
    app.button("Rename this device").press("Enter")
    app.page.keyboard.type("Desk")
    app.page.keyboard.press("Enter")
    expect(app.page.get_by_text("Desk", exact=False).first).to_be_visible()
    app.wait_for("copy.session.device.name === 'Desk'")
    assert app.accessibility() == []
    names = {device["name"] for device in another_client(app).get("/v1/devices").json()["devices"]}
    assert names == {"Desk", "Kitchen", "another"}


def test_a_device_gets_a_name_from_its_browser_and_system(new_app, client: Client):
    safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15"
    for agent, name in ((None, "Chrome on Linux"), (safari, "Safari on Mac"), ("Lynx", "Browser")):
        app = new_app(user_agent=agent)
        app.sign_in(client.email)
        assert app.run("return copy.session.device.name") == name


def test_the_session_cookie_is_hidden_from_scripts(signed_up: App):
    [cookie] = signed_up.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] in ("Lax", "Strict")
    assert cookie["expires"] > 0
    assert signed_up.page.evaluate("() => document.cookie") == ""
    stored = signed_up.page.evaluate(
        """async () => {
          const databases = await indexedDB.databases()
          return JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), databases.map(one => one.name)])
        }"""
    )
    assert "hesper_" not in stored


@pytest.mark.thorough
@pytest.mark.service_worker
def test_a_reload_stays_signed_in(signed_up: App):
    signed_up.new_note("Milk").leave()
    signed_up.wait_synced()
    signed_up.reload()
    signed_up.expect_titles("Milk")
    signed_up.wait_synced()


def test_errors_are_shown_at_their_fields(new_app, client: Client):
    app = new_app()
    app.choose_form("Sign in")
    app.fill_sign_in("nobody")
    app.submit_sign_in()
    expect(app.page.get_by_label("E-mail")).to_have_attribute("aria-invalid", "true")
    app.fill_sign_in(client.email, password="not the password")
    app.submit_sign_in()
    expect(app.page.get_by_text("Incorrect e-mail or password.")).to_be_visible()
    app.choose_form("Create an account")
    app.fill_sign_in(client.email)
    app.button("Create account").click()
    expect(app.page.get_by_text("An account with this e-mail already exists")).to_be_visible()
    app.choose_form("Sign in")
    app.fill_sign_in(client.email)
    app.submit_sign_in()
    app.wait_signed_in()


@pytest.mark.thorough
def test_an_error_is_not_shown_in_the_other_form(new_app, client: Client):
    """The user switched to "Create an account" before the response arrived."""
    app = new_app()
    app.choose_form("Sign in")
    held_requests = []
    app.page.route("**/v1/devices", lambda route: held_requests.append(route))
    app.fill_sign_in(client.email, password="not the password")
    with app.page.expect_request("**/v1/devices"):
        app.submit_sign_in()
    app.choose_form("Create an account")
    with app.page.expect_response("**/v1/devices"):
        held_requests[0].continue_()
    app.page.wait_for_timeout(200)
    expect(app.page.get_by_text("Incorrect e-mail or password.")).to_have_count(0)
    expect(app.button("Create account")).to_be_enabled()


@pytest.mark.service_worker
def test_signing_out_erases_everything_in_the_browser(signed_up: App):
    app = signed_up
    app.new_note("A secret").leave()
    app.add_tag("hidden")
    app.wait_synced()
    app.sign_out()
    assert app.context.cookies() == []
    remaining = app.page.evaluate(
        """async () => {
          const found = []
          for (const { name } of await indexedDB.databases()) {
            const database = await new Promise((done, fail) => {
              const request = indexedDB.open(name)
              request.onsuccess = () => done(request.result)
              request.onerror = () => fail(request.error)
            })
            for (const store of database.objectStoreNames)
              found.push(...await new Promise(done => {
                const request = database.transaction(store).objectStore(store).getAll()
                request.onsuccess = () => done(request.result)
              }))
            database.close()
          }
          return JSON.stringify(found)
        }"""
    )
    assert "secret" not in remaining and "hidden" not in remaining and app.email not in remaining
    client = another_client(app)
    assert [device["name"] for device in client.get("/v1/devices").json()["devices"]] == ["another"]
    app.reload()
    app.sign_in(app.email)
    app.expect_titles("A secret")


def test_signing_out_warns_of_unsent_changes(signed_up: App):
    app = signed_up
    app.wait_synced()
    app.go_offline()
    app.new_note("Nobody has this yet").leave()
    app.expect_sync("Offline")
    app.go("#/devices")
    app.button("Sign out this device").click()
    expect(app.dialog.get_by_text(re.compile("1 change"))).to_be_visible()
    app.button("Sync first").click()
    app.go("#/")
    app.expect_titles("Nobody has this yet")
    app.go_online()
    app.wait_synced()
    app.sign_out()
    assert [note["text"] for note in notes_of(another_client(app))] == ["Nobody has this yet"]


def test_changes_of_a_lost_device_are_reverted(two_browsers: list[App]):
    app, lost = two_browsers
    app.new_note("Milk").leave()
    app.wait_synced()
    lost.expect_titles("Milk")
    since = app.page.evaluate(
        """async () => {
          const date = new Date(Math.ceil((Date.now() + 1) / 1000) * 1000)
          await new Promise(done => setTimeout(done, date - Date.now() + 50))
          return new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
        }"""
    )
    lost.new_note("Wine").leave()
    lost.wait_synced()
    app.expect_titles("Wine", "Milk")
    app.go("#/devices")
    app.button("Report lost: B").click()
    app.dialog.get_by_label("Lost since").fill(since)
    app.button("Report lost").click()
    expect(app.toast("Signed out B. Its changes are being reverted")).to_be_visible()
    expect(lost.page.get_by_text("signed out", exact=False).first).to_be_visible()
    app.go("#/")
    app.expect_titles("Milk")
    app.wait_synced()


@pytest.mark.thorough
def test_a_lost_device_is_signed_out_without_a_time(two_browsers: list[App]):
    app, lost = two_browsers
    lost.new_note("Wine").leave()
    lost.wait_synced()
    app.go("#/devices")
    app.button("Report lost: B").click()
    app.button("Report lost").click()
    expect(app.toast("Signed out B")).to_be_visible()
    app.go("#/")
    app.expect_titles("Wine")
    path = f"/v1/devices/{lost.run('return copy.session.device.uniqueID')}/revocation"
    assert "moment" not in another_client(app).get(path).json()


def notes_of(client: Client) -> list[dict]:
    return client.read_all()[0]["notes"]


def test_a_lost_device_is_signed_out_from_the_list(two_browsers: list[App]):
    app, lost = two_browsers
    app.go("#/devices")
    # The last address helps the user to recognize the device.
    expect(app.page.get_by_text(re.compile(r"Last used .* from 127\.0\.0\.1"))).to_have_count(2)
    app.button("Sign out B").click()
    app.dialog.get_by_role("button", name="Sign out", exact=True).click()
    expect(app.toast("Signed out B")).to_be_visible()
    expect(lost.page.get_by_text("signed out", exact=False).first).to_be_visible()
    app.go("#/")
    app.wait_synced()


@pytest.mark.parametrize("is_typing", [True, pytest.param(False, marks=pytest.mark.thorough)], ids=["while typing", "while offline"])
def test_an_expired_session_loses_nothing(signed_up: App, is_typing):
    app = signed_up
    app.new_note("Before")
    app.wait_saved()
    app.wait_synced()
    note = app.note_id
    if not is_typing:
        app.go_offline()
    client = sign_out_remotely(app)
    app.type(", in between")
    app.wait_saved()
    app.go_online()
    expect(app.page.get_by_text("This device was signed out", exact=False).first).to_be_visible()
    app.editor.focus()
    app.page.keyboard.press("Control+End")
    app.type(", and after")
    app.wait_saved()
    app.expect_text("Before, in between, and after")
    app.reload()
    app.expect_text("Before, in between, and after")
    app.expect_sync("Sign in")
    app.go("#/signin")
    app.sign_in(app.email)
    app.wait_synced()
    assert client.get(f"/v1/notes/{note}").json()["text"] == "Before, in between, and after"
    assert len(client.read_all()[0]["notes"]) == 1
    assert Device(client).sync() == []


def test_another_account_cannot_sign_in_while_notes_are_stored(signed_up: App, client: Client):
    app = signed_up
    app.new_note("Mine").leave()
    app.wait_synced()
    sign_out_remotely(app)
    app.go_offline()
    app.write()
    app.type(" and unsent")
    app.leave()
    app.go_online()
    app.expect_sync("Sign in")
    refused = app.run(
        "try { await engine.signIn(argument) } catch (error) { return String(error.detail || error.message) }",
        {"email": client.email, "password": client.password, "deviceName": "stranger"},
    )
    assert app.email in refused
    assert "stranger" not in [device["name"] for device in client.get("/v1/devices").json()["devices"]]
    app.go("#/signin")
    assert not app.page.get_by_label("E-mail").is_editable()
    app.sign_in(app.email)
    app.wait_synced()
    assert [note["text"] for note in another_client(app).read_all()[0]["notes"]] == ["Mine and unsent"]


def test_two_sign_ins_at_the_same_time(new_app):
    """The session in the copy is that of the cookie. Otherwise, notes of one account would be sent to the other."""
    known = new_app().sign_up()
    app = new_app()
    held: list[Route] = []
    app.page.route("**/v1/accounts", lambda route: held.append(route))
    enter = """const credentials = {email: argument[1], password: argument[2], deviceName: "browser"}
        window.entered = [...window.entered ?? [], engine[argument[0]](credentials).then(() => "entered", error => error.slug)]"""
    app.run(enter, ["signUp", f"{uuid.uuid4().hex}@example.org", PASSWORD])
    app.run(enter, ["signIn", known.email, PASSWORD])
    for _ in range(600):
        if held:
            break
        app.page.wait_for_timeout(50)
    app.page.wait_for_timeout(500)
    held[0].continue_()
    assert app.page.evaluate("() => Promise.all(entered)") == ["entered", "other-account"]
    assert app.run("return (await engine.account()).uniqueID === copy.session.account.uniqueID")


def test_a_late_response_to_a_sign_out_leaves_the_next_session(signed_up: App):
    app = signed_up
    held: list[Route] = []
    app.page.route("**/v1/devices/*", lambda route: held.append(route))
    app.run("window.ended = engine.signOut()")
    for _ in range(600):
        if held:
            break
        app.page.wait_for_timeout(50)
    # Another tab signs out, and signs in again.
    app.run("await copy.erase()")
    app.sign_in(app.email)
    app.new_note("Kept").leave()
    held[0].fulfill(status=404, content_type="application/problem+json", body='{"slug": "not-found", "status": 404}')
    app.run("await ended")
    app.page_errors.clear()  # the browser logs the response
    app.expect_titles("Kept")
