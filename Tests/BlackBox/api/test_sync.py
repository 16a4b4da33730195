"""`POST /v1/sync`: receipts of every status and outcome, and invalid fields, elements and requests."""

import clocks
import pytest
from convergence import settle
from rows import CLOCK, DIGEST, Row, check_problem, filled, parametrize
from writer import Writer, deleted, new_id

pytestmark = pytest.mark.both_stores

EARLY = "2020-01-01T00:00:00.000Z-0000-"


def test_response_members(fresh_writer):
    answer = fresh_writer.push()
    assert set(answer) == {"results", "changes", "syncToken", "hasMore", "remaining", "digest", "serverClock"}
    assert set(answer["changes"]) == {"notes", "tags", "attachments", "objects", "deletedObjects"}
    assert (answer["results"], answer["hasMore"]) == ([], False)
    assert answer["digest"] == "0" * 32  # an empty scope
    assert answer["serverClock"] == CLOCK


def test_applied(writer):
    sections = {
        "notes": [writer.note(text="x", archived=True, sortDate="2024-01-01T00:00:00Z", attributes={"a": 1})],
        "tags": [writer.tag(new_id(), colour="red")],
        "objects": [writer.thing(title="x")],
        "deletedObjects": [deleted(new_id(), "tag")],
    }
    answer = writer.push(**sections)
    types = {"notes": "note", "tags": "tag", "objects": "board", "deletedObjects": "tag"}
    assert answer["results"] == [
        {"uniqueID": sections[name][0]["uniqueID"], "objectType": types[name], "pointer": f"/changes/{name}/0",
         "status": "applied"}
        for name in sections
    ]  # fmt: skip


def test_what_a_first_sync_pushes_does_not_remain(fresh_writer):
    fresh_writer.push(notes=[fresh_writer.note(text=str(index)) for index in range(3)])
    body = {"limit": 2, "changes": {"notes": [fresh_writer.note(text="pushed")]}}
    page = fresh_writer.client.post("/v1/sync", body).json()
    assert len(page["changes"]["notes"]) == 2
    assert (page["hasMore"], page["remaining"]["objects"]) == (True, 1)


def test_results_are_in_the_order_of_the_request(writer):
    notes = [writer.note(text=str(index)) for index in range(20)]
    things = [writer.thing(n=index) for index in range(5)]
    results = writer.push(objects=things, notes=notes)["results"]
    assert [result["uniqueID"] for result in results] == [change["uniqueID"] for change in things + notes]
    assert [result["pointer"] for result in results[4:7]] == ["/changes/objects/4", "/changes/notes/0", "/changes/notes/1"]


def test_unchanged(writer):
    sections = {
        "notes": [writer.note(text="x", tags={new_id(): True}, attributes={"a": None})],
        "tags": [writer.tag(new_id())],
        "objects": [writer.thing(title="x")],
        "deletedObjects": [deleted(new_id())],
    }
    first = writer.push(**sections)
    again = writer.push(first["syncToken"], **sections)
    assert [result["status"] for result in again["results"]] == ["unchanged"] * 4
    assert all("fields" not in result for result in again["results"])
    assert not any(again["changes"].values())
    assert again["digest"] == first["digest"]
    assert again["syncToken"] == first["syncToken"]
    edits = writer.client.get(f"/v1/notes/{sections['notes'][0]['uniqueID']}/edits").json()["edits"]
    assert len(edits) == 3


def test_a_new_field_beside_a_known_one_is_applied(writer):
    note = writer.note(text="x")
    writer.push(notes=[note])
    more = writer.edit(note["uniqueID"], archived=True)
    both = note | {"archived": True, "clocks": note["clocks"] | more["clocks"]}
    assert writer.push_one("notes", both)["status"] == "applied"


