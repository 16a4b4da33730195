"""`hesper backup` and `hesper restore`: content of backups, incremental copies, and errors."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attachments import attach, download, sha256, some_bytes, upload
from backups import back_up, database, files, restore
from client import ErrorResponse, Server
from convergence import settle
from device import Device
from runner import FAILED, WRONG_SETTING, WRONG_USAGE, Hesper

PICTURES = [some_bytes(size, seed) for seed, size in enumerate([0, 1, 70_000, 1_500_000])]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server with two accounts. No test changes its data."""
    with Server() as running:
        phone = Device(running.client(email="ada@example.org"))
        for number in range(20):
            phone.make_note(f"note {number}")
        phone.sync()
        for data in PICTURES:
            attach(phone.client, data)
        # The same bytes again, and bytes without an attachment.
        attach(phone.client, PICTURES[2])
        upload(running.client(), b"without an attachment")
        yield running


@pytest.fixture
def backup(server: Server, tmp_path: Path) -> Path:
    back_up(server, tmp_path / "backup")
    return tmp_path / "backup"


def test_the_content_of_a_backup(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    said = back_up(server, folder)
    assert said == f"Backed up 2 accounts and 6 attachments to {folder}: 5 copied, 1 already present.\n"
    manifest = json.loads((folder / "backup.json").read_text())
    bytes_of_database = database(folder).read_bytes()
    assert manifest["database"]["sha256"] == sha256(bytes_of_database)
    assert manifest["database"]["byteCount"] == len(bytes_of_database)
    assert (manifest["format"], manifest["formatVersion"]) == ("hesper-backup", 1)
    assert (manifest["attachments"], manifest["missing"]) == (6, [])
    for data in [*PICTURES, b"without an attachment"]:
        digest = sha256(data)
        assert (folder / "attachments" / digest[:2] / digest).read_bytes() == data
    assert len(files(folder)) == 2 + 5
    # Only the owner has access.
    assert all(path.stat().st_mode & 0o077 == 0 for path in [folder, *folder.rglob("*")])


def test_existing_bytes_are_not_copied_again(server: Server, backup: Path) -> None:
    before = files(backup)
    assert back_up(server, backup).endswith(": 0 copied, 6 already present.\n")
    after = files(backup)
    same = {name for name in before if before[name] == after.get(name)}
    assert same == {name for name in before if name.startswith("attachments/")}
    assert len(after) == len(before)


def test_unreferenced_files_are_removed_by_the_next_backup(server: Server, backup: Path) -> None:
    """Truncated files are copied again."""
    stray = backup / "attachments" / "ff" / ("f" * 64)
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"of an attachment that was removed")
    digest = sha256(PICTURES[3])
    (backup / "attachments" / digest[:2] / digest).write_bytes(PICTURES[3][:-1])
    (backup / "unfinished" / "left-by-a-crash").write_bytes(b"half")
    assert back_up(server, backup).endswith(": 1 copied, 5 already present.\n")
    assert not stray.exists()
    assert (backup / "attachments" / digest[:2] / digest).read_bytes() == PICTURES[3]
    assert list((backup / "unfinished").iterdir()) == []


def test_devices_restore_what_the_backup_lacks(tmp_path: Path) -> None:
    """Case 24 of merge.md with attachments, restored on another machine with another URL."""
    with Server() as server:
        phone = Device(server.client(device_name="phone"))
        laptop = Device(phone.client.another_device())
        kept = [phone.make_note(f"of yesterday {number}") for number in range(30)]
        picture = attach(phone.client, PICTURES[3])
        settle(phone, laptop)
        back_up(server, tmp_path / "backup")
        phone.write(kept[0], "edited today")
        laptop.delete(kept[1])
        made = laptop.make_note("made today")
        settle(phone, laptop)
        expected, held = phone.notes, phone.copy.digest
        token = phone.client.token
    data = tmp_path / "data"
    done = restore(tmp_path / "backup", data)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Restored 1 account and 1 attachment of 20")
    with Server(data) as restored:
        for device in (phone, laptop):
            device.client.url = restored.url
            assert device.client.get("/v1/account").status_code == 401
            device.client.sign_in(device.client.email)
            with pytest.raises(ErrorResponse) as refusal:
                device.client.sync({"notes": []}, since=device.token)
            assert (refusal.value.status, refusal.value.slug) == (410, "token-expired")
        settle(phone, laptop)
        assert phone.notes == expected
        assert phone.copy.digest == laptop.copy.digest == held
        assert phone.note(made) is not None
        assert phone.note(kept[1]) is None
        assert download(laptop.client, picture) == PICTURES[3]
        old = {"Authorization": f"Bearer {token}"}
        assert phone.client.get("/v1/account", headers=old).status_code == 401
        assert restored.command("check").stdout == "Checked 1 account: no problems found.\n"
        # The restored server can be backed up to the same folder.
        assert back_up(restored, tmp_path / "backup").endswith(": 0 copied, 1 already present.\n")


