"""Event streams (protocol.md, Events): content, start position, and when a stream ends."""

import json
import time

import pytest
import requests
from client import PASSWORD, Client, Server
from database import Backup, query
from events import Events
from writer import Writer, new_id

pytestmark = [pytest.mark.both_stores, pytest.mark.long]

EMPTY = {"notes": [], "tags": [], "attachments": [], "objects": [], "deletedObjects": []}


@pytest.fixture
def other(client: Client) -> Client:
    """Another device of the client's account."""
    return client.another_device()


def make(client: Client, text: str = "Milk") -> str:
    answer = client.post("/v1/notes", {"text": text})
    assert answer.status_code == 201, answer.text
    return answer.json()["uniqueID"]


def ids(event) -> list[str]:
    return [note["uniqueID"] for note in event.data["changes"]["notes"]]


def token(client: Client) -> str:
    return client.read_all()[1]["syncToken"]


# Content


def test_responses_must_not_be_cached_or_buffered(client):
    with Events(client) as stream:
        assert stream.status == 200
        assert stream.headers["content-type"] == "text/event-stream"
        assert stream.headers["cache-control"] == "no-store, no-transform"
        assert stream.headers["x-accel-buffering"] == "no"
        assert "x-request-id" in stream.headers and "content-encoding" not in stream.headers


def test_a_stream_without_a_token_starts_from_now(client, other):
    make(client, "before")
    expected = client.sync(since=token(client))
    with Events(other) as stream:
        first = stream.next()
        assert (first.name, first.data["changes"], first.data["hasMore"]) == ("changes", EMPTY, False)
        assert first.id == first.data["syncToken"] == expected["syncToken"]
        assert first.data["digest"] == expected["digest"]
        second = stream.next()
        assert (second.name, second.data, second.id) == ("listeners", {"listeners": 0}, None)
        note = make(client, "after")
        assert ids(stream.next()) == [note]


def test_an_event_equals_a_page_of_changes(client, other):
    since = token(client)
    with Events(other, since=since) as stream:
        writer = Writer(client)
        tag = writer.tag("Paris")
        writer.push(tags=[tag], notes=[writer.note(text="Milk", tags={tag["uniqueID"]: True}, attributes={"a": 1})])
        event = stream.changes()
        page = other.get("/v1/changes", params={"since": since}).json()
        assert event.id == event.data["syncToken"] == page["syncToken"]
        assert set(event.data) == set(page)
        assert {**event.data, "serverClock": ""} == {**page, "serverClock": ""}
        # Its ID is valid as a sync token.
        assert other.sync(since=event.id)["changes"] == EMPTY


def test_every_commit_causes_an_event_also_for_its_own_device(client):
    with Events(client) as stream:
        stream.changes()
        for text in ("one", "two", "three"):
            note = make(client, text)
            assert ids(stream.changes()) == [note]


def test_every_kind_of_write_causes_an_event(client, other):
    with Events(other) as stream:
        stream.changes()
        note = make(client)
        stream.changes()
        client.patch(f"/v1/notes/{note}", {"text": "Bread"})
        assert stream.changes().data["changes"]["notes"][0]["text"] == "Bread"
        client.put(f"/v1/tags/{new_id()}", {"name": "Paris"})
        assert stream.changes().data["changes"]["tags"][0]["name"] == "Paris"
        client.post("/v1/objects", {"objectType": "board", "attributes": {"x": 1}})
        assert stream.changes().data["changes"]["objects"][0]["objectType"] == "board"
        attachment = new_id()
        client.put(f"/v1/attachments/{attachment}/data", data=b"bytes")
        client.put(f"/v1/attachments/{attachment}", {"mimeType": "text/plain"})
        assert stream.changes().data["changes"]["attachments"][0]["byteCount"] == 5
        client.delete(f"/v1/notes/{note}")
        assert stream.changes().data["changes"]["deletedObjects"][0]["uniqueID"] == note
        client.post("/v1/deleted-objects", {"deletedObjects": [{"uniqueID": new_id(), "objectType": "note"}]})
        assert len(stream.changes().data["changes"]["deletedObjects"]) == 1


