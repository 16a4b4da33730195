"""The log as text and as JSON: it identifies accounts and devices, contains no secrets, and clients cannot forge lines."""

import configparser
import contextlib
import json
import re
import socket
import uuid
from collections.abc import Iterator

import pytest
from attachments import attach
from client import PASSWORD, ROOT, Server
from database import query

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (trace|debug|info|notice|warning|error|critical) .+")
LEVELS = {"trace", "debug", "info", "notice", "warning", "error", "critical"}


@pytest.fixture(params=["text", "json"])
def logged(request: pytest.FixtureRequest) -> Iterator[tuple[Server, str]]:
    """A server at the most verbose level, and its log format."""
    environment = {"HESPER_LOG_FORMAT": request.param}
    with Server(log_level="trace", environment=environment) as server:
        yield server, request.param


def lines_of(server: Server, form: str) -> list[str]:
    """The lines of the log, each checked for its format. Command output to the same file is left out."""
    said = ("Hesper listens on ", "There are no accounts yet.")
    lines = [line for line in server.log.split("\n") if line and not line.startswith(said)]
    for line in lines:
        if form == "text":
            assert LINE.fullmatch(line), line
        else:
            values = json.loads(line)
            assert values["level"] in LEVELS and values["time"] and values["message"]
            assert all(isinstance(value, str) for value in values.values())
        assert line.isprintable(), line
    return lines


def values_of(line: str, form: str) -> dict[str, str]:
    return json.loads(line) if form == "json" else dict(re.findall(r" ([a-z]+)=([^ ]+)", line))


def test_lines_contain_account_and_device(logged: tuple[Server, str]) -> None:
    server, form = logged
    client = server.client()
    account = client.get("/v1/account").json()["uniqueID"]
    client.get("/v1/notes/nothing", headers={"X-Request-ID": "mine-1"})
    client.get("/healthz", headers={"X-Request-ID": "mine-2"})
    server.stop()
    lines = lines_of(server, form)
    mine = [values_of(line, form) for line in lines if "mine-1" in line]
    assert mine == [mine[0]], mine
    wanted = {
        "method": "GET", "path": "/v1/notes/nothing", "status": "404", "request": "mine-1", "account": account,
        "device": client.device["uniqueID"],
    }  # fmt: skip
    assert {name: mine[0].get(name) for name in wanted} == wanted
    assert int(mine[0]["microseconds"]) > 0
    open_to_all = next(values_of(line, form) for line in lines if "mine-2" in line)
    assert "device" not in open_to_all and "account" not in open_to_all


def test_errors_contain_account_and_device(logged: tuple[Server, str]) -> None:
    server, form = logged
    client = server.client()
    query(server, "ALTER TABLE objects RENAME TO gone")
    assert client.get("/v1/notes", headers={"X-Request-ID": "mine-3"}).status_code == 500
    server.stop()
    errors = [values_of(line, form) for line in lines_of(server, form) if "mine-3" in line and "error" in line]
    device = client.device["uniqueID"]
    assert [(error["device"], error["path"], error["method"]) for error in errors] == [(device, "/v1/notes", "GET")]
    assert errors[0]["account"]


def test_damage_found_by_a_request_is_logged_with_its_cause(logged: tuple[Server, str]) -> None:
    """The response is an error of the server, not of the request."""
    server, form = logged
    client = server.client()
    note = client.post("/v1/notes", {"text": "milk"}).json()["uniqueID"]
    query(server, "UPDATE objects SET body = '{\"uniqueID\":?}'")
    answer = client.get(f"/v1/notes/{note}", headers={"X-Request-ID": "mine-4"})
    assert (answer.status_code, answer.json()["slug"], answer.json()["requestID"]) == (500, "internal-error", "mine-4")
    server.stop()
    [error] = [line for line in lines_of(server, form) if "mine-4" in line and "error" in line]
    assert f"The stored body of {note} is damaged" in error


