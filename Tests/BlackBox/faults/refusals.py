"""Checks the responses of a server whose disk is full or fails."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from client import PASSWORD, Client, ErrorResponse
from storm import Author, Storm

REFUSED = (503, 507)
MAX_PUSHES = 2_000


def push_until_refused(author: Author) -> None:
    """Pushes until one is refused. The device keeps the refused changes."""
    for _ in range(MAX_PUSHES):
        for _ in range(3):
            author.device.make_note("a text that takes some room\n" * 1_000)
        if not author.change_and_push():
            return
    raise AssertionError("no push was refused")


def storm_until_refused(storm: Storm) -> None:
    """All devices push concurrently until their pushes are refused. Pushes may share the commit that fails."""
    with ThreadPoolExecutor(len(storm.authors)) as pool:
        list(pool.map(push_until_refused, storm.authors))
    # A push that was refused as part of a shared commit may succeed alone.
    for author in storm.authors:
        for _ in range(MAX_PUSHES):
            if author.push(author.lost) is None:
                break
            push_until_refused(author)


def check_refusal(author: Author) -> None:
    """Checks the error of a refused push: 503 with Retry-After, or 507."""
    push = author.lost
    with pytest.raises(ErrorResponse) as refusal:
        author.device.send(push)
    response, problem = refusal.value.response, refusal.value.problem
    assert (response.status_code, problem["slug"]) in [(503, "unavailable"), (507, "storage-full")]
    assert problem["type"] == f"/problems/{problem['slug']}"
    assert problem["requestID"] == response.headers["X-Request-ID"]
    if response.status_code == 503:
        assert int(response.headers["Retry-After"]) > 0
    for secret in ("SQL", "sql", "database or disk", "disk I/O"):
        assert secret not in response.text


def check_reads(storm: Storm) -> None:
    """Checks that reading works and returns everything that was acknowledged."""
    storm.check()
    for author in storm.authors:
        client = author.device.client
        note = author.shared[0]
        for path in ("/readyz", "/healthz", "/v1/server", "/v1/account", "/v1/devices", f"/v1/notes/{note}"):
            assert client.get(path).status_code == 200, path
        for path in ("/v1/notes", "/v1/changes", "/v1/digests", "/v1/recently-deleted", f"/v1/notes/{note}/edits"):
            assert client.get(path).status_code == 200, path
        # Search finds what has been indexed. Nothing more can be indexed now.
        assert client.get("/v1/search", params={"q": "shared"}).status_code == 200
        assert client.sync(since=author.device.token)["results"] == []


def check_other_writes(client: Client, note: str) -> None:
    """Checks that writes by resource routes and signing in fail in the same way, and that refused changes are not applied.

    Small writes may succeed even if larger ones fail.
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
