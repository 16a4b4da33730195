"""`/v1/notes/{uniqueID}/edits`: a note's history, newest first, also of recently deleted notes."""

import pytest
from rows import CLOCK, DATE, Row, parametrize
from writer import deleted, new_id

pytestmark = pytest.mark.both_stores


def edits(client, note: str, **parameters) -> dict:
    response = client.get(f"/v1/notes/{note}/edits", params=parameters)
    assert response.status_code == 200, response.text
    return response.json()


def all_edits(client, note: str, limit: int) -> list[dict]:
    found, cursor = [], {}
    for _ in range(1_000):
        page = edits(client, note, limit=limit, **cursor)
        assert len(page["edits"]) == limit or "nextCursor" not in page
        found += page["edits"]
        if "nextCursor" not in page:
            return found
        cursor = {"cursor": page["nextCursor"]}
    raise AssertionError("the history did not end")


def test_edits_have_device_and_date(writer):
    tag = new_id()
    note = writer.note(text="one", tags={tag: True}, attributes={"pinned": True})
    writer.push(notes=[note])
    clock = note["clocks"]["text"]
    found = edits(writer.client, note["uniqueID"])["edits"]
    assert {edit["attribute"]: edit["value"] for edit in found} == {
        "text": "one",
        f"tags.{tag}": True,
        "attributes.pinned": True,
    }
    for edit in found:
        assert set(edit) == {"attribute", "value", "clock", "device", "pushedAt", "standing"}
        assert (edit["clock"], edit["standing"], edit["pushedAt"]) == (clock, True, DATE)
        assert edit["device"] == {"uniqueID": writer.node, "name": "somebody"}


def test_newest_first_with_the_current_value_marked(writer):
    note = writer.note(text="one")
    writer.push(notes=[note])
    base = note["clocks"]["text"]
    for text in ("two", "three"):
        edit = writer.edit(note["uniqueID"], text=text, base=base)
        writer.push(notes=[edit])
        base = edit["clocks"]["text"]
    found = edits(writer.client, note["uniqueID"])["edits"]
    assert [(edit["value"], edit["standing"]) for edit in found] == [("three", True), ("two", False), ("one", False)]


def test_superseded_edits_are_listed(writer):
    note = writer.note(archived=True)
    writer.push(notes=[note])
    early = "2020-01-01T00:00:00.000Z-0000-" + writer.node
    writer.push(notes=[writer.edit(note["uniqueID"], early, archived=False)])
    found = {edit["clock"]: (edit["value"], edit["standing"]) for edit in edits(writer.client, note["uniqueID"])["edits"]}
    assert found == {early: (False, False), note["clocks"]["archived"]: (True, True)}


def test_merges_by_the_server_are_listed(writer):
    note = writer.note(text="one\n\ntwo\n")
    writer.push(notes=[note])
    base = note["clocks"]["text"]
    writer.push(notes=[writer.edit(note["uniqueID"], writer.tick()[:-16] + "00000000000000aa", text="ONE\n\ntwo\n", base=base)])
    writer.push(notes=[writer.edit(note["uniqueID"], text="one\n\nTWO\n", base=base)])
    found = edits(writer.client, note["uniqueID"])["edits"]
    assert [edit["value"] for edit in found][0] == "ONE\n\nTWO\n"
    server = writer.client.get("/v1/server").json()["serverClock"][-16:]
    assert found[0]["device"] == {"uniqueID": server}  # the server is not a device and has no name
    assert found[0]["standing"] and found[0]["clock"] == CLOCK
    assert {edit["value"] for edit in found} == {"ONE\n\nTWO\n", "one\n\nTWO\n", "ONE\n\ntwo\n", "one\n\ntwo\n"}


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_pages(writer, limit):
    note = writer.note(text="0", archived=True, attributes={"a": 0, "b": 0})
    writer.push(notes=[note])
    for index in range(1, 4):
        writer.push(notes=[writer.edit(note["uniqueID"], text=str(index), attributes={"a": index, "b": index})])
    found = all_edits(writer.client, note["uniqueID"], limit)
    assert len(found) == 13
    assert found == edits(writer.client, note["uniqueID"])["edits"]
    assert [edit["value"] for edit in found if edit["attribute"] == "text"] == ["3", "2", "1", "0"]


