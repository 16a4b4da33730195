"""Two people who edit one note in two browsers, at random, and a record of every change that they make.

All words are made of characters of one block of CJK ideographs. Each typed character occurs once, is a word of its own for the
server's merge (merge.md, Merging three texts), and is followed through all edits.
"""

import random
import re
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field

from app import EDITOR, App
from client import Client
from composing import InputMethod

FIRST, LAST = 0x4E00, 0x9FBF
TRACKED = re.compile(f"[{chr(FIRST)}-{chr(LAST)}]")
# Records what each event of this person changes: {isUndo, removed, inserted}. Edits of the other person arrive in other tasks, or at
# the end of a composition.
# Typed text is also saved after 60 ms instead of a second, so that a run has many merges.
RECORDER = (
    r"""
  const {setTimeout: start} = window
  window.setTimeout = (act, delay, ...values) => start(act, delay === 1000 ? 60 : delay, ...values)
  window.changes = []
  const read = () => [...(%s).text ?? ""].filter(letter => /[\u4e00-\u9fbf]/.test(letter))
  const without = (letters, others) => {
    const counts = new Map()
    for (const letter of others) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    return letters.filter(letter => !counts.get(letter) || !counts.set(letter, counts.get(letter) - 1)).join("")
  }
  let last = []
  const record = isUndo => {
    const now = read()
    const [removed, inserted] = [without(last, now), without(now, last)]
    if (removed || inserted) changes.push({isUndo, removed, inserted})
    last = now
  }
  const isUndo = ({type, ctrlKey, key, inputType}) =>
    type === "keydown" ? ctrlKey && /^[zy]$/i.test(key) : /^history/.test(inputType ?? "")
  for (const type of ["keydown", "beforeinput", "input", "compositionstart", "compositionupdate", "compositionend", "cut", "paste",
    "click", "change"]) {
    // The browser changes the text between the events beforeinput and input.
    addEventListener(type, event => { type === "input" ? record(isUndo(event)) : last = read() }, true)
    addEventListener(type, event => {
      // At the end of a composition, the editor takes in what the other person has written meanwhile, unless something is unsaved.
      const isTakenIn = type === "compositionend" && %s.text === window.copyOfNotes?.note(window.openNote)?.text
      isTakenIn ? last = read() : record(isUndo(event))
    })
  }
"""
    % (EDITOR, EDITOR)
)
# Key codes and modifiers of the DevTools protocol. One event for each key takes half the time of Playwright's two.
KEYS = {"Backspace": 8, "Enter": 13, "Escape": 27, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
        "Delete": 46}  # fmt: skip
MODIFIERS = {"Control": 2, "Shift": 8}


