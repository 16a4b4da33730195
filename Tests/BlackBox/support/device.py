"""A device that follows clients.md, The rules every client follows: it reads and writes its copy, and syncs it."""

import copy
import uuid
from dataclasses import replace
from typing import Any

import clocks
from client import Client, Refused
from local_copy import Entity, LocalCopy, read_state
from push import Push, Unsent, in_parts, what_it_lacks

DAY = 86_400_000
STAMP_AGAIN = ("clock-ahead", "clock-reused")
MOST_UNANSWERED = 16  # clocks that `textAfter` may have


class Device:
    """One device of one account. `copy` is what the server acknowledged or sent; what is unsent lies over it."""

    def __init__(self, client: Client, wall=clocks.wall):
        self.client = client
        self.clock = clocks.ClockSource(client.device["uniqueID"], wall)
        self.copy = LocalCopy()
        self.before: LocalCopy | None = None  # the copy of before it was told to start over, while it does
        self.token: str | None = None
        self.unsent: dict[tuple[str, str], Unsent] = {}
        self.unanswered: dict[str, list[Unsent]] = {}  # texts of a note that were sent, in the order of writing
        self.new: dict[str, tuple[str, dict]] = {}  # of objects made here: type, and what never changes
        self.deletions: dict[str, dict] = {}
        self.relays: list[Push] = []  # what a restored server lacks
        self.shelf: list[dict] = []  # what the server refused, with its problem
        self.held: set[tuple[str, str]] = set()  # of `unsent` (and `new`: ""), what is over the account's quota
        self.receipts: list[dict] = []  # the results of the latest sync
        self.rescued: dict[str, str] = {}  # of deleted notes: the notes that were made here of their words
        self.moved: dict[str, str] = {}  # of deleted notes: the notes that the server made, where words from here went
        self.digest: str | None = None  # what the server said at the end of the latest sync
        self.started_over = False
        self.repaired = 0  # how often the digests differed though nothing was unsent
        self.stamped_again = 0  # in this sync
        self.last_sync: int | None = None

    # Writing: the copy first, the network never.

    def make(self, kind: str, unique_id: str | None = None, fixed: dict | None = None, **values: Any) -> str:
        """A new object; its ID."""
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
        """Sets a register: one edit; its clock. A text remembers which version it started from."""
        made = Unsent(self.type_of(unique_id), value, self.clock.tick())
        if attribute == "text":
            before = self.unsent.get((unique_id, "text"))
            standing = self.copy.objects.get(unique_id)
            if before:
                made.base, made.base_value = before.base, before.base_value
            elif standing and standing.clock("text"):
                made.base, made.base_value = standing.clock("text"), standing.value("text")
        self.unsent[unique_id, attribute] = made
        return made.clock

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

    def delete(self, unique_id: str) -> None:
        """Makes a DeletedObject. What was unsent of the object goes; it is sent even if the server never saw it."""
        deletion = {"uniqueID": unique_id, "objectType": self.type_of(unique_id)}
        if deletion["objectType"] == "note":
            deletion["textSeen"] = self.text_seen(unique_id)
            deletion["textAfter"] = [text.clock for text in self.unanswered.get(unique_id, [])]
        self.deletions[unique_id] = deletion
        self.forget(unique_id)

    def text_seen(self, note: str) -> str:
        """The clock of the server's text that a person sees, under their own words; empty if there is none."""
        unsent, standing = self.unsent.get((note, "text")), self.copy.objects.get(note)
        return (unsent.base if unsent else standing.clock("text") if standing else None) or ""

    def forget(self, unique_id: str) -> None:
        self.new.pop(unique_id, None)
        self.unanswered.pop(unique_id, None)
        for key in [key for key in self.unsent if key[0] == unique_id]:
            del self.unsent[key]

    # Reading: what a person sees.

    def type_of(self, unique_id: str) -> str:
        if unique_id in self.new:
            return self.new[unique_id][0]
        if unique_id in self.copy.objects:
            return self.copy.objects[unique_id].type
        raise KeyError(f"{unique_id} is not on this device")

    @property
    def view(self) -> LocalCopy:
        """The copy with what is unsent in it. Of registers the greater clock stands; an unsent text is left alone."""
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
        """A note as a person sees it, members resolved; None if there is none."""
        view = self.view
        entity = view.objects.get(unique_id)
        return view.shown(entity) if entity and entity.exists else None

    @property
    def notes(self) -> dict[str, dict]:
        view = self.view
        return {
            entity.unique_id: view.shown(entity)
            for entity in view.objects.values()
            if entity.type == "note" and entity.exists
        }

    @property
    def tags(self) -> dict[str, str]:
        """The names of live tags by their IDs."""
        return {
            entity.unique_id: entity.value("name")
            for entity in self.view.objects.values()
            if entity.type == "tag" and entity.exists
        }

    def text(self, note: str) -> str | None:
        shown_note = self.note(note)
        return shown_note["text"] if shown_note else None

    @property
    def is_synced(self) -> bool:
        """Nothing unsent, and the copy is the server's, by digest."""
        return not (self.unsent or self.new or self.deletions or self.relays) and self.copy.digest == self.digest

    # Syncing.

    def sync(self, lose_answer: bool = False, limit: int | None = None) -> list[dict]:
        """Sends what is unsent, reads to the end: the receipts. `lose_answer`: the push arrives, its answer not."""
        self.receipts, self.stamped_again, repaired = [], 0, self.repaired
        self.held.clear()  # once each time: how often that is, is for whoever calls this to say
        for _ in range(10_000):
            try:
                if self.before:
                    self.read_again()  # it was told to start over, and has not read to the end yet
                push = self.prepare()
                answer = self.send(push, limit)
            except Refused as refusal:
                if refusal.slug != "token-expired":
                    raise
                self.start_over()
                continue
            if lose_answer:
                return []
            self.receive(push, answer)
            if answer["hasMore"] or self.has_more_to_send:
                continue
            if self.is_synced or self.has_unsent or self.repaired > repaired:
                return self.receipts
            # Equal digests prove equal copies; these are not (an old file was put back, and its numbers have overtaken
            # this device's token): read it all, fold, give back what is greater here or unknown there.
            self.repaired += 1
            self.start_over()
        raise RuntimeError("sync does not come to an end")

    @property
    def has_unsent(self) -> bool:
        return bool(self.unsent or self.new or self.deletions or self.relays)

    def is_held(self, unique_id: str, attribute: str) -> bool:
        return bool({(unique_id, ""), (unique_id, attribute)} & self.held)

    @property
    def has_more_to_send(self) -> bool:
        """Whether anything is unsent that the server has not just refused because the account's storage is full."""
        new = any(not self.is_held(unique_id, "") for unique_id in self.new)
        return bool(new or self.deletions or self.relays or any(not self.is_held(*key) for key in self.unsent))

    def prepare(self) -> Push:
        """The next push, of what a restored server lacks if there is any. Its texts are unanswered from now on."""
        if self.relays:
            relay = self.relays[0]
            relay.token = self.token
            return relay
        new = {unique_id: fixed for unique_id, fixed in self.new.items() if not self.is_held(unique_id, "")}
        unsent = {key: edit for key, edit in self.unsent.items() if not self.is_held(*key)}
        push = in_parts(self.deletions, new, unsent, self.token)[0]
        for (unique_id, attribute), edit in push.edits.items():
            if attribute == "text":
                push.edits[unique_id, attribute] = self.on_its_way(unique_id, edit)
        return push

    def on_its_way(self, note: str, text: Unsent) -> Unsent:
        """The text to send, with those that it descends from: with too many unanswered, the last of them again."""
        sent = self.unanswered.setdefault(note, [])
        clocks_sent = [text.clock for text in sent]
        if text.clock not in clocks_sent:
            if len(sent) == MOST_UNANSWERED:
                return replace(sent[-1], after=clocks_sent[:-1])
            sent.append(text)
            clocks_sent.append(text.clock)
        return replace(text, after=clocks_sent[: clocks_sent.index(text.clock)])

    @property
    def was_away(self) -> bool:
        """For more than a day, or told to start over: the server may not have the text's base any more."""
        return self.started_over or (self.last_sync is not None and self.clock.wall() - self.last_sync > DAY)

    def send(self, push: Push, limit: int | None = None) -> dict:
        return self.client.sync(push.changes(self.was_away) if push else None, since=push.token, limit=limit)

    def receive(self, push: Push, answer: dict) -> None:
        """Takes an answer in: what became of the push, what changed elsewhere, the token: one transaction."""
        self.clock.learn(answer["serverClock"])
        results = {(result.get("uniqueID") or "").lower(): result for result in answer["results"]}
        stamp_again = self.take_results(push, results)
        for section, items in answer["changes"].items():
            for item in items:
                if section == "deletedObjects":
                    self.take_deleted(item)
                else:
                    self.take_entity(read_state(section, item))
        if stamp_again:
            self.stamp_again(reused="clock-reused" in stamp_again)
        self.receipts += answer["results"]
        self.token = answer["syncToken"]
        self.digest = answer.get("digest")
        if push.relayed:
            self.relays.pop(0)
        if not answer["hasMore"] and not self.has_unsent and not self.before:
            self.last_sync = self.clock.wall()
            self.started_over = False

    def take_results(self, push: Push, results: dict[str, dict]) -> set[str]:
        """What was acknowledged goes into the copy, what was refused to the shelf; which stamps must be made again."""
        again: set[str] = set()
        for unique_id in {unique_id for unique_id, _ in push.edits} | set(push.fixed):
            if (results[unique_id].get("problem") or {}).get("slug") == "quota-exceeded":
                self.hold(push, unique_id)
        for unique_id, deletion in push.deletions.items():
            result = results[unique_id]
            self.deletions.pop(unique_id, None)
            if result["status"] == "rejected":
                self.shelf.append({"uniqueID": unique_id, "deletion": deletion, "problem": result.get("problem")})
            else:
                named = ("uniqueID", "objectType", "mergedInto", "rescuedInto", "deletionDate")
                self.copy.fold_deleted({name: deletion[name] for name in named if name in deletion})
        for unique_id, (kind, fixed) in push.fixed.items():
            result = results[unique_id]
            if result["status"] == "deleted":
                continue
            if result.get("problem"):
                if result["problem"]["slug"] not in (*STAMP_AGAIN, "quota-exceeded"):
                    self.shelf.append({"uniqueID": unique_id, "fixed": fixed, "problem": result["problem"]})
                    self.new.pop(unique_id, None)
                continue
            self.new.pop(unique_id, None)
            self.copy.fold_entity(Entity(kind, unique_id, dict(fixed)))
        for (unique_id, attribute), sent in push.edits.items():
            result = results[unique_id]
            if result["status"] == "deleted":
                continue  # The DeletedObject in this answer rescues the words.
            field = result.get("fields", {}).get(attribute, {})
            problem = field.get("problem") if field.get("outcome") == "rejected" else result.get("problem")
            if problem and problem["slug"] in STAMP_AGAIN:
                again.add(problem["slug"])
                if attribute == "text" and not push.relayed:
                    self.take_answered(unique_id, sent, problem)
                continue
            if problem and problem["slug"] == "quota-exceeded":
                if attribute == "text":
                    self.take_answered(unique_id, sent, problem)
                continue
            if problem:
                self.shelf.append(
                    {"uniqueID": unique_id, "attribute": attribute, "value": sent.value, "problem": problem}
                )
            else:
                self.clock.observe(sent.clock)
                self.copy.fold_entity(Entity(sent.type, unique_id, {}, {attribute: (sent.value, sent.clock)}))
            now = self.unsent.get((unique_id, attribute))
            is_first_answer = attribute == "text" and not push.relayed and self.take_answered(unique_id, sent, problem)
            if now and now.clock == sent.clock:
                del self.unsent[unique_id, attribute]
            elif now and is_first_answer and not problem:
                # Typed on while it was in flight: what is here descends from what was acknowledged just now.
                now.base, now.base_value, now.moved = sent.clock, sent.value, False
        return again

    def hold(self, push: Push, unique_id: str) -> None:
        """Keeps an element unsent that is over the quota. What may be small of it is sent again, without the rest."""
        edits = {attribute: edit for (one, attribute), edit in push.edits.items() if one == unique_id}
        if push.relayed:
            # What another device made, and a restored server lacks, waits like an edit of this one.
            for attribute, edit in edits.items():
                self.unsent.setdefault((unique_id, attribute), edit)
            if unique_id in push.fixed:
                self.new.setdefault(unique_id, push.fixed[unique_id])
        strings = {attribute for attribute, edit in edits.items() if isinstance(edit.value, str)}
        large = {attribute for attribute in strings if attribute == "text" or attribute.startswith("attributes.")}
        if unique_id in push.fixed or not large:
            self.held |= {(unique_id, ""), *((unique_id, attribute) for attribute in edits)}
        else:
            self.held |= {(unique_id, attribute) for attribute in large}

    def take_answered(self, note: str, sent: Unsent, problem: dict | None) -> bool:
        """A text was answered, and with it those that it named, unless it was refused; False if it was before."""
        texts = self.unanswered.get(note, [])
        if sent.clock not in (text.clock for text in texts):
            return False
        answered = {sent.clock} if problem else {sent.clock, *sent.after}
        self.unanswered[note] = [text for text in texts if text.clock not in answered]
        if not self.unanswered[note]:
            del self.unanswered[note]
        return True

    def take_entity(self, incoming: Entity) -> None:
        for _, clock in incoming.registers.values():
            self.clock.observe(clock)
        self.copy.fold_entity(incoming)

    def take_deleted(self, incoming: dict) -> None:
        """A DeletedObject removes the object; words of a note that are unsent go where the others of it went."""
        unique_id = incoming["uniqueID"]
        text = self.unsent.get((unique_id, "text")) if unique_id not in self.deletions else None
        unanswered = self.unanswered.get(unique_id, [])
        if text and not incoming.get("rescuedInto"):
            self.rescue(unique_id, text.value)
        self.copy.fold_deleted(incoming)
        self.deletions.pop(unique_id, None)
        self.forget(unique_id)
        if text and incoming.get("rescuedInto"):
            self.move(text, unanswered, unique_id, incoming["rescuedInto"])

    def move(self, text: Unsent, unanswered: list[Unsent], out_of: str, into: str) -> None:
        """Words that the server had not got when it made a new note of the others of a deleted one."""
        self.moved[out_of] = into
        self.unsent[into, "text"] = replace(text, clock=self.clock.tick(), moved=True)
        if unanswered:
            self.unanswered[into] = [replace(sent, moved=True) for sent in unanswered]
        if into in self.copy.deleted:
            self.take_deleted(self.copy.deleted[into])  # and then that one was deleted

    def rescue(self, unique_id: str, text: str) -> None:
        """The new note's ID comes from the deleted one's and the text: two that rescue the same words make one."""
        view = self.before or self.view
        before = view.objects.get(unique_id) or self.view.objects.get(unique_id) or Entity("note", unique_id)
        rescued = str(uuid.uuid5(uuid.UUID(unique_id), text))
        if rescued in self.copy.objects or rescued in self.copy.deleted or rescued in self.new:
            return
        self.make(
            "note", rescued, {"creationDate": before.fixed.get("creationDate", clocks.date(self.clock.now))}, text=text
        )
        for kind in ("attachments", "tags"):
            for member in view.members(before, kind):
                self.edit(rescued, f"{kind}.{member}", True)
        self.rescued[unique_id] = rescued

    def stamp_again(self, reused: bool) -> None:
        """A clock was refused: back to one that the server knows, then every unsent edit anew, in its order."""
        if reused:
            self.sign_in_again()  # two copies of this device exist: this one becomes a device of its own
        self.stamped_again += 1
        if self.stamped_again > 5:
            raise RuntimeError("the server refuses every clock")
        self.clock.set_back()
        for edit in sorted(self.unsent.values(), key=lambda edit: edit.clock):
            edit.clock = self.clock.tick()

    def sign_in_again(self) -> None:
        """Its token does not hold any more. What is unsent and unanswered stays as it is, under the former node."""
        self.client.sign_in(self.client.email, self.client.password, device_name="again")
        self.clock.node = self.client.device["uniqueID"]

    def start_over(self) -> None:
        """The server was restored: read it all again, give back what it lacks (protocol.md, Restored servers)."""
        self.before, self.copy = self.before or self.copy, LocalCopy()
        self.token, self.started_over = None, True

    def read_again(self) -> None:
        """Reads to the end; then what the server lacks goes out first."""
        for _ in range(10_000):
            nothing = Push({}, {}, {}, self.token)
            answer = self.send(nothing)
            self.receive(nothing, answer)
            if not answer["hasMore"]:
                break
        # What was to be given back before, when it was told to start over once more, still is.
        self.relays = what_it_lacks(self.before, self.copy) + self.relays
        self.before = None
