"""`/v1/attachments/{uniqueID}/data`: upload and download of bytes (protocol.md, Attachments; RFC 9110, 13 and 14; RFC 9530)."""

import email
import http.client
import os

import pytest
import requests
from attachments import attach, data_path, digest, download, sha256, some_bytes, upload
from client import Server
from wire import Wire
from writer import new_id

pytestmark = [pytest.mark.both_stores, pytest.mark.thorough_on_postgresql]

DATA = some_bytes(100_000)


@pytest.fixture(scope="module")
def there(somebody) -> str:
    return attach(somebody, DATA)


# Upload


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 524_288, 524_289, 3_000_000])
def test_sizes(somebody, size):
    data = some_bytes(size, size)
    attachment = new_id()
    answer = somebody.put(data_path(attachment), data=data or b"", headers={"Content-Length": str(size)})
    assert answer.status_code == 201, answer.text
    assert answer.json() == {"uniqueID": attachment, "byteCount": size, "sha256": sha256(data)}
    assert answer.headers["Location"] == data_path(attachment)
    assert answer.headers["ETag"] == f'"{sha256(data)}"'
    assert download(somebody, attachment) == data


def test_a_chunked_body(somebody):
    attachment = new_id()
    chunks = (DATA[at : at + 7_777] for at in range(0, len(DATA), 7_777))
    assert somebody.put(data_path(attachment), data=chunks).status_code == 201
    assert download(somebody, attachment) == DATA


def test_repeating_an_upload_is_accepted_and_other_bytes_are_refused(somebody):
    attachment = upload(somebody, DATA)
    again = somebody.put(data_path(attachment), data=DATA)
    assert (again.status_code, again.json()["sha256"]) == (200, sha256(DATA))
    for other in (DATA[:-1], DATA + b"x", b"", DATA[:-1] + b"\0"):
        refused = somebody.put(data_path(attachment), data=other, headers={"Content-Length": str(len(other))})
        assert (refused.status_code, refused.json()["slug"]) == (409, "immutable"), len(other)
    assert download(somebody, attachment) == DATA


def test_stored_bytes_need_not_be_sent(server, somebody, there):
    with Wire(server.port, somebody.token) as wire:
        wire.send_head("PUT", data_path(there), {
            "Content-Length": str(len(DATA)), "Repr-Digest": digest(DATA), "Expect": "100-continue",
        })  # fmt: skip
        answer = wire.any_response()
        assert answer.status in (100, 200)
        if answer.status == 100:
            answer = wire.response()
        assert answer.status == 200


@pytest.mark.parametrize("name", ["Repr-Digest", "Content-Digest"])
def test_digests_are_checked(somebody, name):
    attachment = new_id()
    wrong = somebody.put(data_path(attachment), data=DATA, headers={name: digest(b"other bytes")})
    assert (wrong.status_code, wrong.json()["slug"], wrong.json()["pointer"]) == (422, "invalid-field", name)
    assert somebody.get(data_path(attachment)).status_code == 404, "the refused bytes were stored"
    for bad in ("sha-256=abc", "sha-256=:abc:", "sha-256", "nonsense :", "sha-256=:AAAA:"):
        response = somebody.put(data_path(attachment), data=DATA, headers={name: bad})
        assert (response.status_code, response.json()["pointer"]) == (422, name), bad
    headers = {name: f"sha-512=:AAAA:, {digest(DATA)}"}
    assert somebody.put(data_path(attachment), data=DATA, headers=headers).status_code == 201


def test_an_incomplete_body_is_discarded(server, somebody):
    attachment = new_id()
    with Wire(server.port, somebody.token) as wire:
        wire.send_head("PUT", data_path(attachment), {"Content-Length": str(len(DATA))})
        wire.send(DATA[:50_000])
    assert somebody.get(data_path(attachment)).status_code == 404
    assert upload(somebody, DATA, attachment) == attachment


def test_a_body_needs_a_length(server, somebody):
    with Wire(server.port, somebody.token) as wire:
        wire.send_head("PUT", data_path(new_id()), {})
        assert wire.response().status == 411


