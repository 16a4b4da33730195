"""merge.md, case 24: the server is restored from an older copy, and the browser sends what it lacks."""

import shutil
import time

import pytest
from app import App
from attachments import some_bytes
from client import Server
from device import Device
from playwright.sync_api import expect


@pytest.fixture
def restorable(new_app, fresh_server: Server, tmp_path):
    """A server, a synced browser and device, and a copy of the data folder from that moment."""
    client = fresh_server.client(device_name="B")
    app = new_app(server=fresh_server)
    app.sign_in(client.email, device_name="A")
    device = Device(client)
    tag = device.make_tag("old tag")
    for name in ("untouched", "edited today", "deleted today"):
        device.make_note(name, tags=[tag])
        time.sleep(0.003)  # the list is sorted by date
    device.sync()
    app.wait_synced()
    fresh_server.stop()
    backup = tmp_path / "backup"
    shutil.copytree(fresh_server.data, backup)
    fresh_server.start()
    app.wait_synced()
    return fresh_server, app, device, backup


def replace_data(server: Server, backup) -> None:
    server.stop()
    shutil.rmtree(server.data)
    shutil.copytree(backup, server.data)
    server.start()


def edit_today(app: App, device: Device) -> None:
    app.open("edited today")
    app.write()
    app.type(", in the browser")
    app.leave()
    app.add_tag("new tag")
    app.attach({"name": "today.bin", "mimeType": "application/octet-stream", "buffer": some_bytes(50_000)})
    app.new_note("made today").leave()
    app.wait_synced()
    device.sync()
    [gone] = [unique_id for unique_id, note in device.notes.items() if note["text"] == "deleted today"]
    device.delete(gone)
    device.sync()
    app.expect_titles("made today", "edited today, in the browser", "untouched")
    app.wait_synced()


def contents(device: Device) -> list[tuple]:
    return sorted(
        (note["text"], tuple(sorted(device.tags[tag] for tag in note["tags"])), len(note["attachments"]))
        for note in device.notes.values()
    )


NOW = [
    ("edited today, in the browser", ("new tag", "old tag"), 1),
    ("made today", (), 0),
    ("untouched", ("old tag",), 0),
]


@pytest.mark.thorough
def test_the_browser_sends_what_the_server_lacks(restorable):
    server, app, device, backup = restorable
    edit_today(app, device)
    device.sync()
    assert contents(device) == NOW
    digest = device.copy.digest
    replace_data(server, backup)
    # The browser still shows "synced" until the first response of the restored server.
    restored = app.run("engine.syncNow(); return Date.now()")
    app.wait_for("engine.status.lastSync > argument", restored)
    app.wait_synced()
    # A new device reads everything from the server. Nothing is lost, and deleted notes stay deleted.
    fresh = Device(device.client.another_device("fresh"))
    fresh.sync()
    assert contents(fresh) == NOW
    assert fresh.copy.digest == digest
    [attachment] = next(note["attachments"] for note in fresh.notes.values() if note["attachments"])
    assert fresh.client.get(f"/v1/attachments/{attachment}/data").content == some_bytes(50_000)
    assert server.command("check").returncode == 0
    app.expect_titles("made today", "edited today, in the browser", "untouched")


@pytest.mark.thorough
@pytest.mark.service_worker
def test_unsent_changes_are_sent_too(restorable):
    server, app, device, backup = restorable
    edit_today(app, device)
    app.go_offline()
    app.open("made today")
    app.write()
    app.type(", and more offline")
    app.leave()
    replace_data(server, backup)
    app.reload() if app.run("return Boolean(navigator.serviceWorker?.controller)") else None
    app.go_online()
    app.wait_synced()
    device.sync()
    assert "made today, and more offline" in [note["text"] for note in device.notes.values()]
    assert "deleted today" not in [note["text"] for note in device.notes.values()]


@pytest.mark.thorough
def test_a_browser_returns_when_the_server_is_past_its_token(restorable):
    """The server cannot detect the restore from the token any more. The browser detects it from the digests."""
    server, app, device, backup = restorable
    edit_today(app, device)
    app.go_offline()
    replace_data(server, backup)
    again = Device(device.client.another_device("again"))
    for number in range(40):
        again.make_note(f"after the restore {number}")
        again.sync()
    app.go_online()
    app.run("engine.syncNow()")
    app.wait_for("copy.notes().length === 43")
    app.wait_synced()
    again.sync()
    texts = [note["text"] for note in again.notes.values()]
    assert {text for text, _, _ in NOW} <= set(texts) and "deleted today" not in texts
    assert len(texts) == 43


def test_the_restore_signs_the_browser_out(new_app, fresh_server: Server, tmp_path):
    """The restored server does not know a browser that signed in after the backup (protocol.md, Restored servers)."""
    client = fresh_server.client(device_name="B")
    fresh_server.stop()
    shutil.copytree(fresh_server.data, tmp_path / "backup")
    fresh_server.start()
    app = new_app(server=fresh_server)
    app.sign_in(client.email, device_name="A")
    app.new_note("Written after the backup").leave()
    app.wait_synced()
    replace_data(fresh_server, tmp_path / "backup")
    app.run("engine.syncNow()")
    app.expect_sync("Sign in")
    expect(app.row("Written after the backup")).to_be_visible()
    app.go("#/signin")
    app.sign_in(client.email)
    app.wait_synced()
    device = Device(client.another_device())
    device.sync()
    assert [note["text"] for note in device.notes.values()] == ["Written after the backup"]
