"""A copy that is made of events alone."""

import threading
import time
from random import Random

import requests
from client import Client
from events import Events
from local_copy import LocalCopy, read_state


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
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                return self.follow()
            except (OSError, requests.RequestException):
                time.sleep(0.05)  # the server is down for now
            except BaseException as failure:  # for the test, which waits for this thread
                self.failure = failure
                return

    def follow(self) -> None:
        while True:
            with self.open() as stream:
                if stream.status == 503:
                    raise ConnectionError("the store is away for now")
                for _ in range(self.random.randint(1, 60)):
                    event = stream.next(0.5)
                    if event and event.name == "changes":
                        self.take(event.data)
                        assert event.id == self.last
                        self.events += 1
                    elif event is None and self.is_over.is_set() and not stream.has_ended:
                        return
