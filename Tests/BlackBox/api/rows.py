"""API tests as table rows: name, method, path, body, status, and what the response contains or lacks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from client import Client

REQUEST_ID = re.compile(r"^[A-Za-z0-9._-]{1,128}$")


class Like:
    """Equals every string that the pattern matches completely."""

    def __init__(self, pattern: str):
        self.pattern = re.compile(pattern, re.DOTALL)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.pattern.fullmatch(other) is not None

    def __repr__(self) -> str:
        return f"Like({self.pattern.pattern!r})"


DATE = Like(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
CLOCK = Like(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z-[0-9a-f]{4}-[0-9a-f]{16}")
UUID = Like(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
DIGEST = Like(r"[0-9a-f]{32}")


@dataclass
class Row:
    """One request and its expected response. `{name}` is replaced by values of the test's `world`."""

    name: str
    method: str
    path: str
    body: Any = None
    status: int = 200
    holds: dict = field(default_factory=dict)  # expected members of the response's JSON, at every depth
    lacks: tuple = ()  # members and strings that the response must not contain
    headers: dict = field(default_factory=dict)  # of the request
    answers: dict = field(default_factory=dict)  # headers of the response; None for a header that must be absent

    def run(self, client: Client, world: Mapping[str, str]) -> Any:
        """Sends the request and checks the response. Returns the response's JSON, or None if it is not JSON."""
        response = client.request(
            self.method,
            filled(self.path, world),
            json=filled(self.body, world),
            headers=filled(self.headers, world),
        )
        summary = f"{self.name}: {self.method} {response.request.url} -> {response.status_code} {response.text[:600]}"
        assert response.status_code == self.status, summary
        assert REQUEST_ID.match(response.headers["X-Request-ID"]), summary
        for name, value in filled(self.answers, world).items():
            assert response.headers.get(name) == value, f"{summary}\n{name}: {response.headers.get(name)}"
        answer = response.json() if "json" in response.headers.get("Content-Type", "") else None
        if self.status >= 400:
            check_problem(response)
        check_holds(answer, filled(self.holds, world), summary)
        for unwanted in filled(self.lacks, world):
            assert unwanted not in (answer or {}) and unwanted not in response.text, f"{unwanted} occurs in {summary}"
        return answer


def parametrize(rows: list[Row]):
    return pytest.mark.parametrize("row", rows, ids=[row.name for row in rows])


def filled(value: Any, world: Mapping[str, str]) -> Any:
    """`value` with every `{name}` of `world` replaced, at any depth. Other braces stay."""
    match value:
        case str():
            return re.sub(r"\{(\w+)\}", lambda found: world.get(found[1], found[0]), value)
        case dict():
            return {filled(name, world): filled(item, world) for name, item in value.items()}
        case list():
            return [filled(item, world) for item in value]
        case tuple():
            return tuple(filled(item, world) for item in value)
    return value


def check_holds(actual: Any, expected: Any, summary: str = "", at: str = "") -> None:
    """Checks that objects have the expected members, possibly more, and that everything else is equal."""
    if isinstance(expected, dict) and isinstance(actual, dict) and expected:
        for name, value in expected.items():
            assert name in actual, f"{at}/{name} is missing: {summary or actual}"
            check_holds(actual[name], value, summary, f"{at}/{name}")
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
            check_holds(one, other, summary, f"{at}/{index}")
    elif expected != {} or at:
        assert actual == expected, f"{at} is {actual!r}, not {expected!r}: {summary}"


def check_problem(response, slug: str | None = None, status: int | None = None, pointer: str | None = None) -> dict:
    """Checks an error response against RFC 9457 and the contract, and that it reveals no internals."""
    assert response.headers["Content-Type"] == "application/problem+json", response.text[:500]
    assert response.headers["Cache-Control"] == "no-store"
    problem = response.json()
    assert problem["status"] == response.status_code
    assert problem["type"] == f"/problems/{problem['slug']}"
    assert problem["title"] and problem["detail"]
    assert problem["requestID"] == response.headers["X-Request-ID"]
    for inside in ("sqlite", "select ", "insert into", "swift", "thread "):
        assert inside not in response.text.lower(), response.text
    if slug:
        assert problem["slug"] == slug, problem
    if status:
        assert response.status_code == status, problem
    if pointer is not None:
        assert problem.get("pointer") == pointer, problem
    return problem
