"""Pages of the server's own: a session in a cookie, and who may use it (protocol.md, Signing in)."""

import re
import time

import contract_document
import pytest
from attachments import attach, data_path
from client import PASSWORD, Client
from page import COOKIE, Page
from rows import check_problem
from writer import new_id

DAY = 86_400
PLAIN = "Max-Age=34560000; Path=/; HttpOnly; SameSite=Strict"
GONE = "Max-Age=0; Path=/; HttpOnly; SameSite=Strict"


@pytest.fixture(scope="module")
def page(server) -> Page:
    """One page for all that do not sign it out."""
    page = Page(server.url)
    page.sign_up(f"{new_id()}@example.org")
    return page


def signed_in(other: Client, url: str | None = None) -> Page:
    page = Page(url or other.url)
    page.sign_in(other.email, device_name="page")
    return page


def own(page: Page) -> str:
    return f"/v1/devices/{page.device['uniqueID']}"


# The cookie.


def test_a_page_signs_in(client):
    page = Page(client.url)
    answer = page.sign_in(client.email, device_name="page")
    assert set(answer) == {"account", "device"}, "no token that a script could read"
    given = COOKIE.fullmatch(page.given)
    assert (given["name"], given["attributes"]) == ("hesper", PLAIN)
    assert int(given["day"]) == int(time.time()) // DAY
    assert page.get("/v1/account").json() == client.get("/v1/account").json()
    names = {device["name"]: device["current"] for device in page.get("/v1/devices").json()["devices"]}
    assert names == {"phone": False, "page": True}


def test_a_page_signs_up(server):
    page = Page(server.url)
    assert set(page.sign_up(f"{new_id()}@example.org")) == {"account", "device"}
    assert page.get("/v1/account").json()["email"] == page.email


def test_everything_works_with_it(page):
    """Sync, plain routes, bytes, streams."""
    note = page.post("/v1/notes", {"text": "from a page"})
    assert note.status_code == 201
    assert page.sync()["changes"]["notes"][0]["text"] == "from a page"
    attachment = attach(page, b"\x89PNG" + bytes(100))
    assert page.get(data_path(attachment)).content == b"\x89PNG" + bytes(100)
    with page.get("/v1/events", params={"closeAfter": "changes"}, stream=True) as stream:
        assert stream.headers["Content-Type"] == "text/event-stream"
        assert b"event: changes" in stream.content
    assert page.post("/v1/ephemeral", {"uniqueID": new_id(), "data": {}}).json() == {"listeners": 0}
    assert page.get("/v1/export").content[:2] == b"PK"


def test_the_server_tells_that_it_can(page):
    assert "cookies" in page.get("/v1/server").json()["features"]


def test_over_tls(secure):
    page = Page(secure.url)
    page.session.verify = secure.certificate
    page.sign_up(f"{new_id()}@example.org")
    given = COOKIE.fullmatch(page.given)
    assert (given["name"], given["attributes"]) == ("__Host-hesper", PLAIN + "; Secure")
    assert page.get("/v1/account").status_code == 200
    # What plain HTTP, or another port, could have set counts for nothing.
    value = page.cookie.removeprefix("__Host-")
    assert page.get("/v1/account", headers={"Cookie": value}).status_code == 401
    # Browsers that send no Sec-Fetch-Site.
    for origin, status in ((secure.url, 200), (secure.url.replace("https", "http"), 403), (None, 403)):
        answer = page.post("/v1/sync", {}, headers={"Sec-Fetch-Site": None, "Origin": origin})
        assert answer.status_code == status, origin
    assert page.delete(own(page)).headers["Set-Cookie"] == f"__Host-hesper=; {GONE}; Secure"
    page.session.close()


def test_behind_a_proxy_that_speaks_tls(server):
    """The server listens without; the browser knows, and says so."""
    page = Page(server.url)
    body = {"email": server.client().email, "password": PASSWORD, "deviceName": "page", "cookie": True}
    names = {"Host": "notes.example.org", "Origin": "https://notes.example.org"}
    assert page.post("/v1/devices", body, headers=names | {"Sec-Fetch-Site": None}).status_code == 201
    given = COOKIE.fullmatch(page.given)
    assert (given["name"], given["attributes"]) == ("__Host-hesper", PLAIN + "; Secure")
    page.cookie = page.given.split(";")[0]
    assert page.post("/v1/sync", {}, headers=names | {"Sec-Fetch-Site": None}).status_code == 200
    # The page at the same name without TLS is another origin.
    names["Origin"] = "http://notes.example.org"
    check_problem(page.post("/v1/sync", {}, headers=names | {"Sec-Fetch-Site": None}), "cross-site", 403)


