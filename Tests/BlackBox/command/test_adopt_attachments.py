"""Ownership of attachments: a server removes bytes only if they belong to its database (operating.md)."""

import json
import shutil
import sqlite3
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from attachments import attach, download, some_bytes
from client import Client, Server
from runner import FAILED, WRONG_SETTING, WRONG_USAGE
from waiting import wait_until

pytestmark = pytest.mark.long

MARKER = "attachments/hesper-installation.json"
DATA = some_bytes(1_000)


def marker(server: Server) -> dict:
    path = server.data / MARKER
    return json.loads(path.read_text()) if path.exists() else {}


def bytes_of(server: Server) -> list[Path]:
    return [path for path in (server.data / "attachments").rglob("*.*") if path.is_file() and path.name[8] == "-"]


def execute(data: Path, sql: str) -> None:
    with closing(sqlite3.connect(data / "hesper.sqlite")) as database, database:
        database.executescript(sql)


def refusal(server: Server) -> str:
    """The log of a `serve` that refuses to start. Its exit status prevents systemd from restarting it."""
    before = len(server.log)
    server.port = server.port or 12_345
    server.launch()
    assert server.process.wait(30) == WRONG_SETTING
    server.process = None
    return server.log[before:]


def copy_of(server: Server, folder: Path) -> Server:
    """A server on a copy of the database, with the original's attachments."""
    folder.mkdir()
    with closing(sqlite3.connect(server.data / "hesper.sqlite")) as database:
        database.execute("VACUUM INTO ?", [str(folder / "hesper.sqlite")])
    return Server(folder, environment={"HESPER_ATTACHMENTS": str(server.data / "attachments")}, start=False)


def delete_account(client: Client) -> None:
    assert client.delete("/v1/account", json={"password": client.password}).status_code == 204


def test_the_marker_is_written_at_the_first_start_and_renewed_later(fresh_server: Server) -> None:
    wait_until(lambda: marker(fresh_server))
    first = marker(fresh_server)
    assert (first["format"], first["formatVersion"], first["contested"]) == ("hesper-attachments", 1, False)
    assert (fresh_server.data / MARKER).stat().st_mode & 0o077 == 0
    fresh_server.restart()
    wait_until(lambda: marker(fresh_server)["nonce"] != first["nonce"])
    assert marker(fresh_server)["installation"] == first["installation"]
    # Kills at different moments do not matter.
    for wait in [0, 0.02, 0.05, 0.1, 0.3]:
        fresh_server.kill()
        fresh_server.launch()
        time.sleep(wait)
    fresh_server.kill()
    fresh_server.start()
    wait_until(lambda: fresh_server.command("doctor").stdout.count("ok: The attachments belong to this database."))
    assert "Unused attachments are not removed" not in fresh_server.log


def test_an_empty_database_is_not_served_with_existing_attachments(fresh_server: Server, tmp_path: Path) -> None:
    """If only the database is lost, neither `serve` nor a command treats the attachments as unreferenced."""
    client = fresh_server.client(email="ada@example.org")
    attachments = [attach(client, DATA) for _ in range(3)]
    wait_until(lambda: marker(fresh_server))
    fresh_server.stop()
    kept = tmp_path / "kept"
    kept.mkdir()
    for file in fresh_server.data.glob("hesper.sqlite*"):
        file.rename(kept / file.name)
    why = refusal(fresh_server)
    assert "The attachments belong to another installation, " in why
    assert "If the database was lost, restore it." in why and "hesper adopt-attachments" in why
    # The same for attachments without a marker, as older versions left them.
    (fresh_server.data / MARKER).unlink()
    assert "There are attachments, but the database is empty." in refusal(fresh_server)
    assert "wrong: There are attachments, but the database is empty." in fresh_server.command("doctor").stdout
    assert len(bytes_of(fresh_server)) == 3
    # The database is found and restored.
    for file in fresh_server.data.glob("hesper.sqlite*"):
        file.unlink()
    for file in kept.iterdir():
        file.rename(fresh_server.data / file.name)
    fresh_server.start()
    assert [download(client, each) for each in attachments] == [DATA] * 3
    wait_until(lambda: "is missing. Check that HESPER_ATTACHMENTS names the right place" in fresh_server.log)
    assert fresh_server.command("adopt-attachments", "--yes").returncode == 0
    assert "ok: The attachments belong to this database." in fresh_server.command("doctor").stdout


