"""`Idempotency-Key` on requests that create one object: a retry creates nothing and gets the first response again."""

import gzip
import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from client import PASSWORD, Client, Server
from database import make_older, query
from rows import Row, check_problem, parametrize
from waiting import wait_until
from wire import Wire
from writer import Writer, new_id

pytestmark = [pytest.mark.both_stores, pytest.mark.thorough_on_postgresql]

BODIES = {
    "notes": {"text": "Milk", "attributes": {"a": 1}},
    "tags": {"name": "Shopping"},
    "objects": {"objectType": "board", "attributes": {"a": 1}},
}
LONGEST = "k" * 255


def key() -> str:
    return str(uuid.uuid4())


def post(client: Client, path: str, body, with_key: str | None, **headers):
    keyed = {"Idempotency-Key": with_key} if with_key is not None else {}
    return client.post(f"/v1/{path}", body, headers=keyed | headers)


def count(client: Client, kind: str = "notes") -> int:
    return len(client.read_all()[0][kind])


def is_replay(response) -> bool:
    return response.headers.get("Idempotency-Replayed") == "true"


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("own_id", [False, True], ids=["server's ID", "client's ID"])
def test_a_retry_gets_the_first_response_again(client, kind, own_id):
    body = BODIES[kind] | ({"uniqueID": new_id()} if own_id else {})
    the_key = key()
    first, again = post(client, kind, body, the_key), post(client, kind, body, the_key)
    assert (first.status_code, again.status_code) == (201, 201), again.text
    assert again.json() == first.json()
    for name in ("Location", "ETag"):
        assert again.headers[name] == first.headers[name]
    assert not is_replay(first) and is_replay(again)
    assert count(client, kind) == 1
    assert client.get(first.headers["Location"]).json() == first.json()


def test_without_a_key_each_request_creates_an_object(client):
    ids = {post(client, "notes", BODIES["notes"], None).json()["uniqueID"] for _ in range(2)}
    assert len(ids) == 2


def test_requests_with_different_keys_or_paths_are_independent(client):
    the_key = key()
    notes = [post(client, "notes", {"text": "x"}, each).json()["uniqueID"] for each in (the_key, the_key + "x", f'"{the_key}"')]
    assert len(set(notes)) == 3  # quotation marks are part of the key
    for kind in ("tags", "objects"):
        assert post(client, kind, BODIES[kind], the_key).status_code == 201
    assert count(client) == 3


def test_a_different_body_with_the_same_key_is_refused(client):
    the_key = key()
    first = post(client, "notes", {"text": "one"}, the_key)
    problem = check_problem(post(client, "notes", {"text": "two"}, the_key), "idempotency-key-reused", 422)
    assert problem["pointer"] == "Idempotency-Key"
    assert is_replay(post(client, "notes", {"text": "one"}, the_key))
    assert count(client) == 1
    assert client.get(first.headers["Location"]).json()["text"] == "one"


def test_bodies_are_compared_after_decompression(client):
    body, the_key = json.dumps({"text": "packed"}).encode(), key()
    headers = {"Idempotency-Key": the_key, "Content-Type": "application/json"}
    first = client.post("/v1/notes", data=body, headers=headers)
    again = client.post("/v1/notes", data=gzip.compress(body), headers=headers | {"Content-Encoding": "gzip"})
    assert again.json() == first.json() and is_replay(again)
    # The media type is not compared, because it does not affect what is created.
    typed = client.post("/v1/notes", data=body, headers=headers | {"Content-Type": "application/vnd.notes+json"})
    assert is_replay(typed)


def test_a_retry_gets_the_object_as_it_is_now(client):
    the_key = key()
    first = post(client, "notes", {"text": "before"}, the_key)
    changed = client.patch(first.headers["Location"], {"text": "after"})
    again = post(client, "notes", {"text": "before"}, the_key)
    assert (again.status_code, again.json()["text"]) == (201, "after")
    assert again.headers["ETag"] == changed.headers["ETag"] != first.headers["ETag"]
    assert client.get(first.headers["Location"]).json()["text"] == "after", "the retry changed the object"


