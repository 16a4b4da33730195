"""Session cookies of the web app, and protection against other sites (protocol.md, Signing in)."""

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
    """A signed-in page, shared by tests that do not sign it out."""
    page = Page(server.url)
    page.sign_up(f"{new_id()}@example.org")
    return page


def signed_in(other: Client, url: str | None = None) -> Page:
    page = Page(url or other.url)
    page.sign_in(other.email, device_name="page")
    return page


def own(page: Page) -> str:
    return f"/v1/devices/{page.device['uniqueID']}"


# The cookie


def test_signing_in_sets_a_cookie(client):
    page = Page(client.url)
    answer = page.sign_in(client.email, device_name="page")
    assert set(answer) == {"account", "device"}, "the response contains a token that scripts can read"
    set_cookie = COOKIE.fullmatch(page.set_cookie)
    assert (set_cookie["name"], set_cookie["attributes"]) == ("hesper", PLAIN)
    assert int(set_cookie["day"]) == int(time.time()) // DAY
    assert page.get("/v1/account").json() == client.get("/v1/account").json()
    names = {device["name"]: device["current"] for device in page.get("/v1/devices").json()["devices"]}
    assert names == {"phone": False, "page": True}


def test_signing_up_sets_a_cookie(server):
    page = Page(server.url)
    assert set(page.sign_up(f"{new_id()}@example.org")) == {"account", "device"}
    assert page.get("/v1/account").json()["email"] == page.email


def test_the_cookie_authenticates_every_kind_of_request(page):
    """Sync, resource routes, attachment bytes, event streams."""
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


def test_the_feature_is_announced(page):
    assert "cookies" in page.get("/v1/server").json()["features"]


def test_over_tls(secure):
    page = Page(secure.url)
    page.session.verify = secure.certificate
    page.sign_up(f"{new_id()}@example.org")
    set_cookie = COOKIE.fullmatch(page.set_cookie)
    assert (set_cookie["name"], set_cookie["attributes"]) == ("__Host-hesper", PLAIN + "; Secure")
    assert page.get("/v1/account").status_code == 200
    # Without the __Host- prefix, a cookie could have been set over plain HTTP or by another port.
    value = page.cookie.removeprefix("__Host-")
    assert page.get("/v1/account", headers={"Cookie": value}).status_code == 401
    # Browsers that do not send Sec-Fetch-Site.
    for origin, status in ((secure.url, 200), (secure.url.replace("https", "http"), 403), (None, 403)):
        answer = page.post("/v1/sync", {}, headers={"Sec-Fetch-Site": None, "Origin": origin})
        assert answer.status_code == status, origin
    assert page.delete(own(page)).headers["Set-Cookie"] == f"__Host-hesper=; {GONE}; Secure"
    page.session.close()


def test_behind_a_proxy_with_tls(server):
    """The server receives plain HTTP. The browser's Origin header shows that the page uses HTTPS."""
    page = Page(server.url)
    body = {"email": server.client().email, "password": PASSWORD, "deviceName": "page", "cookie": True}
    names = {"Host": "notes.example.org", "Origin": "https://notes.example.org"}
    assert page.post("/v1/devices", body, headers=names | {"Sec-Fetch-Site": None}).status_code == 201
    set_cookie = COOKIE.fullmatch(page.set_cookie)
    assert (set_cookie["name"], set_cookie["attributes"]) == ("__Host-hesper", PLAIN + "; Secure")
    page.cookie = page.set_cookie.split(";")[0]
    assert page.post("/v1/sync", {}, headers=names | {"Sec-Fetch-Site": None}).status_code == 200
    # A page with the same host but without TLS has another origin.
    names["Origin"] = "http://notes.example.org"
    check_problem(page.post("/v1/sync", {}, headers=names | {"Sec-Fetch-Site": None}), "cross-site", 403)


def test_the_cookie_is_renewed_once_a_day(page):
    """The renewal restarts the 400 days. The response must not be cached."""
    day = int(page.cookie.rpartition(".")[2])
    old = page.cookie.replace(f".{day}", f".{day - 1}")
    note = page.post("/v1/notes", {"text": "x"}).headers["Location"]
    for method, path, body in (("GET", "/v1/account", None), ("POST", "/v1/sync", {}), ("GET", note, None)):
        now = page.request(method, path, json=body)
        assert (now.status_code, now.headers.get("Set-Cookie")) == (200, None)
        later = page.request(method, path, json=body, headers={"Cookie": old})
        assert later.headers["Set-Cookie"] == f"{page.cookie}; {PLAIN}"
        assert later.headers["Cache-Control"] == "no-store"
    # Values that are not a valid day.
    for value in ("x", "-1", "1.1", "99999999999"):
        assert page.get("/v1/account", headers={"Cookie": page.cookie.replace(f".{day}", f".{value}")}).status_code == 401


