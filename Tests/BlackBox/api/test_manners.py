"""HTTP semantics on real connections, and on every path of the contract (protocol.md, HTTP rules)."""

import re
import socket

import contract_document
import pytest
from client import Client, Server, plain_session
from rows import REQUEST_ID, Row, check_problem, parametrize
from waiting import wait_until
from writer import new_id

PAGE = "http://localhost:5173"


# Every path of the contract


def paths() -> dict[str, set[str]]:
    """The methods of every path, including HEAD where there is GET, and OPTIONS."""
    found: dict[str, set[str]] = {}
    for path, method, _, _ in contract_document.operations(contract_document.load()):
        found.setdefault(path, {"OPTIONS"}).add(method.upper())
    return {path: methods | ({"HEAD"} if "GET" in methods else set()) for path, methods in found.items()}


def concrete(path: str, somebody: Client) -> str:
    if path.startswith("/v1/devices/"):
        return path.replace("{uniqueID}", somebody.device["uniqueID"])
    return path.replace("{uniqueID}", new_id()).replace("{slug}", "deleted")


@pytest.mark.parametrize(("path", "methods"), paths().items(), ids=list(paths()))
def test_methods(somebody, path, methods):
    """OPTIONS and 405 list the methods of a path. Other methods are refused before authentication."""
    path = concrete(path, somebody)
    options = somebody.request("OPTIONS", path)
    assert (options.status_code, options.text) == (204, "")
    assert set(options.headers["Allow"].split(", ")) == methods
    others = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"} - methods
    stranger = Client(somebody.url)
    for method in sorted(others):
        response = stranger.request(method, path, headers={"Content-Type": "text/plain"}, data=b"no JSON")
        assert response.status_code == 405, method
        assert response.headers["Allow"] == options.headers["Allow"]
        if method != "HEAD":
            check_problem(response, "method-not-allowed", 405)
    assert somebody.get("/v1/account").status_code == 200  # nothing was changed


@pytest.mark.parametrize("path", [path for path, methods in paths().items() if "GET" in methods])
def test_head_is_get_without_its_body(somebody, path):
    note = somebody.post("/v1/notes", {"text": "x"}).json()["uniqueID"]
    path = path.replace("{uniqueID}", note).replace("{slug}", "deleted")
    is_endless = path in ("/v1/export", "/v1/events")
    path += "?closeAfter=changes" if path == "/v1/events" else ""
    # Without compression, which test_compression.py tests.
    same = {"X-Request-ID": "same", "Accept-Encoding": "identity"}
    get, head = somebody.get(path, headers=same), somebody.request("HEAD", path, headers=same)
    assert (head.status_code, head.content) == (get.status_code, b"")
    # A long page of a GET response is chunked. HEAD returns its length anyway.
    framing = {"Date", "Content-Length", "transfer-encoding"}
    # The length of an export or an event stream is unknown. The server closes the connection to mark its end.
    framing |= {"connection"} if is_endless else set()
    headers = [{name: value for name, value in answer.headers.items() if name not in framing} for answer in (get, head)]
    assert headers[0] == headers[1]
    if is_endless:
        assert not {"Content-Length", "Transfer-Encoding"} & set(head.headers)
    else:
        assert int(head.headers["Content-Length"]) == len(get.content) > 0
    # The next response on this connection is not a body of HEAD.
    assert somebody.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize(("path", "methods"), paths().items(), ids=list(paths()))
def test_preflight(somebody, path, methods):
    """Pages on other local ports may send requests, others may not. Credentials are never allowed."""
    path = concrete(path, somebody)
    request_headers = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization,if-match"}
    allowed_origin = Client(somebody.url).request("OPTIONS", path, headers=request_headers | {"Origin": PAGE})
    assert allowed_origin.status_code == 204
    assert allowed_origin.headers["Access-Control-Allow-Origin"] == PAGE
    assert set(allowed_origin.headers["Access-Control-Allow-Methods"].split(", ")) == methods
    allowed = allowed_origin.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "content-type", "if-match", "if-none-match", "x-request-id"} <= set(allowed)
    assert "Origin" in allowed_origin.headers["Vary"]
    stranger = Client(somebody.url).request("OPTIONS", path, headers=request_headers | {"Origin": "https://evil.example"})
    assert stranger.status_code == 204
    for answer in (allowed_origin, stranger):
        assert "Access-Control-Allow-Credentials" not in answer.headers
    assert not [name for name in stranger.headers if name.lower().startswith("access-control-")]


