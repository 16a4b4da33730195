"""`/v1/attachments/{uniqueID}`: an attachment's properties (protocol.md, Two forms and Attachments)."""

import pytest
from attachments import attach, data_path, download, sha256, some_bytes, upload
from rows import DATE, Row, parametrize
from writer import new_id

pytestmark = pytest.mark.both_stores

DATA = some_bytes(1000)
UNKNOWN = "00000000-0000-4000-8000-000000000000"
PREVIEW = "iVBORw0KGgo="


@pytest.fixture
def world(somebody) -> dict[str, str]:
    world = {"unknown": UNKNOWN, "bytes": upload(somebody, DATA), "gone": attach(somebody, DATA)}
    world["there"] = attach(somebody, DATA, width=3, height=2, filename="ä.png", preview=PREVIEW)
    world["note"] = somebody.post("/v1/notes", {"text": "a note"}).json()["uniqueID"]
    assert somebody.delete(f"/v1/attachments/{world['gone']}").status_code == 200
    return world | {"etag": somebody.get(f"/v1/attachments/{world['there']}").headers["ETag"]}


THERE, BYTES, GONE = "/v1/attachments/{there}", "/v1/attachments/{bytes}", "/v1/attachments/{gone}"
WHOLE = {"uniqueID": "{there}", "mimeType": "image/png", "width": 3, "height": 2, "filename": "ä.png",
         "preview": PREVIEW, "byteCount": 1000, "sha256": sha256(DATA)}  # fmt: skip
PUT = {name: WHOLE[name] for name in ("mimeType", "width", "height", "filename", "preview")}
DELETED = {"slug": "deleted", "deletedObject": {"uniqueID": "{gone}", "objectType": "attachment", "deletionDate": DATE}}

ROWS = [
    Row("get", "GET", THERE, holds=WHOLE, lacks=("clocks",), answers={"ETag": "{etag}"}),
    Row("get, not changed", "GET", THERE, status=304, headers={"If-None-Match": "{etag}"}),
    Row("get, never seen", "GET", "/v1/attachments/{unknown}", status=404),
    Row("get, bytes alone", "GET", BYTES, status=404),
    Row("get, a note's ID", "GET", "/v1/attachments/{note}", status=404),
    Row("get, deleted", "GET", GONE, status=410, holds=DELETED),
    Row("put, new", "PUT", BYTES, {"mimeType": "text/plain"}, 201, answers={"Location": BYTES},
        holds={"uniqueID": "{bytes}", "mimeType": "text/plain", "byteCount": 1000, "sha256": sha256(DATA)}),
    Row("put, unchanged", "PUT", THERE, WHOLE, holds=WHOLE, answers={"ETag": "{etag}"}),
    Row("put, a subset of the properties", "PUT", THERE, {"mimeType": "image/png"}, holds=WHOLE, answers={"ETag": "{etag}"}),
    Row("put, another type", "PUT", THERE, {**PUT, "mimeType": "image/gif"}, 409, holds={"slug": "immutable"}),
    Row("put, another width", "PUT", THERE, {**PUT, "width": 4}, 409, holds={"slug": "immutable"}),
    Row("put, another byteCount", "PUT", BYTES, {"mimeType": "a/b", "byteCount": 999}, 409,
        holds={"slug": "immutable"}),
    Row("put, another sha256", "PUT", BYTES, {"mimeType": "a/b", "sha256": "0" * 64}, 409,
        holds={"slug": "immutable"}),
    Row("put, bytes missing", "PUT", "/v1/attachments/{unknown}", {"mimeType": "a/b"}, 409,
        holds={"slug": "attachment-data-missing"}),
    Row("put, deleted", "PUT", GONE, {"mimeType": "image/png"}, 410, holds=DELETED),
    Row("put, a note's ID", "PUT", "/v1/attachments/{note}", {"mimeType": "a/b"}, 422,
        holds={"slug": "invalid-field", "pointer": "/uniqueID"}),
    Row("put, no type", "PUT", BYTES, {"width": 1}, 422, holds={"slug": "invalid-field", "pointer": "/mimeType"}),
    Row("put, no media type", "PUT", BYTES, {"mimeType": "picture"}, 422, holds={"pointer": "/mimeType"}),
    Row("put, negative width", "PUT", BYTES, {"mimeType": "a/b", "width": -1}, 422, holds={"pointer": "/width"}),
    Row("put, preview too large", "PUT", BYTES, {"mimeType": "a/b", "preview": "A" * 8196}, 422,
        holds={"pointer": "/preview"}),
    Row("put, attributes", "PUT", BYTES, {"mimeType": "a/b", "attributes": {}}, 422, holds={"slug": "unknown-field"}),
    Row("put, only if new", "PUT", THERE, PUT, 412, headers={"If-None-Match": "*"}),
    Row("patch is not allowed", "PATCH", THERE, {}, 405, answers={"Allow": "GET, HEAD, PUT, DELETE, OPTIONS"}),
    Row("post is not allowed", "POST", "/v1/attachments", {"mimeType": "a/b"}, 405,
        answers={"Allow": "GET, HEAD, OPTIONS"}),
    Row("delete", "DELETE", THERE, holds={"uniqueID": "{there}", "objectType": "attachment"}),
    Row("delete, again", "DELETE", GONE, holds={"uniqueID": "{gone}", "objectType": "attachment"}),
    Row("delete, never seen", "DELETE", "/v1/attachments/{unknown}", status=404),
    Row("delete, another version", "DELETE", THERE, status=412, headers={"If-Match": '"0"'}),
]  # fmt: skip