def test_requests_that_change_nothing_cause_no_event(client, other):
    note = make(client)
    with Events(other) as stream:
        stream.changes()
        assert client.put(f"/v1/notes/{note}", {"text": "Milk"}).status_code == 200
        client.put(f"/v1/attachments/{new_id()}/data", data=b"bytes without an attachment")
        assert stream.wait_for("listeners") and stream.next(1) is None


def test_events_do_not_reach_other_accounts(client, server):
    stranger = server.client()
    with Events(stranger) as stream:
        stream.wait_for("listeners")
        with Events(client) as own:
            own.changes()
            make(client)
            own.changes()
        assert stream.next(1) is None


# Start position


def test_changes_since_the_token_come_first(client, other):
    since = token(client)
    notes = [make(client, str(index)) for index in range(3)]
    with Events(other, since=since) as stream:
        assert ids(stream.next()) == notes
        assert stream.next().name == "listeners"
        notes = [make(client)]
        assert ids(stream.changes()) == notes


def test_no_event_without_changes(client):
    with Events(client, since=token(client)) as stream:
        assert stream.next().name == "listeners"
        assert stream.next(1) is None


def test_last_event_id_takes_precedence_over_since(client):
    since = token(client)
    first = make(client, "first")
    last = token(client)
    second = make(client, "second")
    with Events(client, since=since, last=last) as stream:
        assert ids(stream.changes()) == [second]
    with Events(client, since=since, last="") as stream:
        assert ids(stream.changes()) == [first, second]


def test_a_stream_resumes_where_another_ended(client):
    with Events(client) as stream:
        stream.changes()
        first = make(client, "first")
        assert ids(stream.changes()) == [first]
        last = stream.last
    second, third = make(client, "second"), make(client, "third")
    with Events(client, last=last) as stream:
        assert ids(stream.changes()) == [second, third]


def test_many_changes_come_in_pages(client, other):
    since = token(client)
    writer = Writer(client)
    text = "word " * 200
    for _ in range(4):
        writer.push(notes=[writer.note(text=text) for _ in range(400)])
    limit = 256 * 1024  # bytes of objects after which the page in an event ends
    expected = [note["uniqueID"] for note in client.get("/v1/changes", params={"since": since, "limit": 5000}).json()
                ["changes"]["notes"]]  # fmt: skip
    found, left, sizes = [], 1600, []
    with Events(other, since=since) as stream:
        while True:
            event = stream.changes()
            found += ids(event)
            sizes.append(sum(len(json.dumps(note, separators=(",", ":"))) for note in event.data["changes"]["notes"]))
            left -= len(event.data["changes"]["notes"])
            assert event.data["remaining"]["objects"] == left
            assert ("digest" in event.data) is not event.data["hasMore"]
            if not event.data["hasMore"]:
                break
    assert found == expected and len(sizes) > 2
    assert max(sizes) < limit + 4_000


@pytest.mark.parametrize("parameter", ["since", "last"])
@pytest.mark.parametrize(
    "given, pointer", [("nonsense", None), ("first", None), ("notes", None)], ids=["nonsense", "first sync", "notes"]
)
def test_tokens_of_unfinished_syncs_or_other_feeds_are_refused(client, parameter, given, pointer):
    for index in range(3):
        make(client, str(index))
    token = {
        "nonsense": "nonsense",
        "first": client.sync(limit=1)["syncToken"],
        "notes": client.get("/v1/notes").json()["syncToken"],
    }[given]
    with Events(client, **{parameter: token}) as stream:
        assert (stream.status, stream.body()["slug"]) == (422, "invalid-field")


@pytest.mark.parametrize("query", [{"ping": "0"}, {"ping": "x"}, {"closeAfter": "never"}, {"limit": "1"}])
def test_invalid_parameters_are_refused(client, query):
    answer = client.get("/v1/events", params=query)
    assert answer.status_code == 422
    assert answer.json()["pointer"] == next(iter(query))


def test_streams_require_authentication(server):
    answer = Client(server.url).get("/v1/events")
    assert (answer.status_code, answer.json()["slug"]) == (401, "unauthenticated")


