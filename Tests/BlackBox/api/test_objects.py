"""`/v1/objects`: app-defined objects, whose attributes the server stores and merges without interpreting them."""

import pytest
from rows import DATE, UUID, Row, check_problem, parametrize
from writer import new_id

pytestmark = [pytest.mark.both_stores, pytest.mark.thorough_on_postgresql]

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="module")
def kept(somebody) -> dict[str, str]:
    world = {"unknown": UNKNOWN, "gone": new_id(), "note": new_id()}
    assert somebody.put(f"/v1/objects/{world['gone']}", {"objectType": "board"}).status_code == 201
    assert somebody.delete(f"/v1/objects/{world['gone']}").status_code == 200
    assert somebody.put(f"/v1/notes/{world['note']}", {}).status_code == 201
    return world


@pytest.fixture
def world(somebody, kept) -> dict[str, str]:
    answer = somebody.post("/v1/objects", {"objectType": "board", "attributes": {"title": "Journey", "columns": 3}})
    assert answer.status_code == 201, answer.text
    return kept | {"thing": answer.json()["uniqueID"], "new": new_id(), "etag": answer.headers["ETag"]}


THING, NEW = "/v1/objects/{thing}", "/v1/objects/{new}"
WHOLE = {"uniqueID": "{thing}", "objectType": "board", "attributes": {"title": "Journey", "columns": 3}}
GONE = {"slug": "deleted", "deletedObject": {"uniqueID": "{gone}", "objectType": "board", "deletionDate": DATE}}

ROWS = [
    Row("get", "GET", THING, holds=WHOLE, lacks=("clocks",), answers={"ETag": "{etag}"}),
    Row("get, not changed", "GET", THING, status=304, headers={"If-None-Match": "{etag}"}),
    Row("get, never seen", "GET", "/v1/objects/{unknown}", status=404),
    Row("get, a note's ID", "GET", "/v1/objects/{note}", status=404),
    Row("get, deleted", "GET", "/v1/objects/{gone}", status=410, holds=GONE),
    Row("put, new", "PUT", NEW, {"objectType": "card.front-2_x"}, 201, answers={"Location": NEW},
        holds={"uniqueID": "{new}", "objectType": "card.front-2_x", "attributes": {}}),
    Row("put, type missing", "PUT", NEW, {"attributes": {"a": 1}}, 422,
        holds={"slug": "invalid-field", "pointer": "/objectType"}),
    Row("put, attributes merge by name", "PUT", THING, {"objectType": "board", "attributes": {"columns": 4}},
        holds={"attributes": {"title": "Journey", "columns": 4}}),
    Row("put, another type", "PUT", THING, {"objectType": "card"}, 409,
        holds={"slug": "immutable", "pointer": "/objectType"}),
    Row("put, deleted", "PUT", "/v1/objects/{gone}", {"objectType": "board"}, 410, holds=GONE),
    Row("put, where a note is", "PUT", "/v1/objects/{note}", {"objectType": "board"}, 422,
        holds={"slug": "invalid-field", "pointer": "/uniqueID"}),
    Row("put, only if new, and it exists", "PUT", THING, {"objectType": "board"}, 412,
        headers={"If-None-Match": "*"}),
    *(
        Row(f"put, type {name!r}", "PUT", NEW, {"objectType": name}, 422,
            holds={"slug": "invalid-field", "pointer": "/objectType"})
        for name in ("note", "tag", "attachment", "", "1a", "a b", "é", "a" * 65)
    ),
    Row("patch", "PATCH", THING, {"attributes": {"columns": None, "zoom": 1.5, "open": False}},
        holds={"attributes": {"title": "Journey", "columns": None, "zoom": 1.5, "open": False}}),
    Row("patch, the current version", "PATCH", THING, {"attributes": {"columns": 4}}, headers={"If-Match": "{etag}"}),
    Row("patch, another version", "PATCH", THING, {"attributes": {"columns": 4}}, 412,
        headers={"If-Match": '"other"'}),
    Row("patch, never seen", "PATCH", NEW, {"attributes": {"columns": 4}}, 404),
    Row("put, without its type", "PUT", THING, {"attributes": {}}, 422,
        holds={"slug": "invalid-field", "pointer": "/objectType"}),
    Row("post, without its type", "POST", "/v1/objects", {"uniqueID": "{thing}"}, 422,
        holds={"slug": "invalid-field", "pointer": "/objectType"}),
    Row("patch, the type", "PATCH", THING, {"objectType": "board"}, 422,
        holds={"slug": "unknown-field", "pointer": "/objectType"}),
    Row("patch, an unknown field", "PATCH", THING, {"columns": 4}, 422,
        holds={"slug": "unknown-field", "pointer": "/columns"}),
    Row("patch, an object in attributes", "PATCH", THING, {"attributes": {"frame": {"x": 1}}}, 422,
        holds={"slug": "invalid-field", "pointer": "/attributes/frame"}),
    Row("delete", "DELETE", THING, holds={"uniqueID": "{thing}", "objectType": "board", "deletionDate": DATE}),
    Row("delete again", "DELETE", "/v1/objects/{gone}", holds={"uniqueID": "{gone}", "objectType": "board"}),
    Row("delete, never seen", "DELETE", "/v1/objects/{unknown}", status=404),
    Row("post", "POST", "/v1/objects", {"objectType": "board"}, 201, holds={"uniqueID": UUID}),
    Row("post, an existing ID", "POST", "/v1/objects", {"uniqueID": "{thing}", "objectType": "board"}, 200,
        holds=WHOLE),
    Row("post, deleted", "POST", "/v1/objects", {"uniqueID": "{gone}", "objectType": "board"}, 410, holds=GONE),
]  # fmt: skip