def test_cors_headers_of_responses(somebody):
    """On successful responses and errors."""
    for path in ("/v1/account", "/v1/nothing", f"/v1/notes/{new_id()}"):
        answer = somebody.get(path, headers={"Origin": PAGE})
        assert answer.headers["Access-Control-Allow-Origin"] == PAGE
        exposed = set(answer.headers["Access-Control-Expose-Headers"].split(", "))
        assert {"ETag", "Location", "Retry-After", "X-Request-ID"} <= exposed
        elsewhere = somebody.get(path, headers={"Origin": "https://evil.example"})
        assert "Access-Control-Allow-Origin" not in elsewhere.headers


def test_configured_cors_origins():
    arguments = ["--cors-origin", "https://notes.example.org", "--cors-origin", "https://other.example.org:8443"]
    with Server(arguments=arguments) as server:
        for origin, is_allowed in (
            ("https://notes.example.org", True),
            ("https://other.example.org:8443", True),
            ("https://other.example.org", False),
            ("http://notes.example.org", False),
            ("https://notes.example.org.evil.example", False),
            ("null", False),
        ):
            answer = Client(server.url).get("/v1/server", headers={"Origin": origin})
            assert answer.headers.get("Access-Control-Allow-Origin") == (origin if is_allowed else None)


# ETags, in all forms that a client may send


@pytest.fixture(scope="module")
def tagged(somebody) -> dict[str, str]:
    note = somebody.post("/v1/notes", {"text": "x"})
    etag = note.headers["ETag"]
    assert re.fullmatch(r'"[0-9a-f]{32}"', etag)
    return {"note": note.headers["Location"], "etag": etag, "bare": etag.strip('"'), "gzip": etag[:-1] + '-gzip"'}


ETAGS = [
    Row("get, no header", "GET", "{note}", answers={"ETag": "{etag}"}),
    Row("get, in a list", "GET", "{note}", status=304, headers={"If-None-Match": '"a" , {etag},"b"'},
        answers={"ETag": "{etag}", "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie, Origin, Accept-Encoding"}),
    Row("get, weak", "GET", "{note}", status=304, headers={"If-None-Match": "W/{etag}"}),
    Row("get, of a compressed response", "GET", "{note}", status=304, headers={"If-None-Match": "{gzip}"}),
    Row("get, without quotes", "GET", "{note}", headers={"If-None-Match": "{bare}"}),
    Row("head", "HEAD", "{note}", status=304, headers={"If-None-Match": "{etag}"}),
    Row("patch, in a list", "PATCH", "{note}", {}, headers={"If-Match": '"a", {etag}'}),
    Row("patch, of a compressed response", "PATCH", "{note}", {}, headers={"If-Match": "{gzip}"}),
    Row("patch, without quotes", "PATCH", "{note}", {}, 412, headers={"If-Match": "{bare}"}),
    Row("patch, an empty list", "PATCH", "{note}", {}, 412, headers={"If-Match": ""}),
    Row("put, both, and one fails", "PUT", "{note}", {"text": "no"}, 412,
        headers={"If-Match": "{etag}", "If-None-Match": "*"}),
]  # fmt: skip


@parametrize(ETAGS)
def test_etag(row, somebody, tagged):
    row.run(somebody, tagged)
    assert somebody.get(tagged["note"]).headers["ETag"] == tagged["etag"]


# Rate limit headers


def test_responses_have_rate_limit_headers(tmp_path):
    with Server(tmp_path, ["--requests-per-minute", "60"]) as server:
        client = server.client()
        for sent in range(1, 4):
            answer = client.get("/v1/account" if sent < 3 else f"/v1/notes/{new_id()}")
            assert answer.headers["RateLimit-Policy"] == '"account";q=60;w=60'
            left, whole = map(int, re.fullmatch(r'"account";r=(\d+);t=(\d+)', answer.headers["RateLimit"]).groups())
            # One permit is restored per second. On a slow machine, some already are.
            assert 60 - sent <= left <= 59 and 60 - left - 1 <= whole <= 60 - left
        assert answer.status_code == 404
        assert "RateLimit" not in plain_session().get(f"{server.url}/v1/server").headers


