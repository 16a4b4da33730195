"""Requests without a valid token, on every route of the contract: they return 401 and change nothing."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass

import contract_document
import pytest
from client import PASSWORD, Client, Server

NEW_PASSWORD = "another horse, another battery"


def signed_in_operations() -> list[tuple[str, str, str]]:
    """(operationId, method, path) of all operations that require authentication."""
    document = contract_document.load()
    return [
        (operation["operationId"], method.upper(), path)
        for path, method, operation, _ in contract_document.operations(document)
        if operation.get("security") != []
    ]


@dataclass
class World:
    """A server with an account that has a note, and invalid tokens by name."""

    server: Server
    ada: Client
    note: str
    tokens: dict[str, str]

    def path(self, template: str) -> str:
        own = self.ada.device["uniqueID"] if "/devices/" in template else self.note
        return template.replace("{uniqueID}", own)

    def state(self) -> tuple:
        devices = self.ada.get("/v1/devices").json()["devices"]
        changes = self.ada.get("/v1/changes").json()
        return [device["uniqueID"] for device in devices], changes["changes"], self.ada.get("/v1/account").json()


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Server() as server:
        ada = server.client(email="ada@example.org")
        note = ada.post("/v1/notes", {"text": "hers"}).json()["uniqueID"]
        revoked = ada.another_device()
        assert ada.delete(f"/v1/devices/{revoked.device['uniqueID']}").status_code == 204
        outdated = ada.another_device()
        change = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
        assert ada.patch("/v1/account", change).status_code == 200
        erased = server.client()
        assert erased.delete("/v1/account", json={"password": PASSWORD}).status_code == 204
        good = ada.token
        yield World(server, ada, note, {
            "revoked": f"Bearer {revoked.token}",
            "of an old password": f"Bearer {outdated.token}",
            "of an erased account": f"Bearer {erased.token}",
            "never given": "Bearer hesper_" + "A" * 43,
            "one letter off": f"Bearer {good[:-2]}{'A' if good[-2] != 'A' else 'B'}{good[-1]}",
            "too short": f"Bearer {good[:-1]}",
            "too long": f"Bearer {good}A",
            "without its prefix": f"Bearer {good.removeprefix('hesper_')}",
            "in another case": f"Bearer {good.swapcase()}",
            "quoted": f'Bearer "{good}"',
            "twice": f"Bearer {good} {good}",
            "two schemes": f"Bearer {good}, Basic {good}",
            "of another scheme": f"Basic {base64.b64encode(f'ada@example.org:{PASSWORD}'.encode()).decode()}",
            "no scheme": good,
            "nothing": "",
            "only the scheme": "Bearer",
            "a percent": "Bearer " + good.replace("_", "%5F"),
            "SQL": "Bearer hesper_' OR '1'='1' --AAAAAAAAAAAAAAAAAAAAAAAAA",
            "long": "Bearer " + "A" * 8_000,
        })  # fmt: skip


@pytest.mark.parametrize(("operation", "method", "path"), signed_in_operations(), ids=lambda value: str(value))
def test_invalid_tokens_are_refused(world: World, operation: str, method: str, path: str) -> None:
    before = world.state()
    body = None if method in ("GET", "HEAD") else {}
    stranger = Client(world.server.url)
    for name, header in [("none", None), *world.tokens.items()]:
        options = {"json": body} if body is not None else {}
        answer = stranger.request(method, world.path(path), headers={"Authorization": header}, **options)
        context = f"{name}: {answer.status_code} {answer.text[:300]}"
        assert answer.status_code == 401, context
        assert answer.headers["WWW-Authenticate"] == "Bearer", context
        assert answer.headers["Cache-Control"] == "no-store", context
        if method != "HEAD":
            assert answer.json()["slug"] == "unauthenticated", context
        # The error is the same for every kind of invalid token.
        assert "hers" not in answer.text and "ada@" not in answer.text, context
    assert world.state() == before


def test_tokens_outside_the_authorization_header_are_ignored(world: World) -> None:
    stranger = Client(world.server.url)
    token = world.ada.token
    assert stranger.get("/v1/account", headers={"X-Authorization": f"Bearer {token}"}).status_code == 401
    assert stranger.get("/v1/account", headers={"Cookie": f"token={token}"}).status_code == 401
    for name in ("access_token", "token"):
        assert stranger.get("/v1/account", params={name: token}).status_code == 401
    assert stranger.post("/v1/sync", {"token": token}).status_code == 401


def test_tokens_are_not_logged(world: World) -> None:
    for header in [world.ada.token, *world.tokens.values()]:
        if len(header) > 40:
            assert header.removeprefix("Bearer ") not in world.server.log


def test_a_valid_token_gives_no_access_to_other_accounts(world: World) -> None:
    """IDs of other accounts are treated as unknown (api/test_isolation.py compares the responses in detail)."""
    eve = world.server.client()
    for _, method, path in signed_in_operations():
        if "{uniqueID}" not in path or method in ("PUT", "HEAD"):
            continue
        answer = eve.request(method, world.path(path), json={} if method in ("POST", "PATCH", "DELETE") else None)
        # Validation errors of the body may come first, but they do not reveal that the ID exists.
        assert answer.status_code in (404, 411, 415, 422), f"{method} {path}: {answer.status_code} {answer.text[:300]}"
        assert "hers" not in answer.text
    assert world.ada.get(f"/v1/notes/{world.note}").json()["text"] == "hers"
