"""`/v1/search`: full text, filters, pages (protocol.md, Resources)."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from client import Server
from database import query
from rows import Row, parametrize
from waiting import wait_until
from writer import Writer, deleted, new_id

pytestmark = pytest.mark.both_stores

TEXTS = {
    "milk": "Milk\nBread and butter",
    "cafe": "Café Ångström, naïve résumé",
    "tokyo": "東京都に行きました",
    "greek": "ΟΔΥΣΣΕΥΣ went home",
    "quick": "The quick brown fox jumps over the lazy dog",
    "slow": "The brown quick fox sleeps",
    "code": "let x = foo_bar(42); don't panic",
    "arabic": "مرحبا بالعالم",
    "emoji": "party \U0001f389 time",
    "long": "beginning " + "filler " * 500 + "needle " + "filler " * 500,
}


@pytest.fixture(scope="module")
def library(server):
    """Notes by name, oldest first. `milk` and `cafe` are archived. `quick` and `slow` have the tag."""
    writer = Writer(server.client())
    tag = writer.tag("animals")
    ids = {}
    writer.push(tags=[tag])
    for index, (name, text) in enumerate(TEXTS.items()):
        note = writer.note(
            text=text,
            archived=name in ("milk", "cafe"),
            sortDate=f"2024-01-{index + 1:02}T00:00:00Z",
            tags={tag["uniqueID"]: True} if name in ("quick", "slow") else None,
        )
        writer.push(notes=[note])
        ids[name] = note["uniqueID"]
    return writer, ids, tag["uniqueID"]


def found(library, q: str | None = None, **parameters) -> list[str]:
    writer, ids, _ = library
    if q is not None:
        parameters["q"] = q
    response = writer.client.get("/v1/search", params=parameters)
    assert response.status_code == 200, response.text
    names = {unique_id: name for name, unique_id in ids.items()}
    return [names[result["note"]["uniqueID"]] for result in response.json()["results"]]


QUERIES = [
    ("a word", "milk", ["milk"]),
    ("case is ignored", "MILK", ["milk"]),
    ("a prefix", "mil", ["milk"]),
    ("not within a word", "ilk", []),
    ("every word", "bread butter", ["milk"]),
    ("every word, one is missing", "bread honey", []),
    ("in any order", "fox quick", ["slow", "quick"]),
    ("a phrase", '"quick brown"', ["quick"]),
    ("a phrase in reverse order", '"brown quick"', ["slow"]),
    ("a phrase and a word", '"quick brown" lazy', ["quick"]),
    ("a phrase that is not closed", '"quick bro', ["quick"]),
    ("typographic quotes", "\u201cquick brown\u201d", ["quick"]),
    ("accents are ignored", "cafe resume", ["cafe"]),
    ("accents of the query are ignored", "mílk", ["milk"]),
    ("a ring is an accent", "angstrom", ["cafe"]),
    ("final sigma", "οδυσσευς", ["greek"]),
    ("pairs of characters", "東京", ["tokyo"]),
    ("pairs in the middle", "京都", ["tokyo"]),
    ("pairs that are not adjacent", "東都", []),
    ("an apostrophe", "don't", ["code"]),
    ("a number", "42", ["code"]),
    ("right to left", "مرحبا", ["arabic"]),
    ("late in a long text", "needle", ["long"]),
    ("no words", "!!! ...", list(TEXTS)[::-1]),
    ("empty", "", list(TEXTS)[::-1]),
    ("SQL wildcards are not special", "mi%", ["milk"]),
    ("SQL operators are not special", "quick OR milk", []),
    ("SQL quotes are not special", "'; DROP TABLE notes; --", []),
]


@pytest.mark.parametrize(("q", "expected"), [row[1:] for row in QUERIES], ids=[row[0] for row in QUERIES])
def test_query(library, q, expected):
    assert found(library, q) == expected


def test_without_a_query_all_notes_are_found(library):
    assert found(library) == list(TEXTS)[::-1]


def test_filters(library):
    _, _, tag = library
    assert found(library, archived="true") == ["cafe", "milk"]
    assert found(library, archived="false") == [name for name in list(TEXTS)[::-1] if name not in ("milk", "cafe")]
    assert found(library, tag=tag) == ["slow", "quick"]
    assert found(library, "lazy", tag=tag.upper()) == ["quick"]
    assert found(library, "milk", tag=tag) == []
    assert found(library, "milk", archived="false") == []
    assert found(library, tag=new_id()) == []


@pytest.mark.parametrize("sort", ["newest", "relevance"])
@pytest.mark.parametrize("limit", [1, 3, 10, 11])
def test_pages(library, sort, limit):
    writer, ids, _ = library
    seen, cursor = [], {}
    for _ in range(20):
        page = writer.client.get("/v1/search", params={"sort": sort, "limit": limit, **cursor}).json()
        assert len(page["results"]) <= limit
        seen += [result["note"]["uniqueID"] for result in page["results"]]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert sorted(seen) == sorted(ids.values())


def test_relevance(library):
    """Texts with more occurrences and fewer words rank higher."""
    writer, _, _ = library
    word = "relevance" + new_id().replace("-", "")
    notes = [writer.note(text=text, sortDate="2020-01-01T00:00:00Z") for text in (f"{'filler ' * 200}{word}", f"{word} {word}")]
    writer.push(notes=notes)
    page = writer.client.get("/v1/search", params={"q": word, "sort": "relevance"}).json()
    assert [result["note"]["uniqueID"] for result in page["results"]] == [notes[1]["uniqueID"], notes[0]["uniqueID"]]
    writer.push(deletedObjects=[deleted(note["uniqueID"]) for note in notes])


def test_results_have_notes_and_snippets_with_ranges(library):
    writer, ids, tag = library
    [result] = writer.client.get("/v1/search", params={"q": "quick lazy"}).json()["results"]
    assert result["note"] == writer.client.get(f"/v1/notes/{ids['quick']}").json()
    assert result["note"]["tags"] == [tag] and "clocks" not in result["note"]
    snippet = result["snippet"]
    marked = [snippet["text"][each["location"] : each["location"] + each["length"]] for each in snippet["ranges"]]
    assert marked == ["quick", "lazy"]
    assert "<" not in snippet["text"]


def test_snippets_show_the_match(library):
    writer, _, _ = library
    [result] = writer.client.get("/v1/search", params={"q": "needle"}).json()["results"]
    snippet = result["snippet"]
    assert len(snippet["text"]) < 1_000
    [mark] = snippet["ranges"]
    assert snippet["text"][mark["location"] : mark["location"] + mark["length"]] == "needle"


def test_without_a_query_there_are_no_snippets(library):
    writer, _, _ = library
    assert all("snippet" not in result for result in writer.client.get("/v1/search").json()["results"])


def test_a_search_finds_every_earlier_push(fresh_writer):
    """The index is updated after commits. A search first indexes what was pushed before it."""
    writer = fresh_writer
    note = writer.note(text="word0")
    writer.push(notes=[note])

    def search(q: str) -> int:
        return len(writer.client.get("/v1/search", params={"q": q}).json()["results"])

    for index in range(1, 20):
        writer.push(notes=[writer.edit(note["uniqueID"], text=f"word{index} end", base=None)])
        assert search(f"word{index} end") == 1
        assert search(f"word{index - 1} end") == 0 or index in (2, 11)  # "word1" also begins "word1x"
    writer.push(deletedObjects=[deleted(note["uniqueID"])])
    assert search("end") == 0


def test_a_large_push_is_found_completely(fresh_writer):
    writer = fresh_writer
    writer.push(notes=[writer.note(text=f"common unique{index:04}") for index in range(1_500)])
    writer.client.wait_for_index()
    found, cursor = [], {}
    # A page may end early on a busy machine.
    for _ in range(100):
        page = writer.client.get("/v1/search", params={"q": "common", "limit": 5_000, **cursor}).json()
        found += [result["note"]["uniqueID"] for result in page["results"]]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(found) == len(set(found)) == 1_500
    assert len(writer.client.get("/v1/search", params={"q": "unique0777"}).json()["results"]) == 1


@pytest.mark.thorough_on_postgresql
def test_a_search_during_indexing_returns_what_is_indexed(fresh_server, everything):
    """The response contains the number of notes that are not indexed yet. The server continues to index in the background."""
    writer = Writer(fresh_server.client())
    text = " ".join(f"{new_id()} common" for _ in range(100))
    parts = 8 if everything else 3
    for part in range(parts):
        writer.push(notes=[writer.note(text=f"{text} part{part} number{index}") for index in range(500)])
    parameters = {"q": "common", "limit": 1}
    start = time.monotonic()
    first = writer.client.get("/v1/search", params=parameters).json()
    assert time.monotonic() - start < 3
    assert 0 < first["unindexed"] <= 500 * parts
    # An array has the number in a header.
    array = writer.client.get("/v1/search", params=parameters, headers={"Prefer": "return=array"})
    unindexed = [first["unindexed"], int(array.headers.get("Unindexed", 0))]
    for _ in range(600):
        time.sleep(0.1)
        answer = writer.client.get("/v1/search", params=parameters).json()
        unindexed.append(answer.get("unindexed", 0))
        if "unindexed" not in answer:
            break
    assert unindexed == sorted(unindexed, reverse=True), unindexed
    assert unindexed[-1] == 0
    last = writer.client.get("/v1/search", params={"q": f"number499 part{parts - 1}"}).json()
    assert len(last["results"]) == 1
    assert "unindexed" not in last


def test_notes_left_unindexed_by_another_process_are_indexed(fresh_server):
    """The server polls for such notes twice a second."""
    if Server.store is not None:
        pytest.skip("the statements are SQLite's")
    writer = Writer(fresh_server.client())
    writer.push(notes=[writer.note(text=f"milk {index}") for index in range(300)])
    writer.client.wait_for_index()
    query(fresh_server, "DELETE FROM documents")
    query(fresh_server, "DELETE FROM terms")
    query(fresh_server, "UPDATE scopes SET indexed_sequence = 0")
    wait_until(lambda: query(fresh_server, "SELECT indexed_sequence FROM scopes") == [(300,)], 20)
    found = writer.client.get("/v1/search", params={"q": "milk", "limit": 500}).json()
    assert len(found["results"]) == 300
    assert "unindexed" not in found


def test_merged_tags_are_found_by_either_id(fresh_writer):
    writer = fresh_writer
    small, great = "0" + new_id()[1:], "f" + new_id()[1:]
    writer.push(tags=[writer.tag("one", small), writer.tag("other", great)])
    note = writer.note(text="x", tags={great: True})
    other = writer.note(text="y", tags={small: True, great: False})
    writer.push(notes=[note, other])
    writer.push(tags=[writer.tag("ONE", great)])
    for tag in (small, great):
        page = writer.client.get("/v1/search", params={"tag": tag}).json()
        shown = {result["note"]["uniqueID"]: result["note"]["tags"] for result in page["results"]}
        assert shown[note["uniqueID"]] == [small]
        # The other note has two registers of the merged tag. The greater clock decides, as on the note's own route.
        plain = writer.client.get(f"/v1/notes/{other['uniqueID']}").json()["tags"]
        assert (other["uniqueID"] in shown) == (plain == [small])


def test_a_removed_tag_does_not_match(fresh_writer):
    writer = fresh_writer
    tag = writer.tag("x")
    note = writer.note(text="x", tags={tag["uniqueID"]: True})
    writer.push(tags=[tag], notes=[note])
    writer.push(notes=[writer.edit(note["uniqueID"], tags={tag["uniqueID"]: False})])
    assert writer.client.get("/v1/search", params={"tag": tag["uniqueID"]}).json()["results"] == []


ROWS = [
    Row("sort unknown", "GET", "/v1/search?sort=best", status=422, holds={"slug": "invalid-field", "pointer": "sort"}),
    Row("archived unknown", "GET", "/v1/search?archived=yes", status=422, holds={"pointer": "archived"}),
    Row("tag is not an ID", "GET", "/v1/search?tag=x", status=422, holds={"pointer": "tag"}),
    Row("limit 0", "GET", "/v1/search?limit=0", status=422, holds={"pointer": "limit"}),
    Row("an invalid cursor", "GET", "/v1/search?cursor=x", status=422, holds={"pointer": "cursor"}),
    Row("a cursor of another order", "GET", "/v1/search?cursor=NQ", status=422, holds={"pointer": "cursor"}),
    Row("a cursor after the last result", "GET", "/v1/search?q=x&sort=relevance&cursor=OTIyMzM3MjAzNjg1NDc3NTgwNw", status=200,
        holds={"results": []}),
    Row("1,000 characters", "GET", f"/v1/search?q={'a' * 1_000}", status=200, holds={"results": []}),
    Row("1,001 characters", "GET", f"/v1/search?q={'a' * 1_001}", status=422, holds={"pointer": "q"}),
    Row("32 words", "GET", "/v1/search?q=" + "+".join(f"w{index}" for index in range(32)), status=200),
    Row("33 words", "GET", "/v1/search?q=" + "+".join(f"w{index}" for index in range(33)), status=422,
        holds={"pointer": "q"}),
    Row("unknown parameter", "GET", "/v1/search?query=x", status=422, holds={"slug": "unknown-field"}),
]  # fmt: skip


@parametrize(ROWS)
def test_parameters(row, somebody):
    row.run(somebody, {})


def test_a_page_ends_early_after_4_mib(fresh_writer):
    """A page ends when its notes exceed 4 MiB. The next page continues from there."""
    long = [fresh_writer.note(text=f"long {index}\n" + "x" * 1_000_000) for index in range(7)]
    for note in long:
        fresh_writer.push(notes=[note])
    fresh_writer.client.wait_for_index()
    pages, cursor = [], {}
    for _ in range(3):
        page = fresh_writer.client.get("/v1/search", params={"q": "long", **cursor}).json()
        pages.append([result["note"]["uniqueID"] for result in page["results"]])
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert [len(page) for page in pages] == [5, 2]
    assert sorted(sum(pages, [])) == sorted(note["uniqueID"] for note in long)


def test_pages_are_stable_while_notes_are_added(fresh_writer):
    """Notes added before the cursor cause no repetition and no gap."""
    writer = fresh_writer
    old = [writer.note(text=f"milk {index}", sortDate=f"2024-01-0{index + 1}T00:00:00Z") for index in range(6)]
    writer.push(notes=old)
    for parameters in ({}, {"q": "milk"}):
        seen, cursor = [], {}
        for _ in range(10):
            page = writer.client.get("/v1/search", params={"limit": 2, **parameters, **cursor}).json()
            seen += [result["note"]["uniqueID"] for result in page["results"]]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
            writer.push(notes=[writer.note(text="milk", sortDate="2025-01-01T00:00:00Z")])
        assert seen[-6:] == [note["uniqueID"] for note in reversed(old)]
        assert len(seen) == len(set(seen))


def test_search_limits_are_published(client):
    limits = client.get("/v1/server").json()["limits"]
    published = {name: limits[name] for name in limits if name.startswith("search")}
    assert published == {"searchLength": 1_000, "searchTerms": 32}


def test_expensive_searches_do_not_block_other_accounts(server):
    """Each of 72 searches, 24 at a time, succeeds or is refused. Another account writes meanwhile."""
    ada, bob = Writer(server.client()), Writer(server.client())
    words = [f"word{index}x" for index in range(30)]
    for _ in range(3):
        ada.push(notes=[ada.note(text=" ".join(f"{word}{new_id()[:4]}" for word in words)) for _ in range(400)])
    parameters = {"q": " ".join(words), "sort": "relevance", "limit": 1}
    ada.client.wait_for_index()
    assert ada.client.get("/v1/search", params=parameters).status_code in (200, 422)
    with ThreadPoolExecutor(24) as threads:
        searches = [threads.submit(ada.client.get, "/v1/search", params=parameters) for _ in range(72)]
        for index in range(20):
            [result] = bob.push(notes=[bob.note(text=f"milk {index}")])["results"]
            assert result["status"] == "applied"
        answers = [search.result() for search in searches]
    for answer in answers:
        if answer.status_code == 429:
            assert int(answer.headers["Retry-After"]) > 0
        else:
            assert answer.status_code == 200 or answer.json()["slug"] == "search-too-costly", answer.text
    assert any(answer.status_code != 429 for answer in answers)