# Request IDs


def test_request_ids_are_in_responses_and_in_the_log():
    with Server(log_level="debug") as server:
        client = Client(server.url)
        theirs = client.get("/v1/account", headers={"X-Request-ID": "from-the-phone-17"})
        assert theirs.headers["X-Request-ID"] == "from-the-phone-17"
        assert check_problem(theirs, "unauthenticated", 401)["requestID"] == "from-the-phone-17"
        ours = client.get("/healthz").headers["X-Request-ID"]
        assert REQUEST_ID.match(ours) and ours != client.get("/healthz").headers["X-Request-ID"]
        # IDs that could forge log lines or fill the log are replaced.
        for bad in ("a b", "a\tb", "é".encode(), "x" * 129, 'a"b', "a=b", ""):
            taken = client.get("/healthz", headers={"X-Request-ID": bad}).headers["X-Request-ID"]
            assert REQUEST_ID.match(taken) and taken != bad
        wait_until(lambda: "from-the-phone-17" in server.log and ours in server.log)
        [line] = [line for line in server.log.splitlines() if "from-the-phone-17" in line and "401" in line]
        assert "/v1/account" in line
        assert "x" * 129 not in server.log


# Connections


@pytest.fixture(scope="module")
def empty_account(server) -> Client:
    """An empty account, whose pages are short."""
    return server.client()


class Wire:
    """A connection without an HTTP library."""

    def __init__(self, server: Server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        self.reader = self.socket.makefile("rb")

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_) -> None:
        self.reader.close()
        self.socket.close()

    def send(self, *lines: str, body: bytes = b"") -> None:
        self.socket.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1") + body)

    def response(self, of_head: bool = False) -> tuple[str, dict[str, str], bytes]:
        """The next response: status line, headers by lower-case name, body."""
        status = self.reader.readline().decode().strip()
        headers: dict[str, str] = {}
        for line in iter(self.reader.readline, b"\r\n"):
            assert line, f"the connection was closed within the headers after {status!r}"
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        length = 0 if of_head else int(headers.get("content-length", 0))
        return status, headers, self.reader.read(length)

    def is_closed(self, seconds: float = 5) -> bool:
        """Whether the server closes the connection within the timeout."""
        self.socket.settimeout(seconds)
        try:
            return self.reader.read(1) == b""
        except TimeoutError:
            return False


def test_connections_are_reusable(server, empty_account):
    """After responses, errors and unread bodies."""
    token = f"Authorization: Bearer {empty_account.token}"
    with Wire(server) as wire:
        for _ in range(3):
            wire.send("GET /v1/account HTTP/1.1", "Host: x", token)
            assert wire.response()[0] == "HTTP/1.1 200 OK"
            wire.send("HEAD /v1/account HTTP/1.1", "Host: x", token)
            assert wire.response(of_head=True)[0] == "HTTP/1.1 200 OK"
            wire.send("GET /v1/nothing HTTP/1.1", "Host: x")
            assert wire.response()[0] == "HTTP/1.1 404 Not Found"
            wire.send("POST /v1/sync HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 2",
                      body=b"{}")  # fmt: skip
            assert wire.response()[0] == "HTTP/1.1 401 Unauthorized"
            wire.send("GET /healthz HTTP/1.1", "Host: x", "Content-Length: 5", body=b"hello")
            assert wire.response()[2] == b'{"status":"ok"}'
            chunks = b"1\r\n{\r\n1;x=y\r\n}\r\n0\r\nTrailer: x\r\n\r\n"
            json = "Content-Type: application/json"
            wire.send("POST /v1/sync HTTP/1.1", "Host: x", token, json, "Transfer-Encoding: chunked", body=chunks)
            assert wire.response()[0] == "HTTP/1.1 200 OK"


