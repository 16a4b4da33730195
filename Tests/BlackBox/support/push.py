"""Builds the pushes of a device: edits, new objects, DeletedObjects."""

import math
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from local_copy import SECTIONS, Entity, LocalCopy, write_change

MAX_OBJECTS = 1_500  # the server accepts 2,000
MAX_BYTES = 4 << 20  # the server accepts 8 MiB


@dataclass
class Unsent:
    """An edit that the server has not acknowledged.

    The last four are for texts. `base` and `base_value`: the clock and value of the version that the text was made from.
    `after`: the clocks of this device's texts that it descends from and that are sent but not yet acknowledged. `moved`: the
    text was written in another note, which was deleted, so the server knows its base only in that note.
    """

    type: str
    value: Any
    clock: str
    base: str | None = None
    base_value: str | None = None
    after: list[str] = field(default_factory=list)
    moved: bool = False


@dataclass
class Push:
    """One push: edits by (object, attribute), new objects' types and immutable properties by ID, DeletedObjects by ID.

    `token` is the sync token sent with it. `relayed`: it restores what a restored server lacks, possibly edits of other devices.
    `sent`: the wall clock, in milliseconds, when it was sent; minus infinity if that is not known.
    """

    edits: dict[tuple[str, str], Unsent]
    fixed: dict[str, tuple[str, dict]]
    deletions: dict[str, dict]
    token: str | None
    relayed: bool = False
    sent: float = -math.inf

    def __bool__(self) -> bool:
        return bool(self.edits or self.fixed or self.deletions)

    def changes(self, with_base_values: bool) -> dict:
        """The `changes` of the sync request. `with_base_values`: include the texts' base values, which the server may lack."""
        entities: dict[str, Entity] = {}
        for unique_id, (kind, fixed) in self.fixed.items():
            entities[unique_id] = Entity(kind, unique_id, dict(fixed))
        for (unique_id, attribute), edit in self.edits.items():
            entity = entities.setdefault(unique_id, Entity(edit.type, unique_id))
            entity.registers[attribute] = (edit.value, edit.clock)
        changes: dict[str, list] = {}
        for entity in entities.values():
            item = write_change(entity)
            text = self.edits.get((entity.unique_id, "text"))
            if text:
                item["textAfter"] = text.after
                if text.base:
                    item["textBase"] = text.base
                if (with_base_values or text.moved) and text.base_value is not None:
                    item["textBaseValue"] = text.base_value
            changes.setdefault(SECTIONS.get(entity.type, "objects"), []).append(item)
        if self.deletions:
            changes["deletedObjects"] = list(self.deletions.values())
        return changes


def split_into_pushes(
    deletions: dict[str, dict],
    fixed: dict[str, tuple[str, dict]],
    edits: dict[tuple[str, str], Unsent],
    token: str | None = None,
    relayed: bool = False,
) -> list[Push]:
    """Splits changes into pushes within the limits, in this order: DeletedObjects, tags, all others.

    Everything goes into one push if it fits. The result has at least one push, which may be empty.
    """
    pushes = [Push({}, {}, {}, token, relayed)]
    count = size = 0

    def part_for(more: int) -> Push:
        nonlocal count, size
        if count and (count + 1 > MAX_OBJECTS or size + more > MAX_BYTES):
            pushes.append(Push({}, {}, {}, token, relayed))
            count = size = 0
        count, size = count + 1, size + more
        return pushes[-1]

    for unique_id, deletion in deletions.items():
        part_for(200).deletions[unique_id] = deletion
    edits_of: dict[str, dict] = {unique_id: {} for unique_id in fixed}
    for key, edit in edits.items():
        edits_of.setdefault(key[0], {})[key] = copy(edit)
    kinds = {key[0]: edit.type for key, edit in edits.items()} | {key: kind for key, (kind, _) in fixed.items()}
    for unique_id in sorted(edits_of, key=lambda unique_id: kinds[unique_id] != "tag"):
        its_edits = edits_of[unique_id]
        push = part_for(
            300 + sum(120 + 4 * len(str(edit.value)) + 4 * len(edit.base_value or "") for edit in its_edits.values())
        )
        push.edits.update(its_edits)
        if unique_id in fixed:
            push.fixed[unique_id] = fixed[unique_id]
    return pushes


def missing_on_server(held: LocalCopy, server: LocalCopy) -> list[Push]:
    """The pushes that restore what a restored server lacks: DeletedObjects, objects, and registers with a greater clock.

    A text is sent whenever the server's clock differs, even if it is greater, because the server's text may not descend from it.
    """
    deletions = {
        unique_id: dict(deleted)
        for unique_id, deleted in held.deleted.items()
        if unique_id not in server.deleted
        or any(
            deleted.get(name) not in (None, server.deleted[unique_id].get(name))
            for name in ("mergedInto", "rescuedInto")
        )
    }
    fixed: dict[str, tuple[str, dict]] = {}
    edits: dict[tuple[str, str], Unsent] = {}
    for unique_id, entity in held.objects.items():
        if unique_id in server.deleted:
            continue
        on_server = server.objects.get(unique_id)
        if on_server is None or on_server.fixed != entity.fixed:
            fixed[unique_id] = (entity.type, entity.fixed)
        for attribute, (value, clock) in entity.registers.items():
            current = (on_server.clock(attribute) if on_server else None) or ""
            if current < clock:
                edits[unique_id, attribute] = Unsent(entity.type, value, clock)
            if attribute == "text" and current != clock:
                edits[unique_id, attribute] = Unsent(entity.type, value, clock, base=clock)
    return [push for push in split_into_pushes(deletions, fixed, edits, relayed=True) if push]
