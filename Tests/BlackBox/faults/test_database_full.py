"""The database's disk is full: nothing acknowledged is lost, reading works, and writing resumes when there is space."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from client import ROOT, Server
from mounts import fill, mounted
from postgres import PostgreSQL
from refusals import check_reads, check_refusal, storm_until_refused
from storm import Storm
from verdict import check_data, push_again, settle

# PostgreSQL itself uses about half of it, for its system tables and write-ahead log.
SIZE = "160m"
SETTINGS = ["min_wal_size = 32MB", "max_wal_size = 64MB", "shared_buffers = 16MB"]


@pytest.fixture
def small() -> Iterator[Path]:
    """A small file system that PostgreSQL's user can access."""
    (ROOT / ".build/postgres").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="full-", dir=ROOT / ".build/postgres") as folder:
        with mounted(Path(folder), SIZE, "755") as mount_point:
            yield mount_point


def test_no_space_for_tables(small: Path, seed: int) -> None:
    """Only a tablespace is on the small disk, not the write-ahead log. PostgreSQL keeps running."""
    with PostgreSQL(SETTINGS) as database:
        tablespace = database.writable_folder(small / "tables")
        database.sql(f"CREATE TABLESPACE small LOCATION '{tablespace}'")
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


@pytest.mark.thorough
def test_no_space_for_the_write_ahead_log(small: Path, seed: int) -> None:
    """The whole cluster is on the small disk. PostgreSQL stops, and is restarted when there is space."""
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