def test_pipelining(server):
    """RFC 9112, 9.3.2."""
    with Wire(server) as wire:
        for index in range(20):
            wire.send(f"GET /{'v1/server' if index % 2 else 'healthz'} HTTP/1.1", "Host: x", f"X-Request-ID: r{index}")
        for index in range(20):
            status, headers, body = wire.response()
            assert (status, headers["x-request-id"]) == ("HTTP/1.1 200 OK", f"r{index}")
            assert (b"Hesper" in body) == bool(index % 2)


@pytest.mark.parametrize("value", ["close", "Close", "Upgrade, close", "close , x"])
def test_connection_close(server, value):
    with Wire(server) as wire:
        wire.send("GET /healthz HTTP/1.1", "Host: x", f"Connection: {value}")
        assert wire.response()[2] == b'{"status":"ok"}'
        assert wire.is_closed()


def test_http_1_0_connections_are_closed(server):
    with Wire(server) as wire:
        wire.send("GET /healthz HTTP/1.0")
        assert wire.response()[2] == b'{"status":"ok"}'
        assert wire.is_closed(1)


def test_http_1_0_responses_are_not_chunked(server, client):
    client.post("/v1/notes", {"text": "long " * 200_000})
    with Wire(server) as wire:
        wire.send("GET /v1/changes HTTP/1.0", f"Authorization: Bearer {client.token}", "Connection: close")
        status, headers, _ = wire.response()
        assert (status, "transfer-encoding" in headers) == ("HTTP/1.0 200 OK", False)


def test_http_1_0_requests(server, empty_account):
    """Without a Host header. The end of the connection marks the end of the body."""
    token = f"Authorization: Bearer {empty_account.token}"
    for request, body in (("GET /healthz", b""), ("GET /v1/changes", b""), ("POST /v1/sync", b"{}")):
        with Wire(server) as wire:
            lines = [f"{request} HTTP/1.0", token, "Connection: close"]
            if body:
                lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
            wire.send(*lines, body=body)
            status, _, answer = wire.response()
            assert status == "HTTP/1.0 200 OK"
            assert answer.startswith(b"{") and answer.endswith(b"}")
            assert wire.is_closed()


TARGETS = [
    ("GET http://x/healthz HTTP/1.1", "200 OK"),  # absolute form, as proxies may send (RFC 9112, 3.2.2)
    ("GET /v1/search?q=100% HTTP/1.1", "400 Bad Request"),
    ("GET /docs/../v1/server HTTP/1.1", "404 Not Found"),
    ("GET //v1/server HTTP/1.1", "404 Not Found"),
    ("GET /v1%2fserver HTTP/1.1", "404 Not Found"),
    ("GET /V1/server HTTP/1.1", "404 Not Found"),
    ("CONNECT x:80 HTTP/1.1", "404 Not Found"),
    ("GET /v1/é HTTP/1.1", "400 Bad Request"),
    ("GET /healthz HTTP/2.0", "400 Bad Request"),
    ("GET /healthz", "400 Bad Request"),
    ("PRI * HTTP/2.0", "400 Bad Request"),
    ("BREW /healthz HTTP/1.1", "400 Bad Request"),
]


@pytest.mark.parametrize(("line", "status"), TARGETS, ids=[line for line, _ in TARGETS])
def test_request_lines(server, somebody, line, status):
    with Wire(server) as wire:
        wire.send(line, "Host: x", f"Authorization: Bearer {somebody.token}")
        answered, headers, body = wire.response()
        assert answered == f"HTTP/1.1 {status}", body
        if not status.startswith("200"):
            assert headers["content-type"] == "application/problem+json"
            assert REQUEST_ID.match(headers["x-request-id"])


def test_disconnecting_clients_cause_no_errors(server, somebody):
    """Incomplete headers, an incomplete body, and a response that is not read."""
    for sent in (
        b"GET /healthz HT",
        b"POST /v1/sync HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        b"GET /docs HTTP/1.1\r\nHost: x\r\n\r\n",
    ):
        for _ in range(20):
            with Wire(server) as wire:
                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # ends with a reset
                wire.socket.sendall(sent)
    assert somebody.get("/v1/account").status_code == 200
    assert not re.findall(r"^\S+ (?:error|critical)\b.*", server.log, re.MULTILINE)
