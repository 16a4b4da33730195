"""A reference client: a device that keeps a local copy in memory and syncs it with the server.

It follows docs/clients.md, "The rules every client follows". docs/merge.md describes clocks, folding and texts.
"""

import copy
import uuid
from dataclasses import replace
from typing import Any

import clocks
from client import Client, ErrorResponse
from local_copy import Entity, LocalCopy, read_state
from push import Push, Unsent, missing_on_server, split_into_pushes

DAY = 86_400_000  # milliseconds
RESTAMP_SLUGS = ("clock-ahead", "clock-reused")  # errors after which edits are sent again with new clocks
MAX_TEXTS_IN_FLIGHT = 16  # the limit of `textAfter`


class Edits:
    """Edits of notes and tags, each by the method `edit`. They return the clock of the edit."""

    def write(self, note: str, text: str) -> str:
        return self.edit(note, "text", text)

    def archive(self, note: str, archived: bool = True) -> str:
        return self.edit(note, "archived", archived)

    def tag(self, note: str, tag: str) -> str:
        return self.edit(note, f"tags.{tag}", True)

    def untag(self, note: str, tag: str) -> str:
        return self.edit(note, f"tags.{tag}", False)

    def rename(self, tag: str, name: str) -> str:
        return self.edit(tag, "name", name)


