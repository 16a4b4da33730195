"""`/v1/notes/{uniqueID}`: single notes (protocol.md, Two forms)."""

import pytest
from rows import CLOCK, DATE, UUID, Row, check_problem, parametrize
from writer import deleted, new_id

pytestmark = [pytest.mark.both_stores, pytest.mark.thorough_on_postgresql]

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="module")
def kept(somebody) -> dict[str, str]:
    """Objects that no row changes: tags, a deleted note and a deleted tag."""
    world = {"unknown": UNKNOWN, "gone": new_id(), "x": new_id(), "y": new_id(), "gone_tag": new_id()}
    for tag in ("x", "y", "gone_tag"):
        name = f"{tag} {world[tag]}"
        assert somebody.put(f"/v1/tags/{world[tag]}", {"name": name}).status_code == 201
    assert somebody.put(f"/v1/notes/{world['gone']}", {"text": "gone"}).status_code == 201
    assert somebody.delete(f"/v1/notes/{world['gone']}").status_code == 200
    assert somebody.delete(f"/v1/tags/{world['gone_tag']}").status_code == 200
    thing = somebody.post("/v1/objects", {"objectType": "board"}).json()
    return world | {"thing": thing["uniqueID"]}


@pytest.fixture
def world(somebody, kept) -> dict[str, str]:
    """A note with all fields set, and an unused ID."""
    note = {
        "text": "Milk\nBread",
        "creationDate": "2024-01-02T03:04:05.678Z",
        "sortDate": "2024-02-03T04:05:06.789Z",
        "archived": True,
        "tags": [kept["x"]],
        "attributes": {"pinned": True, "rank": 3},
    }
    answer = somebody.post("/v1/notes", note)
    assert answer.status_code == 201, answer.text
    unique_id = answer.json()["uniqueID"]
    return kept | {"note": unique_id, "NOTE": unique_id.upper(), "new": new_id(), "etag": answer.headers["ETag"]}


WHOLE = {
    "uniqueID": "{note}", "creationDate": "2024-01-02T03:04:05.678Z", "text": "Milk\nBread", "archived": True,
    "sortDate": "2024-02-03T04:05:06.789Z", "tags": ["{x}"], "attachments": [],
    "attributes": {"pinned": True, "rank": 3},
}  # fmt: skip
GONE = {"slug": "deleted", "deletedObject": {"uniqueID": "{gone}", "objectType": "note", "deletionDate": DATE}}
NOTE = "/v1/notes/{note}"

