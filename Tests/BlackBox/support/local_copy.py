"""A device's local copy of its scope: objects folded by clocks, DeletedObjects, digests, memberships (merge.md)."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

SECTIONS = {"note": "notes", "tag": "tags", "attachment": "attachments"}  # all other types are in `objects`
MEMBERS = ("tags", "attachments")
PROPERTIES = ("mimeType", "width", "height", "filename", "preview", "byteCount", "sha256")  # of attachments, immutable
DEFAULTS = {"text": "", "archived": False}


@dataclass
class Entity:
    """An object: its type, ID, immutable properties (`fixed`) and registers.

    Registers are named by attribute (`text`, `tags.<uniqueID>`, `attributes.<name>`) and hold (value, clock).
    """

    type: str
    unique_id: str
    fixed: dict[str, Any] = field(default_factory=dict)
    registers: dict[str, tuple[Any, str]] = field(default_factory=dict)

    @property
    def exists(self) -> bool:
        """Whether the object has been created. Edits may arrive earlier; until then the object is not shown or counted."""
        match self.type:
            case "note":
                return "creationDate" in self.fixed
            case "tag":
                return "name" in self.registers
            case "attachment":
                return "mimeType" in self.fixed
            case _:
                return True

    def fold(self, attribute: str, value: Any, clock: str) -> None:
        """Sets a register if the clock is greater than the register's clock."""
        if attribute not in self.registers or self.registers[attribute][1] < clock:
            self.registers[attribute] = (value, clock)

    def fold_fixed(self, properties: dict[str, Any]) -> None:
        """Adds immutable properties. The earlier creation date wins. Of other properties the first value wins."""
        for name, value in properties.items():
            current = self.fixed.setdefault(name, value)
            if name == "creationDate":
                self.fixed[name] = min(current, value)

    def value(self, attribute: str) -> Any:
        """The current value of an attribute, or its default."""
        if attribute in self.registers:
            return self.registers[attribute][0]
        return self.fixed.get("creationDate") if attribute == "sortDate" else DEFAULTS.get(attribute)

    def clock(self, attribute: str) -> str | None:
        return self.registers[attribute][1] if attribute in self.registers else None

    @property
    def digest(self) -> int:
        lines = [self.type, self.unique_id]
        # Sorted by the bytes of the names. Python orders strings by code point, which is the same order as UTF-8 bytes.
        lines += [f"{name}={self.registers[name][1]}" for name in sorted(self.registers)]
        if self.type == "note":
            lines.append(f"creationDate={self.fixed['creationDate']}")
        if self.type == "attachment":
            lines.append(f"sha256={self.fixed['sha256']}")
        return hash_of(lines)


def hash_of(lines: list[str]) -> int:
    """The first 16 bytes of the SHA-256 of newline-terminated lines, as an integer."""
    text = "".join(f"{line}\n" for line in lines)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def deleted_digest(deleted: dict) -> int:
    return hash_of(["deleted", deleted["uniqueID"]] + ([deleted["mergedInto"]] if deleted.get("mergedInto") else []))


def read_state(section: str, item: dict) -> Entity:
    """An entity from an object's JSON in sync, changes and events."""
    kind = {"notes": "note", "tags": "tag", "attachments": "attachment"}.get(section) or item["objectType"]
    entity = Entity(kind, item["uniqueID"])
    if kind == "attachment":
        entity.fixed = {name: item[name] for name in PROPERTIES if name in item}
        return entity
    if kind == "note":
        entity.fixed = {"creationDate": item["creationDate"]}
    for name, clock in item["clocks"].items():
        if name in MEMBERS:
            for member, member_clock in clock.items():
                entity.registers[f"{name}.{member}"] = (member in item[name], member_clock)
        elif isinstance(clock, dict):  # `attributes`, and sections that this client does not know
            for key, key_clock in clock.items():
                entity.registers[f"{name}.{key}"] = (item[name][key], key_clock)
        else:
            entity.registers[name] = (item[name], clock)
    return entity


