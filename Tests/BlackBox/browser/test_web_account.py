"""A new password and the end of an account, in the browser."""

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
    what = {"email": app.email, "password": password, "deviceName": "another"}
    return Client(app.url).post("/v1/devices", json=what).status_code


def test_a_new_password_signs_the_others_out(two_browsers: list[App]):
    here, there = two_browsers
    here.tolerated.add("403")
    change_password(here, "not my password")
    here.button("Change password").click()
    expect(here.page.get_by_text("The password is wrong.")).to_be_visible()
    assert here.accessibility() == []
    here.page.get_by_label("Current password").fill(PASSWORD)
    here.button("Change password").click()
    expect(here.toast("Password changed")).to_be_visible()
    expect(here.page.get_by_text("The password is wrong.")).to_have_count(0)
    expect(here.page.get_by_label("Current password")).to_have_value("")
    expect(there.page.get_by_text("This device was signed out.", exact=False)).to_be_visible()
    here.go("#/")
    here.new_note("Still signed in").leave()
    here.wait_synced()
    assert (sign_in(here, PASSWORD), sign_in(here, NEW)) == (401, 201)


def test_a_new_password_can_leave_the_others_signed_in(two_browsers: list[App]):
    here, there = two_browsers
    change_password(here, PASSWORD)
    here.page.get_by_label("Sign out all other devices", exact=False).uncheck()
    here.button("Change password").click()
    expect(here.toast("Password changed")).to_be_visible()
    there.new_note("Milk").leave()
    there.wait_synced()
    here.go("#/")
    here.expect_titles("Milk")


def test_a_deleted_account_is_gone_everywhere(two_browsers: list[App]):
    here, there = two_browsers
    here.tolerated.add("403")
    here.new_note("A secret").leave()
    here.wait_synced()
    there.expect_titles("A secret")
    here.go("#/devices")
    here.page.get_by_text("Delete account").click()
    here.page.get_by_label("Confirm with your password").fill("not my password")
    here.button("Delete everything").click()
    expect(here.page.get_by_text("The password is wrong.")).to_be_visible()
    here.page.get_by_label("Confirm with your password").fill(PASSWORD)
    here.button("Delete everything").click()
    expect(here.page.get_by_label("Password", exact=True)).to_be_visible()
    here.reload()
    expect(here.page.get_by_label("Password", exact=True)).to_be_visible()
    assert here.context.cookies() == []
    # What the other one holds is its person's to erase: the server cannot know whether it is the last copy.
    expect(there.page.get_by_text("This device was signed out.", exact=False)).to_be_visible()
    there.expect_titles("A secret")
    assert sign_in(here, PASSWORD) == 401
    here.sign_up(here.email)
    here.expect_titles()
