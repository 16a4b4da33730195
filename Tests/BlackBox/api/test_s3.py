"""Attachments in a bucket: the same routes, with a real server of S3's API behind them."""

import secrets
import time
from collections.abc import Iterator

import pytest
import requests
from attachments import attach, data_path, digest, download, some_bytes, upload
from client import Client, Server
from seaweed import SECRET, SeaweedFS
from wire import Wire
from writer import new_id

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
def test_every_size_comes_back_as_it_went(client, size):
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


def test_what_is_refused_leaves_nothing(on_s3, client):
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
    """What waits for the rest is on the server's own disk; the bucket gets it whole."""
    attachment = new_id()
    with Wire(on_s3.port, client.token) as wire:
        wire.send_head("PUT", data_path(attachment), {
            "Content-Length": str(len(PARTS)), "Upload-Complete": "?1", "Upload-Draft-Interop-Version": "6"})  # fmt: skip
        location = wire.answer_or_interim().headers["location"]
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


def test_an_erased_account_leaves_no_bytes(on_s3, seaweed, client):
    """By its owner, and by the operator; another's stay, also where they are the same."""
    shared, others = some_bytes(5_000), on_s3.client()
    kept = attach(others, shared)
    own = [secrets.token_bytes(1_000), secrets.token_bytes(9_000_000)]
    for data in (*own, shared):
        attach(client, data)
    by_operator = on_s3.client()
    attach(by_operator, last := secrets.token_bytes(2_000))
    assert {*own, last} <= set(seaweed.contents())

    assert client.delete("/v1/account", json={"password": client.password}).status_code == 204
    deadline = time.monotonic() + 60
    while set(own) & set(seaweed.contents()):
        assert time.monotonic() < deadline, "its bytes are still there"
        time.sleep(0.5)
    done = on_s3.command("account", "delete", by_operator.email, "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    found = seaweed.contents()
    assert last not in found
    assert found.count(shared) == 1
    assert download(others, kept) == shared


def test_wrong_credentials_are_named_and_nothing_starts(seaweed):
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


def test_a_bucket_that_is_away(seaweed):
    """Notes go on; attachments are unavailable, and come back by themselves."""
    place = seaweed.environment(HESPER_ATTACHMENTS="s3://hesper-tests/of-another-installation")
    with Server(environment=place) as server:
        client = server.client()
        attachment = attach(client, PARTS[:1_000_000])
        seaweed.stop()
        try:
            away = client.get(data_path(attachment))
            assert (away.status_code, away.json()["slug"]) == (503, "unavailable")
            refused = client.put(data_path(new_id()), data=PARTS[:1000])
            assert (refused.status_code, refused.json()["slug"]) == (503, "unavailable")
            assert int(refused.headers["Retry-After"]) > 0
            assert client.post("/v1/notes", {"text": "notes go on"}).status_code == 201
            server.restart()
            assert client.post("/v1/notes", {"text": "after a restart, too"}).status_code == 201
        finally:
            assert seaweed.start()
        for _ in range(20):
            if client.get(data_path(attachment)).status_code == 200:
                break
        assert download(client, attachment) == PARTS[:1_000_000]
        assert requests.get(f"{server.url}/readyz", timeout=10).status_code == 200
