"""`/v1/devices`: signing in and out, and what is known of each device."""

import clocks
import pytest
from client import PASSWORD, Client
from rows import DATE, Row, check_holds, check_problem, parametrize
from urllib3.util import SKIP_HEADER

pytestmark = pytest.mark.both_stores


def entry(client: Client, listed_by: Client) -> dict:
    devices = listed_by.get("/v1/devices").json()["devices"]
    [found] = [device for device in devices if device["uniqueID"] == client.device["uniqueID"]]
    return found


def test_a_second_device_of_one_account(client):
    """It has a token and a node of its own, and the same notes."""
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
    # What it told of itself is kept, and is there for both to see; the last signed in comes first.
    device = {"name": "laptop", "appVersion": "Muse 2 (β)", "userAgent": "Muse/2 Darwin", "creationDate": DATE}
    check_holds(entry(other, other), device | {"current": True})
    check_holds(entry(other, client), device | {"current": False})
    assert before <= entry(other, client)["creationDate"] <= entry(other, client)["lastUseDate"]
    # Where it was last seen, for its owner alone.
    assert entry(other, client)["lastUseAddress"] == answer["device"]["lastUseAddress"] == "127.0.0.1"
    names = [device["name"] for device in client.get("/v1/devices").json()["devices"]]
    assert names == ["laptop", "phone"]
    note = client.post("/v1/notes", {"text": "shared"}).json()
    assert other.get(f"/v1/notes/{note['uniqueID']}").json() == note


def test_a_device_that_tells_little(client):
    """Without a version and a User-Agent: both are left out, not null."""
    other = Client(client.url)
    body = {"email": client.email, "password": PASSWORD, "deviceName": "script"}
    device = other.post("/v1/devices", body, headers={"User-Agent": SKIP_HEADER}).json()["device"]
    assert device["name"] == "script"
    assert not {"appVersion", "userAgent"} & set(device)


def test_signing_out(client):
    """Its token ends at once, what it pushed stays, and what it does afterwards changes nothing."""
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
    # The history still names the device that wrote it.
    [edit] = client.get(f"/v1/notes/{note['uniqueID']}/edits").json()["edits"]
    assert edit["value"] == "from the laptop"
    # Signing in again makes another device: two that share a node would reuse each other's clocks.
    gone = other.device["uniqueID"]
    other.sign_in(client.email)
    assert other.device["uniqueID"] != gone
    # The device that asks may be the one that goes.
    assert other.delete(f"/v1/devices/{other.device['uniqueID']}").status_code == 204
    check_problem(other.get("/v1/account"), "unauthenticated", 401)
    assert [device["name"] for device in client.get("/v1/devices").json()["devices"]] == ["phone"]


ASKED = {"WWW-Authenticate": "Bearer"}
AUTHORIZATIONS = [
    Row("no token", "GET", "/v1/account", status=401, answers=ASKED),
    Row("an empty token", "GET", "/v1/account", status=401, answers=ASKED, headers={"Authorization": "Bearer "}),
    Row("a token cut short", "GET", "/v1/account", status=401, answers=ASKED,
        headers={"Authorization": "Bearer {short}"}),
    Row("a token and more", "GET", "/v1/account", status=401, answers=ASKED,
        headers={"Authorization": "Bearer {token}x"}),
    Row("another scheme", "GET", "/v1/account", status=401, answers=ASKED, headers={"Authorization": "Basic {token}"}),
    Row("in the query", "GET", "/v1/account?token={token}", status=401, answers=ASKED),
    Row("in a cookie", "GET", "/v1/account", status=401, answers=ASKED, headers={"Cookie": "hesper={token}"}),
    Row("a scheme in other case", "GET", "/v1/account", answers={"WWW-Authenticate": None},
        headers={"Authorization": "bearer {token}"}),
]  # fmt: skip


@parametrize(AUTHORIZATIONS)
def test_tokens(row, somebody):
    world = {"token": somebody.token, "short": somebody.token[:-1]}
    row.run(Client(somebody.url), world)


def test_tokens_outlive_a_restart(fresh_server):
    client = fresh_server.client()
    other = client.another_device()
    client.delete(f"/v1/devices/{other.device['uniqueID']}")
    fresh_server.restart()
    assert client.get("/v1/account").json()["email"] == client.email
    check_problem(other.get("/v1/account"), "unauthenticated", 401)
