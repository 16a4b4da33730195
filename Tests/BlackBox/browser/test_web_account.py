"""Changing the password and deleting the account in the browser."""

from app import App
from client import PASSWORD, Client
from playwright.sync_api import expect

NEW = "another horse, another battery"


def change_password(app: App, old: str) -> None:
    app.go("#/devices")
    app.page.locator("summary", has_text="Change password").click()
    app.page.get_by_label("Current password").fill(old)
    app.page.get_by_label("New password (at least 8 characters)").fill(NEW)


def sign_in(app: App, password: str) -> int:
    body = {"email": app.email, "password": password, "deviceName": "another"}
    return Client(app.url).post("/v1/devices", json=body).status_code


def test_a_new_password_signs_other_devices_out(two_browsers: list[App]):
    a, b = two_browsers
    a.tolerated.add("403")
    change_password(a, "not my password")
    a.button("Change password").click()
    expect(a.page.get_by_text("Incorrect password")).to_be_visible()
    assert a.accessibility() == []
    a.page.get_by_label("Current password").fill(PASSWORD)
    a.button("Change password").click()
    expect(a.toast("Password changed")).to_be_visible()
    expect(a.page.get_by_text("Incorrect password")).to_have_count(0)
    expect(a.page.get_by_label("Current password")).to_have_value("")
    expect(b.page.get_by_text("This device was signed out.", exact=False)).to_be_visible()
    a.go("#/")
    a.new_note("Still signed in").leave()
    a.wait_synced()
    assert (sign_in(a, PASSWORD), sign_in(a, NEW)) == (401, 201)


def test_a_new_password_can_leave_other_devices_signed_in(two_browsers: list[App]):
    a, b = two_browsers
    change_password(a, PASSWORD)
    a.page.get_by_label("Sign out all other devices", exact=False).uncheck()
    a.button("Change password").click()
    expect(a.toast("Password changed")).to_be_visible()
    b.new_note("Milk").leave()
    b.wait_synced()
    a.go("#/")
    a.expect_titles("Milk")


def test_a_deleted_account_is_deleted_everywhere(two_browsers: list[App]):
    a, b = two_browsers
    a.tolerated.add("403")
    a.new_note("A secret").leave()
    a.wait_synced()
    b.expect_titles("A secret")
    a.go("#/devices")
    a.page.get_by_text("Delete account").click()
    a.page.get_by_label("Confirm with your password").fill("not my password")
    a.button("Delete everything").click()
    expect(a.page.get_by_text("Incorrect password")).to_be_visible()
    a.page.get_by_label("Confirm with your password").fill(PASSWORD)
    a.button("Delete everything").click()
    expect(a.page.get_by_label("Password", exact=True)).to_be_visible()
    a.reload()
    expect(a.page.get_by_label("Password", exact=True)).to_be_visible()
    assert a.context.cookies() == []
    # The other browser keeps its copy, because it might be the last one. The user can erase it.
    expect(b.page.get_by_text("This device was signed out.", exact=False)).to_be_visible()
    b.expect_titles("A secret")
    assert sign_in(a, PASSWORD) == 401
    a.sign_up(a.email)
    a.expect_titles()
