"""Uploads and downloads of pictures and documents from Debian packages."""

import mimetypes
import uuid
from pathlib import Path
from random import Random

import pytest
from attachments import data_path, digest, download, sha256, upload
from client import Server
from convergence import settle
from device import Device
from wire import Wire

FOLDERS = [Path("/usr/share/desktop-base"), Path("/usr/share/icons/Adwaita"), Path("/usr/share/doc")]
TYPES = {".png", ".jpg", ".jpeg", ".svg", ".gif", ".xpm", ".pdf", ".html", ".gz", ".cur"}


def pictures(count: int) -> list[Path]:
    """The largest files, and a fixed selection of the others."""
    found = sorted(
        path for folder in FOLDERS if folder.is_dir() for path in folder.rglob("*")
        if path.suffix in TYPES and path.is_file() and not path.is_symlink()
    )  # fmt: skip
    largest = sorted(found, key=lambda path: path.stat().st_size)[-20:]
    rest = [path for path in found if path not in largest]
    return largest + Random(1).sample(rest, min(count - len(largest), len(rest)))


@pytest.mark.parametrize("count", [50, pytest.param(200, marks=pytest.mark.thorough)])
def test_real_files(pair: list[Device], count: int):
    files = pictures(count)
    if len(files) < count:
        pytest.skip(f"only {len(files)} pictures and documents here: apt-get install desktop-base adwaita-icon-theme")
    one, other = pair
    made: dict[str, Path] = {}
    for index, path in enumerate(files):
        attachment = upload(one.client, path.read_bytes())
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        one.make("attachment", attachment, {"mimeType": kind, "filename": path.name})
        note = one.make_note(f"{path.name}\n\nfrom {path.parent}")
        one.edit(note, f"attachments.{attachment}", True)
        made[attachment] = path
        if index % 40 == 39:
            one.sync()
    settle(one, other)
    shown = {each for note in other.notes.values() for each in note["attachments"]}
    assert shown == set(made)
    total = 0
    for attachment, path in made.items():
        entity = other.copy.objects[attachment]
        data = path.read_bytes()
        assert download(other.client, attachment) == data
        assert (entity.fixed["sha256"], entity.fixed["byteCount"]) == (sha256(data), len(data))
        total += len(data)
    print(f"{len(made)} files, {total} bytes")
    assert one.client.get("/v1/account").json()["usage"]["attachmentBytes"] == total
    # An upload whose Repr-Digest matches stored bytes completes without a body.
    largest = max(made, key=lambda each: made[each].stat().st_size)
    again = one.client.put(data_path(largest), data=b"", headers={
        "Upload-Complete": "?0", "Content-Length": "0", "Repr-Digest": digest(made[largest].read_bytes()),
    })  # fmt: skip
    assert (again.status_code, again.headers["Upload-Complete"]) == (200, "?1")


def peak_memory(server: Server) -> int:
    """The server's peak memory in bytes."""
    for line in Path(f"/proc/{server.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) << 10
    raise RuntimeError("no VmHWM")


@pytest.mark.thorough
def test_memory_is_independent_of_the_attachment_size():
    """An upload, a resumable upload and their downloads, of 1 MB and then of 256 MB."""
    piece = Random(2).randbytes(1 << 20)
    with Server(arguments=["--attachment-size", "1GiB"]) as server:
        client = server.client()

        def transfer(size: int) -> int:
            """Transfers an attachment. Returns the server's peak memory in bytes."""
            Path(f"/proc/{server.pid}/clear_refs").write_text("5")
            for headers in ({}, {"Upload-Complete": "?1"}):
                attachment = str(uuid.uuid4())
                with Wire(server.port, client.token, 120) as wire:
                    wire.send_head("PUT", data_path(attachment), {"Content-Length": str(size), **headers})
                    for _ in range(size // len(piece)):
                        wire.send(piece)
                    assert wire.response().status == 201
                with client.get(data_path(attachment), stream=True) as answer:
                    assert sum(len(chunk) for chunk in answer.iter_content(1 << 20)) == size
            return peak_memory(server)

        # The first transfer loads code and allocates buffers that later ones reuse. Hashing a password took 128 MB before.
        small = transfer(len(piece))
        large = transfer(256 << 20)
        print(f"{small >> 20} MB, then {large >> 20} MB")
        assert large - small < 64 << 20
