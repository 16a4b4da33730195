"""IDs of another account behave exactly like unknown IDs, on every route of openapi.yaml.

Two accounts, the twins, send the same requests, except that one uses names of a third account, the stranger, and the
other names that do not exist. Their responses must be identical except for names, clocks and tokens. The stranger's data
does not change. Every location of the contract that can hold an ID, a clock, a token or a cursor must be in a probe.
"""

import base64
import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import contract_document
import pytest
from attachments import attach, data_path, digest
from client import PASSWORD, Client
from rows import filled
from writer import Writer, deleted, new_id

pytestmark = [pytest.mark.both_stores, pytest.mark.thorough_on_postgresql, pytest.mark.long]

# Strings that do not identify anything. All other strings of the contract, except dates, must be in a probe.
PLAIN = {
    "text", "textBaseValue", "name", "scopes", "tagNames", "objectType", "objectTypes", "mimeType", "filename", "preview", "sha256",
    "currentPassword", "newPassword", "password", "url", "events", "q", "sort", "order", "closeAfter", "Range", "Upload-Complete",
    "/changes/notes/*/clocks/attributes/{}",
    "/changes/tags/*/clocks/attributes/{}", "/changes/objects/*/clocks/attributes/{}",
    # Texts and files of objects have names that an app chose. The IDs in `files` are probed below, although they have no type.
    "texts", "textBaseValues", "/texts/{}", "/files/{}", "/deletedObjects/*/textsSeen/{}", "/deletedObjects/*/textsAfter/{}",
    "/changes/deletedObjects/*/textsSeen/{}", "/changes/deletedObjects/*/textsAfter/{}",
    *(f"/changes/objects/*/{name}/{{}}" for name in (
        "texts", "files", "textBases", "textsAfter", "textBaseValues", "clocks/texts", "clocks/files")),
}  # fmt: skip
# Objects whose members have names that an app chose.
MAPS = ("clocks/attributes", "clocks/texts", "clocks/files", "textBases", "textsAfter", "textsSeen")
NAMES_THE_STRANGER = re.compile(r"\{(id|device|clock|key|token_\w+|cursor_\w+|prefix|etag|digest)\}")


@dataclass
class Probe:
    """A request. `{id}` etc. are the stranger's for one twin and unknown for the other. `{own…}` are the twins' own."""

    operation: str
    path: dict = field(default_factory=dict)
    query: dict = field(default_factory=dict)
    headers: dict = field(default_factory=dict)
    body: Any = None
    status: tuple = (200,)  # the possible values, to detect probes refused for another reason

    @property
    def changes_nothing(self) -> bool:
        return min(self.status) >= 400 or self.operation.startswith(("get", "head", "list", "search"))

    def __str__(self) -> str:
        parts = {"path": self.path, "query": self.query, "headers": self.headers, "body": self.body}
        return f"{self.operation} " + " ".join(f"{name} {value}" for name, value in parts.items() if value)


DATE = "2024-01-02T03:04:05.678Z"
ID = {"uniqueID": "{id}"}
OWN = {"uniqueID": "{own}"}


def pushed(section: str, *elements: dict) -> Probe:
    return Probe("sync", body={"syncToken": "{since}", "changes": {section: list(elements)}})


