"""Corpora of texts that two devices changed concurrently, with the correct result of the merge."""

import difflib
import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from machine import ROOT

DATA = Path(os.environ.get("HESPER_SHARED", ROOT.parent / "shared")) / "data"
TRACE = DATA / "editing-traces/friendsforever.json.gz"
HISTORIES = DATA / "prose-histories/rust-book.json.gz"

WINDOWS = (100, 250, 500, 1000, 2000, 4000)  # operations
GAPS = (3, 10, 25, 60)  # words

# All words of a text, and all of its tokens: runs of blanks, words, and single other characters.
words = re.compile(r"\w+").findall
tokens = re.compile(r"[ \t]+|\w+|[^\w\s]|\s").findall


@dataclass(frozen=True)
class Trial:
    """One merge with a known correct result."""

    base: str
    older: str
    newer: str
    right: str

    @cached_property
    def new_words(self) -> Counter[str]:
        """The words that occur more often in one of the sides than in the base."""
        base, older, newer = (Counter(words(text)) for text in (self.base, self.older, self.newer))
        return (older - base) + (newer - base)


def alternated(changes: Iterator[tuple[str, str, str, str]]) -> list[Trial]:
    """Creates a trial for each change in which both sides differ from the base. In every second one, the sides are
    swapped."""
    trials: list[Trial] = []
    for base, one, other, right in changes:
        if base not in (one, other):
            trials.append(Trial(base, one, other, right) if len(trials) % 2 == 0 else Trial(base, other, one, right))
    return trials


# Concurrent writing


@dataclass(frozen=True)
class Operation:
    """The insertion or deletion of one character."""

    agent: int
    item: int
    inserts: bool
    left: int | None = None  # for an insertion: the neighbours visible to its author
    right: int | None = None


class Session:
    """A recorded session of two authors: all characters in text order, including deleted ones, and all operations."""

    def __init__(self, transactions: list[dict]):
        self.order: list[int] = []
        self.characters: list[str] = []
        self.operations: list[Operation] = []
        self._own: list[list[list[Operation]]] = [[], []]  # by agent and transaction
        self._visible = (bytearray(), bytearray())  # by agent, along `order`
        histories: list[tuple[int, int]] = []  # per transaction: the number of transactions of each agent up to it
        seen = [0, 0]  # by agent: the number of the other's transactions that are visible to it
        for transaction in transactions:
            agent = transaction["agent"]
            known = [max((histories[parent][of] for parent in transaction["parents"]), default=0) for of in (0, 1)]
            if known[agent] != len(self._own[agent]):
                raise ValueError("a transaction does not follow the previous one of its agent")
            for operations in self._own[1 - agent][seen[agent] : known[1 - agent]]:
                for operation in operations:
                    self._visible[agent][self.order.index(operation.item)] = operation.inserts
            seen[agent] = known[1 - agent]
            done = []
            for position, deleted, inserted in transaction["patches"]:
                done += [self._delete(agent, position) for _ in range(deleted)]
                done += [self._insert(agent, position + offset, one) for offset, one in enumerate(inserted)]
            self._own[agent].append(done)
            self.operations += done
            known[agent] += 1
            histories.append((known[0], known[1]))

    def _insert(self, agent: int, position: int, character: str) -> Operation:
        visible = self._visible[agent]
        index = self._index(visible, position)
        right = visible.find(1, index)
        item = len(self.characters)
        operation = Operation(
            agent, item, True, self.order[index - 1] if index else None, self.order[right] if right >= 0 else None
        )
        self.characters.append(character)
        self.order.insert(index, item)
        for of in (0, 1):
            self._visible[of].insert(index, of == agent)
        return operation

    def _delete(self, agent: int, position: int) -> Operation:
        visible = self._visible[agent]
        index = visible.find(1, self._index(visible, position))
        visible[index] = 0
        return Operation(agent, self.order[index], False)

    @staticmethod
    def _index(visible: bytearray, position: int) -> int:
        """The index after the first `position` visible characters."""
        low, high = 0, len(visible)
        while low < high:
            middle = (low + high) // 2
            if visible.count(1, 0, middle) < position:
                low = middle + 1
            else:
                high = middle
        return low

    def text(self, items: set[int]) -> str:
        return "".join(self.characters[item] for item in self.order if item in items)

    def windows(self, length: int) -> Iterator[tuple[str, str, str, str]]:
        """Base, both sides and the merged text of consecutive windows of operations."""
        base: set[int] = set()
        for start in range(0, len(self.operations), length):
            window = self.operations[start : start + length]
            inserted, deleted = self._assign(window)
            sides = [(base | inserted[agent]) - deleted[agent] for agent in (0, 1)]
            both = (base | inserted[0] | inserted[1]) - deleted[0] - deleted[1]
            yield self.text(base), self.text(sides[0]), self.text(sides[1]), self.text(both)
            base = both

    def _assign(self, window: list[Operation]) -> tuple[tuple[set[int], set[int]], tuple[set[int], set[int]]]:
        """Assigns insertions and deletions to the two agents as if they had worked concurrently.

        In the recording, each saw the other's operations after a second. Operations that delete or continue text which the
        other has written in the same window are therefore assigned to the other.
        """
        writer: dict[int, int] = {}
        inserted, deleted = (set(), set()), (set(), set())
        for operation in window:
            agent = operation.agent
            if not operation.inserts:
                deleted[writer.get(operation.item, agent)].add(operation.item)
                continue
            if self._continues(operation, writer):
                agent = 1 - agent
            writer[operation.item] = agent
            inserted[agent].add(operation.item)
        return inserted, deleted

    def _continues(self, operation: Operation, writer: dict[int, int]) -> bool:
        """Whether an insertion is adjacent to text of the other in the same line."""
        other = 1 - operation.agent
        if writer.get(operation.right) == other and self.characters[operation.right] != "\n":
            return True
        between = (self.characters[item] for item in (operation.left, operation.item) if item is not None)
        return writer.get(operation.left) == other and "\n" not in between


