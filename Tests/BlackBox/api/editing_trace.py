"""A recorded session of several people typing one text, as github.com/josephg/editing-traces has them."""

import gzip
import json
import os
from dataclasses import dataclass
from pathlib import Path

from client import ROOT

SHARED = Path(os.environ.get("HESPER_SHARED", ROOT.parent / "shared"))


@dataclass
class Patch:
    """At a position, in code points of what the person saw, some are deleted and others inserted."""

    position: int
    deleted: int
    inserted: str


@dataclass
class Transaction:
    """What one person did at once, after the transactions with these indexes."""

    agent: int
    parents: list[int]
    patches: list[Patch]


@dataclass
class Trace:
    end: str
    transactions: list[Transaction]


def read_trace(name: str) -> Trace | None:
    """A trace from the shared folder; None if there is none."""
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
    """One character inserted after another (`after`, None: at the beginning), or hidden (`character` None)."""

    item: int
    character: str | None = None
    after: int | None = None


class View:
    """What one person of a trace saw: every character ever inserted, in order, those deleted hidden.

    Positions in a trace are those of the person's own view, so the other's edits have to be put into it as they were
    when it was recorded. Nobody inserted where another did at the same time, so after its left neighbour is enough.
    """

    def __init__(self) -> None:
        self.items: list[int] = []
        self.characters: list[str] = []  # of the items; "" once it is hidden
        self.cursor, self.position = 0, 0  # an index, and how many visible items are before it: typing goes on nearby
        self.remote = 0

    @property
    def text(self) -> str:
        return "".join(self.characters)

    def type(self, patch: Patch, next_item: int) -> list[Step]:
        """Applies a patch of this person's own; what it did, for the other's view."""
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

    def see(self, step: Step) -> None:
        """Applies what the other person did."""
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
        """Looks around the place of the last step first."""
        for distance in range(200):
            for index in (self.remote - distance, self.remote + distance):
                if 0 <= index < len(self.items) and self.items[index] == item:
                    self.remote = index
                    return index
        self.remote = self.items.index(item)
        return self.remote
