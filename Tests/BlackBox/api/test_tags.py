"""`/v1/tags/{uniqueID}`: single tags, whose names are unique under fold() (merge.md, Tags; protocol.md, Two forms)."""

import pytest
from rows import DATE, UUID, Row, check_problem, parametrize
from writer import deleted, new_id

pytestmark = pytest.mark.both_stores

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="module")
def kept(somebody) -> dict[str, str]:
    world = {"unknown": UNKNOWN, "gone": new_id(), "note": new_id(), "merged": "f" + new_id()[1:]}
    world |= {"taken": "0" + new_id()[1:], "name": f"Straße {new_id()}"}
    assert somebody.put(f"/v1/tags/{world['gone']}", {"name": world["gone"]}).status_code == 201
    assert somebody.delete(f"/v1/tags/{world['gone']}").status_code == 200
    assert somebody.put(f"/v1/notes/{world['note']}", {}).status_code == 201
    # A tag that was merged into another by a rename.
    assert somebody.put(f"/v1/tags/{world['taken']}", {"name": world["name"]}).status_code == 201
    assert somebody.put(f"/v1/tags/{world['merged']}", {"name": world["merged"]}).status_code == 201
    merged = somebody.patch(f"/v1/tags/{world['merged']}", {"name": world["name"].upper()})
    assert (merged.status_code, merged.headers["Content-Location"]) == (200, f"/v1/tags/{world['taken']}")
    return world | {"NAME": f"  {world['name'].upper()} "}


@pytest.fixture
def world(somebody, kept) -> dict[str, str]:
    own = f"own {new_id()}"
    answer = somebody.post("/v1/tags", {"name": own, "attributes": {"colour": "red"}})
    assert answer.status_code == 201, answer.text
    return kept | {
        "tag": answer.json()["uniqueID"], "own": own, "OWN": own.upper(), "new": "f" + new_id()[1:],
        "etag": answer.headers["ETag"],
    }  # fmt: skip


TAG = "/v1/tags/{tag}"
NEW = "/v1/tags/{new}"
WHOLE = {"uniqueID": "{tag}", "name": "{own}", "attributes": {"colour": "red"}}
SURVIVOR = {"uniqueID": "{taken}", "name": "{name}"}
TO_SURVIVOR = {"Content-Location": "/v1/tags/{taken}", "Location": None}
GONE = {"slug": "deleted", "deletedObject": {"uniqueID": "{gone}", "objectType": "tag", "deletionDate": DATE}}

