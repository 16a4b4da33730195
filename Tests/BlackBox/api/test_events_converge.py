"""Whoever only listens has everything: three devices push whatever they like, and streams break off at any moment."""

import threading
import time
from random import Random

import pytest
from convergence import settle
from device import Device
from follower import Follower

pytestmark = pytest.mark.both_stores

SECONDS = 8
MOST_SECONDS = 90  # on a machine that has other things to do


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
    device.sync(lose_answer=random.random() < 0.1)


def test_streams_that_break_off_leave_no_gap(devices, seed):
    random = Random(seed)
    three = devices(3)
    notes: list[str] = []
    began = time.monotonic()
    failures: list[BaseException] = []

    def write(device: Device, random: Random) -> None:
        try:
            while (took := time.monotonic() - began) < SECONDS or (took < MOST_SECONDS and not have_seen_enough()):
                push_something(device, random, notes)
        except BaseException as failure:
            failures.append(failure)

    followers = [Follower(device.client.another_device(), Random(random.random())) for device in three]

    def have_seen_enough() -> bool:
        return all(follower.streams > 3 and follower.events > 20 for follower in followers)

    writers = [threading.Thread(target=write, args=(device, Random(random.random()))) for device in three]
    for thread in [*followers, *writers]:
        thread.start()
    for thread in writers:
        thread.join(MOST_SECONDS + 60)
    settle(*three)
    assert failures == []
    for follower in followers:
        follower.arrive(three[0])
        print(f"{follower.streams} streams, {follower.events} events, {len(follower.copy.objects)} objects")
    assert have_seen_enough()
