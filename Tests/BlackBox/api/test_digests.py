"""`/v1/digests`: digests by prefix of the IDs, to find differing objects (merge.md, The digest)."""

import pytest
from convergence import settle
from device import Device
from local_copy import LocalCopy, deleted_digest, read_state
from rows import CLOCK, Row, check_problem, parametrize
from writer import deleted, new_id

pytestmark = pytest.mark.both_stores


def digests(client, prefix: str = "") -> dict:
    response = client.get("/v1/digests", params={"prefix": prefix} if prefix else {})
    assert response.status_code == 200, response.text
    return response.json()


def xor(values) -> str:
    total = 0
    for value in values:
        total ^= int(value, 16)
    return f"{total:032x}"


@pytest.fixture(scope="module")
def full(server):
    """An account with 60 objects of all types."""
    from writer import Writer

    writer = Writer(server.client())
    writer.push(
        notes=[writer.note(text=f"{index}", attributes={"n": index}) for index in range(30)],
        tags=[writer.tag(f"tag {index}") for index in range(10)],
        objects=[writer.thing(n=index) for index in range(10)],
        deletedObjects=[deleted(new_id(), kind) for kind in ("note", "tag", "board") for _ in range(3)]
        + [deleted(new_id(), "tag", mergedInto=new_id())],
    )
    return writer


def test_the_digest_of_the_scope(full):
    everything = digests(full.client)
    _, answer = full.client.read_all()
    assert everything["digest"] == answer["digest"]
    assert everything["objects"] == 60
    assert everything["prefix"] == "" and everything["serverClock"] == CLOCK
    assert "items" not in everything  # there are too many to list


def test_a_device_computes_the_same_digests(full):
    """They are computed from the objects and DeletedObjects that sync returns."""
    copy = LocalCopy()
    found, answer = full.client.read_all()
    for section, items in found.items():
        for item in items:
            if section == "deletedObjects":
                copy.fold_deleted(item)
            else:
                copy.fold_entity(read_state(section, item))
    assert copy.digest == answer["digest"]
    everything = {f"{entity.unique_id}": entity.digest for entity in copy.objects.values()}
    everything |= {unique_id: deleted_digest(gone) for unique_id, gone in copy.deleted.items()}
    for unique_id, digest in everything.items():
        items = digests(full.client, unique_id.replace("-", ""))["items"]
        assert [(item["uniqueID"], item["digest"]) for item in items] == [(unique_id, f"{digest:032x}")]


def test_the_digest_of_a_prefix_is_the_xor_of_its_children(full):
    """On every level down to the objects."""
    waiting, seen = [""], []
    while waiting:
        prefix = waiting.pop()
        level = digests(full.client, prefix)
        assert xor(child["digest"] for child in level["children"]) == level["digest"]
        assert sum(child["objects"] for child in level["children"]) == level["objects"]
        assert all(child["prefix"].startswith(prefix) for child in level["children"])
        assert [len(child["prefix"]) for child in level["children"]] == [len(prefix) + 1] * len(level["children"])
        if "items" in level:
            assert xor(item["digest"] for item in level["items"]) == level["digest"]
            seen += level["items"]
        else:
            waiting += [child["prefix"] for child in level["children"]]
    assert len({item["uniqueID"] for item in seen}) == 60
    assert {item["objectType"] for item in seen} == {"note", "tag", "board"}


def test_a_differing_object_is_found_by_prefix(devices):
    """The search that a client performs when its digest differs from the server's."""
    a, b = devices(2)
    notes = [a.make_note(f"note {index}") for index in range(40)]
    settle(a, b)
    held = {entity.unique_id.replace("-", ""): entity.digest for entity in a.copy.objects.values()}
    b.write(notes[7], "changed")
    b.sync()

    def narrow(client, prefix: str = "") -> list[str]:
        level = digests(client, prefix)
        if "items" in level:
            return [
                item["uniqueID"]
                for item in level["items"]
                if held.get(item["uniqueID"].replace("-", "")) != int(item["digest"], 16)
            ]
        found = []
        for child in level["children"]:
            mine = xor(f"{digest:x}" for unique_id, digest in held.items() if unique_id.startswith(child["prefix"]))
            if mine != child["digest"]:
                found += narrow(client, child["prefix"])
        return found

    assert narrow(a.client) == [notes[7]]


def test_a_prefix_without_objects(full):
    level = digests(full.client, "0123456789abcdef0123456789abcdef")
    assert (level["objects"], level["digest"], level["children"], level["items"]) == (0, "0" * 32, [], [])


def test_upper_case_prefixes(full):
    small, great = digests(full.client, "a"), digests(full.client, "A")
    small.pop("serverClock"), great.pop("serverClock")
    assert small == great


def test_edits_of_notes_that_do_not_exist_yet_are_not_counted(fresh_writer):
    fresh_writer.push(notes=[fresh_writer.edit(new_id(), text="waits")])
    assert digests(fresh_writer.client)["objects"] == 0
    assert digests(fresh_writer.client)["digest"] == "0" * 32


PREFIX = [
    Row("not a hex digit", "GET", "/v1/digests?prefix=g", status=422, holds={"slug": "invalid-field", "pointer": "prefix"}),
    Row("with hyphens", "GET", "/v1/digests?prefix=0123-4", status=422, holds={"slug": "invalid-field"}),
    Row("33 digits", "GET", f"/v1/digests?prefix={'0' * 33}", status=422, holds={"slug": "invalid-field"}),
    Row("32 digits", "GET", f"/v1/digests?prefix={'0' * 32}", status=200, holds={"objects": 0}),
    Row("empty", "GET", "/v1/digests?prefix=", status=200, holds={"prefix": ""}),
    Row("unknown parameter", "GET", "/v1/digests?limit=5", status=422, holds={"slug": "unknown-field"}),
]


@parametrize(PREFIX)
def test_prefix(row, somebody):
    row.run(somebody, {})


def test_digests_are_equal_after_every_step(devices):
    """After edits, deletions and merges of tags, the devices' digests equal the server's."""
    a, b = devices(2)
    steps = [
        lambda: a.make_note("x", pinned=True),
        lambda: a.make_object("board", title="x", n=1.5),
        lambda: [a.make_tag("Paris"), b.make_tag("paris")],
        lambda: [a.tag(note, tag) for note in list(a.notes) for tag in list(a.tags)],
        lambda: [b.archive(note) for note in list(b.notes)],
        lambda: [a.write(note, "A\nx") and b.write(note, "x\nB") for note in list(a.notes)],
        lambda: [a.delete(tag) for tag in list(a.tags)],
        lambda: [b.delete(note) for note in list(b.notes)],
    ]
    seen = set()
    for step in steps:
        step()
        settle(a, b)
        seen.add(a.digest)
    assert len(seen) == len(steps)
    assert isinstance(a, Device)


def test_digests_require_authentication(server):
    from client import Client

    check_problem(Client(server.url).get("/v1/digests"), "unauthenticated", 401)