PROBES = [
    # Single objects
    *[
        probe
        for kind, made in (("Note", {"text": "x", "creationDate": DATE}), ("Tag", {"name": "{name}"}), ("Object", {}))
        for new in (made | {"objectType": "board"} if kind == "Object" else made,)
        for probe in (
            Probe(f"get{kind}", ID, status=(404,)),
            Probe(f"get{kind}", ID, headers={"If-None-Match": "{etag}"}, status=(404,)),
            Probe(f"get{kind}", ID, headers={"If-None-Match": "*"}, status=(404,)),
            Probe(f"patch{kind}", ID, body={"attributes": {"a": 1}}, status=(404,)),
            Probe(f"patch{kind}", ID, headers={"If-Match": "{etag}"}, body={}, status=(404, 412)),
            Probe(f"patch{kind}", ID, headers={"If-Match": "*"}, body={}, status=(404, 412)),
            Probe(f"delete{kind}", ID, status=(404,)),
            Probe(f"delete{kind}", ID, headers={"If-Match": "{etag}"}, status=(404,)),
            Probe(f"put{kind}", ID, body=new, status=(201,)),
            Probe(f"put{kind}", ID, body=new | ID, status=(201,)),
            Probe(f"put{kind}", {"uniqueID": "{free}"}, body=new | ID, status=(422,)),
            Probe(f"put{kind}", ID, headers={"If-Match": "{etag}"}, body=new, status=(412,)),
            Probe(f"put{kind}", ID, headers={"If-None-Match": "*"}, body=new, status=(201,)),
            Probe(f"put{kind}", ID, headers={"If-None-Match": "{etag}"}, body=new, status=(201,)),
            Probe(f"create{kind}", body=new | ID, status=(201,)),
            Probe(f"create{kind}", headers={"Idempotency-Key": "{key}"}, body=new | {"uniqueID": "{free}"}, status=(201,)),
        )
    ],
    # Attachments, their bytes, and uploads
    Probe("getAttachment", ID, status=(404,)),
    Probe("getAttachment", ID, headers={"If-None-Match": "{etag}"}, status=(404,)),
    Probe("putAttachment", ID, body={"mimeType": "a/b"}, status=(409,)),
    Probe("putAttachment", ID, body={"mimeType": "a/b"} | ID, status=(409,)),
    Probe("putAttachment", ID, headers={"If-Match": "{etag}"}, body={"mimeType": "a/b"}, status=(412,)),
    Probe("putAttachment", ID, headers={"If-None-Match": "{etag}"}, body={"mimeType": "a/b"}, status=(409,)),
    Probe("deleteAttachment", ID, status=(404,)),
    Probe("deleteAttachment", ID, headers={"If-Match": "{etag}"}, status=(404,)),
    Probe("getAttachmentData", ID, status=(404,)),
    Probe("getAttachmentData", ID, headers={"If-Match": "{etag}"}, status=(404,)),
    Probe("getAttachmentData", ID, headers={"If-None-Match": "{etag}"}, status=(404,)),
    Probe("getAttachmentData", ID, headers={"Range": "bytes=0-9", "If-Range": "{etag}"}, status=(404,)),
    Probe("headAttachmentData", ID, status=(404,)),
    Probe("headAttachmentData", ID, headers={"If-Match": "{etag}"}, status=(404,)),
    Probe("headAttachmentData", ID, headers={"If-None-Match": "{etag}"}, status=(404,)),
    Probe("putAttachmentData", ID, status=(201,)),
    Probe("putAttachmentData", ID, headers={"Repr-Digest": "{digest}"}, status=(422,)),
    Probe("putAttachmentData", ID, headers={"Content-Digest": "{digest}"}, status=(422,)),
    Probe("headUpload", ID, status=(404,)),
    Probe("appendToUpload", ID, headers={"Upload-Offset": "0", "Upload-Complete": "?1",
                                         "Content-Type": "application/partial-upload",
                                         "Content-Digest": "{digest}"}, status=(404,)),
    Probe("deleteUpload", ID, status=(404,)),
    # Imports
    Probe("getImport", ID, status=(404,)),
    Probe("deleteImport", ID, status=(404,)),
    Probe("startImport", ID, status=(404,)),
    Probe("headImportData", ID, status=(404,)),
    Probe("appendToImport", ID, headers={"Upload-Offset": "0", "Upload-Complete": "?1",
                                         "Content-Type": "application/partial-upload",
                                         "Content-Digest": "{digest}"}, status=(404,)),
    Probe("listAttachments", query={"since": "{token_attachments}"}, status=(410,)),
    Probe("listEdits", ID, status=(404,)),
    Probe("listEdits", OWN, {"cursor": "{cursor_edits}"}),
    Probe("listObjectEdits", ID, status=(404,)),
    Probe("listObjectEdits", ID, {"cursor": "{cursor_edits}"}, status=(404,)),
    Probe("renameDevice", {"uniqueID": "{device}"}, body={"name": "mine"}, status=(404,)),
    Probe("signOut", {"uniqueID": "{device}"}, status=(404,)),
    Probe("revokeToken", {"uniqueID": "{device}"}, status=(404,)),
    Probe(
        "createToken", body={"name": "script", "scopes": ["read"], "tag": "{id}", "currentPassword": PASSWORD}, status=(422,)
    ),
    Probe("getWebhook", ID, status=(404,)),
    Probe("patchWebhook", ID, body={"paused": False}, status=(404,)),
    Probe("deleteWebhook", ID, status=(404,)),
    Probe("listWebhookDeliveries", ID, status=(404,)),
    Probe("testWebhook", ID, status=(404,)),
    Probe("replayWebhookDelivery", ID, body={"delivery": "{key}"}, status=(404,)),
    Probe("createWebhook", body={"url": "https://example.org/", "events": ["note.created"], "tag": "{id}"}, status=(422,)),
    Probe("revokeDevice", {"uniqueID": "{device}"}, body={}, status=(404,)),
    Probe("getRevocation", {"uniqueID": "{device}"}, {"cursor": "{cursor_deleted}"}, status=(404,)),
    Probe("appendToNote", ID, body={"text": "x"}, status=(404,)),
    Probe("prependToNote", ID, body={"text": "x"}, status=(404,)),
    Probe("appendToNote", OWN, headers={"Idempotency-Key": "{key}"}, body={"text": "x"}),
    Probe("prependToNote", OWN, headers={"Idempotency-Key": "{key}"}, body={"text": "x"}),
    # A note's members
    Probe("createNote", body={"uniqueID": "{free}", "tags": ["{id}"]}, status=(422,)),
    Probe("createNote", body={"uniqueID": "{free}", "attachments": ["{id}"]}, status=(422,)),
    Probe("putNote", OWN, body={"tags": ["{own_tag}", "{id}"]}, status=(422,)),
    Probe("putNote", OWN, body={"attachments": ["{id}"]}, status=(422,)),
    Probe("patchNote", OWN, body={"tags": ["{id}", "{own_tag}"]}, status=(422,)),
    Probe("patchNote", OWN, body={"attachments": ["{id}"]}, status=(422,)),
    # Lists and feeds
    Probe("listDevices", query={"cursor": "{device}"}),
    Probe("listRecentlyDeleted", query={"cursor": "{cursor_deleted}"}),
    Probe("search", query={"tag": "{id}"}),
    Probe("search", query={"q": "{word}"}),
    Probe("search", query={"cursor": "{cursor_search}"}),
    Probe("getDigests", query={"prefix": "{prefix}"}),
    Probe("listChanges", query={"since": "{token_changes}"}, status=(410,)),
    Probe("listenToEvents", query={"since": "{token_changes}"}),
    Probe("listenToEvents", headers={"Last-Event-ID": "{token_changes}"}),
    Probe("sendEphemeral", body=ID | {"data": {}}),
    Probe("listNotes", query={"since": "{token_notes}"}, status=(410,)),
    Probe("listNotes", query={"sort": "sortDate", "tag": "{id}"}),
    Probe("listNotes", query={"sort": "sortDate", "cursor": "{cursor_search}"}),
    Probe("listTags", query={"since": "{token_tags}"}, status=(410,)),
    Probe("listTags", query={"name": "{name}"}),
    Probe("listObjects", query={"since": "{token_objects}"}, status=(410,)),
    Probe("listDeletedObjects", query={"since": "{token_deleted}"}, status=(410,)),
    # DeletedObjects
    Probe("uploadDeletedObjects", query={"since": "{token_deleted}"}, body={"deletedObjects": []}, status=(410,)),
    Probe("uploadDeletedObjects", body={"deletedObjects": [{"uniqueID": "{id}", "objectType": "note"}]}),
    Probe("uploadDeletedObjects", body={"deletedObjects": [
        {"uniqueID": "{own_tag}", "objectType": "tag", "mergedInto": "{id}"}]}),
    Probe("uploadDeletedObjects", body={"deletedObjects": [
        {"uniqueID": "{own}", "objectType": "note", "textSeen": "{clock}", "textAfter": ["{clock}"]}]}),
    Probe("uploadDeletedObjects", body={"deletedObjects": [
        {"uniqueID": "{own}", "objectType": "note", "rescuedInto": "{id}"}]}),
    Probe("uploadDeletedObjects", body={"deletedObjects": [
        {"uniqueID": "{free}", "objectType": "board", "textsSeen": {"a": "{clock}"}, "textsAfter": {"a": ["{clock}"]}}]}),
    pushed("deletedObjects", {"uniqueID": "{free}", "objectType": "board", "textsSeen": {"a": "{clock}"},
                              "textsAfter": {"a": ["{clock}"]}}),
    pushed("deletedObjects", {"uniqueID": "{id}", "objectType": "tag"}),
    pushed("deletedObjects", {"uniqueID": "{id}", "objectType": "tag", "mergedInto": "{own_tag}"}),
    pushed("deletedObjects", {"uniqueID": "{own_tag}", "objectType": "tag", "mergedInto": "{id}"}),
    pushed("deletedObjects", {"uniqueID": "{own}", "objectType": "note", "textSeen": "{clock}", "textAfter": ["{clock}"]}),
    pushed("deletedObjects", {"uniqueID": "{own}", "objectType": "note", "rescuedInto": "{id}"}),
    # Pushes
    Probe("sync", body={"syncToken": "{token_changes}"}, status=(410,)),
    pushed("notes", {"uniqueID": "{id}", "creationDate": DATE, "text": "x", "clocks": {"text": "{stamp}"}}),
    pushed("notes", {"uniqueID": "{id}", "text": "early", "clocks": {"text": "{stamp}"}}),
    pushed("notes", {"uniqueID": "{id}", "creationDate": DATE, "text": "x", "clocks": {"text": "{clock}"}}),
    pushed("notes", {"uniqueID": "{id}", "creationDate": DATE, "text": "x", "textBase": "{clock}",
                     "textBaseValue": "w", "clocks": {"text": "{stamp}"}}),
    pushed("notes", {"uniqueID": "{id}", "creationDate": DATE, "text": "x\nthree", "clocks": {"text": "{stamp}"}},
           {"uniqueID": "{id}", "text": "other\nx", "textBase": "{clock}", "clocks": {"text": "{later}"}}),
    pushed("notes", {"uniqueID": "{own}", "text": "mine\nthree", "textBase": "{clock}", "clocks": {"text": "{later}"}}),
    pushed("notes", {"uniqueID": "{own}", "text": "mine\nthree", "textBase": "{clock}", "textAfter": ["{clock}"],
                     "clocks": {"text": "{later}"}}),
    pushed("notes", {"uniqueID": "{own}", "archived": True, "sortDate": DATE, "tags": ["{own_tag}"],
                     "attributes": {"a": 1}, "clocks": {"archived": "{clock}", "sortDate": "{clock}",
                     "tags": {"{own_tag}": "{clock}"}, "attachments": {"{free}": "{clock}"},
                     "attributes": {"a": "{clock}"}}}),
    pushed("notes", {"uniqueID": "{own}", "tags": ["{id}"], "attachments": ["{id}"],
                     "clocks": {"tags": {"{id}": "{stamp}"}, "attachments": {"{id}": "{stamp}"}}}),
    pushed("notes", {"uniqueID": "{own}", "clocks": {"tags": {"{id}": "{stamp}"}}}),
    pushed("tags", {"uniqueID": "{id}", "name": "{name}", "clocks": {"name": "{stamp}"}}),
    pushed("tags", {"uniqueID": "{free}", "name": "{name}", "clocks": {"name": "{clock}"}}),
    pushed("tags", {"uniqueID": "{id}", "attributes": {"a": 1}, "clocks": {"attributes": {"a": "{clock}"}}}),
    pushed("objects", {"uniqueID": "{id}", "objectType": "card", "attributes": {"a": 1},
                       "clocks": {"attributes": {"a": "{clock}"}}}),
    pushed("objects", {"uniqueID": "{free}", "objectType": "card", "texts": {"a": "x"}, "files": {"a": "{id}"},
                       "textBases": {"a": "{clock}"}, "textsAfter": {"a": ["{clock}"]}, "textBaseValues": {"a": "w"},
                       "clocks": {"texts": {"a": "{clock}"}, "files": {"a": "{clock}"}}}),
    Probe("putObject", {"uniqueID": "{free}"}, body={"objectType": "card", "files": {"a": "{id}"}}, status=(201,)),
    pushed("attachments", {"uniqueID": "{id}", "mimeType": "image/png", "sha256": "0" * 64}),
]  # fmt: skip


