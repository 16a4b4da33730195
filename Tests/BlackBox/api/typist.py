"""Replays a user of a recorded session on a device."""

from difflib import SequenceMatcher
from random import Random

from device import Device
from editing_trace import Patch, Step, View
from push import Push

Marks = list[int | None]  # for each character, its item in the view, or None if unknown

MIN_RUN = 4  # characters; shorter runs may be equal by chance


class Typist:
    """Types into one note. Pushes the text at random times. The response arrives some edits later, or is lost.

    Follows clients.md: a text that is unsent or in flight is not replaced by the server's text.
    """

    def __init__(self, device: Device, note: str, random: Random):
        self.device, self.note, self.random = device, note, random
        self.other: Typist = self
        self.view = View()
        self.seen = 0  # the number of the other user's transactions in the view
        self.characters: list[str] = list(device.text(note))
        self.marks: Marks = [None] * len(self.characters)
        # The push, its response (None if lost), and the number of edits until it arrives.
        self.in_flight: tuple[Push, dict | None, int] | None = None
        self.next_push = random.randrange(3, 60)
        self.pushed: dict[str, str] = {}  # all texts sent, by clock
        self.latest: tuple[str, Marks] = ("", [])  # the last text sent
        self.lost_responses = 0
        self.waits = 0

    @property
    def text(self) -> str:
        return "".join(self.characters)

    def type(self, patch: Patch, next_item: int) -> list[Step]:
        """Types one patch of the trace, then exchanges with the server if due."""
        steps = self.view.type(patch, next_item)
        if steps and not self.has(steps[0]):
            # The patch edits text of the other user that has not arrived on this device. Nobody edits text they cannot see.
            self.waits += 1
            self.other.exchange_now()
            self.exchange_now()
        for step in steps:
            if step.character is not None:
                position = self.position_after(step)
                self.characters.insert(position, step.character)
                self.marks.insert(position, step.item)
            elif step.item in self.marks:
                position = self.marks.index(step.item)
                del self.characters[position], self.marks[position]
        self.exchange()
        return steps

    def has(self, step: Step) -> bool:
        """Whether the deleted character, or the left neighbour of the inserted one, is on this device."""
        if step.character is None:
            return step.item in self.marks
        left = self.view.index(step.after) if step.after is not None else -1
        while left >= 0 and not self.view.characters[left]:
            left -= 1
        return left < 0 or self.view.items[left] in self.marks

    def position_after(self, step: Step) -> int:
        """The position of an insertion: after the nearest left neighbour in the view that is on this device."""
        if step.after is None:
            return 0
        for index in range(self.view.index(step.after), -1, -1):
            if self.view.items[index] in self.marks:
                return self.marks.index(self.view.items[index]) + 1
        return 0

    def exchange(self) -> None:
        """Pushes at random intervals. The response arrives some edits later, or is lost."""
        if self.in_flight:
            push, answer, edits = self.in_flight
            self.in_flight = (push, answer, edits - 1)
            if edits <= 0:
                self.receive()
        self.next_push -= 1
        if self.next_push <= 0 and not self.in_flight:
            self.push(lose_response=self.random.random() < 0.2, delay=self.random.randrange(10))
            self.next_push = self.random.randrange(3, 60)

    def exchange_now(self) -> None:
        """Finishes the push in flight, then pushes and applies the response."""
        if self.in_flight:
            self.receive()
        self.push()
        self.receive()

    def store_text(self) -> None:
        """Stores the typed text in the device as one edit."""
        edit = self.device.unsent.get((self.note, "text"))
        before = edit.value if edit else self.device.copy.objects[self.note].value("text")
        if before != self.text:
            self.device.write(self.note, self.text)

    def push(self, lose_response: bool = False, delay: int = 0) -> None:
        self.store_text()
        push = self.device.prepare()
        for edit in push.edits.values():
            self.pushed[edit.clock] = edit.value
            self.latest = (edit.value, list(self.marks))
        answer = self.device.send(push)
        self.lost_responses += lose_response
        self.in_flight = (push, None if lose_response else answer, delay)

    def receive(self) -> None:
        """Applies the response if it was not lost, and shows the device's text."""
        push, answer, _ = self.in_flight
        self.in_flight = None
        if answer is None:
            return
        self.store_text()
        self.device.receive(push, answer)
        if (self.note, "text") not in self.device.unsent:
            self.show(self.device.copy.objects[self.note].value("text"))

    def show(self, text: str) -> None:
        """Replaces the shown text. The items of its characters are found by comparing it with both users' texts."""
        before = self.text
        if text == before:
            return
        marks: Marks = [None] * len(text)
        used: set[int | None] = {None}
        for old, old_marks in ((before, self.marks), self.other.latest):
            for start, old_start, size in equal_runs(text, old):
                for offset in range(size):
                    mark = old_marks[old_start + offset]
                    if marks[start + offset] is None and mark not in used:
                        marks[start + offset] = mark
                        used.add(mark)
        self.characters, self.marks = list(text), marks


def equal_runs(one: str, other: str) -> list[tuple[int, int, int]]:
    """The equal runs of two texts as (start, start, length). Compares lines first, because a diff of characters is too slow."""
    lines, others = one.splitlines(keepends=True), other.splitlines(keepends=True)
    starts, other_starts = offsets(lines), offsets(others)
    runs = []
    for tag, a, a_end, b, b_end in SequenceMatcher(None, lines, others, autojunk=False).get_opcodes():
        start, other_start = starts[a], other_starts[b]
        if tag == "equal":
            runs.append((start, other_start, starts[a_end] - start))
        elif tag == "replace":
            inside = SequenceMatcher(None, one[start : starts[a_end]], other[other_start : other_starts[b_end]], False)
            blocks = [block for block in inside.get_matching_blocks() if block.size >= MIN_RUN]
            runs += [(start + block.a, other_start + block.b, block.size) for block in blocks]
    return runs


def offsets(lines: list[str]) -> list[int]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts
