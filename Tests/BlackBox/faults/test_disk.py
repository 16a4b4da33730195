"""The disk is full, or fails, under a running server: nothing acknowledged is lost, reads go on, writes resume."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from client import PASSWORD, Client, Refused
from disks import Disk, disk
from storm import Author, Storm
from verdict import check_data, push_again, settle

REFUSED = (503, 507)
WRITES = ["full", "file limit", "write", "sync"]
MOST_PUSHES = 2_000


@pytest.fixture
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    with disk(request.param, tmp_path) as made:
        yield made


def push_until_refused(author: Author) -> None:
    """Some pushes may still fit; then one is refused, whose words the device keeps."""
    for _ in range(MOST_PUSHES):
        for _ in range(3):
            author.device.make_note("a text that takes some room\n" * 1_000)
        if not author.change_and_push():
            return
    raise AssertionError("the disk never was full")


def storm_until_refused(storm: Storm) -> None:
    """All devices push at once, so that pushes share the commit that fails."""
    with ThreadPoolExecutor(len(storm.authors)) as pool:
        list(pool.map(push_until_refused, storm.authors))
    # What did not fit as they pushed together may fit when one pushes alone.
    for author in storm.authors:
        for _ in range(MOST_PUSHES):
            if author.push(author.lost) is None:
                break
            push_until_refused(author)


def check_refusal(author: Author) -> None:
    """503 with Retry-After, or 507, in the form that every problem has."""
    push = author.lost
    with pytest.raises(Refused) as refusal:
        author.device.send(push)
    response, problem = refusal.value.response, refusal.value.problem
    assert (response.status_code, problem["slug"]) in [(503, "unavailable"), (507, "storage-full")]
    assert problem["type"] == f"/problems/{problem['slug']}"
    assert problem["requestID"] == response.headers["X-Request-ID"]
    if response.status_code == 503:
        assert int(response.headers["Retry-After"]) > 0
    for secret in ("SQLite", "sqlite", "disk"):
        assert secret not in response.text


def check_reads(storm: Storm) -> None:
    """Whoever only reads notices nothing, and gets everything that was acknowledged."""
    storm.check()
    for author in storm.authors:
        client = author.device.client
        note = author.shared[0]
        for path in ("/readyz", "/healthz", "/v1/server", "/v1/account", "/v1/devices", f"/v1/notes/{note}"):
            assert client.get(path).status_code == 200, path
        for path in ("/v1/notes", "/v1/changes", "/v1/digests", "/v1/recently-deleted", f"/v1/notes/{note}/edits"):
            assert client.get(path).status_code == 200, path
        # What has been indexed is found; more cannot be indexed now.
        assert client.get("/v1/search", params={"q": "shared"}).status_code in (200, 503)
        assert client.sync(since=author.device.token)["results"] == []


@pytest.mark.parametrize("broken", WRITES, indirect=True)
def test_a_disk_that_takes_nothing(broken: Disk, seed: int) -> None:
    storm = Storm(broken.server, seed, devices=2)
    for _ in range(10):
        for author in storm.authors:
            assert author.change_and_push()
    broken.fail()
    storm_until_refused(storm)
    for author in storm.authors:
        assert set(author.refused) <= {"unavailable", "storage-full"}
        check_refusal(author)
    check_reads(storm)
    check_other_writes(storm.authors[0].device.client, storm.authors[0].shared[0])
    broken.mend()
    for author in storm.authors:
        push_again(author)
        assert author.change_and_push()
    storm.check(everything=True)
    settle(storm)
    assert storm.authors[0].device.client.get("/v1/search", params={"q": "shared"}).status_code == 200
    assert broken.server.stop() == 0
    check_data(broken.server)


def check_other_writes(client: Client, note: str) -> None:
    """The resource routes and signing in say the same; what a refused call carried is not there.

    A small write may still fit, when it was a large one that did not.
    """
    before = client.get(f"/v1/notes/{note}")
    text = before.json()["text"]
    small = client.patch(f"/v1/notes/{note}", {"attributes": {"small": 1}})
    assert small.status_code in (200, *REFUSED), small.text
    made = client.post("/v1/notes", {"text": "x" * 1_000_000, "tags": []})
    assert made.status_code in REFUSED, made.text
    changed = client.patch(f"/v1/notes/{note}", {"text": "y" * 1_000_000})
    assert changed.status_code in REFUSED, changed.text
    assert client.get(f"/v1/notes/{note}").json()["text"] == text
    other = Client(client.url)
    body = {"email": client.email, "password": PASSWORD, "deviceName": "while it fails"}
    assert other.post("/v1/devices", body).status_code in (201, *REFUSED)


@pytest.mark.parametrize("broken", WRITES, indirect=True)
def test_a_crash_while_the_disk_takes_nothing(broken: Disk, seed: int) -> None:
    """What was refused may have reached the disk before the crash: all of a push, or nothing of it."""
    storm = Storm(broken.server, seed, devices=2)
    broken.fail()
    storm_until_refused(storm)
    broken.server.kill()
    broken.mend()
    check_data(broken.server)
    broken.server.start()
    storm.reconnect()
    storm.check()
    for author in storm.authors:
        push_again(author)
    settle(storm)
    storm.check(everything=True)


@pytest.mark.parametrize("broken", ["read"], indirect=True)
def test_a_disk_that_cannot_be_read(broken: Disk, seed: int) -> None:
    """What cannot be read is not taken for missing: no 404, no 401, no shorter list. All works when the disk does.

    (SQLite takes an EIO for a damaged file, which is no reason to send the same again: 500, and the log says what.)
    """
    storm = Storm(broken.server, seed, accounts=1, devices=1)
    [author] = storm.authors
    for _ in range(5):
        assert author.change_and_push()
    # What a connection has read it may know for a while; these processes know nothing.
    broken.server.restart()
    storm.reconnect()
    client, paths = author.device.client, ["/v1/notes", "/v1/changes", f"/v1/notes/{author.shared[0]}"]
    whole = {path: client.get(path).json() for path in paths}
    broken.server.restart()
    broken.fail()
    answers = {path: client.get(path) for path in paths}
    assert any(answer.status_code != 200 for answer in answers.values())
    for path, answer in answers.items():
        assert answer.status_code in (200, 500, 503), (path, answer.text)
        if answer.status_code == 200:
            assert answer.json() | {"serverClock": ""} == whole[path] | {"serverClock": ""}
        assert "SQLite" not in answer.text
    assert not author.change_and_push()
    assert set(author.refused) <= {"internal-error", "unavailable"}
    assert client.get("/healthz").status_code == 200
    assert "SQLite" in broken.server.log
    broken.mend()
    assert client.get("/readyz").status_code == 200
    push_again(author)
    settle(storm)
    storm.check(everything=True)
    assert broken.server.stop() == 0
    check_data(broken.server)
