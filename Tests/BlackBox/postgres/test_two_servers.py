"""Two servers on one database: events of one reach clients of the other (protocol.md, Events)."""

import io
import time
import uuid
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import pytest
from client import Client, ErrorResponse, Server
from device import Device
from events import Events
from follower import Follower
from postgres import PostgreSQL, name_in
from waiting import wait_until

NOTE = "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"


@dataclass
class Pair:
    """Two devices of one account: `desk` uses the server `here`, `phone` the server `there`."""

    here: Server
    there: Server
    desk: Client
    phone: Client
    postgresql: PostgreSQL


@contextmanager
def two_servers(postgresql: PostgreSQL) -> Iterator[tuple[Server, Server]]:
    address = postgresql.database()
    with Server(database=address) as here, Server(database=address) as there:
        yield here, there
    postgresql.drop(address)


@pytest.fixture(scope="module")
def servers(postgresql) -> Iterator[tuple[Server, Server]]:
    """Two servers shared by tests that do not stop them."""
    with two_servers(postgresql) as pair:
        yield pair


@pytest.fixture
def pair(servers, postgresql) -> Pair:
    return make_pair(*servers, postgresql)


@pytest.fixture
def fresh_pair(postgresql) -> Iterator[Pair]:
    with two_servers(postgresql) as servers:
        yield make_pair(*servers, postgresql)


def make_pair(here: Server, there: Server, postgresql: PostgreSQL) -> Pair:
    desk = here.client(device_name="desk")
    return Pair(
        here, there, desk, on_server(desk.another_device("phone"), there), postgresql
    )


def on_server(client: Client, server: Server) -> Client:
    """The same device as a client of another server."""
    same = Client(server.url, client.token)
    same.email, same.password, same.device = (
        client.email,
        client.password,
        client.device,
    )
    return same


def send(client: Client, **data) -> int:
    """Sends an ephemeral message. Returns the number of listeners."""
    answer = client.post("/v1/ephemeral", {"uniqueID": NOTE, "data": data})
    assert answer.status_code == 200, answer.text
    return answer.json()["listeners"]


def listening(stream: Events, count: int, seconds: float = 60) -> None:
    """Waits until a stream reports this number of other listening devices."""
    while stream.wait_for("listeners", seconds).data != {"listeners": count}:
        pass