def write_change(entity: Entity) -> dict:
    """An entity's JSON for a push: only the registers it has, each with its clock."""
    item: dict[str, Any] = {"uniqueID": entity.unique_id, **entity.fixed}
    if entity.type not in SECTIONS:
        item["objectType"] = entity.type
    for name, (value, clock) in entity.registers.items():
        clocks = item.setdefault("clocks", {})
        kind, dot, rest = name.partition(".")
        if not dot:
            item[name], clocks[name] = value, clock
            continue
        clocks.setdefault(kind, {})[rest] = clock
        if kind not in MEMBERS:
            item.setdefault(kind, {})[rest] = value
        else:
            members = item.setdefault(kind, [])
            if value:
                members.append(rest)
    return item


class LocalCopy:
    """The folded state of everything that the server sent to this device or acknowledged."""

    def __init__(self) -> None:
        self.objects: dict[str, Entity] = {}
        self.deleted: dict[str, dict] = {}

    def entity(self, kind: str, unique_id: str) -> Entity:
        return self.objects.setdefault(unique_id, Entity(kind, unique_id))

    def fold_entity(self, incoming: Entity) -> None:
        if incoming.unique_id in self.deleted:
            return
        current = self.entity(incoming.type, incoming.unique_id)
        current.fold_fixed(incoming.fixed)
        for attribute, (value, clock) in incoming.registers.items():
            current.fold(attribute, value, clock)

    def fold_deleted(self, incoming: dict) -> Entity | None:
        """Folds a DeletedObject in. Returns the object it removes, or None."""
        unique_id = incoming["uniqueID"]
        current = self.deleted.setdefault(unique_id, dict(incoming))
        targets = [one["mergedInto"] for one in (current, incoming) if one.get("mergedInto")]
        if targets:
            current["mergedInto"] = min(targets)
        if incoming.get("rescuedInto"):
            current.setdefault("rescuedInto", incoming["rescuedInto"])
        return self.objects.pop(unique_id, None)

    @property
    def digest(self) -> str:
        """The digest of the copy: the XOR of the digests of all existing objects and DeletedObjects, 16 bytes in hex."""
        total = 0
        for entity in self.objects.values():
            if entity.exists:
                total ^= entity.digest
        for deleted in self.deleted.values():
            total ^= deleted_digest(deleted)
        return f"{total:032x}"

    def resolve(self, unique_id: str) -> str | None:
        """The ID of the live object that an ID refers to, following `mergedInto`. None if it is deleted or unknown."""
        for _ in range(len(self.deleted) + 1):
            if unique_id not in self.deleted:
                break
            unique_id = self.deleted[unique_id].get("mergedInto") or ""
        return unique_id if unique_id in self.objects and self.objects[unique_id].exists else None

    def members(self, entity: Entity, kind: str) -> list[str]:
        """The IDs of an object's tags or attachments. If several registers resolve to one object, the greatest clock decides."""
        decided: dict[str, tuple[str, bool]] = {}
        for attribute, (is_in, clock) in entity.registers.items():
            if attribute.startswith(f"{kind}."):
                live = self.resolve(attribute.removeprefix(f"{kind}."))
                if live and (live not in decided or decided[live][0] < clock):
                    decided[live] = (clock, is_in)
        return [live for live, (clock, is_in) in sorted(decided.items(), key=lambda one: one[1]) if is_in]

    def as_resource(self, entity: Entity) -> dict:
        """A note's JSON as `GET /v1/notes/{uniqueID}` returns it, with its members resolved."""
        return {
            "uniqueID": entity.unique_id,
            "creationDate": entity.fixed["creationDate"],
            "text": entity.value("text"),
            "archived": entity.value("archived"),
            "sortDate": entity.value("sortDate"),
            "tags": self.members(entity, "tags"),
            "attachments": self.members(entity, "attachments"),
            "attributes": {
                name.removeprefix("attributes."): value
                for name, (value, _) in entity.registers.items()
                if name.startswith("attributes.")
            },
        }
