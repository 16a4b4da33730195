"""A copy that is maintained from events only."""

import threading
import time
from random import Random

import requests
from client import Client
from convergence import contents
from device import Device
from events import Events
from local_copy import LocalCopy, read_state


# Without a signal, a server polls for the commits of another server every 5 s. After a failure it first has to reconnect.
MAX_DELAY = 30
MAX_LIFETIME = 300


class Follower(threading.Thread):
    """Maintains a copy from events over streams that break off. Each stream is resumed in one of three ways, at random."""

    def __init__(self, client: Client, random: Random):
        super().__init__(daemon=True)
        self.client, self.random = client, random
        self.copy = LocalCopy()
        self.final_digest: str | None = None  # the thread ends when the copy has this digest
        self.deadline = time.monotonic() + MAX_LIFETIME
        self.last: str | None = None
        self.streams = self.events = 0
        self.failure: BaseException | None = None

    def finish(self, device: Device) -> None:
        """Waits until the copy equals that of the device, then ends the thread."""
        self.final_digest = device.copy.digest
        self.deadline = time.monotonic() + MAX_DELAY
        self.join(2 * MAX_DELAY)
        assert self.failure is None, self.failure
        assert self.copy.digest == device.copy.digest
        assert contents(self.copy) == contents(device.copy)

    def apply(self, page: dict) -> None:
        for section, items in page["changes"].items():
            for item in items:
                if section == "deletedObjects":
                    self.copy.fold_deleted(item)
                else:
                    self.copy.fold_entity(read_state(section, item))
        self.last = page["syncToken"]
        # Every page is complete, not only the last one.
        assert "digest" not in page or page["digest"] == self.copy.digest, "a change is missing"

    def catch_up(self) -> None:
        """Reads the changes since the last event from /v1/changes."""
        for _ in range(10_000):
            answer = self.client.get("/v1/changes", params={"since": self.last} if self.last else {})
            if answer.status_code == 503:
                raise ConnectionError("the server returned 503")
            page = answer.json()
            self.apply(page)
            if not page["hasMore"]:
                return

    def open(self) -> Events:
        self.streams += 1
        how = self.random.choice(["Last-Event-ID", "since", "neither"]) if self.last else "neither"
        if how == "Last-Event-ID":
            return Events(self.client, last=self.last)
        if how == "since":
            return Events(self.client, since=self.last)
        # Starts from now. /v1/changes returns the earlier changes and a token to resume from.
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
                time.sleep(0.05)  # the server is down
            except BaseException as failure:  # reported by `finish` in the test's thread
                self.failure = failure
                return

    @property
    def is_over(self) -> bool:
        return self.copy.digest == self.final_digest or time.monotonic() > self.deadline

    def follow(self) -> None:
        """Reads up to 60 events from one stream."""
        with self.open() as stream:
            if stream.status == 503:
                raise ConnectionError("the server returned 503")
            for _ in range(self.random.randint(1, 60)):
                if self.is_over:
                    return
                event = stream.next(0.5)
                if event and event.name == "changes":
                    self.apply(event.data)
                    assert event.id == self.last
                    self.events += 1
