"""`/v1/accounts` and `/v1/account`."""

import contextlib
import os
import pathlib
import secrets

import pytest
import requests
from attachments import attach, download
from client import PASSWORD, Client, ErrorResponse, Server
from database import dump, query
from rows import DATE, UUID, Like, Row, check_holds, check_problem, parametrize
from waiting import wait_until

pytestmark = pytest.mark.both_stores

TOKEN = Like(r"hesper_[A-Za-z0-9_-]{43}")  # 256 bits
NODE = Like(r"[0-9a-f]{16}")
NEW_PASSWORD = "пароль, another"


def usage(client: Client) -> dict:
    return client.get("/v1/account").json()["usage"]


def test_sign_up_returns_account_device_and_token(server):
    client = Client(server.url)
    body = {"email": "Ada.Lovelace+notes@Example.org", "password": PASSWORD, "deviceName": "Ada’s 📱"}
    response = client.post("/v1/accounts", body | {"appVersion": "Vesper 3.1"}, headers={"User-Agent": "Vesper/210"})
    assert response.status_code == 201, response.text
    assert response.headers["Cache-Control"] == "no-store"
    answer = response.json()
    check_holds(answer["account"], {"uniqueID": UUID, "email": body["email"], "creationDate": DATE})
    assert answer["account"]["usage"] == {"objects": 0, "bytes": 0, "attachmentBytes": 0, "storedBytes": 0}
    device = {"uniqueID": NODE, "name": "Ada’s 📱", "appVersion": "Vesper 3.1", "userAgent": "Vesper/210"}
    check_holds(answer["device"], device | {"creationDate": DATE, "lastUseDate": DATE, "current": True})
    assert answer["token"] == TOKEN
    assert PASSWORD not in response.text
    client.token = answer["token"]
    assert client.get("/v1/account").json() == answer["account"]
    # The address is taken, compared without case. Nothing changes for the existing account.
    again = client.post("/v1/accounts", body | {"email": body["email"].upper()})
    assert "token" not in check_problem(again, "email-taken", 409, "/email")
    assert len(client.get("/v1/devices").json()["devices"]) == 1


def test_usage_counts_objects_and_bytes(client):
    assert usage(client) == {"objects": 0, "bytes": 0, "attachmentBytes": 0, "storedBytes": 0}
    client.post("/v1/notes", {"text": "x" * 10_000})
    after_note = usage(client)
    assert after_note["objects"] == 1 and after_note["bytes"] >= 10_000
    client.post("/v1/tags", {"name": "x"})
    assert usage(client)["objects"] == 2
    assert usage(client)["bytes"] > after_note["bytes"]


@pytest.mark.thorough_on_postgresql
def test_password_cost():
    """The default is the cost that OWASP recommends. Passwords hashed at another cost still work."""
    with Server(environment={"HESPER_PASSWORD_COST": ""}) as server:
        ada = server.client()
        server.stop()
        server.environment["HESPER_PASSWORD_COST"] = "11"
        server.start()
        ada.another_device()
        bob = server.client()
        kept = dict(query(server, "SELECT email, password_hash FROM accounts"))
    costs = {email: text.split("$")[2] for email, text in kept.items()}
    assert costs == {ada.email: "ln=17,r=8,p=1", bob.email: "ln=11,r=8,p=1"}


def test_no_token_or_password_is_stored_or_logged(client, server):
    """Neither the database nor the log contains the token or the password."""
    client.post("/v1/notes", {"text": "kept as it is"})
    kept = dump(server)
    assert client.email in kept and "kept as it is" in kept
    for secret in (client.token, client.token.removeprefix("hesper_"), PASSWORD):
        assert secret not in kept
        assert secret not in server.log


REFUSED = [
    Row("sign in, a wrong password", "POST", "/v1/devices",
        {"email": "{email}", "password": "wrong password", "deviceName": "x"}, 401, {"slug": "unauthenticated"}),
    Row("sign in, an unknown e-mail", "POST", "/v1/devices",
        {"email": "nobody@example.org", "password": PASSWORD, "deviceName": "x"}, 401, {"slug": "unauthenticated"}),
    Row("sign in, no device name", "POST", "/v1/devices", {"email": "{email}", "password": PASSWORD}, 422,
        {"slug": "invalid-field", "pointer": "/deviceName"}),
    Row("change, a wrong password", "PATCH", "/v1/account",
        {"currentPassword": "wrong password", "newPassword": NEW_PASSWORD}, 403,
        {"slug": "forbidden", "pointer": "/currentPassword"}),
    Row("change, a new one too short", "PATCH", "/v1/account", {"currentPassword": PASSWORD, "newPassword": "1234567"},
        422, {"slug": "invalid-field", "pointer": "/newPassword"}),
    Row("change, nothing", "PATCH", "/v1/account", {}, 422, {"slug": "invalid-field", "pointer": "/currentPassword"}),
    Row("change, the e-mail", "PATCH", "/v1/account",
        {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD, "email": "eve@example.org"}, 422,
        {"slug": "unknown-field", "pointer": "/email"}),
    Row("erase, a wrong password", "DELETE", "/v1/account", {"password": "wrong password"}, 403,
        {"slug": "forbidden", "pointer": "/password"}),
    Row("erase, no password", "DELETE", "/v1/account", {}, 422, {"slug": "invalid-field", "pointer": "/password"}),
]  # fmt: skip