# Locations in the contract that can hold an ID


def strings(document, schema, pointer: str) -> Iterator[str]:
    """Yields the location of every string in a schema. List elements are `*`, keys of maps `{}`, and their values `*`."""
    schema = contract_document.resolve(document, schema)
    if schema.get("type") == "string" and schema.get("format") not in ("date-time", "binary"):
        yield pointer
    for name, inner in schema.get("properties", {}).items():
        yield from strings(document, inner, f"{pointer}/{name}")
    if "items" in schema:
        yield from strings(document, schema["items"], f"{pointer}/*")
    if isinstance(schema.get("additionalProperties"), dict):
        yield f"{pointer}/{{}}"
        yield from strings(document, schema["additionalProperties"], f"{pointer}/*")


def locations(document) -> set[tuple[str, str]]:
    """(operationId, location) of every string that might identify an object of another account."""
    found = set()
    for _, _, operation, parameters in contract_document.operations(document):
        if operation.get("security") == []:
            continue  # no authentication
        for parameter in parameters:
            for location in strings(document, parameter["schema"], f"{parameter['in']} {parameter['name']}"):
                found.add((operation["operationId"], location))
        for entry in operation.get("requestBody", {}).get("content", {}).values():
            for location in strings(document, entry["schema"], ""):
                found.add((operation["operationId"], location))
    return found


