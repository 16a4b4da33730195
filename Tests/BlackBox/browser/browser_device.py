"""A web app in a browser with the interface of Device, so that the same tests run on it. It is offline except during sync."""

import base64
from typing import Any

from app import App
from client import Client
from local_copy import Entity, LocalCopy

# Reads the browser's IndexedDB directly, independently of the app.
READ_DATABASE = """async names => {
  const database = await new Promise((done, fail) => {
    const request = indexedDB.open("hesper")
    request.onsuccess = () => done(request.result)
    request.onerror = () => fail(request.error)
  })
  const read = name => new Promise((done, fail) => {
    const store = database.transaction(name).objectStore(name)
    const values = store.getAll(), keys = store.getAllKeys()
    keys.onsuccess = () => done(values.result.map((value, index) => [keys.result[index], value]))
    keys.onerror = () => fail(keys.error)
  })
  const found = {}
  for (const name of names) found[name] = await read(name)
  database.close()
  return found
}"""
CHANGE_RECORD = """([store, key, change]) => new Promise((done, fail) => {
  const request = indexedDB.open("hesper")
  request.onerror = () => fail(request.error)
  request.onsuccess = () => {
    const writing = request.result.transaction(store, "readwrite"), records = writing.objectStore(store)
    const reading = records.get(key)
    reading.onsuccess = () => records.put({...reading.result, ...change}, ...records.keyPath ? [] : [key])
    writing.oncomplete = () => { request.result.close(); done() }
    writing.onerror = () => fail(writing.error)
  }
})"""
# A wall clock with an offset of `wallOffset` milliseconds, which a test can change.
MOVED_CLOCK = """
window.wallOffset ??= %d
{
  const { now } = Date, clock = () => now() + window.wallOffset
  window.Date = class extends Date {
    constructor(...parts) { parts.length ? super(...parts) : super(clock()) }
    static now() { return clock() }
  }
}"""


class BrowserClock:
    """The device's clock, as stored in IndexedDB."""

    def __init__(self, app: App):
        self.app = app

    @property
    def greatest(self) -> str:
        return meta(self.app, "clock").get("greatest", "")

    @greatest.setter
    def greatest(self, clock: str) -> None:
        self.app.page.evaluate(CHANGE_RECORD, ["meta", "clock", {"greatest": clock}])


def meta(app: App, name: str) -> dict:
    found = app.page.evaluate(READ_DATABASE, ["meta"])["meta"]
    return dict(found).get(name) or {}