ROWS = [
    Row("get", "GET", TAG, holds=WHOLE, lacks=("clocks",), answers={"ETag": "{etag}"}),
    Row("get, not changed", "GET", TAG, status=304, headers={"If-None-Match": "{etag}"}),
    Row("get, never seen", "GET", "/v1/tags/{unknown}", status=404),
    Row("get, a note's ID", "GET", "/v1/tags/{note}", status=404),
    Row("get, deleted", "GET", "/v1/tags/{gone}", status=410, holds=GONE, lacks=("mergedInto",)),
    Row("get, merged into another", "GET", "/v1/tags/{merged}", status=410,
        holds={"slug": "deleted", "deletedObject": {"uniqueID": "{merged}", "mergedInto": "{taken}"}}),
    Row("put, new", "PUT", NEW, {"name": "{new}"}, 201, holds={"name": "{new}", "attributes": {}},
        answers={"Location": NEW, "Content-Location": None}),
    Row("put, name missing", "PUT", NEW, {}, 422, holds={"slug": "invalid-field", "pointer": "/name"}),
    Row("put, name empty", "PUT", NEW, {"name": " \t "}, 422, holds={"slug": "invalid-field", "pointer": "/name"}),
    Row("put, name not a string", "PUT", NEW, {"name": 1}, 422, holds={"slug": "invalid-field", "pointer": "/name"}),
    Row("put, renames", "PUT", TAG, {"name": "{new}"}, holds={"name": "{new}", "attributes": {"colour": "red"}}),
    Row("put, the same again", "PUT", TAG, {"name": "{own}"}, holds=WHOLE, answers={"ETag": "{etag}"}),
    Row("put, the same name in upper case", "PUT", TAG, {"name": "{OWN}"}, holds={"uniqueID": "{tag}", "name": "{OWN}"},
        answers={"Content-Location": None}),
    Row("put, a taken name", "PUT", NEW, {"name": "{NAME}"}, 200, holds=SURVIVOR, answers=TO_SURVIVOR),
    Row("put, deleted", "PUT", "/v1/tags/{gone}", {"name": "{new}"}, 410, holds=GONE),
    Row("put, the ID of a note", "PUT", "/v1/tags/{note}", {"name": "{new}"}, 422, holds={"pointer": "/uniqueID"}),
    Row("put, only if new, and it exists", "PUT", TAG, {"name": "{new}"}, 412, headers={"If-None-Match": "*"}),
    Row("put, another version", "PUT", TAG, {"name": "{new}"}, 412, headers={"If-Match": '"other"'}),
    Row("put, the merged tag with its last name", "PUT", "/v1/tags/{merged}", {"name": "{name}"},
        holds=SURVIVOR, answers=TO_SURVIVOR),
    Row("patch, attributes", "PATCH", TAG, {"attributes": {"icon": None}},
        holds={"name": "{own}", "attributes": {"colour": "red", "icon": None}}),
    Row("patch, renames", "PATCH", TAG, {"name": "{new}"}, holds={"name": "{new}"}),
    Row("patch, never seen", "PATCH", NEW, {"name": "{new}"}, 404, holds={"slug": "not-found"}),
    Row("patch, deleted", "PATCH", "/v1/tags/{gone}", {"name": "{new}"}, 410, holds=GONE),
    Row("patch, unknown field", "PATCH", TAG, {"nme": "a"}, 422, holds={"slug": "unknown-field", "pointer": "/nme"}),
    Row("delete", "DELETE", TAG, holds={"uniqueID": "{tag}", "objectType": "tag", "deletionDate": DATE}),
    Row("delete again", "DELETE", "/v1/tags/{gone}", holds={"uniqueID": "{gone}", "objectType": "tag"}),
    Row("delete, never seen", "DELETE", "/v1/tags/{unknown}", status=404),
    Row("post", "POST", "/v1/tags", {"name": "{new}"}, 201, holds={"uniqueID": UUID, "name": "{new}"}),
    Row("post, a taken name", "POST", "/v1/tags", {"name": "{NAME}"}, 200, holds=SURVIVOR, answers=TO_SURVIVOR),
    Row("post, a taken name, with an ID", "POST", "/v1/tags", {"uniqueID": "{new}", "name": "{NAME}"},
        200, holds=SURVIVOR, answers=TO_SURVIVOR),
    Row("post, an existing ID", "POST", "/v1/tags", {"uniqueID": "{tag}", "name": "{new}"}, 200, holds=WHOLE),
    Row("post, deleted", "POST", "/v1/tags", {"uniqueID": "{gone}", "name": "{new}"}, 410, holds=GONE),
    Row("post, name missing", "POST", "/v1/tags", {"attributes": {}}, 422, holds={"pointer": "/name"}),
]  # fmt: skip


@parametrize(ROWS)
def test_tag(row, somebody, world):
    row.run(somebody, world)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Paris", "  paris\t"),
        ("STRASSE", "straße"),
        ("É", "e\u0301"),
        ("ΣΑΣ", "σας"),
        ("ﬁle", "FILE"),
        ("Ⅷ", "ⅷ"),
    ],
)
def test_names_that_are_equal_under_fold(somebody, one, other):
    suffix = new_id()
    first = somebody.post("/v1/tags", {"name": f"{one}{suffix}"})
    second = somebody.post("/v1/tags", {"name": other.replace(other.strip(), other.strip() + suffix)})
    assert (first.status_code, second.status_code) == (201, 200), second.text
    assert second.json() == first.json()