def probed(probe: Probe) -> Iterator[tuple[str, str]]:
    """Yields the locations in which a probe uses a name of the stranger."""

    def walk(value: Any, pointer: str) -> Iterator[str]:
        match value:
            case str() if NAMES_THE_STRANGER.search(value):
                yield pointer
            case list():
                for each in value:
                    yield from walk(each, f"{pointer}/*")
            case dict():
                for name, each in value.items():
                    is_key = "{" in name
                    if is_key and NAMES_THE_STRANGER.search(name):
                        yield f"{pointer}/{{}}"
                    is_map = is_key or pointer.endswith(MAPS)
                    yield from walk(each, f"{pointer}/*" if is_map else f"{pointer}/{name}")

    for where, values in (("path", probe.path), ("query", probe.query), ("header", probe.headers)):
        for name, value in values.items():
            for _ in walk(value, ""):
                yield probe.operation, f"{where} {name}"
    for location in walk(probe.body, ""):
        yield probe.operation, location


@pytest.fixture(scope="module")
def document():
    return contract_document.load()


def test_every_location_of_the_contract_is_probed(document):
    """A new route, parameter or field needs a probe or an entry in PLAIN."""
    wanted = {
        (operation, location)
        for operation, location in locations(document)
        if location not in PLAIN and re.split("[ /]", location.removesuffix("/*"))[-1] not in PLAIN
    }
    assert len(wanted) > 60  # fewer would mean that the contract was not parsed
    assert wanted - {each for probe in PROBES for each in probed(probe)} == set()


