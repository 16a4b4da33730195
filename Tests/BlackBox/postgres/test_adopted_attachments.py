"""Copied, restored and failed-over databases whose attachments are shared (operating.md)."""

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from attachments import attach, download, some_bytes
from client import Client, Server
from postgres import PASSWORD, PostgreSQL, name_in, programs
from runner import FAILED, WRONG_SETTING
from seaweed import SeaweedFS
from waiting import wait_until

pytestmark = pytest.mark.long

DATA = some_bytes(1_000)
OK = "ok: The attachments belong to this database."
CONTESTED = "wrong: Two copies of the database have used the attachments"


def attachment_diagnosis(server: Server) -> str:
    """The lines of `hesper doctor` about the attachments."""
    lines = server.command("doctor").stdout.splitlines()
    return "\n".join(line for line in lines if "attachments" in line)


def wait_for_diagnosis(text: str, *servers: Server) -> None:
    """Waits until `hesper doctor` states this about the attachments of the servers. It takes a tenth of a second of processor time."""
    for server in servers:
        wait_until(lambda server=server: text in attachment_diagnosis(server), seconds=90, pause=1)


@pytest.fixture(scope="module")
def seaweed() -> Iterator[SeaweedFS]:
    running = SeaweedFS()
    try:
        running.make_bucket()
        yield running
    finally:
        running.close()


