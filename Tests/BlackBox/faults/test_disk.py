"""The disk is full or fails: nothing acknowledged is lost, reading works, and writing resumes afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from disks import Disk, disk
from refusals import check_other_writes, check_reads, check_refusal, storm_until_refused
from storm import Storm
from verdict import check_data, push_again, settle

pytestmark = pytest.mark.long

WRITES = ["full", "file limit", "write", "sync"]


def rows(*first: str) -> list:
    """All faults. `make test` has these, so that each fault is in one of the two tests."""
    return [each if each in first else pytest.param(each, marks=pytest.mark.thorough) for each in WRITES]


@pytest.fixture
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    with disk(request.param, tmp_path) as made:
        yield made


@pytest.mark.parametrize("broken", rows("full", "write"), indirect=True)
def test_writes_fail(broken: Disk, seed: int) -> None:
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


@pytest.mark.parametrize("broken", rows("file limit", "sync"), indirect=True)
def test_a_crash_while_writes_fail(broken: Disk, seed: int) -> None:
    """A refused push may have reached the disk before the crash, but only as a whole."""
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
def test_reads_fail(broken: Disk, seed: int) -> None:
    """Unreadable data is not treated as missing: no 404, no 401, no shorter list. Everything works after the repair.

    SQLite reports EIO as a damaged file. Repeating the request would not help, so the status is 500 and the log has the cause.
    """
    storm = Storm(broken.server, seed, accounts=1, devices=1)
    [author] = storm.authors
    for _ in range(5):
        assert author.change_and_push()
    # A connection may have cached what it read, so the server is restarted.
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