ROWS = [
    # GET
    Row("get", "GET", NOTE, holds=WHOLE, lacks=("clocks",), answers={"ETag": "{etag}"}),
    Row("get, upper case", "GET", "/v1/notes/{NOTE}", holds={"uniqueID": "{note}"}),
    Row("get, the current version", "GET", NOTE, status=304, headers={"If-None-Match": "{etag}"},
        answers={"ETag": "{etag}", "Content-Type": None}),
    Row("get, one of these versions", "GET", NOTE, status=304, headers={"If-None-Match": '"a", W/{etag}'}),
    Row("get, any version", "GET", NOTE, status=304, headers={"If-None-Match": "*"}),
    Row("get, another version", "GET", NOTE, holds=WHOLE, headers={"If-None-Match": '"other"'}),
    Row("get, never seen", "GET", "/v1/notes/{unknown}", status=404, holds={"slug": "not-found"}),
    Row("get, an invalid ID", "GET", "/v1/notes/milk", status=404, holds={"slug": "not-found"}),
    Row("get, deleted", "GET", "/v1/notes/{gone}", status=410, holds=GONE),
    Row("get, a tag's ID", "GET", "/v1/notes/{x}", status=404, holds={"slug": "not-found"}),
    # PUT
    Row("put, new", "PUT", "/v1/notes/{new}", {"text": "Oats"}, 201, answers={"Location": "/v1/notes/{new}"},
        holds={"uniqueID": "{new}", "text": "Oats", "archived": False, "tags": [], "attributes": {},
               "creationDate": DATE}),
    Row("put, new and empty", "PUT", "/v1/notes/{new}", {}, 201, holds={"text": "", "archived": False}),
    Row("put, new, with dates", "PUT", "/v1/notes/{new}", status=201,
        body={"creationDate": "2001-02-03T05:05:06.7894+01:00", "sortDate": "2002-02-03T04:05:06Z"},
        holds={"creationDate": "2001-02-03T04:05:06.789Z", "sortDate": "2002-02-03T04:05:06.000Z"}),
    Row("put, omitted fields get their defaults", "PUT", NOTE, {}, 200, answers={"Location": None},
        holds={"text": "", "archived": False, "tags": [], "sortDate": "2024-01-02T03:04:05.678Z",
               "creationDate": "2024-01-02T03:04:05.678Z", "attributes": {"pinned": True, "rank": 3}}),
    Row("put, attributes merge by name", "PUT", NOTE, {"attributes": {"rank": 4, "colour": None}},
        holds={"attributes": {"pinned": True, "rank": 4, "colour": None}}),
    Row("put, its own ID in the body", "PUT", NOTE, {"uniqueID": "{NOTE}", "text": "ok"}, holds={"text": "ok"}),
    Row("put, another ID in the body", "PUT", NOTE, {"uniqueID": "{new}"}, 422,
        holds={"slug": "invalid-field", "pointer": "/uniqueID"}),
    Row("put, another creationDate", "PUT", NOTE, {"creationDate": "2024-01-02T03:04:05.679Z"}, 409,
        holds={"slug": "immutable", "pointer": "/creationDate"}),
    Row("put, deleted", "PUT", "/v1/notes/{gone}", {"text": "back"}, 410, holds=GONE),
    Row("put, where a tag is", "PUT", "/v1/notes/{x}", {"text": "no"}, 422, holds={"slug": "invalid-field"}),
    Row("put, an invalid ID", "PUT", "/v1/notes/milk", {"text": "no"}, 404, holds={"slug": "not-found"}),
    Row("put, only if new, and it does not exist", "PUT", "/v1/notes/{new}", {}, 201, headers={"If-None-Match": "*"}),
    Row("put, only if new, and it exists", "PUT", NOTE, {}, 412, headers={"If-None-Match": "*"},
        holds={"slug": "precondition-failed"}),
    Row("put, if unchanged", "PUT", NOTE, {"text": "mine"}, headers={"If-Match": "{etag}"},
        holds={"text": "mine"}),
    Row("put, if unchanged, and it has changed", "PUT", NOTE, {}, 412, headers={"If-Match": '"other"'},
        holds={"slug": "precondition-failed"}),
    Row("put, if it exists, and it does not", "PUT", "/v1/notes/{new}", {}, 412, headers={"If-Match": "*"}),
    Row("put, if it exists", "PUT", NOTE, {"text": "mine"}, headers={"If-Match": "*"}),
    Row("put, a tag that was deleted", "PUT", NOTE, {"tags": ["{gone_tag}", "{y}"]}, holds={"tags": ["{y}"]}),
    Row("put, an unknown tag", "PUT", NOTE, {"tags": ["{y}", "{unknown}"]}, 422,
        holds={"slug": "invalid-field", "pointer": "/tags/1"}),
    Row("put, an unknown attachment", "PUT", NOTE, {"attachments": ["{unknown}"]}, 422,
        holds={"slug": "invalid-field", "pointer": "/attachments/0"}),
    Row("put, one tag twice", "PUT", NOTE, {"tags": ["{y}", "{y}"]}, holds={"tags": ["{y}"]}),
    # PATCH
    Row("patch, one field", "PATCH", NOTE, {"text": "Oats"}, holds=WHOLE | {"text": "Oats"}),
    Row("patch, nothing", "PATCH", NOTE, {}, holds=WHOLE, answers={"ETag": "{etag}"}),
    Row("patch, the new list of tags", "PATCH", NOTE, {"tags": ["{y}"]}, holds=WHOLE | {"tags": ["{y}"]}),
    Row("patch, null inside attributes", "PATCH", NOTE, {"attributes": {"pinned": None}},
        holds=WHOLE | {"attributes": {"pinned": None, "rank": 3}}),
    Row("patch, null outside of attributes", "PATCH", NOTE, {"text": None}, 422,
        holds={"slug": "invalid-field", "pointer": "/text"}),
    Row("patch, creationDate", "PATCH", NOTE, {"creationDate": "2024-01-02T03:04:05.678Z"}, 422,
        holds={"slug": "unknown-field", "pointer": "/creationDate"}),
    Row("patch, never seen", "PATCH", "/v1/notes/{new}", {"text": "no"}, 404, holds={"slug": "not-found"}),
    Row("patch, deleted", "PATCH", "/v1/notes/{gone}", {"text": "no"}, 410, holds=GONE),
    Row("patch, the current version", "PATCH", NOTE, {"archived": False}, headers={"If-Match": "{etag}"},
        holds={"archived": False}),
    Row("patch, another version", "PATCH", NOTE, {"archived": False}, 412, headers={"If-Match": '"other"'}),
    # DELETE
    Row("delete, another version", "DELETE", NOTE, status=412, headers={"If-Match": '"other"'},
        holds={"slug": "precondition-failed"}),
    Row("delete, the current version", "DELETE", NOTE, headers={"If-Match": "{etag}"}, holds={"uniqueID": "{note}"}),
    Row("delete, again, with any version", "DELETE", "/v1/notes/{gone}", headers={"If-Match": '"other"'},
        holds={"uniqueID": "{gone}"}),
    Row("delete", "DELETE", NOTE, holds={"uniqueID": "{note}", "objectType": "note", "deletionDate": DATE},
        lacks=("mergedInto",)),
    Row("delete again", "DELETE", "/v1/notes/{gone}", holds={"uniqueID": "{gone}", "objectType": "note"}),
    Row("delete, never seen", "DELETE", "/v1/notes/{unknown}", status=404, holds={"slug": "not-found"}),
    Row("delete, a tag's ID", "DELETE", "/v1/notes/{x}", status=404, holds={"slug": "not-found"}),
    # POST
    Row("post", "POST", "/v1/notes", {"text": "Oats"}, 201, holds={"uniqueID": UUID, "text": "Oats"}),
    Row("post, with an ID", "POST", "/v1/notes", {"uniqueID": "{new}"}, 201,
        answers={"Location": "/v1/notes/{new}"}),
    Row("post, an existing ID", "POST", "/v1/notes", {"uniqueID": "{note}", "text": "other"}, 200, holds=WHOLE,
        answers={"Location": None}),
    Row("post, deleted", "POST", "/v1/notes", {"uniqueID": "{gone}"}, 410, holds=GONE),
    Row("post, where a tag is", "POST", "/v1/notes", {"uniqueID": "{x}"}, 422, holds={"pointer": "/uniqueID"}),
    Row("post, unknown field", "POST", "/v1/notes", {"txt": "Oats"}, 422,
        holds={"slug": "unknown-field", "pointer": "/txt"}),
    Row("post, clocks are not accepted", "POST", "/v1/notes", {"clocks": {}}, 422, holds={"slug": "unknown-field"}),
]  # fmt: skip


