"""Answers and requests that are packed for their way (protocol.md, HTTP rules)."""

import gzip
import json
import zlib
from pathlib import Path

import pytest
from attachments import attach, data_path
from client import Client
from rows import check_problem
from writer import new_id

UNPACK = {"gzip": gzip.decompress, "deflate": zlib.decompress}
PACK = {"gzip": gzip.compress, "deflate": zlib.compress}
PUSH_BYTES = 8 << 20


def raw(client: Client, method: str, path: str, coding: str | None, **options) -> tuple:
    """The answer's head, and its body as it came over the wire."""
    headers = {"Accept-Encoding": coding} | options.pop("headers", {})
    answer = client.request(method, path, headers=headers, stream=True, **options)
    return answer, answer.raw.read(decode_content=False)


@pytest.fixture
def note(somebody) -> str:
    path = f"/v1/notes/{new_id()}"
    assert somebody.put(path, {"text": "All work and no play. " * 500}).status_code == 201
    return path


@pytest.mark.parametrize("coding", UNPACK)
def test_an_answer_is_packed_as_the_client_likes_it(somebody, note, coding):
    plain, bytes_ = raw(somebody, "GET", note, "identity")
    assert "Content-Encoding" not in plain.headers and len(bytes_) > 11_000
    packed, body = raw(somebody, "GET", note, coding)
    assert (packed.headers["Content-Encoding"], UNPACK[coding](body)) == (coding, bytes_)
    assert len(body) < 1_000 and int(packed.headers["Content-Length"]) == len(body)
    assert packed.headers["ETag"] == plain.headers["ETag"][:-1] + f'-{coding}"'
    for answer in (plain, packed):
        assert "Accept-Encoding" in answer.headers["Vary"]


@pytest.mark.parametrize("coding", ["identity", *UNPACK])
def test_head_tells_what_get_would(somebody, note, coding):
    for path in (note, "/docs", "/openapi.yaml", "/", "/v1/account", "/v1/notes", "/v1/server"):
        got, body = raw(somebody, "GET", path, coding)
        told, nothing = raw(somebody, "HEAD", path, coding)
        assert (told.status_code, nothing) == (got.status_code, b""), path
        for name in ("Content-Encoding", "ETag", "Content-Type", "Vary", "Cache-Control"):
            assert told.headers.get(name) == got.headers.get(name), (path, name)
        # The last two tell a clock, another one each time.
        assert int(told.headers["Content-Length"]) == len(body) or path in ("/v1/notes", "/v1/server"), path


@pytest.mark.parametrize("coding", UNPACK)
def test_what_is_kept_is_known_again(somebody, note, coding):
    """By its name, packed or not; and it keeps that name."""
    tags = [raw(somebody, "GET", note, wanted)[0].headers["ETag"] for wanted in ("identity", coding)]
    for tag in tags:
        answer = somebody.get(note, headers={"If-None-Match": tag, "Accept-Encoding": coding})
        assert (answer.status_code, answer.headers["ETag"]) == (304, tag)
    answer = somebody.put(note, {"text": "Play. " * 500}, headers={"If-Match": tags[1]})
    assert answer.status_code == 200
    assert somebody.put(note, {"text": "Work."}, headers={"If-Match": tags[1]}).status_code == 412


def test_pages_that_stream_are_packed(client):
    text = "a long text, " * 20_000
    ids = [new_id() for _ in range(5)]
    for note in ids:
        client.put(f"/v1/notes/{note}", {"text": text})
    packed, body = raw(client, "POST", "/v1/sync", "gzip", json={})
    assert packed.headers["Content-Encoding"] == "gzip" and len(body) < 20_000
    assert {note["uniqueID"] for note in json.loads(gzip.decompress(body))["changes"]["notes"]} == set(ids)
    packed, body = raw(client, "GET", "/v1/notes", "gzip")
    assert len(json.loads(gzip.decompress(body))["notes"]) == 5


def test_what_is_never_packed(client):
    """Small answers, bytes of attachments, archives, events, and pictures of the web app."""
    attachment = attach(client, b"All work and no play. " * 500, mime_type="text/plain")
    for path in (data_path(attachment), "/v1/export", "/v1/account", "/healthz"):
        answer, body = raw(client, "GET", path, "gzip, deflate")
        assert answer.status_code == 200 and "Content-Encoding" not in answer.headers, path
    part, body = raw(client, "GET", data_path(attachment), "gzip", headers={"Range": "bytes=4-7"})
    assert (part.status_code, body) == (206, b"work")
    with client.get("/v1/events", headers={"Accept-Encoding": "gzip"}, stream=True) as stream:
        assert "Content-Encoding" not in stream.headers
        assert next(stream.iter_lines()) == b"event: changes"
    assert "Content-Encoding" not in raw(client, "GET", "/v1/notes", "br, gzip;q=0")[0].headers


