"""Writes pushes by hand: one change at a time, each field with a clock of its own, for tests that look at one answer."""

import uuid
from typing import Any

import clocks
from client import Client

SECTION = {"note": "notes", "tag": "tags", "attachment": "attachments"}


def new_id() -> str:
    return str(uuid.uuid4())


class Writer:
    """One device that keeps no copy: it stamps what it is told to push."""

    def __init__(self, client: Client):
        self.client = client
        self.clock = clocks.ClockSource(client.device["uniqueID"])

    @property
    def node(self) -> str:
        return self.clock.node

    def tick(self) -> str:
        return self.clock.tick()

    def ahead(self, minutes: float, counter: int = 0) -> str:
        """A clock so far beyond the wall clock that this machine and the server share."""
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
        """A note's change: `text`, `archived`, `sortDate` as they are named, `tags` by ID whether they are in."""
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
        """A change of a note that is there."""
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
        """An app's own object."""
        stamp = clock or self.tick()
        change: dict = {"uniqueID": unique_id or new_id(), "attributes": attributes}
        if kind:
            change["objectType"] = kind
        change["clocks"] = {"attributes": {key: stamp for key in attributes}}
        return change

    def push(self, since: str | None = None, limit: int | None = None, **sections: list) -> dict:
        """`push(notes=[…], deletedObjects=[…])`: the answer of sync."""
        answer = self.client.sync(sections, since=since, limit=limit)
        self.clock.observe(answer["serverClock"])
        return answer

    def push_one(self, section: str, change: Any, since: str | None = None) -> dict:
        """Pushes one element: its receipt."""
        [result] = self.push(since, **{section: [change]})["results"]
        return result

    def state(self, section: str, unique_id: str) -> dict | None:
        """An object as sync sends it."""
        found, _ = self.client.read_all()
        return next((item for item in found[section] if item["uniqueID"] == unique_id), None)


def deleted(unique_id: str, kind: str = "note", **more: Any) -> dict:
    return {"uniqueID": unique_id, "objectType": kind, **more}


def rescue_of(note: str) -> str:
    """The ID of the note into which words go that the deletion of this one had not seen (merge.md, Deleting)."""
    return str(uuid.uuid5(uuid.UUID(note), ""))
