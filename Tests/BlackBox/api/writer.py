"""Writes single changes with explicit clocks, for tests of one response."""

import uuid
from typing import Any

import clocks
from client import Client

SECTION = {"note": "notes", "tag": "tags", "attachment": "attachments"}


def new_id() -> str:
    return str(uuid.uuid4())


class Writer:
    """A device without a local copy. Gives each change a clock and pushes it."""

    def __init__(self, client: Client):
        self.client = client
        self.clock = clocks.ClockSource(client.device["uniqueID"])

    @property
    def node(self) -> str:
        return self.clock.node

    def tick(self) -> str:
        return self.clock.tick()

    def ahead(self, minutes: float, counter: int = 0) -> str:
        """A clock ahead of the wall clock, in minutes."""
        return clocks.clock(clocks.wall() + int(minutes * 60_000), counter, self.node)

    def note(
        self,
        unique_id: str | None = None,
        clock: str | None = None,
        created: str | None = "now",
        base: str | None = None,
        tags: dict[str, bool] | None = None,
        attributes: dict[str, Any] | None = None,
        **registers: Any,
    ) -> dict:
        """A change of a note. `registers`: `text`, `archived`, `sortDate`. `tags`: whether the note has the tag, by ID."""
        stamp = clock or self.tick()
        change: dict = {"uniqueID": unique_id or new_id(), **registers}
        if created:
            change["creationDate"] = clocks.date(clocks.wall()) if created == "now" else created
        stamps: dict = {name: stamp for name in registers}
        if base:
            change["textBase"] = base
        if tags:
            change["tags"] = [tag for tag, is_in in tags.items() if is_in]
            stamps["tags"] = {tag: stamp for tag in tags}
        if attributes:
            change["attributes"] = attributes
            stamps["attributes"] = {name: stamp for name in attributes}
        if stamps:
            change["clocks"] = stamps
        return change

    def edit(self, unique_id: str, clock: str | None = None, **fields: Any) -> dict:
        """A change of an existing note."""
        return self.note(unique_id, clock, created=None, **fields)

    def tag(
        self, name: str | None = None, unique_id: str | None = None, clock: str | None = None, **attributes: Any
    ) -> dict:
        stamp = clock or self.tick()
        change: dict = {"uniqueID": unique_id or new_id(), "clocks": {}}
        if name is not None:
            change |= {"name": name, "clocks": {"name": stamp}}
        if attributes:
            change["attributes"] = attributes
            change["clocks"]["attributes"] = {key: stamp for key in attributes}
        return change

    def thing(
        self, kind: str | None = "board", unique_id: str | None = None, clock: str | None = None, **attributes: Any
    ) -> dict:
        """An object with an app-defined type."""
        stamp = clock or self.tick()
        change: dict = {"uniqueID": unique_id or new_id(), "attributes": attributes}
        if kind:
            change["objectType"] = kind
        change["clocks"] = {"attributes": {key: stamp for key in attributes}}
        return change

    def push(self, since: str | None = None, limit: int | None = None, **sections: list) -> dict:
        """`push(notes=[…], deletedObjects=[…])` returns the response of sync."""
        answer = self.client.sync(sections, since=since, limit=limit)
        self.clock.observe(answer["serverClock"])
        return answer

    def push_one(self, section: str, change: Any, since: str | None = None) -> dict:
        """Pushes one element. Returns its receipt."""
        [result] = self.push(since, **{section: [change]})["results"]
        return result

    def state(self, section: str, unique_id: str) -> dict | None:
        """An object as sync returns it, or None."""
        found, _ = self.client.read_all()
        return next((item for item in found[section] if item["uniqueID"] == unique_id), None)


def deleted(unique_id: str, kind: str = "note", **more: Any) -> dict:
    return {"uniqueID": unique_id, "objectType": kind, **more}


def rescue_of(note: str) -> str:
    """The ID of the note that receives text which a deletion had not seen (merge.md, Deleting)."""
    return str(uuid.uuid5(uuid.UUID(note), ""))
