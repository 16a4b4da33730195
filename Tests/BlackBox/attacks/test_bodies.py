"""Request bodies that arrive slowly or need much memory: authentication at their end, and limits per account."""

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


def incomplete(server: Server, client: Client, method: str, path: str, body: bytes, content_type: str = JSON, **headers) -> Wire:
    """A request that is sent except for its last byte."""
    wire = Wire(server.port, client.token)
    head = {"Content-Type": content_type, "Content-Length": str(len(body)), **headers}
    wire.send_head(method, path, head)
    wire.send(body[:-1])
    return wire


def sign_out(owner: Client, node: str) -> None:
    assert owner.delete(f"/v1/devices/{node}").status_code == 204


def revoke(owner: Client, node: str) -> None:
    assert owner.post(f"/v1/devices/{node}/revocation", {}).status_code == 201


def set_password(owner: Client, _: str) -> None:
    change = {"currentPassword": PASSWORD, "newPassword": "another horse"}
    assert owner.patch("/v1/account", change).status_code == 200


@pytest.mark.parametrize("end", [sign_out, revoke, set_password])
def test_requests_begun_before_a_sign_out_are_refused_when_complete(server: Server, end: Callable[[Client, str], None]) -> None:
    owner = server.client()
    thief = owner.another_device("thief")
    node = next(one["uniqueID"] for one in owner.get("/v1/devices").json()["devices"] if one["name"] == "thief")
    attachment = str(uuid.uuid4())
    note = json.dumps({"text": "the thief's"}).encode()
    mine = json.dumps({"currentPassword": PASSWORD, "newPassword": "the thief's own"}).encode()
    wires = [
        incomplete(server, thief, "POST", "/v1/notes", note),
        incomplete(server, thief, "POST", "/v1/sync", b'{"changes": {}} '),
        incomplete(server, thief, "PATCH", "/v1/account", mine),
        incomplete(server, thief, "DELETE", "/v1/account", json.dumps({"password": PASSWORD}).encode()),
        incomplete(server, thief, "PUT", f"/v1/attachments/{attachment}/data", b"bytes", "application/octet-stream"),
    ]
    time.sleep(0.3)
    end(owner, node)
    secret = owner.post("/v1/notes", {"text": "written after"}).json()
    for wire, last in zip(wires, (note[-1:], b" ", mine[-1:], b"}", b"s"), strict=True):
        with wire:
            wire.send(last)
            answer = wire.response()
        assert (answer.status, json.loads(answer.body)["slug"]) == (401, "unauthenticated")
    assert [one["uniqueID"] for one in owner.read_all()[0]["notes"]] == [secret["uniqueID"]]
    assert owner.get(f"/v1/attachments/{attachment}/data").status_code == 404


def test_the_old_password_does_not_erase_after_a_change(fresh_server: Server, everything: bool) -> None:
    """Both requests check the old password concurrently. The later one finds it changed, or the account erased."""
    for delay in (0, 0.02, 0.05, 0.1, 0.2, 0.3) if everything else (0, 0.05, 0.2):
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


def test_limit_of_concurrent_large_bodies(fresh_server: Server) -> None:
    ada, bob = fresh_server.client(), fresh_server.client()
    large = json.dumps({"text": "x" * (256 * 1024 + 1)}).encode()
    held = [incomplete(fresh_server, ada, "POST", "/v1/notes", large) for _ in range(4)]
    time.sleep(0.5)
    waiting = [incomplete(fresh_server, ada, "POST", "/v1/notes", large) for _ in range(64)]
    time.sleep(1)
    # Bodies of other accounts and short bodies do not wait.
    assert bob.post("/v1/notes", json.loads(large)).status_code == 201
    assert ada.post("/v1/notes", {"text": "short"}).status_code == 201
    refused = ada.post("/v1/notes", json.loads(large))
    assert (refused.status_code, refused.json()["slug"]) == (429, "too-many-requests")
    assert int(refused.headers["Retry-After"]) > 0
    for wire in held + waiting:
        wire.send(b"}")
    for wire in held + waiting:
        with wire:
            assert wire.response().status == 201


def test_compressed_bodies_use_bounded_memory(fresh_server: Server) -> None:
    """8 KB bodies that decompress to 8 MiB each, and whose last byte is never sent."""
    ada, bob = fresh_server.client(), fresh_server.client()
    body = gzip.compress(json.dumps({"text": " " * ((8 << 20) - 100)}).encode(), 9)
    assert ada.post("/v1/notes", {"text": "well"}).status_code == 201
    before = memory(fresh_server)
    compressed = {"Content-Encoding": "gzip"}
    wires = [incomplete(fresh_server, ada, "POST", "/v1/notes", body, **compressed) for _ in range(60)]
    time.sleep(3)
    grown = memory(fresh_server) - before
    assert grown < 200 << 20, f"{grown >> 20} MiB"
    assert bob.post("/v1/notes", {"text": "well"}).status_code == 201
    for wire in wires:
        wire.close()
    # Their permits are released.
    deadline = time.monotonic() + 30
    large = {"text": "".join(random.choices("abcdefgh ", k=300_000))}
    while ada.post("/v1/notes", large).status_code != 201:
        assert time.monotonic() < deadline
        time.sleep(0.2)
