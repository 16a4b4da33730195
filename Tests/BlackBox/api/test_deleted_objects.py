"""`/v1/deleted-objects`: uploading DeletedObjects and reading them, and deletion by sync (merge.md, Deleting)."""

import pytest
from desk import at
from rows import DATE, check_problem
from writer import deleted, new_id, rescue_of

pytestmark = pytest.mark.both_stores

PATH = "/v1/deleted-objects"


def upload(client, *deletions: dict, since: str | None = None) -> dict:
    response = client.post(PATH, {"deletedObjects": list(deletions)}, params={"since": since} if since else {})
    assert response.status_code == 200, response.text
    return response.json()


def test_upload_and_get_the_list_back(fresh_writer):
    client = fresh_writer.client
    notes = [client.post("/v1/notes", {}).json()["uniqueID"] for _ in range(3)]
    client.delete(f"/v1/notes/{notes[0]}")
    answer = upload(client, deleted(notes[1]))
    assert [result["status"] for result in answer["results"]] == ["applied"]
    assert answer["results"][0]["pointer"] == "/deletedObjects/0"
    assert {gone["uniqueID"]: gone for gone in answer["deletedObjects"]}.keys() >= {notes[0]}
    assert all(gone["deletionDate"] == DATE for gone in answer["deletedObjects"])
    assert "notes" not in answer and answer["hasMore"] is False
    assert client.get(f"/v1/notes/{notes[1]}").status_code == 410
    # Nothing since that response. After another deletion, only that one.
    assert upload(client, since=answer["syncToken"])["deletedObjects"] == []
    client.delete(f"/v1/notes/{notes[2]}")
    later = upload(client, since=answer["syncToken"])
    assert [gone["uniqueID"] for gone in later["deletedObjects"]] == [notes[2]]


def test_the_feed_lists_all_deleted_objects(fresh_writer):
    client = fresh_writer.client
    gone = [client.post("/v1/notes", {}).json()["uniqueID"] for _ in range(5)]
    for note in gone:
        client.delete(f"/v1/notes/{note}")
    found, since = [], None
    for _ in range(10):
        page = client.get(PATH, params={"limit": 2} | ({"since": since} if since else {})).json()
        found += [item["uniqueID"] for item in page["deletedObjects"]]
        since = page["syncToken"]
        if not page["hasMore"]:
            break
    assert found == gone[::-1]  # newest first


def test_uploading_twice_changes_nothing(fresh_writer):
    client = fresh_writer.client
    gone = deleted(new_id())
    first = upload(client, gone)
    digest = client.get("/v1/digests").json()["digest"]
    second = upload(client, gone, since=first["syncToken"])
    assert [result["status"] for result in second["results"]] == ["unchanged"]
    assert client.get("/v1/digests").json()["digest"] == digest


def test_an_unknown_object_can_be_deleted(writer):
    """If the note is pushed later, it is deleted, and the response contains its DeletedObject."""
    note = writer.note(text="late")
    assert writer.push_one("deletedObjects", deleted(note["uniqueID"]))["status"] == "applied"
    answer = writer.push(notes=[note])
    assert answer["results"][0]["status"] == "deleted"
    assert [gone["uniqueID"] for gone in answer["changes"]["deletedObjects"]].count(note["uniqueID"]) == 1
    check_problem(writer.client.get(f"/v1/notes/{note['uniqueID']}"), "deleted", 410)


def test_a_deletion_wins_over_later_edits(writer):
    note = writer.note(text="x")
    writer.push(notes=[note])
    writer.push(deletedObjects=[deleted(note["uniqueID"])])
    later = writer.edit(note["uniqueID"], writer.ahead(4), text="later", archived=True)
    result = writer.push_one("notes", later)
    assert result["status"] == "deleted"
    assert {name: field["outcome"] for name, field in result["fields"].items()} == {
        "text": "deleted",
        "archived": "deleted",
    }
    assert writer.client.get(f"/v1/notes/{note['uniqueID']}").status_code == 410


def test_a_deletion_wins_within_one_push(writer):
    """Regardless of the order in the request."""
    note = writer.note(text="x")
    answer = writer.push(notes=[note], deletedObjects=[deleted(note["uniqueID"])])
    assert [result["status"] for result in answer["results"]] == ["deleted", "applied"]
    assert writer.client.get(f"/v1/notes/{note['uniqueID']}").status_code == 410


def test_merging_two_deleted_objects(writer):
    """One with `mergedInto` wins over one without. If both have it, the smaller target wins (merge.md, The fold)."""
    loser, small, great = new_id(), "0" + new_id()[1:], "e" + new_id()[1:]
    writer.push(tags=[writer.tag(new_id(), target) for target in (small, great)])

    def push(**more) -> str:
        return writer.push_one("deletedObjects", deleted(loser, "tag", **more))["status"]

    assert push() == "applied"
    assert push(mergedInto=great) == "applied"
    assert push() == "merged"
    assert push(mergedInto=small) == "applied"
    assert push(mergedInto=great) == "merged"
    assert push(mergedInto=small) == "unchanged"
    gone = check_problem(writer.client.get(f"/v1/tags/{loser}"), "deleted", 410)["deletedObject"]
    assert gone["mergedInto"] == small


