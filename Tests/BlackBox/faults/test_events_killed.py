"""Event streams resume after the server was killed: no acknowledged change is missing or out of order."""

import threading
import time
from random import Random

import pytest
import requests
from client import ErrorResponse
from device import Device
from follower import Follower

pytestmark = pytest.mark.both_stores


@pytest.mark.thorough_on_postgresql
def test_streams_resume_after_a_kill(fresh_server, seed, everything):
    kills = 6 if everything else 3
    random = Random(seed)
    device = Device(fresh_server.client())
    followers = [Follower(device.client.another_device(), Random(random.random())) for _ in range(3)]
    is_pushing = threading.Event()
    is_pushing.set()
    failures: list[BaseException] = []

    def push() -> None:
        deadline = time.monotonic() + 90
        notes: list[str] = []
        while is_pushing.is_set() and time.monotonic() < deadline:
            if notes and random.random() < 0.5:
                note = random.choice(notes)
                device.write(note, device.text(note) + "more\n")
            else:
                notes.append(device.make_note(f"note {len(notes)}\n"))
            try:
                device.sync()
            except (requests.RequestException, ErrorResponse):
                time.sleep(0.02)
            except BaseException as failure:
                failures.append(failure)
                return

    writer = threading.Thread(target=push)
    for thread in [*followers, writer]:
        thread.start()
    for _ in range(kills):
        time.sleep(random.uniform(0.3, 1.2))
        fresh_server.kill()
        fresh_server.start()
    time.sleep(0.5)
    is_pushing.clear()
    writer.join(30)
    assert failures == []
    device.sync()
    assert device.copy.digest == device.digest
    for follower in followers:
        follower.finish(device)
        assert follower.streams > kills
    assert fresh_server.command("check").returncode == 0