@parametrize(ROWS)
def test_object(row, somebody, world):
    row.run(somebody, world)


@pytest.mark.parametrize(
    "value",
    [
        "", "Grüße, 世界 \U0001f30d", "\u202eright to left\u202c", 'quotes " and \\ and /', "\r\n\t\u2028\u0001", 0, -1,
        2**53 - 1, -(2**53 - 1), 0.1, -2.5e-300, 2**52 - 0.5, True, False, None,
    ],
)  # fmt: skip
def test_attributes_are_returned_as_sent(somebody, writer, value):
    """By resource routes and by sync, for every JSON scalar."""
    made = somebody.post("/v1/objects", {"objectType": "board", "attributes": {"value": value}}).json()
    assert made["attributes"] == {"value": value} and type(made["attributes"]["value"]) is type(value)
    pushed = writer.thing(value=value)
    assert writer.push_one("objects", pushed)["status"] == "applied"
    for unique_id in (made["uniqueID"], pushed["uniqueID"]):
        assert somebody.get(f"/v1/objects/{unique_id}").json()["attributes"] == {"value": value}
        assert writer.state("objects", unique_id)["attributes"] == {"value": value}


def test_the_type_is_immutable(writer):
    thing = writer.thing("board", title="a")
    assert writer.push_one("objects", thing)["status"] == "applied"
    other = writer.thing("card", thing["uniqueID"], title="b")
    result = writer.push_one("objects", other)
    assert result["status"] == "rejected"
    assert result["fields"]["objectType"]["problem"]["slug"] == "immutable"
    # The attribute in the same change is applied.
    assert writer.state("objects", thing["uniqueID"])["attributes"] == {"title": "b"}


def test_an_object_without_a_type_does_not_exist(somebody, writer):
    """Edits that arrive before the objectType are neither returned nor counted until it is known."""
    thing = writer.thing(None, title="early")
    before = somebody.get("/v1/digests").json()
    assert writer.push_one("objects", thing)["status"] == "applied"
    check_problem(somebody.get(f"/v1/objects/{thing['uniqueID']}"), "not-found", 404)
    assert writer.state("objects", thing["uniqueID"]) is None
    after = somebody.get("/v1/digests").json()
    assert (after["digest"], after["objects"]) == (before["digest"], before["objects"])
    assert writer.push_one("objects", writer.thing("board", thing["uniqueID"], more=1))["status"] == "applied"
    assert somebody.get(f"/v1/objects/{thing['uniqueID']}").json()["attributes"] == {"title": "early", "more": 1}