def test_deletion_dates_in_the_future_are_corrected(writer):
    past, future = new_id(), new_id()
    writer.push(
        deletedObjects=[
            deleted(past, deletionDate="2020-01-02T03:04:05+00:00"),
            deleted(future, deletionDate="9999-12-31T23:59:59Z"),
        ]
    )
    dates = {
        unique_id: writer.client.get(f"/v1/notes/{unique_id}").json()["deletedObject"]["deletionDate"]
        for unique_id in (past, future)
    }
    assert dates[past] == "2020-01-02T03:04:05.000Z"
    assert dates[future] < "2999"


TAG = new_id()
WRONG = [
    ("not an object", "gone", "invalid-field", "/deletedObjects/0"),
    ("no ID", {"objectType": "note"}, "invalid-field", "/deletedObjects/0/uniqueID"),
    ("an invalid ID", {"uniqueID": "x", "objectType": "note"}, "invalid-field", "/deletedObjects/0/uniqueID"),
    ("no type", {"uniqueID": new_id()}, "invalid-field", "/deletedObjects/0/objectType"),
    ("an invalid type", deleted(new_id(), "a b"), "invalid-field", "/deletedObjects/0/objectType"),
    ("a target of a note", deleted(new_id(), mergedInto=new_id()), "invalid-field", "/deletedObjects/0/mergedInto"),
    ("an invalid target", deleted(new_id(), "tag", mergedInto=1), "invalid-field", "/deletedObjects/0/mergedInto"),
    ("a wrong date", deleted(new_id(), deletionDate="today"), "invalid-field", "/deletedObjects/0/deletionDate"),
    ("textSeen is not a clock", deleted(new_id(), textSeen="yesterday"), "invalid-field", "/deletedObjects/0/textSeen"),
    ("textSeen is a number", deleted(new_id(), textSeen=5), "invalid-field", "/deletedObjects/0/textSeen"),
    ("textSeen is null", deleted(new_id(), textSeen=None), "invalid-field", "/deletedObjects/0/textSeen"),
    ("textSeen of a tag", deleted(TAG, "tag", textSeen=""), "invalid-field", "/deletedObjects/0/textSeen"),
    ("textAfter is not a list", deleted(new_id(), textSeen="", textAfter=at(1)), "invalid-field",
     "/deletedObjects/0/textAfter"),
    ("textAfter has 17 clocks", deleted(new_id(), textSeen="", textAfter=[at(index) for index in range(17)]),
     "invalid-field", "/deletedObjects/0/textAfter"),
    ("textAfter contains a string that is not a clock", deleted(new_id(), textSeen="", textAfter=[at(1), "x"]), "invalid-field",
     "/deletedObjects/0/textAfter/1"),
    ("rescuedInto is another note", deleted(new_id(), rescuedInto=new_id()), "invalid-field",
     "/deletedObjects/0/rescuedInto"),
    ("rescuedInto is not an ID", deleted(new_id(), rescuedInto="x"), "invalid-field", "/deletedObjects/0/rescuedInto"),
    ("rescuedInto of a tag", deleted(TAG, "tag", rescuedInto=rescue_of(TAG)), "invalid-field",
     "/deletedObjects/0/rescuedInto"),
    ("an unknown field", deleted(new_id(), why="old"), "unknown-field", "/deletedObjects/0/why"),
]  # fmt: skip


@pytest.mark.parametrize(("gone", "slug", "pointer"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_only_the_invalid_element_is_refused(somebody, gone, slug, pointer):
    good = deleted(new_id())
    answer = upload(somebody, gone, good)
    assert [result["status"] for result in answer["results"]] == ["rejected", "applied"]
    problem = answer["results"][0]["problem"]
    assert (problem["slug"], problem["pointer"]) == (slug, pointer)
    assert somebody.get(f"/v1/notes/{good['uniqueID']}").status_code == 410


def test_merged_into_itself_is_refused(somebody):
    tag = new_id()
    [result] = upload(somebody, deleted(tag, "tag", mergedInto=tag))["results"]
    assert (result["status"], result["problem"]["slug"]) == ("rejected", "invalid-field")
    assert somebody.get(f"/v1/tags/{tag}").status_code == 404


def test_a_wrong_object_type_is_refused(somebody, writer):
    note = writer.note(text="x")
    writer.push(notes=[note])
    [result] = upload(somebody, deleted(note["uniqueID"], "tag"))["results"]
    assert (result["status"], result["problem"]["slug"]) == ("rejected", "invalid-field")
    assert somebody.get(f"/v1/notes/{note['uniqueID']}").status_code == 200


@pytest.mark.parametrize("body", [{}, {"deletedObjects": {}}, {"deletedObjects": None}, {"notes": []}, []])
def test_a_malformed_body_is_refused_as_a_whole(somebody, body):
    problem = check_problem(somebody.post(PATH, body))
    assert problem["slug"] in ("invalid-field", "unknown-field")


def test_the_token_of_another_feed_is_refused(somebody):
    token = somebody.get("/v1/changes", params={"limit": 5000}).json()["syncToken"]
    note = somebody.post("/v1/notes", {}).json()["uniqueID"]
    refused = somebody.post(PATH, {"deletedObjects": [deleted(note)]}, params={"since": token})
    check_problem(refused, "invalid-field", 422)
    assert somebody.get(f"/v1/notes/{note}").status_code == 200
