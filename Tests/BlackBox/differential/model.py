"""A model of the server by merge.md: registers, members, tags, deletions, holders of attachments, descent of texts.

The merge of three texts is not modelled: the current text is taken from the server, and every word is accounted for.
"""

import hashlib
import re
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

WORD = re.compile(r"\w+")
SECTIONS = {"notes": "note", "tags": "tag", "attachments": "attachment"}
FIXED = ("creationDate", "mimeType", "filename", "byteCount", "sha256")
CLOCKED = ("text", "archived", "sortDate", "name")
MAX_OWN_TEXTS = 16  # the latest texts of the deleting device, which count as seen
RANK = ["unchanged", "applied", "merged", "rescued", "deleted", "rejected"]


def words(text: str) -> set[str]:
    return set(WORD.findall(text))


def rescue_of(note: str) -> str:
    return str(uuid.uuid5(uuid.UUID(note), ""))


@dataclass
class Text:
    """A version of a text: the clocks that it names, and whether a device restored it after a restore of the server."""

    value: str
    named: frozenset[str] = frozenset()
    is_restored_text: bool = False


@dataclass
class Loss:
    """A merge after which words are only in the history, or occur too often."""

    note: str
    base: str
    current: str
    incoming: str
    result: str
    lost: set[str]
    surplus: set[str]  # that occur more often than in any source, or were joined


@dataclass
class Object:
    kind: str
    fixed: dict[str, Any] = field(default_factory=dict)
    edits: dict[str, dict[str, Any]] = field(default_factory=dict)  # values by clock of all registers except the text
    texts: dict[str, Text] = field(default_factory=dict)
    current_clock: str | None = None  # of the current text
    # After a restore: the text that was current then, and the clocks of the texts that devices restored since.
    restored: str | None = None
    chain: set[str] = field(default_factory=set)

    @property
    def exists(self) -> bool:
        needed = {"note": "creationDate", "attachment": "mimeType"}.get(self.kind)
        return needed in self.fixed if needed else "name" in self.edits

    @property
    def text(self) -> str:
        return self.texts[self.current_clock].value if self.current_clock else ""

    def clock(self, name: str) -> str | None:
        return self.current_clock if name == "text" else max(self.edits.get(name, ()), default=None)

    def value(self, name: str) -> Any:
        return self.text if name == "text" else self.edits[name][max(self.edits[name])]

    @property
    def registers(self) -> dict[str, tuple[Any, str]]:
        names = [name for name, edits in self.edits.items() if edits] + (["text"] if self.current_clock else [])
        return {name: (self.value(name), self.clock(name)) for name in names}

    def lines(self, unique_id: str) -> list[str]:
        clocks = [f"{name}={clock}" for name, (_, clock) in sorted(self.registers.items())]
        last = {"note": "creationDate", "attachment": "sha256"}.get(self.kind)
        return [self.kind, unique_id, *clocks, *([f"{last}={self.fixed[last]}"] if last else [])]


