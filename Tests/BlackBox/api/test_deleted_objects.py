"""DeletedObjects: Vesper's upload-and-get-the-list-back, and deleting by sync (merge.md, Deleting)."""

import pytest
from desk import at
from rows import DATE, check_problem
from writer import deleted, new_id, rescue_of

pytestmark = pytest.mark.both_stores

PATH = "/v1/deleted-objects"


def upload(client, *gone: dict, since: str | None = None) -> dict:
    response = client.post(PATH, {"deletedObjects": list(gone)}, params={"since": since} if since else {})
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
    # Since that answer: nothing. After another deletion: that one alone.
    assert upload(client, since=answer["syncToken"])["deletedObjects"] == []
    client.delete(f"/v1/notes/{notes[2]}")
    later = upload(client, since=answer["syncToken"])
    assert [gone["uniqueID"] for gone in later["deletedObjects"]] == [notes[2]]


def test_without_uploading_everything_is_in_the_feed(fresh_writer):
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


def test_an_object_never_seen_can_be_deleted(writer):
    """Its DeletedObject waits for it: a note that comes later goes at once, its words back to whoever sent them."""
    note = writer.note(text="late")
    assert writer.push_one("deletedObjects", deleted(note["uniqueID"]))["status"] == "applied"
    answer = writer.push(notes=[note])
    assert answer["results"][0]["status"] == "deleted"
    assert [gone["uniqueID"] for gone in answer["changes"]["deletedObjects"]].count(note["uniqueID"]) == 1
    check_problem(writer.client.get(f"/v1/notes/{note['uniqueID']}"), "deleted", 410)


def test_a_deletion_beats_every_clock(writer):
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


def test_in_one_push_a_deletion_comes_first(writer):
    """Whatever the order in the request."""
    note = writer.note(text="x")
    answer = writer.push(notes=[note], deletedObjects=[deleted(note["uniqueID"])])
    assert [result["status"] for result in answer["results"]] == ["deleted", "applied"]
    assert writer.client.get(f"/v1/notes/{note['uniqueID']}").status_code == 410


def test_of_two_one_with_a_target_stands(writer):
    """With `mergedInto` before one without; of two with, the smaller target (merge.md, The fold)."""
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


def test_its_date_is_no_later_than_now(writer):
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
    ("no object", "gone", "invalid-field", "/deletedObjects/0"),
    ("no ID", {"objectType": "note"}, "invalid-field", "/deletedObjects/0/uniqueID"),
    ("an ID that is none", {"uniqueID": "x", "objectType": "note"}, "invalid-field", "/deletedObjects/0/uniqueID"),
    ("no type", {"uniqueID": new_id()}, "invalid-field", "/deletedObjects/0/objectType"),
    ("a type that is none", deleted(new_id(), "a b"), "invalid-field", "/deletedObjects/0/objectType"),
    ("a target of a note", deleted(new_id(), mergedInto=new_id()), "invalid-field", "/deletedObjects/0/mergedInto"),
    ("a target that is none", deleted(new_id(), "tag", mergedInto=1), "invalid-field", "/deletedObjects/0/mergedInto"),
    ("a wrong date", deleted(new_id(), deletionDate="today"), "invalid-field", "/deletedObjects/0/deletionDate"),
    ("textSeen is no clock", deleted(new_id(), textSeen="yesterday"), "invalid-field", "/deletedObjects/0/textSeen"),
    ("textSeen is a number", deleted(new_id(), textSeen=5), "invalid-field", "/deletedObjects/0/textSeen"),
    ("textSeen is null", deleted(new_id(), textSeen=None), "invalid-field", "/deletedObjects/0/textSeen"),
    ("textSeen of a tag", deleted(TAG, "tag", textSeen=""), "invalid-field", "/deletedObjects/0/textSeen"),
    ("textAfter is no list", deleted(new_id(), textSeen="", textAfter=at(1)), "invalid-field",
     "/deletedObjects/0/textAfter"),
    ("textAfter has 17 clocks", deleted(new_id(), textSeen="", textAfter=[at(index) for index in range(17)]),
     "invalid-field", "/deletedObjects/0/textAfter"),
    ("textAfter has no clocks", deleted(new_id(), textSeen="", textAfter=[at(1), "x"]), "invalid-field",
     "/deletedObjects/0/textAfter/1"),
    ("rescuedInto is another note", deleted(new_id(), rescuedInto=new_id()), "invalid-field",
     "/deletedObjects/0/rescuedInto"),
    ("rescuedInto is no ID", deleted(new_id(), rescuedInto="x"), "invalid-field", "/deletedObjects/0/rescuedInto"),
    ("rescuedInto of a tag", deleted(TAG, "tag", rescuedInto=rescue_of(TAG)), "invalid-field",
     "/deletedObjects/0/rescuedInto"),
    ("an unknown field", deleted(new_id(), why="old"), "unknown-field", "/deletedObjects/0/why"),
]  # fmt: skip


@pytest.mark.parametrize(("gone", "slug", "pointer"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_wrong_one_is_refused_by_itself(somebody, gone, slug, pointer):
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


def test_another_type_than_it_is(somebody, writer):
    note = writer.note(text="x")
    writer.push(notes=[note])
    [result] = upload(somebody, deleted(note["uniqueID"], "tag"))["results"]
    assert (result["status"], result["problem"]["slug"]) == ("rejected", "invalid-field")
    assert somebody.get(f"/v1/notes/{note['uniqueID']}").status_code == 200


@pytest.mark.parametrize("body", [{}, {"deletedObjects": {}}, {"deletedObjects": None}, {"notes": []}, []])
def test_a_wrong_shape_refuses_the_whole(somebody, body):
    problem = check_problem(somebody.post(PATH, body))
    assert problem["slug"] in ("invalid-field", "unknown-field")


def test_the_token_of_another_feed_is_refused(somebody):
    token = somebody.get("/v1/changes", params={"limit": 5000}).json()["syncToken"]
    note = somebody.post("/v1/notes", {}).json()["uniqueID"]
    refused = somebody.post(PATH, {"deletedObjects": [deleted(note)]}, params={"since": token})
    check_problem(refused, "invalid-field", 422)
    assert somebody.get(f"/v1/notes/{note}").status_code == 200
