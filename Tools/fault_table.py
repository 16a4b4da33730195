"""The deliberate faults of faults.py: each a mistake that a programmer might make, in one place of the source.

`old` is replaced by `new`. Both are expressions, or with `is_statement` whole statements. `old`, together with the text before and
after it, occurs exactly once in the file.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    #: The file, below `Sources`.
    file: str
    old: str
    new: str
    is_statement: bool = False
    before: str = ""
    after: str = ""


RECORDS = "HesperClient/Records/"
SYNC = "HesperClient/Sync/"
MERGE = "HesperModel/Merge/"

FAULTS = [
    # Clocks and registers
    Fault(
        "the clock is saved only once", RECORDS + "RecordsTransaction.swift",
        "value != saved", "saved == nil", before="= deviceClock, "),
    Fault(
        "received clocks are not observed", RECORDS + "DeviceClock.swift",
        "source.observe(clock)", "_ = clock", is_statement=True),
    Fault(
        "the last register that arrives wins", RECORDS + "LocalObject.swift",
        "$0.clock < cell.clock", "$0.clock != cell.clock"),
    Fault(
        "the visible value is always the unsent one", RECORDS + "LocalObject.swift",
        "acknowledged.clock < edit.clock", "true"),
    Fault(
        "refused clocks are stamped again from the refused time", RECORDS + "RecordsTransaction.swift",
        "try withClock { $0.setBack() }", "_ = try clock", is_statement=True),
    # Texts
    Fault(
        "a text does not name texts that were sent before it", SYNC + "PushBatch.swift",
        "sent.descent?.after.append(edit.clock)", "_ = edit.clock", is_statement=True),
    Fault(
        "typing on after a receipt keeps the old base", SYNC + "Receive.swift",
        "object.edits[attribute]?.descent?.base = LocalEdit.Base(words, at: sent.clock)", "_ = words", is_statement=True),
    Fault(
        "a received text replaces the unsent one on the screen", RECORDS + "LocalObject.swift",
        "!AttributeName.isText(attribute)", "true", before="guard ", after=", let acknowledged"),
    Fault(
        "a receipt removes an edit that was made since", SYNC + "Receive.swift",
        "standing.clock == sent.clock", "standing.clock >= sent.clock"),
    Fault(
        "a text that was sent is not sent again", SYNC + "PushBatch.swift",
        "edit.isHeld", "edit.isHeld || edit.descent?.after.contains(edit.clock) == true", before="if ", after=" { return false }"),
    Fault(
        "the base of a text of an app's object is not recorded", RECORDS + "RecordsTransaction.swift",
        "AttributeName.isText(attribute)", "attribute == AttributeName.text", before="guard ", after=" else {\n            object.edits"),
    # Rounds
    Fault(
        "the token is not saved with the page", SYNC + "Receive.swift",
        "page[\"syncToken\"]?.string ?? sync.token", "sync.token"),
    Fault(
        "an attachment is pushed before its bytes", SYNC + "PushBatch.swift",
        "object.made?.needsBytes != true", "true"),
    Fault(
        "a deletion leaves the digest as it was", RECORDS + "RecordsTransaction.swift",
        "(standing?.digest ?? .zero) ^ folded.digest", "folded.digest"),
    Fault(
        "waiting changes are never sent again", SYNC + "Quota.swift",
        "isAsked || until <= now", "isAsked"),
    Fault(
        "changes over the quota do not wait", SYNC + "Quota.swift",
        "edit.clock == sent.clock && (isWhole || sent.isLarge(attribute))", "false"),
    # Deletions
    Fault(
        "a deleted object comes back with a page", SYNC + "Receive.swift",
        "try !isDeleted(theirs.id)", "true"),
    Fault(
        "a deletion does not name the text that was seen", RECORDS + "RecordsTransaction.swift",
        "deletion.seenTexts = seen", "_ = seen", is_statement=True),
    Fault(
        "unsent words of a deleted note are forgotten", SYNC + "Receive.swift",
        "!isOwn", "isOwn", before="guard ", after=", let before"),
    Fault(
        "reading from the start never ends", SYNC + "Receive.swift",
        "sync.isReading = false", "_ = sync.isReading", is_statement=True),
    # Restored servers
    Fault(
        "deletions are not resent", SYNC + "Relays.swift",
        "try forEachDeleted { try save(Relay(id: $0.uniqueID)) }", "_ = now", is_statement=True),
    # Types and bytes
    Fault(
        "a counter is written as the sum of all parts", "HesperClient/Store/WriteTransaction.swift",
        "if case .integer(let value)? = record.value(part) { standing = value }",
        "for (name, cell) in record.visible where name.hasPrefix(attribute + \".\") {"
        " if case .integer(let value) = cell.value { standing += value } }", is_statement=True),
    Fault(
        "registers of texts that the server sends are dropped", RECORDS + "LocalObject+wire.swift",
        "member.value.members", "name == \"texts\" ? [] : member.value.members", before="for entry in ", after=" {"),
    # The merge
    Fault(
        "a file of an app's object does not hold its attachment", "HesperModel/Objects/HeldMembers.swift",
        "Set(object.files.registers.compactMap { Attribute.file($0.key).heldAttachment($0.value.value) })", "[]"),
    Fault(
        "two tags may have the same name", MERGE + "Merge.swift",
        "try merge.draft.makeTagNamesUnique()", "_ = push", is_statement=True),
]
