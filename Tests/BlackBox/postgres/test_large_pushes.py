"""A small push that names many large notes is refused if the merge would need too much memory."""

import uuid

import clocks
import pytest
from client import Server

# Each of these characters takes six bytes in JSON.
TEXT = "\u0001" * 1_048_575
COUNT = 8


@pytest.mark.thorough
def test_a_small_push_of_many_large_notes(postgres_server: Server) -> None:
    client = postgres_server.client()
    limit = 32 * 1024 * 1024  # bytes of the stored JSON of all objects that a push names
    assert 6 * len(TEXT) * COUNT > limit
    source = clocks.ClockSource(client.device["uniqueID"])

    def push(*notes: dict):
        return client.post("/v1/sync", {"changes": {"notes": notes}, "limit": 1}, timeout=300)

    ids = [str(uuid.uuid4()) for _ in range(COUNT)]
    created = clocks.date(clocks.wall())
    for note in ids:
        made = push({"uniqueID": note, "creationDate": created, "text": TEXT, "clocks": {"text": source.tick()}})
        assert made.json()["results"][0]["status"] == "applied"

    pid = postgres_server.pid
    archived = [{"uniqueID": note, "archived": True, "clocks": {"archived": source.tick()}} for note in ids]
    refused = push(*archived)
    assert (refused.status_code, refused.json()["slug"], refused.json()["limit"]) == (413, "too-large", limit)
    assert client.get(f"/v1/notes/{ids[0]}").json()["archived"] is False
    # In two halves, as clients do.
    for half in archived[: COUNT // 2], archived[COUNT // 2 :]:
        answer = push(*half)
        assert answer.status_code == 200, answer.text
        assert {result["status"] for result in answer.json()["results"]} == {"applied"}
    assert client.get(f"/v1/notes/{ids[-1]}").json()["archived"] is True
    assert postgres_server.pid == pid
