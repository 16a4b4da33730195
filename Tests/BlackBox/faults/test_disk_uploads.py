"""The disk fills up during uploads: they return 507, stored files are intact, and uploads resume when there is space."""

import time
import uuid
from pathlib import Path

import pytest
from attachments import attach, data_path, download, some_bytes
from client import Client, Server
from disks import SmallDisk
from mounts import mounted
from test_uploads_killed import PART, check_files
from wire import Wire


@pytest.fixture
def small(tmp_path: Path):
    """A 32 MB disk, of which 8 MB are free. Needs root."""
    with mounted(tmp_path) as mount_point:
        disk = SmallDisk(mount_point)
        with disk.server:
            yield disk


def fill_until(disk: SmallDisk, free: int) -> None:
    """Fills the disk except for `free` bytes."""
    disk.fail()
    ballast = disk.folder / "ballast"
    with ballast.open("r+b") as file:
        file.truncate(ballast.stat().st_size - free)


def check_full(answer) -> None:
    assert (answer.status_code, answer.json()["slug"]) == (507, "storage-full"), answer.text
    assert int(answer.headers["Retry-After"]) > 0
    for secret in ("/", "No space"):
        assert secret not in answer.json()["detail"]


def test_the_disk_fills_up_during_uploads(small: SmallDisk) -> None:
    client: Client = small.server.client()
    kept = attach(client, some_bytes(1_000_000))
    data = some_bytes(6_000_000)
    fill_until(small, 4_000_000)
    for _ in range(3):
        check_full(client.put(data_path(str(uuid.uuid4())), data=data))
    check_full(client.put(data_path(str(uuid.uuid4())), data=(data[at : at + 50_000] for at in range(0, len(data), 50_000))))
    unfinished = list((small.server.data / "attachments/unfinished").iterdir())
    assert unfinished == [], "refused uploads left files"
    # Smaller uploads still succeed.
    little = attach(client, some_bytes(100_000))
    assert download(client, kept) == some_bytes(1_000_000)
    # A resumable upload keeps what was stored and continues later.
    upload = client.put(data_path(str(uuid.uuid4())), data=b"", headers={
        "Upload-Complete": "?0", "Content-Length": "0",
    }).headers["Location"]  # fmt: skip
    check_full(client.patch(upload, data=data, headers=PART | {"Upload-Offset": "0", "Upload-Complete": "?1"}))
    at = int(client.request("HEAD", upload).headers["Upload-Offset"])
    assert 0 < at < len(data)
    small.mend()
    done = client.patch(upload, data=data[at:], headers=PART | {"Upload-Offset": str(at), "Upload-Complete": "?1"})
    assert done.status_code == 201, done.text
    assert download(client, done.json()["uniqueID"]) == data
    assert download(client, little) == some_bytes(100_000)
    assert download(client, attach(client, data)) == data
    assert small.server.stop() == 0
    check_files(small.server)


def test_a_slow_upload_succeeds(fresh_server: Server) -> None:
    """An upload may take longer than a timeout as long as data arrives."""
    client = fresh_server.client()
    data, attachment = some_bytes(300_000), str(uuid.uuid4())
    with Wire(fresh_server.port, client.token) as wire:
        wire.send_head("PUT", data_path(attachment), {"Content-Length": str(len(data))})
        for at in range(0, len(data), 20_000):
            wire.send(data[at : at + 20_000])
            time.sleep(0.2)
        assert wire.response().status == 201
    assert download(client, attachment) == data
