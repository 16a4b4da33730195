"""What one call of sync carries up: edits, new objects, DeletedObjects."""

from copy import copy
from dataclasses import dataclass, field
from typing import Any

from local_copy import SECTIONS, Entity, LocalCopy, write_change

MOST_OBJECTS = 1_500  # a push may have 2,000 objects and 8 MiB
MOST_BYTES = 4 << 20


@dataclass
class Unsent:
    """An edit that the server has not acknowledged. `base`, `base_value`: the version of the text it was made from.

    `after`: the clocks of own texts that it descends from, which were sent and not answered. `moved`: it was written on
    another note, which was deleted, so the server knows its base only there.
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
    """What one call carries: the edits by (object, attribute), what never changes of new objects, DeletedObjects."""

    edits: dict[tuple[str, str], Unsent]
    fixed: dict[str, tuple[str, dict]]
    deletions: dict[str, dict]
    token: str | None
    relayed: bool = False

    def __bool__(self) -> bool:
        return bool(self.edits or self.fixed or self.deletions)

    def changes(self, with_base_values: bool) -> dict:
        """What `changes` of the request is. `with_base_values`: the server may not have the texts' bases any more."""
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


def in_parts(
    deletions: dict[str, dict],
    fixed: dict[str, tuple[str, dict]],
    edits: dict[tuple[str, str], Unsent],
    token: str | None = None,
    relayed: bool = False,
) -> list[Push]:
    """Pushes that fit into their limits: DeletedObjects first, then tags, then the rest, one push if it can be."""
    pushes = [Push({}, {}, {}, token, relayed)]
    count = size = 0

    def room_for(more: int) -> Push:
        nonlocal count, size
        if count and (count + 1 > MOST_OBJECTS or size + more > MOST_BYTES):
            pushes.append(Push({}, {}, {}, token, relayed))
            count = size = 0
        count, size = count + 1, size + more
        return pushes[-1]

    for unique_id, deletion in deletions.items():
        room_for(200).deletions[unique_id] = deletion
    edits_of: dict[str, dict] = {unique_id: {} for unique_id in fixed}
    for key, edit in edits.items():
        edits_of.setdefault(key[0], {})[key] = copy(edit)
    kinds = {key[0]: edit.type for key, edit in edits.items()} | {key: kind for key, (kind, _) in fixed.items()}
    for unique_id in sorted(edits_of, key=lambda unique_id: kinds[unique_id] != "tag"):
        its_edits = edits_of[unique_id]
        push = room_for(
            300 + sum(120 + 4 * len(str(edit.value)) + 4 * len(edit.base_value or "") for edit in its_edits.values())
        )
        push.edits.update(its_edits)
        if unique_id in fixed:
            push.fixed[unique_id] = fixed[unique_id]
    return pushes


def what_it_lacks(held: LocalCopy, server: LocalCopy) -> list[Push]:
    """What a device gives back to a restored server: DeletedObjects, objects, registers that it lacks or has older.

    A text is given back wherever the server has another, also under a greater clock: that one may not descend from it.
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
        there = server.objects.get(unique_id)
        if there is None or there.fixed != entity.fixed:
            fixed[unique_id] = (entity.type, entity.fixed)
        for attribute, (value, clock) in entity.registers.items():
            standing = (there.clock(attribute) if there else None) or ""
            if standing < clock:
                edits[unique_id, attribute] = Unsent(entity.type, value, clock)
            if attribute == "text" and standing != clock:
                edits[unique_id, attribute] = Unsent(entity.type, value, clock, base=clock)
    return [push for push in in_parts(deletions, fixed, edits, relayed=True) if push]
