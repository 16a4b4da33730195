"""A person of a recorded session at a device: types what was recorded, at the same place of what the device shows."""

from difflib import SequenceMatcher
from random import Random

from device import Device
from editing_trace import Patch, Step, View
from push import Push

Marks = list[int | None]  # of each character which item of the view it is, if that is known

LEAST_RUN = 4  # characters: fewer are the same by chance


class Typist:
    """Types into one note; the text goes out now and then, its answer comes some edits later, or never.

    Follows the plain rule of clients.md: while a text is unsent or in flight it is left alone.
    """

    def __init__(self, device: Device, note: str, random: Random):
        self.device, self.note, self.random = device, note, random
        self.other: Typist = self
        self.view = View()
        self.seen = 0  # transactions of the other person that are in the view
        self.characters: list[str] = list(device.text(note))
        self.marks: Marks = [None] * len(self.characters)
        self.in_flight: tuple[Push, dict | None, int] | None = None  # its answer, if it comes, and how soon
        self.next_push = random.randrange(3, 60)
        self.pushed: dict[str, str] = {}  # every text that left the device, by its clock
        self.latest: tuple[str, Marks] = ("", [])  # of those the last
        self.lost_answers = 0
        self.waits = 0

    @property
    def text(self) -> str:
        return "".join(self.characters)

    def type(self, patch: Patch, next_item: int) -> list[Step]:
        """One patch of the trace, and what the network does meanwhile."""
        steps = self.view.type(patch, next_item)
        if steps and not self.has(steps[0]):
            # What the other wrote is changed here, and is not here yet: nobody mends a word that he does not see.
            self.waits += 1
            self.other.exchange_now()
            self.exchange_now()
        for step in steps:
            if step.character is not None:
                place = self.place_after(step)
                self.characters.insert(place, step.character)
                self.marks.insert(place, step.item)
            elif step.item in self.marks:
                place = self.marks.index(step.item)
                del self.characters[place], self.marks[place]
        self.exchange()
        return steps

    def has(self, step: Step) -> bool:
        """Whether what is deleted, or what something is typed behind, is on this device."""
        if step.character is None:
            return step.item in self.marks
        left = self.view.index(step.after) if step.after is not None else -1
        while left >= 0 and not self.view.characters[left]:
            left -= 1
        return left < 0 or self.view.items[left] in self.marks

    def place_after(self, step: Step) -> int:
        """Where something typed goes: after the nearest that is on its left in the view and on this device."""
        if step.after is None:
            return 0
        for index in range(self.view.index(step.after), -1, -1):
            if self.view.items[index] in self.marks:
                return self.marks.index(self.view.items[index]) + 1
        return 0

    def exchange(self) -> None:
        """Pushes every now and then; the answer comes some edits later, or never."""
        if self.in_flight:
            push, answer, edits = self.in_flight
            self.in_flight = (push, answer, edits - 1)
            if edits <= 0:
                self.receive()
        self.next_push -= 1
        if self.next_push <= 0 and not self.in_flight:
            self.push(lose_answer=self.random.random() < 0.2, delay=self.random.randrange(10))
            self.next_push = self.random.randrange(3, 60)

    def exchange_now(self) -> None:
        """Waits for what is on its way, sends what is here, and takes the answer in."""
        if self.in_flight:
            self.receive()
        self.push()
        self.receive()

    def keep(self) -> None:
        """What was typed goes into the device's copy: a moment of typing is one edit."""
        edit = self.device.unsent.get((self.note, "text"))
        before = edit.value if edit else self.device.copy.objects[self.note].value("text")
        if before != self.text:
            self.device.write(self.note, self.text)

    def push(self, lose_answer: bool = False, delay: int = 0) -> None:
        self.keep()
        push = self.device.prepare()
        for edit in push.edits.values():
            self.pushed[edit.clock] = edit.value
            self.latest = (edit.value, list(self.marks))
        answer = self.device.send(push)
        self.lost_answers += lose_answer
        self.in_flight = (push, None if lose_answer else answer, delay)

    def receive(self) -> None:
        """Takes the answer in, if it came; shows the text that is then on the device."""
        push, answer, _ = self.in_flight
        self.in_flight = None
        if answer is None:
            return
        self.keep()
        self.device.receive(push, answer)
        if (self.note, "text") not in self.device.unsent:
            self.show(self.device.copy.objects[self.note].value("text"))

    def show(self, text: str) -> None:
        """Another text takes the place of what is shown: what of it either of the two typed is looked up in theirs."""
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
    """Where two texts are the same, and how far: lines first, since a diff of all characters would take too long."""
    lines, others = one.splitlines(keepends=True), other.splitlines(keepends=True)
    starts, other_starts = offsets(lines), offsets(others)
    runs = []
    for tag, a, a_end, b, b_end in SequenceMatcher(None, lines, others, autojunk=False).get_opcodes():
        start, other_start = starts[a], other_starts[b]
        if tag == "equal":
            runs.append((start, other_start, starts[a_end] - start))
        elif tag == "replace":
            inside = SequenceMatcher(None, one[start : starts[a_end]], other[other_start : other_starts[b_end]], False)
            blocks = [block for block in inside.get_matching_blocks() if block.size >= LEAST_RUN]
            runs += [(start + block.a, other_start + block.b, block.size) for block in blocks]
    return runs


def offsets(lines: list[str]) -> list[int]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts
