"""Resumable uploads (protocol.md, Attachments; draft-ietf-httpbis-resumable-upload)."""

import os
import random
import time

import pytest
from attachments import attach, data_path, digest, download, sha256, some_bytes
from client import Client, Server
from database import query
from wire import Wire
from writer import new_id

pytestmark = pytest.mark.both_stores

DATA = some_bytes(1_000_000)
PART = {"Content-Type": "application/partial-upload"}


def begin(client: Client, attachment: str, headers: dict[str, str] | None = None) -> str:
    """Creates an upload with an empty body, as clients do that cannot see a 104. Returns its URL."""
    answer = client.put(data_path(attachment), data=b"", headers={
        "Upload-Complete": "?0", "Content-Length": "0", **(headers or {}),
    })  # fmt: skip
    assert answer.status_code == 201, answer.text
    assert answer.headers["Upload-Complete"] == "?0"
    assert answer.headers["Upload-Offset"] == "0"
    assert answer.headers["Location"].startswith("/v1/uploads/")
    return answer.headers["Location"]


def append(client: Client, upload: str, data: bytes, at: int, complete: bool = False, **headers: str):
    return client.patch(upload, data=data, headers=PART | {
        "Upload-Offset": str(at), "Upload-Complete": "?1" if complete else "?0", "Content-Length": str(len(data)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    })  # fmt: skip


def offset(client: Client, upload: str) -> int:
    answer = client.request("HEAD", upload)
    assert answer.status_code == 204, answer.status_code
    assert answer.headers["Cache-Control"] == "no-store"
    return int(answer.headers["Upload-Offset"])


def test_without_seeing_a_104(client):
    attachment = new_id()
    upload = begin(client, attachment, {"Upload-Length": str(len(DATA))})
    assert client.request("HEAD", upload).headers["Upload-Length"] == str(len(DATA))
    at = 0
    for end in (100_000, 100_001, 700_000):
        answer = append(client, upload, DATA[at:end], at)
        assert (answer.status_code, answer.headers["Upload-Complete"]) == (204, "?0")
        assert int(answer.headers["Upload-Offset"]) == end == offset(client, upload)
        at = end
    assert client.get(data_path(attachment)).status_code == 404, "an incomplete upload is readable"
    answer = append(client, upload, DATA[at:], at, complete=True)
    assert (answer.status_code, answer.headers["Upload-Complete"]) == (201, "?1")
    assert answer.json() == {"uniqueID": attachment, "byteCount": len(DATA), "sha256": sha256(DATA)}
    assert download(client, attachment) == DATA
    # For a client that did not receive that response.
    head = client.request("HEAD", upload)
    assert (head.headers["Upload-Complete"], head.headers["Upload-Offset"]) == ("?1", str(len(DATA)))
    again = append(client, upload, b"", len(DATA), complete=True)
    assert (again.status_code, again.headers["Upload-Complete"]) == (200, "?1")
    assert append(client, upload, b"more", len(DATA), complete=True).status_code in (409, 422)


@pytest.mark.parametrize("version, complete", [("3", "Upload-Incomplete: ?0"), ("5", "Upload-Complete: ?1"),
                                               ("6", "Upload-Complete: ?1"), (None, "Upload-Complete: ?1")])  # fmt: skip
def test_a_complete_upload_in_one_request(server, somebody, version, complete):
    attachment = new_id()
    name, _, value = complete.partition(": ")
    headers = {name: value, "Content-Length": str(len(DATA))}
    if version:
        headers["Upload-Draft-Interop-Version"] = version
    with Wire(server.port, somebody.token) as wire:
        wire.send_head("PUT", data_path(attachment), headers)
        if version:
            first = wire.any_response()
            assert (first.status, first.headers["upload-draft-interop-version"]) == (104, version)
            assert first.headers["location"].startswith("/v1/uploads/")
        wire.send(DATA)
        # Without a version, no interim response precedes the final one.
        answer = wire.any_response()
    assert (answer.status, answer.headers[name.lower()]) == (201, value)
    assert answer.headers.get("upload-draft-interop-version") == version
    assert download(somebody, attachment) == DATA


@pytest.mark.parametrize("version", ["3", "6", "8"])
def test_twenty_interruptions(server, somebody, seed, version):
    """As URLSession does: an interrupted request, HEAD, and a PATCH from the offset, which is interrupted again."""
    chance, attachment = random.Random(seed), new_id()
    data = some_bytes(4_000_000, seed)
    completes = {"Upload-Incomplete": "?0"} if version == "3" else {"Upload-Complete": "?1"}
    common = {**completes, "Upload-Draft-Interop-Version": version}
    with Wire(server.port, somebody.token) as wire:
        wire.send_head("PUT", data_path(attachment), {**common, "Content-Length": str(len(data))})
        upload = wire.any_response().headers["location"]
        wire.send(data[: chance.randrange(200_000)])
    at = 0
    for _ in range(20):
        before, at = at, offset(somebody, upload)
        assert at >= before
        with Wire(server.port, somebody.token) as wire:
            wire.send_head("PATCH", upload, {
                **common, **PART, "Upload-Offset": str(at), "Content-Length": str(len(data) - at),
            })  # fmt: skip
            wire.send(data[at : at + chance.randrange(200_000)])
            time.sleep(chance.random() / 50)
    at = offset(somebody, upload)
    assert at > 0
    for _ in range(20):
        answer = somebody.patch(upload, data=data[at:], headers={**common, **PART, "Upload-Offset": str(at)})
        if answer.status_code != 409:
            break
        # The last interrupted request was still being processed. It took over the upload, or added to it.
        at = answer.json().get("uploadOffset", offset(somebody, upload))
    assert answer.status_code == 201, answer.text
    assert download(somebody, attachment) == data


def stored_parts(server) -> int:
    """The number of files or rows that contain bytes of uploads."""
    if server.database:
        [[count]] = query(server, "", "SELECT count(*) FROM upload_parts")
        return int(count)
    return len(list((server.data / "uploads").iterdir()))


def test_an_upload_continues_after_a_restart(fresh_server):
    client = fresh_server.client()
    attachment = new_id()
    upload = begin(client, attachment, {"Upload-Length": str(len(DATA)), "Repr-Digest": digest(DATA)})
    assert append(client, upload, DATA[:400_000], 0).status_code == 204
    fresh_server.kill()
    fresh_server.start()
    assert offset(client, upload) == 400_000
    fresh_server.restart()
    assert append(client, upload, DATA[400_000:], 400_000, complete=True).status_code == 201
    fresh_server.restart()
    assert client.request("HEAD", upload).headers["Upload-Complete"] == "?1"
    assert download(client, attachment) == DATA
    assert stored_parts(fresh_server) == 0


def test_wrong_offsets(somebody):
    upload = begin(somebody, new_id())
    append(somebody, upload, DATA[:1000], 0)
    for at in (0, 999, 1001):
        answer = append(somebody, upload, DATA[at:2000], at)
        assert (answer.status_code, answer.json()["slug"], answer.json()["uploadOffset"]) == (409, "upload-offset", 1000)
        assert (answer.headers["Upload-Offset"], answer.headers["Upload-Complete"]) == ("1000", "?0")
    assert offset(somebody, upload) == 1000


def test_lengths(somebody):
    upload = begin(somebody, new_id(), {"Upload-Length": "1000"})
    short = append(somebody, upload, DATA[:999], 0, complete=True)
    assert (short.status_code, short.json()["pointer"]) == (422, "Upload-Length")
    assert append(somebody, upload, DATA[:999], 0).status_code == 204
    other = append(somebody, upload, b"x", 999, Upload_Length="1001")
    assert (other.status_code, other.json()["pointer"]) == (422, "Upload-Length")
    long = append(somebody, upload, b"xy", 999)
    assert (long.status_code, long.json()["slug"]) == (422, "invalid-field")
    assert append(somebody, upload, b"", 999, complete=True).status_code == 422
    late = begin(somebody, new_id())
    assert append(somebody, late, DATA[:10], 0, Upload_Length="20").status_code == 204
    assert somebody.request("HEAD", late).headers["Upload-Length"] == "20"


def test_digests(somebody):
    attachment = new_id()
    upload = begin(somebody, attachment, {"Repr-Digest": digest(b"something else")})
    wrong_part = append(somebody, upload, DATA[:1000], 0, Content_Digest=digest(DATA[:999]))
    assert (wrong_part.status_code, wrong_part.json()["pointer"]) == (422, "Content-Digest")
    assert offset(somebody, upload) == 0, "a part with a wrong digest was kept"
    assert append(somebody, upload, DATA[:1000], 0, Content_Digest=digest(DATA[:1000])).status_code == 204
    wrong = append(somebody, upload, DATA[1000:], 1000, complete=True)
    assert (wrong.status_code, wrong.json()["pointer"]) == (422, "Repr-Digest")
    assert somebody.get(data_path(attachment)).status_code == 404
    assert somebody.request("HEAD", upload).status_code == 404, "a failed upload can be continued"


def test_bytes_that_are_already_stored(server, somebody):
    attachment = attach(somebody, DATA)
    known = somebody.put(data_path(attachment), data=b"", headers={
        "Upload-Complete": "?0", "Content-Length": "0", "Repr-Digest": digest(DATA),
    })  # fmt: skip
    assert (known.status_code, known.headers["Upload-Complete"]) == (200, "?1"), "the upload is not complete"
    upload = begin(somebody, attachment)
    assert append(somebody, upload, DATA, 0, complete=True).status_code == 200
    upload = begin(somebody, attachment)
    other = append(somebody, upload, b"other bytes", 0, complete=True)
    assert (other.status_code, other.json()["slug"]) == (409, "immutable")
    assert download(somebody, attachment) == DATA


def test_bytes_missing_on_disk_can_be_uploaded_again(fresh_server):
    client = fresh_server.client()
    attachment = attach(client, DATA)
    (file,) = [path for path in (fresh_server.data / "attachments").rglob("*") if attachment in path.name]
    for damage in (file.unlink, lambda: os.truncate(file, 10)):
        damage()
        upload = begin(client, attachment, {"Repr-Digest": digest(DATA)})
        assert append(client, upload, DATA, 0, complete=True).status_code == 201
        assert download(client, attachment) == DATA
    file.unlink()
    assert append(client, upload, b"", len(DATA), complete=True).status_code == 404, "the finished upload does not start again"


def test_options_announce_resumable_uploads(somebody):
    answer = somebody.request("OPTIONS", data_path(new_id()))
    assert (answer.status_code, answer.headers["Accept-Patch"]) == (204, "application/partial-upload")
    assert answer.headers["Upload-Limit"] == "max-size=104857600, max-age=86400"


def test_cancelled_uploads(somebody):
    upload = begin(somebody, new_id())
    append(somebody, upload, DATA[:1000], 0)
    assert somebody.delete(upload).status_code == 204
    for answer in (somebody.request("HEAD", upload), somebody.delete(upload), append(somebody, upload, b"x", 1000)):
        assert answer.status_code == 404


def test_uploads_of_other_accounts(server, somebody):
    upload, other = begin(somebody, new_id()), server.client()
    append(somebody, upload, DATA[:1000], 0)
    for answer in (other.request("HEAD", upload), other.delete(upload), append(other, upload, b"x", 1000)):
        assert answer.status_code == 404
    assert offset(somebody, upload) == 1000


def test_concurrent_requests_for_one_upload(server, somebody):
    """A new request ends the earlier one, and no later byte of it is stored."""
    status = 201
    for attempt in range(8):
        if status == 201:
            attachment = new_id()
            upload = begin(somebody, attachment)
        with Wire(server.port, somebody.token) as first:
            first.send_head("PATCH", upload, {
                **PART, "Upload-Offset": "0", "Upload-Complete": "?1", "Content-Length": str(len(DATA)),
            })  # fmt: skip
            first.send(DATA[:600_000])
            time.sleep(0.05 * 2**attempt)
            at = offset(somebody, upload)
            first.send(DATA[600_000:])
            status = first.response().status
        # If the new request comes too early, it does not end the first one, or nothing of that one has been stored.
        if at:
            break
    assert status == 409
    assert 0 < at <= 600_000
    assert offset(somebody, upload) == at
    assert append(somebody, upload, DATA[at:], at, complete=True).status_code == 201
    assert download(somebody, attachment) == DATA


ROWS = [
    ({"Upload-Complete": "?0"}, "Upload-Offset"), ({"Upload-Offset": "0"}, "Upload-Complete"),
    ({"Upload-Offset": "-1", "Upload-Complete": "?0"}, "Upload-Offset"),
    ({"Upload-Offset": "zero", "Upload-Complete": "?0"}, "Upload-Offset"),
    ({"Upload-Offset": "0", "Upload-Complete": "yes"}, "Upload-Complete"),
    ({"Upload-Offset": "0", "Upload-Complete": "?0", "Upload-Length": "1.5"}, "Upload-Length"),
]  # fmt: skip


@pytest.mark.parametrize("headers, pointer", ROWS)
def test_invalid_headers(somebody, headers, pointer):
    upload = begin(somebody, new_id())
    answer = somebody.patch(upload, data=b"x", headers=PART | headers)
    assert (answer.status_code, answer.json()["pointer"]) == (422, pointer)
    assert offset(somebody, upload) == 0


def test_a_part_needs_its_media_type(somebody):
    upload = begin(somebody, new_id())
    answer = somebody.patch(upload, data=b"x", headers={
        "Upload-Offset": "0", "Upload-Complete": "?0", "Content-Type": "application/octet-stream",
    })  # fmt: skip
    assert answer.status_code == 415
    assert somebody.patch("/v1/uploads/no-id", data=b"x", headers=PART | {
        "Upload-Offset": "0", "Upload-Complete": "?0",
    }).status_code == 404  # fmt: skip


def test_limits():
    with Server(arguments=["--attachment-size", "100000", "--quota", "250000"]) as server:
        client = server.client()
        for headers in ({"Upload-Length": "100001"}, {}):
            begun = client.put(data_path(new_id()), data=b"", headers={
                "Upload-Complete": "?0", "Content-Length": "0", **headers,
            })  # fmt: skip
            assert begun.status_code == (413 if headers else 201)
        assert "max-size=100000" in begun.headers["Upload-Limit"]
        upload = begun.headers["Location"]
        too_large = append(client, upload, DATA[:100_001], 0)
        assert (too_large.status_code, too_large.json()["limit"]) == (413, 100_000)
        # Uploads of unknown length count with the maximum size of an attachment.
        uploads = [begin(client, new_id()) for _ in range(2)]
        full = client.put(data_path(new_id()), data=b"x")
        assert (full.status_code, full.json()["used"]) == (507, 300_000)
        for each in (upload, *uploads):
            assert client.delete(each).status_code == 204
        # The announced lengths of open uploads count against the quota.
        uploads = [begin(client, new_id(), {"Upload-Length": "100000"}) for _ in range(2)]
        full = client.put(data_path(new_id()), data=b"", headers={
            "Upload-Complete": "?0", "Content-Length": "0", "Upload-Length": "50001",
        })  # fmt: skip
        assert (full.status_code, full.json()["slug"]) == (507, "quota-exceeded")
        assert append(client, uploads[0], DATA[:100_000], 0, complete=True).status_code == 201
        assert client.delete(uploads[1]).status_code == 204
        begin(client, new_id(), {"Upload-Length": "100000"})


def test_at_most_100_open_uploads(client):
    uploads = [begin(client, new_id()) for _ in range(100)]
    many = client.put(data_path(new_id()), data=b"", headers={"Upload-Complete": "?0", "Content-Length": "0"})
    assert (many.status_code, many.json()["slug"]) == (429, "too-many-requests")
    client.delete(uploads[0])
    begin(client, new_id())