def test_it_is_given_again_once_a_day(page):
    """For its 400 days to begin anew; not with every answer, and never to be kept on the way."""
    day = int(page.cookie.rpartition(".")[2])
    old = page.cookie.replace(f".{day}", f".{day - 1}")
    note = page.post("/v1/notes", {"text": "x"}).headers["Location"]
    for method, path, body in (("GET", "/v1/account", None), ("POST", "/v1/sync", {}), ("GET", note, None)):
        now = page.request(method, path, json=body)
        assert (now.status_code, now.headers.get("Set-Cookie")) == (200, None)
        later = page.request(method, path, json=body, headers={"Cookie": old})
        assert later.headers["Set-Cookie"] == f"{page.cookie}; {PLAIN}"
        assert later.headers["Cache-Control"] == "no-store"
    # Nobody sends what no day can be.
    for value in ("x", "-1", "1.1", "99999999999"):
        assert page.get("/v1/account", headers={"Cookie": page.cookie.replace(f".{day}", f".{value}")}).status_code == 401


def test_a_bearer_token_wins(page, client):
    token = {"Authorization": f"Bearer {client.token}"}
    assert page.get("/v1/account", headers=token).json()["email"] == client.email
    # What it signs, no browser sends by itself: it may come from anywhere.
    assert page.post("/v1/sync", {}, headers=token | {"Sec-Fetch-Site": "cross-site"}).status_code == 200
    refused = page.get("/v1/account", headers={"Authorization": f"Bearer {client.token}x"})
    check_problem(refused, "unauthenticated", 401)
    assert "Set-Cookie" not in refused.headers, "the cookie was not looked at"
    assert page.get("/v1/account").status_code == 200


# Who may use it.


SITES = [
    ("same-origin", None, True),
    ("same-site", None, False),  # another port of this host
    ("cross-site", None, False),
    ("none", None, False),
    ("same-site", "{own}", False),  # the header decides, whatever stands beside it
    ("none", "{own}", False),
    ("cross-site", "{own}", False),
    (None, "{own}", True),
    (None, "http://127.0.0.1:1", False),
    (None, "http://localhost:{port}", False),
    (None, "https://127.0.0.1:{port}", False),
    (None, "http://evil.example", False),
    (None, "null", False),
    (None, None, False),
]


@pytest.mark.parametrize(("site", "origin", "may"), SITES)
def test_sites(page, site, origin, may):
    """What changes something comes from a page of the server's own; what reads may come from wherever the browser lets it."""
    origin = origin and origin.format(own=page.url, port=page.url.rpartition(":")[2])
    headers = {"Sec-Fetch-Site": site, "Origin": origin}
    note = new_id()
    for method, path, body in (
        ("PUT", f"/v1/notes/{note}", {"text": "made"}),
        ("PATCH", f"/v1/notes/{note}", {"text": "changed"}),
        ("POST", "/v1/sync", {}),
        ("DELETE", f"/v1/notes/{note}", None),
    ):
        answer = page.request(method, path, json=body, headers=headers)
        if may:
            assert answer.status_code in (200, 201), answer.text
        else:
            check_problem(answer, "cross-site", 403)
            assert "Set-Cookie" not in answer.headers
    assert page.get(f"/v1/notes/{note}").status_code == (410 if may else 404)
    for method in ("GET", "HEAD"):
        assert page.request(method, "/v1/account", headers=headers).status_code == 200
    # Nor is a page of elsewhere given one: it could sign a person in as somebody else.
    body = {"email": page.email, "password": "not this", "deviceName": "x", "cookie": True}
    given = page.post("/v1/devices", body, headers=headers | {"Cookie": None})
    if may or (site, origin) == (None, None):
        check_problem(given, "unauthenticated", 401)
    elif origin and origin.startswith("https") and not site:
        check_problem(given, "unauthenticated", 401)  # which is what a proxy with TLS looks like
    else:
        check_problem(given, "cross-site", 403)


