"""The disk of the database is full: nothing acknowledged is lost, reads go on while it runs, and with room all is well."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from client import ROOT, Server
from disks import fill, mounted
from postgres import PostgreSQL
from refusals import check_reads, check_refusal, storm_until_refused
from storm import Storm
from verdict import check_data, push_again, settle

# Half of it is PostgreSQL's own: what it comes with, and its log of writes ahead.
SIZE = "160m"
SETTINGS = ["min_wal_size = 32MB", "max_wal_size = 64MB", "shared_buffers = 16MB"]


@pytest.fixture
def small() -> Iterator[Path]:
    """A small file system, where the user that PostgreSQL runs as may come."""
    (ROOT / ".build/postgres").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="full-", dir=ROOT / ".build/postgres") as folder:
        with mounted(Path(folder), SIZE, "755") as place:
            yield place


def test_no_room_for_tables(small: Path, seed: int) -> None:
    """The tables are on the small disk (a tablespace), the log is not: PostgreSQL goes on running."""
    with PostgreSQL(SETTINGS) as database:
        place = database.own_folder(small / "tables")
        database.sql(f"CREATE TABLESPACE small LOCATION '{place}'")
        with Server(database=database.database("TABLESPACE small")) as server:
            storm = Storm(server, seed, devices=2)
            for author in storm.authors:
                assert author.change_and_push()
            fill(small / "ballast")
            storm_until_refused(storm)
            for author in storm.authors:
                assert set(author.refused) <= {"unavailable", "storage-full"}
                check_refusal(author)
            assert any("storage-full" in author.refused for author in storm.authors)
            check_reads(storm)
            (small / "ballast").unlink()
            for author in storm.authors:
                push_again(author)
                assert author.change_and_push()
            settle(storm)
            storm.check(everything=True)
            assert server.stop() == 0
            check_data(server)


def test_no_room_for_anything(small: Path, seed: int) -> None:
    """All of PostgreSQL is on the small disk: when its log finds no room it gives up, and is started again with room."""
    with PostgreSQL(SETTINGS, folder=small) as database, Server(database=database.database()) as server:
        storm = Storm(server, seed, devices=2)
        for author in storm.authors:
            assert author.change_and_push()
        fill(small / "ballast")
        storm_until_refused(storm)
        for author in storm.authors:
            assert set(author.refused) <= {"unavailable", "storage-full"}
            check_refusal(author)
        (small / "ballast").unlink()
        database.control("restart -m immediate")
        assert server.wait_until_ready()
        storm.check()
        for author in storm.authors:
            push_again(author)
            assert author.change_and_push()
        settle(storm)
        storm.check(everything=True)
        assert server.stop() == 0
        check_data(server)
