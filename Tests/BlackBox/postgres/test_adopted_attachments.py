"""Databases that are copied, restored and taken over by a standby, beside attachments that are not (operating.md)."""

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attachments import attach, download, some_bytes
from client import Client, Server
from postgres import PASSWORD, PostgreSQL, name_in, programs
from runner import FAILED, WRONG_SETTING
from seaweed import SeaweedFS

pytestmark = pytest.mark.long

DATA = some_bytes(1_000)
OK = "ok: The attachments belong to this database."
CONTESTED = "wrong: Two copies of the database have used the attachments"


def wait_for(condition: Callable[[], object], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.3)


def said(server: Server) -> str:
    """What `hesper doctor` says of the attachments: of the database, the bytes and the marker as they are now."""
    lines = server.command("doctor").stdout.splitlines()
    return "\n".join(line for line in lines if "attachments" in line)


@pytest.fixture(scope="module")
def seaweed() -> Iterator[SeaweedFS]:
    running = SeaweedFS()
    try:
        running.make_bucket()
        yield running
    finally:
        running.close()


@pytest.fixture(params=["folder", "S3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Where several servers have their attachments."""
    if request.param == "folder":
        return {"HESPER_ATTACHMENTS": str(tmp_path / "attachments")}
    environment = request.getfixturevalue("seaweed").environment()
    environment["HESPER_ATTACHMENTS"] += f"/{tmp_path.name}"
    return environment


def delete_account(client: Client) -> None:
    assert client.delete("/v1/account", json={"password": client.password}).status_code == 204


def signed_in(server: Server, email: str) -> Client:
    client = Client(server.url)
    client.sign_in(email)
    return client


def test_a_dump_that_is_served_beside_production(
    postgresql: PostgreSQL, place: dict[str, str], tmp_path: Path
) -> None:
    """Production loses nothing, though somebody deletes an account in the copy at once."""
    address, copied = postgresql.database(), postgresql.database()
    with Server(database=address, environment=place) as server:
        ada = server.client(email="ada@example.org")
        picture = attach(ada, DATA)
        wait_for(lambda: OK in said(server))
        postgresql.run("pg_dump", "-Fc", "-d", name_in(address), "-f", str(tmp_path / "dump"))
        postgresql.run("pg_restore", "-d", name_in(copied), str(tmp_path / "dump"))
        postgresql.sql("DELETE FROM leases", name_in(copied))
        newer = attach(ada, DATA)
        with Server(database=copied, environment=place) as copy:
            delete_account(signed_in(copy, "ada@example.org"))
            wait_for(lambda: CONTESTED in said(server) and CONTESTED in said(copy))
            assert copy.command("doctor").returncode == FAILED
            time.sleep(12)
            assert download(ada, picture) == download(ada, newer) == DATA
        assert server.command("adopt-attachments", "--yes").returncode == 0
        wait_for(lambda: OK in said(server))
        assert download(ada, picture) == download(ada, newer) == DATA
    postgresql.drop(address)
    postgresql.drop(copied)


def test_an_empty_database_beside_attachments(
    postgresql: PostgreSQL, place: dict[str, str], tmp_path: Path
) -> None:
    """`serve` refuses, with the database that the address leads to by mistake as with one that was lost."""
    address, empty = postgresql.database(), postgresql.database()
    with Server(database=address, environment=place) as server:
        client = server.client()
        picture = attach(client, DATA)
        wait_for(lambda: OK in said(server))
        with Server(database=empty, environment=place, start=False, port=12_321) as other:
            other.launch()
            assert other.process.wait(30) == WRONG_SETTING
            assert "The attachments belong to another installation, " in other.log
            other.process = None
        assert OK in said(server), "who is refused marks nothing"
        assert download(client, picture) == DATA
    postgresql.drop(address)
    postgresql.drop(empty)


def test_a_cluster_that_is_cloned_and_one_that_takes_over(postgresql: PostgreSQL, tmp_path: Path) -> None:
    """A promoted standby that has all goes on; what is served beside the old primary is found out."""
    place = {"HESPER_ATTACHMENTS": str(tmp_path / "attachments")}
    with PostgreSQL() as primary, contextlib.closing(primary.standby()) as standby:
        address = primary.database()
        with Server(database=address, environment=place) as server:
            client = server.client(email="ada@example.org")
            picture = attach(client, DATA)
            wait_for(lambda: OK in said(server))
            server.stop()
            standby.catch_up()
            standby.control("promote")
            # As a clone, beside the primary: the leases were given back when the server stopped.
            server.start()
            clone = Server(database=standby.address_like(address), environment=place)
            with clone:
                delete_account(signed_in(clone, "ada@example.org"))
                wait_for(lambda: CONTESTED in said(server))
                client.url = server.url
                assert download(client, picture) == DATA


def test_a_standby_that_takes_over(postgresql: PostgreSQL, tmp_path: Path) -> None:
    """With every commit nothing has to be done. One that lost a renewal removes nothing."""
    place = {"HESPER_ATTACHMENTS": str(tmp_path / "attachments")}
    with PostgreSQL() as primary, contextlib.closing(primary.standby()) as standby:
        address = primary.database()
        marker = tmp_path / "attachments/hesper-installation.json"
        with Server(database=address, environment=place) as server:
            picture = attach(server.client(email="ada@example.org"), DATA)
            wait_for(lambda: OK in said(server))
            # A server that may only read changes no marker.
            server.stop()
            standby.catch_up()
            before = marker.read_text()
            reading = f"{standby.address_like(address)}&target_session_attrs=any"
            with Server(database=reading, environment=place) as reader:
                time.sleep(12)
                assert marker.read_text() == before
                assert OK in said(reader)
            # The standby hears no more, and the primary renews the marker.
            standby.sql("ALTER SYSTEM SET primary_conninfo = ''")
            standby.sql("SELECT pg_reload_conf()")
            time.sleep(1)
            server.start()
            wait_for(lambda: marker.read_text() != before)
            later = attach(signed_in(server, "ada@example.org"), DATA)
            server.stop()
            primary.kill()
            standby.control("promote")
            with Server(database=standby.address_like(address), environment=place) as behind:
                client = signed_in(behind, "ada@example.org")
                wait_for(lambda: json.loads(marker.read_text())["contested"])
                assert client.delete(f"/v1/attachments/{picture}").status_code == 200
                time.sleep(12)
                files = {path.name[:36] for path in (tmp_path / "attachments").glob("*/*/*")}
                assert files == {picture, later}
                assert behind.command("adopt-attachments", "--yes").returncode == 0
                wait_for(lambda: OK in said(behind))


def test_a_synchronous_failover_needs_nothing(postgresql: PostgreSQL, tmp_path: Path) -> None:
    place = {"HESPER_ATTACHMENTS": str(tmp_path / "attachments")}
    with PostgreSQL() as primary, contextlib.closing(primary.standby()) as standby:
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        primary.sql("SELECT pg_reload_conf()")
        address = primary.database()
        with Server(database=address, environment=place) as server:
            picture = attach(server.client(email="ada@example.org"), DATA)
            wait_for(lambda: OK in said(server))
            server.kill()
        primary.kill()
        standby.control("promote")
        with Server(database=standby.address_like(address), environment=place) as server:
            assert OK in said(server)
            assert download(signed_in(server, "ada@example.org"), picture) == DATA
            assert "Unused attachments are not removed" not in server.log


def test_pg_upgrade_needs_nothing(tmp_path: Path) -> None:
    """Of one version to itself, as only one is installed: its rows are those of the old cluster in any case."""
    place = {"HESPER_ATTACHMENTS": str(tmp_path / "attachments")}
    with PostgreSQL() as old, PostgreSQL() as new:
        address = old.database()
        with Server(database=address, environment=place) as server:
            picture = attach(server.client(email="ada@example.org"), DATA)
            wait_for(lambda: OK in said(server))
            server.stop()
            old.control("stop")
            new.control("stop")
            user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
            done = subprocess.run(
                [
                    programs() / "pg_upgrade", "-b", programs(), "-B", programs(), "-d", old.folder / "data",
                    "-D", new.folder / "data", "-p", str(old.port), "-P", str(new.port), "-U", "hesper",
                ],
                cwd=old.own_folder(old.folder / "upgrade"), env=os.environ | {"PGPASSWORD": PASSWORD},
                capture_output=True, text=True, timeout=300, **user,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
            new.control("start")
            with Server(database=new.address_like(address), environment=place) as upgraded:
                assert OK in said(upgraded)
                assert download(signed_in(upgraded, "ada@example.org"), picture) == DATA
                assert "Unused attachments are not removed" not in upgraded.log


def test_while_the_bucket_is_away_serving_goes_on(seaweed: SeaweedFS, tmp_path: Path) -> None:
    environment = seaweed.environment()
    environment["HESPER_ATTACHMENTS"] += f"/{tmp_path.name}"
    with Server(environment=environment) as server:
        client = server.client()
        picture = attach(client, DATA)
        wait_for(lambda: OK in said(server))
        server.stop()
        seaweed.stop()
        try:
            server.start()
            assert client.get("/v1/account", timeout=60).status_code == 200
            assert "Cannot read the marker of the attachments; no attachments are removed until it can be read" in server.log
        finally:
            assert seaweed.start()
        wait_for(lambda: OK in said(server))
        assert download(client, picture) == DATA