def test_superseded(writer):
    """Another value is current. The receipt contains its clock, and the response the whole object."""
    note = writer.note(text="x", archived=True, attributes={"a": 1})
    writer.push(notes=[note])
    current = note["clocks"]["archived"]
    early = writer.edit(note["uniqueID"], EARLY + writer.node, archived=False, attributes={"a": 2, "b": 3})
    answer = writer.push(notes=[early])
    assert answer["results"][0]["status"] == "merged"
    assert answer["results"][0]["fields"] == {
        "archived": {"outcome": "superseded", "clock": current},
        "attributes.a": {"outcome": "superseded", "clock": current},
    }
    [state] = [state for state in answer["changes"]["notes"] if state["uniqueID"] == note["uniqueID"]]
    assert (state["archived"], state["attributes"]) == (True, {"a": 1, "b": 3})


def test_superseded_members_and_names(writer):
    one = writer.tag(new_id())
    note = writer.note(text="x", tags={one["uniqueID"]: True})
    writer.push(tags=[one], notes=[note])
    early = EARLY + writer.node
    out = writer.edit(note["uniqueID"], early, tags={one["uniqueID"]: False})
    rename = writer.tag(new_id(), one["uniqueID"], early)
    answer = writer.push(notes=[out], tags=[rename])
    assert {tuple(result["fields"]) for result in answer["results"]} == {(f"tags.{one['uniqueID']}",), ("name",)}
    assert {result["status"] for result in answer["results"]} == {"merged"}


def test_the_earlier_creation_date_wins(writer):
    note = writer.note(text="x", created="2024-01-02T00:00:00Z")
    writer.push(notes=[note])
    later = {"uniqueID": note["uniqueID"], "creationDate": "2024-01-03T00:00:00Z"}
    result = writer.push_one("notes", later)
    assert (result["status"], result["fields"]["creationDate"]["outcome"]) == ("merged", "superseded")
    earlier = {"uniqueID": note["uniqueID"], "creationDate": "2024-01-01T00:00:00Z"}
    assert writer.push_one("notes", earlier)["status"] == "applied"
    assert writer.state("notes", note["uniqueID"])["creationDate"] == "2024-01-01T00:00:00.000Z"


def test_merged_text(writer):
    note = writer.note(text="one\n\ntwo\n\nthree\n")
    base = writer.push(notes=[note]) and note["clocks"]["text"]
    other = Writer(writer.client)
    other.clock.node = "00000000000000aa"  # the edit belongs to another device, according to its clock
    writer.push(notes=[other.edit(note["uniqueID"], text="ONE\n\ntwo\n\nthree\n", base=base)])
    mine = writer.edit(note["uniqueID"], text="one\n\ntwo\n\nTHREE\n", base=base)
    answer = writer.push(notes=[mine])
    [result] = answer["results"]
    state = next(state for state in answer["changes"]["notes"] if state["uniqueID"] == note["uniqueID"])
    assert state["text"] == "ONE\n\ntwo\n\nTHREE\n"
    assert (result["status"], result["fields"]["text"]) == (
        "merged",
        {"outcome": "merged", "clock": state["clocks"]["text"]},
    )
    assert state["clocks"]["text"] > mine["clocks"]["text"]
    assert state["clocks"]["text"][-16:] == answer["serverClock"][-16:]
    # The same push again, as after a lost response. The text is not merged twice.
    again = writer.push(notes=[mine])
    assert again["results"][0]["fields"] == result["fields"]
    assert again["changes"]["notes"][0]["text"] == state["text"]


def test_a_text_based_on_the_current_one_wins_over_a_greater_clock(writer):
    """If the new text has a smaller clock than its base, the server stores it again with its own clock."""
    note = writer.note(text="first", clock=writer.ahead(4))
    writer.push(notes=[note])
    behind = writer.edit(note["uniqueID"], EARLY + "00000000000000aa", text="second", base=note["clocks"]["text"])
    answer = writer.push(notes=[behind])
    state = writer.state("notes", note["uniqueID"])
    assert state["text"] == "second"
    assert state["clocks"]["text"] > note["clocks"]["text"]
    assert answer["results"][0]["status"] == "merged"
    assert answer["results"][0]["fields"]["text"] == {"outcome": "merged", "clock": state["clocks"]["text"]}


