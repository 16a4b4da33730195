"""Lists for scripts: `GET /v1/notes` with `sort`, `GET /v1/tags` with `name`, and arrays (protocol.md, Lists for scripts)."""

from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from client import Client, Server
from rows import Row, check_problem, parametrize
from writer import Writer, new_id

pytestmark = pytest.mark.both_stores

ARRAY = {"Prefer": "return=array"}
NAMES = ["Amber", "Birch", "Cedar", "Daisy", "Elder", "Fern", "Ginkgo"]


@pytest.fixture(scope="module")
def library(server: Server) -> tuple[Client, list[str], dict[str, str]]:
    """An account with notes, oldest first, and tags by name. Every second note has the tag. The first two notes have the same date, the
    last two are archived."""
    writer = Writer(server.client())
    tags = {name: writer.tag(name) for name in ("Küche", "Garden", "Cellar")}
    notes = [
        writer.note(
            f"{number:x}" + new_id()[1:], text=name, sortDate=f"2024-01-{max(number, 1):02}T00:00:00Z", archived=number > 4,
            tags={tags["Küche"]["uniqueID"]: True} if number % 2 else {},
        )
        for number, name in enumerate(NAMES)
    ]  # fmt: skip
    writer.push(tags=list(tags.values()), notes=notes)
    return writer.client, [note["uniqueID"] for note in notes], {name: tag["uniqueID"] for name, tag in tags.items()}


def pages(client: Client, path: str, member: str, **parameters: object) -> Iterator[list]:
    """The arrays of all pages, by `nextCursor`."""
    cursor = {}
    for _ in range(20):
        response = client.get(path, params={**parameters, **cursor})
        assert response.status_code == 200, response.text
        yield response.json()[member]
        if "nextCursor" not in response.json():
            return
        cursor = {"cursor": response.json()["nextCursor"]}
    raise AssertionError("the pages do not end")


def arrays(client: Client, path: str, **parameters: object) -> Iterator[list]:
    """The arrays of all pages, by `Link`."""
    response = client.get(path, params=parameters, headers=ARRAY)
    for _ in range(20):
        assert response.status_code == 200, response.text
        assert response.headers["Preference-Applied"] == "return=array"
        assert "Prefer" in response.headers["Vary"] and "Unindexed" not in response.headers
        yield response.json()
        if "next" not in response.links:
            return
        address = urljoin(response.url, response.links["next"]["url"])
        response = client.get(address.removeprefix(client.url), headers=ARRAY)
    raise AssertionError("the pages do not end")


def texts(pages: Iterator[list]) -> list[str]:
    return [note["text"] for page in pages for note in page]


# MARK: Notes


@pytest.mark.parametrize("limit", [1, 3, 7, 8])
@pytest.mark.parametrize("order", ["asc", "desc", None])
def test_all_notes_in_pages(library, order, limit):
    client, ids, _ = library
    expected = NAMES if order == "asc" else NAMES[::-1]
    parameters = {"sort": "sortDate", "limit": limit} | ({"order": order} if order else {})
    found = list(pages(client, "/v1/notes", "notes", **parameters))
    assert [len(page) for page in found[:-1]] == [limit] * (len(found) - 1)
    assert [note["text"] for page in found for note in page] == expected
    # The notes are complete, as on their own route.
    assert found[0][0] == client.get(f"/v1/notes/{ids[NAMES.index(expected[0])]}").json()
    assert list(arrays(client, "/v1/notes", **parameters)) == found