@pytest.mark.parametrize("kind", BODIES)
def test_a_retry_for_a_deleted_object_gets_410(client, kind):
    the_key = key()
    first = post(client, kind, BODIES[kind], the_key)
    client.delete(first.headers["Location"])
    problem = check_problem(post(client, kind, BODIES[kind], the_key), "deleted", 410)
    assert problem["deletedObject"] == client.get(first.headers["Location"]).json()["deletedObject"]
    assert count(client, kind) == 0


def test_a_tag_whose_name_is_taken(client):
    """A retry gets 200 and the `Content-Location` of the existing tag, even if that tag has been renamed."""
    made = post(client, "tags", {"name": "Paris"}, None)
    the_key = key()
    first = post(client, "tags", {"name": "PARIS"}, the_key)
    assert (first.status_code, first.headers["Content-Location"]) == (200, made.headers["Location"])
    client.patch(made.headers["Location"], {"name": "Rome"})
    again = post(client, "tags", {"name": "PARIS"}, the_key)
    assert (again.status_code, again.json()["name"]) == (200, "Rome")
    assert again.headers["Content-Location"] == made.headers["Location"]
    assert "Location" not in again.headers and count(client, "tags") == 1


def test_a_retry_for_a_merged_tag_gets_the_other_tag(client):
    writer, the_key = Writer(client), key()
    lost = "f" + new_id()[1:]
    first = post(client, "tags", {"name": "Oslo", "uniqueID": lost}, the_key)
    assert first.status_code == 201
    winner = "0" + new_id()[1:]
    writer.push(tags=[writer.tag("oslo", winner)])
    again = post(client, "tags", {"name": "Oslo", "uniqueID": lost}, the_key)
    assert (again.status_code, again.json()["uniqueID"]) == (200, winner)
    assert again.headers["Content-Location"] == f"/v1/tags/{winner}"


def test_an_object_that_exists_already(client):
    """A request with a `uniqueID` can be repeated without a key. It may have a key as well."""
    body = {"text": "x", "uniqueID": new_id()}
    post(client, "notes", body, None)
    the_key = key()
    for _ in range(2):
        answer = post(client, "notes", body, the_key)
        assert answer.status_code == 200 and "Location" not in answer.headers and "Content-Location" not in answer.headers
    assert is_replay(answer)


def test_the_key_of_a_refused_request_is_not_recorded(client):
    the_key = key()
    assert post(client, "notes", {"text": 1}, the_key).status_code == 422
    assert post(client, "notes", {"tags": [new_id()]}, the_key).status_code == 422
    answer = post(client, "notes", {"text": "right"}, the_key)
    assert answer.status_code == 201 and not is_replay(answer)


def test_each_account_has_its_own_keys(server):
    ada, bob = server.client(), server.client()
    the_key = key()
    one, other = post(ada, "notes", {"text": "x"}, the_key), post(bob, "notes", {"text": "x"}, the_key)
    assert not is_replay(other) and one.json()["uniqueID"] != other.json()["uniqueID"]
    assert post(bob, "notes", {"text": "of ada's"}, the_key).status_code == 422
    # All devices of an account share its keys.
    same = post(ada.another_device(), "notes", {"text": "x"}, the_key)
    assert is_replay(same) and same.json() == one.json()
    assert (count(ada), count(bob)) == (1, 1)


INVALID = "must have 1 to 255 visible ASCII characters"


@parametrize(
    [
        Row(f"a key {name}", "POST", "/v1/notes", {"text": "x"}, 400, headers={"Idempotency-Key": value},
            holds={"slug": "malformed-request", "detail": f"Idempotency-Key {INVALID}.", "pointer": "Idempotency-Key"})
        for name, value in {
            "without characters": "", "that is too long": LONGEST + "k", "with a space": "a b", "with a tab": "a\tb",
            "that is not ASCII": "sch\u00f6n",
        }.items()
    ]
    + [
        Row(f"a key on {path}, whose response contains a secret", "POST", path,
            {"email": "grace@example.org", "password": PASSWORD, "deviceName": "x"}, 400,
            holds={"slug": "malformed-request", "pointer": "Idempotency-Key"}, headers={"Idempotency-Key": "k"})
        for path in ("/v1/accounts", "/v1/devices")
    ]
)  # fmt: skip
def test_refused(client, row):
    row.run(client, {})


