"""`--backup-to`: scheduled backups are complete, and the oldest are removed."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attachments import attach, some_bytes
from backups import bytes_in, files, restore
from client import Server
from device import Device
from runner import FAILED, WRONG_SETTING, Hesper, run
from test_metrics import metrics
from waiting import wait_until

NAME = re.compile(r"\d{4}-\d\d-\d\dT\d{4}Z")
PICTURE = some_bytes(300_000, 1)


def entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if NAME.fullmatch(path.name))


def made_at(backup: Path, hours_ago: float) -> Path:
    """Changes the date and name of a backup as if it had been made earlier."""
    date = datetime.now(UTC) - timedelta(hours=hours_ago)
    manifest = json.loads((backup / "backup.json").read_text())
    manifest["date"] = date.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    (backup / "backup.json").write_text(json.dumps(manifest))
    return backup.rename(backup.parent / date.strftime("%Y-%m-%dT%H%MZ"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups"


def back_up(server: Server, folder: Path) -> None:
    """Fills a server with a note and a picture, restarts it with scheduled backups, and waits for the first one."""
    phone = Device(server.client(email="ada@example.org"))
    phone.make_note("in the first backup")
    phone.sync()
    attach(phone.client, PICTURE)
    server.stop()
    server.environment |= settings(folder)
    server.start()
    wait_until(lambda: entries(folder))


def settings(folder: Path) -> dict[str, str]:
    return {"HESPER_BACKUP_TO": str(folder), "HESPER_BACKUP_EVERY": "1h", "HESPER_BACKUP_KEEP": "3"}


@pytest.fixture
def server(fresh_server: Server, folder: Path) -> Server:
    """A server that has made its first scheduled backup."""
    back_up(fresh_server, folder)
    return fresh_server


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The data folder of such a server after it was stopped, and the folder of its backups. Tests use copies."""
    folder = tmp_path_factory.mktemp("backups")
    with Server() as server:
        back_up(server, folder)
        server.stop()
        yield server.data, folder


@pytest.fixture
def stopped(original: tuple[Path, Path], folder: Path, tmp_path: Path) -> Iterator[Server]:
    data, backups = original
    shutil.copytree(backups, folder, dirs_exist_ok=True)
    with Server(shutil.copytree(data, tmp_path / "installation"), environment=settings(folder), start=False) as server:
        yield server


def test_commands_during_operation_are_safe_after_a_backup(server: Server) -> None:
    """If the backup released the server's file locks, a command would checkpoint and delete the log that the server writes to."""
    wait_until(lambda: "Backup complete" in server.log)
    phone = Device(server.client(email="bob@example.org"))
    for text in "before", "between", "after":
        phone.make_note(text)
        phone.sync()
        assert server.command("account", "set-quota", "bob@example.org", "1GiB").returncode == 0
        assert phone.client.get("/v1/notes").status_code == 200
    server.kill()
    server.start()
    notes = phone.client.get("/v1/notes").json()["notes"]
    assert {note["text"] for note in notes} == {"before", "between", "after"}
    assert "malformed" not in server.log
    assert server.command("check").returncode == 0


def test_a_backup_is_complete_and_can_be_restored(server: Server, folder: Path, tmp_path: Path) -> None:
    [name] = entries(folder)
    assert abs(datetime.strptime(name, "%Y-%m-%dT%H%MZ").timestamp() - datetime.now(UTC).replace(tzinfo=None).timestamp()) < 90
    wait_until(lambda: "Backup complete" in server.log)
    assert [path.name for path in folder.iterdir()] == [name]
    assert all(path.stat().st_mode & 0o077 == 0 for path in [folder / name, *(folder / name).rglob("*")])
    assert run(tmp_path, "backup", "verify", folder / name).stdout.endswith(": no problems found.\n")
    samples = metrics(server.url)
    assert time.time() - 90 < samples["hesper_last_backup_timestamp_seconds"] <= time.time()
    assert samples["hesper_backup_failures_total"] == 0
    hint = f"Name one of the backups in it, such as {folder / name}."
    assert hint in restore(folder, tmp_path / "data").stderr
    assert hint in run(tmp_path, "backup", "verify", folder).stderr
    assert restore(folder / name, tmp_path / "data").returncode == 0
    assert run(tmp_path, "check", "--data", tmp_path / "data").returncode == 0