def changing() -> list[tuple[str, str]]:
    document = contract_document.load()
    found = []
    for path, method, operation, _ in contract_document.operations(document):
        if method not in ("get", "head") and operation.get("security") != []:
            found.append((method.upper(), path))
    return found


@pytest.mark.parametrize(("method", "path"), changing())
def test_every_method_that_changes_something(page, method, path):
    """Whatever is sent to it is not even looked at."""
    path = path.replace("{uniqueID}", page.device["uniqueID"] if "/devices/" in path else new_id())
    for headers in ({"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": None}, {"Sec-Fetch-Site": "cross-site"}):
        answer = page.request(method, path, data=b"{", headers=headers)
        check_problem(answer, "cross-site", 403)
    assert page.get("/v1/account").status_code == 200


def test_a_body_says_that_it_is_json(page):
    """A form of another page could say something else without asking."""
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = page.request("POST", "/v1/sync", data=b"{}", headers={"Content-Type": content_type})
        check_problem(answer, "unsupported-media-type", 415)


def test_no_page_of_elsewhere_reads_with_it(page):
    """CORS lets pages of other ports of this machine in, with a bearer token; never with the cookie."""
    for method in ("GET", "OPTIONS"):
        headers = {"Origin": "http://localhost:5173", "Access-Control-Request-Method": "GET"}
        answer = page.request(method, "/v1/account", headers=headers)
        assert "Access-Control-Allow-Credentials" not in answer.headers
        if method == "GET":
            assert "Cookie" in answer.headers["Vary"]


def test_of_two_pages_each_sees_its_own(page, server):
    other = Page(server.url)
    other.sign_up(f"{new_id()}@example.org")
    note = page.post("/v1/notes", {"text": "mine"}).headers["Location"]
    attachment = attach(page, bytes(10))
    assert page.get(note).status_code == 200
    for path in (note, f"/v1/attachments/{attachment}", data_path(attachment), f"{note}/edits"):
        answer, unknown = other.get(path), other.get(re.sub(r"[0-9a-f-]{36}", new_id(), path))
        assert answer.status_code == unknown.status_code, path
        assert answer.status_code == (200 if path.endswith("edits") and unknown.status_code == 200 else 404), path
    check_problem(other.delete(own(page)), "not-found", 404)
    assert other.sync()["changes"]["notes"] == []
    assert page.get("/v1/account").status_code == 200


# Signing out.


def test_signing_out(client):
    """The browser forgets the cookie and all that it keeps of this server, and the token is no good any more."""
    page = signed_in(client)
    out = page.delete(own(page))
    assert (out.status_code, out.headers["Set-Cookie"]) == (204, f"hesper=; {GONE}")
    assert out.headers["Clear-Site-Data"] == '"cache", "storage"'
    check_problem(page.get("/v1/account"), "unauthenticated", 401)


def test_signing_another_device_out(client):
    page, other = signed_in(client), signed_in(client)
    out = page.delete(own(other))
    assert out.status_code == 204
    assert not {"Set-Cookie", "Clear-Site-Data"} & set(out.headers)
    gone = other.get("/v1/account")
    check_problem(gone, "unauthenticated", 401)
    assert gone.headers["Set-Cookie"] == f"hesper=; {GONE}"
    assert "Clear-Site-Data" not in gone.headers, "what is unsent is still there to be sent"
    check_problem(other.post("/v1/sync", {}), "unauthenticated", 401)
    # A stream that was open has ended; a new one is refused.
    check_problem(other.get("/v1/events"), "unauthenticated", 401)
    assert page.get("/v1/account").status_code == 200


def test_a_new_password(client):
    """The page that sets it stays; every other device is out."""
    page, other = signed_in(client), signed_in(client)
    body = {"currentPassword": PASSWORD, "newPassword": PASSWORD[::-1]}
    changed = page.patch("/v1/account", body)
    assert changed.status_code == 200 and "Set-Cookie" not in changed.headers
    assert page.get("/v1/account").status_code == 200
    for device in (other, client):
        check_problem(device.get("/v1/account"), "unauthenticated", 401)


def test_erasing_the_account(client):
    page = signed_in(client)
    out = page.request("DELETE", "/v1/account", json={"password": PASSWORD})
    assert (out.status_code, out.headers["Set-Cookie"]) == (204, f"hesper=; {GONE}")
    assert out.headers["Clear-Site-Data"] == '"cache", "storage"'