def test_filters(library):
    client, _, tags = library

    def found(**parameters: object) -> list[str]:
        return texts(pages(client, "/v1/notes", "notes", sort="sortDate", order="asc", limit=2, **parameters))

    assert found(tag=tags["Küche"]) == ["Birch", "Daisy", "Fern"]
    assert found(tag=tags["Küche"].upper(), archived="false") == ["Birch", "Daisy"]
    assert found(archived="true") == ["Fern", "Ginkgo"]
    assert found(tag=tags["Garden"]) == found(tag=new_id()) == []
    only = client.get("/v1/notes", params={"sort": "sortDate", "tag": tags["Garden"]})
    assert only.json() == {"notes": []}


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages_are_not_moved_by_new_notes(fresh_writer, order):
    writer = fresh_writer
    writer.push(notes=[writer.note(text=str(day), sortDate=f"2024-01-0{day}T00:00:00Z") for day in range(2, 8)])
    parameters = {"sort": "sortDate", "order": order, "limit": 2}
    page = writer.client.get("/v1/notes", params=parameters).json()
    # Before the page, between its notes, and a note that was on it.
    days = [int(note["text"]) for note in page["notes"]]
    other = 1 if order == "asc" else 9
    notes = [writer.note(text="new", sortDate=f"2024-01-0{day}T{hour}:00:00Z") for day, hour in ((other, 10), (min(days), 12))]
    writer.push(notes=notes)
    assert writer.client.delete(f"/v1/notes/{page['notes'][1]['uniqueID']}").status_code == 200
    rest = texts(pages(writer.client, "/v1/notes", "notes", **parameters, cursor=page["nextCursor"]))
    assert rest == [str(day) for day in (range(4, 8) if order == "asc" else range(5, 1, -1))]


def test_a_search_can_begin_with_the_oldest_note(library):
    client, _, tags = library
    expected = ["Amber", "Birch", "Cedar", "Daisy", "Elder", "Fern", "Ginkgo"]
    found = pages(client, "/v1/search", "results", sort="oldest", limit=3)
    assert [result["note"]["text"] for page in found for result in page] == expected
    found = arrays(client, "/v1/search", sort="oldest", limit=2, tag=tags["Küche"], q="d")
    assert [result["note"]["text"] for page in found for result in page] == ["Daisy"]


INVALID = {"slug": "invalid-field"}
ROWS = [
    Row("sort", "GET", "/v1/notes?sort=newest", status=422, holds=INVALID | {"pointer": "sort"}),
    Row("order", "GET", "/v1/notes?sort=sortDate&order=down", status=422, holds=INVALID | {"pointer": "order"}),
    Row("tag", "GET", "/v1/notes?sort=sortDate&tag=kitchen", status=422, holds=INVALID | {"pointer": "tag"}),
    Row("archived", "GET", "/v1/notes?sort=sortDate&archived=1", status=422, holds=INVALID | {"pointer": "archived"}),
    Row("limit", "GET", "/v1/notes?sort=sortDate&limit=0", status=422, holds=INVALID | {"pointer": "limit"}),
    Row("cursor", "GET", "/v1/notes?sort=sortDate&cursor=x", status=422, holds=INVALID | {"pointer": "cursor"}),
    Row("since", "GET", "/v1/notes?sort=sortDate&since=x", status=422, holds=INVALID | {"pointer": "since"}),
    *(
        Row(f"{name} without sort", "GET", f"/v1/notes?{name}={value}", status=422, holds=INVALID | {"pointer": name})
        for name, value in (("order", "asc"), ("archived", "true"), ("tag", "{tag}"), ("cursor", "MQ"))
    ),
    Row("q", "GET", "/v1/notes?sort=sortDate&q=milk", status=422, holds={"slug": "unknown-field", "pointer": "q"}),
    Row("search by sortDate", "GET", "/v1/search?sort=sortDate", status=422, holds=INVALID | {"pointer": "sort"}),
    Row("name and since", "GET", "/v1/tags?name=a&since=x", status=422, holds=INVALID | {"pointer": "since"}),
    Row("name with NUL", "GET", "/v1/tags?name=a%00", status=422, holds=INVALID | {"pointer": "name"}),
]  # fmt: skip


@parametrize(ROWS)
def test_refused(library, row):
    client, _, tags = library
    row.run(client, {"tag": tags["Garden"]})


# MARK: Tags


def test_a_tag_by_its_name(library):
    client, _, tags = library
    for name in ("Küche", " KU\u0308CHE "):
        page = client.get("/v1/tags", params={"name": name}).json()
        assert [tag["uniqueID"] for tag in page["tags"]] == [tags["Küche"]]
        assert (page["deletedObjects"], page["hasMore"], page["remaining"]) == ([], False, {"objects": 0, "bytes": 0})
        # The same form as in the feed.
        assert page["tags"][0] in client.get("/v1/tags").json()["tags"]
        assert client.get("/v1/tags", params={"name": name}, headers=ARRAY).json() == page["tags"]
    for name in ("Küch", "", "Küche Garden", "x" * 2_000):
        assert client.get("/v1/tags", params={"name": name}).json()["tags"] == []
        assert client.get("/v1/tags", params={"name": name}, headers=ARRAY).json() == []
    # Its token cannot be mistaken for one of a feed, which would then lack all other tags.
    token = page["syncToken"]
    for path in ("/v1/tags", "/v1/changes", "/v1/changes?objectTypes=tag", "/v1/notes"):
        check_problem(client.get(path, params={"since": token}), "invalid-field", 422)
    check_problem(client.post("/v1/sync", {"syncToken": token}), "invalid-field", 422)