def test_the_period_starts_at_the_last_backup(stopped: Server, folder: Path) -> None:
    """It does not start at the server's start, so that frequent restarts do not delay backups."""
    [name] = entries(folder)
    made = made_at(folder / name, 0.9)
    for _ in range(3):
        stopped.start()
        # The metric appears once the schedule has read the folder, shortly after the start.
        wait_until(lambda: "hesper_last_backup_timestamp_seconds" in metrics(stopped.url))
        assert abs(time.time() - 0.9 * 3600 - metrics(stopped.url)["hesper_last_backup_timestamp_seconds"]) < 60
        time.sleep(0.5)
        stopped.stop()
    assert entries(folder) == [made.name]
    made = made_at(made, 1.1)
    stopped.start()
    wait_until(lambda: len(entries(folder)) == 2)
    assert entries(folder)[0] == made.name


def test_equal_attachments_are_hard_links(stopped: Server, folder: Path) -> None:
    [name] = entries(folder)
    old = made_at(folder / name, 2)
    # Bytes that the installation has lost are copied from the previous backup.
    shutil.rmtree(stopped.data / "attachments")
    stopped.start()
    wait_until(lambda: len(entries(folder)) == 2)
    new = folder / entries(folder)[1]
    assert bytes_in(new, PICTURE).stat().st_ino == bytes_in(old, PICTURE).stat().st_ino
    assert bytes_in(new, PICTURE).stat().st_nlink == 2
    assert json.loads((new / "backup.json").read_text())["missing"] == []


def test_only_the_oldest_backups_are_removed(stopped: Server, folder: Path) -> None:
    [name] = entries(folder)
    first = made_at(folder / name, 50)
    for hours in (40, 30, 20):
        made_at(Path(shutil.copytree(first, folder / f"copy {hours}")), hours)
    # None of these is a complete backup made by this server.
    foreign = made_at(Path(shutil.copytree(first, folder / "foreign")), 100)
    manifest = json.loads((foreign / "backup.json").read_text())
    (foreign / "backup.json").write_text(json.dumps(manifest | {"installation": "0123456789abcdef"}))
    incomplete = made_at(Path(shutil.copytree(first, folder / "incomplete")), 110)
    (incomplete / "backup.json").unlink()
    (folder / "2026-02-30T0300Z").mkdir()
    (folder / "letter.txt").write_text("not a backup")
    shutil.copytree(first, folder / "by hand")
    (folder / "removed").mkdir()
    (folder / "removed" / "left by a kill").write_text("x")
    before = entries(folder)
    stopped.start()
    wait_until(lambda: stopped.log.count("Old backup removed") == 2)
    after = entries(folder)
    gone = set(before) - set(after)
    assert first.name in gone and len(gone) == 2
    assert len(set(after) - set(before)) == 1
    assert {foreign.name, incomplete.name, "2026-02-30T0300Z"} <= set(after)
    names = {path.name for path in folder.iterdir()}
    assert {"letter.txt", "by hand"} <= names and not {"removed", "unfinished"} & names


def test_backups_dated_in_the_future(stopped: Server, folder: Path) -> None:
    """A backup dated in the future neither delays the next one nor replaces later ones."""
    [name] = entries(folder)
    future = [made_at(Path(shutil.copytree(folder / name, folder / f"copy {n}")), -1_000 - n) for n in range(3)]
    shutil.rmtree(folder / name)
    stopped.start()
    wait_until(lambda: "Old backup removed" in stopped.log)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H")
    assert [entry for entry in entries(folder) if entry.startswith(now[:10])]
    assert [path for path in future if not path.exists()] == future[:1]