def test_content_encoding_is_refused(somebody):
    response = somebody.put(data_path(new_id()), data=DATA, headers={"Content-Encoding": "gzip"})
    assert response.status_code == 415


def test_other_ids(somebody):
    note = somebody.post("/v1/notes", {"text": ""}).json()["uniqueID"]
    response = somebody.put(data_path(note), data=DATA)
    assert (response.status_code, response.json()["slug"]) == (409, "immutable")
    for path in (data_path(new_id()), data_path("no-id"), data_path(note)):
        assert somebody.get(path).status_code == 404
    assert somebody.put(data_path("no-id"), data=DATA).status_code == 404


def test_attachments_of_other_accounts(server, somebody, there):
    other = server.client()
    for response in (other.get(data_path(there)), other.request("HEAD", data_path(there))):
        assert response.status_code == 404
    # The same ID in another account refers to another attachment.
    assert upload(other, b"other bytes", there) == there
    assert download(somebody, there) == DATA
    assert download(other, there) == b"other bytes"


def test_limits():
    arguments = ["--attachment-size", "100KiB", "--quota", "200000"]
    with Server(arguments=arguments) as server:
        client = server.client()
        limits = client.get("/v1/server").json()["limits"]
        assert (limits["attachmentBytes"], limits["quotaBytes"]) == (102_400, 200_000)
        assert client.get("/v1/account").json()["quotaBytes"] == 200_000
        # Refused before the body is sent.
        with Wire(server.port, client.token) as wire:
            wire.send_head("PUT", data_path(new_id()), {"Content-Length": "102401", "Expect": "100-continue"})
            answer = wire.any_response()
            assert (answer.status, answer.headers["connection"]) == (413, "close")
        too_large = client.put(data_path(new_id()), data=(DATA[:10_000] for _ in range(11)))
        assert (too_large.status_code, too_large.json()["limit"]) == (413, 102_400)
        first = upload(client, DATA)
        with Wire(server.port, client.token) as wire:
            wire.send_head("PUT", data_path(new_id()), {"Content-Length": "100001", "Expect": "100-continue"})
            answer = wire.any_response()
            assert (answer.status, answer.headers["connection"]) == (507, "close")
        full = client.put(data_path(new_id()), data=some_bytes(100_001))
        assert (full.status_code, full.json()["slug"]) == (507, "quota-exceeded")
        assert (full.json()["limit"], full.json()["used"]) == (200_000, 100_000)
        in_chunks = client.put(data_path(new_id()), data=iter([some_bytes(50_001), some_bytes(50_000)]))
        assert (in_chunks.status_code, in_chunks.json()["slug"]) == (507, "quota-exceeded")
        second = upload(client, DATA)
        assert client.put(data_path(second), data=DATA).status_code == 200, "a repeated upload uses no storage"
        assert client.delete(f"/v1/attachments/{first}").status_code in (200, 404)
        files = list((server.data / "attachments").glob("*/*/*"))
        assert len(files) == 2, "refused uploads left files"


# Download


def test_headers(somebody, there):
    for method in ("GET", "HEAD"):
        answer = somebody.request(method, data_path(there))
        assert answer.status_code == 200
        expected = {
            "ETag": f'"{sha256(DATA)}"', "Repr-Digest": digest(DATA), "Content-Digest": digest(DATA),
            "Cache-Control": "private, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
            "Accept-Ranges": "bytes", "Content-Type": "image/png", "Content-Length": "100000",
            "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
        }  # fmt: skip
        assert {name: answer.headers.get(name) for name in expected} == expected
        assert answer.content == (DATA if method == "GET" else b"")


