"""Backup and restore with PostgreSQL's tools, as in operating.md (PostgreSQL)."""

from pathlib import Path

import pytest
from client import ErrorResponse, Server
from convergence import contents
from device import Device
from postgres import PostgreSQL, name_in

NEW_EPOCH = "UPDATE installation SET epoch = floor(random() * 9007199254740990) + 1"


def test_a_dump_is_restored(postgresql: PostgreSQL, tmp_path: Path) -> None:
    """Devices must sign in again, and send what the dump lacks."""
    address, restored = postgresql.database(), postgresql.database()
    dump = tmp_path / "hesper.dump"
    with Server(database=address) as server:
        device = Device(server.client())
        notes = [device.make_note(f"of yesterday {number}") for number in range(20)]
        device.sync()
        postgresql.run("pg_dump", "-Fc", "-d", name_in(address), "-f", str(dump))
        device.write(notes[0], "edited today")
        device.delete(notes[1])
        device.make_note("of today")
        device.sync()
    postgresql.run("pg_restore", "-d", name_in(restored), str(dump))
    postgresql.sql(f"{NEW_EPOCH}; DELETE FROM devices; DELETE FROM tickets", name_in(restored))
    with Server(database=restored) as server:
        assert server.command("check").stdout == "Checked 1 account: no problems found.\n"
        device.client.url = server.url
        with pytest.raises(ErrorResponse) as refusal:
            device.client.sync(since=device.token)
        assert refusal.value.status == 401
        device.client.sign_in(device.client.email)
        with pytest.raises(ErrorResponse) as refusal:
            device.client.sync(since=device.token)
        assert (refusal.value.status, refusal.value.slug) == (410, "token-expired")
        device.sync()
        another = Device(device.client.another_device())
        another.sync()
        assert contents(another.copy) == contents(device.copy)
        assert device.text(notes[0]) == "edited today"
        assert device.note(notes[1]) is None
        assert server.command("check").returncode == 0
    postgresql.drop(address)
    postgresql.drop(restored)
