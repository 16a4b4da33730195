"""The history of a note in the browser, and restoring a version."""

from app import App
from playwright.sync_api import expect


def test_the_history_shows_devices_and_restores_a_version(browser_and_device):
    app, other = browser_and_device
    note = other.make_note("Bread\n\nRye 300 g, water 200 g")
    other.sync()
    app.wait_synced()
    app.open("Bread")
    app.write()
    app.type(", salt 10 g")
    app.leave()
    app.wait_synced()
    app.choose("History")
    page = app.page.get_by_role("main")
    entries = page.get_by_role("listitem")
    expect(entries).to_have_count(2)
    expect(entries.nth(0)).to_contain_text("A (this device)")
    expect(entries.nth(0)).to_contain_text("Current version")
    expect(entries.nth(0).get_by_role("insertion")).to_have_text(", salt 10 g")
    expect(entries.nth(1)).to_contain_text("B")
    entries.nth(1).get_by_role("button", name="Restore").click()
    app.expect_text("Bread\n\nRye 300 g, water 200 g")
    app.wait_synced()
    other.sync()
    assert other.text(note) == "Bread\n\nRye 300 g, water 200 g"
    app.undo()
    app.expect_text("Bread\n\nRye 300 g, water 200 g, salt 10 g")
    app.wait_synced()


def test_offline_the_history_shows_an_error_and_can_be_retried(signed_up: App):
    app = signed_up
    app.new_note("Alone").leave()
    app.wait_synced()
    app.go_offline()
    app.choose("History")
    main = app.page.get_by_role("main")
    expect(main.get_by_role("alert")).to_contain_text("Cannot reach the server")
    app.go_online()
    main.get_by_role("button", name="Try again").click()
    expect(main.get_by_role("listitem")).to_have_count(1)
