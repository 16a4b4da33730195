"""Whoever only listens has everything: three devices push whatever they like, and streams break off at any moment."""

import threading
import time
from random import Random

from client import Client
from convergence import contents, settle
from device import Device
from events import Events
from local_copy import LocalCopy, read_state

SECONDS = 8


class Follower(threading.Thread):
    """A copy that is made of events alone, over streams that break off and go on, each in one of three ways."""

    def __init__(self, client: Client, random: Random, is_over: threading.Event):
        super().__init__()
        self.client, self.random, self.is_over = client, random, is_over
        self.copy = LocalCopy()
        self.last: str | None = None
        self.streams = self.events = 0
        self.failure: BaseException | None = None

    def take(self, page: dict) -> None:
        for section, items in page["changes"].items():
            for item in items:
                if section == "deletedObjects":
                    self.copy.fold_deleted(item)
                else:
                    self.copy.fold_entity(read_state(section, item))
        self.last = page["syncToken"]
        # Nothing is missing at any moment, not only in the end.
        assert "digest" not in page or page["digest"] == self.copy.digest, "a change is missing"

    def catch_up(self) -> None:
        """What `changes` brings since the last event."""
        for _ in range(10_000):
            page = self.client.get("/v1/changes", params={"since": self.last} if self.last else {}).json()
            self.take(page)
            if not page["hasMore"]:
                return

    def open(self) -> Events:
        self.streams += 1
        how = self.random.choice(["Last-Event-ID", "since", "neither"]) if self.last else "neither"
        if how == "Last-Event-ID":
            return Events(self.client, last=self.last)
        if how == "since":
            return Events(self.client, since=self.last)
        # From now on; what was before, `changes` brings, and with it the token to listen from.
        stream = Events(self.client)
        now = stream.changes().id
        self.catch_up()
        if self.last == now:
            return stream
        stream.close()
        return Events(self.client, last=self.last)

    def run(self) -> None:
        try:
            self.follow()
        except BaseException as failure:  # for the test, which waits for this thread
            self.failure = failure

    def follow(self) -> None:
        while True:
            with self.open() as stream:
                for _ in range(self.random.randint(1, 60)):
                    event = stream.next(0.5)
                    if event and event.name == "changes":
                        self.take(event.data)
                        assert event.id == self.last
                        self.events += 1
                    elif event is None and self.is_over.is_set():
                        return


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
    over, deadline = threading.Event(), time.monotonic() + SECONDS
    failures: list[BaseException] = []

    def write(device: Device, random: Random) -> None:
        try:
            while time.monotonic() < deadline:
                push_something(device, random, notes)
        except BaseException as failure:
            failures.append(failure)

    followers = [Follower(device.client.another_device(), Random(random.random()), over) for device in three]
    writers = [threading.Thread(target=write, args=(device, Random(random.random()))) for device in three]
    for thread in [*followers, *writers]:
        thread.start()
    for thread in writers:
        thread.join(60)
    settle(*three)
    over.set()
    for follower in followers:
        follower.join(30)
        assert follower.failure is None, follower.failure
    assert failures == []
    for follower in followers:
        print(f"{follower.streams} streams, {follower.events} events, {len(follower.copy.objects)} objects")
        assert follower.streams > 3 and follower.events > 20
        assert follower.copy.digest == three[0].copy.digest
        assert contents(follower.copy) == contents(three[0].copy)
