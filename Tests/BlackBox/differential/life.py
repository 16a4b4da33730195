"""Random lives of a few devices of one account on a real server, each push of which is held against the model."""

import copy
import shutil
import threading
import uuid
from collections import Counter
from pathlib import Path
from random import Random

import requests
from attachments import data_path, sha256
from client import Client, Refused, Server, plain_session
from convergence import contents, read_history
from database import query
from device import Device
from local_copy import read_state
from model import WORD, Model, rescue_of, words
from push import Push, Unsent

NAMES = ["Paris", "paris", "ROME", "Rome", "Oslo", "oslo", "Lima", "Bonn"]
MOST_NOTES, MOST_LINES, MOST_PICTURES = 6, 15, 6


class Lost(Exception):
    """The answer of a push did not arrive."""


class Watched(Device):
    """A device every call of which the life sees."""

    def __init__(self, client: Client, life: "Life"):
        super().__init__(client)
        self.life = life

    def send(self, push: Push, limit: int | None = None) -> dict:
        changes = push.changes(self.was_away) if push else {}
        return self.life.carry(self, changes, push.token)

    def rescue(self, unique_id: str, text: str) -> None:
        super().rescue(unique_id, text)
        self.life.own_notes.update(self.rescued.values())

    def move(self, text: Unsent, unanswered: list[Unsent], out_of: str, into: str) -> None:
        super().move(text, unanswered, out_of, into)
        for sent in unanswered:
            self.life.moved |= words(sent.value)

    def text_of(self, note: str) -> str:
        unsent = self.unsent.get((note, "text"))
        standing = self.copy.objects.get(note)
        return unsent.value if unsent else standing.value("text") if standing else ""

    def here(self, kind: str) -> list[str]:
        """The IDs of what a person sees."""
        kept = [key for key, each in self.copy.objects.items() if each.type == kind and each.exists]
        made = [key for key, (made_kind, _) in self.new.items() if made_kind == kind and key not in self.copy.objects]
        return sorted(key for key in kept + made if key not in self.deletions)


