"""A copy that is made of events alone."""

import threading
import time
from random import Random

import requests
from client import Client
from convergence import contents
from device import Device
from events import Events
from local_copy import LocalCopy, read_state


# A server that has heard nothing of another's commits looks for them every 5 s, and has to find the database before.
LONGEST_WAY = 30
LONGEST_LIFE = 300


class Follower(threading.Thread):
    """A copy that is made of events alone, over streams that break off and go on, each in one of three ways."""

    def __init__(self, client: Client, random: Random):
        super().__init__(daemon=True)
        self.client, self.random = client, random
        self.copy = LocalCopy()
        self.goal: str | None = None  # the digest with which it ends
        self.deadline = time.monotonic() + LONGEST_LIFE
        self.last: str | None = None
        self.streams = self.events = 0
        self.failure: BaseException | None = None

    def arrive(self, device: Device) -> None:
        """Ends it: by then, it has everything that the device has."""
        self.goal = device.copy.digest
        self.deadline = time.monotonic() + LONGEST_WAY
        self.join(2 * LONGEST_WAY)
        assert self.failure is None, self.failure
        assert self.copy.digest == device.copy.digest
        assert contents(self.copy) == contents(device.copy)

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
            answer = self.client.get("/v1/changes", params={"since": self.last} if self.last else {})
            if answer.status_code == 503:
                raise ConnectionError("the store is away for now")
            page = answer.json()
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
        if stream.status == 503:
            return stream
        now = stream.changes().id
        self.catch_up()
        if self.last == now:
            return stream
        stream.close()
        return Events(self.client, last=self.last)

    def run(self) -> None:
        while not self.is_over:
            try:
                self.follow()
            except (OSError, requests.RequestException):
                time.sleep(0.05)  # the server is down for now
            except BaseException as failure:  # for the test, which waits for this thread
                self.failure = failure
                return

    @property
    def is_over(self) -> bool:
        return self.copy.digest == self.goal or time.monotonic() > self.deadline

    def follow(self) -> None:
        """Reads one stream, for a while."""
        with self.open() as stream:
            if stream.status == 503:
                raise ConnectionError("the store is away for now")
            for _ in range(self.random.randint(1, 60)):
                if self.is_over:
                    return
                event = stream.next(0.5)
                if event and event.name == "changes":
                    self.take(event.data)
                    assert event.id == self.last
                    self.events += 1
