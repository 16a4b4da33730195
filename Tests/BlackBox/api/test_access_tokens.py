"""Access tokens: their scopes, tag, expiry date, and revocation (protocol.md, Access tokens)."""

import base64
import datetime
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import contract_document
import pytest
import requests
from client import PASSWORD, ROOT, Client, Server
from events import Events
from rows import DATE, check_holds, check_problem
from waiting import wait_until

pytestmark = pytest.mark.both_stores

# Of each scope, the scopes that a token must have one of.
INCLUDED = {"append": {"append", "write"}, "read": {"read", "write"}, "write": {"write"}}


def create(owner: Client, scopes: list[str], **fields: object) -> Client:
    """Creates an access token. `device` of the result is the response."""
    body = {"name": "script", "scopes": scopes, "currentPassword": PASSWORD} | fields
    response = owner.post("/v1/tokens", body)
    assert response.status_code == 201, response.text
    script = Client(owner.url)
    script.device, script.token = response.json(), response.json()["token"]
    return script


def table() -> dict[str, tuple[str, bool]]:
    """The table of protocol.md: the scope of each route, and whether tokens with a tag can use it. Some routes have another row with a
    query."""
    text = (ROOT / "docs/protocol.md").read_text().split("## Access tokens")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([A-Z]+ /\S+)` \| `(\w+)` \| (yes|no) \|$", text, re.MULTILINE)
    assert len(rows) > 30
    return {route: (scope, tagged == "yes") for route, scope, tagged in rows}


def operations() -> list[tuple[str, str]]:
    """The method and path of every operation that needs authentication."""
    return [
        (method.upper(), path)
        for path, method, operation, _ in contract_document.operations(contract_document.load())
        if operation.get("security") != []
    ]


@pytest.fixture(scope="module")
def owner(server: Server) -> Client:
    return server.client(device_name="owner")


@pytest.fixture
def tag(owner: Client) -> str:
    return owner.post("/v1/tags", {"name": f"Shopping {uuid.uuid4()}"}).json()["uniqueID"]


# MARK: The life of a token


def test_a_token_is_shown_once_listed_and_revoked(client: Client) -> None:
    script = create(client, ["read", "append"], name="Backup ☂")
    check_holds(script.device, {"name": "Backup ☂", "scopes": ["append", "read"], "creationDate": DATE})
    assert re.fullmatch(r"hesper_[\w-]{43}", script.token)
    path = f"/v1/tokens/{script.device['uniqueID']}"
    shown = {name: value for name, value in script.device.items() if name != "token"}
    assert client.get("/v1/tokens").json() == {"tokens": [shown]}
    # It is not a device.
    assert [each["name"] for each in client.get("/v1/devices").json()["devices"]] == ["phone"]
    device = f"/v1/devices/{script.device['uniqueID']}"
    check_problem(client.patch(device, {"name": "device"}), "not-found", 404)
    check_problem(client.delete(device), "not-found", 404)
    check_problem(client.delete(f"/v1/tokens/{client.device['uniqueID']}"), "not-found", 404)
    # Its first use is recorded.
    note = script.post("/v1/notes", {"text": "from a script"}, headers={"User-Agent": "curl/8"}).json()
    wait_until(lambda: "lastUseDate" in client.get("/v1/tokens").json()["tokens"][0])
    [listed] = client.get("/v1/tokens").json()["tokens"]
    check_holds(listed, {"lastUseDate": DATE, "userAgent": "curl/8", "lastUseAddress": "127.0.0.1"})
    # Histories have its name.
    [edit] = client.get(f"/v1/notes/{note['uniqueID']}/edits").json()["edits"]
    assert edit["pushedBy"] == {"uniqueID": script.device["uniqueID"], "name": "Backup ☂"}
    assert client.delete(path).status_code == 204
    check_problem(script.get(f"/v1/notes/{note['uniqueID']}"), "unauthenticated", 401)
    check_problem(client.delete(path), "not-found", 404)
    assert client.get("/v1/tokens").json() == {"tokens": []}
    assert client.get(f"/v1/notes/{note['uniqueID']}").status_code == 200


@pytest.mark.parametrize(
    ("change", "slug", "status", "pointer"),
    [
        ({"currentPassword": "wrong"}, "forbidden", 403, "/currentPassword"),
        ({"currentPassword": None}, "invalid-field", 422, "/currentPassword"),
        ({"name": ""}, "invalid-field", 422, "/name"),
        ({"name": "n" * 101}, "invalid-field", 422, "/name"),
        ({"scopes": []}, "invalid-field", 422, "/scopes"),
        ({"scopes": "read"}, "invalid-field", 422, "/scopes"),
        ({"scopes": ["read", "admin"]}, "invalid-field", 422, "/scopes/1"),
        ({"expiryDate": "2020-01-01T00:00:00Z"}, "invalid-field", 422, "/expiryDate"),
        ({"expiryDate": "tomorrow"}, "invalid-field", 422, "/expiryDate"),
        ({"tag": "shopping"}, "invalid-field", 422, "/tag"),
        ({"tag": str(uuid.UUID(int=7))}, "invalid-field", 422, "/tag"),
        ({"colour": "red"}, "unknown-field", 422, "/colour"),
    ],
)
def test_refused(owner: Client, change: dict, slug: str, status: int, pointer: str) -> None:
    before = owner.get("/v1/tokens").json()
    body = {"name": "script", "scopes": ["read"], "currentPassword": PASSWORD} | change
    response = owner.post("/v1/tokens", {name: value for name, value in body.items() if value is not None})
    check_problem(response, slug, status)
    assert response.json()["pointer"] == pointer
    assert owner.get("/v1/tokens").json() == before


def test_a_tag_of_another_account_and_keys_of_idempotency(owner: Client, client: Client, tag: str) -> None:
    body = {"name": "script", "scopes": ["read"], "currentPassword": PASSWORD}
    check_problem(client.post("/v1/tokens", body | {"tag": tag}), "invalid-field", 422)
    check_problem(owner.post("/v1/tokens", body, headers={"Idempotency-Key": "k"}), "malformed-request", 400)


@pytest.mark.thorough_on_postgresql
def test_an_account_has_at_most_100_tokens(client: Client) -> None:
    first = create(client, ["read"])
    body = {"name": "script", "scopes": ["read"], "currentPassword": PASSWORD}
    statuses = [client.post("/v1/tokens", body).status_code for _ in range(99)]
    assert statuses == [201] * 99
    response = client.post("/v1/tokens", body)
    check_problem(response, "too-large", 413)
    assert response.json()["limit"] == 100
    assert len(client.get("/v1/tokens").json()["tokens"]) == 100
    assert client.delete(f"/v1/tokens/{first.device['uniqueID']}").status_code == 204
    assert client.post("/v1/tokens", body).status_code == 201


def test_a_token_expires(owner: Client) -> None:
    end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=10)
    script = create(owner, ["read"], expiryDate=end.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z")
    assert script.get("/v1/tags").status_code == 200
    with Events(script, ping=1) as stream:
        # It ends with the first ping after the date.
        assert stream.ends(seconds=60)
    assert datetime.datetime.now(datetime.UTC) >= end
    response = script.get("/v1/tags")
    check_problem(response, "unauthenticated", 401)
    assert "expired on" in response.json()["detail"]


def test_a_new_password_revokes_tokens(client: Client) -> None:
    script, other = create(client, ["write"]), client.another_device()
    change = {"currentPassword": PASSWORD, "newPassword": PASSWORD + "!"}
    assert client.patch("/v1/account", change | {"signOutOthers": False}).status_code == 200
    assert script.get("/v1/tags").status_code == 200
    change = {"currentPassword": PASSWORD + "!", "newPassword": PASSWORD}
    assert client.patch("/v1/account", change).status_code == 200
    for each in (script, other):
        check_problem(each.get("/v1/tags"), "unauthenticated", 401)


def test_changes_made_with_a_token_can_be_reverted(client: Client) -> None:
    note = client.post("/v1/notes", {"text": "Milk"}).json()["uniqueID"]
    script = create(client, ["write"])
    moment = client.get(f"/v1/notes/{note}/edits").json()["edits"][0]["pushedAt"]
    assert script.patch(f"/v1/notes/{note}", {"text": "SPAM"}).status_code == 200
    revocation = f"/v1/devices/{script.device['uniqueID']}/revocation"
    response = client.post(revocation, {"moment": moment})
    assert response.status_code == 201, response.text
    assert response.json()["device"]["name"] == "script"
    check_problem(script.get(f"/v1/notes/{note}"), "unauthenticated", 401)
    wait_until(lambda: client.get(f"/v1/notes/{note}").json()["text"] == "Milk")


# MARK: Scopes


@pytest.fixture(scope="module")
def scripts(owner: Client) -> Iterator[dict[str, Client]]:
    """A token for each combination of scopes that differs, and tokens with a tag."""
    tag = owner.post("/v1/tags", {"name": "of the tokens"}).json()["uniqueID"]
    kinds = {"append": ["append"], "read": ["read"], "read append": ["read", "append"], "write": ["write"]}
    yield {name: create(owner, scopes) for name, scopes in kinds.items()} | {
        f"tagged {name}": create(owner, scopes, tag=tag) for name, scopes in kinds.items()
    }


def test_the_table_has_only_routes_that_exist() -> None:
    assert {route.partition("?")[0] for route in table()} <= {f"{method} {path}" for method, path in operations()}


def rows_with_a_query() -> list[tuple[str, str]]:
    return [(method, path) for method, path in (route.split(" ") for route in table()) if "?" in path]


@pytest.mark.parametrize(("method", "path"), operations() + rows_with_a_query(), ids=lambda value: value)
def test_every_route_by_every_scope(scripts: dict[str, Client], method: str, path: str) -> None:
    """A route that the table does not list refuses every token. The requests name no existing object, and have an empty body
    that is invalid or does nothing, so that those that are allowed change nothing."""
    scope, is_for_tagged = table().get(f"{method} {path}", (None, False))
    target = path.replace("{uniqueID}", "0123456789abcdef" if "/devices/" in path or "/tokens/" in path else str(uuid.uuid4()))
    target += "?closeAfter=never" if path == "/v1/events" else ""  # refused, but not before the scope is checked
    for name, script in scripts.items():
        allowed = scope is not None and bool(INCLUDED[scope] & set(name.split())) and (is_for_tagged or "tagged" not in name)
        body = None if method in ("GET", "HEAD", "DELETE") or path.endswith("/data") else {}
        response = script.request(method, target, json=body)
        if method == "HEAD":
            assert (response.status_code == 403) == (not allowed), (name, response.status_code)
        elif allowed:
            assert response.status_code not in (401, 403), (name, response.text)
        else:
            check_problem(response, "insufficient-scope", 403)


def test_a_token_that_only_appends_reads_nothing(owner: Client, tag: str) -> None:
    script = create(owner, ["append"])
    secret = owner.post("/v1/notes", {"text": "secret", "tags": [tag]}).json()
    response = script.post("/v1/notes", {"text": "Milk", "tags": [tag]})
    assert (response.status_code, list(response.json())) == (201, ["uniqueID"])
    note = response.json()["uniqueID"]
    assert response.headers["Location"] == f"/v1/notes/{note}"
    assert "ETag" not in response.headers
    check_holds(owner.get(f"/v1/notes/{note}").json(), {"text": "Milk", "tags": [tag]})
    # An existing note is not returned and not changed.
    response = script.post("/v1/notes", {"uniqueID": secret["uniqueID"], "text": "other"})
    assert (response.status_code, response.json()) == (200, {"uniqueID": secret["uniqueID"]})
    # The response to a retry contains no more.
    key = {"Idempotency-Key": str(uuid.uuid4())}
    first = script.post("/v1/notes", {"text": "once"}, headers=key)
    again = script.post("/v1/notes", {"text": "once"}, headers=key)
    assert (again.status_code, again.json()) == (201, first.json()) and list(first.json()) == ["uniqueID"]
    # It can add to a note whose ID it has.
    path = f"/v1/notes/{note}/append"
    response = script.post(path, {"text": "Bread"})
    assert (response.status_code, response.json()) == (200, {"uniqueID": note})
    assert owner.get(f"/v1/notes/{note}").json()["text"] == "Milk\nBread"
    # Attachments would be removed from other notes.
    response = script.post("/v1/notes", {"text": "x", "attachments": [str(uuid.uuid4())]})
    check_problem(response, "insufficient-scope", 403)
    assert response.json()["pointer"] == "/attachments"
    assert owner.get(f"/v1/notes/{secret['uniqueID']}").json() == secret


def test_a_token_with_a_tag_uses_only_notes_with_the_tag(owner: Client, tag: str) -> None:
    script = create(owner, ["write"], tag=tag)
    other = owner.post("/v1/tags", {"name": f"Other {uuid.uuid4()}"}).json()["uniqueID"]
    secret = owner.post("/v1/notes", {"text": "secret", "tags": [other]}).json()
    gone = owner.post("/v1/notes", {"text": "gone"}).json()["uniqueID"]
    owner.delete(f"/v1/notes/{gone}")
    # Notes without the tag, deleted notes and other objects seem not to exist.
    for each in (secret["uniqueID"], gone, other, tag):
        path = f"/v1/notes/{each}"
        for response in (
            script.get(path), script.put(path, {"text": "x"}), script.patch(path, {"text": "x"}), script.delete(path),
            script.post("/v1/notes", {"uniqueID": each, "text": "x"}), script.post(f"{path}/append", {"text": "x"}),
        ):  # fmt: skip
            check_problem(response, "not-found", 404)
    assert owner.get(f"/v1/notes/{secret['uniqueID']}").json() == secret
    # New notes get the tag, by all routes.
    made = script.post("/v1/notes", {"text": "Milk"}).json()
    put = script.put(f"/v1/notes/{uuid.uuid4()}", {"text": "Bread", "tags": [tag]}).json()
    assert made["tags"] == put["tags"] == [tag]
    path = f"/v1/notes/{made['uniqueID']}"
    # Other tags of the note are kept.
    assert owner.patch(path, {"tags": [tag, other]}).status_code == 200
    assert sorted(script.put(path, {"text": "Milk, eggs"}).json()["tags"]) == sorted([tag, other])
    assert script.patch(path, {"text": "Eggs", "tags": [other, tag]}).status_code == 200
    for change in ({"tags": []}, {"tags": [tag]}, {"tags": [other]}, {"attachments": [str(uuid.uuid4())]}):
        response = script.patch(path, change)
        check_problem(response, "insufficient-scope", 403)
        assert response.json()["pointer"] == f"/{next(iter(change))}"
    check_problem(script.post("/v1/notes", {"text": "x", "tags": [other]}), "insufficient-scope", 403)
    check_problem(script.post("/v1/notes", {"text": "x", "tagNames": ["new"]}), "insufficient-scope", 403)
    assert script.post(f"{path}/append", {"text": "Ham"}).json()["text"] == "Eggs\nHam"
    check_holds(owner.get(path).json(), {"text": "Eggs\nHam", "tags": sorted([tag, other], key=[tag, other].index)})
    assert script.delete(path).status_code == 200
    # A note that loses the tag is out of reach.
    owner.patch(f"/v1/notes/{put['uniqueID']}", {"tags": []})
    check_problem(script.get(f"/v1/notes/{put['uniqueID']}"), "not-found", 404)


def test_lists_of_a_token_with_a_tag(owner: Client, tag: str) -> None:
    script = create(owner, ["read"], tag=tag)
    name = owner.get(f"/v1/tags/{tag}").json()["name"]
    other = owner.post("/v1/tags", {"name": f"Other {uuid.uuid4()}"}).json()
    own = [owner.post("/v1/notes", {"text": text, "tags": tags}).json()["uniqueID"] for text, tags in
           (("Milk", [tag]), ("Bread", [tag, other["uniqueID"]]))]  # fmt: skip
    owner.post("/v1/notes", {"text": "secret", "tags": [other["uniqueID"]]})
    owner.post("/v1/notes", {"text": "secret"})

    def found(**parameters: str) -> list[str]:
        response = script.get("/v1/notes", params={"sort": "sortDate", "order": "asc", **parameters})
        assert response.status_code == 200, response.text
        return [note["uniqueID"] for note in response.json()["notes"]]

    assert sorted(found()) == sorted(found(tag=tag)) == sorted(own)
    assert found(tag=other["uniqueID"]) == own[1:] and found(tag=str(uuid.uuid4())) == []
    page = script.get("/v1/notes?sort=sortDate&limit=1", headers={"Prefer": "return=array"})
    rest = script.get(page.links["next"]["url"]).json()
    assert {page.json()[0]["uniqueID"], rest["notes"][0]["uniqueID"]} == set(own) and "nextCursor" not in rest
    # Of the tags, it sees its own.
    for wanted, ids in ((name.upper(), [tag]), (other["name"], []), ("none", [])):
        assert [each["uniqueID"] for each in script.get("/v1/tags", params={"name": wanted}).json()["tags"]] == ids
        answer = script.get("/v1/tags", params={"name": wanted}, headers={"Prefer": "return=array"})
        assert [each["uniqueID"] for each in answer.json()] == ids
    # The feeds, also as an array, and the search have no filter.
    for path in ("/v1/notes", "/v1/notes?tag=" + tag, "/v1/tags", "/v1/search?tag=" + tag):
        check_problem(script.get(path, headers={"Prefer": "return=array"}), "insufficient-scope", 403)
    owner.patch(f"/v1/notes/{own[0]}", {"tags": []})
    assert found() == own[1:]
    owner.delete(f"/v1/tags/{tag}")
    for path in ("/v1/notes?sort=sortDate", f"/v1/tags?name={name}"):
        check_problem(script.get(path), "insufficient-scope", 403)


def test_a_token_follows_its_tag(owner: Client, tag: str) -> None:
    script = create(owner, ["read", "append"], tag=tag)
    note = script.post("/v1/notes", {"text": "Milk"}).json()["uniqueID"]
    into = owner.post("/v1/tags", {"name": f"Groceries {uuid.uuid4()}"}).json()
    merge = {
        "deletedObjects": [
            {"uniqueID": tag, "objectType": "tag", "deletionDate": into.get("creationDate", "2026-01-01T00:00:00Z"),
             "mergedInto": into["uniqueID"]}
        ]
    }  # fmt: skip
    response = owner.post("/v1/deleted-objects", merge)
    assert response.status_code == 200, response.text
    assert script.get(f"/v1/notes/{note}").json()["tags"] == [into["uniqueID"]]
    assert script.post("/v1/notes", {"text": "Bread"}).json()["tags"] == [into["uniqueID"]]
    notes = script.get("/v1/notes?sort=sortDate").json()["notes"]
    assert sorted((each["text"], each["tags"]) for each in notes) == [("Bread", [into["uniqueID"]]), ("Milk", [into["uniqueID"]])]
    owner.delete(f"/v1/tags/{into['uniqueID']}")
    for response in (script.get(f"/v1/notes/{note}"), script.post("/v1/notes", {"text": "x"})):
        check_problem(response, "insufficient-scope", 403)
        assert "was deleted" in response.json()["detail"]


def test_a_token_syncs_as_a_device(owner: Client) -> None:
    """With the scope `write` a program can use the whole sync protocol, under the node of the token."""
    script = create(owner, ["write"])
    page = script.post("/v1/sync", {})
    assert page.status_code == 200
    assert script.get("/v1/changes").json()["syncToken"]


# MARK: HTTP Basic


def basic(token: str, user: str = "x") -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()}


def test_basic_authentication(owner: Client) -> None:
    script = create(owner, ["read"])

    def get(headers: dict[str, str]) -> requests.Response:
        return requests.get(owner.url + "/v1/tags", headers=headers, timeout=10)

    for user in ("", "ada@example.org", "Ada"):
        assert get(basic(script.token, user)).status_code == 200
    for site in ("none", "same-origin"):
        assert get(basic(script.token) | {"Sec-Fetch-Site": site}).status_code == 200
    for header in ({"Origin": owner.url}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        check_problem(get(basic(script.token) | header), "cross-site", 403)
    # The token of a device, a password, and what is no token are refused, and nothing asks a browser for a password.
    for headers in (
        basic(owner.token), basic(PASSWORD, owner.email), basic(script.token + "x"), {"Authorization": "Basic !"},
        {"Authorization": "Basic"},
    ):  # fmt: skip
        response = get(headers)
        check_problem(response, "unauthenticated", 401)
        assert response.headers["WWW-Authenticate"] == "Bearer"


# MARK: The command


@pytest.mark.thorough_on_postgresql
def test_the_command(tmp_path: Path) -> None:
    with Server(data=tmp_path / "data") as server:
        owner = server.client(email="ada@example.org")
        shopping = owner.post("/v1/tags", {"name": "Shopping\u001b[2J"}).json()["uniqueID"]

        def hesper(*arguments: str) -> tuple[int, str, str]:
            ended = server.command("account", "token", *arguments)
            return ended.returncode, ended.stdout, ended.stderr

        status, output, _ = hesper(
            "create", "ADA@example.org", "--name", "pi\u001b[2J", "--scope", "read", "--scope", "append",
            "--tag", "shopping\u001b[2J", "--expires", "30d",
        )  # fmt: skip
        assert status == 0 and re.fullmatch(r"hesper_[\w-]{43}\n", output)
        script = Client(server.url)
        script.token = output.strip()
        assert script.post("/v1/notes", {"text": "Milk"}).json()["tags"] == [shopping]
        [listed] = owner.get("/v1/tokens").json()["tokens"]
        status, output, _ = hesper("list", "ada@example.org")
        assert status == 0 and output.startswith(f"{listed['uniqueID']}  append read  tag Shopping")
        assert "\u001b" not in output and listed["expiryDate"][:10] in output
        assert hesper("revoke", "ada@example.org", "0123456789abcdef") == (
            1, "", "hesper: ada@example.org has no access token with the ID 0123456789abcdef.\n"
        )  # fmt: skip
        device = owner.device["uniqueID"]
        assert hesper("revoke", "ada@example.org", device)[0] == 1
        status, output, _ = hesper("revoke", "ada@example.org", listed["uniqueID"])
        assert status == 0 and output.startswith("Revoked the access token pi")
        check_problem(script.get("/v1/notes/" + str(uuid.uuid4())), "unauthenticated", 401)
        assert owner.get("/v1/tags").status_code == 200
        for arguments, status, message in (
            (("create", "ada@example.org", "--name", "x"), 64, "Missing expected argument '--scope"),
            (("create", "ada@example.org", "--name", "x", "--scope", "admin"), 64, "admin"),
            (("create", "ada@example.org", "--name", "", "--scope", "read"), 64, "--name must have"),
            (("create", "eve@example.org", "--name", "x", "--scope", "read"), 1, "No account"),
            (("create", "ada@example.org", "--name", "x", "--scope", "read", "--tag", "none"), 1, "has no tag"),
            (("create", "ada@example.org", "--name", "x", "--scope", "read", "--expires", "1m"), 64, "1m"),
        ):
            ended = hesper(*arguments)
            assert ended[0] == status and message in ended[2], ended
