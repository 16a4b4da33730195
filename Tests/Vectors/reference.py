"""Clocks, the fold, digests and revocations, written from merge.md without Hesper's own code, with Python's standard library
only. Short and slow, for checking vectors and for reading."""

import hashlib
import re
from datetime import UTC, datetime, timedelta
from itertools import groupby

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CLOCK = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z-([0-9a-fA-F]{4})-([0-9a-fA-F]{16})", re.ASCII)
LAST = (datetime(9999, 12, 31, 23, 59, 59, 999000, UTC) - EPOCH) // timedelta(milliseconds=1)
SECTIONS = {"note": "notes", "tag": "tags", "attachment": "attachments"}
MEMBERS = ("tags", "attachments")


# Clocks. In this file a clock is (milliseconds, counter, node).


def read_clock(text):
    """The clock of a text; None if it is malformed."""
    match = CLOCK.fullmatch(text)
    if not match or int(match[1]) < 1970:
        return None
    try:
        moment = datetime(*(int(match[index]) for index in range(1, 7)), int(match[7]) * 1000, UTC)
    except ValueError:
        return None
    return (moment - EPOCH) // timedelta(milliseconds=1), int(match[8], 16), int(match[9], 16)


def date_text(milliseconds):
    moment = EPOCH + timedelta(milliseconds=milliseconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def write_clock(clock):
    return f"{date_text(clock[0])}-{clock[1]:04x}-{clock[2]:016x}"


def read_date(text):
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(milliseconds=1)


def clock_bytes(clock):
    return clock[0].to_bytes(6) + clock[1].to_bytes(2) + clock[2].to_bytes(8)


def read_bytes(data):
    if len(data) != 16 or int.from_bytes(data[:6]) > LAST:
        return None
    return int.from_bytes(data[:6]), int.from_bytes(data[6:8]), int.from_bytes(data[8:])


def tick(seen, wall, node):
    """The smallest clock of this node at or after `wall` and greater than `seen`, which is (milliseconds, counter)."""
    if seen is None or wall > seen[0]:
        return wall, 0, node
    return (seen[0], seen[1] + 1, node) if seen[1] < 0xFFFF else (seen[0] + 1, 0, node)


def is_ahead(clock, now, greatest):
    return clock[0] > now + 5 * 60 * 1000 and (greatest is None or clock[0] > greatest[0])


# Objects. In this file an object is {"type", "id", "once": {attribute: value}, "registers": {attribute: (clock, value)}}.


def fold(edits, deleted_objects):
    """The objects that exist and the DeletedObjects, by ID."""
    deleted, objects = {}, {}
    for deletion in deleted_objects:
        current = deleted.setdefault(deletion["uniqueID"], dict(deletion))
        targets = [one["mergedInto"] for one in (current, deletion) if "mergedInto" in one]
        if targets:
            current["mergedInto"] = min(targets)
        current["deletionDate"] = min(current["deletionDate"], deletion["deletionDate"])
    for edit in edits:
        if (id := edit["uniqueID"]) in deleted:
            continue
        empty = {"id": id, "type": edit.get("objectType"), "once": {}, "registers": {}}
        folded, name = objects.setdefault(id, empty), edit["attribute"]
        if "clock" in edit:
            new = (read_clock(edit["clock"]), edit["value"])
            current = folded["registers"].get(name)
            folded["registers"][name] = new if current is None or new[0] > current[0] else current
        elif name == "creationDate":
            folded["once"][name] = min(folded["once"].get(name, edit["value"]), edit["value"])
        else:
            folded["once"].setdefault(name, edit["value"])
            folded["type"] = edit["value"] if name == "objectType" else folded["type"]
    required = {"note": "creationDate", "tag": "name", "attachment": "mimeType"}

    def exists(one):
        return required.get(one["type"], "objectType") in {**one["once"], **one["registers"]}

    return {id: one for id, one in objects.items() if exists(one)}, deleted


def defaults_of(creation_date):
    """The values of a note's registers that were never set."""
    return {"text": "", "archived": False, "sortDate": creation_date}


def under(one, prefix):
    """The registers of members, or of app-defined attributes, texts or files, by name without the prefix: those of `tags.` by ID."""
    return {name[len(prefix) :]: register for name, register in one["registers"].items() if name.startswith(prefix)}


def listed(members):
    return sorted((id for id, (_, is_in) in members.items() if is_in), key=lambda id: (members[id][0], id))


def state(one):
    """The object as sent by sync (protocol.md, Two forms)."""
    registers, custom = one["registers"], under(one, "attributes.")
    shown = {"uniqueID": one["id"], **one["once"]}
    if one["type"] == "attachment":
        return shown
    shown["attributes"] = {name: value for name, (_, value) in custom.items()}
    clocks = {name: write_clock(clock) for name, (clock, _) in registers.items() if "." not in name}
    clocks["attributes"] = {name: write_clock(clock) for name, (clock, _) in custom.items()}
    if one["type"] == "note":
        shown |= defaults_of(one["once"]["creationDate"])
        for kind in MEMBERS:
            shown[kind] = listed(under(one, kind + "."))
            clocks[kind] = {id: write_clock(clock) for id, (clock, _) in under(one, kind + ".").items()}
    for kind in ("texts", "files"):
        if named := under(one, kind + "."):
            shown[kind] = {name: value for name, (_, value) in named.items()}
            clocks[kind] = {name: write_clock(clock) for name, (clock, _) in named.items()}
    shown |= {name: value for name, (_, value) in registers.items() if "." not in name}
    return {**shown, "clocks": clocks}


def resolved(one, kind, objects, deleted):
    """The resolved members of a note (merge.md, Membership)."""
    live = {}
    for id, register in under(one, kind + ".").items():
        while "mergedInto" in deleted.get(id, {}):
            id = deleted[id]["mergedInto"]
        if id in objects:
            live[id] = max(live.get(id, register), register)
    return listed(live)


def state_lines(type, shown):
    """The lines of the digest of an object as sent by sync. Sections of `clocks` that the reader does not know are lines too."""
    clocks = {}
    for kind, clock in shown.get("clocks", {}).items():
        clocks |= {kind: clock} if isinstance(clock, str) else {f"{kind}.{name}": one for name, one in clock.items()}
    lines = [type, shown["uniqueID"]] + [f"{name}={clocks[name]}" for name in sorted(clocks)]
    return lines + [f"{name}={shown[name]}" for name in ("creationDate", "sha256") if name in shown]


def deleted_lines(shown):
    return ["deleted", shown["uniqueID"]] + [shown[name] for name in ("mergedInto",) if name in shown]


def digest(lines):
    return hashlib.sha256("".join(line + "\n" for line in lines).encode()).digest()[:16]


def scope_digest(page):
    total = bytes(16)
    types = {section: type for type, section in SECTIONS.items()}
    for section, shown_objects in page.items():
        for shown in shown_objects:
            type = types.get(section) or shown["objectType"]
            lines = deleted_lines(shown) if section == "deletedObjects" else state_lines(type, shown)
            total = bytes(one ^ other for one, other in zip(total, digest(lines), strict=True))
    return total.hex()


# Revocations: one object without the edits that a device pushed after a moment.


def parcels_of_others(parcels, device, moment):
    """The parcels that were neither pushed by the device nor merged by the server from a text that it pushed."""
    kept, current = [], {}
    for _, push in groupby(parcels, key=lambda parcel: (parcel["pushedBy"], parcel["pushedAt"])):
        push, before = list(push), dict(current)
        texts = [text_of(parcel) for parcel in push if not parcel.get("isServers")]
        pushed = [(text["attribute"], text["value"]) for text in texts if "value" in text]
        for parcel in push:
            text = text_of(parcel)
            is_others = parcel["pushedBy"] != device or parcel["pushedAt"] <= moment
            if parcel.get("isServers") and text and (text["attribute"], text.get("value")) not in pushed:
                is_others = is_others and before.get(text["attribute"], ("", True))[1]
            if is_others:
                kept.append(parcel)
            if text:
                current[text["attribute"]] = max(current.get(text["attribute"], ("", True)), (text["clock"], is_others))
    return kept


def is_text(attribute):
    return attribute == "text" or attribute.startswith("texts.")


def text_of(parcel):
    """The edit of the parcel's text. A parcel has at most one."""
    return next((edit for edit in parcel["edits"] if is_text(edit["attribute"])), {})


def registers_of(parcels):
    """By attribute: the edit with the greatest clock, and the one with the greatest clock that has a value."""
    edits = [edit for parcel in parcels for edit in parcel["edits"] if "clock" in edit]
    edits.sort(key=lambda edit: edit["clock"])
    return {edit["attribute"]: edit for edit in edits}, {edit["attribute"]: edit for edit in edits if "value" in edit}


def rewind(case):
    """The outcome of a case, with the registers that the server restores."""
    parcels, kept = case["parcels"], parcels_of_others(case["parcels"], case["device"], case["moment"])
    if not kept:
        return {"outcome": "gone"}
    current, _ = registers_of(parcels)
    last, known = registers_of(kept)
    dates = [edit["value"] for parcel in parcels for edit in parcel["edits"] if edit["attribute"] == "creationDate"]
    defaults = defaults_of(min(dates, default=None))
    put_back, older = {}, []
    keeps = any("clock" not in edit for parcel in parcels if parcel not in kept for edit in parcel["edits"])
    for name, edit in current.items():
        if edit == last.get(name):
            continue
        if name == "name" and name not in known:
            keeps = True
            continue
        is_member = name.startswith(tuple(kind + "." for kind in MEMBERS))
        default = False if is_member else "" if is_text(name) else defaults.get(name)
        value = known[name]["value"] if name in known else default
        if value != edit["value"] or isinstance(value, bool) != isinstance(edit["value"], bool):
            put_back[name] = value
            older += [name] if last.get(name) != known.get(name) else []
    outcome = {"outcome": "putBack" if put_back else "stands", "putBack": put_back, "older": older, "keeps": keeps}
    return {name: value for name, value in outcome.items() if value}
