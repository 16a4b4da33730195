"""Random operations of a few devices of one account on a real server. Every response is compared with the model."""

import copy
import shutil
import threading
import uuid
from collections import Counter
from pathlib import Path
from random import Random

import requests
from attachments import data_path, sha256
from client import Client, ErrorResponse, Server, plain_session
from convergence import contents, read_history
from database import query
from device import Device
from local_copy import read_state
from model import WORD, Model, rescue_of, words
from push import Push, Unsent

NAMES = ["Paris", "paris", "ROME", "Rome", "Oslo", "oslo", "Lima", "Bonn"]
MAX_NOTES, MAX_LINES, MAX_PICTURES = 6, 15, 6


class ResponseLost(Exception):
    """The response to a push was lost."""


class SimulatedDevice(Device):
    """A device whose pushes go through the simulation."""

    def __init__(self, client: Client, simulation: "Simulation"):
        super().__init__(client)
        self.simulation = simulation

    def send(self, push: Push, limit: int | None = None) -> dict:
        changes = push.changes(self.server_may_lack_bases) if push else {}
        return self.simulation.push_checked(self, changes, push.token)

    def rescue(self, unique_id: str, text: str) -> None:
        super().rescue(unique_id, text)
        self.simulation.own_notes.update(self.rescued.values())

    def move(self, text: Unsent, in_flight: list[Unsent], out_of: str, into: str) -> None:
        super().move(text, in_flight, out_of, into)
        for sent in in_flight:
            self.simulation.moved |= words(sent.value)

    def text_of(self, note: str) -> str:
        unsent = self.unsent.get((note, "text"))
        entity = self.copy.objects.get(note)
        return unsent.value if unsent else entity.value("text") if entity else ""

    def here(self, kind: str) -> list[str]:
        """The IDs of the objects of a type that the user sees."""
        kept = [key for key, each in self.copy.objects.items() if each.type == kind and each.exists]
        made = [key for key, (made_kind, _) in self.new.items() if made_kind == kind and key not in self.copy.objects]
        return sorted(key for key in kept + made if key not in self.deletions)