def test_head(client):
    answer = client.request("HEAD", "/v1/events")
    assert (answer.status_code, answer.headers["Content-Type"], answer.content) == (200, "text/event-stream", b"")


# End


def test_a_token_of_another_installation_causes_an_expired_event(client, fresh_server):
    with Events(client, last=token(fresh_server.client())) as stream:
        event = stream.next()
        assert (event.name, event.data["slug"], event.data["status"]) == ("expired", "token-expired", 410)
        assert stream.ends() and not stream.is_cut
        head = client.request("HEAD", "/v1/events", headers={"Last-Event-ID": stream.last})
        assert (head.status_code, head.content) == (200, b"")


def test_a_token_of_a_replaced_database_causes_an_expired_event(fresh_server, tmp_path):
    client = fresh_server.client()
    fresh_server.stop()
    backup = Backup.make(fresh_server, tmp_path / "backup")
    fresh_server.start()
    client.url = fresh_server.url
    make(client)
    last = token(client)
    fresh_server.stop()
    backup.copy_back(fresh_server)
    fresh_server.start()
    client.url = fresh_server.url
    with Events(client, last=last) as stream:
        assert stream.next().name == "expired"
        assert stream.ends()


@pytest.mark.thorough_on_postgresql
def test_pings(client):
    with Events(client, ping="1") as stream:
        stream.changes()
        stream.wait_for("listeners")
        stream.pings = 0
        assert stream.next(4) is None
        assert 2 <= stream.pings <= 5


@pytest.mark.thorough_on_postgresql
def test_the_ping_interval_can_be_long(client):
    with Events(client, ping="1000000") as stream:
        stream.wait_for("listeners")
        assert stream.next(2) is None and stream.pings == 0


def test_close_after_changes(client):
    # Without a token, the stream ends immediately. Its event has a token for the next request.
    answer = client.get("/v1/events", params={"closeAfter": "changes"})
    last = answer.text.split("id: ")[1].split("\n")[0]
    with Events(client, since=last, closeAfter="changes") as stream:
        assert stream.next().name == "listeners"
        assert stream.next(1) is None and not stream.has_ended
        note = make(client)
        assert ids(stream.changes()) == [note]
        assert stream.ends() and not stream.is_cut


def test_the_connection_is_reusable_after_the_stream_ends(client):
    since = token(client)
    with requests.Session() as session:
        session.trust_env = False
        for index in range(20):
            make(client, str(index))
            answer = session.get(
                f"{client.url}/v1/events", params={"closeAfter": "changes", "since": since},
                headers={"Authorization": f"Bearer {client.token}"}, timeout=10,
            )  # fmt: skip
            since = answer.text.split("id: ")[1].split("\n")[0]


def test_a_stream_ends_when_its_device_signs_out(client, other):
    with Events(other) as stream, Events(client) as own:
        stream.changes()
        own.wait_for("listeners")
        assert client.delete(f"/v1/devices/{other.device['uniqueID']}").status_code == 204
        assert stream.ends(3) and not stream.is_cut
        assert own.wait_for("listeners").data == {"listeners": 0}


def test_a_new_password_ends_the_streams_of_other_devices(client, other):
    with Events(other) as stream, Events(client) as own:
        stream.changes()
        own.changes()
        answer = client.patch("/v1/account", {"currentPassword": PASSWORD, "newPassword": PASSWORD + "!"})
        assert answer.status_code == 200
        assert stream.ends(3)
        note = make(client)
        assert ids(own.changes()) == [note]


def test_streams_end_when_the_account_is_erased(client, other):
    with Events(other) as stream, Events(client) as own:
        stream.changes()
        own.changes()
        assert client.delete("/v1/account", json={"password": PASSWORD}).status_code == 204
        assert stream.ends(3) and own.ends(3)