@parametrize(REFUSED)
def test_refused_requests_change_nothing(row, somebody):
    """The token stays valid, and no device is added."""

    def devices() -> list[dict]:
        # A use is recorded in the background.
        return [device | {"lastUseDate": ""} for device in somebody.get("/v1/devices").json()["devices"]]

    before = devices()
    account = somebody.get("/v1/account").json()
    row.run(somebody, {"email": somebody.email})
    assert somebody.get("/v1/account").json() == account
    assert devices() == before


def test_a_new_password_signs_out_other_devices(client):
    """The device that changes the password stays signed in."""
    other = client.another_device()
    note = other.post("/v1/notes", {"text": "stays"}).json()
    changed = client.patch("/v1/account", {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD})
    assert (changed.status_code, changed.json()["email"]) == (200, client.email)
    assert changed.headers["Cache-Control"] == "no-store"
    check_problem(other.get("/v1/notes"), "unauthenticated", 401)
    assert [device["current"] for device in client.get("/v1/devices").json()["devices"]] == [True]
    with pytest.raises(ErrorResponse, match="401"):
        other.sign_in(client.email, PASSWORD)
    other.sign_in(client.email.upper(), NEW_PASSWORD)
    assert other.get(f"/v1/notes/{note['uniqueID']}").json() == note


def test_other_devices_stay_signed_in_on_request(client):
    other = client.another_device()
    change = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD, "signOutOthers": False}
    assert client.patch("/v1/account", change).status_code == 200
    assert other.get("/v1/account").json()["email"] == client.email
    with pytest.raises(ErrorResponse, match="401"):
        Client(client.url).sign_in(client.email, PASSWORD)


def test_erasing_removes_everything(fresh_server: Server):
    client = fresh_server.client()
    other = client.another_device()
    bystander = fresh_server.client()
    note = bystander.post("/v1/notes", {"text": "a bystander's words"}).json()
    client.post("/v1/notes", {"text": "zebra words"})
    gone = client.post("/v1/notes", {"text": "quagga words"}).json()["uniqueID"]
    client.delete(f"/v1/notes/{gone}")
    client.post("/v1/tags", {"name": "okapi"})
    erased = client.delete("/v1/account", json={"password": PASSWORD})
    assert (erased.status_code, erased.text) == (204, "")
    for device in (client, other):
        check_problem(device.get("/v1/account"), "unauthenticated", 401)
        check_problem(device.post("/v1/sync", {}), "unauthenticated", 401)
    with pytest.raises(ErrorResponse, match="401"):
        Client(fresh_server.url).sign_in(client.email)
    assert bystander.get(f"/v1/notes/{note['uniqueID']}").json() == note
    # The address can be used again. The new account is empty.
    client.sign_up(client.email)
    found, _ = client.read_all()
    assert not any(found.values())
    kept = dump(fresh_server)
    assert "a bystander's words" in kept.replace("''", "'")
    for word in ("zebra", "quagga", "okapi"):
        assert word not in kept
    assert fresh_server.command("check").returncode == 0


def test_erasing_removes_attachment_bytes(fresh_server: Server):
    """Searches all files in the data folder for the bytes."""
    client, bystander = fresh_server.client(), fresh_server.client()
    own, others = secrets.token_bytes(50_000), secrets.token_bytes(50_000)
    attach(client, own)
    kept = attach(bystander, others)

    def files() -> bytes:
        read = bytearray()
        for folder, _, names in os.walk(fresh_server.data):
            for name in names:
                with contextlib.suppress(FileNotFoundError):  # removed since the folder was listed
                    read += (pathlib.Path(folder) / name).read_bytes()
        return bytes(read)

    assert own in files() and others in files()
    assert client.delete("/v1/account", json={"password": PASSWORD}).status_code == 204
    wait_until(lambda: own not in files(), pause=0.2, failure="the attachment's bytes were not removed")
    assert others in files() and download(bystander, kept) == others


