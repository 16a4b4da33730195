"""Request smuggling: requests with an ambiguous end are refused, or read as one request as RFC 9112 defines."""

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from client import Client, Server

INNER = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
# A proxy that uses Content-Length and one that uses chunks would see different ends.
CHUNKED = f"0\r\n\r\n{INNER}"
# The exchange ends with the response to this request.
LAST = "GET /the-last HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = "POST /v1/devices HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


def sized(headers: str, body: str) -> str:
    return f"{HEAD}{headers}\r\nContent-Length: {len(body)}\r\n\r\n{body}"


REFUSED = {
    "a length and chunks": sized("Transfer-Encoding: chunked", CHUNKED),
    "chunks and a length": f"{HEAD}Content-Length: {len(CHUNKED)}\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKED}",
    "an unknown coding": sized("Transfer-Encoding: xchunked", CHUNKED),
    "identity, then chunks": sized("Transfer-Encoding: identity, chunked", CHUNKED),
    "chunks, then identity": sized("Transfer-Encoding: chunked, identity", CHUNKED),
    "chunks twice": f"{HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKED}",
    "chunks and another coding": f"{HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n{CHUNKED}",
    "a space before the colon": f"{HEAD}Transfer-Encoding : chunked\r\n\r\n{CHUNKED}",
    "a name after a space": f"{HEAD} Transfer-Encoding: chunked\r\nContent-Length: {len(CHUNKED)}\r\n\r\n{CHUNKED}",
    "a folded value": f"{HEAD}Transfer-Encoding:\r\n chunked\r\nContent-Length: {len(CHUNKED)}\r\n\r\n{CHUNKED}",
    "a vertical tab": f"{HEAD}Transfer-Encoding:\x0bchunked\r\nContent-Length: {len(CHUNKED)}\r\n\r\n{CHUNKED}",
    "NUL in a name": f"{HEAD}Transfer-\0Encoding: chunked\r\nContent-Length: {len(CHUNKED)}\r\n\r\n{CHUNKED}",
    "two lengths": f"{HEAD}Content-Length: 0\r\nContent-Length: {len(INNER)}\r\n\r\n{INNER}",
    "a list of lengths": f"{HEAD}Content-Length: 0, {len(INNER)}\r\n\r\n{INNER}",
    "a length with a sign": f"{HEAD}Content-Length: +0\r\n\r\n{INNER}",
    "a negative length": f"{HEAD}Content-Length: -{len(INNER)}\r\n\r\n{INNER}",
    "a length in hex": f"{HEAD}Content-Length: 0x0\r\n\r\n{INNER}",
    "a length past 64 bits": f"{HEAD}Content-Length: 18446744073709551616\r\n\r\n{INNER}",
    "a length with letters": f"{HEAD}Content-Length: 0abc\r\n\r\n{INNER}",
    "a chunk's size past 64 bits": f"{HEAD}Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n{INNER}",
    "a chunk's size with 0x": f"{HEAD}Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n{INNER}",
    "a negative chunk size": f"{HEAD}Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n{INNER}",
    "a chunk's size with a sign": f"{HEAD}Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n{INNER}",
    "a chunk longer than its size": f"{HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n{CHUNKED}",
    "no Host": f"GET /healthz HTTP/1.1\r\nX: y\r\n\r\n{INNER}",
    "two Hosts": f"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n{INNER}",
    "a bare CR in a value": f"GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\rb: c\r\n\r\n{INNER}",
    "NUL in a value": f"GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n{INNER}",
}

# Unambiguous requests with a body or header that looks like a request.
ONE_REQUEST = {
    "a request as a body": sized("X: y", INNER),
    "the body of a GET": f"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: {len(INNER)}\r\n\r\n{INNER}",
    "a request in a chunk": f"{HEAD}Transfer-Encoding: chunked\r\n\r\n{len(INNER):x}\r\n{INNER}\r\n0\r\n\r\n",
    "a request in a header": f"GET /healthz HTTP/1.1\r\nHost: x\r\nX: {INNER.splitlines()[0]}\r\n\r\n",
}


def exchange(server: Server, sent: str) -> bytes:
    """All bytes received until the server closes the connection or responds to the last request."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(sent.encode("latin-1"))
        received = b""
        try:
            while b"The path /the-last does not exist" not in received and (part := connection.recv(65_536)):
                received += part
        except ConnectionResetError:
            pass
        return received


def statuses(received: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3}) [A-Z]", received)]


@pytest.fixture(scope="module")
def answers(server: Server) -> dict[str, bytes]:
    """The responses to all ambiguous requests. Sent concurrently, because a refused connection stays open for a moment."""
    with ThreadPoolExecutor(len(REFUSED)) as threads:
        return dict(zip(REFUSED, threads.map(partial(exchange, server), REFUSED.values()), strict=True))


def test_the_check_detects_a_second_request(server: Server) -> None:
    received = exchange(server, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + INNER + LAST)
    assert statuses(received) == [200, 404, 404]
    assert b"The path /smuggled does not exist" in received


@pytest.mark.parametrize("name", REFUSED)
def test_ambiguous_requests_are_refused(answers: dict[str, bytes], name: str) -> None:
    received = answers[name]
    assert statuses(received) == [400], received[:2000]
    assert b"/smuggled" not in received
    assert b"connection: close" in received.lower()


@pytest.mark.parametrize("sent", ONE_REQUEST.values(), ids=list(ONE_REQUEST))
def test_unambiguous_requests_are_read_as_one(server: Server, sent: str) -> None:
    received = exchange(server, sent + LAST)
    assert len(statuses(received)) == 2, received[:2000]
    assert b"/smuggled" not in received


def test_an_unread_body_is_not_taken_for_a_request(server: Server) -> None:
    ada = Client(server.url)
    for _ in range(3):
        answer = ada.post("/v1/devices", data=INNER * 100, headers={"Content-Type": "text/plain"})
        assert answer.status_code == 415
        assert ada.get("/healthz").status_code == 200
