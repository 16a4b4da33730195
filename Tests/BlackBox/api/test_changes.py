"""`/v1/changes` and the feeds of single types: pages, order, limits, echoes, tokens (protocol.md, Sync)."""

import pytest
from rows import CLOCK, DIGEST, Row, check_problem, parametrize
from writer import deleted, new_id

pytestmark = pytest.mark.both_stores

SECTIONS = ("notes", "tags", "attachments", "objects", "deletedObjects")


@pytest.fixture
def filled(fresh_writer):
    """A scope with 3 tags, 7 notes, 3 objects and 2 DeletedObjects, created in this order in separate pushes."""
    ids: dict[str, list[str]] = {name: [] for name in SECTIONS}

    def push(section: str, change: dict) -> None:
        assert fresh_writer.push_one(section, change)["status"] == "applied"
        ids[section].append(change["uniqueID"])

    for index in range(3):
        push("tags", fresh_writer.tag(f"tag {index}"))
    for index in range(9):
        push("notes", fresh_writer.note(text=f"note {index}"))
    for index in range(3):
        push("objects", fresh_writer.thing(("board", "card", "card")[index], title=str(index)))
    for _ in range(2):
        push("deletedObjects", deleted(ids["notes"].pop(0)))
    return fresh_writer, ids


def pages(client, path: str, since: str | None = None, **parameters) -> list[dict]:
    found = []
    for _ in range(1_000):
        response = client.get(path, params=parameters | ({"since": since} if since else {}))
        assert response.status_code == 200, response.text
        found.append(response.json())
        since = found[-1]["syncToken"]
        if not found[-1]["hasMore"]:
            return found
    raise AssertionError("the feed did not end")


def listed(page: dict) -> list[str]:
    """The IDs on a page, by section."""
    changes = page.get("changes", page)
    return [item["uniqueID"] for section in SECTIONS for item in changes.get(section, [])]


FEEDS = [
    ("/v1/notes", "notes", ("notes", "deletedObjects")),
    ("/v1/tags", "tags", ("tags",)),
    ("/v1/objects", "objects", ("objects",)),
    ("/v1/deleted-objects", "deletedObjects", ("deletedObjects",)),
]


@pytest.mark.parametrize(("path", "section", "carried"), FEEDS)
def test_a_feed_of_one_type(filled, path, section, carried):
    writer, ids = filled
    [page] = pages(writer.client, path)
    expected = [unique_id for name in carried for unique_id in ids[name][::-1]]
    assert listed(page) == expected
    assert set(page) == {section, "deletedObjects", "syncToken", "hasMore", "remaining", "serverClock"}
    assert page["remaining"] == {"objects": 0, "bytes": 0}
    assert page["serverClock"] == CLOCK
    assert pages(writer.client, path, page["syncToken"])[0][section] == []


def test_feeds_carry_deleted_objects_that_concern_them(filled):
    """The feed of notes also carries deleted tags, because notes refer to them."""
    writer, ids = filled
    tokens = {path: pages(writer.client, path)[-1]["syncToken"] for path, _, _ in FEEDS}
    gone = {"tag": ids["tags"][0], "card": ids["objects"][1]}
    writer.push(deletedObjects=[deleted(unique_id, kind) for kind, unique_id in gone.items()])
    found = {
        path: {item["objectType"] for item in pages(writer.client, path, tokens[path])[0]["deletedObjects"]}
        for path, _, _ in FEEDS
    }
    assert found == {
        "/v1/notes": {"tag"},
        "/v1/tags": {"tag"},
        "/v1/objects": {"card"},
        "/v1/deleted-objects": {"tag", "card"},
    }


def test_changes_contains_all_types(filled):
    writer, ids = filled
    [page] = pages(writer.client, "/v1/changes")
    assert {name: [item["uniqueID"] for item in page["changes"][name]] for name in SECTIONS} == {
        name: ids[name][::-1] for name in SECTIONS
    }
    assert page["digest"] == DIGEST
    assert page["digest"] == writer.client.get("/v1/digests").json()["digest"]