def test_a_new_installation_can_adopt_attachments(fresh_server: Server) -> None:
    attach(fresh_server.client(), DATA)
    wait_until(lambda: marker(fresh_server))
    old = marker(fresh_server)
    fresh_server.stop()
    for file in fresh_server.data.glob("hesper.sqlite*"):
        file.unlink()
    refusal(fresh_server)
    asked = fresh_server.command("adopt-attachments", stdin=-3)
    assert asked.returncode == WRONG_USAGE
    assert asked.stderr == "hesper: Standard input is not a terminal. Add --yes to adopt the attachments.\n"
    assert marker(fresh_server) == old
    done = fresh_server.command("adopt-attachments", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"Attachments: {fresh_server.data}/attachments",
        f"Marker: another installation, {old['installation']}",
        "Known to this database: 0 files with 0 bytes.",
        "Unknown to this database: 1 file with 1000 bytes.",
        (
            "The attachments now belong to this database. A server starts to remove deleted attachments after 5 minutes, "
            "and unknown files after 30 days."
        ),
    ]
    fresh_server.start()
    assert len(bytes_of(fresh_server)) == 1


@pytest.mark.thorough
def test_a_copied_database_does_not_erase_attachments(fresh_server: Server, tmp_path: Path) -> None:
    """A copy of the database is served with the same attachments, and an account is erased in it."""
    ada, bob = fresh_server.client(email="ada@example.org"), fresh_server.client(email="bob@example.org")
    kept = attach(ada, DATA)
    wait_until(lambda: marker(fresh_server))
    with copy_of(fresh_server, tmp_path / "copy") as copy:
        # The copy contains the other server's lease.
        execute(copy.data, "DELETE FROM leases")
        nonce = marker(fresh_server)["nonce"]
        copy.start()
        in_copy = Client(copy.url)
        in_copy.sign_in("ada@example.org")
        delete_account(in_copy)
        wait_until(lambda: marker(fresh_server)["nonce"] != nonce)
        later = attach(bob, DATA)
        # The other server checks the marker once a minute.
        wait_until(lambda: marker(fresh_server)["contested"], 90)
        wait_until(lambda: "Two copies of the database have used the attachments" in copy.log, 90)
        assert download(ada, kept) == download(bob, later) == DATA
        for server in (fresh_server, copy):
            doctor = server.command("doctor")
            assert doctor.returncode == FAILED
            assert "wrong: Two copies of the database have used the attachments" in doctor.stdout
    assert "was written by another copy of this database" in fresh_server.log
    assert "\nhesper_attachment_removal_stopped 1\n" in ada.get("/metrics").text
    # Neither server removes any bytes now, and neither does the command.
    delete_account(ada)
    erased = fresh_server.command("account", "delete", "bob@example.org", "--yes")
    assert erased.returncode == FAILED
    assert "The account is deleted, but the data of its attachments is still stored. hesper serve removes it later. Two copies" in erased.stderr
    time.sleep(12)
    assert len(bytes_of(fresh_server)) == 2
    done = fresh_server.command("adopt-attachments", "--yes")
    assert f"Marker: this installation, {marker(fresh_server)['installation']}, contested\n" in done.stdout
    assert "Known to this database: 2 files with 2000 bytes.\n" in done.stdout
    assert not marker(fresh_server)["contested"]
    wait_until(lambda: "Removal of unused attachments resumed" in fresh_server.log)
    # The command removes the bytes of an erased account immediately.
    carol = fresh_server.client(email="carol@example.org")
    attach(carol, DATA)
    assert fresh_server.command("account", "delete", "carol@example.org", "--yes").returncode == 0
    assert bytes_of(fresh_server) == []