def test_every_probe_is_in_the_contract(document):
    known = locations(document) | {(name, path) for name, path in (
        ("sync", "/changes/objects/*/files/a"), ("putObject", "/files/a"))}  # fmt: skip
    assert {each for probe in PROBES for each in probed(probe)} - known == set()


# The accounts


@dataclass
class Stranger:
    """An account that has one object of every kind."""

    writer: Writer
    kinds: dict[str, str] = field(default_factory=dict)
    begun: dict[str, str] = field(default_factory=dict)
    seen: tuple | None = None  # the content after the last probe, until a probe may have changed it
    names: dict[str, str] = field(default_factory=dict)  # of the last objects, until a probe may have used their IDs in a write

    def names_for(self, probe: Probe) -> dict[str, str]:
        """The names of objects of every kind. Probes that change nothing share them."""
        names = self.names or self.create_objects()
        self.names = names if probe.changes_nothing else {}
        return dict(names)

    def create_objects(self) -> dict[str, str]:
        """Creates objects of every kind. Returns the names that refer to them."""
        writer, client = self.writer, self.writer.client
        kinds = ("note", "tag", "board", "deleted note", "deleted tag", "merged tag", "waiting note", "waiting tombstone",
                 "attachment", "deleted attachment", "upload", "import")
        self.kinds = ids = {kind: new_id() for kind in kinds}
        name, word = secrets.token_hex(8), "w" + secrets.token_hex(8)
        ids["merged tag"] = "f" + ids["merged tag"][1:]  # the smaller ID survives
        ids["tag"] = "0" + ids["tag"][1:]
        note = writer.note(ids["note"], text=f"{word} theirs\nthree", tags={ids["tag"]: True}, attributes={"a": 1})
        others = [writer.note(text="more") for _ in range(2)]
        writer.push(
            notes=[note, writer.note(ids["deleted note"], text="gone"), writer.edit(ids["waiting note"], text="waits"),
                   *others],
            tags=[writer.tag(name, ids["tag"]), writer.tag(name.upper(), ids["merged tag"]),
                  writer.tag(name + "gone", ids["deleted tag"])],
            objects=[writer.thing("board", ids["board"], a=1)],
        )  # fmt: skip
        self.token = writer.push(deletedObjects=[
            deleted(ids["deleted note"]), deleted(others[0]["uniqueID"]), deleted(ids["deleted tag"], "tag"),
            deleted(ids["waiting tombstone"], "attachment")])["syncToken"]  # fmt: skip
        client.patch(f"/v1/notes/{ids['note']}", {"archived": True})
        data = secrets.token_bytes(100)
        ids["attachment"], ids["deleted attachment"] = attach(client, data), attach(client, data)
        assert client.delete(f"/v1/attachments/{ids['deleted attachment']}").status_code == 200
        if "upload" in self.begun:  # because the number of open uploads is limited
            client.delete(self.begun["upload"])
        begun = client.put(data_path(new_id()), data=b"", headers={"Upload-Complete": "?0", "Content-Length": "0"})
        self.begun["upload"] = begun.headers["Location"]
        ids["upload"] = self.begun["upload"].rpartition("/")[2]
        if "import" in self.begun:  # an account has at most one
            client.delete(self.begun["import"])
        self.begun["import"] = client.post("/v1/imports", {"byteCount": 9}).headers["Location"]
        ids["import"] = self.begun["import"].rpartition("/")[2]

        def of(path: str, member: str, **parameters: Any) -> str:
            return client.get(path, params=parameters).json()[member]

        world = {"name": name, "word": word, "clock": note["clocks"]["text"], "device": client.device["uniqueID"]}
        world["etag"] = client.get(f"/v1/notes/{ids['note']}").headers["ETag"]
        world["cursor_edits"] = of(f"/v1/notes/{ids['note']}/edits", "nextCursor", limit=1)
        world["cursor_deleted"] = of("/v1/recently-deleted", "nextCursor", limit=1)
        world["cursor_search"] = of("/v1/search", "nextCursor", limit=1)
        world["digest"] = digest(data)
        world["key"] = secrets.token_hex(16)
        drafts = {"notes": {"text": "x"}, "tags": {"name": secrets.token_hex(8)}, "objects": {"objectType": "board"}}
        for path, body in drafts.items():
            assert client.post(f"/v1/{path}", body, headers={"Idempotency-Key": world["key"]}).status_code == 201
        feeds = {"changes": "changes", "notes": "notes", "tags": "tags", "objects": "objects",
                 "attachments": "attachments"}  # fmt: skip
        for token, feed in (feeds | {"deleted": "deleted-objects"}).items():
            world[f"token_{token}"] = of(f"/v1/{feed}", "syncToken", limit=5_000)
        self.token = world["token_changes"]
        return world

    def content(self) -> tuple:
        """The account's content as visible through the API."""
        client = self.writer.client
        feed = client.get("/v1/changes", params={"since": self.token}).json()
        feed.pop("serverClock")
        routes = ("/v1/account", "/v1/digests", "/v1/recently-deleted", "/v1/devices", "/v1/search", "/v1/imports")
        read = [client.get(route).json() for route in (*routes, f"/v1/notes/{self.kinds['note']}/edits")]
        for device in read[3]["devices"]:
            device.pop("lastUseDate")
        read[1].pop("serverClock")
        return feed, read


