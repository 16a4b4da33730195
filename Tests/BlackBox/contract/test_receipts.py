"""The keys of `fields` in a receipt are those that the contract lists, and what is wrong refuses no more than itself."""

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


def test_every_key_is_listed(client, contract, stamp):
    wrong = {"uniqueID": new_id(), "creationDate": 1, "text": 1, "archived": 1, "sortDate": 1, "tags": 1, "attachments": 1,
             "attributes": 1, "textBase": 1, "textAfter": 1, "textBaseValue": 1, "clocks": {"colour": 1}}  # fmt: skip
    members = {"tags": {new_id(): "x"}, "attachments": {new_id(): "x"}, "attributes": {"a": stamp()}}
    attachment = dict.fromkeys(("mimeType", "width", "height", "filename", "preview", "byteCount", "sha256"), {})
    results = receipts(
        client,
        notes=[wrong, {"uniqueID": new_id(), "clocks": 1}, {"uniqueID": new_id(), "clocks": members}],
        tags=[{"uniqueID": new_id(), "name": 1}],
        attachments=[{"uniqueID": new_id(), **attachment}],
        objects=[{"uniqueID": new_id(), "objectType": 1}],
    )
    found = set().union(*(rejected(result) for result in results))
    listed = re.findall(r"`([^`]+)`", contract["components"]["schemas"]["PushResult"]["properties"]["fields"]["description"])
    kinds = {re.sub(r"\.(.+)", lambda match: ".<", name) for name in found}
    known = {re.sub(r"\.<.+", ".<", name) for name in listed}
    assert kinds <= known
    # And nothing is listed that is no key, but for the one outcome that is named.
    assert known - kinds == {"rejected"}


def test_a_wrong_clock_or_attribute_refuses_itself_alone(client, stamp):
    good, bad = new_id(), new_id()
    note = {
        "uniqueID": new_id(), "creationDate": "2026-11-21T12:00:00.000Z", "tags": [good, bad],
        "attributes": {"pinned": True, "list": []},
        "clocks": {"tags": {good: stamp(), bad: "yesterday"}, "attributes": {"pinned": stamp(), "list": stamp()}},
    }  # fmt: skip
    (result,) = receipts(client, notes=[note])
    assert rejected(result) == {f"tags.{bad}", "attributes.list"}
    places = {name: field["problem"]["pointer"] for name, field in result["fields"].items()}
    assert places == {
        f"tags.{bad}": f"/changes/notes/0/clocks/tags/{bad}", "attributes.list": "/changes/notes/0/attributes/list",
    }  # fmt: skip
    assert client.get(f"/v1/notes/{note['uniqueID']}").json()["attributes"] == {"pinned": True}


def test_a_list_with_what_is_no_id_is_refused_whole(client, stamp):
    inside, outside = new_id(), new_id()
    note = {
        "uniqueID": new_id(), "creationDate": "2026-11-21T12:00:00.000Z", "tags": [inside, "no ID"],
        "clocks": {"tags": {inside: stamp(), outside: stamp()}},
    }  # fmt: skip
    (result,) = receipts(client, notes=[note])
    assert rejected(result) == {"tags"}
    assert result["fields"]["tags"]["problem"]["pointer"] == "/changes/notes/0/tags/1"


def test_what_is_empty_is_no_token(client):
    for path in ("/v1/changes?since=", "/v1/devices?cursor="):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["slug"]) == (422, "invalid-field"), path
        # The name of a parameter, where a pointer into a body begins with a slash.
        assert answer.json()["pointer"] in ("since", "cursor")
    assert client.post("/v1/sync", {"syncToken": ""}).json()["pointer"] == "/syncToken"