class BrowserDevice:
    """`client` is another device of the account, for requests to the server."""

    repaired = 0
    reported_identical = False

    def __init__(self, app: App, client: Client):
        self.app, self.client = app, client
        self.clock = BrowserClock(app)
        app.go_offline()

    # Writing

    def make_note(self, text: str, unique_id: str | None = None, tags: list[str] = (), **attributes: Any) -> str:
        return self.app.run(
            "return await copy.createNote(argument)",
            {"text": text, "tags": list(tags), "attributes": attributes} | ({"uniqueID": unique_id} if unique_id else {}),
        )

    def make_tag(self, name: str) -> str:
        return self.app.run("return await copy.createTag(argument)", name)

    def write(self, note: str, text: str) -> str:
        """Edits a text from its current version, as the editor does. Returns the clock of the edit."""
        return self.app.run(
            "const [id, text] = argument, note = copy.note(id); "
            "return await copy.write(id, text, {clock: note.textClock, value: note.text})",
            [note, text],
        )

    def edit(self, unique_id: str, attribute: str, value: Any) -> None:
        kind, _, name = attribute.partition(".")
        calls = {
            "attributes": "copy.setAttribute(id, name, value)",
            "tags": "value ? copy.addTag(id, name) : copy.removeTag(id, name)",
            "attachments": "value ? copy.reattach(id, name) : copy.detach(id, name)",
            "archived": "copy.setArchived([id], value)",
            "sortDate": "copy.setSortDate(id, value)",
            "name": "copy.renameTag(id, value)",
        }
        self.app.run(f"const [id, name, value] = argument; await ({calls[kind]})", [unique_id, name, value])

    def archive(self, note: str, archived: bool = True) -> None:
        self.edit(note, "archived", archived)

    def tag(self, note: str, tag: str) -> None:
        self.edit(note, f"tags.{tag}", True)

    def untag(self, note: str, tag: str) -> str:
        """Removes a tag. Returns the clock of the edit."""
        self.edit(note, f"tags.{tag}", False)
        return self.clock.greatest

    def rename(self, tag: str, name: str) -> None:
        self.edit(tag, "name", name)

    def delete(self, unique_id: str) -> None:
        """Deletes without waiting until the deletion can no longer be undone."""
        self.app.run("await copy.remove(argument)", unique_id)
        self.app.page.evaluate(CHANGE_RECORD, ["deletions", unique_id, {"heldUntil": 1}])

    def attach(self, note: str, data: bytes, mime_type: str, filename: str) -> str:
        return self.app.run(
            """const [note, data, mimeType, filename] = argument
            const bytes = Uint8Array.from(atob(data), letter => letter.charCodeAt(0))
            return await copy.attach(note, new Blob([bytes], {type: mimeType}), {mimeType, filename})""",
            [note, base64.b64encode(data).decode(), mime_type, filename],
        )

    def forget_base(self, note: str, clock: str) -> None:
        """Replaces the base of the unsent text by an unknown clock."""
        self.app.page.evaluate(CHANGE_RECORD, ["unsent", [note, "text"], {"base": clock, "baseValue": None}])

    def set_wall(self, offset: int) -> None:
        """Sets the offset of the wall clock in milliseconds."""
        self.app.page.evaluate("offset => { window.wallOffset = offset }", offset)

    # Reading

    @property
    def view(self) -> LocalCopy:
        """The copy on disk with unsent changes applied, as Device.view."""
        view = self.copy
        found = self.app.page.evaluate(READ_DATABASE, ["made", "unsent", "deletions"])
        for unique_id, made in found["made"]:
            view.fold_entity(Entity(made["type"], unique_id, dict(made["fixed"])))
        for (unique_id, attribute), edit in found["unsent"]:
            if unique_id not in view.deleted:
                view.entity(edit["type"], unique_id).registers[attribute] = (edit["value"], edit["clock"])
        for unique_id, deletion in found["deletions"]:
            view.fold_deleted({"uniqueID": unique_id, "objectType": deletion["objectType"]})
        return view

    @property
    def copy(self) -> LocalCopy:
        """What the server acknowledged or sent, from IndexedDB."""
        found = self.app.page.evaluate(READ_DATABASE, ["objects", "deleted"])
        copy = LocalCopy()
        for record in (record for _, pack in found["objects"] for record in pack["objects"]):
            entity = copy.entity(record["type"], record["uniqueID"])
            entity.fixed = dict(record["fixed"])
            entity.registers = {name: (value, clock) for name, (value, clock) in record["registers"].items()}
        for unique_id, deleted in found["deleted"]:
            copy.deleted[unique_id] = deleted
        return copy

    def note(self, unique_id: str) -> dict | None:
        """A note as the app shows it, or None."""
        return self.app.run(
            """const note = copy.note(argument)
            if (!note) return null
            const {uniqueID, creationDate, text, archived, sortDate, tags, attachments, attributes} = note
            return {uniqueID, creationDate, text, archived, sortDate, tags, attachments, attributes}""",
            unique_id,
        )

    def text(self, note: str) -> str | None:
        return (self.note(note) or {}).get("text")

    @property
    def notes(self) -> dict[str, dict]:
        ids = self.app.run("return copy.notes({archived: null})")
        return {unique_id: self.note(unique_id) for unique_id in ids}

    @property
    def tags(self) -> dict[str, str]:
        return self.app.run("return Object.fromEntries(copy.tags().map(tag => [tag.uniqueID, tag.name]))")

    @property
    def rejected(self) -> list[dict]:
        """The changes that the server rejected."""
        return self.app.run("return copy.shelf()")

    @property
    def rescued(self) -> dict[str, str]:
        """Deleted note: the note that received its unsent text."""
        notices = self.app.run("return copy.notices()")
        return {notice["uniqueID"]: notice["into"] for notice in notices if notice["kind"] == "rescued"}

    # Syncing

    @property
    def has_unsent(self) -> bool:
        found = self.app.page.evaluate(READ_DATABASE, ["made", "unsent", "deletions", "relays"])
        self.unsent, self.new, self.deletions, _ = found.values()
        return any(found.values())

    @property
    def digest(self) -> str:
        """The scope's digest in the latest response of the server."""
        return meta(self.app, "sync").get("serverDigest")

    @property
    def is_synced(self) -> bool:
        """Whether all is synced according to the disk, the stored digest, and the app's status."""
        kept = meta(self.app, "sync")
        return not self.has_unsent and self.copy.digest == self.digest == kept["digest"] and self.reported_identical

    def sync(self, lose_response: bool = False) -> None:
        """Goes online until everything is sent and read. `lose_response`: the push arrives, but its response is lost."""
        if lose_response:
            return self._lose_response()
        before = self.app.run("return Date.now()")
        self.app.go_online()
        self.app.run("engine.syncNow()")
        self.app.wait_for(
            "engine.status.phase === 'synced' && engine.status.lastSync >= argument && copy.unsentCount() === 0",
            before, seconds=30,
        )  # fmt: skip
        # The status must be read before going offline, because then the app no longer claims to be identical.
        self.reported_identical = self.app.run("return engine.status.identical")
        self.app.go_offline()

    def _lose_response(self) -> None:
        lost: list[int] = []

        def lose(route) -> None:
            if '"changes"' in (route.request.post_data or ""):
                lost.append(route.fetch().status)
            route.abort("connectionreset")

        page = self.app.page
        page.route("**/v1/events*", lambda route: route.abort())
        page.route("**/v1/sync", lose)
        self.app.go_online()
        # A request that began offline fails, and the engine then waits before it tries again.
        for attempt in range(600):
            if lost:
                break
            if attempt % 40 == 0:
                self.app.run("engine.syncNow()")
            page.wait_for_timeout(50)
        self.app.go_offline()
        page.unroute_all(behavior="wait")
        assert set(lost) == {200}, "no push arrived"  # the push may have been repeated