def test_deleted(writer):
    note = writer.note(text="x")
    writer.push(notes=[note])
    writer.push(deletedObjects=[deleted(note["uniqueID"])])
    answer = writer.push(notes=[writer.edit(note["uniqueID"], text="words", tags={new_id(): True})])
    [result] = answer["results"]
    assert result["status"] == "deleted"
    assert {field["outcome"] for field in result["fields"].values()} == {"deleted"}
    assert note["uniqueID"] in [gone["uniqueID"] for gone in answer["changes"]["deletedObjects"]]
    # The text is in the history.
    edits = writer.client.get(f"/v1/notes/{note['uniqueID']}/edits").json()["edits"]
    assert "words" in [edit["value"] for edit in edits]


def test_a_tag_with_a_taken_name_is_merged(writer):
    """The status is `deleted`, and the tag becomes a DeletedObject with `mergedInto`."""
    small, great, name = "0" + new_id()[1:], "f" + new_id()[1:], new_id()
    writer.push(tags=[writer.tag(name, small)])
    answer = writer.push(tags=[writer.tag(name.upper(), great)])
    assert answer["results"][0]["status"] == "deleted"
    [gone] = [gone for gone in answer["changes"]["deletedObjects"] if gone["uniqueID"] == great]
    assert gone["mergedInto"] == small


def test_an_attachment_without_bytes_is_refused(writer):
    picture = {"uniqueID": new_id(), "mimeType": "image/png"}
    result = writer.push_one("attachments", picture)
    assert (result["status"], result["problem"]["slug"]) == ("rejected", "attachment-data-missing")
    assert result["problem"]["pointer"] == "/changes/attachments/0"


def test_a_refused_member_is_not_sent_again(devices):
    """The device records it as rejected. The other members of the note arrive."""
    first, second = devices(2)
    tag = first.make_tag("Home")
    note = first.make_note("Milk", tags=[tag, "no ID", "x" * 64])
    [result] = [result for result in first.sync() if result["uniqueID"] == note]
    assert result["status"] == "rejected"
    assert {each["attribute"] for each in first.rejected} == {"tags.no ID", "tags." + "x" * 64}
    assert first.is_synced and not first.repaired
    assert first.sync() == []
    second.sync()
    assert second.note(note) == first.note(note) and second.note(note)["tags"] == [tag]


