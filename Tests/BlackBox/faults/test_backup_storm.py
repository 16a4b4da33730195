"""Backups while many clients push, and interrupted backups: a backup has the state of one moment, or is not valid."""

import shutil
import subprocess
import threading
import time
from pathlib import Path
from random import Random

import pytest
from attachments import attach, download, some_bytes
from client import BINARY, Server
from convergence import contents, settle
from device import Device
from runner import ENVIRONMENT, run

pytestmark = pytest.mark.long


class Writer(threading.Thread):
    """A device of its own account that writes and syncs until `stop` is set."""

    def __init__(self, server: Server, number: int, stop: threading.Event):
        super().__init__(daemon=True)
        self.device, self.random, self.stop = Device(server.client()), Random(number), stop
        self.pictures: dict[str, bytes] = {}
        self.error: BaseException | None = None
        self.pushes = 0

    def run(self) -> None:
        try:
            notes: list[str] = []
            while not self.stop.is_set():
                notes += [self.device.make_note(f"{self.pushes} {index}") for index in range(5)]
                self.device.write(self.random.choice(notes), f"again {self.pushes}")
                if self.pushes % 7 == 3:
                    self.device.delete(notes.pop(self.random.randrange(len(notes))))
                if self.pushes % 5 == 2:
                    data = self.random.randbytes(20_000)
                    self.pictures[attach(self.device.client, data)] = data
                self.device.sync()
                self.pushes += 1
        except BaseException as error:  # noqa: BLE001 - reported by the test
            self.error = error


@pytest.fixture
def storm(fresh_server: Server, everything: bool):
    stop = threading.Event()
    writers = [Writer(fresh_server, number, stop) for number in range(32 if everything else 8)]
    for writer in writers:
        writer.start()
    yield fresh_server, writers, stop
    stop.set()
    for writer in writers:
        writer.join(60)


def pushes(writers: list[Writer]) -> int:
    return sum(writer.pushes for writer in writers)


def wait_for(writers: list[Writer], count: int) -> None:
    """Waits until the writers have pushed `count` times in total."""
    for _ in range(20_000):
        if pushes(writers) >= count:
            return
        assert not any(writer.error for writer in writers), [writer.error for writer in writers]
        time.sleep(0.01)
    raise AssertionError("the writers stopped pushing")


@pytest.mark.timeout(900)
def test_backup_while_clients_push(storm, tmp_path: Path) -> None:
    """The restored server is consistent. Devices sign in again and send what it lacks, until all digests are equal."""
    server, writers, stop = storm
    wait_for(writers, 3 * len(writers))
    before = pushes(writers)
    for _ in range(2):
        done = server.command("backup", str(tmp_path / "backup"))
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert pushes(writers) > before, "no push was made during the backup"
    wait_for(writers, pushes(writers) + len(writers))
    stop.set()
    for writer in writers:
        writer.join(60)
        assert writer.error is None, writer.error
    for writer in writers:
        settle(writer.device, rounds=1)
    held = [writer.device.copy.digest for writer in writers]
    assert server.command("check").returncode == 0

    assert run(tmp_path, "restore", "backup", "--data", "data").returncode == 0
    checked = run(tmp_path, "check", "--data", "data")
    assert checked.stdout == f"Checked {len(writers)} accounts: no problems found.\n"
    with Server(tmp_path / "data") as restored:
        for writer in writers:
            writer.device.client.url = restored.url
            writer.device.client.sign_in(writer.device.client.email)
            upload_missing_pictures(writer)
            settle(writer.device, rounds=2)
            other = Device(writer.device.client.another_device())
            other.sync()
            assert contents(other.copy) == contents(writer.device.copy)
        assert [writer.device.copy.digest for writer in writers] == held
        for writer in writers[:4]:
            for attachment, data in writer.pictures.items():
                assert download(writer.device.client, attachment) == data
        assert restored.command("check").returncode == 0


def upload_missing_pictures(writer: Writer) -> None:
    """Uploads the bytes that the restored server lacks, before their attachments (protocol.md, Sync)."""
    for attachment, data in writer.pictures.items():
        path = f"/v1/attachments/{attachment}/data"
        if writer.device.client.request("HEAD", path).status_code == 404:
            assert writer.device.client.put(path, data=data).status_code == 201


def test_a_backup_is_killed(fresh_server: Server, tmp_path: Path, seed: int, everything: bool) -> None:
    """After each kill, the folder contains the previous backup, the new one, or none yet."""
    client, random, backup = fresh_server.client(), Random(seed), tmp_path / "backup"
    device = Device(client)
    for number in range(60):
        attach(client, some_bytes(30_000, number))
    made: list[int] = []
    turns = 12 if everything else 6
    for turn in range(turns):
        device.make_note(f"turn {turn}")
        device.sync()
        command = [str(BINARY), "backup", str(backup), "--data", str(fresh_server.data)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        try:
            process.wait(random.choice([0.02, 0.05, 0.1, 0.2, 0.4]) if turn < turns - 1 else 60)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
        process.stdout.close()
        if process.returncode == 0:
            made.append(turn)
        data = tmp_path / f"data-{turn}"
        restored = run(tmp_path, "restore", backup, "--data", data)
        if restored.returncode == 0:
            assert run(tmp_path, "check", "--data", data).returncode == 0
            # The restored backup is not older than the last one that was completed.
            assert notes_in(data, client.email, tmp_path) >= (made[-1] + 1 if made else 1)
        else:
            assert not made, restored.stderr
            assert "contains no complete backup" in restored.stderr
        shutil.rmtree(data, ignore_errors=True)
    assert made[-1:] == [turns - 1]
    assert fresh_server.command("check").returncode == 0


def notes_in(data: Path, email: str, folder: Path) -> int:
    """The number of notes of an account."""
    listed = run(folder, "account", "list", "--data", data).stdout
    line = next(line for line in listed.splitlines() if line.startswith(email))
    return int(line.split("\t")[2]) - 60
