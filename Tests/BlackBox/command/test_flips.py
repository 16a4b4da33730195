"""`hesper check` detects single flipped bits in the database."""

import random
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
import sqlite_pages
from client import PASSWORD, Client
from device import Device
from runner import FAILED, Hesper, serving

NOTES = 1_000
WORDS = [f"{a}{b}{c}" for a in ("ba", "ko", "ri", "su", "te") for b in ("lan", "mor", "pin", "rad") for c in "aeiou"]


def text(source: random.Random) -> str:
    return " ".join(source.choice(WORDS) + source.choice(["", "", ".", "\n"]) for _ in range(source.randint(5, 250)))


@pytest.fixture
def filled(hesper: Hesper, ada: str, tmp_path: Path, seed: int) -> Path:
    """A database of one file with many edited and some deleted notes, tags, a large note, and a full-text index."""
    source = random.Random(seed)
    with serving(tmp_path) as (url, _):
        client = Client(url)
        client.sign_in(ada, PASSWORD)
        device = Device(client)
        tags = [device.make_tag(f"tag {index}") for index in range(20)]
        notes = [device.make_note(text(source), tags=source.sample(tags, 2)) for _ in range(NOTES)]
        device.sync()
        for note in source.sample(notes, NOTES // 2):
            device.edit(note, "text", text(source))
        device.edit(notes[0], "text", " ".join(text(source) for _ in range(20)))
        device.sync()
        for note in notes[-20:]:
            device.delete(note)
        device.sync()
        assert device.client.get("/v1/search", params={"q": "kopina"}).status_code == 200
    file = tmp_path / "data/hesper.sqlite"
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    database.close()
    return file


@pytest.mark.thorough
def test_a_flipped_bit_is_found(hesper: Hesper, filled: Path, tmp_path: Path, seed: int, everything: bool) -> None:
    assert hesper("check").returncode == 0
    ranges = sqlite_pages.payloads(filled)
    source = random.Random(seed)
    flips = 400 if everything else 40
    chosen = source.choices(ranges, weights=[range_.length for range_ in ranges], k=flips)
    missed, hits = [], Counter(range_.tree for range_ in chosen)
    for range_ in chosen:
        position, bit = range_.offset + source.randrange(range_.length), source.randrange(8)
        copy = tmp_path / "copy"
        copy.mkdir()
        shutil.copy(filled, copy)
        with (copy / filled.name).open("r+b") as file:
            file.seek(position)
            byte = file.read(1)[0]
            file.seek(position)
            file.write(bytes([byte ^ 1 << bit]))
        checked = hesper("check", "--no-attachments", HESPER_DATA="copy")
        if checked.returncode != FAILED or not checked.stdout + checked.stderr:
            missed.append((range_.tree, position, bit, checked.stdout + checked.stderr))
        shutil.rmtree(copy)
    print(f"{flips - len(missed)} of {flips} found; hit: {dict(hits)}")
    assert missed == []