def test_a_missing_backup_folder(fresh_server: Server, folder: Path, tmp_path: Path) -> None:
    """The server runs without backups. The folder is not created."""
    fresh_server.client(email="ada@example.org")
    fresh_server.stop()
    fresh_server.environment["HESPER_BACKUP_TO"] = str(tmp_path / "not mounted")
    fresh_server.start()
    wait_until(lambda: metrics(fresh_server.url)["hesper_backup_failures_total"] == 1)
    assert not (tmp_path / "not mounted").exists(), "the folder was created, possibly on the wrong disk"
    wait_until(lambda: "Backup failed; retrying" in fresh_server.log)
    assert "No such file" in fresh_server.log
    assert "hesper_last_backup_timestamp_seconds" not in metrics(fresh_server.url)
    assert fresh_server.client().get("/v1/account").status_code == 200


def test_an_interrupted_backup_is_continued(stopped: Server, folder: Path, tmp_path: Path) -> None:
    """The folder has another name until the backup is complete. Bytes already copied are not copied again."""
    [name] = entries(folder)
    (folder / name).rename(folder / "unfinished")
    (folder / "unfinished/backup.json").unlink()
    kept = bytes_in(folder / "unfinished", PICTURE).stat()
    stopped.start()
    wait_until(lambda: entries(folder))
    [name] = entries(folder)
    assert bytes_in(folder / name, PICTURE).stat().st_ino == kept.st_ino
    assert run(tmp_path, "backup", "verify", folder / name).returncode == 0
    assert len([path for path in files(folder / name) if path.endswith(".sqlite")]) == 1


def test_doctor_reports_backups(stopped: Server, folder: Path) -> None:
    [name] = entries(folder)

    def told() -> str:
        return stopped.command("doctor").stdout

    assert f"ok: The last complete backup is {folder / name}. Number of complete backups: 1.\n" in told()
    assert f"warning: The backups in {folder} are on the same disk as the data. " in told()
    old = made_at(folder / name, 2.1)
    assert f"warning: The last complete backup, {old}, is overdue: " in told()
    shutil.rmtree(old)
    assert f"warning: {folder} contains no complete backup. " in told()
    folder.rmdir()
    assert f"wrong: Cannot access the backups folder {folder}: No such file" in told()


def test_settings(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    (tmp_path / "data/backups").mkdir()
    rows = [
        (["--backup-every", "1h"], "--backup-every: scheduled backups require a folder. Set --backup-to too."),
        (["--backup-keep", "3"], "--backup-keep: scheduled backups require a folder. Set --backup-to too."),
        (["--backup-to", "b", "--backup-every", "10m"], "--backup-every: must be a duration from 1h to 36500d"),
        (["--backup-to", "b", "--backup-keep", "0"], "--backup-keep: must be a number of backups from 1 to 1000, not 0."),
        (["--backup-to", "data"], "--backup-to: data is the folder of the data. Set another folder for backups."),
        (["--backup-to", "data/attachments/b"], "is inside data/attachments, the folder of the attachments. Set another"),
        (["--backup-to", "b", "--database", "postgresql://h/x"], "scheduled backups work only with SQLite."),
    ]
    for arguments, why in rows:
        done = hesper("serve", *arguments)
        assert (done.returncode, done.stdout) == (WRONG_SETTING, ""), (arguments, done.stderr)
        assert why in done.stderr, (arguments, done.stderr)
    done = hesper("doctor", HESPER_BACKUP_TO="data/backups", HESPER_SIGN_UP="closed")
    assert "warning: data/backups contains no complete backup" in done.stdout
    done = hesper("doctor", HESPER_BACKUP_TO="data", HESPER_SIGN_UP="closed")
    assert done.returncode == FAILED and "wrong: HESPER_BACKUP_TO: data is the folder of the data" in done.stdout
