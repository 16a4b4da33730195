"""`/v1/recently-deleted`: notes in the grace period, the latest deletion first."""

from datetime import datetime, timedelta

import pytest
from database import make_older, query
from rows import DATE, Row, check_problem, parametrize
from waiting import wait_until
from writer import Writer, deleted, new_id

pytestmark = pytest.mark.both_stores


def listed(client, **parameters) -> dict:
    response = client.get("/v1/recently-deleted", params=parameters)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.fixture
def emptied(fresh_writer):
    """Four notes, deleted one after the other."""
    writer = fresh_writer
    notes = [writer.note(text=f"\n  \nfirst line of {index}\nsecond line") for index in range(4)]
    writer.push(notes=notes)
    for note in notes:
        writer.push(deletedObjects=[deleted(note["uniqueID"])])
    return writer, [note["uniqueID"] for note in notes]


def test_the_latest_deletion_is_first(emptied):
    writer, ids = emptied
    page = listed(writer.client)
    assert [note["uniqueID"] for note in page["notes"]] == ids[::-1]
    assert "nextCursor" not in page
    first = page["notes"][0]
    assert set(first) == {"uniqueID", "firstLine", "deletionDate", "purgeDate", "device"}
    assert first["firstLine"] == "first line of 3"
    assert first["device"] == {"uniqueID": writer.node, "name": "phone"}
    assert first["deletionDate"] == DATE and first["purgeDate"] == DATE
    moments = [datetime.fromisoformat(first[name]) for name in ("deletionDate", "purgeDate")]
    assert moments[1] - moments[0] == timedelta(days=30)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
def test_pages(emptied, limit):
    writer, ids = emptied
    found, cursor = [], {}
    for _ in range(10):
        page = listed(writer.client, limit=limit, **cursor)
        found += [note["uniqueID"] for note in page["notes"]]
        if "nextCursor" not in page:
            break
        assert len(page["notes"]) == limit
        cursor = {"cursor": page["nextCursor"]}
    assert found == ids[::-1]


def test_only_notes_are_listed(fresh_writer):
    writer = fresh_writer
    tag, thing = writer.tag("x"), writer.thing(title="x")
    writer.push(tags=[tag], objects=[thing])
    writer.push(deletedObjects=[deleted(tag["uniqueID"], "tag"), deleted(thing["uniqueID"], "board")])
    assert listed(writer.client)["notes"] == []


def test_the_grace_period_begins_when_the_deletion_arrives(fresh_writer):
    writer = fresh_writer
    note = writer.note(text="deleted long ago according to the device")
    writer.push(notes=[note])
    now = datetime.now().astimezone()
    writer.push(deletedObjects=[deleted(note["uniqueID"], deletionDate=(now - timedelta(days=300)).isoformat())])
    [found] = listed(writer.client)["notes"]
    assert datetime.fromisoformat(found["deletionDate"]) < now - timedelta(days=299)
    assert abs(datetime.fromisoformat(found["purgeDate"]) - now - timedelta(days=30)) < timedelta(minutes=5)


def test_the_text_is_removed_after_the_grace_period(fresh_server):
    writer = Writer(fresh_server.client())
    notes = [writer.note(text="old words"), writer.note(text="new words"), writer.note(text="live words")]
    writer.push(notes=notes)
    writer.push(deletedObjects=[deleted(notes[0]["uniqueID"])])
    fresh_server.stop()
    make_older(fresh_server, 20)
    fresh_server.start()
    writer.push(deletedObjects=[deleted(notes[1]["uniqueID"])])
    assert [note["firstLine"] for note in listed(writer.client)["notes"]] == ["new words", "old words"]
    fresh_server.stop()
    make_older(fresh_server, 20)
    fresh_server.start()
    assert [note["firstLine"] for note in listed(writer.client)["notes"]] == ["new words"]
    history = writer.client.get(f"/v1/notes/{notes[0]['uniqueID']}/edits")
    problem = check_problem(history, "deleted", 410)
    assert problem["deletedObject"]["uniqueID"] == notes[0]["uniqueID"]

    def remaining() -> set[str]:
        bodies = " ".join(body for (body,) in query(fresh_server, "SELECT body FROM edits"))
        return {text for text in ("old words", "new words", "live words") if text in bodies}

    wait_until(lambda: "old words" not in remaining(), pause=0.5)
    assert remaining() == {"new words", "live words"}
    assert writer.client.get(f"/v1/notes/{notes[0]['uniqueID']}").status_code == 410
    assert fresh_server.command("check").returncode == 0


def test_a_deleted_note_can_be_restored_as_a_copy(emptied):
    """Deletion is final. A copy is a new note made from the history."""
    writer, ids = emptied
    edits = writer.client.get(f"/v1/notes/{ids[0]}/edits").json()["edits"]
    [text] = [edit["value"] for edit in edits if edit["attribute"] == "text"]
    made = writer.client.post("/v1/notes", {"text": text})
    assert made.status_code == 201 and made.json()["uniqueID"] != ids[0]
    assert ids[0] in [note["uniqueID"] for note in listed(writer.client)["notes"]]


def test_the_first_line_includes_edits_after_the_deletion(emptied):
    writer, ids = emptied
    writer.push(notes=[writer.edit(ids[1], text="later words\nmore")])
    [note] = [note for note in listed(writer.client)["notes"] if note["uniqueID"] == ids[1]]
    assert note["firstLine"] == "later words"


def test_long_and_empty_first_lines(fresh_writer):
    writer = fresh_writer
    notes = [writer.note(text="\U0001f468\u200d\U0001f469\u200d\U0001f467" * 300), writer.note(text=" \n\n"), writer.note()]
    writer.push(notes=notes)
    writer.push(deletedObjects=[deleted(note["uniqueID"]) for note in notes])
    lines = {note["uniqueID"]: note["firstLine"] for note in listed(writer.client)["notes"]}
    assert lines[notes[0]["uniqueID"]] == "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 200
    assert lines[notes[1]["uniqueID"]] == lines[notes[2]["uniqueID"]] == ""


def test_an_unknown_deleted_note_has_no_first_line(fresh_writer):
    unique_id = new_id()
    fresh_writer.push(deletedObjects=[deleted(unique_id)])
    notes = listed(fresh_writer.client)["notes"]
    assert [(note["uniqueID"], note["firstLine"]) for note in notes] in ([], [(unique_id, "")])


ROWS = [
    Row("nothing", "GET", "/v1/recently-deleted", holds={"notes": []}, lacks=("nextCursor",)),
    Row("limit 0", "GET", "/v1/recently-deleted?limit=0", status=422, holds={"pointer": "limit"}),
    Row("an invalid cursor", "GET", "/v1/recently-deleted?cursor=!", status=422, holds={"pointer": "cursor"}),
    Row("since is not accepted", "GET", "/v1/recently-deleted?since=x", status=422, holds={"slug": "unknown-field"}),
]


@parametrize(ROWS)
def test_list(row, client):
    row.run(client, {})