# Invalid fields of one element: field, slug, pointer. `{clock}` and `{id}` stand for a new clock and ID.
CLOCKED = {"text": "{clock}"}
FIELD_BY_FIELD = [
    ("text is a number", {"text": 1, "clocks": CLOCKED}, "text", "invalid-field", "/text"),
    ("text is null", {"text": None, "clocks": CLOCKED}, "text", "invalid-field", "/text"),
    ("archived is a string", {"archived": "yes", "clocks": {"archived": "{clock}"}}, "archived", "invalid-field", "/archived"),
    ("archived is 1", {"archived": 1, "clocks": {"archived": "{clock}"}}, "archived", "invalid-field", "/archived"),
    ("sortDate is not a date", {"sortDate": "soon", "clocks": {"sortDate": "{clock}"}}, "sortDate", "invalid-field", "/sortDate"),
    ("creationDate is a number", {"creationDate": 0}, "creationDate", "invalid-field", "/creationDate"),
    ("no clock", {"text": "x"}, "text", "clock-missing", "/clocks/text"),
    ("a clock too short", {"text": "x", "clocks": {"text": "2026"}}, "text", "invalid-field", "/clocks/text"),
    ("a clock with a time zone", {"text": "x", "clocks": {"text": "2026-11-21T08:47:12.345+00:00-0003-9f86d081884c7d65"}},
     "text", "invalid-field", "/clocks/text"),
    ("a clock with an invalid date", {"text": "x", "clocks": {"text": "2026-02-30T08:47:12.345Z-0003-9f86d081884c7d65"}},
     "text", "invalid-field", "/clocks/text"),
    ("a clock before 1970", {"text": "x", "clocks": {"text": "1969-12-31T23:59:59.999Z-0003-9f86d081884c7d65"}},
     "text", "invalid-field", "/clocks/text"),
    ("a clock is a number", {"text": "x", "clocks": {"text": 5}}, "text", "invalid-field", "/clocks/text"),
    ("a clock without a value", {"clocks": CLOCKED}, "text", "invalid-field", "/text"),
    ("clocks is a list", {"clocks": []}, "clocks", "invalid-field", "/clocks"),
    ("a clock of a field without clocks", {"creationDate": "2024-01-01T00:00:00Z", "clocks": {"creationDate": "{clock}"}},
     "clocks.creationDate", "unknown-field", "/clocks/creationDate"),
    ("a clock of an unknown field", {"clocks": {"color": "{clock}"}}, "clocks.color", "unknown-field", "/clocks/color"),
    ("an unknown field", {"color": "red"}, "color", "unknown-field", "/color"),
    ("a computed field", {"truncatedText": "x"}, "truncatedText", "unknown-field", "/truncatedText"),
    ("an unknown field that is escaped in the pointer", {"a/b~c": 1}, "a/b~c", "unknown-field", "/a~1b~0c"),
    ("tags is a string", {"tags": "x"}, "tags", "invalid-field", "/tags"),
    ("a tag is a number", {"tags": [5]}, "tags", "invalid-field", "/tags/0"),
    ("a tag is no ID", {"tags": ["no ID"], "clocks": {"tags": {"no ID": "{clock}"}}}, "tags.no ID", "invalid-field", "/tags/0"),
    ("a tag is no ID and has no clock", {"tags": ["no ID"]}, "tags.no ID", "invalid-field", "/tags/0"),
    ("a tag without a clock", {"tags": ["{id}"]}, "tags.{id}", "clock-missing", "/tags/0"),
    ("clocks.tags is a list", {"clocks": {"tags": []}}, "tags", "invalid-field", "/clocks/tags"),
    ("a clock of an invalid tag ID", {"clocks": {"tags": {"x": "{clock}"}}}, "tags.x", "invalid-field", "/clocks/tags/x"),
    ("an invalid clock of a tag", {"clocks": {"tags": {"{id}": "x"}}}, "tags.{id}", "invalid-field", "/clocks/tags/{id}"),
    ("attributes is a list", {"attributes": []}, "attributes", "invalid-field", "/attributes"),
    ("an attribute is an object", {"attributes": {"a": {}}, "clocks": {"attributes": {"a": "{clock}"}}},
     "attributes.a", "invalid-field", "/attributes/a"),
    ("an attribute is a list", {"attributes": {"a": [1]}, "clocks": {"attributes": {"a": "{clock}"}}},
     "attributes.a", "invalid-field", "/attributes/a"),
    ("an attribute has no clock", {"attributes": {"a": 1}}, "attributes.a", "clock-missing", "/attributes/a"),
    ("an attribute has no value", {"clocks": {"attributes": {"a": "{clock}"}}}, "attributes.a", "invalid-field",
     "/clocks/attributes/a"),
    ("an attribute's name", {"attributes": {"1a": 1}, "clocks": {"attributes": {"1a": "{clock}"}}},
     "attributes.1a", "invalid-field", "/attributes/1a"),
    ("textBase is not a clock", {"textBase": "x"}, "textBase", "invalid-field", "/textBase"),
    ("textAfter is not a list", {"textAfter": "{clock}"}, "textAfter", "invalid-field", "/textAfter"),
    ("textAfter has 17 clocks", {"textAfter": ["{clock}"] * 17}, "textAfter", "invalid-field", "/textAfter"),
    ("textAfter contains a number", {"textAfter": ["{clock}", 5]}, "textAfter", "invalid-field", "/textAfter/1"),
    ("textBaseValue is not a string", {"textBaseValue": 1}, "textBaseValue", "invalid-field", "/textBaseValue"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "field", "slug", "pointer"),
    [row[1:] for row in FIELD_BY_FIELD],
    ids=[row[0] for row in FIELD_BY_FIELD],
)
def test_an_invalid_field_is_refused_alone(writer, change, field, slug, pointer):
    """The other fields of the object and the rest of the push are applied."""
    world = {"clock": writer.tick(), "id": new_id()}
    change, field, pointer = (filled(part, world) for part in (change, field, pointer))
    note = writer.note(attributes={"good": 1})
    wrong = note | change
    for name in ("clocks", "attributes"):
        part = change.get(name)
        if isinstance(part, dict):
            wrong[name] = note[name] | part
            if name == "clocks" and isinstance(part.get("attributes", {}), dict):
                wrong["clocks"]["attributes"] = note["clocks"]["attributes"] | part.get("attributes", {})
        elif part is None:
            wrong[name] = note[name]
    good = writer.note(text="valid")
    answer = writer.push(notes=[wrong, good])
    first, second = answer["results"]
    assert (first["status"], second["status"]) == ("rejected", "applied"), first
    problem = first["fields"][field]["problem"]
    assert (first["fields"][field]["outcome"], problem["slug"]) == ("rejected", slug)
    assert problem["pointer"] == f"/changes/notes/0{pointer}"
    assert problem["status"] == 422 and problem["detail"] and problem["type"] == f"/problems/{slug}"
    assert "requestID" not in problem
    # If the rejected object exists, the response contains it.
    state = writer.state("notes", note["uniqueID"])
    if field == "creationDate":
        assert state is None  # the note does not exist without it
        return
    assert state["text"] == "" and state["archived"] is False and state["tags"] == []
    if field not in ("clocks", "attributes"):
        assert state["attributes"] == {"good": 1}
    assert note["uniqueID"] in [each["uniqueID"] for each in answer["changes"]["notes"]]


