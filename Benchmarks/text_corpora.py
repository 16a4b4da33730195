"""Texts that two devices changed at once, with the text that both changes together make: recorded and real ones."""

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

# All words of a text; all its tokens: runs of blanks, words, and other characters one by one.
words = re.compile(r"\w+").findall
tokens = re.compile(r"[ \t]+|\w+|[^\w\s]|\s").findall


@dataclass(frozen=True)
class Trial:
    """One merge whose right result is known."""

    base: str
    older: str
    newer: str
    right: str

    @cached_property
    def new_words(self) -> Counter[str]:
        """The words that a side has more often than the base."""
        base, older, newer = (Counter(words(text)) for text in (self.base, self.older, self.newer))
        return (older - base) + (newer - base)


def alternated(changes: Iterator[tuple[str, str, str, str]]) -> list[Trial]:
    """A trial of every base, two sides and right result in which both sides changed something; every second with the
    second side as the older."""
    trials: list[Trial] = []
    for base, one, other, right in changes:
        if base not in (one, other):
            trials.append(Trial(base, one, other, right) if len(trials) % 2 == 0 else Trial(base, other, one, right))
    return trials


# Concurrent writing


@dataclass(frozen=True)
class Operation:
    """One character inserted or deleted."""

    agent: int
    item: int
    inserts: bool
    left: int | None = None  # for an insertion: the neighbours that its author saw
    right: int | None = None


class Session:
    """A recorded session of two people: all characters ever typed in the order of the text, and all operations."""

    def __init__(self, transactions: list[dict]):
        self.order: list[int] = []
        self.characters: list[str] = []
        self.operations: list[Operation] = []
        self._own: list[list[list[Operation]]] = [[], []]  # by agent and transaction
        self._visible = (bytearray(), bytearray())  # by agent, along `order`
        histories: list[tuple[int, int]] = []  # how many of each agent's transactions a transaction comes after, and itself
        seen = [0, 0]  # by agent: how many transactions of the other are in its view
        for transaction in transactions:
            agent = transaction["agent"]
            known = [max((histories[parent][of] for parent in transaction["parents"]), default=0) for of in (0, 1)]
            if known[agent] != len(self._own[agent]):
                raise ValueError("a transaction does not come after its agent's last one")
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
        """The index behind the first `position` visible characters."""
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
        """Base, the two sides and both together of one window of operations after another."""
        base: set[int] = set()
        for start in range(0, len(self.operations), length):
            window = self.operations[start : start + length]
            inserted, deleted = self._dealt(window)
            sides = [(base | inserted[agent]) - deleted[agent] for agent in (0, 1)]
            both = (base | inserted[0] | inserted[1]) - deleted[0] - deleted[1]
            yield self.text(base), self.text(sides[0]), self.text(sides[1]), self.text(both)
            base = both

    def _dealt(self, window: list[Operation]) -> tuple[tuple[set[int], set[int]], tuple[set[int], set[int]]]:
        """What each of the two inserted and deleted, as if neither had seen the other's.

        In truth they saw it after a second. Where one of them deleted or went on with what the other had written since the
        window began, that is therefore given to the other.
        """
        writer: dict[int, int] = {}
        inserted, deleted = (set(), set()), (set(), set())
        for operation in window:
            agent = operation.agent
            if not operation.inserts:
                deleted[writer.get(operation.item, agent)].add(operation.item)
                continue
            if self._goes_on(operation, writer):
                agent = 1 - agent
            writer[operation.item] = agent
            inserted[agent].add(operation.item)
        return inserted, deleted

    def _goes_on(self, operation: Operation, writer: dict[int, int]) -> bool:
        """Whether an insertion is beside what the other wrote in the same line."""
        other = 1 - operation.agent
        if writer.get(operation.right) == other and self.characters[operation.right] != "\n":
            return True
        between = (self.characters[item] for item in (operation.left, operation.item) if item is not None)
        return writer.get(operation.left) == other and "\n" not in between


def concurrent_writing() -> Iterator[tuple[str, str, str, str]]:
    """Windows of the recorded session, of every length."""
    with gzip.open(TRACE) as file:
        session = Session(json.load(file)["txns"])
    for length in WINDOWS:
        yield from session.windows(length)


# Histories of prose


@dataclass(frozen=True)
class Edit:
    """Some tokens of a text, and those that take their place."""

    start: int
    end: int
    replacement: list[str]


def prose_histories() -> Iterator[tuple[str, str, str, str]]:
    """Every version of a chapter and the next one, whose edits are dealt to two devices in turn, with every gap."""
    with gzip.open(HISTORIES) as file:
        chapters = json.load(file)
    for chapter in chapters:
        for earlier, later in zip(chapter["versions"], chapter["versions"][1:]):
            before, after = tokens(earlier), tokens(later)
            edits = edits_between(before, after)
            for gap in GAPS:
                dealt = apart(edits, before, after, gap)
                yield earlier, edited(before, dealt[::2]), edited(before, dealt[1::2]), later


def edits_between(before: list[str], after: list[str]) -> list[tuple[int, int, int, int]]:
    """What differs, as ranges of tokens of both. Lines mean nothing here: this is neither git's way nor ours."""
    matcher = difflib.SequenceMatcher(None, before, after)
    return [(start, end, *other) for tag, start, end, *other in matcher.get_opcodes() if tag != "equal"]


def apart(edits: list[tuple[int, int, int, int]], before: list[str], after: list[str], gap: int) -> list[Edit]:
    """The edits, those with fewer than `gap` words between them made one."""
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