@pytest.mark.parametrize("limit", [1, 2, 4, 5, 14, 15, 16])
def test_pages_of_a_first_sync(filled, limit):
    """Live tags come first, then everything newest first. All pages but the last are full. No object is repeated."""
    writer, ids = filled
    found = pages(writer.client, "/v1/changes", limit=limit)
    everything = [unique_id for page in found for unique_id in listed(page)]
    total = sum(len(each) for each in ids.values())
    assert len(everything) == len(set(everything)) == total
    assert [len(listed(page)) for page in found[:-1]] == [limit] * (len(found) - 1)
    assert all("digest" not in page for page in found[:-1]) and found[-1]["digest"] == DIGEST
    for section in SECTIONS:
        together = [item["uniqueID"] for page in found for item in page["changes"][section]]
        assert together == ids[section][::-1]
    # The first pages contain the tags. All others are ordered by their last change, newest first.
    tags = set(ids["tags"])
    if limit <= 3:
        assert all(set(listed(page)) <= tags for page in found[: 3 // limit])
    assert tags <= {unique_id for page in found[: -(-3 // limit)] for unique_id in listed(page)}
    left = total
    for page in found:
        left -= len(listed(page))
        assert page["remaining"]["objects"] == left
        assert (page["remaining"]["bytes"] > 0) == (left > 0)


def test_changes_made_during_a_first_sync_follow_it(filled):
    """The pages show the state of the first request. They are followed by the changes made since then."""
    writer, ids = filled
    client = writer.client
    first = client.get("/v1/changes", params={"limit": 5}).json()
    made = writer.note(text="made meanwhile")
    edited, gone = ids["notes"][-1], ids["notes"][0]
    writer.push(notes=[made])
    writer.push(notes=[writer.edit(edited, text="edited meanwhile")])
    writer.push(deletedObjects=[deleted(gone)])
    rest = pages(client, "/v1/changes", first["syncToken"], limit=5)
    objects = {}
    for page in [first, *rest]:
        for note in page["changes"]["notes"]:
            objects[note["uniqueID"]] = note["text"]
        for item in page["changes"]["deletedObjects"]:
            objects.pop(item["uniqueID"], None)
    assert objects[made["uniqueID"]] == "made meanwhile"
    assert objects[edited] == "edited meanwhile"
    assert gone not in objects
    assert rest[-1]["digest"] == client.get("/v1/digests").json()["digest"]
    # An object changed meanwhile comes once, among the later changes.
    assert [listed(page) for page in rest][-1][-1] in (gone, edited, made["uniqueID"])


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_changes_since_a_token_are_in_ascending_order(filled, limit):
    writer, ids = filled
    client = writer.client
    token = pages(client, "/v1/changes")[-1]["syncToken"]
    edited = [ids["notes"][index] for index in (3, 1, 4)]
    for unique_id in edited:
        writer.push(notes=[writer.edit(unique_id, archived=True)])
    writer.push(tags=[writer.tag("renamed", ids["tags"][0])])
    found = pages(client, "/v1/changes", token, limit=limit)
    if limit == 1:
        assert [listed(page) for page in found] == [[unique_id] for unique_id in [*edited, ids["tags"][0]]]
    notes = [note["uniqueID"] for page in found for note in page["changes"]["notes"]]
    assert notes == edited
    assert [page["remaining"]["objects"] for page in found] == list(range(4 - limit, 0, -limit)) + [0]


def test_an_object_changed_twice_is_sent_once(filled):
    writer, ids = filled
    token = pages(writer.client, "/v1/changes")[-1]["syncToken"]
    for text in ("one", "two", "three"):
        writer.push(notes=[writer.edit(ids["notes"][0], text=text)])
    [page] = pages(writer.client, "/v1/changes", token)
    assert [note["text"] for note in page["changes"]["notes"]] == ["three"]


def test_a_token_can_be_used_twice(filled):
    writer, _ = filled
    for path, _, _ in FEEDS:
        first = pages(writer.client, path, limit=1)[0]
        one, other = (writer.client.get(path, params={"since": first["syncToken"]}).json() for _ in range(2))
        one.pop("serverClock"), other.pop("serverClock")
        assert one == other


def test_nothing_changed(filled):
    writer, _ = filled
    token = pages(writer.client, "/v1/changes")[-1]["syncToken"]
    page = writer.client.get("/v1/changes", params={"since": token}).json()
    assert listed(page) == []
    assert (page["syncToken"], page["hasMore"], page["digest"]) == (token, False, DIGEST)


def test_object_types_filter(filled):
    writer, ids = filled

    def found(types: str) -> dict:
        [page] = pages(writer.client, "/v1/changes", objectTypes=types)
        assert "digest" not in page  # the digest covers all types
        return {name: len(items) for name, items in page["changes"].items() if items}

    assert found("tag") == {"tags": 3}
    assert found("card") == {"objects": 2}
    assert found("tag,board") == {"tags": 3, "objects": 1}
    assert found("note") == {"notes": 7, "deletedObjects": 2}
    assert found("unheard.of") == {}


TOKENS = ["/v1/changes", "/v1/changes?objectTypes=note", "/v1/changes?objectTypes=note,tag", "/v1/notes", "/v1/tags",
          "/v1/objects", "/v1/deleted-objects"]  # fmt: skip
SAME = {"/v1/notes", "/v1/changes?objectTypes=note"}


def test_tokens_of_other_feeds_are_refused(filled):
    writer, _ = filled
    tokens = {path: pages(writer.client, path)[-1]["syncToken"] for path in TOKENS}
    for path in TOKENS:
        for other, token in tokens.items():
            response = writer.client.get(path, params={"since": token})
            if path == other or {path, other} <= SAME:
                assert response.status_code == 200
            else:
                check_problem(response, "invalid-field", 422)
    # The order of the types does not matter.
    assert len(pages(writer.client, "/v1/changes?objectTypes=tag,note", tokens["/v1/changes?objectTypes=note,tag"])) == 1


def test_tokens_of_sync_and_changes_are_interchangeable(filled):
    writer, _ = filled
    token = pages(writer.client, "/v1/changes")[-1]["syncToken"]
    assert writer.push(since=token)["changes"]["notes"] == []
    token = writer.push()["syncToken"]
    assert listed(pages(writer.client, "/v1/changes", token)[0]) == []


def test_the_token_of_another_account_has_expired(filled, somebody):
    """It belongs to another scope. The error is the same as for a token of another installation."""
    writer, _ = filled
    token = pages(writer.client, "/v1/changes")[-1]["syncToken"]
    check_problem(somebody.get("/v1/changes", params={"since": token}), "token-expired", 410)


@pytest.mark.parametrize("token", ["", "x", "AQ", "!!!", "A" * 200, "AQBfDBqeM7fSZAAAAAAAAAABAAAAABMlS8Q"])
def test_invalid_tokens_are_refused(somebody, token):
    check_problem(somebody.get("/v1/changes", params={"since": token}), "invalid-field", 422, "since")


def test_a_token_with_one_changed_character(somebody):
    """It may be valid by chance, but never causes a 5xx or returns data of another account."""
    token = somebody.get("/v1/changes", params={"limit": 5000}).json()["syncToken"]
    for index in range(len(token)):
        other = token[:index] + ("B" if token[index] != "B" else "C") + token[index + 1 :]
        assert somebody.get("/v1/changes", params={"since": other, "limit": 1}).status_code in (200, 410, 422)


LIMIT = [
    Row("limit 0", "GET", "/v1/changes?limit=0", status=422, holds={"slug": "invalid-field", "pointer": "limit"}),
    Row("limit -1", "GET", "/v1/notes?limit=-1", status=422, holds={"slug": "invalid-field", "pointer": "limit"}),
    Row("limit 1.5", "GET", "/v1/tags?limit=1.5", status=422, holds={"slug": "invalid-field", "pointer": "limit"}),
    Row("limit ten", "GET", "/v1/objects?limit=ten", status=422, holds={"pointer": "limit"}),
    Row("limit empty", "GET", "/v1/objects?limit=", status=422, holds={"pointer": "limit"}),
    Row("limit huge", "GET", f"/v1/changes?limit={10**40}", holds={"hasMore": False}),
    Row("limit at the maximum", "GET", "/v1/changes?limit=5000", holds={"hasMore": False}),
    Row("limit twice", "GET", "/v1/changes?limit=5&limit=5", status=422, holds={"pointer": "limit"}),
    Row("unknown parameter", "GET", "/v1/changes?sinc=x", status=422, holds={"slug": "unknown-field"}),
    Row("a parameter of another feed", "GET", "/v1/notes?objectTypes=note", status=422,
        holds={"slug": "unknown-field", "pointer": "objectTypes"}),
    Row("an invalid type", "GET", "/v1/changes?objectTypes=a%20b", status=422, holds={"pointer": "objectTypes"}),
    Row("no type", "GET", "/v1/changes?objectTypes=", status=422, holds={"pointer": "objectTypes"}),
]  # fmt: skip


@parametrize(LIMIT)
def test_parameters(row, client):
    row.run(client, {})


def test_pages_are_clamped(fresh_writer):
    """A page has 1,000 objects by default and at most 5,000 (protocol.md, Limits)."""
    for _ in range(3):
        fresh_writer.push(objects=[fresh_writer.thing(n=index) for index in range(1_700)])
    sizes = {
        limit: len(fresh_writer.client.get("/v1/changes", params=limit and {"limit": limit}).json()["changes"]["objects"])
        for limit in (None, 999, 5_000, 6_000)
    }
    assert sizes == {None: 1_000, 999: 999, 5_000: 5_000, 6_000: 5_000}
    assert len(fresh_writer.push(limit=6_000)["changes"]["objects"]) == 5_000
    assert len(fresh_writer.push(limit=2**53 - 1)["changes"]["objects"]) == 5_000
    assert len(fresh_writer.push()["changes"]["objects"]) == 1_000


def test_a_page_ends_early_past_4_mib_but_is_never_empty(fresh_writer):
    for _ in range(6):
        fresh_writer.push(notes=[fresh_writer.note(text="x" * 1_000_000)])
    sizes = [len(page["notes"]) for page in pages(fresh_writer.client, "/v1/notes")]
    assert sum(sizes) == 6 and sizes[0] == 5  # the fifth note exceeds 4 MiB
    assert [len(page["notes"]) for page in pages(fresh_writer.client, "/v1/notes", limit=1)] == [1] * 6


def test_echoes_are_omitted(fresh_writer):
    """An object pushed by the sender is omitted unless another device changed it since the sender's token."""
    writer = fresh_writer
    token = writer.push()["syncToken"]
    mine = writer.note(text="mine")
    answer = writer.push(token, notes=[mine])
    assert listed(answer) == [] and not answer["hasMore"]
    assert answer["digest"] == writer.client.get("/v1/digests").json()["digest"]

    # Another device's object is sent, the sender's own is not.
    other = type(writer)(writer.client.another_device())
    theirs = other.note(text="theirs")
    other.push(notes=[theirs])
    another = writer.note(text="mine too")
    answer = writer.push(answer["syncToken"], notes=[another])
    assert listed(answer) == [theirs["uniqueID"]]

    # Another device changed the pushed object. It is sent even though the pushed edit was applied.
    other.push(notes=[other.edit(mine["uniqueID"], archived=True)])
    answer = writer.push(answer["syncToken"], notes=[writer.edit(mine["uniqueID"], text="mine, again")])
    assert [result["status"] for result in answer["results"]] == ["applied"]
    assert [(note["text"], note["archived"]) for note in answer["changes"]["notes"]] == [("mine, again", True)]
    assert listed(writer.push(answer["syncToken"])) == []


def test_echoes_of_a_first_sync(fresh_writer):
    """Without a token, only objects that the push created are recognized as echoes."""
    note = fresh_writer.note(text="first")
    assert listed(fresh_writer.push(notes=[note])) == []
    again = fresh_writer.push(notes=[fresh_writer.edit(note["uniqueID"], text="second")])
    assert listed(again) == [note["uniqueID"]]


def test_superseded_and_deleted_objects_are_in_the_response(fresh_writer):
    """They are included regardless of token and limit, even if they changed long before the token."""
    writer = fresh_writer
    notes = [writer.note(text=str(index)) for index in range(5)]
    writer.push(notes=notes)
    gone = writer.note(text="gone")
    writer.push(notes=[gone], deletedObjects=[deleted(gone["uniqueID"])])
    token = writer.push()["syncToken"]
    early = "2020-01-01T00:00:00.000Z-0000-" + writer.node
    edits = [writer.edit(note["uniqueID"], early, text="early") for note in notes]
    answer = writer.push(token, limit=1, notes=[*edits, writer.edit(gone["uniqueID"], text="late")])
    assert {result["status"] for result in answer["results"]} == {"merged", "deleted"}
    assert set(listed(answer)) == {note["uniqueID"] for note in notes} | {gone["uniqueID"]}


def test_a_refused_new_object_is_not_in_the_response(fresh_writer):
    answer = fresh_writer.push(notes=[{"uniqueID": new_id(), "creationDate": "no"}])
    assert answer["results"][0]["status"] == "rejected"
    assert listed(answer) == []