class Simulation:
    """A server, its model, and devices that execute random operations."""

    def __init__(self, server: Server, seed: int, folder: Path, devices: int = 3):
        self.server, self.random, self.folder = server, Random(seed), folder
        first = server.client(device_name="A")
        self.model = Model(first.get("/v1/server").json()["serverClock"][-16:])
        clients = [first, *(first.another_device(f"B{index}") for index in range(1, devices))]
        self.devices = [SimulatedDevice(client, self) for client in clients]
        self.witness = first.another_device("witness")
        self.backup: Model | None = None
        self.delayed: list[tuple[SimulatedDevice, dict, str | None]] = []  # pushes that arrive later, or a second time
        self.pictures: dict[str, bytes] = {}
        self.words = 0
        self.lose_next_response = self.kill_during_push = False
        self.written: set[str] = set()
        # Words that are no longer in a note, and why.
        self.removed: set[str] = set()  # by a user who saw them
        self.superseded: set[str] = set()  # in versions that the history keeps forever
        self.at_risk: dict[str, set[str]] = {}  # by note: lost by a restore, or not seen by a restored deletion
        # Words that may occur twice.
        self.own_notes: set[str] = set()  # notes that devices made of unsent text
        self.moved: set[str] = set()  # words sent to a note and to its rescue note
        self.lost: set[str] = set()
        self.duplicated: set[str] = set()
        self.lost_at_risk: set[str] = set()
        self.operations: Counter[str] = Counter()

    # Operations of users

    def word(self) -> str:
        self.words += 1
        return f"w{self.words}"

    def line(self) -> str:
        return " ".join(self.word() for _ in range(self.random.randint(1, 4)))

    def new_id(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def step(self) -> None:
        """Executes one random operation."""
        device = self.random.choice(self.devices)
        weights = {
            "write": 40, "make_note": 4, "delete_note": 2, "archive": 2, "pin": 2, "tag": 5, "make_tag": 2, "rename": 2,
            "delete_tag": 1, "attach": 2, "move_picture": 3, "sync": 18, "lose": 4, "delay": 3, "repeat": 2, "deliver": 3,
            "sign_in": 0.5, "kill": 0.4, "back_up": 0.4, "restore": 0.3,
        }  # fmt: skip
        [name] = self.random.choices(list(weights), list(weights.values()))
        self.operations[name] += 1
        getattr(self, name)(device)

    def some(self, found: list[str]) -> list[str]:
        return [self.random.choice(found)] if found else []

    def make_note(self, device: SimulatedDevice) -> None:
        if len(device.here("note")) < MAX_NOTES:
            text = "".join(f"{self.line()}\n" for _ in range(self.random.randint(0, 4)))
            tags = self.some(device.here("tag")) if self.random.random() < 0.5 else []
            device.make_note(text, self.new_id(), tags)
            self.written |= words(text)

    def write(self, device: SimulatedDevice) -> None:
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
        elif kind == "delete" or len(lines) > MAX_LINES:
            del lines[at : at + self.random.randint(1, 2)]
        elif kind == "replace":
            lines[at : at + self.random.randint(1, 3)] = [self.line() for _ in range(self.random.randint(1, 2))]
        else:
            index = self.random.randrange(len(lines))
            lines[index] = " ".join(self.edited_words(lines[index].split()))
        return "".join(f"{line}\n" for line in lines)

    def edited_words(self, line: list[str]) -> list[str]:
        """Inserts, replaces or removes a word."""
        position, kind = self.random.randrange(len(line) + 1), self.random.random()
        if kind < 0.4 or position == len(line):
            return [*line[:position], self.word(), *line[position:]]
        if kind < 0.8 or len(line) == 1:
            return [*line[:position], self.word(), *line[position + 1 :]]
        return [*line[:position], *line[position + 1 :]]

    def delete_note(self, device: SimulatedDevice) -> None:
        notes = device.here("note")
        for note in self.some(notes) if len(notes) > 3 else []:
            self.removed |= words(device.text_of(note))
            device.delete(note)

    def archive(self, device: SimulatedDevice) -> None:
        for note in self.some(device.here("note")):
            device.archive(note, self.random.random() < 0.5)

    def pin(self, device: SimulatedDevice) -> None:
        for note in self.some(device.here("note")):
            device.edit(note, "attributes.pinned", self.random.randrange(100))

    def tag(self, device: SimulatedDevice) -> None:
        for note in self.some(device.here("note")):
            for tag in self.some(device.here("tag")):
                device.edit(note, f"tags.{tag}", self.random.random() < 0.7)

    def make_tag(self, device: SimulatedDevice) -> None:
        device.make_tag(self.random.choice(NAMES), self.new_id())

    def rename(self, device: SimulatedDevice) -> None:
        for tag in self.some(device.here("tag")):
            device.rename(tag, self.random.choice(NAMES))

    def delete_tag(self, device: SimulatedDevice) -> None:
        for tag in self.some(device.here("tag")):
            device.delete(tag)

    def attach(self, device: SimulatedDevice) -> None:
        notes = device.here("note")
        if not notes or len(device.here("attachment")) >= MAX_PICTURES:
            return
        picture, data = self.new_id(), self.random.randbytes(20)
        self.pictures[picture] = data
        self.model.data[picture] = {"byteCount": len(data), "sha256": sha256(data)}
        assert device.client.put(data_path(picture), data=data).status_code == 201
        device.make("attachment", picture, {"mimeType": "image/png", "filename": "a.png"})
        device.edit(self.random.choice(notes), f"attachments.{picture}", True)

    def move_picture(self, device: SimulatedDevice) -> None:
        notes = device.here("note")
        for picture in self.some(device.here("attachment")):
            name = f"attachments.{picture}"
            for note in notes:
                entity = device.copy.objects.get(note)
                unsent = device.unsent.get((note, name))
                if unsent.value if unsent else entity and entity.value(name):
                    device.edit(note, name, False)
            if self.random.random() < 0.8:
                for note in self.some(notes):
                    device.edit(note, name, True)
            elif self.random.random() < 0.3:
                device.delete(picture)

    # Networks and machines

    def sync(self, device: SimulatedDevice) -> None:
        device.sync()
        self.check(device)

    def lose(self, device: SimulatedDevice) -> None:
        self.lose_next_response = True
        try:
            device.sync()
        except ResponseLost:
            return
        finally:
            self.lose_next_response = False

    def delay(self, device: SimulatedDevice) -> None:
        """Prepares a push that arrives after later ones."""
        if not device.restore_pushes and not device.old_copy and (push := device.prepare()):
            self.delayed.append((device, push.changes(device.server_may_lack_bases), push.token))

    def repeat(self, device: SimulatedDevice) -> None:
        """Sends a push that will arrive a second time."""
        push = device.prepare() if not device.restore_pushes and not device.old_copy else None
        if push:
            changes = push.changes(device.server_may_lack_bases)
            self.delayed.append((device, changes, push.token))
            self.sync(device)

    def deliver(self, _: SimulatedDevice) -> None:
        if self.delayed:
            device, changes, token = self.delayed.pop(self.random.randrange(len(self.delayed)))
            try:
                self.push_checked(device, changes, token)
            except ErrorResponse as refusal:
                assert refusal.slug == "token-expired", refusal

    def sign_in(self, device: SimulatedDevice) -> None:
        assert device.client.delete(f"/v1/devices/{device.client.device['uniqueID']}").status_code == 204
        device.sign_in_again()

    def kill(self, device: SimulatedDevice) -> None:
        self.kill_during_push = True
        try:
            device.sync()
        except ResponseLost:
            pass
        self.kill_during_push = False
        if self.server.process is None:
            self.start()

    def start(self) -> None:
        self.server.start()
        for client in [self.witness, *(device.client for device in self.devices)]:
            client.url, client.session = self.server.url, plain_session()

    def back_up(self, _: SimulatedDevice) -> None:
        if self.server.database:
            return  # `hesper backup` is for SQLite
        shutil.rmtree(self.folder, ignore_errors=True)
        done = self.server.command("backup", str(self.folder))
        assert done.returncode == 0, done.stderr
        self.backup = copy.deepcopy(self.model)

    def restore(self, _: SimulatedDevice) -> None:
        # After a second restore, restored texts are treated as a chain even if none descends from the other (record 52).
        if not self.backup or self.model.is_restored:
            return
        self.record_superseded()
        self.server.stop()
        shutil.rmtree(self.server.data)
        done = self.server.command("restore", str(self.folder))
        assert done.returncode == 0, done.stderr
        lost, self.model = self.model, copy.deepcopy(self.backup)
        self.model.losses, self.model.data = lost.losses, lost.data
        self.model.rules = lost.rules
        self.model.restore()
        for note, each in lost.objects.items():
            restored = self.model.objects.get(note)
            if each.kind == "note":
                self.at_risk.setdefault(note, set()).update(words(each.text) - words(restored.text if restored else ""))
        self.start()
        for device in self.devices:
            device.sign_in_again()
        self.witness.sign_in(self.witness.email)
        for picture, data in self.pictures.items():
            assert self.witness.put(data_path(picture), data=data).status_code in (200, 201, 410)

    # Checks

    def push_checked(self, device: SimulatedDevice, changes: dict, token: str | None) -> dict:
        """Sends a push, and compares the response with the model."""
        sender = device.client.device["uniqueID"]
        if self.kill_during_push:
            self.kill_during_push = False
            self.crash(device.client, changes, token, sender)
            raise ResponseLost
        answer = device.client.sync(changes, since=token)
        self.check_answer(changes, answer, sender)
        if self.lose_next_response and changes:
            self.lose_next_response = False
            raise ResponseLost
        return answer

    def crash(self, client: Client, changes: dict, token: str | None, sender: str) -> None:
        killer = threading.Timer(self.random.random() * 0.05, self.server.kill)
        killer.start()
        try:
            client.sync(changes, since=token)
        except (requests.RequestException, ErrorResponse) as failure:
            assert not isinstance(failure, ErrorResponse) or failure.slug in ("token-expired", "unavailable"), failure
        killer.join()
        self.start()
        found, answer = self.witness.read_all()
        if self.is_committed(changes, answer["digest"]):
            notes = [note for note in found["notes"] if "text" in note["clocks"]]
            server_texts = {note["uniqueID"]: (note["clocks"]["text"], note["text"]) for note in notes}
            self.apply(changes, sender, server_texts)
        assert answer["digest"] == self.model.digest, "after a kill"

    def is_committed(self, changes: dict, digest: str) -> bool:
        """Whether a push was committed. A push is one transaction, so one new register of it decides."""
        for change in changes.get("notes", []):
            each = self.model.objects.get(change["uniqueID"]) or self.model.tombstones.get(change["uniqueID"])
            for name, clock in change.get("clocks", {}).items():
                known = (each.texts if name == "text" else each.edits.get(name, ())) if each else ()
                if isinstance(clock, str) and clock not in known:
                    history = read_history(self.witness, change["uniqueID"])
                    return (name, clock) in {(edit["attribute"], edit["clock"]) for edit in history}
        return digest != self.model.digest

    def apply(self, changes: dict, sender: str, server_texts: dict) -> dict[str, dict]:
        for deletion in changes.get("deletedObjects", []):
            # A device that restores a deletion does not know which text the user had seen.
            note = self.model.objects.get(deletion["uniqueID"])
            if note and note.kind == "note" and "textSeen" not in deletion:
                self.at_risk.setdefault(deletion["uniqueID"], set()).update(words(note.text))
        return self.model.apply(changes, sender, server_texts)

    def check_answer(self, changes: dict, answer: dict, sender: str) -> None:
        results = {result["uniqueID"]: result for result in answer["results"]}
        states = {state["uniqueID"]: state for state in answer["changes"]["notes"]}
        server_texts = {}
        for change in changes.get("notes", []):
            result = results[change["uniqueID"]]
            if "text" not in change or result["status"] == "deleted":
                continue
            field = result.get("fields", {}).get("text")
            server_texts[change["uniqueID"]] = (change["clocks"]["text"], change["text"])
            if field:
                state = states[change["uniqueID"]]
                assert field["clock"] == state["clocks"]["text"] and field["outcome"] in ("merged", "superseded"), field
                server_texts[change["uniqueID"]] = (field["clock"], state["text"])
                for each in field.get("superseded", []):
                    self.superseded |= words(each["text"])
        expected = self.apply(changes, sender, server_texts)
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
        context = f"{result}, not {wanted}: {changes}"
        statuses = ("applied", "unchanged") if wanted["status"] == "known" else (wanted["status"],)
        assert result["status"] in statuses, context
        assert result.get("rescuedInto") == wanted.get("rescuedInto"), context
        fields = result.get("fields", {})
        assert fields.keys() == wanted.get("fields", {}).keys(), context
        for name, outcome in wanted.get("fields", {}).items():
            assert fields[name]["outcome"] == outcome or (name, fields[name]["outcome"]) == ("text", "merged"), context
            if outcome == "rejected":
                assert fields[name]["problem"]["slug"] == "attachment-in-use", context

    def check_state(self, section: str, item: dict) -> None:
        state, each = read_state(section, item), self.model.objects[item["uniqueID"]]
        assert (state.registers, state.fixed) == (each.registers, each.fixed), (state, each)

    def difference(self) -> list:
        """Objects that differ between server and model, for error messages."""
        found, _ = self.witness.read_all()
        different = []
        for section, items in found.items():
            for item in items if section != "deletedObjects" else []:
                state, each = read_state(section, item), self.model.objects.get(item["uniqueID"])
                if not each or (state.registers, state.fixed) != (each.registers, each.fixed):
                    different.append((state, each))
        return different

    def check(self, device: SimulatedDevice) -> None:
        """Checks that a synced device equals the model."""
        assert device.is_synced, (device.digest, device.copy.digest)
        assert contents(device.copy) == self.model.contents
        assert {each["problem"]["slug"] for each in device.rejected} <= {"attachment-in-use"}, device.rejected

    def end(self) -> None:
        """Delivers all pushes and syncs all devices. Checks that their copies are equal and accounts for every word."""
        while self.delayed:
            self.deliver(self.devices[0])
        for device in self.devices * 3:
            device.sync()
        for device in self.devices:
            self.check(device)
            assert not device.repaired
            assert device.notes == self.devices[0].notes
        self.record_superseded()
        self.account_for_words()

    def record_superseded(self) -> None:
        """Records the words of versions that the history keeps forever because their words are not in the current text."""
        for (body,) in query(self.server, "SELECT body FROM edits WHERE has_lost_words"):
            text = body if isinstance(body, str) else body.decode(errors="replace")
            self.superseded |= words(text.replace("\\n", " "))

    def account_for_words(self) -> None:
        """Determines which of all written words were lost or duplicated."""
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
        self.lost_at_risk = (gone - self.superseded) & risky
        self.duplicated = {word for word, count in counts.items() if count > 1} - self.moved

    @property
    def summary(self) -> str:
        counted = f"{len(self.written)} words, {len(self.superseded)} superseded, {len(self.lost_at_risk)} at risk"
        return f"{counted}, {dict(self.model.rules)}, {dict(self.operations)}"


def run(server: Server, seed: int, operations: int, folder: Path) -> Simulation:
    simulation = Simulation(server, seed, folder)
    for number in range(operations):
        try:
            simulation.step()
        except Exception as failure:
            raise AssertionError(f"seed {seed}, operation {number}") from failure
    simulation.end()
    return simulation