@dataclass
class Writer:
    """One person. `typed`, `log` (the names of the actions) and `moved` are of the current run."""

    app: App
    letters: range  # the characters that this person types
    method: InputMethod = field(init=False)
    note: str = ""
    used: int = 0
    typed: str = ""
    log: list[str] = field(default_factory=list)
    changes: list[dict] = field(default_factory=list)  # what the page recorded, read when the run is checked
    is_offline: bool = False
    moved: set[str] = field(default_factory=set)  # characters that changed their order

    def __post_init__(self):
        self.method = InputMethod(self.app)

    def open(self, note: str, chance: random.Random) -> None:
        self.note, self.used, self.typed, self.log, self.changes, self.moved = note, 0, "", [], [], set()
        self.set_offline(False)
        self.app.go(f"#/note/{note}")
        self.app.wait_for("location.hash.split('/')[2] === argument && copy.note(argument)", note)
        self.app.write(chance.choice(["start", "end"]))
        self.app.page.evaluate(
            """async note => {
              changes.length = 0
              Object.assign(window, {copyOfNotes: (await import("/js/app.js")).copy, openNote: note})
            }""",
            note,
        )

    def word(self, chance: random.Random) -> str:
        """A new word, with one to four characters that were not used before."""
        count = chance.randint(1, 4)
        word = "".join(chr(self.letters[self.used + number]) for number in range(count))
        self.used += count
        self.typed += word
        return word

    # What a person does

    def press(self, keys: str, times: int = 1) -> None:
        *modifiers, key = keys.split("+")
        code = KEYS.get(key) or ord(key.upper())
        held = sum(MODIFIERS[modifier] for modifier in modifiers)
        event = {"type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "modifiers": held}
        if key == "Enter":
            event["text"] = "\r"
        for _ in range(times):
            self.method.session.send("Input.dispatchKeyEvent", event)

    def type(self, text: str) -> None:
        for letter in text:
            if letter == "\n":
                self.press("Enter")
            else:
                self.method.session.send("Input.dispatchKeyEvent", {"type": "keyDown", "key": letter, "text": letter})

    def click(self, chance: random.Random) -> None:
        box = self.app.editor.bounding_box()
        height = min(box["height"], 500)
        self.app.page.mouse.click(box["x"] + chance.uniform(3, 400), box["y"] + chance.uniform(3, height - 3))
        # A banner can appear at the top, so that the click is not in the text.
        if self.app.page.evaluate("() => document.activeElement?.ariaLabel !== 'Note text'"):
            self.app.write("end")

    def select(self, chance: random.Random) -> None:
        key = chance.choice(["ArrowLeft", "ArrowRight", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Control+ArrowLeft"])
        self.press(f"Shift+{key}", chance.randint(1, 5) if "Left" in key or "Right" in key else 1)

    def act(self, chance: random.Random) -> None:
        """One random action."""
        action = chance.choices(list(self.ACTIONS), [weight for _, weight in self.ACTIONS.values()])[0]
        self.log.append(action)
        self.ACTIONS[action][0](self, chance)

    def write(self, chance: random.Random) -> None:
        self.type(chance.choice(["", "", "", " ", "- [ ] "]) + self.word(chance) + chance.choice(["", " ", " ", ". ", "\n"]))

    def compose(self, chance: random.Random) -> None:
        if chance.random() < 0.25:
            return self.method.compose("k", "か").cancel()
        word = self.word(chance)
        self.method.compose("k", "か", word[:1])
        if chance.random() < 0.3:
            self.app.page.wait_for_timeout(chance.uniform(0, 100))
        self.method.compose(word).commit()

    def cut_and_paste(self, chance: random.Random) -> None:
        self.select(chance)
        before = TRACKED.findall(self.app.text)
        self.press("Control+x")
        chance.choice([self.click, lambda _: self.press("ArrowDown"), lambda _: self.press("Control+Home")])(chance)
        self.press("Control+v", chance.choice([1, 1, 1, 2]))
        self.mark_moved(before, TRACKED.findall(self.app.text))

    def mark_moved(self, before: list[str], after: list[str]) -> None:
        """Marks both of two parts that changed places, because a difference of texts cannot tell which of them moved."""
        both = set(before) & set(after)
        orders = [[letter for letter in letters if letter in both] for letters in (before, after)]
        differing = [index for index, (one, other) in enumerate(zip(*orders, strict=False)) if one != other]
        if differing:
            self.moved.update(orders[0][differing[0] : differing[-1] + 1])

    def set_offline(self, offline: bool) -> None:
        if offline != self.is_offline:
            self.app.go_offline(offline)
        self.is_offline = offline

    def leave(self, chance: random.Random) -> None:
        self.press("Escape")
        self.app.write(chance.choice(["start", "end"]))

    ACTIONS = {
        "write": (write, 10),
        "compose": (compose, 3),
        "Enter": (lambda self, _: self.press("Enter"), 3),
        "Backspace": (lambda self, chance: self.press("Backspace", chance.randint(1, 3)), 3),
        "Delete": (lambda self, chance: self.press("Delete", chance.randint(1, 3)), 2),
        "Control+Backspace": (lambda self, _: self.press("Control+Backspace"), 1),
        "Control+Delete": (lambda self, _: self.press("Control+Delete"), 1),
        "replace": (lambda self, chance: (self.select(chance), self.write(chance)), 2),
        "remove": (lambda self, chance: (self.select(chance), self.press("Delete")), 2),
        "cut and paste": (cut_and_paste, 2),
        "undo": (lambda self, chance: self.press("Control+z", chance.randint(1, 3)), 4),
        "redo": (lambda self, chance: self.press(chance.choice(["Control+Shift+z", "Control+y"]), chance.randint(1, 2)), 2),
        "bold": (lambda self, chance: (self.select(chance), self.press("Control+b")), 1),
        "click": (click, 6),
        "offline": (lambda self, _: self.set_offline(not self.is_offline), 1),
        "leave": (leave, 1),
        "wait": (lambda self, chance: self.app.page.wait_for_timeout(chance.uniform(10, 150)), 2),
    }


def run(writers: list[Writer], client: Client, seed: int, actions: int = 30) -> str:
    """One run with a new note. Returns the text at its end."""
    chance = random.Random(seed)
    note = str(uuid.uuid4())
    base_letters = iter(range(LAST, FIRST, -1))
    lines = [" ".join(chr(next(base_letters)) for _ in range(chance.randint(1, 6))) for _ in range(chance.randint(0, 5))]
    base = "\n".join(lines)
    client.put(f"/v1/notes/{note}", {"text": base}).raise_for_status()
    for writer in writers:
        writer.open(note, chance)
    for _ in range(actions):
        writer = chance.choice(writers)
        for _ in range(chance.randint(1, 4)):
            writer.act(chance)
    for writer in writers:
        writer.set_offline(False)
    text = settle(writers, client, note)
    check(writers, client, note, base, text)
    return text


def settle(writers: list[Writer], client: Client, note: str) -> str:
    """Waits until both browsers and the server have the same text."""
    deadline = time.monotonic() + 30
    while True:
        for writer in writers:
            writer.app.wait_for(
                f"({EDITOR}).isSaved(copy) && engine.status.phase === 'synced' && engine.status.identical && !copy.unsentCount()"
            )
        texts = [client.get(f"/v1/notes/{note}").json()["text"], *(writer.app.text for writer in writers)]
        if len(set(texts)) == 1:
            return texts[0]
        assert time.monotonic() < deadline, f"texts differ: {texts}"
        writers[0].app.page.wait_for_timeout(30)


def check(writers: list[Writer], client: Client, note: str, base: str, text: str) -> None:
    """Nothing that was typed is lost or doubled, and undo undoes only the edits of the person."""
    inserted = Counter(TRACKED.findall(base))
    removed: list[Counter] = []
    for writer in writers:
        own, gone = Counter(), Counter()
        writer.changes = writer.app.page.evaluate("() => changes")
        for change in writer.changes:
            if change["isUndo"]:
                assert set(change["removed"]) <= set(own), f"undo removed text of the other person: {change}"
                assert set(change["inserted"]) <= set(gone), f"undo inserted text that the person had not removed: {change}"
            own.update(change["inserted"])
            gone.update(change["removed"])
        inserted.update(own)
        removed.append(gone)
        assert not (lost := set(writer.typed) - set(own)), f"typed text did not get into the editor: {lost}"
    # Letters that one person removed or moved are counted exactly. If both did, the merge decides.
    touched = [set(gone) | writer.moved for writer, gone in zip(writers, removed, strict=True)]
    touched_by_both = touched[0] & touched[1]
    moved = writers[0].moved | writers[1].moved
    there = Counter(TRACKED.findall(text))
    for letter, count in inserted.items():
        is_shared = letter in touched_by_both
        # Of equal insertions in one place, such as text that was pasted twice, the merge may keep one (5).
        least = 0 if is_shared else min(1, count - sum(gone[letter] for gone in removed))
        # A line that one person emptied or moved and the other wrote in is kept as the other has it (merge.md, Merging three texts, 4).
        # Of two parts that changed places, the merge can take for moved the one that was not cut.
        most = count + (is_shared or letter in moved)
        # If both replaced the same words, only those of one person stay in the note. The others are in its history (6).
        if there[letter] < least and touched_by_both and letter in history(client, note):
            continue
        assert least <= there[letter] <= most, f"{letter} occurs {there[letter]} times instead of {least} to {most} times"
    assert not (unknown := set(there) - set(inserted)), f"nobody typed {unknown}"


def text_edits(client: Client, note: str) -> list[dict]:
    """All edits of the note's text."""
    edits = client.get(f"/v1/notes/{note}/edits", params={"limit": 500}).json()["edits"]
    return [edit for edit in edits if edit["attribute"] == "text"]


def history(client: Client, note: str) -> str:
    """All texts that the note had."""
    return "".join(edit.get("value") or "" for edit in text_edits(client, note))