RANGES = [
    ("bytes=0-9", [(0, 10)]), ("bytes=99990-", [(99_990, 100_000)]), ("bytes=-10", [(99_990, 100_000)]),
    ("bytes=99999-200000", [(99_999, 100_000)]), ("bytes=-200000", [(0, 100_000)]), ("bytes=0-0", [(0, 1)]),
    ("bytes = 5-6", [(5, 7)]), ("BYTES=5-6", [(5, 7)]), ("bytes=0-9,200000-", [(0, 10)]),
    ("bytes=0-9,20-29", [(0, 10), (20, 30)]), ("bytes=20-29, 0-9", [(20, 30), (0, 10)]),
    ("bytes=0-9,5-19", [(0, 20)]), ("bytes=-5,0-4,50000-50000", [(99_995, 100_000), (0, 5), (50_000, 50_001)]),
    ("bytes=0-99999999999999999999", [(0, 100_000)]),
]  # fmt: skip


@pytest.mark.parametrize("value, expected", RANGES, ids=[value for value, _ in RANGES])
def test_ranges(somebody, there, value, expected):
    answer = somebody.get(data_path(there), headers={"Range": value})
    assert answer.status_code == 206
    assert int(answer.headers["Content-Length"]) == len(answer.content)
    assert answer.headers["Repr-Digest"] == digest(DATA) and "Content-Digest" not in answer.headers
    if len(expected) == 1:
        (begin, end), = expected
        assert answer.headers["Content-Range"] == f"bytes {begin}-{end - 1}/100000"
        assert answer.content == DATA[begin:end]
        return
    message = email.message_from_bytes(
        b"Content-Type: " + answer.headers["Content-Type"].encode() + b"\r\n\r\n" + answer.content
    )
    parts = message.get_payload()
    assert [part["Content-Range"] for part in parts] == [f"bytes {a}-{b - 1}/100000" for a, b in expected]
    boundary = answer.headers["Content-Type"].partition("boundary=")[2].encode()
    bodies = [part.split(b"\r\n\r\n", 1)[1][:-2] for part in answer.content.split(b"--" + boundary)[1:-1]]
    assert bodies == [DATA[a:b] for a, b in expected]


@pytest.mark.parametrize(
    "value",
    ["bytes", "bytes=", "bytes=a-b", "bytes=9-0", "bytes=-", "bytes=1-2-3", "items=0-9", "bytes=0-9;", "bytes=--5",
     "bytes=+1-2", ",".join(["bytes=0-1"] + ["2-3"] * 16)],
)  # fmt: skip
def test_invalid_ranges_are_ignored(somebody, there, value):
    answer = somebody.get(data_path(there), headers={"Range": value})
    assert (answer.status_code, len(answer.content)) == (200, 100_000)


@pytest.mark.parametrize("value", ["bytes=100000-", "bytes=-0", "bytes=200000-300000,100000-100001"])
def test_ranges_beyond_the_end(somebody, there, value):
    answer = somebody.get(data_path(there), headers={"Range": value})
    assert (answer.status_code, answer.json()["slug"]) == (416, "range-not-satisfiable")
    assert answer.headers["Content-Range"] == "bytes */100000"
    assert somebody.request("HEAD", data_path(there), headers={"Range": value}).status_code == 200


def test_conditions(somebody, there):
    tag = f'"{sha256(DATA)}"'
    for value in (tag, "*", f'"x", {tag}'):
        answer = somebody.get(data_path(there), headers={"If-None-Match": value})
        assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", tag)
    assert somebody.get(data_path(there), headers={"If-None-Match": '"x"'}).status_code == 200
    assert somebody.get(data_path(there), headers={"If-Match": '"x"'}).status_code == 412
    assert somebody.get(data_path(there), headers={"If-Match": tag}).status_code == 200
    part = {"Range": "bytes=0-9"}
    assert somebody.get(data_path(there), headers=part | {"If-Range": tag}).status_code == 206
    for other in ('"x"', f"W/{tag}", "Sat, 21 Nov 2026 08:00:00 GMT"):
        assert somebody.get(data_path(there), headers=part | {"If-Range": other}).status_code == 200