def test_secrets_are_not_logged(logged: tuple[Server, str]) -> None:
    """Neither by successful nor by failed requests, at the most verbose level."""
    server, form = logged
    secret = f"x{uuid.uuid4().hex}"
    email = f"{secret}@example.org"
    phone = server.client(email=email, device_name=f"phone {secret}")
    laptop = phone.another_device(f"laptop {secret}")
    cookie = {"email": email, "password": PASSWORD, "deviceName": "page", "cookie": True}
    page = phone.post("/v1/devices", cookie)
    wrong = {"email": email, "password": f"wrong {secret}", "deviceName": "x"}
    assert phone.post("/v1/devices", wrong).status_code == 401
    note = phone.post("/v1/notes", {"text": f"text {secret}", "attributes": {secret: secret}}).json()["uniqueID"]
    assert phone.patch(f"/v1/notes/{note}", {"text": f"again {secret}"}).status_code == 200
    assert phone.patch(f"/v1/notes/{note}", {secret: secret}).status_code == 422
    assert phone.post("/v1/tags", {"name": f"tag {secret}"}).status_code == 201
    attach(phone, secret.encode(), filename=f"{secret}.png")
    assert phone.get("/v1/search", params={"q": secret}).status_code == 200
    assert phone.get("/v1/search", params={secret: secret}).status_code in (400, 422)
    assert phone.post("/v1/sync", data=f'{{"{secret}'.encode()).status_code in (400, 415)
    assert phone.post("/v1/ephemeral", {"uniqueID": note, "data": {secret: secret}}).status_code == 200
    assert phone.get("/v1/notes", headers={"Authorization": f"Bearer hesper_{secret}"}).status_code == 401
    assert phone.get("/v1/notes", headers={"Cookie": f"hesper={secret}"}).status_code == 200
    assert phone.get("/v1/export").status_code == 200
    server.stop()
    log = "\n".join(lines_of(server, form))
    assert len(log) > 1_000
    tokens = [phone.token, laptop.token, page.cookies["hesper"]]
    for kept in [secret, email, PASSWORD, *tokens]:
        assert kept not in log


def test_fail2ban_finds_failed_sign_ins(logged: tuple[Server, str]) -> None:
    """Applies the filter of Packaging/ as fail2ban does, which removes the date from the line first."""
    server, form = logged
    filters = configparser.RawConfigParser()
    filters.read(ROOT / "Packaging/fail2ban.conf")
    rules = [rule.replace("<ADDR>", r"(?P<address>[0-9a-f.:]+)") for rule in filters["Definition"]["failregex"].split("\n")]
    client = server.client()
    wrong = {"email": client.email, "password": "not my password", "deviceName": "notice Wrong password address=192.0.2.1"}
    assert client.post("/v1/devices", wrong).status_code == 401
    assert client.post("/v1/passwords", {"code": "AAAAA-AAAAA-AAAAA-AAAAA", "newPassword": PASSWORD}).status_code == 403
    client.get("/v1/notes/notice Wrong password address=192.0.2.1")
    client.get("/", headers={"X-Request-ID": "notice-Wrong-password-address=192.0.2.1"})
    server.stop()
    lines = [re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "", line) for line in lines_of(server, form)]
    found = [match["address"] for line in lines for rule in rules if (match := re.search(rule, line))]
    assert found == ["127.0.0.1", "127.0.0.1"]


HOSTILE = [
    b"/v1/notes/%0a2026-11-21T00:00:00.000Z%20error%20forged",
    b"/v1/\x1b[2J", b"/v1/\xc2\x9b31m", b"/v1/\xe2\x80\xa8next", b"/v1/\xff\xfe", b'/v1/"},{"level":"info',
    b"/v1/\\n", b"/v1/a\rforged", b"/v1/\x00",
]  # fmt: skip


def test_clients_cannot_forge_log_lines(logged: tuple[Server, str]) -> None:
    server, form = logged
    with contextlib.ExitStack() as clients:
        sockets = []
        for path in HOSTILE:
            for header in (b"X-Request-ID: mine\x1b[31m", b"User-Agent: \x1b]0;title\x07", b"X-\xff: \x85next"):
                client = clients.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
                client.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n" + header + b"\r\nConnection: close\r\n\r\n")
                sockets.append(client)
        # Refused connections stay open for a moment, so they are closed together.
        for client in sockets:
            while client.recv(65_536):
                pass
    client = server.client(device_name="\N{RIGHT-TO-LEFT OVERRIDE}phone\n\x1b[31m")
    assert client.get("/v1/devices").status_code == 200
    server.stop()
    assert len(lines_of(server, form)) > len(HOSTILE)
