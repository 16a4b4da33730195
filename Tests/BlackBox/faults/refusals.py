"""What a full disk is answered with, and what goes on meanwhile."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from client import PASSWORD, Client, Refused
from storm import Author, Storm

REFUSED = (503, 507)
MOST_PUSHES = 2_000


def push_until_refused(author: Author) -> None:
    """Some pushes may still fit; then one is refused, whose words the device keeps."""
    for _ in range(MOST_PUSHES):
        for _ in range(3):
            author.device.make_note("a text that takes some room\n" * 1_000)
        if not author.change_and_push():
            return
    raise AssertionError("the disk never was full")


def storm_until_refused(storm: Storm) -> None:
    """All devices push at once, so that pushes share the commit that fails."""
    with ThreadPoolExecutor(len(storm.authors)) as pool:
        list(pool.map(push_until_refused, storm.authors))
    # What did not fit as they pushed together may fit when one pushes alone.
    for author in storm.authors:
        for _ in range(MOST_PUSHES):
            if author.push(author.lost) is None:
                break
            push_until_refused(author)


def check_refusal(author: Author) -> None:
    """503 with Retry-After, or 507, in the form that every problem has."""
    push = author.lost
    with pytest.raises(Refused) as refusal:
        author.device.send(push)
    response, problem = refusal.value.response, refusal.value.problem
    assert (response.status_code, problem["slug"]) in [(503, "unavailable"), (507, "storage-full")]
    assert problem["type"] == f"/problems/{problem['slug']}"
    assert problem["requestID"] == response.headers["X-Request-ID"]
    if response.status_code == 503:
        assert int(response.headers["Retry-After"]) > 0
    for secret in ("SQL", "sql", "disk"):
        assert secret not in response.text


def check_reads(storm: Storm) -> None:
    """Whoever only reads notices nothing, and gets everything that was acknowledged."""
    storm.check()
    for author in storm.authors:
        client = author.device.client
        note = author.shared[0]
        for path in ("/readyz", "/healthz", "/v1/server", "/v1/account", "/v1/devices", f"/v1/notes/{note}"):
            assert client.get(path).status_code == 200, path
        for path in ("/v1/notes", "/v1/changes", "/v1/digests", "/v1/recently-deleted", f"/v1/notes/{note}/edits"):
            assert client.get(path).status_code == 200, path
        # What has been indexed is found; more cannot be indexed now.
        assert client.get("/v1/search", params={"q": "shared"}).status_code == 200
        assert client.sync(since=author.device.token)["results"] == []


def check_other_writes(client: Client, note: str) -> None:
    """The resource routes and signing in say the same; what a refused call carried is not there.

    A small write may still fit, when it was a large one that did not.
    """
    before = client.get(f"/v1/notes/{note}")
    text = before.json()["text"]
    small = client.patch(f"/v1/notes/{note}", {"attributes": {"small": 1}})
    assert small.status_code in (200, *REFUSED), small.text
    made = client.post("/v1/notes", {"text": "x" * 1_000_000, "tags": []})
    assert made.status_code in REFUSED, made.text
    changed = client.patch(f"/v1/notes/{note}", {"text": "y" * 1_000_000})
    assert changed.status_code in REFUSED, changed.text
    assert client.get(f"/v1/notes/{note}").json()["text"] == text
    other = Client(client.url)
    body = {"email": client.email, "password": PASSWORD, "deviceName": "while it fails"}
    assert other.post("/v1/devices", body).status_code in (201, *REFUSED)