WHOLE_ELEMENTS = [
    ("a string", "notes", "milk", "", None),
    ("null", "tags", None, "", None),
    ("a list", "objects", [], "", None),
    ("no ID", "notes", {"text": "x"}, "/uniqueID", None),
    ("an invalid ID", "notes", {"uniqueID": "5f0c5a1e6d0b4c8e9d3a2b7f4e1c8a90x"}, "/uniqueID", None),
    ("an ID in parentheses", "tags", {"uniqueID": "(5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90)"}, "/uniqueID", None),
    ("an ID that is a number", "attachments", {"uniqueID": 5}, "/uniqueID", None),
]


@pytest.mark.parametrize(
    ("section", "element", "pointer"), [row[1:4] for row in WHOLE_ELEMENTS], ids=[row[0] for row in WHOLE_ELEMENTS]
)
def test_an_element_without_an_id_is_refused(writer, section, element, pointer):
    """The rest of the push is applied."""
    good = writer.note(text="valid")
    sections = {section: [element]}
    sections.setdefault("notes", []).append(good)
    results = writer.push(**sections)["results"]
    [bad] = [result for result in results if result["status"] == "rejected"]
    assert (bad["problem"]["slug"], bad["problem"]["pointer"]) == ("invalid-field", f"/changes/{section}/0{pointer}")
    assert "uniqueID" not in bad
    assert writer.client.get(f"/v1/notes/{good['uniqueID']}").status_code == 200


def test_another_type_with_the_same_id(writer):
    note = writer.note(text="x")
    writer.push(notes=[note])
    result = writer.push_one("tags", writer.tag(new_id(), note["uniqueID"]))
    assert (result["status"], result["problem"]["slug"]) == ("rejected", "invalid-field")
    assert result["problem"]["pointer"] == "/changes/tags/0/uniqueID"