@parametrize(ROWS)
def test_row(row, somebody, world):
    row.run(somebody, world)


def test_feed_carries_attachments_and_their_deletions(client):
    kept, gone = attach(client, DATA), attach(client, DATA)
    page = client.get("/v1/attachments").json()
    assert [each["uniqueID"] for each in page["attachments"]] == [gone, kept]  # newest first
    assert client.delete(f"/v1/attachments/{gone}").status_code == 200
    client.post("/v1/notes", {"text": "not in this feed"})
    page = client.get(f"/v1/attachments?since={page['syncToken']}").json()
    assert page["attachments"] == []
    assert [each["uniqueID"] for each in page["deletedObjects"]] == [gone]


def test_deleting_an_attachment_removes_its_bytes(client):
    attachment = attach(client, DATA)
    assert client.get("/v1/account").json()["usage"]["attachmentBytes"] == 1000
    client.delete(f"/v1/attachments/{attachment}")
    assert client.get("/v1/account").json()["usage"]["attachmentBytes"] == 0
    for response in (client.get(data_path(attachment)), client.put(data_path(attachment), data=DATA)):
        assert (response.status_code, response.json()["slug"]) == (410, "deleted")


def test_an_attachment_belongs_to_one_note(client):
    picture, other = attach(client, DATA), attach(client, DATA)
    note = client.post("/v1/notes", {"text": "with a picture", "attachments": [picture]}).json()
    assert note["attachments"] == [picture]
    refused = client.post("/v1/notes", {"text": "a thief", "attachments": [other, picture]})
    assert (refused.status_code, refused.json()["slug"]) == (409, "attachment-in-use")
    assert client.delete(f"/v1/notes/{note['uniqueID']}").status_code == 200
    # Attachments outlive their note for a grace period, so that undo needs no upload.
    assert download(client, picture) == DATA
    again = client.post("/v1/notes", {"text": "with a picture", "attachments": [picture]})
    assert (again.status_code, again.json()["attachments"]) == (201, [picture])


def test_an_unknown_attachment_is_refused(client):
    response = client.post("/v1/notes", {"text": "", "attachments": [new_id()]})
    assert (response.status_code, response.json()["pointer"]) == (422, "/attachments/0")
