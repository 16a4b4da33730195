"""Reads an event stream from a socket."""

import json
import socket
import time
from dataclasses import dataclass
from urllib.parse import urlencode

from client import Client


@dataclass
class Event:
    name: str
    data: dict
    id: str | None = None


class Events:
    """One event stream. `next()` returns events, `pings` counts keep-alive comments, `retry` is the last `retry:` value.

    Data is read only in `next()`, so that a test can be a slow reader.
    """

    def __init__(
        self, client: Client, since: str | None = None, last: str | None = None, buffer: int | None = None, **query
    ):
        host, port = client.url.removeprefix("http://").split(":")
        self.socket = socket.socket()
        if buffer:  # must be set before connecting, because it limits the initial TCP window
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(30)
        self.socket.connect((host, int(port)))
        query = ({"since": since} if since else {}) | query
        lines = [
            f"GET /v1/events{'?' + urlencode(query) if query else ''} HTTP/1.1", f"Host: {host}",
            f"Authorization: Bearer {client.token}", *([f"Last-Event-ID: {last}"] if last is not None else []),
        ]  # fmt: skip
        self.socket.sendall("".join(f"{line}\r\n" for line in [*lines, ""]).encode())
        self.unread = b""  # bytes received and not yet decoded
        self.text = b""  # the content of the decoded chunks
        self.pings, self.retry, self.has_ended, self.is_cut = 0, None, False, False
        self.last = last or since
        self.status, self.headers = self._head()
        if self.status == 200:
            self._take_chunks()

    def __enter__(self) -> "Events":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def _head(self) -> tuple[int, dict[str, str]]:
        while b"\r\n\r\n" not in self.unread:
            more = self.socket.recv(65536)
            if not more:
                raise ConnectionError(f"the connection was closed before the end of the headers: {self.unread}")
            self.unread += more
        head, self.unread = self.unread.split(b"\r\n\r\n", 1)
        first, *rest = head.decode().split("\r\n")
        return int(first.split()[1]), {
            name.lower(): value.strip() for name, value in (line.split(":", 1) for line in rest)
        }

    def body(self) -> dict:
        """The body of an error response."""
        length = int(self.headers["content-length"])
        while len(self.unread) < length:
            self.unread += self.socket.recv(65536)
        return json.loads(self.unread[:length])

    def next(self, seconds: float = 60) -> Event | None:
        """The next event. None after the timeout, or when the stream has ended (`has_ended`)."""
        assert self.status == 200, self.body()
        deadline = time.monotonic() + seconds
        while True:
            while b"\n\n" in self.text:
                block, self.text = self.text.split(b"\n\n", 1)
                if event := self._event(block.decode()):
                    return event
            if self.has_ended or not self._read(deadline - time.monotonic()):
                return None

    def changes(self, seconds: float = 60) -> Event:
        """The next `changes` event. Other events are skipped."""
        return self.wait_for("changes", seconds)

    def wait_for(self, name: str, seconds: float = 60) -> Event:
        """The next event of this name. Other events are skipped."""
        deadline = time.monotonic() + seconds
        while event := self.next(deadline - time.monotonic()):
            if event.name == name:
                return event
        if self.is_cut:
            raise ConnectionError("the connection was closed within the stream")
        raise AssertionError(f"no {name} event was received" + (": the stream has ended" if self.has_ended else ""))

    def ends(self, seconds: float = 60) -> bool:
        """Whether the stream ends within the timeout. Events are skipped."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.next(deadline - time.monotonic()):
            pass
        return self.has_ended

    def _read(self, seconds: float) -> bool:
        """Waits for data. False after the timeout."""
        if seconds <= 0:
            return False
        self.socket.settimeout(seconds)
        try:
            more = self.socket.recv(1 << 20)
        except TimeoutError:
            return False
        except ConnectionError:
            more = b""
        if not more:
            self.has_ended = self.is_cut = True
            return True
        self.unread += more
        self._take_chunks()
        return True

    def _take_chunks(self) -> None:
        while b"\r\n" in self.unread:
            size, rest = self.unread.split(b"\r\n", 1)
            length = int(size, 16)
            if len(rest) < length + 2:
                break
            self.text, self.unread = self.text + rest[:length], rest[length + 2 :]
            if length == 0:
                self.has_ended = True
                break

    def _event(self, block: str) -> Event | None:
        fields = {}
        for line in block.split("\n"):
            name, _, value = line.partition(":")
            if name == "":
                self.pings += value.strip() == "ping"
            else:
                assert name not in fields, f"{name} occurs twice in {block}"
                fields[name] = value.removeprefix(" ")
        if "retry" in fields:
            self.retry = int(fields["retry"])
        if "event" not in fields:
            return None
        self.last = fields.get("id", self.last)
        return Event(fields["event"], json.loads(fields["data"]), fields.get("id"))
