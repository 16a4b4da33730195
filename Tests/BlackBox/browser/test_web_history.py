"""The history of a note in the browser, and restoring a version."""

import clocks
import pytest
from app import App
from playwright.sync_api import expect
from writer import Writer


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


def test_sessions_of_writing_and_merges(browser_and_device):
    """Edits without a long pause are one entry, which can be expanded. A merge by the server is explained."""
    app, other = browser_and_device
    note = other.make_note("Bread\n\nRye 300 g\n\nWater 200 g")
    other.sync()
    app.wait_synced()
    app.open("Bread")
    app.write()
    for words in (" warm", " or cold", " water"):
        app.page.keyboard.insert_text(words)  # at once, so that it is one edit
        app.wait_saved()
        app.wait_synced()
    app.leave()
    other.sync()
    app.choose("History")
    main = app.page.get_by_role("main")
    headings = main.get_by_role("heading", level=2)
    expect(headings).to_have_count(2)
    expect(headings.nth(0)).to_contain_text("A (this device) · 4 words added")
    expect(headings.nth(1)).to_contain_text("B · 7 words added")
    expect(main.get_by_role("insertion").first).to_have_text(" warm or cold water")
    expect(main.get_by_text("Show 3 edits")).to_have_count(1)
    assert app.accessibility() == []
    # By keyboard: the single edits, and restoring one of them.
    main.get_by_text("Show 3 edits").focus()
    app.page.keyboard.press("Enter")
    single = main.get_by_role("listitem").first.get_by_role("listitem")
    expect(single).to_have_count(3)
    expect(single.nth(0).get_by_role("heading")).to_be_focused()
    expect(single.nth(0).get_by_role("insertion")).to_have_text(" water")
    expect(single.nth(0).get_by_role("button")).to_have_count(0)
    expect(single.nth(2).get_by_role("insertion")).to_have_text(" warm")
    assert app.accessibility() == []
    single.nth(1).get_by_role("button", name="Restore").press("Enter")
    app.expect_text("Bread\n\nRye 300 g\n\nWater 200 g warm or cold")
    app.wait_synced()
    # Both devices edit the same version: the server merges.
    other.sync()
    app.go_offline()
    app.write()
    app.type(", salt")
    app.leave()
    other.write(note, other.text(note).replace("Rye 300 g", "Rye 310 g"))
    other.sync()
    app.go_online()
    app.expect_text("Bread\n\nRye 310 g\n\nWater 200 g warm or cold, salt")
    app.wait_synced()
    app.choose("History")
    expect(main.get_by_text("Two devices edited the note at the same time. The server merged their changes.")).to_have_count(1)
    expect(main.get_by_text("Server", exact=True)).to_have_count(0)


def test_a_thousand_edits_are_shown_a_part_at_a_time(new_app, client):
    """A page of the server ends within a session. The session is shown when all of its edits are known."""
    writer = Writer(client)
    start = clocks.wall() - 90_000_000
    note = writer.note(text="0", clock=clocks.clock(start - 3_600_000, 0, writer.node))
    clock, edits = note["clocks"]["text"], []
    for index in range(1_200):
        moment = clocks.clock(start + 60_000 * (index + 20 * (index // 300)), 0, writer.node)
        edits.append(writer.edit(note["uniqueID"], moment, text=f"{index} " * 3, base=clock))
        clock = moment
    writer.push(notes=[note])
    for first in range(0, len(edits), 300):
        writer.push(notes=edits[first : first + 300])
    app = new_app()
    app.sign_in(client.email)
    app.wait_synced()
    app.go(f"#/history/{note['uniqueID']}")
    main = app.page.get_by_role("main")
    entries = main.locator(".history > li")
    expect(main.get_by_role("button", name="Show older")).to_be_visible()
    assert entries.count() == 3
    expect(main.get_by_text("Show 300 edits")).to_have_count(3)
    main.get_by_role("button", name="Show older").press("Enter")
    expect(entries).to_have_count(5)
    expect(entries.nth(3).get_by_role("heading")).to_be_focused()
    main.get_by_text("Show 300 edits").first.click()
    single = entries.first.get_by_role("listitem")
    expect(single).to_have_count(51)  # and the button
    single.last.get_by_role("button", name="Show older").press("Enter")
    expect(single).to_have_count(101)
    expect(single.nth(50).get_by_role("heading")).to_be_focused()


@pytest.mark.service_worker
def test_offline_the_history_shows_an_error_and_can_be_retried(signed_up: App):
    app = signed_up
    app.new_note("Alone").leave()
    app.wait_synced()
    app.wait_installed()
    app.go_offline()
    app.choose("History")
    main = app.page.get_by_role("main")
    expect(main.get_by_role("alert")).to_contain_text("Cannot reach the server")
    app.go_online()
    main.get_by_role("button", name="Try again").click()
    expect(main.get_by_role("listitem")).to_have_count(1)
