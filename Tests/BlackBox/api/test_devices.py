"""`/v1/devices`: signing in and out, and the properties of devices."""

import clocks
import pytest
from client import PASSWORD, Client
from rows import DATE, Row, check_holds, check_problem, parametrize
from urllib3.util import SKIP_HEADER
from writer import Writer

pytestmark = pytest.mark.both_stores


def entry(client: Client, listed_by: Client) -> dict:
    devices = listed_by.get("/v1/devices").json()["devices"]
    [found] = [device for device in devices if device["uniqueID"] == client.device["uniqueID"]]
    return found


def test_a_second_device_of_one_account(client):
    """Each device has its own token and node. All devices share the account's notes."""
    before = clocks.date(clocks.wall())
    other = Client(client.url)
    body = {"email": client.email, "password": PASSWORD, "deviceName": "laptop", "appVersion": "Muse 2 (β)"}
    response = other.post("/v1/devices", body, headers={"User-Agent": "Muse/2 Darwin"})
    assert response.status_code == 201, response.text
    assert response.headers["Cache-Control"] == "no-store"
    answer = response.json()
    other.token, other.device = answer["token"], answer["device"]
    assert other.token != client.token
    assert other.device["uniqueID"] != client.device["uniqueID"]
    assert answer["account"] == client.get("/v1/account").json()
    # The device's properties are visible to all devices of the account. The latest sign-in is listed first.
    device = {"name": "laptop", "appVersion": "Muse 2 (β)", "userAgent": "Muse/2 Darwin", "creationDate": DATE}
    check_holds(entry(other, other), device | {"current": True})
    check_holds(entry(other, client), device | {"current": False})
    assert before <= entry(other, client)["creationDate"] <= entry(other, client)["lastUseDate"]
    # The address of the last request.
    assert entry(other, client)["lastUseAddress"] == answer["device"]["lastUseAddress"] == "127.0.0.1"
    names = [device["name"] for device in client.get("/v1/devices").json()["devices"]]
    assert names == ["laptop", "phone"]
    note = client.post("/v1/notes", {"text": "shared"}).json()
    assert other.get(f"/v1/notes/{note['uniqueID']}").json() == note


def test_a_device_without_version_and_user_agent(client):
    """The properties are omitted, not null."""
    other = Client(client.url)
    body = {"email": client.email, "password": PASSWORD, "deviceName": "script"}
    device = other.post("/v1/devices", body, headers={"User-Agent": SKIP_HEADER}).json()["device"]
    assert device["name"] == "script"
    assert not {"appVersion", "userAgent"} & set(device)


def test_signing_out(client):
    """The token becomes invalid immediately. What the device pushed remains."""
    other = client.another_device()
    note = other.post("/v1/notes", {"text": "from the laptop"}).json()
    path = f"/v1/devices/{other.device['uniqueID']}"
    out = client.delete(path)
    assert (out.status_code, out.text) == (204, "")
    for method, route, body in (
        ("GET", "/v1/account", None),
        ("POST", "/v1/sync", {}),
        ("PATCH", f"/v1/notes/{note['uniqueID']}", {"text": "no"}),
        ("DELETE", f"/v1/notes/{note['uniqueID']}", None),
    ):
        response = other.request(method, route, json=body)
        check_problem(response, "unauthenticated", 401)
        assert response.headers["WWW-Authenticate"] == "Bearer"
    assert client.get(f"/v1/notes/{note['uniqueID']}").json() == note
    check_problem(client.delete(path), "not-found", 404)
    # The edit remains in the history.
    [edit] = client.get(f"/v1/notes/{note['uniqueID']}/edits").json()["edits"]
    assert edit["value"] == "from the laptop"
    # Signing in again creates another device, because a shared node would reuse clocks.
    gone = other.device["uniqueID"]
    other.sign_in(client.email)
    assert other.device["uniqueID"] != gone
    # A device can sign itself out.
    assert other.delete(f"/v1/devices/{other.device['uniqueID']}").status_code == 204
    check_problem(other.get("/v1/account"), "unauthenticated", 401)
    assert [device["name"] for device in client.get("/v1/devices").json()["devices"]] == ["phone"]


def test_renaming(client):
    """Any device of the account can rename a device. Histories contain the new name."""
    other = client.another_device()
    path = f"/v1/devices/{other.device['uniqueID']}"
    note = other.post("/v1/notes", {"text": "x"}).json()
    writer = Writer(other)
    writer.push(notes=[writer.edit(note["uniqueID"], archived=True)])
    renamed = client.patch(path, {"name": "kitchen"})
    assert renamed.status_code == 200, renamed.text
    assert renamed.json() == entry(other, client)
    check_holds(renamed.json(), {"name": "kitchen", "current": False})
    names = {edit["device"].get("name") for edit in client.get(f"/v1/notes/{note['uniqueID']}/edits").json()["edits"]}
    assert names == {None, "kitchen"}  # a plain request has clocks of the server
    check_holds(other.patch(path, {"name": "é" * 100}).json(), {"name": "é" * 100, "current": True})
    for name in ("", "é" * 101, None, 1, "a\0b"):
        check_problem(client.patch(path, {"name": name}), "invalid-field", 422)
    check_problem(client.patch(path, {"name": "x", "token": "y"}), "unknown-field", 422)
    assert entry(other, client)["name"] == "é" * 100
    assert client.delete(path).status_code == 204
    check_problem(client.patch(path, {"name": "x"}), "not-found", 404)


CHALLENGE = {"WWW-Authenticate": "Bearer"}
AUTHORIZATIONS = [
    Row("no token", "GET", "/v1/account", status=401, answers=CHALLENGE),
    Row("an empty token", "GET", "/v1/account", status=401, answers=CHALLENGE, headers={"Authorization": "Bearer "}),
    Row("a token cut short", "GET", "/v1/account", status=401, answers=CHALLENGE,
        headers={"Authorization": "Bearer {short}"}),
    Row("a token with a suffix", "GET", "/v1/account", status=401, answers=CHALLENGE,
        headers={"Authorization": "Bearer {token}x"}),
    Row("another scheme", "GET", "/v1/account", status=401, answers=CHALLENGE, headers={"Authorization": "Basic {token}"}),
    Row("in the query", "GET", "/v1/account?token={token}", status=401, answers=CHALLENGE),
    Row("in a cookie", "GET", "/v1/account", status=401, answers=CHALLENGE, headers={"Cookie": "hesper={token}"}),
    Row("the scheme in lower case", "GET", "/v1/account", answers={"WWW-Authenticate": None},
        headers={"Authorization": "bearer {token}"}),
]  # fmt: skip


@parametrize(AUTHORIZATIONS)
def test_authorization_header(row, somebody):
    world = {"token": somebody.token, "short": somebody.token[:-1]}
    row.run(Client(somebody.url), world)


def test_tokens_remain_valid_after_a_restart(fresh_server):
    client = fresh_server.client()
    other = client.another_device()
    client.delete(f"/v1/devices/{other.device['uniqueID']}")
    fresh_server.restart()
    assert client.get("/v1/account").json()["email"] == client.email
    check_problem(other.get("/v1/account"), "unauthenticated", 401)
