"""`kill -9` during uploads, repeatedly: no incomplete file is served, and no acknowledged one is missing.

HESPER_KILLS is the number of kills (default 3, in `make test-all` 20).
"""

import os
import threading
import time
import uuid
from random import Random

import pytest
import requests
from attachments import data_path, some_bytes
from client import Client, Server
from verdict import check_data

pytestmark = [pytest.mark.both_stores, pytest.mark.long]

KILLS = int(os.environ.get("HESPER_KILLS", "3"))
UPLOADERS = 6
PART = {"Content-Type": "application/partial-upload"}


class Uploader:
    """Uploads files, half of them resumable in parts, until the server ends."""

    def __init__(self, client: Client, seed: int):
        self.client, self.random, self.count = client, Random(seed), 0
        self.acknowledged: dict[str, bytes] = {}
        self.lost: dict[str, bytes] = {}  # begun without a final response
        self.uploads: dict[str, str] = {}  # URLs of resumable uploads
        self.offsets: dict[str, int] = {}  # acknowledged offsets of resumable uploads

    def run(self) -> None:
        for _ in range(10_000):
            size = self.random.choice([0, 1_000, 100_000, 600_000, 3_000_000])
            data, attachment = some_bytes(size, self.random.random()), str(uuid.uuid4())
            self.lost[attachment] = data
            try:
                (self.upload_in_parts if self.random.random() < 0.5 else self.upload_at_once)(attachment, data)
            except requests.RequestException:
                return
            self.acknowledged[attachment] = self.lost.pop(attachment)

    def upload_at_once(self, attachment: str, data: bytes) -> None:
        answer = self.client.put(data_path(attachment), data=data, headers={"Content-Length": str(len(data))})
        assert answer.status_code == 201, answer.text

    def upload_in_parts(self, attachment: str, data: bytes) -> None:
        answer = self.client.put(data_path(attachment), data=b"", headers={
            "Upload-Complete": "?0", "Content-Length": "0", "Upload-Length": str(len(data)),
        })  # fmt: skip
        assert answer.status_code == 201, answer.text
        self.uploads[attachment] = answer.headers["Location"]
        self.append(attachment, data, 0)

    def append(self, attachment: str, data: bytes, at: int) -> None:
        while True:
            end = min(at + self.random.randint(1, 1_000_000), len(data))
            answer = self.client.patch(self.uploads[attachment], data=data[at:end], headers=PART | {
                "Upload-Offset": str(at), "Upload-Complete": "?1" if end == len(data) else "?0",
                "Content-Length": str(end - at),
            })  # fmt: skip
            assert answer.status_code in (200, 201, 204), answer.text
            self.offsets[attachment] = at = end
            if answer.status_code != 204:
                return

    def check(self) -> int:
        """Checks acknowledged files, and that others are complete or absent. Returns how many of the latter are present."""
        for attachment in self.random.sample(sorted(self.acknowledged), min(20, len(self.acknowledged))):
            assert self.client.get(data_path(attachment)).content == self.acknowledged[attachment]
        present = 0
        for attachment, data in self.lost.items():
            answer = self.client.get(data_path(attachment))
            assert answer.status_code == 404 or answer.content == data, (answer.status_code, len(answer.content))
            present += answer.status_code == 200
        return present

    def resume(self) -> None:
        for attachment, data in list(self.lost.items()):
            if attachment in self.uploads:
                head = self.client.request("HEAD", self.uploads[attachment])
                assert head.status_code == 204
                at = int(head.headers["Upload-Offset"])
                assert self.offsets.get(attachment, 0) <= at <= len(data), "acknowledged bytes are missing"
                if head.headers["Upload-Complete"] == "?0":
                    self.append(attachment, data, at)
            else:
                answer = self.client.put(data_path(attachment), data=data, headers={"Content-Length": str(len(data))})
                assert answer.status_code in (200, 201), answer.text
            self.acknowledged[attachment] = self.lost.pop(attachment)


@pytest.mark.thorough_on_postgresql
@pytest.mark.timeout(120 + 15 * KILLS)
def test_kills_during_uploads(fresh_server: Server, seed: int) -> None:
    random = Random(seed)
    first = fresh_server.client()
    uploaders = [Uploader(first.another_device(), seed * 100 + index) for index in range(UPLOADERS)]
    for kill in range(KILLS):
        threads = [threading.Thread(target=each.run) for each in uploaders]
        for thread in threads:
            thread.start()
        time.sleep(random.random() * 1.5)
        fresh_server.kill()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        check_files(fresh_server)
        fresh_server.start()
        present = sum(each.check() for each in uploaders)
        lost = sum(len(each.lost) for each in uploaders)
        for each in uploaders:
            each.resume()
        acknowledged = sum(len(each.acknowledged) for each in uploaders)
        print(f"kill {kill + 1}: {acknowledged} acknowledged, {present} of {lost} without a response are stored")
    for each in uploaders:
        for attachment, data in each.acknowledged.items():
            assert each.client.get(data_path(attachment)).content == data
    fresh_server.stop()
    check_files(fresh_server)


def check_files(server: Server) -> None:
    """Checks with `hesper check` that no bytes are missing. Unreferenced files are reported but are not an error."""
    checked = server.command("check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert all(line.endswith("attachments read") for line in checked.stderr.splitlines()), checked.stderr
    lines = checked.stdout.splitlines()
    assert lines[-1].endswith(": no problems found."), checked.stdout
    assert all("not assigned to any attachment" in line for line in lines[:-1]), checked.stdout


def test_the_check_finds_missing_and_damaged_files(fresh_server: Server) -> None:
    client = fresh_server.client()
    ids = [str(uuid.uuid4()) for _ in range(3)]
    for attachment in ids:
        assert client.put(data_path(attachment), data=some_bytes(10_000)).status_code == 201
    files = {each: path for each in ids for path in (fresh_server.data / "attachments").rglob(f"{each}*")}
    fresh_server.stop()
    check_data(fresh_server)
    files[ids[0]].unlink()
    files[ids[1]].write_bytes(some_bytes(10_000, 1))
    files[ids[2]].write_bytes(some_bytes(9_999))
    (fresh_server.data / "attachments/1/00").mkdir(parents=True, exist_ok=True)
    (fresh_server.data / "attachments/1/00/stray").write_text("somebody's own")
    checked = fresh_server.command("check")
    assert checked.returncode == 1
    assert f"The data of attachment {ids[0]} is missing" in checked.stdout
    assert f"{ids[1]}" in checked.stdout and "does not match its SHA-256" in checked.stdout
    assert "has 9999 bytes instead of 10000" in checked.stdout
    assert "1 file with 14 bytes not assigned to any attachment" in checked.stdout
