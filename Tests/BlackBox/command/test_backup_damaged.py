"""Damaged backups are detected by verify and refused by restore. Interrupted restores can be continued."""

import json
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from attachments import sha256
from backups import bytes_in, database, files, restore
from client import BINARY
from runner import ENVIRONMENT, FAILED, run
from test_backup import PICTURES, backup, server  # noqa: F401 - fixtures


def damage_database(backup: Path) -> None:
    with database(backup).open("r+b") as file:
        file.seek(5_000)
        file.write(b"\0damage\0")


def cut_database(backup: Path) -> None:
    path = database(backup)
    path.write_bytes(path.read_bytes()[:-4096])


def damage_bytes(backup: Path) -> None:
    bytes_in(backup, PICTURES[2]).write_bytes(PICTURES[2][:-1] + b"?")


def lose_bytes(backup: Path) -> None:
    bytes_in(backup, PICTURES[2]).unlink()


def describe(text: str) -> Callable[[Path], None]:
    return lambda backup: (backup / "backup.json").write_text(text)


DAMAGES = [
    (lambda backup: (backup / "backup.json").unlink(), "contains no complete backup (no backup.json)."),
    (describe('{"format": "hesper-backup"'), "is not a backup manifest."),
    (describe("{}"), "is not a backup manifest."),
    (describe('{"format": "hesper-backup", "formatVersion": 2}'), "has format version 2."),
    (describe('{"format": "hesper-backup", "formatVersion": 1}'), "is incomplete."),
    (lambda backup: database(backup).unlink(), ".sqlite is missing."),
    (damage_database, ".sqlite does not match its SHA-256 in backup.json."),
    (cut_database, ".sqlite does not match its SHA-256 in backup.json."),
    (damage_bytes, "does not match its SHA-256."),
    (lose_bytes, "is missing or truncated."),
]