@dataclass
class Twin:
    client: Client
    ids: dict[str, str] = field(default_factory=dict)  # IDs in responses, and their common replacement
    token: str | None = None
    # The twin's objects by the kind of the stranger's, until a probe may have changed them.
    worlds: dict[str, dict[str, str]] = field(default_factory=dict)

    def send(self, method: str, path: str, probe: Probe, world: dict[str, str]) -> tuple[int, dict, Any]:
        """Sends a probe. Returns status, headers and body, with names replaced by placeholders."""
        response = self.client.request(
            method,
            filled(path, {name: filled(value, world) for name, value in probe.path.items()}),
            params=filled(probe.query, world),
            # Compressed responses differ in length depending on their IDs.
            headers={"X-Request-ID": "the-same", "Accept-Encoding": "identity"} | filled(probe.headers, world),
            json=filled(probe.body, world),
        )
        headers = {name: self.plain(value) for name, value in response.headers.items() if name != "Date"}
        is_json = "json" in response.headers.get("Content-Type", "")
        text = self.plain(response.text)
        return response.status_code, headers, sorted_lists(json.loads(text)) if is_json and text else text

    def plain(self, text: str) -> str:
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(-[0-9a-f]{4}-[0-9a-f]{16})?", "<moment>", text)
        text = re.sub(r'(?<=")[0-9a-f]{32}(?=")', "<hash>", text)
        # Only whole words, because short names may occur in others by chance.
        text = re.sub(r"[0-9a-z-]+", lambda word: self.ids.get(word[0], word[0]), text)
        return re.sub(r'(?<="syncToken":")[A-Za-z0-9_-]+', lambda token: f"<token of {len(token[0])}>", text)