def concurrent_writing() -> Iterator[tuple[str, str, str, str]]:
    """Windows of the recorded session in all lengths."""
    with gzip.open(TRACE) as file:
        session = Session(json.load(file)["txns"])
    for length in WINDOWS:
        yield from session.windows(length)


# Histories of prose


@dataclass(frozen=True)
class Edit:
    """A replacement of tokens."""

    start: int
    end: int
    replacement: list[str]


def prose_histories() -> Iterator[tuple[str, str, str, str]]:
    """Successive versions of chapters. The edits between them are assigned alternately to two devices, for each gap."""
    with gzip.open(HISTORIES) as file:
        chapters = json.load(file)
    for chapter in chapters:
        for earlier, later in zip(chapter["versions"], chapter["versions"][1:]):
            before, after = tokens(earlier), tokens(later)
            edits = edits_between(before, after)
            for gap in GAPS:
                joined = join_close(edits, before, after, gap)
                yield earlier, edited(before, joined[::2]), edited(before, joined[1::2]), later


def edits_between(before: list[str], after: list[str]) -> list[tuple[int, int, int, int]]:
    """The differences as ranges of tokens in both texts. Independent of lines, unlike git's and Hesper's algorithms."""
    matcher = difflib.SequenceMatcher(None, before, after)
    return [(start, end, *other) for tag, start, end, *other in matcher.get_opcodes() if tag != "equal"]


def join_close(edits: list[tuple[int, int, int, int]], before: list[str], after: list[str], gap: int) -> list[Edit]:
    """Joins edits with fewer than `gap` words between them."""
    joined: list[tuple[int, int, int, int]] = []
    for start, end, other_start, other_end in edits:
        if joined and len(words("".join(before[joined[-1][1] : start]))) < gap:
            joined[-1] = (joined[-1][0], end, joined[-1][2], other_end)
        else:
            joined.append((start, end, other_start, other_end))
    return [Edit(start, end, after[other_start:other_end]) for start, end, other_start, other_end in joined]


def edited(text: list[str], edits: list[Edit]) -> str:
    result, at = [], 0
    for edit in edits:
        result += text[at : edit.start] + edit.replacement
        at = edit.end
    return "".join(result + text[at:])