class Device(Edits):
    """One device of one account.

    `copy` contains what the server sent or acknowledged. Changes that it has not acknowledged are in `unsent`, `new` and
    `deletions`. `view` combines both. `wall` returns the wall clock in milliseconds.
    """

    def __init__(self, client: Client, wall=clocks.wall):
        self.client = client
        self.clock = clocks.ClockSource(client.device["uniqueID"], wall)
        self.copy = LocalCopy()
        self.old_copy: LocalCopy | None = None  # the copy from before `start_over`, until all has been read again
        self.token: str | None = None  # the sync token
        self.unsent: dict[tuple[str, str], Unsent] = {}  # edits by (object, attribute)
        self.texts_in_flight: dict[str, list[Unsent]] = {}  # sent and unacknowledged texts by note, in the order of writing
        self.new: dict[str, tuple[str, dict]] = {}  # type and immutable properties of new objects
        self.deletions: dict[str, dict] = {}  # DeletedObjects to send
        self.restore_pushes: list[Push] = []  # what a restored server lacks
        self.rejected: list[dict] = []  # changes that the server rejected, with the problem
        self.over_quota: set[tuple[str, str]] = set()  # keys of `unsent`, or (ID, "") of `new`, refused as over the quota
        self.receipts: list[dict] = []  # the results of the latest sync
        self.rescued: dict[str, str] = {}  # deleted note: the note that this device made from its unsent text
        self.moved: dict[str, str] = {}  # deleted note: the note that the server made of it, which received the unsent text
        self.digest: str | None = None  # the scope's digest in the latest response
        self.started_over = False
        self.repaired = 0  # how often it read everything again because the digests differed
        self.restamps = 0  # in the current sync
        self.last_sync: int | None = None  # when the latest sync finished

    # Writing. Changes the local state only.

    def make(self, kind: str, unique_id: str | None = None, fixed: dict | None = None, **values: Any) -> str:
        """Creates an object. Returns its ID."""
        unique_id = unique_id or str(uuid.uuid4())
        self.new[unique_id] = (kind, dict(fixed or {}))
        for name, value in values.items():
            self.edit(unique_id, name, value)
        return unique_id

    def make_note(self, text: str, unique_id: str | None = None, tags: list[str] = (), **attributes: Any) -> str:
        unique_id = self.make("note", unique_id, {"creationDate": clocks.date(self.clock.now)}, text=text)
        for tag in tags:
            self.tag(unique_id, tag)
        for name, value in attributes.items():
            self.edit(unique_id, f"attributes.{name}", value)
        return unique_id

    def make_tag(self, name: str, unique_id: str | None = None) -> str:
        return self.make("tag", unique_id, name=name)

    def make_object(self, kind: str, unique_id: str | None = None, **attributes: Any) -> str:
        return self.make(kind, unique_id, **{f"attributes.{name}": value for name, value in attributes.items()})

    def edit(self, unique_id: str, attribute: str, value: Any) -> str:
        """Sets a register. Returns the edit's clock. An edit of a text records the version that it was made from."""
        made = Unsent(self.type_of(unique_id), value, self.clock.tick())
        if attribute == "text":
            before = self.unsent.get((unique_id, "text"))
            current = self.copy.objects.get(unique_id)
            if before:
                made.base, made.base_value = before.base, before.base_value
            elif current and current.clock("text"):
                made.base, made.base_value = current.clock("text"), current.value("text")
        self.unsent[unique_id, attribute] = made
        return made.clock

    def delete(self, unique_id: str) -> None:
        """Deletes an object and discards its unsent edits. The DeletedObject is sent even if the server never saw the object."""
        deletion = {"uniqueID": unique_id, "objectType": self.type_of(unique_id)}
        if deletion["objectType"] == "note":
            deletion["textSeen"] = self.text_seen(unique_id)
            deletion["textAfter"] = [text.clock for text in self.texts_in_flight.get(unique_id, [])]
        self.deletions[unique_id] = deletion
        self.forget(unique_id)

    def text_seen(self, note: str) -> str:
        """The clock of the latest server text that the user's text is based on, or "" if there is none."""
        unsent, current = self.unsent.get((note, "text")), self.copy.objects.get(note)
        return (unsent.base if unsent else current.clock("text") if current else None) or ""

    def forget(self, unique_id: str) -> None:
        self.new.pop(unique_id, None)
        self.texts_in_flight.pop(unique_id, None)
        for key in [key for key in self.unsent if key[0] == unique_id]:
            del self.unsent[key]

    # Reading.

    def type_of(self, unique_id: str) -> str:
        if unique_id in self.new:
            return self.new[unique_id][0]
        if unique_id in self.copy.objects:
            return self.copy.objects[unique_id].type
        raise KeyError(f"{unique_id} is not on this device")

    @property
    def view(self) -> LocalCopy:
        """The copy with unsent changes applied. The greater clock wins, except that an unsent text always wins."""
        view = copy.deepcopy(self.copy)
        for unique_id, (kind, fixed) in self.new.items():
            view.fold_entity(Entity(kind, unique_id, dict(fixed)))
        for (unique_id, attribute), edit in self.unsent.items():
            if unique_id not in view.deleted:
                entity = view.entity(edit.type, unique_id)
                if attribute == "text":
                    entity.registers["text"] = (edit.value, edit.clock)
                else:
                    entity.fold(attribute, edit.value, edit.clock)
        for deletion in self.deletions.values():
            view.fold_deleted(deletion)
        return view

    def note(self, unique_id: str) -> dict | None:
        """A note as the user sees it, with its members resolved. None if it does not exist."""
        view = self.view
        entity = view.objects.get(unique_id)
        return view.as_resource(entity) if entity and entity.exists else None

    @property
    def notes(self) -> dict[str, dict]:
        view = self.view
        return {
            entity.unique_id: view.as_resource(entity)
            for entity in view.objects.values()
            if entity.type == "note" and entity.exists
        }

    @property
    def tags(self) -> dict[str, str]:
        """The names of live tags by ID."""
        return {
            entity.unique_id: entity.value("name")
            for entity in self.view.objects.values()
            if entity.type == "tag" and entity.exists
        }

    def text(self, note: str) -> str | None:
        note_json = self.note(note)
        return note_json["text"] if note_json else None

    @property
    def is_synced(self) -> bool:
        """Whether nothing is unsent and the copy's digest equals the server's."""
        return not (self.unsent or self.new or self.deletions or self.restore_pushes) and self.copy.digest == self.digest

    # Syncing.

    def sync(self, lose_response: bool = False, limit: int | None = None) -> list[dict]:
        """Sends all changes and reads all pages. Returns the receipts.

        `lose_response`: simulates a lost response. The first push arrives, but its response is discarded.
        """
        self.receipts, self.restamps, repaired = [], 0, self.repaired
        self.over_quota.clear()  # each sync retries once; a real client waits longer between retries
        for _ in range(10_000):
            try:
                if self.old_copy:
                    self.read_again()  # a previous sync was interrupted after `start_over`
                push = self.prepare()
                response = self.send(push, limit)
            except ErrorResponse as refusal:
                if refusal.slug != "token-expired":
                    raise
                self.start_over()
                continue
            if lose_response:
                return []
            self.receive(push, response)
            if response["hasMore"] or self.has_more_to_send:
                continue
            if self.is_synced or self.has_unsent or self.repaired > repaired:
                return self.receipts
            # The copies differ although nothing is unsent. This happens when old database files were restored without
            # `hesper restore` and the server's sequence has already passed this device's token. Read everything again, and send
            # what the server lacks.
            self.repaired += 1
            self.start_over()
        raise RuntimeError("sync did not finish")

    @property
    def has_unsent(self) -> bool:
        return bool(self.unsent or self.new or self.deletions or self.restore_pushes)

    def is_over_quota(self, unique_id: str, attribute: str) -> bool:
        return bool({(unique_id, ""), (unique_id, attribute)} & self.over_quota)

    @property
    def has_more_to_send(self) -> bool:
        """Whether anything is unsent that the server has not refused as over the quota in this sync."""
        new = any(not self.is_over_quota(unique_id, "") for unique_id in self.new)
        return bool(new or self.deletions or self.restore_pushes or any(not self.is_over_quota(*key) for key in self.unsent))

    def prepare(self) -> Push:
        """The next push. What a restored server lacks goes first. Texts in it count as in flight from now on."""
        if self.restore_pushes:
            push = self.restore_pushes[0]
            push.token = self.token
            return push
        new = {unique_id: fixed for unique_id, fixed in self.new.items() if not self.is_over_quota(unique_id, "")}
        unsent = {key: edit for key, edit in self.unsent.items() if not self.is_over_quota(*key)}
        push = split_into_pushes(self.deletions, new, unsent, self.token)[0]
        for (unique_id, attribute), edit in push.edits.items():
            if attribute == "text":
                push.edits[unique_id, attribute] = self.mark_in_flight(unique_id, edit)
        return push

    def mark_in_flight(self, note: str, text: Unsent) -> Unsent:
        """The text to send, with the clocks of the texts in flight before it.

        If too many texts are in flight, returns the last of them, which is then sent again.
        """
        sent = self.texts_in_flight.setdefault(note, [])
        clocks_sent = [text.clock for text in sent]
        if text.clock not in clocks_sent:
            if len(sent) == MAX_TEXTS_IN_FLIGHT:
                return replace(sent[-1], after=clocks_sent[:-1])
            sent.append(text)
            clocks_sent.append(text.clock)
        return replace(text, after=clocks_sent[: clocks_sent.index(text.clock)])

    @property
    def server_may_lack_bases(self) -> bool:
        """Whether the server may have dropped the bases of texts: after more than a day without sync, or after a restore."""
        return self.started_over or (self.last_sync is not None and self.clock.wall() - self.last_sync > DAY)

    def send(self, push: Push, limit: int | None = None) -> dict:
        push.sent = self.clock.wall()
        return self.client.sync(push.changes(self.server_may_lack_bases) if push else None, since=push.token, limit=limit)

    def receive(self, push: Push, response: dict) -> None:
        """Applies a response: results, changes, token. A client with a database does this in one transaction."""
        self.clock.adjust_offset(response["serverClock"], push.sent)
        results = {(result.get("uniqueID") or "").lower(): result for result in response["results"]}
        restamp_slugs = self.apply_results(push, results)
        for section, items in response["changes"].items():
            for item in items:
                if section == "deletedObjects":
                    self.apply_deleted(item)
                else:
                    self.apply_entity(read_state(section, item))
        if restamp_slugs:
            self.restamp(reused="clock-reused" in restamp_slugs)
        self.receipts += response["results"]
        self.token = response["syncToken"]
        self.digest = response.get("digest")
        if push.relayed:
            self.restore_pushes.pop(0)
        if not response["hasMore"] and not self.has_unsent and not self.old_copy:
            self.last_sync = self.clock.wall()
            self.started_over = False

    def apply_results(self, push: Push, results: dict[str, dict]) -> set[str]:
        """Moves acknowledged changes into the copy, and rejected ones to `rejected`.

        Returns the slugs of the problems after which edits must be sent again with new clocks.
        """
        restamp_slugs: set[str] = set()
        for unique_id in {unique_id for unique_id, _ in push.edits} | set(push.fixed):
            if (results[unique_id].get("problem") or {}).get("slug") == "quota-exceeded":
                self.hold_back(push, unique_id)
        for unique_id, deletion in push.deletions.items():
            result = results[unique_id]
            self.deletions.pop(unique_id, None)
            if result["status"] == "rejected":
                self.rejected.append({"uniqueID": unique_id, "deletion": deletion, "problem": result.get("problem")})
            else:
                named = ("uniqueID", "objectType", "mergedInto", "rescuedInto", "deletionDate")
                self.copy.fold_deleted({name: deletion[name] for name in named if name in deletion})
        for unique_id, (kind, fixed) in push.fixed.items():
            result = results[unique_id]
            if result["status"] == "deleted":
                continue
            if result.get("problem"):
                if result["problem"]["slug"] not in (*RESTAMP_SLUGS, "quota-exceeded"):
                    self.rejected.append({"uniqueID": unique_id, "fixed": fixed, "problem": result["problem"]})
                    self.new.pop(unique_id, None)
                continue
            self.new.pop(unique_id, None)
            self.copy.fold_entity(Entity(kind, unique_id, dict(fixed)))
        for (unique_id, attribute), sent in push.edits.items():
            result = results[unique_id]
            if result["status"] == "deleted":
                continue  # `apply_deleted` rescues the text when it applies the DeletedObject in this response
            fields = result.get("fields", {})
            # A refused list of members refuses each of them.
            field = fields.get(attribute) or fields.get(attribute.partition(".")[0], {})
            problem = field.get("problem") if field.get("outcome") == "rejected" else result.get("problem")
            if problem and problem["slug"] in RESTAMP_SLUGS:
                restamp_slugs.add(problem["slug"])
                if attribute == "text" and not push.relayed:
                    self.finish_text(unique_id, sent, problem)
                continue
            if problem and problem["slug"] == "quota-exceeded":
                if attribute == "text":
                    self.finish_text(unique_id, sent, problem)
                continue
            if problem:
                self.rejected.append(
                    {"uniqueID": unique_id, "attribute": attribute, "value": sent.value, "problem": problem}
                )
            else:
                self.clock.observe(sent.clock)
                self.copy.fold_entity(Entity(sent.type, unique_id, {}, {attribute: (sent.value, sent.clock)}))
            latest = self.unsent.get((unique_id, attribute))
            is_first_response = attribute == "text" and not push.relayed and self.finish_text(unique_id, sent, problem)
            if latest and latest.clock == sent.clock:
                del self.unsent[unique_id, attribute]
            elif latest and is_first_response and not problem:
                # The text was changed while the push was in flight. The new text descends from the acknowledged one.
                latest.base, latest.base_value, latest.moved = sent.clock, sent.value, False
        return restamp_slugs

    def hold_back(self, push: Push, unique_id: str) -> None:
        """Marks the edits of an object that was refused as over the quota, so that this sync does not send them again.

        For an existing object only its text and string attributes are marked. The small fields are sent again without them.
        """
        edits = {attribute: edit for (changed_id, attribute), edit in push.edits.items() if changed_id == unique_id}
        if push.relayed:
            # Edits for a restored server become unsent edits of this device, even if another device made them.
            for attribute, edit in edits.items():
                self.unsent.setdefault((unique_id, attribute), edit)
            if unique_id in push.fixed:
                self.new.setdefault(unique_id, push.fixed[unique_id])
        strings = {attribute for attribute, edit in edits.items() if isinstance(edit.value, str)}
        large = {attribute for attribute in strings if attribute == "text" or attribute.startswith("attributes.")}
        if unique_id in push.fixed or not large:
            self.over_quota |= {(unique_id, ""), *((unique_id, attribute) for attribute in edits)}
        else:
            self.over_quota |= {(unique_id, attribute) for attribute in large}

    def finish_text(self, note: str, sent: Unsent, problem: dict | None) -> bool:
        """Removes a text from those in flight. If it was accepted, also the earlier texts that it named in `textAfter`.

        Returns False if the text was not in flight, for example because an earlier response removed it.
        """
        texts = self.texts_in_flight.get(note, [])
        if sent.clock not in (text.clock for text in texts):
            return False
        finished = {sent.clock} if problem else {sent.clock, *sent.after}
        self.texts_in_flight[note] = [text for text in texts if text.clock not in finished]
        if not self.texts_in_flight[note]:
            del self.texts_in_flight[note]
        return True

    def apply_entity(self, incoming: Entity) -> None:
        for _, clock in incoming.registers.values():
            self.clock.observe(clock)
        self.copy.fold_entity(incoming)

    def apply_deleted(self, incoming: dict) -> None:
        """Applies a DeletedObject. Unsent text of the note goes to the note that the server made of it, or to a new note."""
        unique_id = incoming["uniqueID"]
        text = self.unsent.get((unique_id, "text")) if unique_id not in self.deletions else None
        in_flight = self.texts_in_flight.get(unique_id, [])
        if text and not incoming.get("rescuedInto"):
            self.rescue(unique_id, text.value)
        self.copy.fold_deleted(incoming)
        self.deletions.pop(unique_id, None)
        self.forget(unique_id)
        if text and incoming.get("rescuedInto"):
            self.move(text, in_flight, unique_id, incoming["rescuedInto"])

    def move(self, text: Unsent, in_flight: list[Unsent], out_of: str, into: str) -> None:
        """Moves the unsent text of a deleted note to the note that the server made when it rescued the text."""
        self.moved[out_of] = into
        self.unsent[into, "text"] = replace(text, clock=self.clock.tick(), moved=True)
        if in_flight:
            self.texts_in_flight[into] = [replace(sent, moved=True) for sent in in_flight]
        if into in self.copy.deleted:
            self.apply_deleted(self.copy.deleted[into])  # the new note was deleted as well

    def rescue(self, unique_id: str, text: str) -> None:
        """Makes a new note of a deleted note's unsent text, with its attachments and tags.

        The ID is derived from the deleted note's ID and the text, so that devices that rescue the same text make the same note.
        """
        view = self.old_copy or self.view
        original = view.objects.get(unique_id) or self.view.objects.get(unique_id) or Entity("note", unique_id)
        rescued = str(uuid.uuid5(uuid.UUID(unique_id), text))
        if rescued in self.copy.objects or rescued in self.copy.deleted or rescued in self.new:
            return
        self.make(
            "note", rescued, {"creationDate": original.fixed.get("creationDate", clocks.date(self.clock.now))}, text=text
        )
        for kind in ("attachments", "tags"):
            for member in view.members(original, kind):
                self.edit(rescued, f"{kind}.{member}", True)
        self.rescued[unique_id] = rescued

    def restamp(self, reused: bool) -> None:
        """Resets the clock to one that the server accepts, and gives every unsent edit a new clock, in the same order."""
        if reused:
            self.sign_in_again()  # the device's data was copied: this copy becomes a new device
        self.restamps += 1
        if self.restamps > 5:
            raise RuntimeError("the server rejects every clock")
        self.clock.reset_to_confirmed()
        for edit in sorted(self.unsent.values(), key=lambda edit: edit.clock):
            edit.clock = self.clock.tick()

    def sign_in_again(self) -> None:
        """Signs in as a new device. Unsent edits and texts in flight keep their clocks."""
        self.client.sign_in(self.client.email, self.client.password, device_name="again")
        self.clock.node = self.client.device["uniqueID"]

    def start_over(self) -> None:
        """Discards the copy and the token, to read everything again (protocol.md, Restored servers)."""
        self.old_copy, self.copy = self.old_copy or self.copy, LocalCopy()
        self.token, self.started_over = None, True

    def read_again(self) -> None:
        """Reads all pages, then prepares pushes of what the server lacks."""
        for _ in range(10_000):
            empty = Push({}, {}, {}, self.token)
            response = self.send(empty)
            self.receive(empty, response)
            if not response["hasMore"]:
                break
        # Pushes from an earlier `start_over` that were not sent yet are still due.
        self.restore_pushes = missing_on_server(self.old_copy, self.copy) + self.restore_pushes
        self.old_copy = None