def test_a_name_of_another_account_a_deleted_and_a_merged_tag(library, fresh_writer):
    writer = fresh_writer
    assert writer.client.get("/v1/tags?name=Garden").json()["tags"] == []
    ids = ["0" + new_id()[1:], "f" + new_id()[1:], new_id()]
    writer.push(tags=[writer.tag(name, id) for name, id in zip(("one", "two", "gone"), ids, strict=True)])
    assert writer.client.delete(f"/v1/tags/{ids[2]}").status_code == 200
    assert writer.client.patch(f"/v1/tags/{ids[1]}", {"name": "ONE"}).status_code == 200
    for name, found in (("one", [ids[0]]), ("two", []), ("gone", [])):
        answer = writer.client.get("/v1/tags", params={"name": name}, headers=ARRAY).json()
        assert [tag["uniqueID"] for tag in answer] == found


def test_all_tags_as_an_array(library):
    client, _, tags = library
    page = client.get("/v1/tags")
    assert "Prefer" in page.headers["Vary"] and "Preference-Applied" not in page.headers
    for limit in (1, 2, 3, 100):
        found = list(arrays(client, "/v1/tags", limit=limit))
        assert [tag for part in found for tag in part] == page.json()["tags"]
        assert len(found) == -(-len(tags) // limit)
    after = client.get("/v1/tags", params={"since": page.json()["syncToken"]}, headers=ARRAY)
    assert (after.json(), after.links) == ([], {})


# MARK: Arrays


@pytest.mark.parametrize(
    ("preference", "applied"),
    [
        ("return=array", True), ("RETURN=array; a=b", True), ('return = "array"', True), ("wait=10, return=array", True),
        ("return=array, return=minimal", True), ("return=minimal, return=array", False), ("return=minimal", False),
        ("respond-async", False), ("", False), ('a=", return=array"', False), ("return", False), ("returns=array", False),
    ],
)  # fmt: skip
def test_preferences(library, preference, applied):
    client, _, _ = library
    for path in ("/v1/notes?sort=sortDate", "/v1/search", "/v1/tags", "/v1/tags?name=Garden"):
        response = client.get(path, headers={"Prefer": preference})
        assert isinstance(response.json(), list if applied else dict), path
        assert response.headers.get("Preference-Applied") == ("return=array" if applied else None)
        assert "Prefer" in response.headers["Vary"]


def test_links_encode_the_parameters(library):
    client, _, _ = library
    # A query without words finds all notes.
    answer = client.get("/v1/search?limit=1&q=%3E%26+%22&%73ort=oldest", headers=ARRAY)
    assert answer.headers["Link"].startswith("</v1/search?limit=1&q=%3E%26%20%22&sort=oldest&cursor=")
    assert answer.headers["Link"].endswith('>; rel="next"')
    second = client.get(answer.links["next"]["url"], headers=ARRAY)
    assert [result["note"]["text"] for result in second.json()] == ["Birch"] and second.headers["Link"].count("cursor=") == 1


def test_the_feed_of_notes_is_never_an_array(library):
    """A reader of an array would not see which notes were deleted."""
    client, _, _ = library
    response = client.get("/v1/notes", headers=ARRAY)
    assert {"notes", "deletedObjects", "syncToken"} <= set(response.json()) and "Preference-Applied" not in response.headers


def test_pages_of_other_origins_can_use_arrays(library):
    client, _, _ = library
    origin = {"Origin": "http://localhost:5173"}
    preflight = client.request("OPTIONS", "/v1/notes", headers=origin | {"Access-Control-Request-Method": "GET"})
    assert "Prefer" in preflight.headers["Access-Control-Allow-Headers"].split(", ")
    exposed = client.get("/v1/notes?sort=sortDate", headers=origin | ARRAY).headers["Access-Control-Expose-Headers"].split(", ")
    assert {"Link", "Preference-Applied", "Unindexed"} <= set(exposed)