def test_a_history_of_several_pages(writer):
    """No edit is missing or repeated."""
    note = writer.note(text="0")
    clock = note["clocks"]["text"]
    for start in range(0, 1_200, 300):
        changes = []
        for index in range(start, start + 300):
            edit = writer.edit(note["uniqueID"], text=str(index + 1), base=clock)
            clock = edit["clocks"]["text"]
            changes.append(edit)
        writer.push(notes=[note, *changes] if start == 0 else changes)
    found = all_edits(writer.client, note["uniqueID"], 1_000)
    assert [edit["value"] for edit in found] == [str(index) for index in range(1_200, -1, -1)]


def test_a_recently_deleted_note_has_a_history(writer):
    note = writer.note(text="gone, but not lost")
    writer.push(notes=[note])
    writer.push(deletedObjects=[deleted(note["uniqueID"])])
    writer.push(notes=[writer.edit(note["uniqueID"], text="late words")])
    found = edits(writer.client, note["uniqueID"])["edits"]
    assert {edit["value"] for edit in found} == {"gone, but not lost", "late words"}


def test_the_grace_period_begins_when_the_deletion_arrives(writer):
    """The device's deletion date does not matter. test_recently_deleted.py tests the end of the period."""
    note = writer.note(text="old")
    writer.push(notes=[note])
    writer.push(deletedObjects=[deleted(note["uniqueID"], deletionDate="2020-01-01T00:00:00Z")])
    assert [edit["value"] for edit in edits(writer.client, note["uniqueID"])["edits"]] == ["old"]


def test_a_signed_out_device_has_no_name(somebody, writer):
    from writer import Writer

    other = Writer(somebody.another_device("short-lived"))
    note = other.note(text="x")
    other.push(notes=[note])
    assert edits(somebody, note["uniqueID"])["edits"][0]["device"]["name"] == "short-lived"
    assert somebody.delete(f"/v1/devices/{other.node}").status_code == 204
    assert edits(somebody, note["uniqueID"])["edits"][0]["device"] == {"uniqueID": other.node}


@pytest.fixture
def world(somebody, writer) -> dict[str, str]:
    note, tag = writer.note(text="x"), writer.tag(new_id())
    writer.push(notes=[note], tags=[tag])
    waiting = writer.edit(new_id(), text="waits")
    writer.push(notes=[waiting])
    return {"note": note["uniqueID"], "tag": tag["uniqueID"], "unknown": new_id(), "waiting": waiting["uniqueID"]}


ROWS = [
    Row("a note", "GET", "/v1/notes/{note}/edits", lacks=("nextCursor",)),
    Row("a tag", "GET", "/v1/notes/{tag}/edits", status=404, holds={"slug": "not-found"}),
    Row("an unknown ID", "GET", "/v1/notes/{unknown}/edits", status=404, holds={"slug": "not-found"}),
    Row("a note that does not exist yet", "GET", "/v1/notes/{waiting}/edits", status=404, holds={"slug": "not-found"}),
    Row("an invalid ID", "GET", "/v1/notes/x/edits", status=404, holds={"slug": "not-found"}),
    Row("limit 0", "GET", "/v1/notes/{note}/edits?limit=0", status=422, holds={"pointer": "limit"}),
    Row("an invalid cursor", "GET", "/v1/notes/{note}/edits?cursor=x", status=422, holds={"pointer": "cursor"}),
    Row("an empty cursor", "GET", "/v1/notes/{note}/edits?cursor=", status=422, holds={"pointer": "cursor"}),
    Row("since is not accepted", "GET", "/v1/notes/{note}/edits?since=x", status=422, holds={"slug": "unknown-field"}),
    Row("post is not allowed", "POST", "/v1/notes/{note}/edits", {}, 405, answers={"Allow": "GET, HEAD, OPTIONS"}),
]


@parametrize(ROWS)
def test_history(row, somebody, world):
    row.run(somebody, world)


def test_a_page_ends_early_after_4_mib(writer):
    """A page ends when its texts exceed 4 MiB. The next page continues from there."""
    note = writer.note(text="0" * 1_000_000)
    writer.push(notes=[note])
    base = note["clocks"]["text"]
    for index in range(1, 7):
        edit = writer.edit(note["uniqueID"], text=str(index) * 1_000_000, base=base)
        writer.push(notes=[edit])
        base = edit["clocks"]["text"]
    first = edits(writer.client, note["uniqueID"])
    second = edits(writer.client, note["uniqueID"], cursor=first["nextCursor"])
    found = [[edit["value"][0] for edit in page["edits"]] for page in (first, second)]
    assert found == [["6", "5", "4", "3", "2"], ["1", "0"]]
    assert "nextCursor" not in second