@parametrize(ROWS)
def test_note(row, somebody, world):
    row.run(somebody, world)


def test_posting_twice_creates_one_note(somebody):
    note = {"uniqueID": new_id(), "text": "once"}
    first, second = somebody.post("/v1/notes", note), somebody.post("/v1/notes", note)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert len(somebody.get(f"/v1/notes/{note['uniqueID']}/edits").json()["edits"]) == 1


def test_putting_a_note_unchanged_adds_no_edit(somebody, world):
    path = f"/v1/notes/{world['note']}"
    read = somebody.get(path)
    edits = somebody.get(f"{path}/edits").json()
    digest = somebody.get("/v1/digests").json()["digest"]
    put = somebody.put(path, read.json())
    assert (put.status_code, put.json(), put.headers["ETag"]) == (200, read.json(), read.headers["ETag"])
    assert somebody.get(f"{path}/edits").json() == edits
    assert somebody.get("/v1/digests").json()["digest"] == digest


def test_only_changed_fields_get_new_clocks(somebody, writer, world):
    before = writer.state("notes", world["note"])
    somebody.put(f"/v1/notes/{world['note']}", {**read(somebody, world["note"]), "text": "Oats"})
    after = writer.state("notes", world["note"])
    assert after["clocks"].pop("text") > before["clocks"].pop("text")
    assert after["clocks"] == before["clocks"]


def read(client, note: str) -> dict:
    return client.get(f"/v1/notes/{note}").json()


def test_the_server_assigns_clocks(somebody, writer, world):
    """Edits by resource routes get clocks of the installation's node, greater than all clocks of the note."""
    text = writer.push_one("notes", writer.edit(world["note"], writer.ahead(4), text="a clock 4 minutes ahead"))
    assert text["status"] in ("applied", "merged")
    previous = writer.state("notes", world["note"])["clocks"]["text"]
    somebody.patch(f"/v1/notes/{world['note']}", {"text": "later"})
    clock = writer.state("notes", world["note"])["clocks"]["text"]
    assert clock == CLOCK and clock > previous
    assert clock[-16:] == somebody.get("/v1/server").json()["serverClock"][-16:]