class Model:
    """The expected state of one account. `server_node` is the node in the server's clocks."""

    def __init__(self, server_node: str):
        self.server_node = server_node
        self.objects: dict[str, Object] = {}
        self.deleted: dict[str, dict] = {}
        self.tombstones: dict[str, Object] = {}  # edits of deleted objects
        self.data: dict[str, dict] = {}  # properties of uploaded bytes, by attachment
        self.is_restored = False
        self.losses: list[Loss] = []
        self.rules: Counter[str] = Counter()  # the number of times each rule of descent applied

    def restore(self) -> None:
        """Marks the current state as restored from a backup."""
        self.is_restored = True
        for each in self.objects.values():
            each.restored, each.chain = each.current_clock, set()

    @property
    def digest(self) -> str:
        total = 0
        bodies = [each.lines(unique_id) for unique_id, each in self.objects.items() if each.exists]
        for unique_id, gone in self.deleted.items():
            bodies.append(["deleted", unique_id, *([gone["mergedInto"]] if gone.get("mergedInto") else [])])
        for lines in bodies:
            text = "".join(f"{line}\n" for line in lines)
            total ^= int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
        return f"{total:032x}"

    @property
    def contents(self) -> tuple[dict, dict]:
        """All existing objects by value, in the form of convergence.contents."""
        objects = {
            unique_id: (each.kind, dict(each.fixed), each.registers)
            for unique_id, each in self.objects.items()
            if each.exists
        }
        return objects, {unique_id: gone.get("mergedInto") for unique_id, gone in self.deleted.items()}

    # A push

    def apply(self, changes: dict, sender: str, server_texts: dict[str, tuple[str, str]]) -> dict[str, dict]:
        """Applies a push. Returns the expected receipts by ID.

        `server_texts`: clock and value of the server's current text of every note in the push.
        """
        receipts: dict[str, dict] = {}
        rescues: list[tuple[str, Object]] = []
        for deletion in changes.get("deletedObjects", []):
            receipts[deletion["uniqueID"]] = {"status": self.delete(deletion, sender, rescues)}
        pushed: dict[str, list[tuple[str, Any, str | None, bool]]] = {}
        for section in ("notes", "tags", "attachments", "objects"):
            for change in changes.get(section, []):
                kind = SECTIONS[section]
                pushed[change["uniqueID"]] = self.change(kind, change, server_texts.get(change["uniqueID"]))
        for note, each in rescues:
            if self.rescue(note, each):
                receipts[note] = {"status": "rescued", "rescuedInto": rescue_of(note)}
        self.make_names_unique()
        refused = self.refuse_held(pushed)
        for unique_id, edits in pushed.items():
            receipts[unique_id] = self.receipt(unique_id, edits, refused.get(unique_id, []))
        return receipts

    def receipt(self, unique_id: str, edits: list, refused: list[str]) -> dict:
        status, fields = "unchanged", {}
        if unique_id in self.deleted:
            fields = {name: "deleted" for name, *_ in edits if name not in refused}
            return {"status": "deleted", "fields": fields}
        each = self.objects[unique_id]
        for name, value, clock, is_known in edits:
            if name in refused:
                status, fields[name] = "rejected", "rejected"
                continue
            is_current = each.fixed.get(name) == value if clock is None else each.clock(name) == clock
            if not is_current:
                fields[name] = "superseded"
            mine = "merged" if not is_current else "unchanged" if is_known else "applied"
            status = max(status, mine, key=RANK.index)
        return {"status": status, "fields": fields}

    def delete(self, deletion: dict, sender: str, rescues: list) -> str:
        unique_id = deletion["uniqueID"]
        gone = self.deleted.get(unique_id)
        if gone is not None:
            before = dict(gone)
            self.fold_deleted(unique_id, deletion)
            if gone.get("mergedInto") != deletion.get("mergedInto"):
                return "merged"
            # Its date may be changed to an earlier one, which is not modelled.
            return "applied" if before != gone else "unchanged" if "deletionDate" not in deletion else "known"
        each = self.objects.get(unique_id)
        if each and each.kind == "note" and self.is_unseen(each, deletion, sender):
            rescues.append((unique_id, each))
        self.move_to_deleted(unique_id, deletion)
        return "applied"

    def move_to_deleted(self, unique_id: str, deletion: dict) -> None:
        each = self.objects.pop(unique_id, None)
        self.tombstones[unique_id] = each or Object(deletion["objectType"])
        self.deleted[unique_id] = {}
        self.fold_deleted(unique_id, deletion)

    def fold_deleted(self, unique_id: str, deletion: dict) -> None:
        gone = self.deleted[unique_id]
        targets = [one["mergedInto"] for one in (gone, deletion) if one.get("mergedInto")]
        if targets:
            gone["mergedInto"] = min(targets)
        if deletion.get("rescuedInto"):
            gone.setdefault("rescuedInto", deletion["rescuedInto"])

    def is_unseen(self, note: Object, deletion: dict, sender: str) -> bool:
        seen = deletion.get("textSeen")
        if seen is None or note.current_clock is None or seen == note.current_clock or not words(note.text):
            return False
        if seen and seen not in note.texts:
            return True
        own = sorted(clock for clock in note.texts if clock.endswith(sender) and clock <= note.current_clock)
        known = [seen, *deletion.get("textAfter", []), *own[-MAX_OWN_TEXTS:]]
        read = [words(note.texts[clock].value) for clock in known if clock in note.texts]
        return bool(words(note.text) - set().union(*read))

    def change(self, kind: str, change: dict, server_text: tuple[str, str] | None) -> list:
        """Folds an element in. Returns its edits as (name, value, clock, whether it was known)."""
        unique_id, clocks = change["uniqueID"], change.get("clocks", {})
        is_dead = unique_id in self.deleted
        each = self.tombstones[unique_id] if is_dead else self.objects.setdefault(unique_id, Object(kind))
        edits: list[tuple[str, Any, str | None, bool]] = []
        for name in FIXED:
            if name in change:
                before = each.fixed.get(name)
                each.fixed[name] = min(before or change[name], change[name]) if name == "creationDate" else change[name]
                edits.append((name, change[name], None, before == each.fixed[name]))
        if kind == "attachment" and not is_dead:
            each.fixed |= self.data[unique_id]
        registers = {name: (change[name], clocks[name]) for name in CLOCKED if name in clocks}
        for kind_of_member in ("tags", "attachments"):
            for member, clock in clocks.get(kind_of_member, {}).items():
                registers[f"{kind_of_member}.{member}"] = (member in change.get(kind_of_member, []), clock)
        for name, clock in clocks.get("attributes", {}).items():
            registers[f"attributes.{name}"] = (change["attributes"][name], clock)
        for name, (value, clock) in registers.items():
            if name == "text":
                is_known = clock in each.texts
                if not is_known:
                    self.apply_text(unique_id, each, change, clock, server_text, is_dead)
                elif not is_dead and server_text:
                    assert server_text == (each.current_clock, each.text), f"a known text changed {unique_id}"
            else:
                is_known = clock in each.edits.setdefault(name, {})
                each.edits[name][clock] = value
            edits.append((name, value, clock, is_known))
        return edits

    def rescue(self, unique_id: str, note: Object) -> bool:
        into = rescue_of(unique_id)
        if into in self.deleted:
            return False
        if into not in self.objects:
            made = self.objects[into] = Object("note", {"creationDate": note.fixed["creationDate"]})
            made.texts, made.current_clock = {note.current_clock: Text(note.text)}, note.current_clock
            for name, edits in note.edits.items():
                member = name.partition(".")[2]
                if name.startswith("tags.") or (
                    name.startswith("attachments.")
                    and note.value(name)
                    and member in self.objects
                    and not self.holders(member)
                ):
                    made.edits[name] = {max(edits): note.value(name)}
        elif note.current_clock not in self.objects[into].texts:
            existing = self.objects[into]
            existing.texts[note.current_clock] = Text(note.text)
            existing.current_clock = max(existing.current_clock or "", note.current_clock)
        self.deleted[unique_id]["rescuedInto"] = into
        return True

    # Tags and holders

    def make_names_unique(self) -> None:
        by_name: dict[str, list[str]] = {}
        for unique_id, each in self.objects.items():
            if each.kind == "tag" and each.exists:
                by_name.setdefault(each.value("name").strip().casefold(), []).append(unique_id)
        for claimants in by_name.values():
            for loser in sorted(claimants)[1:]:
                self.move_to_deleted(loser, {"objectType": "tag", "mergedInto": min(claimants)})

    def holders(self, attachment: str) -> set[str]:
        name = f"attachments.{attachment}"
        return {key for key, each in self.objects.items() if each.edits.get(name) and each.value(name)}

    def refuse_held(self, pushed: dict[str, list]) -> dict[str, list[str]]:
        refused: dict[str, list[str]] = {}
        for note, edits in pushed.items():
            for name, value, clock, is_known in edits:
                attachment = name.partition(".")[2]
                if not name.startswith("attachments.") or is_known or not value or note in self.deleted:
                    continue
                holders = self.holders(attachment)
                if note in holders and len(holders) > 1:
                    del self.objects[note].edits[name][clock]
                    if not self.objects[note].edits[name]:
                        del self.objects[note].edits[name]
                    refused.setdefault(note, []).append(name)
        return refused

    # Descent

    def apply_text(
        self, unique_id: str, note: Object, change: dict, clock: str, now: tuple[str, str] | None, is_dead: bool
    ) -> None:
        """Determines the expected current text, and compares it with the server's."""
        base, after, value = change.get("textBase"), change.get("textAfter", []), change["text"]
        text = Text(value, frozenset({*([base] if base else []), *after} - {clock}), base == clock)
        if is_dead:
            note.texts[clock] = text
            return
        assert now, f"no text of {unique_id} from the server"
        before = note.text
        is_exact, bases = self.apply_base(note, change, clock)
        rule, ancestor = self.rule(note, text, clock, base, after)
        self.rules[rule] += 1
        current_clock, current_text = note.current_clock, note.text
        self.store(note, clock, text)
        context = f"{rule}: {change}, current {current_clock} {current_text!r}, server {now}"
        if is_exact:
            match rule:
                case "first":
                    assert now == (clock, value), context
                case "history":
                    assert now[1] == current_text, context
                    assert now[0] == current_clock if clock < current_clock else self.is_server_clock(now[0]), context
                case "descendant":
                    assert now[1] == value, context
                    assert now[0] == clock if clock > current_clock else self.is_server_clock(now[0]), context
                case "unknown":
                    assert now == max((current_clock, current_text), (clock, value)), context
        if rule == "merge":
            self.record_loss(unique_id, [note.texts[ancestor].value, *bases], [before, current_text], value, now[1])
        note.texts.setdefault(now[0], Text(now[1]))
        assert note.texts[now[0]].value == now[1], context
        note.current_clock = now[0]

    def apply_base(self, note: Object, change: dict, clock: str) -> tuple[bool, list[str]]:
        """Applies the base that a text brings along. Returns whether the current clock is known, and further possible bases."""
        base, brought = change.get("textBase"), change.get("textBaseValue")
        if not base or brought is None or base in (clock, *note.texts):
            return True, []
        text = Text(brought, is_restored_text=True)
        rule, ancestor = self.rule(note, text, base, base, [])
        if rule == "unknown" and not self.is_restored:
            rule = "history"
        current_clock = note.current_clock or ""
        self.store(note, base, text)
        if rule == "first" or (rule in ("descendant", "unknown") and base > current_clock):
            note.current_clock = base
        elif rule == "merge" or (rule in ("descendant", "history") and base > current_clock):
            return False, [note.texts[ancestor].value] if ancestor else []
        elif rule == "descendant":
            return False, []
        return True, []

    def store(self, note: Object, clock: str, text: Text) -> None:
        note.texts[clock] = text
        if text.is_restored_text:
            note.chain.add(clock)

    def rule(self, note: Object, text: Text, clock: str, base: str | None, after: list[str]) -> tuple[str, str | None]:
        """The rule of Descent that applies, and the common ancestor if texts are merged."""
        if note.current_clock is None:
            return "first", None
        if any(clock in each.named for each in note.texts.values()):
            return "history", None
        if text.is_restored_text:
            if not self.is_restored:
                return "unknown", None
            if any(each > clock for each in note.chain):
                return "history", None
            found = max(note.chain, default=note.restored)
        else:
            found = next((each for each in reversed(after) if each in note.texts), base)
        if found not in note.texts:
            return "unknown", None
        return ("descendant", None) if found == note.current_clock else ("merge", found)

    def is_server_clock(self, clock: str) -> bool:
        return clock.endswith(self.server_node)

    def record_loss(self, note: str, bases: list[str], current: list[str], incoming: str, result: str) -> None:
        """Checks that the result has every new word, no word too often, and no other words. Records differences."""
        sources = [Counter(WORD.findall(text)) for text in (*bases, *current, incoming)]
        new = set().union(*map(words, (*current, incoming))) - set().union(*map(words, bases))
        counts, most = Counter(WORD.findall(result)), Counter()
        for source in sources:
            most |= source
        surplus = {word for word, count in counts.items() if count > most[word]}
        lost = new - counts.keys()
        if lost or surplus:
            self.losses.append(Loss(note, bases[0], current[-1], incoming, result, lost, surplus))