def test_erasing_overwrites_the_database_file(fresh_server: Server):
    """SQLite only. PostgreSQL manages its own files."""
    if fresh_server.database:
        pytest.skip("PostgreSQL's files are its own")
    client, bystander = fresh_server.client(), fresh_server.client()
    bystander.post("/v1/notes", {"text": "bystanders"})
    for number in range(50):
        client.post("/v1/notes", {"text": f"xylophonequagga {number}"})
    assert client.get("/v1/search", params={"q": "xylophonequagga"}).json()["results"]

    def files() -> bytes:
        return b"".join(path.read_bytes() for path in fresh_server.data.glob("hesper.sqlite*"))

    assert b"ylophonequagga" in files() and client.email.encode() in files()
    assert client.delete("/v1/account", json={"password": PASSWORD}).status_code == 204
    wait_until(lambda: not (b"ylophonequagga" in files() or client.email.encode() in files()), failure="the account's text is still in the files")
    assert b"bystanders" in files()


def test_a_server_without_accounts_says_so_only_to_those_who_can_sign_up(fresh_server):
    def needs_first_account(**headers: str) -> bool:
        return requests.get(f"{fresh_server.url}/v1/server", headers=headers).json()["needsFirstAccount"]

    assert needs_first_account() is True
    assert needs_first_account(Host="notes.example") is False
    client = fresh_server.client()
    assert needs_first_account() is False
    assert client.delete("/v1/account", json={"password": PASSWORD}).status_code == 204
    with Server(arguments=["--sign-up", "closed"]) as closed:
        assert Client(closed.url).get("/v1/server").json()["needsFirstAccount"] is False


def test_closed_sign_up():
    """With sign-up closed, existing accounts can sign in, and `GET /v1/server` reports it."""
    with Server(arguments=["--sign-up", "closed"]) as server:
        made = server.command("account", "create", "ada@example.org", input=PASSWORD + "\n")
        assert made.returncode == 0, made.stderr
        client = Client(server.url)
        assert client.get("/v1/server").json()["signUp"] == "closed"
        body = {"email": "eve@example.org", "password": PASSWORD, "deviceName": "x"}
        check_problem(client.post("/v1/accounts", body), "sign-up-closed", 403)
        # The error does not reveal whether an address is registered.
        check_problem(client.post("/v1/accounts", body | {"email": "ada@example.org"}), "sign-up-closed", 403)
        client.sign_in("ada@example.org")
        assert client.get("/v1/account").json()["email"] == "ada@example.org"


def test_a_page_of_another_site_cannot_sign_up(server):
    """DNS rebinding: another site's host name resolves to 127.0.0.1, so the browser treats the server as the page's origin."""
    address, _, port = server.url.removeprefix("http://").partition(":")
    body = {"email": f"{secrets.token_hex(8)}@example.org", "password": PASSWORD, "deviceName": "x"}

    def answer(headers: dict[str, str]) -> requests.Response:
        return requests.post(f"{server.url}/v1/accounts", json=body, headers=headers)

    for name in ("notes.example", f"{address}.notes.example", "localhost.notes.example", "10.0.0.7"):
        check_problem(answer({"Host": f"{name}:{port}"}), "sign-up-closed", 403)
        info = requests.get(f"{server.url}/v1/server", headers={"Host": f"{name}:{port}"})
        assert info.json()["signUp"] == "closed"
    check_problem(answer({"X-Forwarded-For": "203.0.113.9"}), "sign-up-closed", 403)
    assert answer({"Host": f"Localhost:{port}"}).status_code == 201


def test_the_first_invitation_works_under_any_host_name(fresh_server):
    """The link may contain the host of HESPER_URL even if sign-up is open only to this machine."""
    secret = fresh_server.log.split("invitation=")[1].split()[0]

    def sign_up(invitation: str | None) -> requests.Response:
        body = {"email": f"{secrets.token_hex(8)}@example.org", "password": PASSWORD, "deviceName": "x"}
        body |= {"invitation": invitation} if invitation else {}
        return requests.post(f"{fresh_server.url}/v1/accounts", json=body, headers={"Host": "notes.example.org"})

    check_problem(sign_up(None), "sign-up-closed", 403)
    check_problem(sign_up(secret[:-1] + "?"), "sign-up-closed", 403)
    assert sign_up(secret).status_code == 201
    check_problem(sign_up(secret), "sign-up-closed", 403)
