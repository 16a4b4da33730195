"""Random lives of three devices of one account: an app on the Swift library, the web app's copy and engine, and a Device.

Each makes random edits, online and offline. At the end all are online, and must be equal to each other and to the server.
"""

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from attachments import upload
from browser_device import BrowserDevice
from client import Client, Server
from convergence import check_same, history
from device import Device
from engine_page import EngineTab
from library_device import LibraryDevice, LibraryError, library_devices
from playwright.sync_api import Error

TAGS = ["Rome", "rome", "Oslo", "OSLO", "Bern", "Kyiv"]  # some names are equal except for case, and are merged
# What the devices raise if another one deleted the object at this moment.
GONE = ("notFound", "gone", "is not on this device")
MAX_SECONDS = 60  # until the devices are equal at the end


class Member:
    """One of the devices, in the words of a life."""

    name: str
    is_online = False
    has_own_types = True  # the web app shows notes only
    device: LibraryDevice | BrowserDevice | Device

    def note_ids(self) -> list[str]:
        return sorted(self.device.notes)

    def ids(self, kind: str) -> list[str]:
        """The objects of one of the app's own types."""
        return sorted(each.unique_id for each in self.device.view.objects.values() if each.type == kind)

    def go_online(self) -> None:
        self.is_online = True
        self.device.app.go_online()

    def go_offline(self) -> None:
        self.is_online = False
        self.device.app.go_offline()

    def acted(self) -> None:
        """Follows each action."""

    def attach(self, note: str, data: bytes) -> None:
        self.device.attach(note, data, "application/octet-stream", "a.bin")

    def replace_text(self, note: str, base: str, text: str) -> bool:
        """Replaces a text, unless another device changed it since it was read. Returns whether it did."""
        self.device.write(note, text)
        return True

    def count_call(self, contact: str) -> None:
        raise NotImplementedError

    def catch_up(self) -> None:
        """Sends and reads everything."""
        raise NotImplementedError

    @property
    def reports_identical(self) -> bool:
        """Whether the device's status says that its copy is identical to the server's."""
        raise NotImplementedError


class Library(Member):
    name = "library"

    def __init__(self, device: LibraryDevice):
        self.device = device

    def note_ids(self) -> list[str]:
        return sorted(note["uniqueID"] for note in self.device.app.call("notes"))

    def go_online(self) -> None:
        self.is_online = True
        self.device.go_online()

    def go_offline(self) -> None:
        self.is_online = False
        self.device.go_offline()

    def replace_text(self, note: str, base: str, text: str) -> bool:
        return self.device.app.call("replaceText", note=note, base=base, text=text)

    def count_call(self, contact: str) -> None:
        self.device.edit(contact, "attributes.calls", 1)

    def lose_response(self) -> None:
        # Without a change nothing is pushed.
        self.device.sync_with(after=lambda exchange: not exchange.changes)
        self.is_online = False

    def restart(self) -> None:
        self.device.restart()
        self.is_online = False

    def catch_up(self) -> None:
        self.device.app.call("sync", seconds=60)

    @property
    def reports_identical(self) -> bool:
        self.device.reported_identical = self.device.app.call("status")["isIdentical"]
        return self.device.reported_identical


class Browser(Member):
    name = "browser"
    has_own_types = False

    def __init__(self, tab: EngineTab, client: Client):
        self.device = BrowserDevice(tab, client)

    def note_ids(self) -> list[str]:
        return sorted(self.device.app.run("return copy.notes({archived: null})"))

    def replace_text(self, note: str, base: str, text: str) -> bool:
        return self.device.app.run(
            """const [id, base, text] = argument, note = copy.note(id)
            if (note?.text !== base) return false
            await copy.write(id, text, {clock: note.textClock, value: note.text})
            return true""",
            [note, base, text],
        )

    def catch_up(self) -> None:
        self.device.app.run("engine.syncNow(); await identical(30)")

    @property
    def reports_identical(self) -> bool:
        self.device.reported_identical = self.device.app.run("return engine.status.identical && copy.unsentCount() === 0")
        return self.device.reported_identical


class Python(Member):
    name = "device.py"

    def __init__(self, client: Client):
        self.device = Device(client)

    def go_online(self) -> None:
        self.is_online = True
        self.device.sync()

    def go_offline(self) -> None:
        self.is_online = False

    def acted(self) -> None:
        if self.is_online:
            self.device.sync()

    def attach(self, note: str, data: bytes) -> None:
        attachment = self.device.make("attachment", upload(self.device.client, data), {"mimeType": "application/octet-stream"})
        self.device.edit(note, f"attachments.{attachment}", True)

    def count_call(self, contact: str) -> None:
        attribute = f"attributes.calls.{self.device.clock.node}"
        current = self.device.view.objects[contact].value(attribute) or 0
        self.device.edit(contact, attribute, current + 1)

    def lose_response(self) -> None:
        self.device.sync(lose_response=True)

    def catch_up(self) -> None:
        self.device.sync()

    @property
    def reports_identical(self) -> bool:
        return self.device.is_synced