def test_posting_a_tag_twice_creates_one(somebody):
    tag = {"uniqueID": new_id(), "name": new_id()}
    first, second = somebody.post("/v1/tags", tag), somebody.post("/v1/tags", tag)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()


def test_the_smaller_id_survives_a_put_with_a_taken_name(somebody):
    """Even if it was created second. Notes with the other tag now have the survivor."""
    small, great, name = "0" + new_id()[1:], "f" + new_id()[1:], new_id()
    somebody.put(f"/v1/tags/{great}", {"name": name})
    note = somebody.post("/v1/notes", {"tags": [great]}).json()["uniqueID"]
    made = somebody.put(f"/v1/tags/{small}", {"name": name.upper()})
    assert (made.status_code, made.json()["uniqueID"]) == (201, small)
    gone = check_problem(somebody.get(f"/v1/tags/{great}"), "deleted", 410)
    assert gone["deletedObject"]["mergedInto"] == small
    assert somebody.get(f"/v1/notes/{note}").json()["tags"] == [small]
    # The old ID refers to the survivor.
    assert somebody.patch(f"/v1/notes/{note}", {"tags": [great]}).json()["tags"] == [small]


def test_chains_of_merged_tags_are_resolved(somebody, writer):
    ids = sorted(new_id() for _ in range(4))
    note = somebody.post("/v1/notes", {}).json()["uniqueID"]
    tags = [writer.tag(new_id(), unique_id) for unique_id in ids]
    members = writer.edit(note, tags={unique_id: unique_id == ids[3] for unique_id in ids[3:]})
    writer.push(tags=tags, notes=[members])
    for survivor, loser in zip(ids, ids[1:], strict=False):
        assert writer.push_one("deletedObjects", deleted(loser, "tag", mergedInto=survivor))["status"] == "applied"
    assert somebody.get(f"/v1/notes/{note}").json()["tags"] == [ids[0]]


def test_a_cycle_of_merged_tags_resolves_to_nothing(somebody, writer):
    one, other = new_id(), new_id()
    note = writer.note(text="x", tags={one: True, other: True})
    writer.push(
        notes=[note], deletedObjects=[deleted(one, "tag", mergedInto=other), deleted(other, "tag", mergedInto=one)]
    )
    assert somebody.get(f"/v1/notes/{note['uniqueID']}").json()["tags"] == []


def test_deleting_a_tag_does_not_change_notes(somebody, world):
    note = somebody.post("/v1/notes", {"tags": [world["tag"]]}).json()["uniqueID"]
    token = somebody.get("/v1/notes", params={"limit": 5000}).json()["syncToken"]
    somebody.delete(f"/v1/tags/{world['tag']}")
    page = somebody.get("/v1/notes", params={"since": token}).json()
    assert page["notes"] == []
    assert [gone["uniqueID"] for gone in page["deletedObjects"]] == [world["tag"]]
    assert somebody.get(f"/v1/notes/{note}").json()["tags"] == []


def test_the_name_of_a_deleted_tag_can_be_used_again(somebody, world):
    somebody.delete(f"/v1/tags/{world['tag']}")
    again = somebody.post("/v1/tags", {"name": world["own"]})
    assert again.status_code == 201
    assert again.json()["uniqueID"] != world["tag"]


def test_the_old_name_of_a_renamed_tag_can_be_used_again(somebody, world):
    somebody.patch(f"/v1/tags/{world['tag']}", {"name": world["new"]})
    assert somebody.post("/v1/tags", {"name": world["own"]}).status_code == 201
    assert somebody.post("/v1/tags", {"name": world["new"].upper()}).json()["uniqueID"] == world["tag"]
