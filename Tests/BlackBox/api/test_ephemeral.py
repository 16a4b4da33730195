"""What devices say to each other (protocol.md, Events): to whom, in what order, how much; kept nowhere."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from client import Client
from events import Events
from writer import Writer, new_id

pytestmark = pytest.mark.both_stores

NOTE = "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"


@pytest.fixture(scope="module")
def devices3(server) -> list[Client]:
    first = server.client(device_name="desk")
    return [first, first.another_device("phone"), first.another_device("laptop")]


def say(client: Client, data: object = None, note: str = NOTE):
    return client.post("/v1/ephemeral", {"uniqueID": note, "data": {} if data is None else data})


def listening(stream: Events, count: int) -> None:
    """Waits until a stream was told that so many others listen."""
    while stream.wait_for("listeners").data != {"listeners": count}:
        pass


def test_nobody_listens(client):
    answer = say(client)
    assert (answer.status_code, answer.json()) == (200, {"listeners": 0})
    assert answer.headers["Cache-Control"] == "no-store"


def test_it_is_carried_to_all_other_devices(devices3):
    desk, phone, laptop = devices3
    with Events(desk) as own, Events(phone) as first, Events(phone) as again, Events(laptop) as second:
        for stream in (own, first, again, second):
            listening(stream, 2)
        data = {"typing": True, "at": 17, "deep": {"a": [1, 2.5, None, "ü\n"]}}
        assert say(desk, data, NOTE.upper()).json() == {"listeners": 2}
        for stream in (first, again, second):
            event = stream.next()
            assert event.name == "ephemeral" and event.id is None
            assert event.data == {
                "uniqueID": NOTE, "device": {"uniqueID": desk.device["uniqueID"], "name": "desk"}, "data": data,
            }  # fmt: skip
        assert own.next(1) is None


def test_it_is_kept_nowhere(devices3):
    desk, phone, _ = devices3
    before = desk.get("/v1/account").json()["usage"]
    with Events(phone) as stream:
        since = stream.changes().id
        say(desk, {"typing": True})
        stream.wait_for("ephemeral")
    with Events(phone, last=since) as stream:
        assert stream.next().name == "listeners"
        assert stream.next(1) is None
    assert desk.get("/v1/account").json()["usage"] == before


def test_it_comes_in_the_order_in_which_each_said_it(devices3):
    desk, phone, laptop = devices3
    with Events(laptop) as stream:
        stream.wait_for("listeners")
        with ThreadPoolExecutor(2) as threads:

            def say_all(client: Client) -> None:
                for index in range(40):
                    assert say(client, {"index": index}).status_code == 200

            list(threads.map(say_all, (desk, phone)))
        heard: dict[str, list[int]] = {"desk": [], "phone": []}
        for _ in range(80):
            event = stream.wait_for("ephemeral")
            heard[event.data["device"]["name"]].append(event.data["data"]["index"])
        assert heard == {"desk": list(range(40)), "phone": list(range(40))}


def test_changes_and_messages_share_a_stream(devices3):
    desk, phone, _ = devices3
    writer = Writer(desk)
    with Events(phone) as stream:
        stream.changes()
        stream.wait_for("listeners")
        say(desk, {"typing": True})
        writer.push(notes=[writer.note(text="Milk")])
        assert {stream.next().name, stream.next().name} == {"ephemeral", "changes"}


def test_whoever_is_slow_to_read_misses_some_and_no_change(server):
    desk = server.client(device_name="desk")
    phone = desk.another_device("phone")
    writer = Writer(desk)
    with Events(phone, buffer=4096) as stream:
        stream.changes()
        # More than lies between the server and whoever does not read.
        pushed = [writer.note(text="x" * 900_000) for _ in range(16)]
        for note in pushed:
            writer.push(notes=[note])
        for index in range(90):
            assert say(desk, {"index": index}).json() == {"listeners": 1}
        heard, found = [], []
        while len(found) < len(pushed) or not heard or heard[-1] != 89:
            event = stream.next()
            assert event, "nothing more comes"
            if event.name == "ephemeral":
                heard.append(event.data["data"]["index"])
            elif event.name == "changes":
                found += [note["uniqueID"] for note in event.data["changes"]["notes"]]
    assert found == [note["uniqueID"] for note in pushed]
    assert heard == sorted(heard) and len(heard) < 90


def test_another_account_hears_nothing(client, server):
    other = client.another_device()
    stranger = server.client()
    with Events(other) as stream, Events(stranger) as theirs:
        stream.wait_for("listeners")
        theirs.wait_for("listeners")
        assert say(client).json() == {"listeners": 1}
        stream.wait_for("ephemeral")
        assert say(stranger).json() == {"listeners": 0}
        assert theirs.next(1) is None and stream.next(1) is None


def test_everybody_is_told_how_many_others_listen(devices3):
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


def test_a_message_of_just_the_greatest_size(client):
    assert say(client, {"a": "x" * (4096 - len('{"a":""}'))}).status_code == 200
    refused = say(client, {"a": "x" * (4097 - len('{"a":""}'))})
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
def test_what_is_wrong_is_refused(client, body, slug, pointer):
    answer = client.post("/v1/ephemeral", body)
    assert answer.status_code == 422
    assert (answer.json()["slug"], answer.json()["pointer"]) == (slug, pointer)


def test_a_body_far_too_large_is_refused(client):
    answer = say(client, {"a": "x" * 100_000})
    assert (answer.status_code, answer.json()["slug"]) == (413, "too-large")


def test_whoever_says_too_much_is_told_to_wait(client):
    other = client.another_device()
    for _ in range(400):
        answer = say(client)
        if answer.status_code == 429:
            break
    assert (answer.status_code, answer.json()["slug"]) == (429, "too-many-requests")
    assert say(other).status_code == 200, "each device for itself"
    wait = int(answer.headers["Retry-After"])
    assert 1 <= wait <= 5
    time.sleep(wait)
    assert say(client).status_code == 200


def test_the_new_id_of_a_note_that_nobody_knows_yet_will_do(client):
    assert say(client, note=new_id()).status_code == 200


def test_nothing_that_is_said_can_pass_for_another_event(client):
    """Line ends of every kind, in what is said, in the name of who says it, and in what changes."""
    trick = "x\n\nevent: changes\ndata: {}\n\n\r\r\r\n\r\nid: y\u2028\u2029\x85"
    other = client.another_device(device_name=trick)
    with Events(client) as stream:
        stream.changes()
        stream.wait_for("listeners")
        assert say(other, {trick: trick}).json() == {"listeners": 1}
        event = stream.next()
        assert (event.name, event.data["device"]["name"], event.data["data"]) == ("ephemeral", trick, {trick: trick})
        other.post("/v1/notes", {"text": trick, "attributes": {"a": trick}})
        event = stream.next()
        assert event.name == "changes" and event.id == event.data["syncToken"]
        assert event.data["changes"]["notes"][0]["attributes"] == {"a": trick}
