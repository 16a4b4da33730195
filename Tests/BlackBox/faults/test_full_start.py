"""A server that starts on a full disk serves reads, returns 507 for writes, and accepts them when there is space."""

from pathlib import Path

import pytest
from attachments import attach, data_path, download, some_bytes
from client import Client, Server
from disks import SmallDisk
from mounts import mounted, mounted_image

ENDS = {"after it stopped": Server.stop, "after a crash": Server.kill}


@pytest.fixture
def small(request: pytest.FixtureRequest, tmp_path: Path):
    folder = tmp_path / "disk"
    folder.mkdir()
    with (mounted if request.param == "tmpfs" else mounted_image)(folder) as mount_point:
        disk = SmallDisk(mount_point)
        with disk.server:
            yield disk


def write(client: Client, text: str) -> int:
    answer = client.post("/v1/notes", {"text": text, "tags": []})
    assert answer.status_code == 201 or answer.json()["slug"] == "storage-full", answer.text
    return answer.status_code


def check_full(disk: SmallDisk, client: Client, picture: str) -> None:
    """Checks that reads succeed and large writes fail. Small writes may fit into existing files."""
    for path in ("/readyz", "/v1/notes", "/v1/changes", "/v1/account", "/v1/search?q=first"):
        assert client.get(path).status_code == 200, path
    assert download(client, picture) == some_bytes(50_000)
    assert write(client, "x" * 900_000) == 507
    upload = client.put(data_path("0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0ff"), data=some_bytes(900_000))
    assert (upload.status_code, upload.json()["slug"]) == (507, "storage-full")


# Each file system and each end occur in `make test`.
@pytest.mark.parametrize(
    ("small", "end"),
    [
        pytest.param(system, end, marks=() if (system == "tmpfs") == (end == "after it stopped") else pytest.mark.thorough)
        for system in ("tmpfs", "ext4")
        for end in ENDS
    ],
    indirect=["small"],
)
def test_start_on_a_full_disk(small: SmallDisk, end: str) -> None:
    client = small.server.client()
    assert write(client, "first") == 201
    picture = attach(client, some_bytes(50_000))
    assert client.get("/v1/search", params={"q": "first"}).status_code == 200
    ENDS[end](small.server)
    small.fail()
    small.server.start()
    check_full(small, client, picture)
    ENDS[end](small.server)
    small.server.start()
    check_full(small, client, picture)
    small.mend()
    assert write(client, "x" * 900_000) == 201
    assert small.server.stop() == 0
    assert small.server.command("check").returncode == 0


@pytest.mark.parametrize("small", ["tmpfs", pytest.param("ext4", marks=pytest.mark.thorough)], indirect=True)
def test_start_on_a_disk_filled_by_notes(small: SmallDisk) -> None:
    client = small.server.client()
    assert write(client, "first") == 201
    picture = attach(client, some_bytes(50_000))
    assert client.get("/v1/search", params={"q": "first"}).status_code == 200
    written = 0
    while write(client, "y" * 300_000) == 201:
        written += 1
    small.fail()
    for end in ENDS.values():
        end(small.server)
        small.server.start()
        check_full(small, client, picture)
        assert len(client.get("/v1/notes").json()["notes"]) <= written + 1
    small.mend()
    assert small.server.command("check").returncode == 0
