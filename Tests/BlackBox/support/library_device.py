"""An app on the Swift library HesperClient with the interface of Device, so that the same tests run on it.

The app is the executable `client-device` (Tests/ClientDevice). It is offline except during `sync`, unless a test calls `go_online`.
What it stores is read from its SQLite file directly, independently of the library.
"""

import base64
import json
import os
import shutil
import sqlite3
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import clocks
from client import BINARY, PASSWORD, Client, Server
from device import Edits
from link import Exchange, Link
from local_copy import Entity, LocalCopy

# The tests of the server name its binary. The executable was built in the same way.
EXECUTABLE = BINARY.with_name("client-device")


class LibraryError(Exception):
    """An error of the library: `name` is that of its case, such as `diskFull`."""

    def __init__(self, name: str, description: str):
        self.name = name
        super().__init__(f"{name}: {description}")


class NotSynced(Exception):
    """Sync ended although something is left. `status` is the status that the library reports."""

    def __init__(self, status: dict):
        self.status = status
        super().__init__(str(status))


class App:
    """A process of `client-device`, which carries out one command at a time."""

    def __init__(self, folder: Path):
        if not EXECUTABLE.exists():
            raise RuntimeError(f"{EXECUTABLE} does not exist. Build it with: swift build --product client-device")
        self.process = subprocess.Popen([EXECUTABLE, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, command: str, /, *value: Any, **values: Any) -> Any:
        """Carries out a command of Command.swift. Returns its result."""
        argument = {"_0": value[0]} if value else {name: value for name, value in values.items() if value is not None}
        self.process.stdin.write(json.dumps({command: argument}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"client-device ended with status {self.process.wait()} during {command}")
        answer = json.loads(line)
        if "error" in answer:
            raise LibraryError(answer["error"], answer["description"])
        return answer["value"]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()

    def kill(self) -> None:
        """Ends the process with SIGKILL, as a crash would."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class LibraryClock:
    """The device's clock, as stored in the file."""

    def __init__(self, device: "LibraryDevice"):
        self.device = device

    @property
    def node(self) -> str:
        return self.device.meta("clock")["node"]

    @property
    def greatest(self) -> str:
        stored = self.device.meta("clock")
        time = int(stored["time"], 16)
        return clocks.clock(time >> 16, time & 0xFFFF, stored["node"])

    @greatest.setter
    def greatest(self, clock: str) -> None:
        milliseconds, counter, _ = clocks.parts(clock)
        self.device.change_meta("clock", {"time": f"{milliseconds << 16 | counter:x}"})


class LibraryDevice(Edits):
    """One device of an account, with its copy in a folder.

    `wall`: the offset of its wall clock in milliseconds. `direct`: it connects to the server without Link. `is_old`: the app is an
    earlier version, in which a recipe has only a title.
    """

    def __init__(
        self, server: str, email: str, folder: Path, wall: int = 0, direct: bool = False, is_old: bool = False
    ):
        self.server, self.email = server, email
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.link = Link(server)
        self.address = server if direct else self.link.url
        self.clock = LibraryClock(self)
        self.receipts: list[dict] = []  # the results of the latest sync
        self.reported_identical = False
        self.wall = wall
        self.is_old = is_old
        self.open()
        self.sign_in_again()

    def open(self) -> None:
        """Starts the app, offline."""
        self.app = App(self.folder)
        self.app.call("open", wall=self.wall, isOld=self.is_old)
        self.app.call("suspend")

    def restart(self) -> None:
        """Ends the app as a crash would, and starts it again."""
        self.app.kill()
        self.open()

    def close(self) -> None:
        self.app.close()
        self.link.close()

    def copied(self, folder: Path) -> "LibraryDevice":
        """Another device, which begins with a copy of this one's file, as if a backup of it had been restored there."""
        folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.file)) as database, closing(sqlite3.connect(folder / "copy.sqlite")) as copy:
            database.backup(copy)
        if (self.folder / "copy.sqlite-files").exists():
            shutil.copytree(self.folder / "copy.sqlite-files", folder / "copy.sqlite-files")
        other = object.__new__(LibraryDevice)
        other.__dict__.update(self.__dict__, folder=folder, link=Link(self.server), receipts=[])
        other.address = other.link.url
        other.clock = LibraryClock(other)
        other.open()
        return other

    def sign_in_again(self) -> None:
        """Signs in as a new device."""
        self.app.call("signIn", server=self.address, email=self.email, password=PASSWORD, deviceName="library")

    @property
    def client(self) -> Client:
        """A client with the session of this device, for requests of a test to the server."""
        session = self.meta("session")
        client = Client(self.server, session.get("token"))
        client.email, client.password = self.email, PASSWORD
        client.device = {"uniqueID": session["device"], "name": session["deviceName"]}
        return client

    # Writing

    def make(self, kind: str, unique_id: str | None = None, fixed: dict | None = None, **values: Any) -> str:
        if kind == "tag":
            return self.make_tag(values["name"], unique_id)
        assert kind == "note", f"{kind} is made in another way"
        created = clocks.parts(fixed["creationDate"] + "-0000-" + "0" * 16)[0]
        return self.app.call("makeNote", id=unique_id, text=values.get("text", ""), tags=[], creationDate=created)

    def make_note(self, text: str, unique_id: str | None = None, tags: list[str] = (), pinned: bool | None = None) -> str:
        return self.app.call("makeNote", id=unique_id, text=text, tags=list(tags), isPinned=pinned)

    def make_tag(self, name: str, unique_id: str | None = None) -> str:
        return self.app.call("makeTag", id=unique_id, name=name)

    def make_object(self, kind: str, unique_id: str | None = None, name: str = "", mobile: str = "", work: str = "") -> str:
        assert kind == "contact", f"the app has no {kind}"
        return self.app.call("makeContact", id=unique_id, name=name, mobile=mobile, work=work)

    def make_recipe(self, title: str = "", method: str = "", tips: str = "", unique_id: str | None = None) -> str:
        return self.app.call("makeRecipe", id=unique_id, title=title, method=method, tips=tips)

    def edit(self, unique_id: str, attribute: str, value: Any) -> str:
        """Sets a property. Returns the clock of the edit."""
        self.app.call("edit", type=self.type_of(unique_id), id=unique_id, attribute=attribute, value=value)
        return self.clock.greatest

    def delete(self, unique_id: str) -> None:
        """Deletes without waiting until the deletion can no longer be undone."""
        self.app.call("delete", type=self.type_of(unique_id), id=unique_id)

    def attach(self, note: str, data: bytes, mime_type: str, filename: str) -> str:
        return self.attach_to("attach", data, note=note, filename=filename, mimeType=mime_type)

    def attach_to_recipe(self, recipe: str, name: str, data: bytes) -> str:
        """Sets `photo` or `scan` of a recipe to a new attachment. Returns its ID."""
        return self.attach_to(
            "attachToRecipe", data, recipe=recipe, property=name, filename="a.png", mimeType="image/png"
        )

    def attach_to(self, command: str, data: bytes, **values: str) -> str:
        with NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            return self.app.call(command, file=file.name, **values)

    def forget_base(self, note: str, clock: str) -> None:
        """Replaces the base of the unsent text by an unknown clock."""
        self.execute(
            """UPDATE "object.note" SET pending = json_remove(json_set(pending, '$.edits.text.base', ?), '$.edits.text.baseValue')
               WHERE id = ?""",
            clock, uuid.UUID(note).bytes,
        )  # fmt: skip

    def set_wall(self, offset: int) -> None:
        """Sets the offset of the wall clock in milliseconds."""
        self.wall = offset
        self.app.call("setWall", offset)

    # The file

    @property
    def file(self) -> Path:
        return self.folder / "copy.sqlite"

    def query(self, sql: str, *values: Any) -> list[tuple]:
        with closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=10)) as database:
            return database.execute(sql, values).fetchall()

    def execute(self, sql: str, *values: Any) -> None:
        with closing(sqlite3.connect(self.file, timeout=10)) as database, database:
            assert database.execute(sql, values).rowcount == 1

    def meta(self, name: str) -> dict:
        found = self.query("SELECT value FROM meta WHERE name = ?", name)
        return json.loads(found[0][0]) if found else {}

    def change_meta(self, name: str, change: dict) -> None:
        self.execute("UPDATE meta SET value = ? WHERE name = ?", json.dumps(self.meta(name) | change), name)

    def rows(self) -> list[tuple[str, str, dict, dict, dict | None]]:
        """All objects: type, ID, visible values, their clocks, and what is unsent."""
        found = []
        for (kind,) in self.query("SELECT name FROM types"):
            for unique_id, body, stamps, pending in self.query(f'SELECT id, body, clocks, pending FROM "object.{kind}"'):
                values, stamps, pending = json.loads(body), json.loads(stamps), pending and json.loads(pending)
                for name, edit in pending["edits"].items() if pending else ():
                    if "value" not in edit:  # it is the visible value
                        edit |= {"value": values[name], "clock": stamps[name]}
                found.append((kind, hyphenated(unique_id), values, stamps, pending))
        return found

    def type_of(self, unique_id: str) -> str:
        for (kind,) in self.query("SELECT name FROM types"):
            if self.query(f'SELECT 1 FROM "object.{kind}" WHERE id = ?', uuid.UUID(unique_id).bytes):
                return kind
        raise KeyError(f"{unique_id} is not on this device")

    @property
    def copy(self) -> LocalCopy:
        """What the server acknowledged or sent."""
        copy = LocalCopy()
        for kind, unique_id, body, stamps, pending in self.rows():
            registers = {name: (body[name], clock) for name, clock in stamps.items()}
            fixed = {name: value for name, value in body.items() if name not in stamps}
            if pending:
                fixed = pending.get("fixed", {}) if "made" in pending else fixed
                for name in pending["edits"]:
                    registers.pop(name, None)
                for name, below in pending.get("acknowledged", {}).items():
                    registers[name] = (below["value"], below["clock"])
            if fixed or registers or not (pending and "made" in pending):
                copy.objects[unique_id] = Entity(kind, unique_id, fixed, registers)
        for unique_id, kind, merged, rescued in self.query("SELECT id, type, mergedInto, rescuedInto FROM deleted"):
            deleted = {"uniqueID": hyphenated(unique_id), "objectType": kind}
            deleted |= {"mergedInto": hyphenated(merged)} if merged else {}
            deleted |= {"rescuedInto": hyphenated(rescued)} if rescued else {}
            copy.deleted[deleted["uniqueID"]] = deleted
        return copy

    @property
    def view(self) -> LocalCopy:
        """The copy with unsent changes applied, as Device.view."""
        view = self.copy
        for kind, unique_id, _, _, pending in self.rows():
            if pending and unique_id not in view.deleted:
                view.fold_entity(Entity(kind, unique_id, pending.get("made", {})))
                for name, edit in pending["edits"].items():
                    if name == "text" or name.startswith("texts."):
                        view.entity(kind, unique_id).registers[name] = (edit["value"], edit["clock"])
                    else:
                        view.entity(kind, unique_id).fold(name, edit["value"], edit["clock"])
        for unique_id, kind in self.query("SELECT id, type FROM deletions"):
            view.fold_deleted({"uniqueID": hyphenated(unique_id), "objectType": kind})
        return view

    @property
    def token(self) -> str | None:
        return self.meta("sync").get("token")

    @property
    def digest(self) -> str | None:
        """The scope's digest in the latest response of the server."""
        return self.meta("sync").get("serverDigest")

    @property
    def repaired(self) -> int:
        """How often it read everything again because the digests differed: at most once an hour."""
        return int("repaired" in self.meta("sync"))

    @property
    def has_unsent(self) -> bool:
        pending = {unique_id: pending for _, unique_id, _, _, pending in self.rows() if pending}
        self.new = {unique_id: one["made"] for unique_id, one in pending.items() if "made" in one}
        self.unsent = {unique_id: one["edits"] for unique_id, one in pending.items() if one["edits"]}
        self.deletions = [hyphenated(unique_id) for (unique_id,) in self.query("SELECT id FROM deletions")]
        return bool(pending or self.deletions or self.query("SELECT 1 FROM relays"))

    @property
    def is_synced(self) -> bool:
        """Whether all is synced according to the file, its stored digest, and the status that the library reports."""
        stored = self.meta("sync")["digest"]
        return not self.has_unsent and self.copy.digest == self.digest == stored and self.reported_identical

    # What the library returns

    def note(self, unique_id: str) -> dict | None:
        return next(iter(self.read_notes(lambda: [self.app.call("note", unique_id)])), None)

    @property
    def notes(self) -> dict[str, dict]:
        return {note["uniqueID"]: note for note in self.read_notes(lambda: self.app.call("notes"))}

    def read_notes(self, read: Callable[[], list[dict | None]]) -> list[dict]:
        """Notes that the library returns, as the server returns them. The file must have the same."""
        for _ in range(5):  # if the app is online, a change may arrive between both
            found, view = [note for note in read() if note], self.view
            stored = [view.as_resource(view.objects[note["uniqueID"]]) for note in found if note["uniqueID"] in view.objects]
            for note, resource in zip(found, stored, strict=False):
                attributes = resource["attributes"]
                if note.pop("pinned") == attributes.get("pinned", False):
                    note["attributes"] = attributes
                note |= {name: clocks.date(note[name]) for name in ("creationDate", "sortDate")}
            if found == stored:
                return found
        raise AssertionError(f"the library returns {found}, its file has {stored}")

    @property
    def recipes(self) -> dict[str, dict]:
        """The recipes that the library returns, by ID."""
        return {recipe.pop("id"): recipe for recipe in self.app.call("recipes")}

    def text(self, note: str) -> str | None:
        return (self.app.call("note", note) or {}).get("text")

    @property
    def tags(self) -> dict[str, str]:
        return self.app.call("tags")

    def download(self, attachment: str) -> bytes | None:
        data = self.app.call("download", attachment)
        return data and base64.b64decode(data)

    @property
    def rejected(self) -> list[dict]:
        """The changes that the server rejected."""
        return [change | {"problem": {"slug": change["slug"]}} for change in self.app.call("shelf")]

    @property
    def continued(self) -> dict[str, str]:
        """Deleted object: the object that received its unsent texts."""
        notices = self.app.call("notices")
        return {notice["uniqueID"]: notice["continuation"] for notice in notices if notice["kind"] == "rescued"}

    @property
    def rescued(self) -> dict[str, str]:
        """Deleted note: the note that this device made from its unsent text."""
        return {old: new for old, new in self.continued.items() if new != rescue_note(old)}

    @property
    def moved(self) -> dict[str, str]:
        """Deleted note: the note that the server made of it, which received the unsent text."""
        return {old: new for old, new in self.continued.items() if new == rescue_note(old)}

    # Syncing

    def go_online(self) -> None:
        self.app.call("resume")

    def go_offline(self) -> None:
        self.app.call("suspend")

    def sync(self, lose_response: bool = False) -> list[dict]:
        """Goes online until everything is sent and read. Returns the receipts.

        `lose_response`: the push arrives, but its response is lost.
        """
        if lose_response:
            lost = self.sync_with(after=lambda exchange: not exchange.changes)
            statuses = {exchange.status for exchange in lost if exchange.changes}
            assert statuses == {200}, f"no push arrived: {statuses}"
            self.receipts = []
            return []
        exchanges = self.sync_with()
        self.receipts = [result for exchange in exchanges for result in exchange.results]
        self.reported_identical = self.status["isIdentical"]
        if self.status["phase"] != "synced":
            raise NotSynced(self.status)
        return self.receipts

    def sync_with(
        self, before: Callable[[Exchange], bool] = lambda _: True, after: Callable[[Exchange], bool] = lambda _: True
    ) -> list[Exchange]:
        """Goes online until nothing can be done for now. `before` and `after` are those of Link. Returns all requests."""
        self.link.before, self.link.after, self.link.exchanges = before, after, []
        self.go_online()
        self.status = self.app.call("sync", seconds=60)
        self.go_offline()
        self.link.before = self.link.after = lambda _: True
        return self.link.exchanges


def hyphenated(unique_id: bytes) -> str:
    return str(uuid.UUID(bytes=unique_id))


def rescue_note(deleted: str) -> str:
    """The ID of the note that the server makes of a deleted one."""
    return str(uuid.uuid5(uuid.UUID(deleted), ""))


# Makes an app: `make(server, email)`. Options are those of LibraryDevice.
Make = Callable[..., LibraryDevice]


@contextmanager
def library_devices(folder: Path) -> Iterator[Make]:
    """Yields a function that signs an app in as a new device: `make(server, email)`. All are closed at the end."""
    made: list[LibraryDevice] = []

    def make(server: Server, email: str, **options) -> LibraryDevice:
        made.append(LibraryDevice(server.url, email, folder / f"device-{len(made)}", **options))
        return made[-1]

    yield make
    for device in made:
        device.close()