def test_an_old_copy_of_the_database_does_not_erase_attachments(fresh_server: Server, tmp_path: Path) -> None:
    """Attachments uploaded after the copy was made are unknown to it."""
    client = fresh_server.client(email="ada@example.org")
    wait_until(lambda: marker(fresh_server))
    old = tmp_path / "old"
    copy_of(fresh_server, old)
    nonce = marker(fresh_server)["nonce"]
    fresh_server.restart()
    later = attach(client, DATA)
    wait_until(lambda: marker(fresh_server)["nonce"] != nonce)
    fresh_server.stop()
    for file in fresh_server.data.glob("hesper.sqlite*"):
        file.unlink()
    shutil.copy(old / "hesper.sqlite", fresh_server.data)
    execute(fresh_server.data, "DELETE FROM leases")
    fresh_server.start()
    assert client.get("/v1/account").status_code == 200
    wait_until(lambda: marker(fresh_server)["contested"])
    [file] = bytes_of(fresh_server)
    assert file.name.startswith(later)
    doctor = fresh_server.command("doctor")
    assert doctor.returncode == FAILED
    assert "wrong: Two copies of the database have used the attachments" in doctor.stdout
    wait_until(lambda: "\nhesper_attachment_removal_stopped 1\n" in client.get("/metrics").text)
    # The command does not remove the bytes of an erased account now.
    picture = attach(fresh_server.client(email="bob@example.org"), DATA)
    erased = fresh_server.command("account", "delete", "bob@example.org", "--yes")
    assert erased.returncode == FAILED
    assert "The account is deleted, but the data of its attachments is still stored. hesper serve removes it later. Two copies" in erased.stderr
    assert {path.name[:36] for path in bytes_of(fresh_server)} == {later, picture}
    done = fresh_server.command("adopt-attachments", "--yes")
    assert "Known to this database: 1 file with 1000 bytes.\nUnknown to this database: 1 file with 1000 bytes.\n" in done.stdout
    assert not marker(fresh_server)["contested"]
    wait_until(lambda: "Removal of unused attachments resumed" in fresh_server.log)
    # The command removes the bytes of an erased account immediately.
    before = set(bytes_of(fresh_server))
    attach(fresh_server.client(email="carol@example.org"), DATA)
    assert fresh_server.command("account", "delete", "carol@example.org", "--yes").returncode == 0
    assert set(bytes_of(fresh_server)) <= before


def test_a_moved_data_folder_keeps_its_attachments(fresh_server: Server, tmp_path: Path) -> None:
    client = fresh_server.client()
    picture = attach(client, DATA)
    wait_until(lambda: marker(fresh_server))
    fresh_server.stop()
    shutil.copytree(fresh_server.data, tmp_path / "elsewhere")
    with Server(tmp_path / "elsewhere") as moved:
        wait_until(lambda: marker(moved)["nonce"] != marker(fresh_server)["nonce"])
        client.url = moved.url
        assert download(client, picture) == DATA
        assert "ok: The attachments belong to this database." in moved.command("doctor").stdout
        assert "Unused attachments are not removed" not in moved.log


def test_restored_attachments_belong_to_the_restored_database(fresh_server: Server, tmp_path: Path) -> None:
    attach(fresh_server.client(), DATA)
    wait_until(lambda: marker(fresh_server))
    assert fresh_server.command("backup", str(tmp_path / "backup")).returncode == 0
    with Server(tmp_path / "restored", start=False) as restored:
        assert restored.command("restore", str(tmp_path / "backup")).returncode == 0
        restored.start()
        wait_until(lambda: marker(restored))
        assert "ok: The attachments belong to this database." in restored.command("doctor").stdout
        assert "Unused attachments are not removed" not in restored.log


def test_with_a_damaged_marker_nothing_is_removed() -> None:
    """Three servers with different damage at the same time, because the test waits for their sweeps."""
    texts = ["", "not a marker", '{"format": "hesper-attachments", "formatVersion": 2}']
    with ExitStack() as stack:
        servers = [stack.enter_context(Server()) for _ in texts]
        for server, text in zip(servers, texts, strict=True):
            client = server.client()
            attach(client, DATA)
            wait_until(lambda server=server: marker(server))
            server.stop()
            (server.data / MARKER).write_text(text)
            server.start()
            delete_account(client)
            wait_until(lambda server=server: "hesper-installation.json, cannot be read" in server.log)
        time.sleep(11)
        for server, text in zip(servers, texts, strict=True):
            assert len(bytes_of(server)) == 1
            assert (server.data / MARKER).read_text() == text
            assert "wrong: The marker of the attachments" in server.command("doctor").stdout