def test_keys_at_the_limits(client):
    for valid in ("k", LONGEST, "".join(chr(code) for code in range(0x21, 0x7F))):
        ids = {post(client, "notes", {"text": "x"}, valid).json()["uniqueID"] for _ in range(2)}
        assert len(ids) == 1, valid
    limits = client.get("/v1/server").json()["limits"]
    assert (limits["idempotencyKeyLength"], limits["idempotencyKeySeconds"]) == (255, 86_400)


@pytest.mark.parametrize("lines", [["a", "b"], ["a", "a"], ["\x01"], ["a\x00"]])
def test_two_keys_or_control_characters_are_refused(server, client, lines):
    with Wire(server.port, client.token) as wire:
        body = b'{"text": "x"}'
        head = [f"Idempotency-Key: {line}" for line in lines]
        wire.send_head("POST", "/v1/notes", {"Content-Type": "application/json", "Content-Length": str(len(body))} | {
            # A dictionary cannot contain a header twice, so the lines follow the value of another header.
            "X-Padding": "1\r\n" + "\r\n".join(head)})  # fmt: skip
        wire.send(body)
        answer = wire.response()
    assert answer.status == 400
    if "\x01" not in lines[0] and "\x00" not in lines[0]:
        assert json.loads(answer.body)["detail"] == "Idempotency-Key must be sent once."
    assert count(client) == 0


def test_other_routes_ignore_the_header(client):
    headers = {"Idempotency-Key": "not a key"}
    note = f"/v1/notes/{new_id()}"
    assert client.put(note, {"text": "x"}, headers=headers).status_code == 201
    assert client.patch(note, {"text": "y"}, headers=headers).status_code == 200
    assert client.get(note, headers=headers).json()["text"] == "y"
    assert client.post("/v1/sync", {}, headers=headers).status_code == 200
    assert client.delete(note, headers=headers).status_code == 200


def test_pages_of_other_origins_may_send_a_key(client):
    headers = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST",
               "Access-Control-Request-Headers": "idempotency-key"}  # fmt: skip
    preflight = client.request("OPTIONS", "/v1/notes", headers=headers)
    assert "Idempotency-Key" in preflight.headers["Access-Control-Allow-Headers"]
    exposed = client.get("/v1/server", headers={"Origin": "http://localhost:3000"})
    assert "Idempotency-Replayed" in exposed.headers["Access-Control-Expose-Headers"]
    assert "idempotency-keys" in exposed.json()["features"]


def test_concurrent_requests_with_one_key_create_one_object(server, client):
    for _ in range(5):
        the_key, body = key(), {"text": uuid.uuid4().hex}

        def ask(_, the_key=the_key, body=body):
            return post(Client(client.url, client.token), "notes", body, the_key)

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, range(8)))
        made = {answer.json()["uniqueID"] for answer in answers if answer.status_code == 201}
        assert len(made) == 1
        assert sum(not is_replay(answer) for answer in answers if answer.status_code == 201) == 1
        for answer in answers:
            if answer.status_code != 201:
                check_problem(answer, "idempotency-key-in-use", 409)
                assert answer.headers["Retry-After"] == "1"
        assert {post(client, "notes", body, the_key).json()["uniqueID"]} == made
    assert count(client) == 5


def test_a_retry_after_a_lost_response(server, client):
    """The first connection is closed as soon as the request has been sent."""
    for _ in range(10):
        body = json.dumps({"text": uuid.uuid4().hex}).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": key()}
        with Wire(server.port, client.token) as wire:
            wire.send_head("POST", "/v1/notes", headers | {"Content-Length": str(len(body))})
            wire.send(body)
        deadline = time.monotonic() + 10
        while (answer := client.post("/v1/notes", data=body, headers=headers)).status_code == 409:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert answer.status_code == 201
    assert count(client) == 10


def test_retries_after_the_server_was_killed(fresh_server: Server, seed: int, everything: bool):
    """`kill -9` while requests are in progress. After a restart, all requests are sent again, and each has created one object."""
    client, random = fresh_server.client(), Random(seed)
    sent: dict[str, dict] = {}
    recorded = 0
    for _ in range(4 if everything else 2):
        new = {key(): {"text": uuid.uuid4().hex} for _ in range(40)}
        sent |= new

        def ask(item):
            try:
                return post(Client(client.url, client.token), "notes", item[1], item[0], Connection="close").status_code
            except OSError:
                return None

        with ThreadPoolExecutor(8) as pool:
            answers = pool.map(ask, new.items())
            time.sleep(random.random() * 0.15)
            fresh_server.kill()
            answered = sum(answer == 201 for answer in answers)
        fresh_server.start()
        again = [post(client, "notes", body, the_key) for the_key, body in new.items()]
        assert {answer.status_code for answer in again} == {201}
        recorded += sum(map(is_replay, again)) - answered
    notes = client.read_all()[0]["notes"]
    assert sorted(note["text"] for note in notes) == sorted(body["text"] for body in sent.values())
    print(f"{recorded} requests were committed but got no response")


