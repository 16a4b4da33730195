"""Ephemeral messages between devices (protocol.md, Events): recipients, order and limits. They are not stored."""

import contextlib
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from client import Client
from events import Events
from wire import Wire
from writer import Writer, new_id

pytestmark = pytest.mark.both_stores

NOTE = "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"


@pytest.fixture(scope="module")
def devices3(server) -> list[Client]:
    first = server.client(device_name="desk")
    return [first, first.another_device("phone"), first.another_device("laptop")]


def send(client: Client, data: object = None, note: str = NOTE):
    return client.post("/v1/ephemeral", {"uniqueID": note, "data": {} if data is None else data})


def listening(stream: Events, count: int) -> None:
    """Waits until a stream reports this number of other listening devices."""
    while stream.wait_for("listeners").data != {"listeners": count}:
        pass


def test_without_listeners(client):
    answer = send(client)
    assert (answer.status_code, answer.json()) == (200, {"listeners": 0})
    assert answer.headers["Cache-Control"] == "no-store"


def test_messages_reach_all_other_devices(devices3):
    desk, phone, laptop = devices3
    with Events(desk) as own, Events(phone) as first, Events(phone) as again, Events(laptop) as second:
        for stream in (own, first, again, second):
            listening(stream, 2)
        data = {"typing": True, "at": 17, "deep": {"a": [1, 2.5, None, "ü\n"]}}
        assert send(desk, data, NOTE.upper()).json() == {"listeners": 2}
        for stream in (first, again, second):
            event = stream.next()
            assert event.name == "ephemeral" and event.id is None
            assert event.data == {
                "uniqueID": NOTE, "device": {"uniqueID": desk.device["uniqueID"], "name": "desk"}, "data": data,
            }  # fmt: skip
        assert own.next(1) is None


def test_messages_are_not_stored(devices3):
    desk, phone, _ = devices3
    before = desk.get("/v1/account").json()["usage"]
    with Events(phone) as stream:
        since = stream.changes().id
        send(desk, {"typing": True})
        stream.wait_for("ephemeral")
    with Events(phone, last=since) as stream:
        assert stream.next().name == "listeners"
        assert stream.next(1) is None
    assert desk.get("/v1/account").json()["usage"] == before


def test_messages_of_a_device_arrive_in_order(devices3):
    desk, phone, laptop = devices3
    with Events(laptop) as stream:
        stream.wait_for("listeners")
        with ThreadPoolExecutor(2) as threads:

            def send_all(client: Client) -> None:
                for index in range(40):
                    assert send(client, {"index": index}).status_code == 200

            list(threads.map(send_all, (desk, phone)))
        received: dict[str, list[int]] = {"desk": [], "phone": []}
        for _ in range(80):
            event = stream.wait_for("ephemeral")
            received[event.data["device"]["name"]].append(event.data["data"]["index"])
        assert received == {"desk": list(range(40)), "phone": list(range(40))}


def test_changes_and_messages_share_a_stream(devices3):
    desk, phone, _ = devices3
    writer = Writer(desk)
    with Events(phone) as stream:
        stream.changes()
        stream.wait_for("listeners")
        send(desk, {"typing": True})
        writer.push(notes=[writer.note(text="Milk")])
        assert {stream.next().name, stream.next().name} == {"ephemeral", "changes"}


@pytest.mark.thorough_on_postgresql
def test_slow_readers_miss_messages_but_no_changes(server):
    desk = server.client(device_name="desk")
    phone = desk.another_device("phone")
    writer = Writer(desk)
    with Events(phone, buffer=4096) as stream:
        stream.changes()
        # More data than the buffers between the server and a client that does not read can hold.
        pushed = [writer.note(text="x" * 900_000) for _ in range(16)]
        for note in pushed:
            writer.push(notes=[note])
        for index in range(90):
            assert send(desk, {"index": index}).json() == {"listeners": 1}
        received, found = [], []
        while len(found) < len(pushed) or not received or received[-1] != 89:
            event = stream.next()
            assert event, "no event was received"
            if event.name == "ephemeral":
                received.append(event.data["data"]["index"])
            elif event.name == "changes":
                found += [note["uniqueID"] for note in event.data["changes"]["notes"]]
    assert found == [note["uniqueID"] for note in pushed]
    assert received == sorted(received) and len(received) < 90


