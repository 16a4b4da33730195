"""A full disk and a damaged file in an app on the Swift library: a typed error, and what is unsent can be saved."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from client import Server
from convergence import settle
from device import Device
from library_device import LibraryDevice, LibraryError, library_devices
from mounts import fill, mounted

PAGE = 4_096
KIB = "word " * 200


@pytest.fixture
def on_small_disk(server: Server, tmp_path: Path) -> Iterator[tuple[LibraryDevice, Device, Path]]:
    """An app with its files on a file system of 8 MB, a Device of the same account, and the file that fills the disk."""
    with mounted(tmp_path, size="8m") as folder, library_devices(folder) as library:
        client = server.client(device_name="B")
        yield library(server, client.email), Device(client), folder / "ballast"


def saved(device: LibraryDevice, file: Path) -> list[dict]:
    """What is unsent, as the library saves it to a file without opening its copy."""
    count = device.app.call("saveUnsent", file=str(file))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == count
    return lines


def test_a_full_disk(on_small_disk, tmp_path_factory):
    a, b, ballast = on_small_disk
    tag = a.make_tag("kept")
    note = a.make_note("before", tags=[tag])
    settle(a, b)
    a.write(note, "unsent")
    fill(ballast)

    with pytest.raises(LibraryError) as failure:
        for _ in range(100):
            a.make_note(KIB)
    assert failure.value.name == "diskFull"
    # Reading goes on, and what was written stays.
    count = len(a.notes)
    assert a.text(note) == "unsent"
    with pytest.raises(LibraryError) as failure:
        a.attach(note, bytes(100_000), "image/png", "a.png")
    assert failure.value.name == "diskFull"

    # What other devices write cannot be stored. The status has the reason.
    b.write(b.make_note(KIB * 100), KIB * 200)
    b.sync()
    a.sync_with()
    assert (a.status["phase"], a.status["problem"]) == ("waiting", "diskFull")
    lines = saved(a, tmp_path_factory.mktemp("elsewhere") / "unsent.jsonl")
    assert {"type": "note", "id": note, "values": {"text": "unsent"}} in lines and len(lines) == count

    ballast.unlink()
    settle(a, b)
    assert len(b.notes) == count + 1 and b.text(note) == "unsent"


def test_a_crash_on_a_full_disk(on_small_disk, tmp_path_factory):
    """The file cannot be opened while the disk is full, but what is unsent can be saved."""
    a, b, ballast = on_small_disk
    note = a.make_note("unsent")
    fill(ballast)
    a.app.kill()
    with pytest.raises(LibraryError) as failure:
        a.open()
    assert failure.value.name == "diskFull"
    [line] = saved(a, tmp_path_factory.mktemp("elsewhere") / "unsent.jsonl")
    assert (line["id"], line["values"]["text"]) == (note, "unsent")
    ballast.unlink()
    a.app.kill()
    a.open()
    settle(a, b)
    assert b.text(note) == "unsent"


def overwrite(file: Path, text: bytes) -> None:
    """Overwrites the page of the file that contains a text."""
    content = file.read_bytes()
    place = content.index(text) // PAGE * PAGE
    assert place > 0
    file.write_bytes(content[:place] + b"\xff" * PAGE + content[place + PAGE :])


@pytest.fixture
def filled(pair) -> tuple[LibraryDevice, Device, list[str]]:
    """An app whose file contains 150 unsent notes and no write-ahead log, and which has ended."""
    a, b = pair
    notes = [a.make_note(f"note {number:03} {KIB}") for number in range(150)]
    a.app.close()
    # If the app ends while it syncs, it leaves a log, whose pages would hide the damage in the file.
    with closing(sqlite3.connect(a.file)) as database:
        assert database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    return a, b, notes


def test_a_damaged_page(filled, tmp_path):
    a, b, notes = filled
    overwrite(a.file, b"note 075 ")
    a.open()
    with pytest.raises(LibraryError) as failure:
        a.app.call("notes")
    assert failure.value.name == "damaged"
    # Sync cannot read what is unsent either, and reports it.
    a.sync_with()
    assert a.status["phase"] == "waiting" and a.status["problem"].startswith("localCopyFailed")
    lines = saved(a, tmp_path / "unsent.jsonl")
    found = {line["id"]: line["values"]["text"] for line in lines}
    assert 140 <= len(found) < 150
    assert all(found[note] == f"note {number:03} {KIB}" for number, note in enumerate(notes) if note in found)


def test_a_file_that_is_not_a_database(filled, tmp_path):
    a, _, _ = filled
    content = a.file.read_bytes()
    a.file.write_bytes(b"\xff" * 100 + content[100:])
    for use in (a.open, lambda: saved(a, tmp_path / "unsent.jsonl")):
        with pytest.raises(LibraryError) as failure:
            use()
        assert failure.value.name == "damaged"


def test_a_truncated_file(filled, tmp_path):
    a, _, notes = filled
    with a.file.open("r+b") as file:
        file.truncate(a.file.stat().st_size // 2 // PAGE * PAGE)
    with pytest.raises(LibraryError) as failure:
        a.open()
        a.app.call("notes")
    assert failure.value.name == "damaged"
    lines = saved(a, tmp_path / "unsent.jsonl")
    assert {line["id"] for line in lines} < set(notes) and len(lines) > 10