def test_clock_ahead(writer):
    """A clock more than 5 minutes ahead of the server's clock is refused, with the server's clock."""
    note = writer.note(text="x")
    writer.push(notes=[note])
    ahead = writer.edit(note["uniqueID"], writer.ahead(6), text="ahead")
    good = writer.edit(note["uniqueID"], archived=True)
    both = good | {"text": "ahead", "clocks": good["clocks"] | ahead["clocks"]}
    result = writer.push_one("notes", both)
    problem = result["fields"]["text"]["problem"]
    assert (result["status"], problem["slug"]) == ("rejected", "clock-ahead")
    assert problem["serverClock"] == CLOCK
    state = writer.state("notes", note["uniqueID"])
    assert (state["text"], state["archived"]) == ("x", True)
    assert writer.push_one("notes", writer.edit(note["uniqueID"], writer.ahead(4), text="ok"))["status"] != "rejected"


def test_clocks_ahead_do_not_raise_the_limit(fresh_writer):
    """An accepted clock 4 minutes ahead does not allow others to be further ahead."""
    writer = fresh_writer
    note = writer.note(text="x")
    writer.push(notes=[note])
    far = writer.ahead(4)
    assert writer.push_one("notes", writer.edit(note["uniqueID"], far, archived=True))["status"] == "applied"
    further = writer.push_one("notes", writer.edit(note["uniqueID"], writer.ahead(8), archived=False))
    assert further["status"] == "rejected"
    beside = clocks.clock(clocks.parts(far)[0], 7, writer.node)
    assert writer.push_one("notes", writer.edit(note["uniqueID"], beside, archived=False))["status"] == "applied"


def test_clock_reused(writer):
    """The same clock with another value means that two copies of one device exist."""
    note = writer.note(text="x", attributes={"a": 1})
    writer.push(notes=[note])
    clock = note["clocks"]["text"]
    other = writer.edit(note["uniqueID"], clock, text="y", attributes={"a": 2})
    result = writer.push_one("notes", other)
    assert result["status"] == "rejected"
    assert {name: field["problem"]["slug"] for name, field in result["fields"].items()} == {
        "text": "clock-reused",
        "attributes.a": "clock-reused",
    }
    assert result["fields"]["text"]["problem"]["pointer"] == "/changes/notes/0/text"
    state = writer.state("notes", note["uniqueID"])
    assert (state["text"], state["attributes"]) == ("x", {"a": 1})


def test_clock_reused_of_a_superseded_edit(writer):
    note = writer.note(text="x")
    writer.push(notes=[note])
    later = writer.edit(note["uniqueID"], text="later", base=note["clocks"]["text"])
    writer.push(notes=[later])
    result = writer.push_one("notes", writer.edit(note["uniqueID"], note["clocks"]["text"], text="other"))
    assert result["fields"]["text"]["problem"]["slug"] == "clock-reused"


def test_clock_reused_within_one_push(writer):
    clock = writer.tick()
    note = writer.note(text="x", clock=clock)
    answer = writer.push(notes=[note, writer.edit(note["uniqueID"], clock, text="y")])
    assert [result["status"] for result in answer["results"]] == ["applied", "rejected"]
    assert writer.state("notes", note["uniqueID"])["text"] == "x"


def test_one_object_twice_in_one_push(writer):
    note = writer.note(text="x")
    answer = writer.push(notes=[note, writer.edit(note["uniqueID"], archived=True)])
    assert [result["status"] for result in answer["results"]] == ["applied", "applied"]
    state = writer.state("notes", note["uniqueID"])
    assert (state["text"], state["archived"]) == ("x", True)