class Life:
    def __init__(self, server: Server, seed: int, folder: Path, devices: int = 3):
        self.server, self.random, self.folder = server, Random(seed), folder
        first = server.client(device_name="A")
        self.model = Model(first.get("/v1/server").json()["serverClock"][-16:])
        clients = [first, *(first.another_device(f"B{index}") for index in range(1, devices))]
        self.devices = [Watched(client, self) for client in clients]
        self.witness = first.another_device("witness")
        self.backup: Model | None = None
        self.late: list[tuple[Watched, dict, str | None]] = []  # pushes that come later, or again
        self.pictures: dict[str, bytes] = {}
        self.words = 0
        self.loses_answer = self.kills = False
        self.written: set[str] = set()
        # What became of words that do not stand.
        self.removed: set[str] = set()  # by somebody who read them
        self.superseded: set[str] = set()  # in versions that are kept for ever
        self.at_risk: dict[str, set[str]] = {}  # by note: what a restore took, or a deletion given back had not seen
        # Where words may stand twice.
        self.own_notes: set[str] = set()  # notes that devices made of unsent words
        self.moved: set[str] = set()  # words that were sent to a note, and to the one that was made of it
        self.lost: set[str] = set()
        self.doubled: set[str] = set()
        self.risked: set[str] = set()
        self.done: Counter[str] = Counter()

    # What people do.

    def word(self) -> str:
        self.words += 1
        return f"w{self.words}"

    def line(self) -> str:
        return " ".join(self.word() for _ in range(self.random.randint(1, 4)))

    def new_id(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def step(self) -> None:
        """One operation."""
        device = self.random.choice(self.devices)
        weights = {
            "write": 40, "make_note": 4, "delete_note": 2, "archive": 2, "pin": 2, "tag": 5, "make_tag": 2, "rename": 2,
            "delete_tag": 1, "attach": 2, "move_picture": 3, "sync": 18, "lose": 4, "delay": 3, "repeat": 2, "deliver": 3,
            "sign_in": 0.5, "kill": 0.4, "back_up": 0.4, "restore": 0.3,
        }  # fmt: skip
        [name] = self.random.choices(list(weights), list(weights.values()))
        self.done[name] += 1
        getattr(self, name)(device)

    def some(self, found: list[str]) -> list[str]:
        return [self.random.choice(found)] if found else []

    def make_note(self, device: Watched) -> None:
        if len(device.here("note")) < MOST_NOTES:
            text = "".join(f"{self.line()}\n" for _ in range(self.random.randint(0, 4)))
            tags = self.some(device.here("tag")) if self.random.random() < 0.5 else []
            device.make_note(text, self.new_id(), tags)
            self.written |= words(text)

    def write(self, device: Watched) -> None:
        for note in self.some(device.here("note")):
            old = new = device.text_of(note)
            for _ in range(self.random.choice([1, 1, 1, 2, 4])):
                new = self.edited(new)
            device.write(note, new)
            self.written |= words(new)
            self.removed |= words(old) - words(new)

    def edited(self, text: str) -> str:
        lines = text.splitlines()
        at = self.random.randint(0, len(lines))
        [kind] = self.random.choices(["insert", "delete", "replace", "word"], [35, 15, 10, 35])
        if not lines or kind == "insert":
            lines.insert(at, self.line())
        elif kind == "delete" or len(lines) > MOST_LINES:
            del lines[at : at + self.random.randint(1, 2)]
        elif kind == "replace":
            lines[at : at + self.random.randint(1, 3)] = [self.line() for _ in range(self.random.randint(1, 2))]
        else:
            index = self.random.randrange(len(lines))
            lines[index] = " ".join(self.edited_words(lines[index].split()))
        return "".join(f"{line}\n" for line in lines)

    def edited_words(self, line: list[str]) -> list[str]:
        """A word more, another word, or a word less."""
        place, kind = self.random.randrange(len(line) + 1), self.random.random()
        if kind < 0.4 or place == len(line):
            return [*line[:place], self.word(), *line[place:]]
        if kind < 0.8 or len(line) == 1:
            return [*line[:place], self.word(), *line[place + 1 :]]
        return [*line[:place], *line[place + 1 :]]

    def delete_note(self, device: Watched) -> None:
        notes = device.here("note")
        for note in self.some(notes) if len(notes) > 3 else []:
            self.removed |= words(device.text_of(note))
            device.delete(note)

    def archive(self, device: Watched) -> None:
        for note in self.some(device.here("note")):
            device.archive(note, self.random.random() < 0.5)

    def pin(self, device: Watched) -> None:
        for note in self.some(device.here("note")):
            device.edit(note, "attributes.pinned", self.random.randrange(100))

    def tag(self, device: Watched) -> None:
        for note in self.some(device.here("note")):
            for tag in self.some(device.here("tag")):
                device.edit(note, f"tags.{tag}", self.random.random() < 0.7)

    def make_tag(self, device: Watched) -> None:
        device.make_tag(self.random.choice(NAMES), self.new_id())

    def rename(self, device: Watched) -> None:
        for tag in self.some(device.here("tag")):
            device.rename(tag, self.random.choice(NAMES))

    def delete_tag(self, device: Watched) -> None:
        for tag in self.some(device.here("tag")):
            device.delete(tag)

    def attach(self, device: Watched) -> None:
        notes = device.here("note")
        if not notes or len(device.here("attachment")) >= MOST_PICTURES:
            return
        picture, data = self.new_id(), self.random.randbytes(20)
        self.pictures[picture] = data
        self.model.data[picture] = {"byteCount": len(data), "sha256": sha256(data)}
        assert device.client.put(data_path(picture), data=data).status_code == 201
        device.make("attachment", picture, {"mimeType": "image/png", "filename": "a.png"})
        device.edit(self.random.choice(notes), f"attachments.{picture}", True)

    def move_picture(self, device: Watched) -> None:
        notes = device.here("note")
        for picture in self.some(device.here("attachment")):
            name = f"attachments.{picture}"
            for note in notes:
                standing = device.copy.objects.get(note)
                unsent = device.unsent.get((note, name))
                if unsent.value if unsent else standing and standing.value(name):
                    device.edit(note, name, False)
            if self.random.random() < 0.8:
                for note in self.some(notes):
                    device.edit(note, name, True)
            elif self.random.random() < 0.3:
                device.delete(picture)

    # What networks and machines do.

    def sync(self, device: Watched) -> None:
        device.sync()
        self.check(device)

    def lose(self, device: Watched) -> None:
        self.loses_answer = True
        try:
            device.sync()
        except Lost:
            return
        finally:
            self.loses_answer = False

    def delay(self, device: Watched) -> None:
        """A push that is on its way for long: what comes after it may arrive before."""
        if not device.relays and not device.before and (push := device.prepare()):
            self.late.append((device, push.changes(device.was_away), push.token))

    def repeat(self, device: Watched) -> None:
        """A push that will arrive a second time."""
        push = device.prepare() if not device.relays and not device.before else None
        if push:
            changes = push.changes(device.was_away)
            self.late.append((device, changes, push.token))
            self.sync(device)

    def deliver(self, _: Watched) -> None:
        if self.late:
            device, changes, token = self.late.pop(self.random.randrange(len(self.late)))
            try:
                self.carry(device, changes, token)
            except Refused as refusal:
                assert refusal.slug == "token-expired", refusal

    def sign_in(self, device: Watched) -> None:
        assert device.client.delete(f"/v1/devices/{device.client.device['uniqueID']}").status_code == 204
        device.sign_in_again()

    def kill(self, device: Watched) -> None:
        self.kills = True
        try:
            device.sync()
        except Lost:
            pass
        self.kills = False
        if self.server.process is None:
            self.start()

    def start(self) -> None:
        self.server.start()
        for client in [self.witness, *(device.client for device in self.devices)]:
            client.url, client.session = self.server.url, plain_session()

    def back_up(self, _: Watched) -> None:
        if self.server.database:
            return  # `hesper backup` is for SQLite
        shutil.rmtree(self.folder, ignore_errors=True)
        done = self.server.command("backup", str(self.folder))
        assert done.returncode == 0, done.stderr
        self.backup = copy.deepcopy(self.model)

    def restore(self, _: Watched) -> None:
        # After a second restore, texts given back of which none descends from the other are taken for a chain (record 52).
        if not self.backup or self.model.is_restored:
            return
        self.note_superseded()
        self.server.stop()
        shutil.rmtree(self.server.data)
        done = self.server.command("restore", str(self.folder))
        assert done.returncode == 0, done.stderr
        lost, self.model = self.model, copy.deepcopy(self.backup)
        self.model.losses, self.model.data = lost.losses, lost.data
        self.model.rules = lost.rules
        self.model.restore()
        for note, each in lost.objects.items():
            there = self.model.objects.get(note)
            if each.kind == "note":
                self.at_risk.setdefault(note, set()).update(words(each.text) - words(there.text if there else ""))
        self.start()
        for device in self.devices:
            device.sign_in_again()
        self.witness.sign_in(self.witness.email)
        for picture, data in self.pictures.items():
            assert self.witness.put(data_path(picture), data=data).status_code in (200, 201, 410)

    # What must be.

    def carry(self, device: Watched, changes: dict, token: str | None) -> dict:
        """Sends a push, and holds the answer against the model."""
        sender = device.client.device["uniqueID"]
        if self.kills:
            self.kills = False
            self.crash(device.client, changes, token, sender)
            raise Lost
        answer = device.client.sync(changes, since=token)
        self.check_answer(changes, answer, sender)
        if self.loses_answer and changes:
            self.loses_answer = False
            raise Lost
        return answer

    def crash(self, client: Client, changes: dict, token: str | None, sender: str) -> None:
        killer = threading.Timer(self.random.random() * 0.05, self.server.kill)
        killer.start()
        try:
            client.sync(changes, since=token)
        except (requests.RequestException, Refused) as failure:
            assert not isinstance(failure, Refused) or failure.slug in ("token-expired", "unavailable"), failure
        killer.join()
        self.start()
        found, answer = self.witness.read_all()
        if self.is_committed(changes, answer["digest"]):
            notes = [note for note in found["notes"] if "text" in note["clocks"]]
            standing = {note["uniqueID"]: (note["clocks"]["text"], note["text"]) for note in notes}
            self.apply(changes, sender, standing)
        assert answer["digest"] == self.model.digest, "after a kill"

    def is_committed(self, changes: dict, digest: str) -> bool:
        """A push is one transaction: a text or a register of it that was not known before is there, or it is not."""
        for change in changes.get("notes", []):
            each = self.model.objects.get(change["uniqueID"]) or self.model.graves.get(change["uniqueID"])
            for name, clock in change.get("clocks", {}).items():
                known = (each.texts if name == "text" else each.edits.get(name, ())) if each else ()
                if isinstance(clock, str) and clock not in known:
                    history = read_history(self.witness, change["uniqueID"])
                    return (name, clock) in {(edit["attribute"], edit["clock"]) for edit in history}
        return digest != self.model.digest

    def apply(self, changes: dict, sender: str, standing: dict) -> dict[str, dict]:
        for deletion in changes.get("deletedObjects", []):
            # A device that gives a deletion back does not know what the person had read.
            note = self.model.objects.get(deletion["uniqueID"])
            if note and note.kind == "note" and "textSeen" not in deletion:
                self.at_risk.setdefault(deletion["uniqueID"], set()).update(words(note.text))
        return self.model.apply(changes, sender, standing)

    def check_answer(self, changes: dict, answer: dict, sender: str) -> None:
        results = {result["uniqueID"]: result for result in answer["results"]}
        states = {state["uniqueID"]: state for state in answer["changes"]["notes"]}
        standing = {}
        for change in changes.get("notes", []):
            result = results[change["uniqueID"]]
            if "text" not in change or result["status"] == "deleted":
                continue
            told = result.get("fields", {}).get("text")
            standing[change["uniqueID"]] = (change["clocks"]["text"], change["text"])
            if told:
                state = states[change["uniqueID"]]
                assert told["clock"] == state["clocks"]["text"] and told["outcome"] in ("merged", "superseded"), told
                standing[change["uniqueID"]] = (told["clock"], state["text"])
                for each in told.get("superseded", []):
                    self.superseded |= words(each["text"])
        expected = self.apply(changes, sender, standing)
        assert results.keys() == expected.keys()
        for unique_id, wanted in expected.items():
            self.check_receipt(results[unique_id], wanted, changes)
        for section, items in answer["changes"].items():
            for item in items if section != "deletedObjects" else []:
                self.check_state(section, item)
        for gone in answer["changes"]["deletedObjects"]:
            assert self.model.deleted[gone["uniqueID"]].get("mergedInto") == gone.get("mergedInto")
            assert self.model.deleted[gone["uniqueID"]].get("rescuedInto") == gone.get("rescuedInto")
        if not answer["hasMore"]:
            assert answer["digest"] == self.model.digest, (changes, self.difference())

    def check_receipt(self, result: dict, wanted: dict, changes: dict) -> None:
        told = f"{result}, not {wanted}: {changes}"
        statuses = ("applied", "unchanged") if wanted["status"] == "known" else (wanted["status"],)
        assert result["status"] in statuses, told
        assert result.get("rescuedInto") == wanted.get("rescuedInto"), told
        fields = result.get("fields", {})
        assert fields.keys() == wanted.get("fields", {}).keys(), told
        for name, outcome in wanted.get("fields", {}).items():
            assert fields[name]["outcome"] == outcome or (name, fields[name]["outcome"]) == ("text", "merged"), told
            if outcome == "rejected":
                assert fields[name]["problem"]["slug"] == "attachment-in-use", told

    def check_state(self, section: str, item: dict) -> None:
        state, each = read_state(section, item), self.model.objects[item["uniqueID"]]
        assert (state.registers, state.fixed) == (each.registers, each.fixed), (state, each)

    def difference(self) -> list:
        """What the server has otherwise than the model, for people."""
        found, _ = self.witness.read_all()
        different = []
        for section, items in found.items():
            for item in items if section != "deletedObjects" else []:
                state, each = read_state(section, item), self.model.objects.get(item["uniqueID"])
                if not each or (state.registers, state.fixed) != (each.registers, each.fixed):
                    different.append((state, each))
        return different

    def check(self, device: Watched) -> None:
        """A device that has synced holds what the model does."""
        assert device.is_synced, (device.digest, device.copy.digest)
        assert contents(device.copy) == self.model.contents
        assert {each["problem"]["slug"] for each in device.shelf} <= {"attachment-in-use"}, device.shelf

    def end(self) -> None:
        """Everything arrives, everybody syncs: all copies are one, and every word is accounted for."""
        while self.late:
            self.deliver(self.devices[0])
        for device in self.devices * 3:
            device.sync()
        for device in self.devices:
            self.check(device)
            assert not device.repaired
            assert device.notes == self.devices[0].notes
        self.note_superseded()
        self.account()

    def note_superseded(self) -> None:
        """Words of versions that are kept for ever, as something of them does not stand."""
        for (body,) in query(self.server, "SELECT body FROM edits WHERE has_lost_words"):
            text = body if isinstance(body, str) else body.decode(errors="replace")
            self.superseded |= words(text.replace("\\n", " "))

    def account(self) -> None:
        """Of all words that were ever written."""
        counts: Counter[str] = Counter()
        own = set(self.own_notes)
        for _ in range(4):
            own |= {rescue_of(note) for note in own}
        for note, each in self.devices[0].notes.items():
            found = Counter(WORD.findall(each["text"]))
            counts.update(found.keys() if note in own else found)
            if note in own:
                self.moved |= found.keys()
        risky = set().union(*(lost for note, lost in self.at_risk.items() if note in self.model.deleted))
        gone = self.written - counts.keys() - self.removed
        self.lost = gone - self.superseded - risky
        self.risked = (gone - self.superseded) & risky
        self.doubled = {word for word, count in counts.items() if count > 1} - self.moved

    @property
    def summary(self) -> str:
        counted = f"{len(self.written)} words, {len(self.superseded)} superseded, {len(self.risked)} at risk"
        return f"{counted}, {dict(self.model.rules)}, {dict(self.done)}"


def run(server: Server, seed: int, operations: int, folder: Path) -> Life:
    life = Life(server, seed, folder)
    for number in range(operations):
        try:
            life.step()
        except Exception as failure:
            raise AssertionError(f"seed {seed}, operation {number}") from failure
    life.end()
    return life
