"""Bodies that take their time, or more room than they look: who was signed out meanwhile, and how much one account may hold."""

import gzip
import json
import random
import re
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from client import PASSWORD, Client, Server
from wire import Wire

JSON = "application/json"


def memory(server: Server) -> int:
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)[1]) << 10


def begun(server: Server, client: Client, method: str, path: str, body: bytes, content_type: str = JSON, **headers) -> Wire:
    """A request of which all is sent but the last byte."""
    wire = Wire(server.port, client.token)
    head = {"Content-Type": content_type, "Content-Length": str(len(body)), **headers}
    wire.send_head(method, path, head)
    wire.send(body[:-1])
    return wire


def signs_out(owner: Client, node: str) -> None:
    assert owner.delete(f"/v1/devices/{node}").status_code == 204


def says_that_it_is_lost(owner: Client, node: str) -> None:
    assert owner.post(f"/v1/devices/{node}/revocation", {}).status_code == 201


def sets_a_new_password(owner: Client, _: str) -> None:
    change = {"currentPassword": PASSWORD, "newPassword": "another horse"}
    assert owner.patch("/v1/account", change).status_code == 200


@pytest.mark.parametrize("ends", [signs_out, says_that_it_is_lost, sets_a_new_password])
def test_what_was_begun_before_is_refused_when_it_has_come(server: Server, ends: Callable[[Client, str], None]) -> None:
    owner = server.client()
    thief = owner.another_device("thief")
    node = next(one["uniqueID"] for one in owner.get("/v1/devices").json()["devices"] if one["name"] == "thief")
    attachment = str(uuid.uuid4())
    note = json.dumps({"text": "the thief's"}).encode()
    mine = json.dumps({"currentPassword": PASSWORD, "newPassword": "the thief's own"}).encode()
    wires = [
        begun(server, thief, "POST", "/v1/notes", note),
        begun(server, thief, "POST", "/v1/sync", b'{"changes": {}} '),
        begun(server, thief, "PATCH", "/v1/account", mine),
        begun(server, thief, "DELETE", "/v1/account", json.dumps({"password": PASSWORD}).encode()),
        begun(server, thief, "PUT", f"/v1/attachments/{attachment}/data", b"bytes", "application/octet-stream"),
    ]
    time.sleep(0.3)
    ends(owner, node)
    secret = owner.post("/v1/notes", {"text": "written after"}).json()
    for wire, last in zip(wires, (note[-1:], b" ", mine[-1:], b"}", b"s"), strict=True):
        with wire:
            wire.send(last)
            answer = wire.answer()
        assert (answer.status, json.loads(answer.body)["slug"]) == (401, "unauthenticated")
    assert [one["uniqueID"] for one in owner.read_all()[0]["notes"]] == [secret["uniqueID"]]
    assert owner.get(f"/v1/attachments/{attachment}/data").status_code == 404


def test_the_old_password_erases_nothing_after_a_new_one(fresh_server: Server) -> None:
    """Both check the old password at the same time; whichever comes second finds it changed, or the account gone."""
    for delay in (0, 0.02, 0.05, 0.1, 0.2, 0.3):
        owner = fresh_server.client()
        other = owner.another_device()
        deletion: list[int] = []

        def delete(other: Client = other, delay: float = delay, deletion: list[int] = deletion) -> None:
            time.sleep(delay)
            deletion.append(other.delete("/v1/account", json={"password": PASSWORD}).status_code)

        thread = threading.Thread(target=delete)
        thread.start()
        change = owner.patch("/v1/account", {"currentPassword": PASSWORD, "newPassword": "another horse"})
        thread.join(60)
        if change.status_code == 200:
            assert deletion[0] in (401, 403)
            assert owner.get("/v1/account").status_code == 200
        else:
            assert (change.status_code, deletion) in [(401, [204]), (403, [204])]


def test_large_bodies_of_an_account_take_turns(fresh_server: Server) -> None:
    ada, bob = fresh_server.client(), fresh_server.client()
    large = json.dumps({"text": "x" * (256 * 1024 + 1)}).encode()
    held = [begun(fresh_server, ada, "POST", "/v1/notes", large) for _ in range(4)]
    time.sleep(0.5)
    waiting = [begun(fresh_server, ada, "POST", "/v1/notes", large) for _ in range(64)]
    time.sleep(1)
    # Those of others, and short ones, do not wait.
    assert bob.post("/v1/notes", json.loads(large)).status_code == 201
    assert ada.post("/v1/notes", {"text": "short"}).status_code == 201
    refused = ada.post("/v1/notes", json.loads(large))
    assert (refused.status_code, refused.json()["slug"]) == (429, "too-many-requests")
    assert int(refused.headers["Retry-After"]) > 0
    for wire in held + waiting:
        wire.send(b"}")
    for wire in held + waiting:
        with wire:
            assert wire.answer().status == 201


def test_packed_bodies_take_bounded_memory(fresh_server: Server) -> None:
    """8 KB that unpack to 8 MiB each, of which the last byte never comes."""
    ada, bob = fresh_server.client(), fresh_server.client()
    body = gzip.compress(json.dumps({"text": " " * ((8 << 20) - 100)}).encode(), 9)
    assert ada.post("/v1/notes", {"text": "well"}).status_code == 201
    before = memory(fresh_server)
    packed = {"Content-Encoding": "gzip"}
    wires = [begun(fresh_server, ada, "POST", "/v1/notes", body, **packed) for _ in range(60)]
    time.sleep(3)
    grown = memory(fresh_server) - before
    assert grown < 200 << 20, f"{grown >> 20} MiB"
    assert bob.post("/v1/notes", {"text": "well"}).status_code == 201
    for wire in wires:
        wire.close()
    # Their places are free again.
    deadline = time.monotonic() + 30
    large = {"text": "".join(random.choices("abcdefgh ", k=300_000))}
    while ada.post("/v1/notes", large).status_code != 201:
        assert time.monotonic() < deadline
        time.sleep(0.2)