@dataclass
class Life:
    """`log` has the actions, `lines` the words that were inserted as lines, by note."""

    members: list[Member]
    chance: random.Random
    log: list[str] = field(default_factory=list)
    lines: dict[str, set[str]] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)  # words that a device removed or replaced, or may have
    deleted: set[str] = field(default_factory=set)  # notes that a device deleted, or may have
    by_library: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))  # words and notes, for undo
    words: int = 0

    def live(self, actions: int) -> None:
        for _ in range(actions):
            member = self.chance.choice(self.members)
            action = self.chance.choices(list(ACTIONS), [weight for _, weight in ACTIONS.values()])[0]
            self.log.append(f"{member.name}: {action}")
            try:
                ACTIONS[action][0](self, member)
                member.acted()
            except (LibraryError, Error, KeyError) as failure:
                assert any(reason in str(failure) for reason in GONE), failure
                self.log[-1] += ", gone"

    def new_id(self) -> str:
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def word(self) -> str:
        """A word that occurs nowhere else."""
        self.words += 1
        return f"w{self.words}"

    def some_note(self, member: Member) -> str:
        notes = member.note_ids()
        return self.chance.choice(notes) if notes else self.make_note(member)

    def some_tag(self, member: Member) -> str | None:
        tags = sorted(member.device.tags)
        return self.chance.choice(tags) if tags else None

    # Actions

    def make_note(self, member: Member) -> str:
        note, words = self.new_id(), [self.word() for _ in range(self.chance.randint(1, 3))]
        member.device.make_note("".join(f"{word} {word}b\n" for word in words), unique_id=note)
        self.lines[note] = set(words)
        if member.name == "library":
            self.by_library[0].update(words)
            self.by_library[1].add(note)
        return note

    def write(self, member: Member) -> None:
        """Inserts a line, removes one, or replaces a word."""
        note = self.some_note(member)
        base = member.device.text(note)
        if base is None:  # deleted at this moment
            return
        lines = base.splitlines()
        place = self.chance.randint(0, len(lines))
        word = self.word()
        change = self.chance.choice(["insert", "insert", "insert", "remove", "replace"]) if place < len(lines) else "insert"
        self.log[-1] += f" {word}, {change} {lines[place : place + 1]} in {note[:8]}"
        if change == "insert":
            lines.insert(place, f"{word} {word}b")
        else:
            self.removed.update(lines[place].split())
            lines[place : place + 1] = [f"{lines[place].split(' ')[0]} {word}c"] if change == "replace" else []
        if not member.replace_text(note, base, "".join(f"{line}\n" for line in lines)):
            self.log[-1] += ", too late"
        elif change == "insert":
            self.lines.setdefault(note, set()).add(word)
        if member.name == "library":
            self.by_library[0].add(word)

    def tag(self, member: Member) -> None:
        note, tag = self.some_note(member), self.some_tag(member)
        if tag is None or self.chance.random() < 0.4:
            tag = member.device.make_tag(self.chance.choice(TAGS))
        member.device.tag(note, tag)

    def untag(self, member: Member) -> None:
        note = self.some_note(member)
        if tags := sorted((member.device.note(note) or {}).get("tags", [])):
            member.device.untag(note, self.chance.choice(tags))

    def rename(self, member: Member) -> None:
        if tag := self.some_tag(member):
            member.device.rename(tag, self.chance.choice(TAGS))

    def delete_tag(self, member: Member) -> None:
        if tag := self.some_tag(member):
            member.device.delete(tag)

    def archive(self, member: Member) -> None:
        member.device.archive(self.some_note(member), self.chance.random() < 0.5)

    def pin(self, member: Member) -> None:
        member.device.edit(self.some_note(member), "attributes.pinned", self.chance.random() < 0.5)

    def attach(self, member: Member) -> None:
        member.attach(self.some_note(member), self.chance.randbytes(100))

    def delete_note(self, member: Member) -> None:
        note = self.some_note(member)
        self.deleted.add(note)
        member.device.delete(note)

    def contact(self, member: Member) -> None:
        """Makes or edits an object of the app's own type."""
        if not member.has_own_types:
            return
        contacts = member.ids("contact")
        if not contacts or self.chance.random() < 0.3:
            member.device.make_object("contact", self.new_id(), name=self.word(), mobile=self.word(), work=self.word())
            return
        contact = self.chance.choice(contacts)
        match self.chance.randrange(5):
            case 0 | 1:
                member.device.edit(contact, f"attributes.{self.chance.choice(['name', 'mobile', 'work'])}", self.word())
            case 2 | 3:
                member.count_call(contact)
            case 4:
                member.device.delete(contact)

    def recipe(self, member: Member) -> None:
        """Edits the title of a recipe or deletes it. Only the library knows its texts and files, which the others keep."""
        recipes = member.ids("recipe")
        if isinstance(member, Library) and (not recipes or self.chance.random() < 0.3):
            member.device.make_recipe(self.word(), f"{self.word()}\n", unique_id=self.new_id())
            return
        if not member.has_own_types or not recipes:
            return
        recipe = self.chance.choice(recipes)
        match self.chance.randrange(6) if isinstance(member, Library) else self.chance.choice([0, 0, 1]):
            case 0:
                member.device.edit(recipe, "attributes.title", self.word())
            case 1:
                member.device.delete(recipe)
            case 2 | 3:
                name = self.chance.choice(["method", "tips"])
                member.device.edit(recipe, f"texts.{name}", f"{member.device.recipes[recipe][name]}{self.word()}\n")
            case 4:
                member.device.attach_to_recipe(recipe, self.chance.choice(["photo", "scan"]), self.chance.randbytes(100))
            case 5:
                member.device.edit(recipe, f"files.{self.chance.choice(['photo', 'scan'])}", None)

    def undo(self, member: Member) -> None:
        if isinstance(member, Library):
            self.removed |= self.by_library[0]
            self.deleted |= self.by_library[1]
            member.device.app.call("undo")

    def lose_response(self, member: Member) -> None:
        if not isinstance(member, Browser):
            member.lose_response()

    def restart(self, member: Member) -> None:
        if isinstance(member, Library):
            member.restart()

    def connect(self, member: Member) -> None:
        member.go_offline() if member.is_online else member.go_online()

    # The end

    def settle(self) -> None:
        """Goes online until all copies are equal."""
        for member in self.members:
            member.go_online()
        deadline = monotonic() + MAX_SECONDS
        while True:
            for member in self.members:
                member.catch_up()
            # In this order: the library sends a deletion by itself, 10 s after it was made by undo.
            identical = {member.name: member.reports_identical for member in self.members}
            digests = {member.name: member.device.copy.digest for member in self.members}
            if len(set(digests.values())) == 1 and all(identical.values()):
                return
            assert monotonic() < deadline, f"the digests are {digests}, identical: {identical}"
            sleep(0.1)

    def check(self) -> None:
        check_same(*(member.device for member in self.members))
        notes = self.members[0].device.notes
        for note, words in self.lines.items():
            if note in self.deleted:
                continue
            text = notes[note]["text"].split()
            for word in words - self.removed:
                assert text.count(word) == 1, f"{word} occurs {text.count(word)} times in {note}: {history(self.members[2].device, note)}"
        self.check_contacts()
        self.check_recipes()

    def check_recipes(self) -> None:
        """What the library returns for recipes, compared to what the Device keeps of them."""
        library, other = (next(each for each in self.members if each.name == name) for name in ("library", "device.py"))
        names = {"attributes.title": "title", "texts.method": "method", "texts.tips": "tips", "files.photo": "photo", "files.scan": "scan"}
        defaults = {"title": "", "method": "", "tips": "", "photo": None, "scan": None}
        expected = {
            entity.unique_id: defaults | {names[name]: value for name, (value, _) in entity.registers.items()}
            for entity in other.device.copy.objects.values() if entity.type == "recipe"
        }  # fmt: skip
        assert {unique_id: defaults | recipe for unique_id, recipe in library.device.recipes.items()} == expected

    def check_contacts(self) -> None:
        """What the library returns for objects of the app's own type, compared to the registers of the Device."""
        library, other = (next(each for each in self.members if each.name == name) for name in ("library", "device.py"))
        expected = {}
        for entity in other.device.copy.objects.values():
            if entity.type == "contact":
                values = {name.removeprefix("attributes."): value for name, (value, _) in entity.registers.items()}
                calls = sum(value for name, value in values.items() if name.startswith("calls."))
                expected[entity.unique_id] = {name: values[name] for name in ("name", "mobile", "work")} | {"calls": calls}
        found = {each.pop("id"): each for each in library.device.app.call("contacts")}
        for each in found.values():
            each.pop("groups")
        assert found == expected


