"""Concurrent pushes by devices of several accounts, each on its own connection, until the server ends."""

import threading
from collections.abc import Callable
from random import Random

import requests
from client import Client, ErrorResponse, Server, plain_session
from device import Device
from ledger import Ledger
from push import Push

SPELLINGS = ("Paris", "paris", "PARIS", "pARIS")
MAX_OWN_NOTES = 60  # the device deletes notes beyond this number
MAX_PUSHES = 20_000  # per device in one `rage`


class Author:
    """One device that makes random changes to its own notes and to notes shared with other devices."""

    def __init__(self, device: Device, ledger: Ledger, shared: list[str], random: Random):
        self.device, self.ledger, self.shared, self.random = device, ledger, shared, random
        self.notes: list[str] = []
        self.tags: list[str] = []
        self.lost: Push | None = None  # the last push, if it was not acknowledged
        self.refused: dict[str, int] = {}  # the number of errors by slug
        self.made = 0

    def change(self) -> None:
        """Makes one to twelve random changes in the device's copy."""
        self.make_note()
        for _ in range(self.random.randint(0, 11)):
            self.random.choice(
                [self.make_note, self.make_note, self.write, self.write, self.write_shared, self.archive, self.pin]
                + [self.put_tag, self.make_tag, self.make_board, self.delete]
            )()

    def is_here(self, unique_id: str) -> bool:
        device = self.device
        return (unique_id in device.copy.objects or unique_id in device.new) and unique_id not in device.deletions

    def text(self, note: str) -> str:
        """The current text, without computing the device's whole view."""
        unsent = self.device.unsent.get((note, "text"))
        return unsent.value if unsent else self.device.copy.objects[note].value("text")

    def make_note(self) -> None:
        self.made += 1
        size = self.random.choice([10, 200, 200, 2_000])
        text = f"note {self.made}\n" + "words and more words " * (size // 20)
        self.notes.append(self.device.make_note(text))

    def write(self) -> None:
        for note in self.some(self.notes):
            self.device.write(note, self.text(note) + f"line {self.random.randrange(1_000)}\n")

    def write_shared(self) -> None:
        for note in self.some(self.shared):
            lines = self.text(note).split("\n")[-30:]
            lines.insert(self.random.randint(0, len(lines)), f"{self.device.clock.node} {self.random.randrange(1_000)}")
            self.device.write(note, "\n".join(lines))

    def archive(self) -> None:
        for note in self.some(self.notes + self.shared):
            self.device.archive(note, self.random.random() < 0.5)

    def pin(self) -> None:
        for note in self.some(self.notes + self.shared):
            self.device.edit(note, "attributes.pinned", self.random.randrange(1_000))

    def make_tag(self) -> None:
        """Half of the names are also used by other devices, so that these tags are merged."""
        is_common = self.random.random() < 0.5
        name = self.random.choice(SPELLINGS) if is_common else f"{self.device.clock.node} {self.random.random()}"
        self.tags.append(self.device.make_tag(name))

    def put_tag(self) -> None:
        for note in self.some(self.notes + self.shared):
            for tag in self.some(self.tags):
                self.device.edit(note, f"tags.{tag}", self.random.random() < 0.8)

    def make_board(self) -> None:
        self.device.make_object("board", width=self.random.randrange(1_000), name="a board")

    def delete(self) -> None:
        notes = [note for note in self.notes if self.is_here(note)]
        self.notes = notes
        for victim in notes[: max(len(notes) - MAX_OWN_NOTES, int(self.random.random() < 0.5))]:
            self.device.delete(victim)
        for tag in self.some(self.tags) if self.random.random() < 0.3 else []:
            self.device.delete(tag)

    def some(self, ids: list[str]) -> list[str]:
        """One random existing object, or none."""
        here = [unique_id for unique_id in ids[-80:] if self.is_here(unique_id)]
        return [self.random.choice(here)] if here else []

    def push(self, push: Push) -> dict | None:
        """Sends a push and applies the response. Returns None if it was not acknowledged, and sets `lost`."""
        try:
            answer = self.device.send(push)
        except (requests.RequestException, ErrorResponse) as failure:
            self.lost = push
            if isinstance(failure, ErrorResponse):
                assert failure.slug, failure
                self.refused[failure.slug] = self.refused.get(failure.slug, 0) + 1
            return None
        self.lost = None
        self.ledger.record(push, answer["results"])
        self.device.receive(push, answer)
        return answer

    def change_and_push(self) -> bool:
        """Makes changes and pushes them. Returns whether the push was acknowledged."""
        self.change()
        return self.push(self.device.prepare()) is not None


class Storm:
    """Accounts with several devices that push concurrently until the server ends."""

    def __init__(self, server: Server, seed: int, accounts: int = 2, devices: int = 3):
        self.server, self.random = server, Random(seed)
        self.authors: list[Author] = []
        self.witnesses: dict[Client, Ledger] = {}
        for _ in range(accounts):
            first, ledger = server.client(device_name="A"), Ledger()
            clients = [first, *(first.another_device(device_name=f"B{index}") for index in range(1, devices))]
            shared: list[str] = []
            for client in clients:
                self.authors.append(Author(Device(client), ledger, shared, Random(self.random.random())))
            author = self.authors[-1]
            shared += [author.device.make_note(f"shared {index}\n") for index in range(5)]
            assert author.push(author.device.prepare())
            self.witnesses[client_beside(first)] = ledger
        for author in self.authors:
            author.device.sync()
        self.acknowledged = 0
        self.counted = threading.Condition()

    def rage(self, pushes: int, end: Callable[[], int | None]) -> int | None:
        """All devices push until `end()`, called after `pushes` acknowledged pushes, has ended the server. Returns its result."""
        before, failures = self.acknowledged, []
        threads = [threading.Thread(target=self.push_on, args=(author, failures)) for author in self.authors]
        for thread in threads:
            thread.start()
        with self.counted:
            reached = self.counted.wait_for(lambda: self.acknowledged >= before + pushes or failures, timeout=60)
        ended = end()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive(), "a request did not end"
        if failures:
            raise failures[0]
        assert reached, f"{self.acknowledged - before} pushes in a minute"
        return ended

    def push_on(self, author: Author, failures: list[BaseException]) -> None:
        try:
            for _ in range(MAX_PUSHES):
                if not author.change_and_push():
                    return
                with self.counted:
                    self.acknowledged += 1
                    self.counted.notify_all()
            raise RuntimeError("the server was not ended")
        except BaseException as failure:
            failures.append(failure)
            with self.counted:
                self.counted.notify_all()

    def reconnect(self) -> None:
        """Replaces the connections after a restart, because the server may have another port."""
        for client in [*(author.device.client for author in self.authors), *self.witnesses]:
            client.url, client.session = self.server.url, plain_session()

    def check(self, everything: bool = False) -> None:
        for client, ledger in self.witnesses.items():
            ledger.check(client, everything)


def client_beside(client: Client) -> Client:
    """A client of the same device with another connection."""
    return Client(client.url, client.token)
