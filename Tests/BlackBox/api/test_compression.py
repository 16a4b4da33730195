"""Compressed requests and responses (protocol.md, HTTP rules)."""

import gzip
import json
import zlib
from pathlib import Path

import pytest
from attachments import attach, data_path
from client import Client
from rows import check_problem
from writer import new_id

DECOMPRESS = {"gzip": gzip.decompress, "deflate": zlib.decompress}
COMPRESS = {"gzip": gzip.compress, "deflate": zlib.compress}
PUSH_BYTES = 8 << 20


def raw(client: Client, method: str, path: str, coding: str | None, **options) -> tuple:
    """The response, and its body as received, without decoding."""
    headers = {"Accept-Encoding": coding} | options.pop("headers", {})
    answer = client.request(method, path, headers=headers, stream=True, **options)
    return answer, answer.raw.read(decode_content=False)


@pytest.fixture
def note(somebody) -> str:
    path = f"/v1/notes/{new_id()}"
    assert somebody.put(path, {"text": "All work and no play. " * 500}).status_code == 201
    return path


@pytest.mark.parametrize("coding", DECOMPRESS)
def test_responses_are_compressed_with_an_accepted_encoding(somebody, note, coding):
    plain, bytes_ = raw(somebody, "GET", note, "identity")
    assert "Content-Encoding" not in plain.headers and len(bytes_) > 11_000
    compressed, body = raw(somebody, "GET", note, coding)
    assert (compressed.headers["Content-Encoding"], DECOMPRESS[coding](body)) == (coding, bytes_)
    assert len(body) < 1_000 and int(compressed.headers["Content-Length"]) == len(body)
    assert compressed.headers["ETag"] == plain.headers["ETag"][:-1] + f'-{coding}"'
    for answer in (plain, compressed):
        assert "Accept-Encoding" in answer.headers["Vary"]


@pytest.mark.parametrize("coding", ["identity", *DECOMPRESS])
def test_head_has_the_headers_of_get(somebody, note, coding):
    for path in (note, "/docs", "/openapi.yaml", "/", "/v1/account", "/v1/notes", "/v1/server"):
        got, body = raw(somebody, "GET", path, coding)
        head, empty = raw(somebody, "HEAD", path, coding)
        assert (head.status_code, empty) == (got.status_code, b""), path
        for name in ("Content-Encoding", "ETag", "Content-Type", "Vary", "Cache-Control"):
            assert head.headers.get(name) == got.headers.get(name), (path, name)
        # The last two contain the current clock, so their compressed length varies.
        assert int(head.headers["Content-Length"]) == len(body) or path in ("/v1/notes", "/v1/server"), path


@pytest.mark.parametrize("coding", DECOMPRESS)
def test_etags_of_compressed_responses(somebody, note, coding):
    """A representation's ETag is accepted regardless of its encoding, and is returned unchanged."""
    tags = [raw(somebody, "GET", note, wanted)[0].headers["ETag"] for wanted in ("identity", coding)]
    for tag in tags:
        answer = somebody.get(note, headers={"If-None-Match": tag, "Accept-Encoding": coding})
        assert (answer.status_code, answer.headers["ETag"]) == (304, tag)
    answer = somebody.put(note, {"text": "Play. " * 500}, headers={"If-Match": tags[1]})
    assert answer.status_code == 200
    assert somebody.put(note, {"text": "Work."}, headers={"If-Match": tags[1]}).status_code == 412


def test_streamed_pages_are_compressed(client):
    text = "a long text, " * 20_000
    ids = [new_id() for _ in range(5)]
    for note in ids:
        client.put(f"/v1/notes/{note}", {"text": text})
    compressed, body = raw(client, "POST", "/v1/sync", "gzip", json={})
    assert compressed.headers["Content-Encoding"] == "gzip" and len(body) < 20_000
    assert {note["uniqueID"] for note in json.loads(gzip.decompress(body))["changes"]["notes"]} == set(ids)
    compressed, body = raw(client, "GET", "/v1/notes", "gzip")
    assert len(json.loads(gzip.decompress(body))["notes"]) == 5


def test_responses_that_are_never_compressed(client):
    """Small responses, attachment bytes, exports, events, and images of the web app."""
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


def test_web_pages_are_compressed(server, somebody):
    for path in ("/", "/docs", "/openapi.yaml"):
        answer, body = raw(Client(server.url), "GET", path, "gzip")
        assert answer.headers["Content-Encoding"] == "gzip" and gzip.decompress(body), path
        assert "Accept-Encoding" in answer.headers["Vary"]


# Requests.

JSON_TYPE = {"Content-Type": "application/json"}


def send(client: Client, body: bytes, coding: str, path: str = "/v1/sync", method: str = "POST"):
    return client.request(method, path, data=body, headers=JSON_TYPE | {"Content-Encoding": coding})


@pytest.mark.parametrize("coding", COMPRESS)
def test_requests_may_be_compressed(somebody, coding):
    assert "compression" in somebody.get("/v1/server").json()["features"]
    path, text = f"/v1/notes/{new_id()}", "All work and no play. " * 500
    body = COMPRESS[coding](json.dumps({"text": text}).encode())
    assert send(somebody, body, coding, path, "PUT").status_code == 201
    assert somebody.get(path).json()["text"] == text
    headers = JSON_TYPE | {"Content-Encoding": coding.upper()}
    in_pieces = somebody.put(path, data=iter([body[:9], body[9:]]), headers=headers)
    assert in_pieces.status_code == 200
    assert send(somebody, COMPRESS[coding](b"{"), coding).json()["slug"] == "malformed-request"
    assert send(somebody, b"{}", "identity").status_code == 200


@pytest.mark.parametrize("coding", COMPRESS)
def test_limits_apply_to_the_decompressed_size(somebody, coding):
    assert send(somebody, COMPRESS[coding](b"{}".ljust(PUSH_BYTES)), coding).status_code == 200
    problem = check_problem(send(somebody, COMPRESS[coding](b"{}".ljust(PUSH_BYTES + 1)), coding), "too-large", 413)
    assert problem["limit"] == PUSH_BYTES and "decompression" in problem["detail"]


def peak_memory(pid: int) -> int:
    """The process's peak memory in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def test_decompression_bombs(server, somebody):
    """300 MB of zeros compressed once and twice. Decompression stops at the limit."""
    layer = gzip.compress(bytes(300_000_000), 1)
    send(somebody, gzip.compress(b"{}".ljust(PUSH_BYTES)), "gzip")
    before = peak_memory(server.pid)
    for bomb, coding in [(layer, "gzip"), (zlib.compress(bytes(300_000_000), 1), "deflate")]:
        check_problem(send(somebody, bomb, coding), "too-large", 413)
        check_problem(send(Client(server.url), bomb, coding, "/v1/accounts"), "too-large", 413)
    check_problem(send(somebody, gzip.compress(layer), "gzip"), "malformed-request", 400)
    assert peak_memory(server.pid) - before < 150_000, "KiB"


@pytest.mark.parametrize("coding", COMPRESS)
def test_invalid_compressed_bodies_are_refused(somebody, coding):
    good = COMPRESS[coding](b"{}")
    other = next(COMPRESS[name] for name in COMPRESS if name != coding)(b"{}")
    changed = good[:-3] + b"\xff" + good[-2:]
    for body in (b"{}", b"\0", good[:-1], good[:3], good + b"more", good + good, other, changed):
        check_problem(send(somebody, body, coding), "malformed-request", 400)


def test_unsupported_codings_are_refused(somebody):
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