def test_tokens_are_not_restored(server: Server, backup: Path, tmp_path: Path) -> None:
    """The hashes of tokens are not in free pages of the file either."""
    with closing(sqlite3.connect(f"file:{database(backup)}?mode=ro", uri=True)) as kept:
        hashes = [row[0] for row in kept.execute("SELECT token FROM devices")]
        epoch = kept.execute("SELECT epoch FROM installation").fetchone()
    assert len(hashes) == 2
    assert restore(backup, tmp_path / "data").returncode == 0
    with closing(sqlite3.connect(tmp_path / "data/hesper.sqlite")) as restored:
        assert restored.execute("SELECT count(*) FROM devices").fetchone() == (0,)
        assert restored.execute("SELECT epoch FROM installation").fetchone() != epoch
    contents = (tmp_path / "data/hesper.sqlite").read_bytes()
    assert not [token for token in hashes if token in contents]


def test_a_retry_after_a_restore_creates_nothing(tmp_path: Path) -> None:
    """A backup has the keys of the objects that it has."""

    def make(client, key: str):
        return client.post("/v1/notes", {"text": key}, headers={"Idempotency-Key": key})

    with Server() as server:
        client = server.client(email="ada@example.org")
        before = make(client, "before")
        back_up(server, tmp_path / "backup")
        make(client, "after")
    assert restore(tmp_path / "backup", tmp_path / "data").returncode == 0
    with Server(tmp_path / "data") as restored:
        client.url = restored.url
        client.sign_in("ada@example.org")
        again = make(client, "before")
        assert (again.headers["Location"], again.headers["Idempotency-Replayed"]) == (before.headers["Location"], "true")
        assert "Idempotency-Replayed" not in make(client, "after").headers
        assert len(client.read_all()[0]["notes"]) == 2


def test_restore_needs_an_empty_folder(server: Server, backup: Path, tmp_path: Path) -> None:
    full, other = tmp_path / "full", tmp_path / "other"
    assert restore(backup, full).returncode == 0
    before = files(full)
    again = restore(backup, full)
    assert (again.returncode, files(full)) == (FAILED, before)
    assert f"{full} is not empty. It contains hesper.sqlite. Restore into an empty folder." in again.stderr
    (other / "attachments" / "1").mkdir(parents=True)
    assert f"{other} is not empty. It contains attachments" in restore(backup, other).stderr
    # A settings file may already be in the folder.
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / "hesper.json").write_text('{"attachments": "%s"}' % (tmp_path / "elsewhere"))
    assert restore(backup, fresh).returncode == 0
    assert len([path for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()]) == 6


def test_missing_and_damaged_attachments(tmp_path: Path) -> None:
    """Everything else is backed up, and both commands report what is missing."""
    with Server() as server:
        client = server.client()
        lost, damaged, whole = (attach(client, some_bytes(1_000, seed)) for seed in range(3))
        paths = {path.name[:36]: path for path in (server.data / "attachments").rglob("*.*")}
        paths[lost].unlink()
        paths[damaged].write_bytes(b"?" * 1_000)
        done = server.command("backup", str(tmp_path / "backup"))
        assert done.returncode == FAILED
        assert done.stdout.endswith(": 1 copied, 0 already present, 2 missing or damaged.\n")
        assert f"{lost}." in done.stderr and " is missing.\n" in done.stderr
        assert f"{damaged}." in done.stderr and " does not match its SHA-256.\n" in done.stderr
    done = restore(tmp_path / "backup", tmp_path / "data")
    assert done.returncode == FAILED
    assert done.stderr.count("is not in the backup because it was already missing or damaged in the installation.\n") == 2
    with Server(tmp_path / "data") as restored:
        again = restored.client()
        again.sign_in(client.email)
        assert download(again, whole) == some_bytes(1_000, 2)


def test_errors_of_the_command_line(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("not a backup")
    (tmp_path / "link").symlink_to(tmp_path / "data")
    rows = [
        (["backup"], WRONG_USAGE, "folder"),
        (["backup", "b", "--data", "nowhere"], WRONG_SETTING, "nowhere contains no hesper.sqlite"),
        (["backup", "home"], WRONG_USAGE, "home contains a file that does not belong to a backup, letter.txt"),
        (["backup", "data"], WRONG_USAGE, "data is the folder of the data"),
        (["backup", "link"], WRONG_USAGE, "link is the folder of the data"),
        (["backup", "data/attachments"], WRONG_USAGE, "data/attachments is the folder of the attachments"),
        (["backup", "b", "--database", "postgresql://h/x"], WRONG_USAGE, "hesper backup works only with SQLite."),
        (["restore", "b", "--database", "postgresql://h/x"], WRONG_USAGE, "hesper restore works only with SQLite"),
        (["restore", "nowhere", "--data", "new"], FAILED, "nowhere contains no complete backup"),
        (["restore", "home", "--data", "home"], WRONG_USAGE, "home is the folder of the backup"),
    ]
    for arguments, status, why in rows:
        done = hesper(*arguments)
        assert (done.returncode, done.stdout) == (status, ""), (arguments, done.stderr)
        assert why in done.stderr, (arguments, done.stderr)
    assert not (tmp_path / "new").exists()
    assert hesper("backup", "b").stdout == "Backed up 1 account and 0 attachments to b: 0 copied, 0 already present.\n"
