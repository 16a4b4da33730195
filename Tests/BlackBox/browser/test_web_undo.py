"""Deletions of notes, tags and attachments can be undone (clients.md, rule 8). Otherwise they are sent after some time."""

import time

import pytest
from app import App
from attachments import some_bytes
from browser_device import CHANGE_RECORD
from device import Device
from playwright.sync_api import expect


@pytest.fixture
def app_and_device(browser_and_device) -> tuple[App, Device]:
    app, device = browser_and_device
    tag = device.make_tag("garden")
    for text in ("Beans", "Garlic", "Leeks"):
        device.make_note(text, tags=[tag])
        time.sleep(0.003)  # the list is sorted by date
    device.sync()
    app.wait_synced()
    app.expect_titles("Leeks", "Garlic", "Beans")
    return app, device


def finish_deletions(app: App) -> None:
    """Ends the time in which deletions can be undone, and sends them."""
    for unique_id in app.run("return [...copy.memory.deletions.keys()]"):
        app.page.evaluate(CHANGE_RECORD, ["deletions", unique_id, {"heldUntil": 1}])
    app.run("engine.syncNow()")


def texts(device: Device) -> list[str]:
    device.sync()
    return sorted(note["text"] for note in device.notes.values())


def test_undo_deleting_a_note(app_and_device):
    app, device = app_and_device
    app.open("Garlic")
    app.choose("Delete")
    app.expect_titles("Leeks", "Beans")
    expect(app.toast("Note deleted")).to_be_visible()
    app.undo()
    app.expect_titles("Leeks", "Garlic", "Beans")
    finish_deletions(app)
    app.wait_synced()
    assert texts(device) == ["Beans", "Garlic", "Leeks"]
    assert device.copy.deleted == {}


def test_undo_deleting_a_note_with_keys(app_and_device):
    app, device = app_and_device
    app.row("Garlic").focus()
    app.page.keyboard.press("Control+Delete")
    app.expect_titles("Leeks", "Beans")
    app.page.keyboard.press("Control+z")
    app.expect_titles("Leeks", "Garlic", "Beans")
    assert texts(device) == ["Beans", "Garlic", "Leeks"]


def test_deleting_a_note(app_and_device):
    app, device = app_and_device
    app.open("Garlic")
    app.choose("Delete")
    app.expect_titles("Leeks", "Beans")
    app.page.wait_for_timeout(1_000)
    assert texts(device) == ["Beans", "Garlic", "Leeks"], "the deletion was sent while it could be undone"
    app.reload()
    app.expect_titles("Leeks", "Beans")
    finish_deletions(app)
    app.wait_synced()
    assert texts(device) == ["Beans", "Leeks"]
    app.go("#/deleted")
    app.button("Restore Garlic").click()
    expect(app.toast("“Garlic” restored")).to_be_visible()
    app.go("#/")
    app.wait_synced()
    assert texts(device) == ["Beans", "Garlic", "Leeks"]
    [again] = [note for note in device.notes.values() if note["text"] == "Garlic"]
    assert again["uniqueID"] not in device.copy.deleted
    assert again["tags"] == list(device.tags), "the tags were not restored"


def test_a_deletion_is_sent_after_the_time_to_undo(app_and_device):
    app, device = app_and_device
    app.open("Garlic")
    app.choose("Delete")
    app.expect_titles("Leeks", "Beans")
    app.wait_for("copy.unsentCount() === 0 && copy.nextDeletion() === Infinity")
    app.wait_synced()
    assert texts(device) == ["Beans", "Leeks"]


def test_undo_deleting_a_tag(app_and_device):
    app, device = app_and_device
    app.button("Tag garden: rename or delete").click()
    app.page.get_by_role("menuitem", name="Delete").click()
    expect(app.page.get_by_role("treeitem", name="garden")).to_have_count(0)
    app.undo()
    expect(app.page.get_by_role("navigation").get_by_role("treeitem", name="garden")).to_contain_text("3")
    finish_deletions(app)
    app.wait_synced()
    device.sync()
    assert list(device.tags.values()) == ["garden"]


def test_deleting_a_tag(app_and_device):
    app, device = app_and_device
    link = app.page.get_by_role("navigation").get_by_role("treeitem", name="garden")
    link.focus()
    app.page.keyboard.press("Control+Delete")
    expect(link).to_have_count(0)
    finish_deletions(app)
    app.wait_synced()
    device.sync()
    assert device.tags == {}
    assert all(note["tags"] == [] for note in device.notes.values())


def test_removing_an_attachment(app_and_device):
    app, device = app_and_device
    app.open("Garlic")
    app.attach({"name": "rows.bin", "mimeType": "application/octet-stream", "buffer": some_bytes(5_000)})
    app.wait_synced()
    app.button("Remove rows.bin").click()
    expect(app.page.get_by_role("button", name="Download rows.bin")).to_have_count(0)
    app.undo()
    expect(app.page.get_by_text("rows.bin").first).to_be_visible()
    app.wait_synced()
    device.sync()
    [garlic] = [note for note in device.notes.values() if note["text"] == "Garlic"]
    [attachment] = garlic["attachments"]
    assert device.client.get(f"/v1/attachments/{attachment}/data").content == some_bytes(5_000)
    # Without undo it is removed from the note. The server deletes it later, so undoing never requires another upload.
    app.button("Remove rows.bin").click()
    app.wait_synced()
    device.sync()
    assert device.note(garlic["uniqueID"])["attachments"] == []
    assert attachment not in device.copy.deleted


def test_undo_archiving(app_and_device):
    app, device = app_and_device
    app.open("Garlic")
    app.button("Archive").click()
    app.expect_titles("Leeks", "Beans")
    app.undo()
    app.expect_titles("Leeks", "Garlic", "Beans")
    app.wait_synced()
    device.sync()
    assert not any(note["archived"] for note in device.notes.values())
