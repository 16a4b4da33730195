"""A client that only reads events has a complete copy. Three devices push random changes over streams that break off."""

import threading
import time
from random import Random

import pytest
from convergence import settle
from device import Device
from follower import Follower

pytestmark = pytest.mark.both_stores

MAX_SECONDS = 90  # the limit on a busy machine


def push_something(device: Device, random: Random, notes: list[str]) -> None:
    for _ in range(random.randint(1, 4)):
        alive = [note for note in notes if note in device.copy.objects and note not in device.deletions]
        note = random.choice(alive) if alive else None
        what = random.choice(["make", "write", "write", "archive", "tag", "delete"])
        if note is None or what == "make":
            notes.append(device.make_note(f"note {len(notes)}\nmilk\nbread\n"))
        elif what == "write":
            device.write(note, device.text(note) + f"{random.randrange(1000)}\n")
        elif what == "archive":
            device.archive(note, random.random() < 0.5)
        elif what == "tag":
            device.tag(note, device.make_tag(random.choice(["Paris", "paris", "Rome", f"{random.random()}"])))
        elif random.random() < 0.3:
            device.delete(note)
    device.sync(lose_response=random.random() < 0.1)


def test_no_change_is_missing_after_interrupted_streams(devices, seed, everything):
    least = 8 if everything else 3  # seconds
    random = Random(seed)
    three = devices(3)
    notes: list[str] = []
    began = time.monotonic()
    failures: list[BaseException] = []

    def write(device: Device, random: Random) -> None:
        try:
            while (took := time.monotonic() - began) < least or (took < MAX_SECONDS and not received_enough()):
                push_something(device, random, notes)
        except BaseException as failure:
            failures.append(failure)

    followers = [Follower(device.client.another_device(), Random(random.random())) for device in three]

    def received_enough() -> bool:
        return all(follower.streams > 3 and follower.events > 20 for follower in followers)

    writers = [threading.Thread(target=write, args=(device, Random(random.random()))) for device in three]
    for thread in [*followers, *writers]:
        thread.start()
    for thread in writers:
        thread.join(MAX_SECONDS + 60)
    settle(*three)
    assert failures == []
    for follower in followers:
        follower.finish(three[0])
        print(f"{follower.streams} streams, {follower.events} events, {len(follower.copy.objects)} objects")
    assert received_enough()