def test_a_bearer_token_wins(page, client):
    token = {"Authorization": f"Bearer {client.token}"}
    assert page.get("/v1/account", headers=token).json()["email"] == client.email
    # Browsers do not add bearer tokens on their own, so the origin does not matter.
    assert page.post("/v1/sync", {}, headers=token | {"Sec-Fetch-Site": "cross-site"}).status_code == 200
    refused = page.get("/v1/account", headers={"Authorization": f"Bearer {client.token}x"})
    check_problem(refused, "unauthenticated", 401)
    assert "Set-Cookie" not in refused.headers, "the cookie was used"
    assert page.get("/v1/account").status_code == 200


# Which sites may use it


SITES = [
    ("same-origin", None, True),
    ("same-site", None, False),  # another port of this host
    ("cross-site", None, False),
    ("none", None, False),
    ("same-site", "{own}", False),  # Sec-Fetch-Site takes precedence over Origin
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
def test_requests_from_other_sites(page, site, origin, may):
    """Requests that change something must come from the server's own pages. Browsers protect the responses of the others."""
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
    # Cookies are not set for pages of other sites either, because they could sign the user in to another account.
    body = {"email": page.email, "password": "not this", "deviceName": "x", "cookie": True}
    signed_in = page.post("/v1/devices", body, headers=headers | {"Cookie": None})
    if may or (site, origin) == (None, None):
        check_problem(signed_in, "unauthenticated", 401)
    elif origin and origin.startswith("https") and not site:
        check_problem(signed_in, "unauthenticated", 401)  # as behind a proxy with TLS
    else:
        check_problem(signed_in, "cross-site", 403)


def changing() -> list[tuple[str, str]]:
    document = contract_document.load()
    found = []
    for path, method, operation, _ in contract_document.operations(document):
        if method not in ("get", "head") and operation.get("security") != []:
            found.append((method.upper(), path))
    return found


@pytest.mark.parametrize(("method", "path"), changing())
def test_every_changing_operation_refuses_other_sites(page, method, path):
    """The request is refused before its body is read."""
    path = path.replace("{uniqueID}", page.device["uniqueID"] if "/devices/" in path else new_id())
    for headers in ({"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": None}, {"Sec-Fetch-Site": "cross-site"}):
        answer = page.request(method, path, data=b"{", headers=headers)
        check_problem(answer, "cross-site", 403)
    assert page.get("/v1/account").status_code == 200


def test_bodies_must_be_declared_as_json(page):
    """Forms of other sites can send these types without a preflight request."""
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = page.request("POST", "/v1/sync", data=b"{}", headers={"Content-Type": content_type})
        check_problem(answer, "unsupported-media-type", 415)


def test_cors_never_allows_cookies(page):
    """CORS allows pages on other local ports to use a bearer token, but not the cookie."""
    for method in ("GET", "OPTIONS"):
        headers = {"Origin": "http://localhost:5173", "Access-Control-Request-Method": "GET"}
        answer = page.request(method, "/v1/account", headers=headers)
        assert "Access-Control-Allow-Credentials" not in answer.headers
        if method == "GET":
            assert "Cookie" in answer.headers["Vary"]


def test_pages_of_different_accounts_are_separate(page, server):
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


# Signing out


def test_signing_out(client):
    """The browser deletes the cookie and all stored data of this site, and the token becomes invalid."""
    page = signed_in(client)
    out = page.delete(own(page))
    assert (out.status_code, out.headers["Set-Cookie"]) == (204, f"hesper=; {GONE}")
    assert out.headers["Clear-Site-Data"] == '"cache", "storage"'
    check_problem(page.get("/v1/account"), "unauthenticated", 401)


def test_signing_out_another_device(client):
    page, other = signed_in(client), signed_in(client)
    out = page.delete(own(other))
    assert out.status_code == 204
    assert not {"Set-Cookie", "Clear-Site-Data"} & set(out.headers)
    gone = other.get("/v1/account")
    check_problem(gone, "unauthenticated", 401)
    assert gone.headers["Set-Cookie"] == f"hesper=; {GONE}"
    assert "Clear-Site-Data" not in gone.headers, "unsent changes would be deleted"
    check_problem(other.post("/v1/sync", {}), "unauthenticated", 401)
    # Its open stream has ended, and a new one is refused.
    check_problem(other.get("/v1/events"), "unauthenticated", 401)
    assert page.get("/v1/account").status_code == 200


def test_a_new_password_signs_out_other_pages(client):
    """The page that sets the password stays signed in."""
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
