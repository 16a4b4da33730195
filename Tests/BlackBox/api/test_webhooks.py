"""Webhooks: events, signatures, failures, pauses, limits, and receivers that attack (protocol.md, Webhooks)."""

import re
import time
import uuid
from collections.abc import Iterator

import pytest
from client import Client, Server
from database import query
from receiver import ALLOWED, Receiver
from rows import DATE, check_holds, check_problem
from waiting import wait_until

pytestmark = pytest.mark.both_stores

NOTES = ["note.created", "note.changed", "note.deleted"]
TAGS = ["tag.created", "tag.changed", "tag.deleted"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(environment=ALLOWED) as running:
        yield running


@pytest.fixture(scope="module")
def shared(server: Server) -> Client:
    """An account for tests that need no account of their own."""
    return server.client()


def hook(client: Client, url: str, events: list[str] = NOTES + TAGS, **fields: str) -> dict:
    response = client.post("/v1/webhooks", {"url": url, "events": events} | fields)
    assert response.status_code == 201, response.text
    return response.json()


def note(client: Client, **fields) -> str:
    return client.post("/v1/notes", {"text": "Milk"} | fields).json()["uniqueID"]


def deliveries(client: Client, webhook: dict) -> list[dict]:
    return client.get(f"/v1/webhooks/{webhook['uniqueID']}/deliveries").json()["deliveries"]


# MARK: Events


def test_events_of_notes_and_tags(server: Server) -> None:
    client = server.client()
    before = note(client)
    with Receiver() as receiver:
        made = hook(client, receiver.url + "/hook?key=1")
        new = note(client)
        receiver.wait(1)
        client.patch(f"/v1/notes/{new}", {"text": "Bread"})
        receiver.wait(2)
        # The second change within a minute is held, without holding up other events.
        client.patch(f"/v1/notes/{new}", {"text": "Wine"})
        tag = client.post("/v1/tags", {"name": "Shopping"}).json()["uniqueID"]
        receiver.wait(3)
        client.patch(f"/v1/tags/{tag}", {"name": "Groceries"})
        receiver.wait(4)
        client.delete(f"/v1/tags/{tag}")
        receiver.wait(5)
        client.patch(f"/v1/notes/{before}", {"archived": True})
        receiver.wait(6)
        client.delete(f"/v1/notes/{new}")
        events = receiver.wait(7)
        assert receiver.summary == [
            ("note.created", new), ("note.changed", new), ("tag.created", tag), ("tag.changed", tag), ("tag.deleted", tag),
            ("note.changed", before), ("note.deleted", new),
        ]  # fmt: skip
        for event in events:
            event.check_signature(made["secret"])
            assert event.path == "/hook?key=1"
            check_holds(event.json, {"type": event.type, "timestamp": DATE, "data": {"uniqueID": event.object}})
            assert event.headers["content-type"] == "application/json"
            assert re.fullmatch(r"Hesper/[\w.-]+", event.headers["user-agent"])
            assert b"Milk" not in event.body and b"Wine" not in event.body
        assert len({event.id for event in events}) == 7
        wait_until(lambda: len(deliveries(client, made)) == 7)
        log = deliveries(client, made)
        assert [entry["uniqueID"] for entry in log] == [event.id for event in reversed(events)]
        check_holds(
            log[0],
            {"type": "note.deleted", "object": new, "attempts": 1, "delivered": True, "status": 204, "date": DATE},
        )


def test_only_the_selected_events_and_the_selected_tag(server: Server) -> None:
    client = server.client()
    tag = client.post("/v1/tags", {"name": "Shopping"}).json()["uniqueID"]
    with Receiver() as receiver:
        hook(client, receiver.url + "/tagged", [*NOTES, "tag.changed"], tag=tag)
        hook(client, receiver.url + "/created", ["note.created"])
        other = note(client)
        tagged = note(client, tags=[tag])
        # A note that is deleted before the server has read its row has no event of its creation.
        wait_until(lambda: len([event for event in receiver.events if event.path == "/created"]) == 2)
        client.patch(f"/v1/notes/{other}", {"text": "x"})
        client.patch(f"/v1/notes/{tagged}", {"text": "x"})
        second = client.post("/v1/tags", {"name": "Other"}).json()["uniqueID"]
        client.patch(f"/v1/tags/{tag}", {"name": "Groceries"})
        client.delete(f"/v1/notes/{other}")
        client.patch(f"/v1/tags/{second}", {"attributes": {"colour": "red"}})
        last = note(client, tags=[tag])
        wait_until(lambda: len([event for event in receiver.events if event.object == last]) == 2)
        by_path = lambda path: {(e.type, e.object) for e in receiver.events if e.path == path}  # noqa: E731
        assert by_path("/created") == {("note.created", each) for each in (other, tagged, last)}
        found = by_path("/tagged")
        # A change right after the creation may be part of it. A deleted note has no tags, so each deletion is an event.
        assert found - {("note.changed", tagged)} == {
            ("note.created", tagged), ("tag.changed", tag), ("note.deleted", other), ("note.created", last),
        }  # fmt: skip


def test_a_test_and_a_replay_are_sent_once_with_the_outcome(server: Server) -> None:
    client = server.client()
    with Receiver(lambda event: 418 if event.type == "webhook.test" else 204) as receiver:
        made = hook(client, receiver.url)
        path = f"/v1/webhooks/{made['uniqueID']}"
        tested = client.post(f"{path}/test").json()
        check_holds(
            tested,
            {"type": "webhook.test", "attempts": 1, "delivered": False, "status": 418},
        )
        assert tested["error"] == "The receiver responded with status 418."
        assert receiver.events[0].json["data"] == {}
        receiver.events[0].check_signature(made["secret"])
        new = note(client)
        wait_until(lambda: len(deliveries(client, made)) == 2)
        [sent, logged] = deliveries(client, made)
        assert logged == tested
        client.patch(path, {"paused": True})
        again = client.post(f"{path}/replay", {"delivery": sent["uniqueID"]}).json()
        check_holds(again, {"uniqueID": sent["uniqueID"], "object": new, "attempts": 2, "delivered": True})
        first, second = receiver.events[1:]
        assert (first.id, first.body) == (second.id, second.body)
        second.check_signature(made["secret"])
        assert deliveries(client, made) == [again, tested]
        # A failed test does not count as a failure of the webhook.
        assert client.get(path).json()["failures"] == 0
        check_problem(client.post(f"{path}/replay", {"delivery": "msg_1"}), "invalid-field", 422, pointer="/delivery")


# MARK: Failures


def test_failures_are_repeated_in_order_with_the_same_id(server: Server) -> None:
    client = server.client()
    answers = iter([500, 302, 404])
    with Receiver(lambda _: next(answers, 204)) as receiver:
        made = hook(client, receiver.url)
        path = f"/v1/webhooks/{made['uniqueID']}"
        first = note(client)
        receiver.wait(1)
        second = note(client)
        failed = wait_until(lambda: (found := client.get(path).json())["failures"] and found)
        check_holds(failed, {"paused": False, "firstFailureDate": DATE, "nextAttemptDate": DATE})
        # The owner need not wait: resuming tries again at once.
        for count in (2, 3, 4):
            client.patch(path, {"paused": False})
            receiver.wait(count)
            if count < 4:
                wait_until(lambda: client.get(path).json()["failures"])
        events = receiver.wait(5)
        assert receiver.summary == [("note.created", first)] * 4 + [("note.created", second)]
        assert len({event.id for event in events[:4]}) == 1
        assert len({event.body for event in events[:4]}) == 1
        wait_until(lambda: len(deliveries(client, made)) == 2)
        check_holds(deliveries(client, made)[1], {"attempts": 4, "delivered": True, "status": 204})
        assert "error" not in deliveries(client, made)[1]
        wait_until(lambda: client.get(path).json()["failures"] == 0)


def test_a_receiver_that_is_gone_pauses_the_webhook(server: Server) -> None:
    client = server.client()
    answers = iter([410])
    with Receiver(lambda _: next(answers, 204)) as receiver:
        made = hook(client, receiver.url)
        path = f"/v1/webhooks/{made['uniqueID']}"
        first = note(client)
        paused = wait_until(lambda: (found := client.get(path).json())["paused"] and found)
        check_holds(paused, {"pauseReason": "gone", "failures": 1})
        assert "nextAttemptDate" not in paused
        second = note(client)
        check_holds(client.patch(path, {"paused": False}).json(), {"paused": False, "failures": 0})
        receiver.wait(3)
        assert receiver.summary == [("note.created", first), ("note.created", first), ("note.created", second)]


def test_a_paused_webhook_sends_what_changed_when_it_is_resumed(server: Server) -> None:
    client = server.client()
    with Receiver() as receiver, Receiver() as other:
        made = hook(client, receiver.url)
        path = f"/v1/webhooks/{made['uniqueID']}"
        check_holds(client.patch(path, {"paused": True}).json(), {"paused": True, "pauseReason": "owner"})
        watch = hook(client, other.url, ["note.created"])
        new = note(client)
        other.wait(1)
        client.patch(f"/v1/notes/{new}", {"text": "Bread"})
        assert receiver.events == []
        client.patch(path, {"paused": False, "url": receiver.url + "/moved", "events": ["note.created"]})
        [event] = receiver.wait(1)
        assert (event.type, event.object, event.path) == ("note.created", new, "/moved")
        client.delete(f"/v1/webhooks/{watch['uniqueID']}")
        assert client.delete(path).status_code == 204
        check_problem(client.get(path), "not-found", 404)
        note(client)
        assert client.get("/v1/webhooks").json() == {"webhooks": []}


def test_events_survive_kill_and_restart(server: Server) -> None:
    """A receiver that is down, a server that is killed: afterwards each event arrives, with its ID and in order."""
    with Server(environment=ALLOWED) as own:
        client = own.client()
        with Receiver() as receiver:
            made = hook(client, receiver.url)
            notes = [note(client)]
            receiver.wait(1)
            receiver.respond = lambda _: 503
            notes.append(note(client))
            receiver.wait(2)
            notes.append(note(client))
            own.kill()
            query(own, "DELETE FROM leases")  # as if they had expired
            own.start()
            client.url = own.url
            notes.append(note(client))
            receiver.respond = lambda _: 204
            client.patch(f"/v1/webhooks/{made['uniqueID']}", {"paused": False})
            wait_until(lambda: receiver.summary[-1] == ("note.created", notes[-1]))
            by_id = {event.id: event.object for event in receiver.events}
            assert list(by_id.values()) == notes
            assert receiver.summary[0] == ("note.created", notes[0])
            assert [each for _, each in receiver.summary].count(notes[0]) == 1


# MARK: Receivers that attack


def endless(handler) -> None:
    """A response whose body does not end."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/plain")
    handler.end_headers()
    handler.sent = 0
    try:
        while True:
            handler.wfile.write(b"x" * 65_536)
            handler.sent += 65_536
    except OSError:
        SENT.append(handler.sent)


SENT: list[int] = []


@pytest.mark.thorough_on_postgresql
def test_slow_endless_redirecting_and_closing_receivers(server: Server) -> None:
    """None of them holds up the webhooks of others."""
    client = server.client()

    def slow(handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        try:
            for _ in range(40):
                handler.wfile.write(b"X-A: 1\r\n")
                handler.wfile.flush()
                time.sleep(0.5)
        except OSError:
            pass

    def redirect(handler) -> None:
        handler.send_response(307)
        handler.send_header("Location", good.url + "/redirected")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def respond(event):
        return {"/slow": slow, "/endless": endless, "/redirect": redirect, "/close": lambda _: None}[event.path]

    with Receiver(respond) as bad, Receiver() as good:
        hooks = {path: hook(client, bad.url + path, ["note.created"]) for path in ("/slow", "/endless", "/redirect", "/close")}
        hook(client, good.url, ["note.created"])
        begin = time.monotonic()
        new = note(client)
        bad.wait(4)
        good.wait(1)
        assert time.monotonic() - begin < 8, "the good receiver waited for the slow one"
        logs = {}
        for path, webhook in hooks.items():
            logs[path] = wait_until(lambda webhook=webhook: deliveries(client, webhook))[0]
        assert {log["object"] for log in logs.values()} == {new}
        check_holds(logs["/slow"], {"delivered": False, "error": "The receiver did not respond within 10 s."})
        # The status counts. The rest of the body is not read.
        check_holds(logs["/endless"], {"delivered": True, "status": 200})
        check_holds(logs["/redirect"], {"delivered": False, "status": 307})
        assert "redirect" in logs["/redirect"]["error"]
        check_holds(logs["/close"], {"delivered": False})
        assert "status" not in logs["/close"]
        assert good.summary == [("note.created", new)]
        # The buffers of the two sockets hold some megabytes.
        assert wait_until(lambda: SENT)[0] < 20 << 20


def test_names_and_addresses_that_lead_inward_are_refused() -> None:
    """On a server whose operator allows no network: neither URLs with addresses, nor names that resolve to them."""
    with Server() as own, Receiver() as receiver:
        client = own.client()
        port = receiver.server.server_port
        for url in [
            receiver.url, f"http://localhost:{port}/", "https://127.0.0.1/", f"https://[::1]:{port}/", "https://10.0.0.1/",
            "https://192.168.1.1/", "https://169.254.169.254/latest/meta-data", "https://[::ffff:127.0.0.1]/",
            "https://[64:ff9b::7f00:1]/", "https://[fd00::1]/", "https://100.64.0.1/", "https://0.0.0.0/",
        ]:  # fmt: skip
            refused = client.post("/v1/webhooks", {"url": url, "events": NOTES})
            check_problem(refused, "invalid-field", 422, pointer="/url")
        # Names, and numbers that only a resolver reads as an address.
        for host in ("localhost", "LOCALHOST", "127.1", "2130706433", "0x7f000001", "017700000001"):
            made = hook(client, f"https://{host}:{port}/")
            outcome = client.post(f"/v1/webhooks/{made['uniqueID']}/test").json()
            check_holds(outcome, {"delivered": False})
            assert "private or special network" in outcome["error"], outcome
            client.delete(f"/v1/webhooks/{made['uniqueID']}")
        assert receiver.events == []


# MARK: The API


def test_a_webhook_and_its_limits(server: Server) -> None:
    client = server.client()
    made = hook(client, "https://example.org/", ["tag.deleted", "note.created"])
    check_holds(
        made,
        {
            "url": "https://example.org/", "events": ["note.created", "tag.deleted"], "creationDate": DATE, "paused": False,
            "failures": 0,
        },
    )  # fmt: skip
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", made["secret"])
    shown = {name: value for name, value in made.items() if name != "secret"}
    assert client.get("/v1/webhooks").json() == {"webhooks": [shown]}
    assert client.get(f"/v1/webhooks/{made['uniqueID']}").json() == shown
    others = [hook(client, "https://example.org/") for _ in range(9)]
    assert len({each["secret"] for each in [made, *others]}) == 10
    refused = check_problem(client.post("/v1/webhooks", {"url": "https://example.org/", "events": NOTES}), "too-large", 413)
    assert refused["limit"] == 10
    # Another account has its own.
    stranger = server.client()
    assert stranger.get("/v1/webhooks").json() == {"webhooks": []}
    for path in ("", "/deliveries"):
        check_problem(stranger.get(f"/v1/webhooks/{made['uniqueID']}{path}"), "not-found", 404)
    check_problem(stranger.post(f"/v1/webhooks/{made['uniqueID']}/test"), "not-found", 404)


@pytest.mark.parametrize(
    "body, pointer",
    [
        ({"events": NOTES}, "/url"),
        ({"url": "https://example.org/"}, "/events"),
        ({"url": "https://example.org/", "events": []}, "/events"),
        ({"url": "https://example.org/", "events": ["note.read"]}, "/events/0"),
        ({"url": "https://example.org/", "events": ["note.created", "webhook.test"]}, "/events/1"),
        ({"url": "ftp://example.org/", "events": NOTES}, "/url"),
        ({"url": "https://ada:secret@example.org/", "events": NOTES}, "/url"),
        ({"url": "https://example.org:25/", "events": NOTES}, "/url"),
        ({"url": "https://example.org/" + "x" * 2048, "events": NOTES}, "/url"),
        ({"url": "https://example.org/", "events": NOTES, "tag": "x"}, "/tag"),
        ({"url": "https://example.org/", "events": NOTES, "tag": str(uuid.uuid4())}, "/tag"),
        ({"url": "https://example.org/", "events": NOTES, "secret": "whsec_AAAA"}, "/secret"),
    ],
)
def test_invalid_webhooks(shared: Client, body: dict, pointer: str) -> None:
    slug = "unknown-field" if pointer == "/secret" else "invalid-field"
    check_problem(shared.post("/v1/webhooks", body), slug, 422, pointer=pointer)