def test_writes_of_other_processes_cause_events(fresh_server, tmp_path):
    client = fresh_server.client()
    (tmp_path / "note.md").write_text("# from a file\n")
    with Events(client) as stream:
        stream.changes()
        done = fresh_server.command("import", "--account", client.email, str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert stream.changes().data["changes"]["notes"][0]["text"] == "# from a file\n"
        (tmp_path / "password").write_text("another one 1\n")
        password = ("--password-file", str(tmp_path / "password"))
        done = fresh_server.command("account", "set-password", client.email, *password)
        assert done.returncode == 0, done.stderr
        assert stream.ends(3)


def test_shutdown_ends_streams_and_sets_the_retry_delay(fresh_server):
    client = fresh_server.client()
    streams = [Events(client) for _ in range(5)]
    for stream in streams:
        stream.changes()
    began = time.monotonic()
    assert fresh_server.stop() == 0
    assert time.monotonic() - began < 10
    for stream in streams:
        assert stream.ends(3) and not stream.is_cut
        assert 500 <= stream.retry <= 3000
    last = streams[0].last
    fresh_server.start()
    client.url = fresh_server.url
    note = make(client)
    with Events(client, last=last) as stream:
        assert ids(stream.changes()) == [note]


def test_the_oldest_stream_ends_when_a_device_opens_too_many(client, other):
    limit = client.get("/v1/server").json()["limits"]["deviceListeners"]
    with Events(other) as stream:
        stream.changes()
        assert stream.wait_for("listeners").data == {"listeners": 0}
        streams = [Events(client) for _ in range(limit)]
        for each in streams:
            each.changes()
        with Events(client) as one_more:
            one_more.changes()
            assert streams[0].ends(3) and not streams[0].is_cut
            assert streams[0].retry == 60_000, "without a delay, its reconnection would end another stream"
            assert not any(each.ends(0.1) for each in streams[1:])
            assert stream.wait_for("listeners").data == {"listeners": 1}, "a device counts once, regardless of its streams"
        for each in streams:
            each.close()


# Slow readers


@pytest.mark.thorough_on_postgresql
def test_commits_are_combined_for_a_slow_reader(client, other):
    """A reader that pauses receives fewer events than commits, but all changes."""
    writer = Writer(client)
    with Events(other, buffer=4096) as stream:
        stream.changes()
        pushed = [writer.note(text="x" * 200_000) for _ in range(60)]
        for note in pushed:
            writer.push(notes=[note])
        found, events = [], 0
        while len(found) < len(pushed):
            found += ids(stream.changes())
            events += 1
    assert found == [note["uniqueID"] for note in pushed]
    assert events < len(pushed)


@pytest.mark.thorough
def test_a_reader_that_stops_does_not_increase_memory(fresh_server):
    def memory() -> int:
        with open(f"/proc/{fresh_server.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) >> 10

    client = fresh_server.client()
    other = client.another_device()
    writer = Writer(client)

    def push(count: int) -> None:
        for _ in range(count):
            writer.push(notes=[writer.note(text="x" * 500_000)])

    push(40)
    with Events(other, buffer=4096) as stream:
        stream.changes()
        push(10)
        before = memory()
        push(300)  # 150 MB
        grown = memory() - before
        print(f"{grown} MiB")
        # Each thread that processes a push keeps some memory. With PostgreSQL there are sixteen threads.
        assert grown < 110, "MiB"
        other.post("/v1/ephemeral", {"uniqueID": new_id(), "data": {}})
        stream.close()


# The device's read position, for thinning


def test_sent_events_update_the_read_position(fresh_server):
    client = fresh_server.client()
    other = client.another_device()

    def read_sequence() -> int | None:
        [[sequence]] = query(
            fresh_server,
            f"SELECT read_sequence FROM devices WHERE node = x'{other.device['uniqueID']}'",
            f"SELECT read_sequence FROM devices WHERE node = '\\x{other.device['uniqueID']}'",
        )
        return int(sequence) if sequence else None

    make(client)
    with Events(other) as stream:
        stream.changes()
        for _ in range(3):
            make(client)
            stream.changes()
    for _ in range(100):
        if read_sequence() == 4:
            break
        time.sleep(0.05)
    assert read_sequence() == 4


def test_streams_work_with_fetch_from_another_origin(client, server: Server):
    answer = client.request(
        "OPTIONS", "/v1/events", headers={
            "Origin": "http://localhost:5173", "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "authorization, last-event-id",
        },
    )  # fmt: skip
    assert "last-event-id" in answer.headers["Access-Control-Allow-Headers"].lower()
