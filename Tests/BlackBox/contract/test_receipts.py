"""The keys of `fields` in receipts are those that the contract lists, and an invalid value refuses only itself."""

import re
import uuid

import pytest

import clocks


def new_id():
    return str(uuid.uuid4())


@pytest.fixture(scope="module")
def client(server):
    return server.client()


@pytest.fixture(scope="module")
def stamp(client):
    source = clocks.ClockSource(client.device["uniqueID"])
    return lambda: source.tick()


def receipts(client, **changes):
    answer = client.post("/v1/sync", {"changes": changes})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def rejected(result):
    return {name for name, field in result.get("fields", {}).items() if field["outcome"] == "rejected"}


def test_keys_of_receipts_are_in_the_contract(client, contract, stamp):
    wrong = {"uniqueID": new_id(), "creationDate": 1, "text": 1, "archived": 1, "sortDate": 1, "tags": 1, "attachments": 1,
             "attributes": 1, "textBase": 1, "textAfter": 1, "textBaseValue": 1, "clocks": {"colour": 1}}  # fmt: skip
    members = {"tags": {new_id(): "x"}, "attachments": {new_id(): "x"}, "attributes": {"a": stamp()}}
    attachment = dict.fromkeys(("mimeType", "width", "height", "filename", "preview", "byteCount", "sha256"), {})
    results = receipts(
        client,
        notes=[wrong, {"uniqueID": new_id(), "clocks": 1}, {"uniqueID": new_id(), "clocks": members}],
        tags=[{"uniqueID": new_id(), "name": 1}],
        attachments=[{"uniqueID": new_id(), **attachment}],
        objects=[
            {"uniqueID": new_id(), "objectType": 1, "texts": 1, "files": 1},
            {"uniqueID": new_id(), "texts": {"a": 1}, "files": {"a": 1},
             **{name: {"a": 1} for name in ("textBases", "textsAfter", "textBaseValues")}},
        ],
    )
    found = set().union(*(rejected(result) for result in results))
    listed = re.findall(r"`([^`]+)`", contract["components"]["schemas"]["PushResult"]["properties"]["fields"]["description"])
    kinds = {re.sub(r"\.(.+)", lambda match: ".<", name) for name in found}
    known = {re.sub(r"\.<.+", ".<", name) for name in listed}
    assert kinds <= known
    # All listed names occur as keys, except for `rejected`, which is an outcome.
    assert known - kinds == {"rejected"}


def test_an_invalid_clock_or_attribute_refuses_only_itself(client, stamp):
    good, bad = new_id(), new_id()
    note = {
        "uniqueID": new_id(), "creationDate": "2026-11-21T12:00:00.000Z", "tags": [good, bad],
        "attributes": {"pinned": True, "list": []},
        "clocks": {"tags": {good: stamp(), bad: "yesterday"}, "attributes": {"pinned": stamp(), "list": stamp()}},
    }  # fmt: skip
    (result,) = receipts(client, notes=[note])
    assert rejected(result) == {f"tags.{bad}", "attributes.list"}
    pointers = {name: field["problem"]["pointer"] for name, field in result["fields"].items()}
    assert pointers == {
        f"tags.{bad}": f"/changes/notes/0/clocks/tags/{bad}", "attributes.list": "/changes/notes/0/attributes/list",
    }  # fmt: skip
    assert client.get(f"/v1/notes/{note['uniqueID']}").json()["attributes"] == {"pinned": True}


@pytest.mark.parametrize("kind", ["tags", "attachments"])
def test_an_invalid_member_is_refused_alone(client, stamp, kind):
    """In the list, in the clocks, or in both. Its name is cut after 64 characters."""
    inside, taken_out = new_id(), new_id()
    note = {"uniqueID": new_id(), "creationDate": "2026-11-21T12:00:00.000Z", kind: [taken_out],
            "clocks": {kind: {taken_out: stamp()}}}  # fmt: skip
    receipts(client, notes=[note])
    names = ["no ID", "x" * 70, "\N{SNOWMAN}" * 70, "", f"{{{inside}}}", "a/b~c"]
    note[kind] = [inside, *names[:4], "no ID"]
    note["clocks"] = {kind: {name: stamp() for name in [*names[1:], inside, taken_out]}}
    (result,) = receipts(client, notes=[note])
    assert result["status"] == "rejected" and "problem" not in result
    places = {name.removeprefix(f"{kind}."): field["problem"]["pointer"] for name, field in result["fields"].items()}
    begin = f"/changes/notes/0/{kind}"
    assert places == {
        "no ID": f"{begin}/1", "x" * 64: f"{begin}/2", "\N{SNOWMAN}" * 64: f"{begin}/3", "": f"{begin}/4",
        f"{{{inside}}}": f"/changes/notes/0/clocks/{kind}/{{{inside}}}", "a/b~c": f"/changes/notes/0/clocks/{kind}/a~1b~0c",
    }  # fmt: skip
    assert {field["problem"]["slug"] for field in result["fields"].values()} == {"invalid-field"}
    [state] = [one for one in client.read_all()[0]["notes"] if one["uniqueID"] == note["uniqueID"]]
    assert (state[kind], set(state["clocks"][kind])) == ([inside], {inside, taken_out})


@pytest.mark.parametrize("element", [5, None, {}, ["x"], True])
def test_a_list_with_an_element_that_is_not_a_string_is_refused(client, stamp, element):
    inside, outside = new_id(), new_id()
    note = {
        "uniqueID": new_id(), "creationDate": "2026-11-21T12:00:00.000Z", "tags": [inside, element],
        "clocks": {"tags": {inside: stamp(), outside: stamp()}},
    }  # fmt: skip
    (result,) = receipts(client, notes=[note])
    assert rejected(result) == {"tags"}
    assert result["fields"]["tags"]["problem"]["pointer"] == "/changes/notes/0/tags/1"
    [state] = [one for one in client.read_all()[0]["notes"] if one["uniqueID"] == note["uniqueID"]]
    assert state["clocks"]["tags"] == {}


def test_empty_tokens_are_refused(client):
    for path in ("/v1/changes?since=", "/v1/devices?cursor="):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["slug"]) == (422, "invalid-field"), path
        # The name of the parameter. Pointers into a body begin with a slash.
        assert answer.json()["pointer"] in ("since", "cursor")
    assert client.post("/v1/sync", {"syncToken": ""}).json()["pointer"] == "/syncToken"