ACTIONS: dict[str, tuple[Callable[[Life, Member], object], int]] = {
    "makes a note": (Life.make_note, 4),
    "writes": (Life.write, 12),
    "tags": (Life.tag, 4),
    "untags": (Life.untag, 2),
    "renames a tag": (Life.rename, 2),
    "deletes a tag": (Life.delete_tag, 1),
    "archives": (Life.archive, 2),
    "pins": (Life.pin, 2),
    "attaches": (Life.attach, 1),
    "deletes a note": (Life.delete_note, 2),
    "edits a contact": (Life.contact, 6),
    "edits a recipe": (Life.recipe, 6),
    "undoes": (Life.undo, 1),
    "loses a response": (Life.lose_response, 2),
    "restarts": (Life.restart, 1),
    "goes online or offline": (Life.connect, 6),
}


def live(server: Server, tab: EngineTab, folder: Path, seed: int, actions: int = 40) -> None:
    """One life, with a new account."""
    client = server.client(device_name="device.py")
    tab.sign_in(client.email)
    with library_devices(folder) as library:
        members = [Library(library(server, client.email)), Browser(tab, client), Python(client)]
        life = Life(members, random.Random(seed))
        try:
            life.live(actions)
            life.settle()
            life.check()
        except Exception as failure:
            texts = {member.name: {note: member.device.text(note) for note in member.note_ids()} for member in members}
            raise AssertionError(f"HESPER_SEED={seed}: {failure}\n{life.log}\n{texts}") from failure