def test_messages_do_not_reach_other_accounts(client, server):
    other = client.another_device()
    stranger = server.client()
    with Events(other) as stream, Events(stranger) as theirs:
        stream.wait_for("listeners")
        theirs.wait_for("listeners")
        assert send(client).json() == {"listeners": 1}
        stream.wait_for("ephemeral")
        assert send(stranger).json() == {"listeners": 0}
        assert theirs.next(1) is None and stream.next(1) is None


def test_streams_report_the_number_of_other_listeners(devices3):
    desk, phone, laptop = devices3
    with Events(desk) as stream:
        assert stream.wait_for("listeners").data == {"listeners": 0}
        with Events(phone) as second:
            assert second.wait_for("listeners").data == {"listeners": 1}
            assert stream.wait_for("listeners").data == {"listeners": 1}
            with Events(laptop), Events(phone) as again:
                assert again.wait_for("listeners").data == {"listeners": 2}
                assert stream.wait_for("listeners").data == {"listeners": 2}
                assert second.wait_for("listeners").data == {"listeners": 2}
            assert stream.wait_for("listeners").data == {"listeners": 1}
        assert stream.wait_for("listeners").data == {"listeners": 0}


def test_a_message_of_the_maximum_size(client):
    assert send(client, {"a": "x" * (4096 - len('{"a":""}'))}).status_code == 200
    refused = send(client, {"a": "x" * (4097 - len('{"a":""}'))})
    assert (refused.status_code, refused.json()["slug"], refused.json()["pointer"], refused.json()["limit"]) == (
        422, "invalid-field", "/data", 4096,
    )  # fmt: skip


@pytest.mark.parametrize(
    "body, slug, pointer",
    [
        ({"data": {}}, "invalid-field", "/uniqueID"),
        ({"uniqueID": "x", "data": {}}, "invalid-field", "/uniqueID"),
        ({"uniqueID": NOTE}, "invalid-field", "/data"),
        ({"uniqueID": NOTE, "data": "typing"}, "invalid-field", "/data"),
        ({"uniqueID": NOTE, "data": [1]}, "invalid-field", "/data"),
        ({"uniqueID": NOTE, "data": None}, "invalid-field", "/data"),
        ({"uniqueID": NOTE, "data": {}, "to": "phone"}, "unknown-field", "/to"),
        ([], "invalid-field", ""),
    ],
)
def test_invalid_messages_are_refused(client, body, slug, pointer):
    answer = client.post("/v1/ephemeral", body)
    assert answer.status_code == 422
    assert (answer.json()["slug"], answer.json()["pointer"]) == (slug, pointer)


def test_a_body_over_the_limit_is_refused(client):
    answer = send(client, {"a": "x" * 100_000})
    assert (answer.status_code, answer.json()["slug"]) == (413, "too-large")


def test_rate_limit(client, server):
    other = client.another_device()
    body = json.dumps({"uniqueID": NOTE, "data": {}}).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    refused = None
    with contextlib.ExitStack() as stack:
        # Several at a time, because 20 more messages per second are allowed, and a slow machine sends hardly more one by one.
        wires = [stack.enter_context(Wire(server.port, client.token)) for _ in range(20)]
        for _ in range(20):
            for wire in wires:
                wire.send_head("POST", "/v1/ephemeral", headers)
                wire.send(body)
            answers = [wire.response() for wire in wires]
            if refused := next((answer for answer in answers if answer.status == 429), None):
                break
    assert refused and json.loads(refused.body)["slug"] == "too-many-requests"
    assert send(other).status_code == 200, "the limit applies to each device"
    wait = int(refused.headers["retry-after"])
    assert 1 <= wait <= 5
    time.sleep(wait)
    assert send(client).status_code == 200


def test_the_id_of_an_unknown_note_is_accepted(client):
    assert send(client, note=new_id()).status_code == 200


def test_line_ends_cannot_forge_events(client):
    """Line ends of every kind, in the message, the device's name and a changed note."""
    trick = "x\n\nevent: changes\ndata: {}\n\n\r\r\r\n\r\nid: y\u2028\u2029\x85"
    other = client.another_device(device_name=trick)
    with Events(client) as stream:
        stream.changes()
        stream.wait_for("listeners")
        assert send(other, {trick: trick}).json() == {"listeners": 1}
        event = stream.next()
        assert (event.name, event.data["device"]["name"], event.data["data"]) == ("ephemeral", trick, {trick: trick})
        other.post("/v1/notes", {"text": trick, "attributes": {"a": trick}})
        event = stream.next()
        assert event.name == "changes" and event.id == event.data["syncToken"]
        assert event.data["changes"]["notes"][0]["attributes"] == {"a": trick}
