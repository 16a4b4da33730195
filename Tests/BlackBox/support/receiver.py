"""A receiver of webhooks: an HTTP server on loopback that verifies signatures and records events."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The server of the tests may send webhooks to this machine.
ALLOWED = {"HESPER_WEBHOOK_NETWORKS": "127.0.0.0/8"}


@dataclass
class Event:
    """A request that was received."""

    path: str
    headers: dict[str, str]
    body: bytes
    date: float = field(default_factory=time.time)

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> dict:
        return json.loads(self.body)

    @property
    def type(self) -> str:
        return self.json["type"]

    @property
    def object(self) -> str | None:
        return self.json["data"].get("uniqueID")

    def check_signature(self, secret: str) -> None:
        """Verifies the signature as Standard Webhooks specifies it, without code of the server."""
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        signed = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.body
        expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        assert self.headers["webhook-signature"] == expected
        assert abs(self.date - int(self.headers["webhook-timestamp"])) < 60


class Receiver:
    """Responds to each request with the result of `respond`: a status, or a function that writes to the handler."""

    def __init__(self, respond: Callable[[Event], int | Callable] = lambda _: 204):
        self.respond = respond
        self.events: list[Event] = []
        self.changed = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                event = Event(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                with receiver.changed:
                    receiver.events.append(event)
                    receiver.changed.notify_all()
                answer = receiver.respond(event)
                if callable(answer):
                    self.close_connection = True
                    answer(self)
                    return
                self.send_response(answer)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a client that was killed
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self) -> "Receiver":
        return self

    def __exit__(self, *_) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def wait(self, count: int, seconds: float = 60) -> list[Event]:
        """Waits until this number of requests have arrived, and returns all requests."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.events) >= count, seconds), self.summary
            return list(self.events)

    def wait_for_distinct(self, count: int, seconds: float = 60) -> list[Event]:
        """Like `wait`, but counts requests with the same ID once: a server that is killed may have sent an event already."""
        with self.changed:
            ids = lambda: {event.id for event in self.events}  # noqa: E731
            assert self.changed.wait_for(lambda: len(ids()) >= count, seconds), self.summary
            return list(self.events)

    @property
    def summary(self) -> list[tuple[str, str | None]]:
        return [(event.type, event.object) for event in self.events]