@pytest.mark.parametrize(("damage", "why"), DAMAGES, ids=[why for _, why in DAMAGES])
def test_an_incomplete_or_damaged_backup_is_refused(
    backup: Path, tmp_path: Path, damage, why: str
) -> None:
    damage(backup)
    elsewhere = tmp_path / "elsewhere"
    for data, environment in [
        (tmp_path / "data", {}),
        (tmp_path / "data", {"HESPER_ATTACHMENTS": str(elsewhere)}),
    ]:
        done = restore(backup, data, **environment)
        assert (done.returncode, done.stdout) == (FAILED, "")
        assert why in done.stderr
        assert not data.exists()
        assert [path for path in elsewhere.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(("damage", "why"), DAMAGES, ids=[why for _, why in DAMAGES])
def test_verify_reports_damage_and_changes_nothing(backup: Path, tmp_path: Path, damage, why: str) -> None:
    damage(backup)
    before = files(backup)
    done = run(tmp_path, "backup", "verify", backup)
    assert done.returncode == FAILED
    assert why in done.stdout + done.stderr
    assert files(backup) == before


def test_verify_reports_all_damage(backup: Path, tmp_path: Path) -> None:
    """Each damage is reported on its own line. Verify writes nothing to the folder."""
    before = files(backup)
    done = run(tmp_path, "backup", "verify", backup)
    date = json.loads((backup / "backup.json").read_text())["date"]
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Verified 2 accounts and 6 attachments in the backup of {date}: no problems found.\n"
    assert files(backup) == before
    damage_bytes(backup)
    bytes_in(backup, PICTURES[3]).unlink()
    damage_database(backup)
    done = run(tmp_path, "backup", "verify", backup)
    assert done.returncode == FAILED
    for line in ["does not match its SHA-256 in backup.json.", "does not match its SHA-256.", "truncated."]:
        assert sum(found.endswith(line) for found in done.stdout.splitlines()) == 1, done.stdout
    assert done.stdout.splitlines()[-1].startswith("Verified ")


def test_verify_reads_attachments_if_the_database_is_unreadable(backup: Path, tmp_path: Path) -> None:
    """The list of attachments is in the database. If it cannot be read, all existing files are verified."""
    with database(backup).open("r+b") as file:
        file.write(bytes(8_192))
    damage_bytes(backup)
    done = run(tmp_path, "backup", "verify", backup)
    assert done.returncode == FAILED
    assert "Cannot read the whole database: " in done.stdout
    assert f"{bytes_in(backup, PICTURES[2])} does not match its SHA-256.\n" in done.stdout


def test_verify_checks_the_content_of_the_database(backup: Path, tmp_path: Path) -> None:
    """A backup of an inconsistent database has correct file digests."""
    with closing(sqlite3.connect(database(backup))) as copy, copy:
        copy.execute("UPDATE scopes SET digest = zeroblob(16) WHERE sequence > 10")
    manifest = json.loads((backup / "backup.json").read_text())
    contents = database(backup).read_bytes()
    manifest["database"] |= {"sha256": sha256(contents), "byteCount": len(contents)}
    (backup / "backup.json").write_text(json.dumps(manifest))
    done = run(tmp_path, "backup", "verify", backup)
    assert done.returncode == FAILED
    assert "ada@example.org: The scope's digest is " in done.stdout
    assert done.stdout.endswith(": 1 finding.\n")


def run_out_of_space(backup: Path, data: Path) -> None:
    """Limits the file size below that of the largest picture."""
    command = [str(BINARY), "restore", str(backup), "--data", str(data)]
    limit = len(PICTURES[3]) - 100_000
    done = subprocess.run(
        command, env=ENVIRONMENT, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (FAILED, "")
    assert "File too large" in done.stderr


def kill(backup: Path, data: Path) -> None:
    """Kills the restore after it has copied an attachment. Tries again if the restore was complete before."""
    command = [str(BINARY), "restore", str(backup), "--data", str(data)]
    for _ in range(20):
        with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and not list(data.glob("attachments/1/*/*")):
                time.sleep(0.0005)
            process.kill()
        if process.returncode == -signal.SIGKILL and not (data / "hesper.sqlite").exists():
            return
        shutil.rmtree(data)
    pytest.fail("the restore was never killed in time")


@pytest.mark.parametrize("interrupt", [run_out_of_space, kill])
def test_an_interrupted_restore_is_continued(
    backup: Path, tmp_path: Path, interrupt: Callable[[Path, Path], None]
) -> None:
    data = tmp_path / "data"
    interrupt(backup, data)
    assert sorted(path.name for path in data.iterdir()) == ["attachments", "restoring"]
    # No command treats the folder as empty and creates a database in it.
    refused = run(tmp_path, "account", "create", "eve@example.org", "--data", data, stdin="correct horse battery\n")
    assert (refused.returncode, refused.stderr) == (
        FAILED, f"hesper: {data} is only partly restored. Run hesper restore again with the same backup.\n",
    )  # fmt: skip
    assert not (data / "hesper.sqlite").exists()
    kept = {name: file for name, file in files(data / "attachments").items() if not name.startswith("unfinished/")}
    assert kept
    # Complete files are kept. A damaged file is copied again.
    damaged = next(data / "attachments" / name for name in sorted(kept))
    damaged.write_bytes(b"?" * 7)
    done = restore(backup, data)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in data.iterdir()) == ["attachments", "hesper.sqlite"]
    now = files(data / "attachments")
    assert {name for name in kept if now[name] != kept[name]} == {str(damaged.relative_to(data / "attachments"))}
    assert run(tmp_path, "check", "--data", data).stdout == "Checked 2 accounts: no problems found.\n"


def test_a_refused_restore_removes_files_of_an_interrupted_one(backup: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    run_out_of_space(backup, data)
    damage_bytes(backup)
    assert restore(backup, data).returncode == FAILED
    assert list(data.iterdir()) == []
