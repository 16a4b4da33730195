"""Floods of passwords, connections, headers and bodies. Other clients are served during and after them."""

import re
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from client import PASSWORD, Client, Server

MIB = 1 << 20


def memory(server: Server) -> int:
    """The server's peak memory in bytes."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) << 10


def check_server(server: Server, client: Client) -> None:
    assert server.process.poll() is None
    note = client.post("/v1/notes", {"text": "well"})
    assert note.status_code == 201
    assert client.get(f"/v1/notes/{note.json()['uniqueID']}").json()["text"] == "well"
    assert not re.findall(r"^\S+ (?:error|critical)\b.*", server.log, re.MULTILINE)


def test_guessing_passwords(fresh_server: Server) -> None:
    """Most of many concurrent guesses are refused before the password is checked, with Retry-After. Memory stays bounded."""
    fresh_server.stop()
    fresh_server.environment["HESPER_PASSWORD_COST"] = "15"
    fresh_server.start()
    ada = fresh_server.client(email="ada@example.org")
    guesses = [{"email": "ada@example.org", "password": f"guess {number}", "deviceName": "x"} for number in range(300)]

    def guess(body: dict) -> tuple[int, str | None]:
        answer = Client(fresh_server.url).post("/v1/devices", body)
        return answer.status_code, answer.headers.get("Retry-After")

    with ThreadPoolExecutor(32) as threads:
        answers = list(threads.map(guess, guesses))
        # Signed-in clients are not affected.
        assert ada.get("/v1/account").status_code == 200
    counts = Counter(status for status, _ in answers)
    assert set(counts) <= {401, 429}, counts
    assert 0 < counts[401] <= 100, counts
    assert all(int(seconds) > 0 for status, seconds in answers if status == 429)
    # Two concurrent password checks use 32 MiB each. All 32 guesses would use 1 GiB.
    assert memory(fresh_server) < 600 * MIB
    check_server(fresh_server, ada)


def test_unknown_addresses_have_the_same_limits(fresh_server: Server) -> None:
    """Responses and limits do not reveal whether an address has an account."""
    fresh_server.client(email="ada@example.org")
    responses = {}
    for email in ("ada@example.org", "nobody@example.org"):
        body = {"email": email, "password": "wrong password", "deviceName": "x"}
        answers = [Client(fresh_server.url).post("/v1/devices", body) for _ in range(3)]
        responses[email] = [(answer.status_code, answer.json()["slug"], answer.json()["detail"]) for answer in answers]
    assert responses["ada@example.org"] == responses["nobody@example.org"]


POST = b"POST /v1/devices HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "an endless line": (b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"a" * 65_536),
    "endless lines": (b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-Flood: aaaaaaaa\r\n" * 4_000),
    "an endless path": (b"GET /", b"a" * 65_536),
    "an endless method": (b"", b"A" * 65_536),
    "endless empty lines": (b"", b"\r\n" * 32_768),
    "endless chunk extensions": (
        POST + b"1;",
        b"a=b;" * 16_384,
    ),
    "an endless body": (
        POST,
        b"10000\r\n" + b" " * 65_536 + b"\r\n",
    ),
    "endless trailers": (
        POST + b"0\r\n",
        b"X-Flood: aaaaaaaa\r\n" * 4_000,
    ),
}


@pytest.mark.parametrize(("head", "more"), ENDLESS.values(), ids=list(ENDLESS))
def test_endless_requests_are_cut_off(server: Server, head: bytes, more: bytes) -> None:
    """The server closes the connection within a minute and has not stored the data."""
    client = server.client()
    before = memory(server)
    end = time.monotonic() + 60
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        try:
            connection.sendall(head)
            while time.monotonic() < end:
                connection.sendall(more)
        except OSError:
            pass
    assert time.monotonic() < end, "the server did not close the connection"
    # A sign-up uses 128 MiB, which the allocator may keep. The flood itself must not be kept.
    assert memory(server) - before < 64 * MIB
    check_server(server, client)


def test_many_idle_connections(fresh_server: Server) -> None:
    client = fresh_server.client()
    idle = []
    try:
        for _ in range(400):
            idle.append(socket.create_connection(("127.0.0.1", fresh_server.port), timeout=10))
        for connection in idle[::2]:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost")
        check_server(fresh_server, client)
        other = Client(fresh_server.url)
        other.sign_in(client.email, PASSWORD)
    finally:
        for connection in idle:
            connection.close()
    check_server(fresh_server, client)


def test_clients_that_do_not_read(fresh_server: Server) -> None:
    """Clients request large responses and do not read them. The server's memory stays bounded."""
    client = fresh_server.client()
    for number in range(8):
        assert client.post("/v1/notes", {"text": f"{number} " + "x" * (MIB - 8)}).status_code == 201
    before = memory(fresh_server)
    request = f"GET /v1/changes?limit=5000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {client.token}\r\n\r\n"
    slow = []
    try:
        for _ in range(40):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.connect(("127.0.0.1", fresh_server.port))
            connection.sendall(request.encode())
            slow.append(connection)
        check_server(fresh_server, client)
        assert memory(fresh_server) - before < 200 * MIB
    finally:
        for connection in slow:
            connection.close()
    check_server(fresh_server, client)


def test_writers_that_stop(fresh_server: Server) -> None:
    """Incomplete pushes do not block other requests."""
    client = fresh_server.client()
    head = (
        f"POST /v1/sync HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {client.token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 8000000\r\n\r\n"
    )
    stuck = []
    try:
        for _ in range(100):
            connection = socket.create_connection(("127.0.0.1", fresh_server.port), timeout=10)
            connection.sendall(head.encode() + b'{"changes": {"notes": [')
            stuck.append(connection)
        barrier = threading.Barrier(8)

        def push(_: int) -> int:
            barrier.wait()
            return client.another_device().post("/v1/sync", {}).status_code

        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(push, range(8))) == [200] * 8
        check_server(fresh_server, client)
    finally:
        for connection in stuck:
            connection.close()
    check_server(fresh_server, client)