def test_problems_and_pages_are_packed(server, somebody):
    for path in ("/", "/docs", "/openapi.yaml"):
        answer, body = raw(Client(server.url), "GET", path, "gzip")
        assert answer.headers["Content-Encoding"] == "gzip" and gzip.decompress(body), path
        assert "Accept-Encoding" in answer.headers["Vary"]


# Requests.

JSON_TYPE = {"Content-Type": "application/json"}


def send(client: Client, body: bytes, coding: str, path: str = "/v1/sync", method: str = "POST"):
    return client.request(method, path, data=body, headers=JSON_TYPE | {"Content-Encoding": coding})


@pytest.mark.parametrize("coding", PACK)
def test_a_request_may_be_packed(somebody, coding):
    assert "compression" in somebody.get("/v1/server").json()["features"]
    path, text = f"/v1/notes/{new_id()}", "All work and no play. " * 500
    body = PACK[coding](json.dumps({"text": text}).encode())
    assert send(somebody, body, coding, path, "PUT").status_code == 201
    assert somebody.get(path).json()["text"] == text
    headers = JSON_TYPE | {"Content-Encoding": coding.upper()}
    in_pieces = somebody.put(path, data=iter([body[:9], body[9:]]), headers=headers)
    assert in_pieces.status_code == 200
    assert send(somebody, PACK[coding](b"{"), coding).json()["slug"] == "malformed-request"
    assert send(somebody, b"{}", "identity").status_code == 200


@pytest.mark.parametrize("coding", PACK)
def test_limits_are_for_what_it_unpacks_to(somebody, coding):
    assert send(somebody, PACK[coding](b"{}".ljust(PUSH_BYTES)), coding).status_code == 200
    problem = check_problem(send(somebody, PACK[coding](b"{}".ljust(PUSH_BYTES + 1)), coding), "too-large", 413)
    assert problem["limit"] == PUSH_BYTES and "decompression" in problem["detail"]


def peak_memory(pid: int) -> int:
    """KiB that the process has held at most."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def test_bombs_do_not_go_off(server, somebody):
    """300 MB of nothing in 300 KB; the same again, packed once more. They are unpacked as far as the limit."""
    layer = gzip.compress(bytes(300_000_000), 1)
    send(somebody, gzip.compress(b"{}".ljust(PUSH_BYTES)), "gzip")
    before = peak_memory(server.pid)
    for bomb, coding in [(layer, "gzip"), (zlib.compress(bytes(300_000_000), 1), "deflate")]:
        check_problem(send(somebody, bomb, coding), "too-large", 413)
        check_problem(send(Client(server.url), bomb, coding, "/v1/accounts"), "too-large", 413)
    check_problem(send(somebody, gzip.compress(layer), "gzip"), "malformed-request", 400)
    assert peak_memory(server.pid) - before < 150_000, "KiB"


@pytest.mark.parametrize("coding", PACK)
def test_what_is_not_packed_so_is_refused(somebody, coding):
    good = PACK[coding](b"{}")
    other = next(PACK[name] for name in PACK if name != coding)(b"{}")
    changed = good[:-3] + b"\xff" + good[-2:]
    for body in (b"{}", b"\0", good[:-1], good[:3], good + b"more", good + good, other, changed):
        check_problem(send(somebody, body, coding), "malformed-request", 400)


def test_other_codings_are_named(somebody):
    for coding in ("br", "zstd", "gzip, gzip", "compress", "x" * 500):
        answer = send(somebody, b"{}", coding)
        check_problem(answer, "unsupported-media-type", 415)
        assert answer.headers["Accept-Encoding"] == "gzip, deflate"
    other_type = somebody.post("/v1/sync", data=b"{}", headers={"Content-Type": "text/plain"})
    assert "Accept-Encoding" not in other_type.headers
    data = somebody.put(
        f"/v1/attachments/{new_id()}/data", data=gzip.compress(b"bytes"), headers={"Content-Encoding": "gzip"}
    )
    check_problem(data, "unsupported-media-type", 415)
    assert data.headers["Accept-Encoding"] == "identity"
