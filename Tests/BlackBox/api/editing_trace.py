"""Reads recorded editing sessions of several people, in the format of github.com/josephg/editing-traces."""

import gzip
import json
import os
from dataclasses import dataclass
from pathlib import Path

from client import ROOT

SHARED = Path(os.environ.get("HESPER_SHARED", ROOT.parent / "shared"))


@dataclass
class Patch:
    """An edit at a position in the user's view, in code points: characters to delete and a string to insert."""

    position: int
    deleted: int
    inserted: str


@dataclass
class Transaction:
    """An edit by one agent. `parents` are the indexes of the transactions that it follows."""

    agent: int
    parents: list[int]
    patches: list[Patch]


@dataclass
class Trace:
    end: str
    transactions: list[Transaction]


def read_trace(name: str) -> Trace | None:
    """A trace from the shared folder, or None if the file does not exist."""
    file = SHARED / f"data/editing-traces/{name}.json.gz"
    if not file.exists():
        return None
    with gzip.open(file, "rt") as text:
        read = json.load(text)
    transactions = [
        Transaction(each["agent"], each["parents"], [Patch(*patch) for patch in each["patches"]])
        for each in read["txns"]
    ]
    return Trace(read["endContent"], transactions)


@dataclass
class Step:
    """A character inserted after another (`after`, None for the beginning), or deleted (`character` None)."""

    item: int
    character: str | None = None
    after: int | None = None


class View:
    """One user's view of a trace: all characters ever inserted, in order. Deleted ones are hidden.

    Positions in a trace refer to the user's own view, so the other user's edits are applied at the recorded time. The users
    never insert at the same position concurrently, so the left neighbour defines the position of an insertion.
    """

    def __init__(self) -> None:
        self.items: list[int] = []
        self.characters: list[str] = []  # of the items; "" if deleted
        self.cursor, self.position = 0, 0  # an index, and the number of visible items before it
        self.remote = 0

    @property
    def text(self) -> str:
        return "".join(self.characters)

    def type(self, patch: Patch, next_item: int) -> list[Step]:
        """Applies a patch of this user. Returns its steps for the other user's view."""
        steps = []
        self.move(patch.position)
        index, left = self.cursor, patch.deleted
        while left and index < len(self.items):
            if self.characters[index]:
                self.characters[index] = ""
                steps.append(Step(self.items[index]))
                left -= 1
            index += 1
        for character in patch.inserted:
            after = self.items[self.cursor - 1] if self.cursor else None
            steps.append(Step(next_item, character, after))
            self.insert(self.cursor, next_item, character)
            next_item += 1
        return steps

    def apply_remote(self, step: Step) -> None:
        """Applies a step of the other user."""
        if step.character is None:
            index = self.index(step.item)
            if self.characters[index]:
                self.characters[index] = ""
                self.position -= index < self.cursor
            return
        self.remote = 0 if step.after is None else self.index(step.after) + 1
        self.insert(self.remote, step.item, step.character)

    def insert(self, index: int, item: int, character: str) -> None:
        self.items.insert(index, item)
        self.characters.insert(index, character)
        if index <= self.cursor:
            self.cursor, self.position = self.cursor + 1, self.position + 1

    def move(self, position: int) -> None:
        while self.position > position and self.cursor:
            self.cursor -= 1
            self.position -= bool(self.characters[self.cursor])
        while self.position < position and self.cursor < len(self.items):
            self.position += bool(self.characters[self.cursor])
            self.cursor += 1

    def index(self, item: int) -> int:
        """The index of an item. The search starts near the previous step."""
        for distance in range(200):
            for index in (self.remote - distance, self.remote + distance):
                if 0 <= index < len(self.items) and self.items[index] == item:
                    self.remote = index
                    return index
        self.remote = self.items.index(item)
        return self.remote
