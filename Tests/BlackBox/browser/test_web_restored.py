"""Case 24 of merge.md: the server comes back from an older copy of its data, and the browser gives back what it lacks."""

import shutil
import time

import pytest
from app import App
from attachments import some_bytes
from client import Server
from device import Device
from playwright.sync_api import expect


@pytest.fixture
def restorable(person, fresh_server: Server, tmp_path):
    """A browser and a device, and the data folder as it was when both had everything."""
    client = fresh_server.client(device_name="B")
    app = person(server=fresh_server)
    app.sign_in(client.email, device_name="A")
    device = Device(client)
    tag = device.make_tag("old tag")
    for name in ("untouched", "edited today", "deleted today"):
        device.make_note(name, tags=[tag])
        time.sleep(0.003)  # the list is by dates
    device.sync()
    app.wait_synced()
    fresh_server.stop()
    backup = tmp_path / "backup"
    shutil.copytree(fresh_server.data, backup)
    fresh_server.start()
    app.wait_synced()
    return fresh_server, app, device, backup


def put_back(server: Server, backup) -> None:
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


def test_the_browser_gives_back_what_the_server_lacks(restorable):
    server, app, device, backup = restorable
    edit_today(app, device)
    device.sync()
    assert contents(device) == NOW
    held = device.copy.digest
    put_back(server, backup)
    # Until an answer of the restored server tells it, the browser takes itself for synced.
    restored = app.run("engine.syncNow(); return Date.now()")
    app.wait_for("engine.status.lastSync > argument", restored, seconds=40)
    app.wait_synced(seconds=40)
    # Another that has nothing reads it all from the server: nothing is lost, nothing back from the dead.
    fresh = Device(device.client.another_device("fresh"))
    fresh.sync()
    assert contents(fresh) == NOW
    assert fresh.copy.digest == held
    [attachment] = next(note["attachments"] for note in fresh.notes.values() if note["attachments"])
    assert fresh.client.get(f"/v1/attachments/{attachment}/data").content == some_bytes(50_000)
    assert server.command("check").returncode == 0
    app.expect_titles("made today", "edited today, in the browser", "untouched")


def test_what_was_unsent_goes_up_too(restorable):
    server, app, device, backup = restorable
    edit_today(app, device)
    app.go_offline()
    app.open("made today")
    app.write()
    app.type(", and more offline")
    app.leave()
    put_back(server, backup)
    app.reload() if app.run("return Boolean(navigator.serviceWorker?.controller)") else None
    app.go_online()
    app.wait_synced(seconds=40)
    device.sync()
    assert "made today, and more offline" in [note["text"] for note in device.notes.values()]
    assert "deleted today" not in [note["text"] for note in device.notes.values()]


def test_a_browser_that_comes_when_the_numbers_have_overtaken_its_token(restorable):
    """The server cannot tell from the token any more; the browser can tell from the digests."""
    server, app, device, backup = restorable
    edit_today(app, device)
    app.go_offline()
    put_back(server, backup)
    again = Device(device.client.another_device("again"))
    for number in range(40):
        again.make_note(f"after the restore {number}")
        again.sync()
    app.go_online()
    app.run("engine.syncNow()")
    app.wait_for("copy.notes().length === 43", seconds=40)
    app.wait_synced(seconds=40)
    again.sync()
    texts = [note["text"] for note in again.notes.values()]
    assert {text for text, _, _ in NOW} <= set(texts) and "deleted today" not in texts
    assert len(texts) == 43


def test_signed_out_by_the_restore(person, fresh_server: Server, tmp_path):
    """The browser signed in after the backup was made: the restored server does not know it (protocol.md, Restored servers)."""
    client = fresh_server.client(device_name="B")
    fresh_server.stop()
    shutil.copytree(fresh_server.data, tmp_path / "backup")
    fresh_server.start()
    app = person(server=fresh_server)
    app.sign_in(client.email, device_name="A")
    app.new_note("Written after the backup").leave()
    app.wait_synced()
    put_back(fresh_server, tmp_path / "backup")
    app.run("engine.syncNow()")
    app.expect_sync("Sign in")
    expect(app.row("Written after the backup")).to_be_visible()
    app.go("#/signin")
    app.sign_in(client.email)
    app.wait_synced(seconds=40)
    device = Device(client.another_device())
    device.sync()
    assert [note["text"] for note in device.notes.values()] == ["Written after the backup"]