WHOLE = [
    Row("changes is a list", "POST", "/v1/sync", {"changes": []}, 422, {"slug": "invalid-field", "pointer": "/changes"}),
    Row("changes is null", "POST", "/v1/sync", {"changes": None}, 422, {"slug": "invalid-field", "pointer": "/changes"}),
    Row("notes is an object", "POST", "/v1/sync", {"changes": {"notes": {}}}, 422,
        {"slug": "invalid-field", "pointer": "/changes/notes"}),
    Row("an unknown section", "POST", "/v1/sync", {"changes": {"boards": []}}, 422,
        {"slug": "unknown-field", "pointer": "/changes/boards"}),
    Row("an unknown field", "POST", "/v1/sync", {"since": "x"}, 422, {"slug": "unknown-field", "pointer": "/since"}),
    Row("a token is a number", "POST", "/v1/sync", {"syncToken": 5}, 422, {"pointer": "/syncToken"}),
    Row("an invalid token", "POST", "/v1/sync", {"syncToken": "x"}, 422, {"pointer": "/syncToken"}),
    Row("limit 0", "POST", "/v1/sync", {"limit": 0}, 422, {"slug": "invalid-field", "pointer": "/limit"}),
    Row("limit is a string", "POST", "/v1/sync", {"limit": "9"}, 422, {"slug": "invalid-field", "pointer": "/limit"}),
    Row("limit 1.5", "POST", "/v1/sync", {"limit": 1.5}, 422, {"slug": "invalid-field", "pointer": "/limit"}),
    Row("the body is a list", "POST", "/v1/sync", [], 422, {"slug": "invalid-field"}),
    Row("the body is a string", "POST", "/v1/sync", "x", 422, {"slug": "invalid-field"}),
    Row("an empty object", "POST", "/v1/sync", {}, 200, {"results": [], "digest": DIGEST}),
    Row("nothing to push", "POST", "/v1/sync", {"changes": {}}, 200, {"results": [], "digest": DIGEST}),
    Row("empty lists", "POST", "/v1/sync", {"changes": {"notes": [], "deletedObjects": []}}, 200, {"results": []}),
    Row("a parameter", "POST", "/v1/sync?limit=5", {}, 422, {"slug": "unknown-field"}),
]  # fmt: skip


@parametrize(WHOLE)
def test_request_shape(row, client):
    row.run(client, {})


@pytest.mark.parametrize(
    "wrong",
    [{"limit": 0}, {"extra": 1}, {"syncToken": "x"}, {"changes": {"boards": []}}, {"changes": {"tags": {}}}],
    ids=str,
)
def test_a_refused_request_is_not_applied(writer, wrong):
    note = writer.note(text="x")
    body = {"changes": {"notes": [note]} | wrong.get("changes", {})} | {
        name: value for name, value in wrong.items() if name != "changes"
    }
    check_problem(writer.client.post("/v1/sync", body), status=422)
    assert writer.client.get(f"/v1/notes/{note['uniqueID']}").status_code == 404


def test_ids_are_read_in_either_case(writer):
    note = writer.note(text="x")
    loud = note | {"uniqueID": note["uniqueID"].upper()}
    assert writer.push_one("notes", loud)["uniqueID"] == note["uniqueID"]
    assert writer.push_one("notes", note)["status"] == "unchanged"


def test_dates_are_rounded_before_comparison(writer):
    note = writer.note(text="x", created="2024-01-01T01:00:00.0004+01:00")
    assert writer.push_one("notes", note)["status"] == "applied"
    same = {"uniqueID": note["uniqueID"], "creationDate": "2024-01-01T00:00:00Z"}
    assert writer.push_one("notes", same)["status"] == "unchanged"


def test_texts_are_returned_unchanged(writer):
    """Emoji, combining marks, right-to-left text, CRLF, and control characters other than NUL."""
    text = "e\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467 שלום \r\n\u2028\ufeff\U000e0001\u0001\x7f\"\\/\ud7ff\ue000\uffff\U0010ffff"
    note = writer.note(text=text)
    assert writer.push_one("notes", note)["status"] == "applied"
    assert writer.state("notes", note["uniqueID"])["text"] == text
    assert writer.client.get(f"/v1/notes/{note['uniqueID']}").json()["text"] == text
    assert writer.push_one("notes", note)["status"] == "unchanged"


def test_edits_of_another_device_can_be_pushed(pair):
    """The clock identifies the device that made the edit. The bag also records which device pushed it."""
    a, b = pair
    note = a.make_note("A's words")
    push = a.prepare()
    assert b.client.sync(push.changes(False))["results"][0]["status"] == "applied"
    settle(a, b)
    [edit] = a.client.get(f"/v1/notes/{note}/edits").json()["edits"]
    assert edit["device"]["uniqueID"] == a.client.device["uniqueID"]