def test_changes_come_live_in_both_directions(pair):
    desk, phone = Device(pair.desk), Device(pair.phone)
    with Events(pair.desk) as here, Events(pair.phone) as there:
        here.changes()
        there.changes()
        waits = []
        for round in range(20):
            writer, listener = ((desk, there), (phone, here))[round % 2]
            text = f"Milk {round}"
            start = time.monotonic()
            writer.make_note(text)
            writer.sync()
            while text not in [
                note["text"]
                for note in listener.changes().data["changes"].get("notes", [])
            ]:
                pass
            waits.append(time.monotonic() - start)
        # Changes arrive by signals, not only by the poll every five seconds.
        assert sorted(waits)[len(waits) // 2] < 1, waits


def test_messages_are_delivered_in_order_and_listeners_are_counted(pair):
    laptop = on_server(pair.desk.another_device("laptop"), pair.there)
    assert send(pair.desk) == 0
    with Events(pair.desk) as here, Events(pair.phone) as there:
        listening(here, 1)
        listening(there, 1)
        assert send(pair.desk) == send(pair.phone) == 1
        # A device with streams on both servers counts once.
        with Events(on_server(pair.phone, pair.here)) as again:
            listening(again, 1)
            assert send(laptop) == 2
            with Events(laptop) as third:
                for stream in (here, there, third):
                    listening(stream, 2)
                for index in range(40):
                    assert send(pair.desk, index=index, text="é\n") == 2
                for stream in (there, again, third):
                    received = []
                    while len(received) < 40:
                        event = stream.wait_for("ephemeral")
                        if "index" in event.data["data"]:
                            assert event.data["device"] == {
                                "uniqueID": pair.desk.device["uniqueID"], "name": "desk",
                            }  # fmt: skip
                            received.append(event.data["data"]["index"])
                    assert received == list(range(40))
            listening(here, 1)
    wait_until(lambda: send(laptop) == 0)


def test_the_longest_message_is_delivered(pair):
    device = pair.desk.another_device("\x01" * 100)
    with Events(pair.phone) as there:
        listening(there, 0)
        deadline = time.monotonic() + 10
        while (
            not (count := send(device, text="é" * 2000)) and time.monotonic() < deadline
        ):
            time.sleep(0.05)
        assert count == 1
        assert there.wait_for("ephemeral").data["data"] == {"text": "é" * 2000}


def test_signing_out_ends_streams_on_the_other_server(pair):
    with Events(pair.phone) as there, Events(pair.desk) as here:
        there.changes()
        listening(here, 1)
        start = time.monotonic()
        assert (
            pair.desk.delete(f"/v1/devices/{pair.phone.device['uniqueID']}").status_code
            == 204
        )
        assert there.ends()
        assert time.monotonic() - start < 10
        assert pair.phone.get("/v1/account").status_code == 401
        listening(here, 0)
        assert here.next(0.5) is None and not here.has_ended


def test_an_erased_account_ends_streams_on_the_other_server(pair):
    with Events(pair.phone) as there:
        there.changes()
        assert (
            pair.desk.delete(
                "/v1/account", json={"password": pair.desk.password}
            ).status_code
            == 204
        )
        assert there.ends(3)


def test_commands_cause_events_on_both_servers(pair, tmp_path):
    """They arrive immediately, not only by the poll every five seconds."""
    command = pair.here.command
    with Events(pair.desk) as here, Events(pair.phone) as there:
        for stream in (here, there):
            stream.changes()
        for round in range(3):
            (tmp_path / "note.md").write_text(f"# Milk {round}\n")
            done = command("import", "--account", pair.desk.email, str(tmp_path))
            assert done.returncode == 0, done.stderr
            for stream in (here, there):
                assert stream.changes(2).data["changes"]["notes"][0]["text"] == f"# Milk {round}\n"
        done = command("account", "set-password", pair.desk.email, input="another one\n")
        assert done.returncode == 0, done.stderr
        assert here.ends(2) and there.ends(2)
    again = Client(pair.there.url)
    again.sign_in(pair.desk.email, "another one")
    with Events(again) as stream:
        stream.changes()
        assert command("account", "delete", pair.desk.email, "--yes").returncode == 0
        assert stream.ends(2)


def test_one_server_is_killed_and_the_other_continues(fresh_pair):
    """Its acknowledged changes are kept. EventHubServersTests.swift tests that its listeners expire after a minute."""
    pair = fresh_pair
    desk = Device(pair.desk)
    with Events(pair.desk) as here, Events(pair.phone) as there:
        listening(here, 1)
        there.changes()
        phone = Device(pair.phone)
        note = phone.make_note("Milk")
        phone.sync()
        pair.there.kill()
        desk.sync()
        assert desk.copy.objects[note].value("text") == "Milk"
        desk.write(note, "Milk\nBread")
        desk.sync()
        text = None
        while text != "Milk\nBread":
            text = (
                here.changes().data["changes"].get("notes", [{"text": None}])[0]["text"]
            )
    # The killed server is started again.
    pair.there.start()
    with Events(pair.desk) as here, Events(on_server(pair.phone, pair.there)) as there:
        listening(here, 1)
        listening(there, 1)


def test_no_change_is_missed_when_connections_are_terminated(fresh_pair, seed, everything):
    """All database connections are terminated repeatedly while both servers are written to. Readers receive all changes."""
    random = Random(seed)
    pair = fresh_pair
    database = name_in(pair.here.database)
    writers = [Device(pair.desk), Device(pair.phone)]
    readers = [
        Follower(on_server(pair.desk.another_device("reader"), server), Random(random.random()))
        for server in (pair.here, pair.there)
    ]
    for reader in readers:
        reader.start()
    notes = []
    for round in range(60 if everything else 20):
        if round % 10 == 5:
            pair.postgresql.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")
        writer = random.choice(writers)
        notes.append(writer.make_note(f"Note {round}"))
        while writer.has_unsent:
            try:
                writer.sync()
            except ErrorResponse as refusal:
                assert refusal.slug == "unavailable"
                time.sleep(0.2)
    writers[0].sync()
    for reader in readers:
        reader.finish(writers[0])
        assert set(reader.copy.objects) == set(notes)


def test_one_idempotency_key_on_two_servers_creates_one_object(pair):
    """Requests at the same moment, and a retry that the other server gets."""
    for count in range(1, 11):
        headers, body = {"Idempotency-Key": str(uuid.uuid4())}, {"text": f"note {count}"}

        def ask(client: Client, headers=headers, body=body):
            # A session has a connection of its own for each server.
            return Client(client.url, client.token).post("/v1/notes", body, headers=headers)

        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(ask, [pair.desk, pair.phone] * 3))
        # On one server, a second request is told to wait; on the other, it waits for the first.
        assert {answer.status_code for answer in answers} <= {201, 409}
        answers = [answer for answer in answers if answer.status_code == 201]
        answers += [ask(client) for client in (pair.desk, pair.phone)]
        assert len({(answer.headers["Location"], answer.headers["ETag"]) for answer in answers}) == 1
        assert sum("Idempotency-Replayed" not in answer.headers for answer in answers) == 1
        assert ask(pair.phone, body={"text": "another"}).json()["slug"] == "idempotency-key-reused"
        assert len(pair.desk.read_all()[0]["notes"]) == count