def test_deleting_a_tag_changes_the_etag_of_its_notes(somebody, world):
    """A note's ETag covers its resolved members."""
    path = f"/v1/notes/{world['note']}"
    tag = somebody.post("/v1/tags", {"name": new_id()}).json()["uniqueID"]
    with_tag = somebody.patch(path, {"tags": [tag]})
    somebody.delete(f"/v1/tags/{tag}")
    now = somebody.get(path, headers={"If-None-Match": with_tag.headers["ETag"]})
    assert (now.status_code, now.json()["tags"]) == (200, [])
    assert now.headers["ETag"] != with_tag.headers["ETag"]


def test_members_are_ordered_by_clock(somebody, world):
    path = f"/v1/notes/{world['note']}"
    somebody.patch(path, {"tags": []})
    somebody.patch(path, {"tags": [world["y"]]})
    assert somebody.patch(path, {"tags": [world["x"], world["y"]]}).json()["tags"] == [world["y"], world["x"]]


def test_a_failed_precondition_changes_nothing(somebody, world):
    path = f"/v1/notes/{world['note']}"
    before = somebody.get(path).json()
    somebody.put(path, {"text": "no"}, headers={"If-Match": '"other"'})
    somebody.patch(path, {"text": "no"}, headers={"If-Match": '"other"'})
    somebody.put(path, {"text": "no"}, headers={"If-None-Match": "*"})
    assert somebody.get(path).json() == before


def test_if_match_detects_concurrent_writes(somebody, world):
    path = f"/v1/notes/{world['note']}"
    etag = {"If-Match": somebody.get(path).headers["ETag"]}
    assert somebody.patch(path, {"text": "first"}, headers=etag).status_code == 200
    check_problem(somebody.patch(path, {"text": "second"}, headers=etag), "precondition-failed", 412)
    assert read(somebody, world["note"])["text"] == "first"


def test_a_deleted_object_of_an_unknown_note(somebody, writer):
    """Sync accepts DeletedObjects of unknown objects. Their IDs return 410 from then on."""
    unique_id = new_id()
    assert writer.push_one("deletedObjects", deleted(unique_id))["status"] == "applied"
    check_problem(somebody.get(f"/v1/notes/{unique_id}"), "deleted", 410)
    check_problem(somebody.put(f"/v1/notes/{unique_id}", {"text": "no"}), "deleted", 410)
    assert somebody.delete(f"/v1/notes/{unique_id}").status_code == 200


def test_edits_that_arrive_before_their_note(somebody, writer):
    """A note exists once its creationDate is known (merge.md, Edits)."""
    unique_id = new_id()
    edit = writer.edit(unique_id, text="early", attributes={"pinned": True})
    assert writer.push_one("notes", edit)["status"] == "applied"
    check_problem(somebody.get(f"/v1/notes/{unique_id}"), "not-found", 404)
    check_problem(somebody.patch(f"/v1/notes/{unique_id}", {"text": "no"}), "not-found", 404)
    check_problem(somebody.delete(f"/v1/notes/{unique_id}"), "not-found", 404)
    assert writer.state("notes", unique_id) is None
    made = somebody.put(f"/v1/notes/{unique_id}", {"text": "early", "attributes": {"rank": 1}})
    assert made.status_code == 201
    assert made.json()["attributes"] == {"pinned": True, "rank": 1}


def test_deleting_twice_returns_the_same(somebody, world):
    path = f"/v1/notes/{world['note']}"
    first, second = somebody.delete(path), somebody.delete(path)
    assert first.json() == second.json()
    assert check_problem(somebody.get(path), "deleted", 410)["deletedObject"] == first.json()


def test_a_patched_text_is_merged_with_offline_edits(somebody, writer, world):
    """A PATCH replaces the current text. An edit that was made offline meanwhile is merged with it."""
    base = writer.state("notes", world["note"])["clocks"]["text"]
    offline = writer.edit(world["note"], text="Oat milk\nBread", base=base)
    somebody.patch(f"/v1/notes/{world['note']}", {"text": "Milk\nBread\nCoffee"})
    assert writer.push_one("notes", offline)["status"] == "merged"
    assert read(somebody, world["note"])["text"] == "Oat milk\nBread\nCoffee"
