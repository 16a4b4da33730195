"""Signing up, in and out in the browser; what happens when somebody else signs this browser out (clients.md, rule 13)."""

import re

import pytest
from app import App
from client import Client
from device import Device
from playwright.sync_api import expect

pytestmark = pytest.mark.long


def somebody_else(app: App) -> Client:
    """A client of the same account."""
    client = Client(app.url)
    client.sign_in(app.email, device_name="another")
    return client


def sign_out_from_afar(app: App) -> Client:
    """Somebody with the same account signs this browser out."""
    client = somebody_else(app)
    devices = client.get("/v1/devices").json()["devices"]
    for device in devices:
        if not device["current"]:
            assert client.delete(f"/v1/devices/{device['uniqueID']}").status_code == 204
    return client


def test_the_first_visit_says_what_to_do(person):
    app = person()
    expect(app.page).to_have_title(re.compile("Hesper"))
    expect(app.page.get_by_label("E-mail")).to_be_focused()
    app.sign_up()
    expect(app.page.get_by_text("Create your first note", exact=False)).to_be_visible()
    app.wait_synced()


def test_the_session_is_a_cookie_that_no_script_sees(signed_up: App):
    [cookie] = signed_up.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] in ("Lax", "Strict")
    assert cookie["expires"] > 0
    assert signed_up.page.evaluate("() => document.cookie") == ""
    kept = signed_up.page.evaluate(
        """async () => {
          const databases = await indexedDB.databases()
          return JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), databases.map(one => one.name)])
        }"""
    )
    assert "hesper_" not in kept


def test_a_reload_stays_signed_in(signed_up: App):
    signed_up.new_note("Milk").leave()
    signed_up.wait_synced()
    signed_up.reload()
    signed_up.expect_titles("Milk")
    signed_up.wait_synced()


def test_what_is_wrong_is_said_at_its_field(person, client: Client):
    app = person()
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


def test_an_answer_is_not_shown_in_the_other_form(person, client: Client):
    """Somebody turned to "Create an account" before the server had answered."""
    app = person()
    app.choose_form("Sign in")
    held = []
    app.page.route("**/v1/devices", lambda route: held.append(route))
    app.fill_sign_in(client.email, password="not the password")
    with app.page.expect_request("**/v1/devices"):
        app.submit_sign_in()
    app.choose_form("Create an account")
    with app.page.expect_response("**/v1/devices"):
        held[0].continue_()
    app.page.wait_for_timeout(200)
    expect(app.page.get_by_text("Incorrect e-mail or password.")).to_have_count(0)
    expect(app.button("Create account")).to_be_enabled()


def test_signing_out_erases_everything_here(signed_up: App):
    app = signed_up
    app.new_note("A secret").leave()
    app.add_tag("hidden")
    app.wait_synced()
    app.sign_out()
    assert app.context.cookies() == []
    left = app.page.evaluate(
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
    assert "secret" not in left and "hidden" not in left and app.email not in left
    client = somebody_else(app)
    assert [device["name"] for device in client.get("/v1/devices").json()["devices"]] == ["another"]
    app.reload()
    app.sign_in(app.email)
    app.expect_titles("A secret")


def test_signing_out_says_what_is_unsent(signed_up: App):
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
    assert [note["text"] for note in notes_of(somebody_else(app))] == ["Nobody has this yet"]


def test_what_a_lost_device_changed_is_put_back(two_browsers: list[App]):
    here, lost = two_browsers
    here.new_note("Milk").leave()
    here.wait_synced()
    lost.expect_titles("Milk")
    since = here.page.evaluate(
        """async () => {
          const date = new Date(Math.ceil((Date.now() + 1) / 1000) * 1000)
          await new Promise(done => setTimeout(done, date - Date.now() + 50))
          return new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
        }"""
    )
    lost.new_note("Wine").leave()
    lost.wait_synced()
    here.expect_titles("Wine", "Milk")
    here.go("#/devices")
    here.button("Report lost: B").click()
    here.dialog.get_by_label("Lost since").fill(since)
    here.button("Report lost").click()
    expect(here.toast("Signed out B. Its changes are being reverted")).to_be_visible()
    expect(lost.page.get_by_text("signed out", exact=False).first).to_be_visible()
    here.go("#/")
    here.expect_titles("Milk")
    here.wait_synced()


def test_a_lost_device_is_signed_out_without_a_time(two_browsers: list[App]):
    here, lost = two_browsers
    lost.new_note("Wine").leave()
    lost.wait_synced()
    here.go("#/devices")
    here.button("Report lost: B").click()
    here.button("Report lost").click()
    expect(here.toast("Signed out B")).to_be_visible()
    here.go("#/")
    here.expect_titles("Wine")
    path = f"/v1/devices/{lost.run('return copy.session.device.uniqueID')}/revocation"
    assert "moment" not in somebody_else(here).get(path).json()


def notes_of(client: Client) -> list[dict]:
    return client.read_all()[0]["notes"]


def test_a_lost_device_is_signed_out_from_the_list(two_browsers: list[App]):
    here, lost = two_browsers
    here.go("#/devices")
    # Which of them it is, its owner can tell by where it was last.
    expect(here.page.get_by_text(re.compile(r"Last used .* from 127\.0\.0\.1"))).to_have_count(2)
    here.button("Sign out B").click()
    here.dialog.get_by_role("button", name="Sign out", exact=True).click()
    expect(here.toast("Signed out B")).to_be_visible()
    expect(lost.page.get_by_text("signed out", exact=False).first).to_be_visible()
    here.go("#/")
    here.wait_synced()


@pytest.mark.parametrize("is_typing", [True, False], ids=["in the middle of typing", "offline meanwhile"])
def test_an_expired_session_loses_nothing(signed_up: App, is_typing):
    app = signed_up
    app.new_note("Before")
    app.wait_saved()
    app.wait_synced()
    note = app.note_id
    if not is_typing:
        app.go_offline()
    client = sign_out_from_afar(app)
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


def test_another_account_is_refused_while_notes_are_here(signed_up: App, client: Client):
    app = signed_up
    app.new_note("Mine").leave()
    app.wait_synced()
    sign_out_from_afar(app)
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
    assert [note["text"] for note in somebody_else(app).read_all()[0]["notes"]] == ["Mine and unsent"]
