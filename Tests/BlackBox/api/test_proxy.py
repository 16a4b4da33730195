"""A server behind nginx, configured as in docs/https.md, and forwarding headers (protocol.md, Signing in)."""

import hashlib
import ssl

import httpx
import pytest
import requests
from client import PASSWORD, Client, Server
from nginx import Nginx
from page import COOKIE, Page
from rows import check_problem
from writer import new_id


@pytest.fixture(scope="module")
def proxied() -> Server:
    with Server(arguments=["--trusted-proxy", "127.0.0.1", "--sign-up", "open"]) as server:
        yield server


@pytest.fixture(scope="module")
def nginx(proxied, tmp_path_factory):
    running = Nginx(proxied, tmp_path_factory.mktemp("nginx"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def page(nginx) -> Page:
    """A page signed up with the headers of a browser from before 2023, which sends no Sec-Fetch-Site."""
    page = nginx.page()
    body = {"email": f"{new_id()}@example.org", "password": PASSWORD, "deviceName": "page", "cookie": True}
    answer = page.post("/v1/accounts", body, headers={"Sec-Fetch-Site": None, "Origin": nginx.url})
    assert answer.status_code == 201, answer.text
    page.cookie = page.set_cookie.split(";")[0]
    return page


def test_the_cookie_is_secure(page, nginx):
    set_cookie = COOKIE.fullmatch(page.set_cookie)
    assert set_cookie["name"] == "__Host-hesper" and set_cookie["attributes"].endswith("; Secure")
    old = {"Sec-Fetch-Site": None}
    assert page.post("/v1/sync", {}, headers=old | {"Origin": nginx.url}).status_code == 200
    for origin in (nginx.url.replace("https", "http"), "https://127.0.0.1", "https://evil.example", None):
        check_problem(page.post("/v1/sync", {}, headers=old | {"Origin": origin}), "cross-site", 403)
    # A cookie without the __Host- prefix could have been set over plain HTTP.
    answer = page.get("/v1/account", headers={"Cookie": page.cookie.removeprefix("__Host-")})
    check_problem(answer, "unauthenticated", 401)


def test_strict_transport_security(page, proxied):
    named = {"Host": "notes.example.org"}
    assert page.get("/healthz", headers=named).headers["Strict-Transport-Security"] == "max-age=31536000"
    assert "Strict-Transport-Security" not in Client(proxied.url).get("/healthz", headers=named).headers


def test_large_bodies(page):
    """Bodies above nginx's default limit of 1 MB, in both directions."""
    data = hashlib.shake_128(b"bytes").digest(5_000_000)
    path = f"/v1/attachments/{new_id()}/data"
    assert page.put(path, data=data).status_code == 201
    assert page.get(path).content == data
    notes = [{"uniqueID": new_id(), "text": "a long text, " * 70_000} for _ in range(3)]
    for note in notes:
        assert page.put(f"/v1/notes/{note['uniqueID']}", {"text": note["text"]}).status_code == 201
    answer = page.post("/v1/sync", {})
    assert {note["uniqueID"] for note in answer.json()["changes"]["notes"]} >= {note["uniqueID"] for note in notes}
    too_much = page.post("/v1/sync", data=b" " * (9 << 20), headers={"Content-Type": "application/json"})
    check_problem(too_much, "too-large", 413)


def test_events_are_not_buffered(page, nginx):
    """nginx forwards events immediately, also over HTTP/2."""
    context = ssl.create_default_context(cafile=nginx.certificate)
    headers = {"Cookie": page.cookie, "Accept-Encoding": "gzip"}
    with httpx.Client(http2=True, verify=context, headers=headers, timeout=30, trust_env=False) as session:
        with session.stream("GET", f"{nginx.url}/v1/events") as stream:
            assert stream.http_version == "HTTP/2" and "Content-Encoding" not in stream.headers
            lines = stream.iter_lines()
            assert next(lines) == "event: changes"
            for _ in range(3):
                note = new_id()
                assert page.put(f"/v1/notes/{note}", {"text": "seen"}).status_code == 201
                assert any(note in line for line in lines), "the event was not received"


def test_responses_are_compressed(page, nginx):
    answer = page.get("/openapi.yaml", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip" and "\nopenapi: 3.1" in answer.text


def test_plain_http_redirects(nginx):
    answer = requests.get(f"http://127.0.0.1:{nginx.plain_port}/docs?a=b", allow_redirects=False, timeout=10)
    assert (answer.status_code, answer.headers["Location"]) == (308, "https://127.0.0.1/docs?a=b")


# Trust in forwarding headers


def signs_in(server: Server, client: Client, **headers) -> requests.Response:
    body = {"email": client.email, "password": PASSWORD, "deviceName": "page", "cookie": True}
    return Page(server.url).post("/v1/devices", body, headers=headers)


def test_forwarding_headers_are_ignored_from_untrusted_clients(server, proxied):
    """The same headers, sent to a server that trusts the sender and to one that does not."""
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "notes.example.org"}
    for running, name in ((server, "hesper="), (proxied, "__Host-hesper=")):
        answer = signs_in(running, running.client(), **forwarded)
        assert answer.status_code == 201 and answer.headers["Set-Cookie"].startswith(name)
        response = Client(running.url).get("/healthz", headers=forwarded)
        assert ("Strict-Transport-Security" in response.headers) == (running is proxied)


def test_sign_up_is_closed_by_default_behind_a_proxy():
    with Server(arguments=["--trusted-proxy", "127.0.0.1"]) as closed:
        assert Client(closed.url).get("/v1/server").json()["signUp"] == "closed"
        # CORS for pages on localhost is disabled too, because behind a proxy they belong to other machines.
        answer = Client(closed.url).get("/v1/server", headers={"Origin": "http://localhost:5173"})
        assert "Access-Control-Allow-Origin" not in answer.headers