def test_only_the_newest_keys_are_kept(fresh_server):
    """A row with the number 10,000 stands for the thousands of keys that would have been sent since the first."""
    client = fresh_server.client()
    first, second, third = key(), key(), key()
    one = post(client, "notes", {"text": "one"}, first).json()["uniqueID"]
    two = post(client, "notes", {"text": "two"}, second).json()["uniqueID"]
    columns = "scope, {}, body_hash, object, is_creation, creation_date, 10000"
    insert = "INSERT INTO idempotency_keys (scope, key_hash, body_hash, object, is_creation, creation_date, number) SELECT "
    insert += columns + " FROM idempotency_keys WHERE number = 2"
    query(fresh_server, insert.format("x'00'"), insert.format(r"'\x00'::bytea"))
    assert is_replay(post(client, "notes", {"text": "one"}, first))
    post(client, "notes", {"text": "three"}, third)
    assert post(client, "notes", {"text": "two"}, second).json()["uniqueID"] == two
    assert post(client, "notes", {"text": "one"}, first).json()["uniqueID"] != one


def test_a_key_is_recorded_for_a_day(fresh_server):
    client = fresh_server.client()
    the_key = key()
    first = post(client, "notes", {"text": "x"}, the_key).json()["uniqueID"]
    table = "UPDATE idempotency_keys SET creation_date = creation_date - "
    query(fresh_server, table + "86000000", table + "interval '86000 seconds'")
    assert post(client, "notes", {"text": "x"}, the_key).json()["uniqueID"] == first
    query(fresh_server, table + "400000", table + "interval '400 seconds'")
    # The key has expired, so even a request with a different body succeeds and creates another object.
    second = post(client, "notes", {"text": "y"}, the_key)
    assert second.status_code == 201 and not is_replay(second)
    assert is_replay(post(client, "notes", {"text": "y"}, the_key))
    # The sweeper removes the expired row.
    fresh_server.stop()
    make_older(fresh_server, 2)
    fresh_server.start()
    wait_until(lambda: not int(query(fresh_server, "SELECT count(*) FROM idempotency_keys")[0][0]), pause=0.2)


def test_only_hashes_of_keys_are_stored_and_an_erased_account_leaves_none(fresh_server):
    client, other = fresh_server.client(), fresh_server.client()
    secret = "a-key-that-names-a-person"
    for each in (client, other):
        post(each, "notes", {"text": "x"}, secret)
    rows = query(fresh_server, "SELECT hex(key_hash) FROM idempotency_keys",
                 "SELECT encode(key_hash, 'hex') FROM idempotency_keys")  # fmt: skip
    assert {len(row[0]) for row in rows} == {64} and len(rows) == 2
    assert secret not in fresh_server.log
    assert client.delete("/v1/account", json={"password": client.password}).status_code == 204
    assert int(query(fresh_server, "SELECT count(*) FROM idempotency_keys")[0][0]) == 1
    fresh_server.stop()
    assert fresh_server.command("check").returncode == 0


def test_a_request_refused_because_of_the_quota_records_no_key(fresh_server):
    client = fresh_server.client()
    fresh_server.command("account", "set-quota", client.email, "1KiB", check=True)
    the_key, body = key(), {"text": "x" * 2_000}
    assert post(client, "notes", body, the_key).status_code == 507
    fresh_server.command("account", "set-quota", client.email, "1MiB", check=True)
    answer = post(client, "notes", body, the_key)
    assert answer.status_code == 201 and not is_replay(answer)
    # A retry for an object that exists succeeds even if the quota is exceeded.
    fresh_server.command("account", "set-quota", client.email, "1KiB", check=True)
    assert is_replay(post(client, "notes", body, the_key))
