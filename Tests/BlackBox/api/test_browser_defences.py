"""Security headers for browsers on every kind of response (protocol.md, HTTP rules)."""

import pytest
import requests
from attachments import attach, data_path
from client import Client
from test_manners import Wire
from test_tls import plain
from writer import new_id

NOTHING = "default-src 'none'; frame-ancestors 'none'"
DEVICES = ("camera", "microphone", "geolocation", "display-capture", "payment", "usb", "serial", "hid", "midi")


def check(headers: dict[str, str], policy: str | None = NOTHING, referrer: str = "no-referrer") -> None:
    """Checks the security headers. `policy`: the exact Content-Security-Policy, or None for the policy of a page."""
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == referrer
    actual = headers["Content-Security-Policy"]
    assert actual == policy if policy else "frame-ancestors 'none'" in actual and "base-uri 'none'" in actual
    assert "unsafe" not in actual and "*" not in actual


@pytest.fixture(scope="module")
def attachment(somebody) -> str:
    return attach(somebody, b"<script>alert(1)</script>", mime_type="text/html")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/server", 200), ("HEAD", "/v1/server", 200), ("GET", "/v1/account", 200), ("GET", "/v1/notes", 200),
        ("POST", "/v1/sync", 200), ("GET", "/v1/export", 200), ("GET", "/openapi.yaml", 200), ("GET", "/healthz", 200),
        ("GET", "/v1/notes/none", 404), ("GET", "/nowhere", 404), ("PUT", "/v1/account", 405),
        ("POST", "/v1/notes", 201), ("POST", "/v1/tags", 422), ("OPTIONS", "/v1/notes", 204),
        ("TRACE", "/v1/notes", 405),
    ],
)  # fmt: skip
def test_responses_other_than_pages(somebody, method, path, status):
    answer = somebody.request(method, path, json={} if method in ("POST", "PUT") else None)
    assert answer.status_code == status
    check(answer.headers)


def test_unauthenticated_responses(server):
    for path, status in (("/v1/account", 401), ("/v1/devices", 401)):
        answer = Client(server.url).get(path)
        assert answer.status_code == status
        check(answer.headers)
    check(Client(server.url, "hesper_" + "x" * 43).get("/v1/account").headers)


def test_streams_of_events(somebody):
    with somebody.get("/v1/events", stream=True) as stream:
        check(stream.headers)


def test_bytes_of_attachments(somebody, attachment):
    """Attachments may contain anything. Opening their URL must not run scripts."""
    path, policy = data_path(attachment), "default-src 'none'; frame-ancestors 'none'; sandbox"
    whole = somebody.get(path)
    check(whole.headers, policy)
    assert whole.headers["Content-Type"] == "application/octet-stream"
    assert whole.headers["Content-Disposition"].startswith("attachment")
    check(somebody.get(path, headers={"Range": "bytes=0-3"}).headers, policy)
    check(somebody.get(path, headers={"Range": "bytes=99-"}).headers)
    check(somebody.get(path, headers={"If-None-Match": whole.headers["ETag"]}).headers)
    check(somebody.get(data_path(new_id())).headers)


@pytest.mark.parametrize("path", ["/", "/capture?text=x", "/sw.js", "/docs", "/problems/deleted", "/favicon.svg"])
def test_pages(server, path):
    answer = Client(server.url).get(path)
    if answer.status_code == 404:
        return check(answer.headers)
    is_app = path in ("/", "/capture?text=x", "/sw.js", "/favicon.svg")
    check(answer.headers, None, "same-origin" if is_app else "no-referrer")
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    disabled = answer.headers["Permissions-Policy"].split(", ")
    assert all(f"{device}=()" in disabled for device in DEVICES)
    known = Client(server.url).get(path, headers={"If-None-Match": answer.headers.get("ETag", '"x"')})
    check(known.headers, None, "same-origin" if is_app else "no-referrer")


def test_malformed_requests(server):
    for lines in (["HELO"], ["GET / HTTP/1.1"], ["GET / HTTP/1.1", "Host: x", f"X-A: {'a' * 17_000}"]):
        with Wire(server) as wire:
            wire.send(*lines)
            _, headers, _ = wire.response()
            check(requests.structures.CaseInsensitiveDict(headers))


def test_redirects_to_https(secure):
    check(plain(secure, "GET", "/").headers)
    check(plain(secure, "POST", "/v1/devices").headers)


def test_a_browser_gets_a_page_for_an_unknown_address(server):
    client = Client(server.url)
    accept = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    page = client.get("/nonsense", headers=accept)
    assert (page.status_code, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "Page not found" in page.text and "default-src 'none'" in page.headers["Content-Security-Policy"]
    for path, headers in (("/nonsense", {}), ("/v1/nonsense", accept), ("/v1/notes/nonsense", accept)):
        problem = client.get(path, headers=headers)
        assert problem.headers["Content-Type"] == "application/problem+json", path
