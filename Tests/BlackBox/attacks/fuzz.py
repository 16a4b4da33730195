"""Sends mutated requests of the contract. None may cause a 5xx or end the server.

    python Tests/BlackBox/attacks/fuzz.py --requests 100000 --seed 1      # make fuzz

Seed and number determine a request. A failure prints both, and `--only NUMBER` sends that request again.
"""

import argparse
import json
import random
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import contract_document
from client import Client, Server

THREADS = 4
# Operations that hash a password take a third of a second, so they are sent rarely.
SLOW = {"signUp", "signIn", "updateAccount", "deleteAccount", "resetPassword"}
SLOW_SHARE = 0.005
MIB = 1 << 20

STRINGS = [
    "", " ", "\0", "\x7f", "\u2028", "\ufeff", "\ud7ff", "\U0010ffff", "e\u0301" * 50, "İ", "ß", "\r\nX: y",
    "../../etc/passwd", "%00", "%", "%zz", "null", "true", "0", "-1", "NaN", "' OR 1=1 --", '"; DROP TABLE notes; --',
    "<script>", "{}", "[]", "a" * 257, "a" * 70_000, "2026-11-21T08:47:12.345Z", "2026-13-41T99:99:99Z",
    "0000-00-00T00:00:00Z", "9999-12-31T23:59:60Z", "2026-11-21T08:47:12.345Z-0000-0000000000000000",
    "2026-11-21T08:47:12.345Z-ffff-ffffffffffffffff", "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff", "{uniqueID}", "bytes=0-", "bytes=9-1", "*", 'W/"x"', '"', "gzip", "chunked",
    "close", "🏳️‍🌈" * 40,
]  # fmt: skip
NUMBERS = [
    "0", "-0", "-1", "1e308", "1e309", "-1e999", "9007199254740992", "18446744073709551616", "0.1", "1" * 400, "1E+2",
]  # fmt: skip
LITERALS = ["null", "true", "false", "[]", "{}", "[[]]", '""', "nul", "NaN", "undefined", "'a'", "\\"]
BYTES = [
    b"\0", b"\r", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xff\xfe", b"{",
    b"}",
]  # fmt: skip
HEADER_VALUES = ["Bearer x", "hesper=x", "application/json", "100-continue", "?0", "?1", "1", "deflate, gzip", "br"]
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW", "get", ""]


@dataclass
class Request:
    method: str
    path: str
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def wire(self) -> bytes:
        lines = [f"{self.method} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers), "", ""]
        return "\r\n".join(lines).encode("utf-8", "surrogatepass") + self.body


class Corpus:
    """Valid requests that refer to the objects of an account."""

    def __init__(self, server: Server):
        self.server, self.document = server, contract_document.load()
        # Must differ from the password in the contract's examples, or one of them would erase the account.
        client = server.client(email="fuzz@example.org", password="nobody writes this into an example")
        self.client = client
        note = client.post("/v1/notes", {"text": "milk and bread"}).json()
        tag = client.post("/v1/tags", {"name": "shopping"}).json()
        other = client.post("/v1/notes", {"text": "gone"}).json()["uniqueID"]
        client.delete(f"/v1/notes/{other}")
        self.ids = [note["uniqueID"], tag["uniqueID"], other, "3e1d9a52-7c40-4f0b-8e63-5b2a9d8c7f10"]
        self.tokens = [client.get(f"/v1/{feed}").json()["syncToken"] for feed in ("changes", "notes", "tags")]
        everything = list(contract_document.operations(self.document))
        self.slow = [each for each in everything if each[2]["operationId"] in SLOW]
        self.quick = [each for each in everything if each[2]["operationId"] not in SLOW]

    def request(self, chance: random.Random) -> Request:
        operations = self.slow if chance.random() < SLOW_SHARE else self.quick
        path, method, operation, parameters = chance.choice(operations)
        request = Request(method.upper(), re.sub(r"\{\w+\}", lambda _: chance.choice(self.ids), path))
        request.headers = [("Host", "localhost"), ("Authorization", f"Bearer {self.client.token}")]
        query = []
        for parameter in parameters:
            if parameter["in"] == "path" or chance.random() < 0.3:
                continue
            value = self.value(parameter, chance)
            if parameter["in"] == "query":
                query.append(f"{parameter['name']}={quote(value)}")
            else:
                request.headers.append((parameter["name"], value))
        if query:
            request.path += "?" + "&".join(query)
        content = contract_document.resolve(self.document, operation.get("requestBody", {})).get("content", {})
        for media, entry in content.items():
            request.headers.append(("Content-Type", media))
            example = entry.get("example")
            some = chance.randbytes(chance.randrange(999))
            request.body = some if example is None else json.dumps(example).encode()
        return request

    def value(self, parameter: dict, chance: random.Random) -> str:
        if parameter["name"] in ("since", "cursor", "Last-Event-ID"):
            return chance.choice(self.tokens)
        if "example" in parameter:
            return str(parameter["example"])
        kind = parameter["schema"].get("type")
        return {"integer": "10", "boolean": "true"}.get(kind, "milk")


# Mutations: of the content, then of the bytes


def positions(value: Any, put: Callable[[Any], None]) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """Yields every value inside a JSON value, with a function that replaces it."""
    yield value, put
    if isinstance(value, dict):
        for name in list(value):
            yield from positions(value[name], lambda new, name=name: value.__setitem__(name, new))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from positions(value[index], lambda new, index=index: value.__setitem__(index, new))


def change_json(request: Request, chance: random.Random) -> None:
    """Inserts unexpected values, removes, adds and duplicates keys, and nests values deeply."""
    try:
        root = [json.loads(request.body)]
    except ValueError:
        return change_bytes_of_body(request, chance)
    raw: dict[str, str] = {}
    for _ in range(chance.randint(1, 3)):
        found = list(positions(root[0], lambda new: root.__setitem__(0, new)))
        value, put = chance.choice(found)
        match chance.randrange(8):
            case 0: put(chance.choice(STRINGS))
            case 1 | 2:
                # A unique placeholder, replaced below by text that a JSON library would not write.
                word = f"@{len(raw)}@"
                raw[json.dumps(word)] = chance.choice(NUMBERS + LITERALS)
                put(word)
            case 3 if isinstance(value, dict) and value: value.pop(chance.choice(list(value)))
            case 4 if isinstance(value, dict): value[chance.choice(STRINGS)] = chance.choice(STRINGS)
            case 5 if isinstance(value, list): value.extend(value * chance.choice([1, 3, 400]))
            case 6:
                for _ in range(chance.choice([1, 14, 17, 40])):
                    value = [value]
                put(value)
            case _: put({"a": value})
    text = json.dumps(root[0], ensure_ascii=chance.random() < 0.5)
    for word, replacement in raw.items():
        text = text.replace(word, replacement)
    if chance.random() < 0.1:
        text = text.replace("{", '{"text": 1, "text": 2, ', 1)
    request.body = text.encode("utf-8", "surrogatepass")


def change_path(request: Request, chance: random.Random) -> None:
    text = chance.choice(STRINGS)
    match chance.randrange(5):
        case 0: request.path = request.path.rpartition("/")[0] + "/" + quote(text[:2_000])
        case 1:
            name = chance.choice(["x", "limit", "since", "q"])
            request.path += f"{'&' if '?' in request.path else '?'}{name}={quote(text)}"
        case 2: request.path = re.sub(r"=[^&]*", lambda _: "=" + quote(chance.choice(STRINGS)[:500]), request.path)
        case 3: request.path = request.path.replace("/", chance.choice(["//", "/./", "/../", "%2f", "\\"]), 1)
        case _: request.path += chance.choice(["/", "?", "#x", "%", "%00", "?limit=1&limit=2", ";a=b"])


def change_headers(request: Request, chance: random.Random) -> None:
    names = [
        "Content-Type", "Content-Encoding", "Transfer-Encoding", "Accept-Encoding", "Expect", "If-Match", "Range",
        "If-None-Match", "Authorization", "Cookie", "Origin", "Sec-Fetch-Site", "X-Request-ID", "Upload-Complete",
        "Upload-Offset", "Content-Digest", "Repr-Digest", "Connection", "Host", "Last-Event-ID", "X-Forwarded-For",
        "User-Agent",
    ]  # fmt: skip
    for _ in range(chance.randint(1, 3)):
        match chance.randrange(4):
            case 0 if request.headers: request.headers.pop(chance.randrange(len(request.headers)))
            case 1 if request.headers: request.headers.append(chance.choice(request.headers))
            case _:
                value = chance.choice([*STRINGS, *HEADER_VALUES])
                request.headers.append((chance.choice(names), value[:20_000].replace("\r", "").replace("\n", "")))


def change_method(request: Request, chance: random.Random) -> None:
    request.method = chance.choice(METHODS)


def change_bytes_of_body(request: Request, chance: random.Random) -> None:
    request.body = changed(request.body or b"{}", chance)


def changed(sent: bytes, chance: random.Random) -> bytes:
    """Deletes, inserts, flips and duplicates some bytes."""
    sent = bytearray(sent)
    for _ in range(chance.randint(1, 4)):
        position = chance.randrange(len(sent) + 1)
        match chance.randrange(5):
            case 0: del sent[position : position + chance.choice([1, 2, 10, 200])]
            case 1: sent[position:position] = chance.choice(BYTES) * chance.choice([1, 1, 1, 5, 300])
            case 2 if position < len(sent): sent[position] ^= 1 << chance.randrange(8)
            case 3: sent[position:position] = sent[position : position + chance.choice([4, 40, 400])]
            case _: sent[position:position] = chance.randbytes(chance.choice([1, 3, 30]))
    return bytes(sent)


CHANGES = [change_json, change_json, change_json, change_path, change_headers, change_method, change_bytes_of_body]


def mutated(corpus: Corpus, seed: int, number: int) -> bytes:
    chance = random.Random(f"{seed} {number}")
    request = corpus.request(chance)
    for _ in range(chance.randint(1, 2)):
        chance.choice(CHANGES)(request, chance)
    if request.body and chance.random() < 0.95:
        request.headers.append(("Content-Length", str(len(request.body))))
    sent = request.wire()
    return changed(sent, chance) if chance.random() < 0.15 else sent


def status_of(port: int, sent: bytes) -> int | None:
    """The status of the first final response, or None if there was none, as for an incomplete request."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        received = b""
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while True:
                part = connection.recv(65_536)
                received += part
                found = re.search(rb"HTTP/1\.[01] ([2-9]\d\d) [^\r]*\r\n", received)
                if found:
                    return int(found[1])
                if not part:
                    return None
        except (ConnectionResetError, BrokenPipeError):
            found = re.search(rb"HTTP/1\.[01] ([2-9]\d\d) ", received)
            return int(found[1]) if found else None


def fuzz(server: Server, requests: int, seed: int, only: int | None = None) -> Counter:
    """Sends the requests. Returns the number of responses by status. Raises after a 5xx or the end of the server."""
    corpus = Corpus(server)
    counts: Counter = Counter()

    def send(number: int) -> None:
        sent = mutated(corpus, seed, number)
        try:
            status = status_of(server.port, sent)
        except OSError as error:
            raise AssertionError(f"seed {seed}, request {number}: {error}: {sent[:2000]!r}") from None
        counts[status] += 1
        assert status is None or status < 500, f"seed {seed}, request {number}: {status}: {sent[:2000]!r}"

    with ThreadPoolExecutor(THREADS) as threads:
        for _ in threads.map(send, [only] if only is not None else range(requests)):
            pass
    assert server.process.poll() is None, "the server ended"
    client = Client(server.url)
    assert client.get("/readyz").status_code == 200
    assert corpus.client.get("/v1/account").status_code == 200
    assert corpus.client.post("/v1/notes", {"text": "well"}).status_code == 201
    # This client disconnects before an export ends, which the server rightly logs.
    errors = [
        line for line in re.findall(r"^\S+ (?:error|critical)\b.*", server.log, re.MULTILINE)
        if not ("Export failed" in line and "I/O on closed channel" in line)
    ]
    assert not errors, errors[:5]
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--only", type=int, help="the number of one request, to send it again")
    chosen = parser.parse_args()
    with Server() as server:
        print(f"seed {chosen.seed}, log {server.log_path}", flush=True)
        begin = time.monotonic()
        counts = fuzz(server, chosen.requests, chosen.seed, chosen.only)
        seconds = time.monotonic() - begin
        checked = server.command("check")
        assert checked.returncode == 0, checked.stdout + checked.stderr
    summary = ", ".join(f"{status or 'no response'}: {count}" for status, count in sorted(counts.items(), key=str))
    print(f"{counts.total()} requests in {seconds:.0f} s, no 5xx. {summary}")


if __name__ == "__main__":
    main()
