"""Attachments in an S3 bucket, served by SeaweedFS."""

import secrets
from collections.abc import Iterator

import pytest
import requests
from attachments import attach, data_path, digest, download, some_bytes, upload
from client import Client, Server
from seaweed import SECRET, SeaweedFS
from waiting import wait_until
from wire import Wire
from writer import new_id

pytestmark = pytest.mark.long

PARTS = some_bytes(20_000_000)  # more than one part of 8 MiB


@pytest.fixture(scope="module")
def seaweed() -> Iterator[SeaweedFS]:
    running = SeaweedFS()
    try:
        running.make_bucket()
        yield running
    finally:
        running.close()


@pytest.fixture(scope="module")
def on_s3(seaweed: SeaweedFS) -> Iterator[Server]:
    with Server(environment=seaweed.environment()) as running:
        yield running


@pytest.fixture
def client(on_s3: Server) -> Client:
    return on_s3.client()


@pytest.mark.parametrize("size", [0, 1, 100_000, 8 << 20, 20_000_000])
def test_sizes(client, size):
    data = PARTS[:size]
    attachment = new_id()
    answer = client.put(data_path(attachment), data=data or b"", headers={
        "Content-Length": str(size), "Repr-Digest": digest(data),
    })  # fmt: skip
    assert answer.status_code == 201, answer.text
    assert download(client, attachment) == data
    assert client.put(data_path(attachment), data=data or b"", headers={"Content-Length": str(size)}).status_code == 200


def test_ranges(client):
    attachment = attach(client, PARTS)
    for begin, end in [(0, 1), (8_388_600, 8_388_700), (19_999_999, 20_000_000)]:
        answer = client.get(data_path(attachment), headers={"Range": f"bytes={begin}-{end - 1}"})
        assert (answer.status_code, answer.content) == (206, PARTS[begin:end])
    several = client.get(data_path(attachment), headers={"Range": "bytes=0-9,10000000-10000009"})
    assert several.status_code == 206 and PARTS[:10] in several.content and PARTS[10_000_000:10_000_010] in several.content


def test_refused_uploads_are_discarded(on_s3, client):
    attachment = new_id()
    wrong = client.put(data_path(attachment), data=PARTS, headers={"Repr-Digest": digest(b"other")})
    assert wrong.status_code == 422
    with Wire(on_s3.port, client.token) as wire:
        wire.send_head("PUT", data_path(attachment), {"Content-Length": str(len(PARTS))})
        wire.send(PARTS[:12_000_000])
    assert client.get(data_path(attachment)).status_code == 404
    assert upload(client, PARTS, attachment) == attachment
    assert download(client, attachment) == PARTS


def test_an_upload_is_resumed(on_s3, client):
    """The incomplete upload is on the server's disk. Only the complete file is stored in the bucket."""
    attachment = new_id()
    with Wire(on_s3.port, client.token) as wire:
        wire.send_head("PUT", data_path(attachment), {
            "Content-Length": str(len(PARTS)), "Upload-Complete": "?1", "Upload-Draft-Interop-Version": "6"})  # fmt: skip
        location = wire.any_response().headers["location"]
        wire.send(PARTS[:12_000_000])
    at = int(client.request("HEAD", location).headers["Upload-Offset"])
    assert at > 0
    answer = client.patch(location, data=PARTS[at:], headers={
        "Upload-Offset": str(at), "Upload-Complete": "?1", "Content-Type": "application/partial-upload",
    })  # fmt: skip
    assert answer.status_code == 201, answer.text
    assert download(client, attachment) == PARTS


def test_check_reads_the_bucket(on_s3, client):
    attach(client, PARTS[:1000])
    checked = on_s3.command("check")
    assert (checked.returncode, checked.stdout.splitlines()[-1].endswith(": no problems found.")) == (0, True), checked


def test_erasing_an_account_removes_its_bytes(on_s3, seaweed, client):
    """By the owner and by the operator. Attachments of other accounts remain, even if their bytes are the same."""
    shared, others = some_bytes(5_000), on_s3.client()
    kept = attach(others, shared)
    own = [secrets.token_bytes(1_000), secrets.token_bytes(9_000_000)]
    for data in (*own, shared):
        attach(client, data)
    by_operator = on_s3.client()
    attach(by_operator, last := secrets.token_bytes(2_000))
    assert {*own, last} <= set(seaweed.contents())

    assert client.delete("/v1/account", json={"password": client.password}).status_code == 204
    wait_until(lambda: set(own).isdisjoint(seaweed.contents()), pause=0.5, failure="the attachment's bytes were not removed")
    done = on_s3.command("account", "delete", by_operator.email, "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    found = seaweed.contents()
    assert last not in found
    assert found.count(shared) == 1
    assert download(others, kept) == shared


def test_the_server_does_not_start_with_wrong_credentials(seaweed):
    for name, environment in [
        ("AWS_SECRET_ACCESS_KEY", seaweed.environment(AWS_SECRET_ACCESS_KEY="wrong")),
        ("AWS_ACCESS_KEY_ID", {**seaweed.environment(), "AWS_ACCESS_KEY_ID": ""}),
        ("HESPER_ATTACHMENTS", seaweed.environment(HESPER_ATTACHMENTS="s3://no-such-bucket")),
    ]:
        server = Server(environment=environment, start=False)
        try:
            server.port = 0
            server.launch()
            assert server.process.wait(30) == 78
            assert name in server.log
            assert SECRET not in server.log
        finally:
            server.process = None
            server.close()


def test_an_unavailable_bucket(seaweed):
    """Attachments return 503 until the bucket is available again. Notes are not affected."""
    environment = seaweed.environment(HESPER_ATTACHMENTS="s3://hesper-tests/of-another-installation")
    with Server(environment=environment) as server:
        client = server.client()
        attachment = attach(client, PARTS[:1_000_000])
        seaweed.stop()
        try:
            unavailable = client.get(data_path(attachment))
            assert (unavailable.status_code, unavailable.json()["slug"]) == (503, "unavailable")
            refused = client.put(data_path(new_id()), data=PARTS[:1000])
            assert (refused.status_code, refused.json()["slug"]) == (503, "unavailable")
            assert int(refused.headers["Retry-After"]) > 0
            assert client.post("/v1/notes", {"text": "without the bucket"}).status_code == 201
            server.restart()
            assert client.post("/v1/notes", {"text": "after a restart"}).status_code == 201
            assert "Cannot read the marker of the attachments; no attachments are removed until it can be read" in server.log
        finally:
            assert seaweed.start()
        for _ in range(20):
            if client.get(data_path(attachment)).status_code == 200:
                break
        assert download(client, attachment) == PARTS[:1_000_000]
        assert requests.get(f"{server.url}/readyz", timeout=10).status_code == 200