TYPES = [
    ("image/png", None, "image/png", "inline; filename={id}"),
    ("IMAGE/JPEG", "a.jpg", "image/jpeg", 'inline; filename="a.jpg"'),
    ("text/html", "a.html", "application/octet-stream", 'attachment; filename="a.html"'),
    ("image/svg+xml", "a.svg", "application/octet-stream", 'attachment; filename="a.svg"'),
    ("application/pdf", "a.pdf", "application/octet-stream", 'attachment; filename="a.pdf"'),
    ("application/xhtml+xml", "a", "application/octet-stream", 'attachment; filename="a"'),
    ("text/javascript", "a.js", "application/octet-stream", 'attachment; filename="a.js"'),
    ("text/plain", "a.txt", "text/plain", 'inline; filename="a.txt"'),
    ("image/png", 'ä "b".png', "image/png", "inline; filename=\"_ _b_.png\"; filename*=UTF-8''%C3%A4%20%22b%22.png"),
    ("image/png", "../../etc/passwd", "image/png", 'inline; filename="passwd"'),
    ("image/png", "a\r\nX-Evil: yes", "image/png",
     "inline; filename=\"a__X-Evil: yes\"; filename*=UTF-8''a%0D%0AX-Evil%3A%20yes"),
]  # fmt: skip


@pytest.mark.parametrize("mime_type, filename, content_type, disposition", TYPES)
def test_browsers_do_not_execute_attachments(somebody, mime_type, filename, content_type, disposition):
    attachment = attach(somebody, b"<script>alert(1)</script>", mime_type, **({"filename": filename} if filename else {}))
    answer = somebody.get(data_path(attachment))
    assert answer.headers["Content-Type"] == content_type
    assert answer.headers["Content-Disposition"] == disposition.format(id=f'"{attachment}"')
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]


def test_bytes_without_an_attachment_are_readable_and_not_cached(somebody):
    attachment = upload(somebody, DATA)
    answer = somebody.get(data_path(attachment))
    assert (answer.content, answer.headers["Cache-Control"]) == (DATA, "no-store")
    assert answer.headers["Content-Type"] == "application/octet-stream"


def test_aborted_downloads_leak_no_files(server, client):
    data = some_bytes(20_000_000)
    attachment = upload(client, data)
    before = len(os.listdir(f"/proc/{server.pid}/fd"))
    for _ in range(20):
        with Wire(server.port, client.token) as wire:
            wire.send_head("GET", data_path(attachment), {})
            wire.reader.read(1_000)
    assert download(client, attachment) == data
    assert len(os.listdir(f"/proc/{server.pid}/fd")) < before + 15


def test_bytes_missing_on_disk_are_an_error(fresh_server):
    client = fresh_server.client()
    data = some_bytes(5_000_000)
    attachment = upload(client, data)
    (file,) = [path for path in (fresh_server.data / "attachments").rglob("*") if attachment in path.name]
    os.truncate(file, 4_000_000)
    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError, http.client.IncompleteRead)):
        client.get(data_path(attachment))
    file.unlink()
    answer = client.get(data_path(attachment))
    assert (answer.status_code, answer.json()["slug"]) == (500, "internal-error")
    assert str(file) not in answer.text


@pytest.mark.parametrize("is_checked", [False, True])
def test_bytes_missing_on_disk_can_be_uploaded_again(fresh_server, is_checked):
    client = fresh_server.client()
    attachment = attach(client, DATA)
    (file,) = [path for path in (fresh_server.data / "attachments").rglob("*") if attachment in path.name]
    headers = {"Repr-Digest": digest(DATA)} if is_checked else {}
    for damage in (file.unlink, lambda: os.truncate(file, 10)):
        damage()
        other = client.put(data_path(attachment), data=DATA[:-1] + b"\0")
        assert (other.status_code, other.json()["slug"]) == (409, "immutable")
        answer = client.put(data_path(attachment), data=DATA, headers=headers)
        assert (answer.status_code, answer.json()["sha256"]) == (201, sha256(DATA))
        assert download(client, attachment) == DATA
        assert client.put(data_path(attachment), data=DATA, headers=headers).status_code == 200
    assert fresh_server.command("check").returncode == 0