def sorted_lists(answer: Any) -> Any:
    """Sorts all lists, because some are ordered by ID, and the twins' IDs differ."""
    match answer:
        case dict():
            return {name: sorted_lists(value) for name, value in answer.items()}
        case list():
            return sorted((sorted_lists(value) for value in answer), key=json.dumps)
    return answer


@pytest.fixture(scope="module")
def twins(server) -> tuple[Twin, Twin]:
    twins = Twin(server.client(device_name="twin")), Twin(server.client(device_name="twin"))
    for twin in twins:
        twin.ids[twin.client.device["uniqueID"]] = "<node>"
    return twins


@pytest.fixture(scope="module")
def stranger(server) -> Stranger:
    return Stranger(Writer(server.client(device_name="stranger")))


def unknown_names(world: dict[str, str]) -> dict[str, str]:
    """Names of the same kinds that refer to nothing."""
    other = {"name": secrets.token_hex(8), "word": "w" + secrets.token_hex(8), "device": secrets.token_hex(8)}
    other["clock"] = world["clock"][:-16] + other["device"]
    other["etag"] = f'"{secrets.token_hex(16)}"'
    other["digest"] = digest(secrets.token_bytes(100))
    other["key"] = secrets.token_hex(16)
    for name, value in world.items():
        if name.startswith("token_"):
            # Bytes 2 to 9 are the installation's epoch. The result is a token of a nonexistent server.
            token = bytearray(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
            token[2:10] = secrets.token_bytes(8)
            other[name] = base64.urlsafe_b64encode(token).decode().rstrip("=")
        elif name.startswith("cursor_"):
            other[name] = value  # a position in a list, which is independent of the account
    return other


def make_worlds(twins: tuple[Twin, Twin], makes: Writer, kinds: dict[str, str]) -> dict[str, dict[str, str]]:
    """Creates the same objects in both accounts, for each kind of the stranger's objects. Returns their IDs."""
    worlds = {}
    changes = {"notes": [], "tags": [], "deletedObjects": []}
    for kind in kinds:
        worlds[kind] = own = {name: new_id() for name in ("own", "own_tag", "free")}
        gone = makes.note(text="gone")
        changes["notes"] += [makes.note(own["own"], text="mine\ntwo"), gone]
        changes["tags"].append(makes.tag(own["own_tag"], own["own_tag"]))
        changes["deletedObjects"].append(deleted(gone["uniqueID"]))
    # One push for all kinds, because a push takes as long as a probe.
    for twin in twins:
        answer = twin.client.sync(changes, since=twin.token)
        assert "rejected" not in str(answer["results"]) and not answer["hasMore"]
        twin.token = answer["syncToken"]
    return worlds


@pytest.mark.parametrize("probe", sorted(PROBES, key=lambda probe: not probe.changes_nothing), ids=str)
def test_other_accounts_ids_behave_like_unknown_ids(probe, document, twins, stranger, everything):
    path, method, _ = contract_document.operations_by_id(document)[probe.operation]
    theirs = stranger.names_for(probe)
    before = stranger.seen or stranger.content()
    mine, others = twins
    kinds = stranger.kinds if "{id}" in str(probe) or "{prefix}" in str(probe) else {"note": stranger.kinds["note"]}
    # A variant with headers uses a third of the kinds, if a probe of the operation without headers uses all of them.
    if probe.headers and not everything and any(other.operation == probe.operation and not other.headers for other in PROBES):
        begin = PROBES.index(probe) % 3
        kinds = {kind: unique_id for kind, unique_id in kinds.items() if kind in ("note", *list(kinds)[begin::3])}
    makes = Writer(mine.client)
    worlds = mine.worlds if set(kinds) <= set(mine.worlds) else make_worlds(twins, makes, kinds)
    mine.worlds = worlds if probe.changes_nothing else {}
    for kind, unique_id in kinds.items():
        if kind != "note":
            theirs["name"] = secrets.token_hex(8)  # names of tags must be unique
        unknown = unique_id[0] + new_id()[1:]
        own = worlds[kind] | {"stamp": makes.tick(), "later": makes.tick()[:-16] + secrets.token_hex(8)}
        one = theirs | own | {"id": unique_id, "prefix": unique_id[:8]}
        other = unknown_names(theirs) | own | {"id": unknown, "prefix": unknown[:8]}
        for name in ("id", "prefix", "name", "word", "device"):
            mine.ids[one[name]] = others.ids[other[name]] = f"<{name} {kind}>"
        answers = [
            twin.send(method.upper(), path, probe, world | {"since": twin.token})
            for twin, world in ((mine, one), (others, other))
        ]
        assert answers[0] == answers[1], f"{kind}: {probe}"
        assert answers[0][0] in probe.status, f"{kind}: {probe}: {answers[0]}"
    after = stranger.content()
    assert after == before
    stranger.seen = after if probe.changes_nothing else None
    if probe.changes_nothing:
        return
    # The note that lacks its creationDate still exists as such.
    note = stranger.writer.client.put(f"/v1/notes/{stranger.kinds['waiting note']}", {"text": "waits"})
    assert (note.status_code, note.json()["text"]) == (201, "waits")


def test_the_twins_end_with_equal_content(twins, stranger):
    """After all probes both have the same number of objects and bytes, and none of the stranger's text."""
    usages = [twin.client.get("/v1/account").json()["usage"] for twin in twins]
    assert usages[0] == usages[1] and usages[0]["objects"] > 100
    for twin in twins:
        found, _ = twin.client.read_all()
        assert len(found["notes"]) > 100
        assert "theirs" not in str(found)
        assert twin.client.get("/v1/search", params={"q": "theirs"}).json() == {"results": []}
    assert "theirs" in str(stranger.writer.client.read_all()[0])


def test_the_database_is_consistent(server, twins, stranger):
    checked = server.command("check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