def import_of(count: int) -> bytes:
    """A zip of this number of notes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(count):
            archive.writestr(f"Notes/{number}.md", f"Note {number}")
    return buffer.getvalue()


def append_part(client: Client, path: str, data: bytes, at: int, is_last: bool) -> None:
    headers = {"Content-Type": "application/partial-upload", "Upload-Offset": str(at), "Upload-Complete": f"?{int(is_last)}"}
    assert client.patch(f"{path}/data", data=data, headers=headers).status_code == (200 if is_last else 204)


def wait_for_import(client: Client, path: str, state: str) -> dict:
    end = time.monotonic() + 90
    while (found := client.get(path).json())["state"] != state:
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


def begin_import(pair: Pair, data: bytes) -> str:
    """Uploads a file, one half to each server, and waits until it has been read."""
    path = pair.desk.post("/v1/imports", {"name": "Notes.zip", "byteCount": len(data)}).headers["Location"]
    half = len(data) // 2
    append_part(pair.desk, path, data[:half], 0, is_last=False)
    assert pair.phone.request("HEAD", f"{path}/data").headers["Upload-Offset"] == str(half)
    append_part(pair.phone, path, data[half:], half, is_last=True)
    assert wait_for_import(pair.desk, path, "ready")["preview"]["notes"] > 0
    return path


def test_an_import_on_two_servers(pair):
    with Events(pair.phone) as stream:
        listening(stream, 0)
        path = begin_import(pair, import_of(3))
        assert pair.desk.post(f"{path}/start").status_code == 202
        while stream.wait_for("import").data["state"] != "done":
            pass
    assert wait_for_import(pair.phone, path, "done")["report"]["new"] == 3


@pytest.mark.thorough
def test_another_server_continues_an_import(fresh_pair):
    pair = fresh_pair
    path = begin_import(pair, import_of(5_000))
    assert pair.desk.post(f"{path}/start").status_code == 202
    while not pair.desk.get("/v1/notes", params={"limit": 1}).json()["notes"]:
        pass
    pair.here.kill()
    report = wait_for_import(pair.phone, path, "done")["report"]
    assert report["new"] + report["unchanged"] == 5_000
    assert report["unchanged"] > 0
    assert len(pair.phone.read_all()[0]["notes"]) == 5_000