@pytest.fixture(params=["folder", pytest.param("S3", marks=pytest.mark.thorough)])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The environment of servers that share attachments."""
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


@pytest.mark.thorough
def test_a_restored_dump_with_the_attachments_of_the_original(
    postgresql: PostgreSQL, storage: dict[str, str], tmp_path: Path
) -> None:
    """The original loses nothing, even if an account is erased in the copy."""
    address, copied = postgresql.database(), postgresql.database()
    with Server(database=address, environment=storage) as server:
        ada = server.client(email="ada@example.org")
        picture = attach(ada, DATA)
        wait_for_diagnosis(OK, server)
        postgresql.run("pg_dump", "-Fc", "-d", name_in(address), "-f", str(tmp_path / "dump"))
        postgresql.run("pg_restore", "-d", name_in(copied), str(tmp_path / "dump"))
        postgresql.sql("DELETE FROM leases", name_in(copied))
        newer = attach(ada, DATA)
        with Server(database=copied, environment=storage) as copy:
            delete_account(signed_in(copy, "ada@example.org"))
            wait_for_diagnosis(CONTESTED, server, copy)
            assert copy.command("doctor").returncode == FAILED
            time.sleep(12)
            assert download(ada, picture) == download(ada, newer) == DATA
        assert server.command("adopt-attachments", "--yes").returncode == 0
        wait_for_diagnosis(OK, server)
        assert download(ada, picture) == download(ada, newer) == DATA
    postgresql.drop(address)
    postgresql.drop(copied)


def test_an_empty_database_with_existing_attachments(
    postgresql: PostgreSQL, storage: dict[str, str], tmp_path: Path
) -> None:
    """`serve` refuses to start, whether the URL is wrong or the database was lost."""
    address, empty = postgresql.database(), postgresql.database()
    with Server(database=address, environment=storage) as server:
        client = server.client()
        picture = attach(client, DATA)
        wait_for_diagnosis(OK, server)
        with Server(database=empty, environment=storage, start=False, port=12_321) as other:
            other.launch()
            assert other.process.wait(30) == WRONG_SETTING
            assert "The attachments belong to another installation, " in other.log
            other.process = None
        assert OK in attachment_diagnosis(server), "the refused server changed the marker"
        assert download(client, picture) == DATA
    postgresql.drop(address)
    postgresql.drop(empty)


def test_a_clone_of_the_cluster_is_detected(postgresql: PostgreSQL, tmp_path: Path) -> None:
    """A promoted standby that is served in parallel with the old primary is detected as a copy."""
    storage = {"HESPER_ATTACHMENTS": str(tmp_path / "attachments")}
    with PostgreSQL() as primary, contextlib.closing(primary.standby()) as standby:
        address = primary.database()
        with Server(database=address, environment=storage) as server:
            client = server.client(email="ada@example.org")
            picture = attach(client, DATA)
            wait_for_diagnosis(OK, server)
            server.stop()
            standby.catch_up()
            standby.control("promote")
            # The standby is a clone of the primary. The leases were released when the server stopped.
            server.start()
            clone = Server(database=standby.address_like(address), environment=storage)
            with clone:
                delete_account(signed_in(clone, "ada@example.org"))
                wait_for_diagnosis(CONTESTED, server)
                client.url = server.url
                assert download(client, picture) == DATA


@pytest.mark.thorough
def test_a_standby_that_lacks_commits(postgresql: PostgreSQL, tmp_path: Path) -> None:
    """A standby that lacks the latest renewal of the marker removes nothing."""
    storage = {"HESPER_ATTACHMENTS": str(tmp_path / "attachments")}
    with PostgreSQL() as primary, contextlib.closing(primary.standby()) as standby:
        address = primary.database()
        marker = tmp_path / "attachments/hesper-installation.json"
        with Server(database=address, environment=storage) as server:
            picture = attach(server.client(email="ada@example.org"), DATA)
            wait_for_diagnosis(OK, server)
            # A server with a read-only database does not change the marker.
            server.stop()
            standby.catch_up()
            before = marker.read_text()
            reading = f"{standby.address_like(address)}&target_session_attrs=any"
            with Server(database=reading, environment=storage) as reader:
                time.sleep(12)
                assert marker.read_text() == before
                assert OK in attachment_diagnosis(reader)
            # Replication ends, and the primary renews the marker.
            standby.sql("ALTER SYSTEM SET primary_conninfo = ''")
            standby.sql("SELECT pg_reload_conf()")
            time.sleep(1)
            server.start()
            wait_until(lambda: marker.read_text() != before)
            later = attach(signed_in(server, "ada@example.org"), DATA)
            server.stop()
            primary.kill()
            standby.control("promote")
            with Server(database=standby.address_like(address), environment=storage) as behind:
                client = signed_in(behind, "ada@example.org")
                wait_until(lambda: json.loads(marker.read_text())["contested"])
                assert client.delete(f"/v1/attachments/{picture}").status_code == 200
                time.sleep(12)
                files = {path.name[:36] for path in (tmp_path / "attachments").glob("*/*/*")}
                assert files == {picture, later}
                assert behind.command("adopt-attachments", "--yes").returncode == 0
                wait_for_diagnosis(OK, behind)


@pytest.mark.thorough
def test_a_synchronous_failover(postgresql: PostgreSQL, tmp_path: Path) -> None:
    storage = {"HESPER_ATTACHMENTS": str(tmp_path / "attachments")}
    with PostgreSQL() as primary, contextlib.closing(primary.standby()) as standby:
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        primary.sql("SELECT pg_reload_conf()")
        address = primary.database()
        with Server(database=address, environment=storage) as server:
            picture = attach(server.client(email="ada@example.org"), DATA)
            wait_for_diagnosis(OK, server)
            server.kill()
        primary.kill()
        standby.control("promote")
        with Server(database=standby.address_like(address), environment=storage) as server:
            assert OK in attachment_diagnosis(server)
            assert download(signed_in(server, "ada@example.org"), picture) == DATA
            assert "Unused attachments are not removed" not in server.log


@pytest.mark.thorough
def test_pg_upgrade(tmp_path: Path) -> None:
    """Upgrades to the same version, because only one is installed. The rows are those of the old cluster in any case."""
    storage = {"HESPER_ATTACHMENTS": str(tmp_path / "attachments")}
    with PostgreSQL() as old, PostgreSQL() as new:
        address = old.database()
        with Server(database=address, environment=storage) as server:
            picture = attach(server.client(email="ada@example.org"), DATA)
            wait_for_diagnosis(OK, server)
            server.stop()
            old.control("stop")
            new.control("stop")
            user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
            done = subprocess.run(
                [
                    programs() / "pg_upgrade", "-b", programs(), "-B", programs(), "-d", old.folder / "data",
                    "-D", new.folder / "data", "-p", str(old.port), "-P", str(new.port), "-U", "hesper",
                ],
                cwd=old.writable_folder(old.folder / "upgrade"), env=os.environ | {"PGPASSWORD": PASSWORD},
                capture_output=True, text=True, timeout=300, **user,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
            new.control("start")
            with Server(database=new.address_like(address), environment=storage) as upgraded:
                assert OK in attachment_diagnosis(upgraded)
                assert download(signed_in(upgraded, "ada@example.org"), picture) == DATA
                assert "Unused attachments are not removed" not in upgraded.log


@pytest.mark.thorough
def test_serving_continues_while_the_bucket_is_unavailable(seaweed: SeaweedFS, tmp_path: Path) -> None:
    environment = seaweed.environment()
    environment["HESPER_ATTACHMENTS"] += f"/{tmp_path.name}"
    with Server(environment=environment) as server:
        client = server.client()
        picture = attach(client, DATA)
        wait_for_diagnosis(OK, server)
        server.stop()
        seaweed.stop()
        try:
            server.start()
            assert client.get("/v1/account", timeout=60).status_code == 200
            assert "Cannot read the marker of the attachments; no attachments are removed until it can be read" in server.log
        finally:
            assert seaweed.start()
        wait_for_diagnosis(OK, server)
        assert download(client, picture) == DATA
