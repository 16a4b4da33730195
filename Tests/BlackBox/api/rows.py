"""An API test as a row: name, method, path, body, status, what the answer holds and must not hold."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from client import Client

REQUEST_ID = re.compile(r"^[A-Za-z0-9._-]{1,128}$")


class Like:
    """Equal to every string that its pattern matches as a whole."""

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
    """`{name}` in path, body, headers and what is expected is filled in from the world of the test."""

    name: str
    method: str
    path: str
    body: Any = None
    status: int = 200
    holds: dict = field(default_factory=dict)  # members of the answer's JSON; of objects in it, these members
    lacks: tuple = ()  # members that are not there, and strings that stand nowhere in the answer
    headers: dict = field(default_factory=dict)  # of the request
    answers: dict = field(default_factory=dict)  # headers of the answer; None for one that is not there

    def run(self, client: Client, world: Mapping[str, str]) -> Any:
        """Asks, checks, and gives the answer's JSON, if it is JSON."""
        response = client.request(
            self.method,
            filled(self.path, world),
            json=filled(self.body, world),
            headers=filled(self.headers, world),
        )
        told = f"{self.name}: {self.method} {response.request.url} -> {response.status_code} {response.text[:600]}"
        assert response.status_code == self.status, told
        assert REQUEST_ID.match(response.headers["X-Request-ID"]), told
        for name, value in filled(self.answers, world).items():
            assert response.headers.get(name) == value, f"{told}\n{name}: {response.headers.get(name)}"
        answer = response.json() if "json" in response.headers.get("Content-Type", "") else None
        if self.status >= 400:
            check_problem(response)
        check_holds(answer, filled(self.holds, world), told)
        for unwanted in filled(self.lacks, world):
            assert unwanted not in (answer or {}) and unwanted not in response.text, f"{unwanted} stands in {told}"
        return answer


def parametrize(rows: list[Row]):
    return pytest.mark.parametrize("row", rows, ids=[row.name for row in rows])


def filled(value: Any, world: Mapping[str, str]) -> Any:
    """`value` with `{name}` replaced, at whatever depth; braces around anything else stay."""
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


def check_holds(actual: Any, expected: Any, told: str = "", at: str = "") -> None:
    """Objects hold the members that are expected, perhaps more; everything else is equal."""
    if isinstance(expected, dict) and isinstance(actual, dict) and expected:
        for name, value in expected.items():
            assert name in actual, f"{at}/{name} is missing: {told or actual}"
            check_holds(actual[name], value, told, f"{at}/{name}")
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
            check_holds(one, other, told, f"{at}/{index}")
    elif expected != {} or at:
        assert actual == expected, f"{at} is {actual!r}, not {expected!r}: {told}"


def check_problem(response, slug: str | None = None, status: int | None = None, pointer: str | None = None) -> dict:
    """RFC 9457 and the contract: every refusal has all that a client needs, and nothing of the server's inside."""
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
