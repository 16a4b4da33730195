"""A connection between one device and a server, which records the requests and can lose requests and responses."""

import gzip
import http.client
import json
import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Exchange:
    """A request, and its response once there is one."""

    method: str
    path: str
    body: bytes
    status: int | None = None
    answer: bytes = b""

    @property
    def changes(self) -> dict | None:
        """The changes that a sync request pushes, or None."""
        return json.loads(self.body).get("changes") if self.path == "/v1/sync" else None

    @property
    def results(self) -> list[dict]:
        """The receipts in the response to a sync request."""
        return json.loads(self.answer)["results"] if self.path == "/v1/sync" and self.status == 200 else []


class Link:
    """An HTTP proxy on a loopback port, `url`, to the server at `target`.

    `before` and `after` decide whether a request reaches the server, and whether its response reaches the device. They are
    called in the thread of the connection, so they may wait. Otherwise the connection is closed. Event streams always pass.
    """

    def __init__(self, target: str):
        self.target = target.removeprefix("http://")
        self.before: Callable[[Exchange], bool] = lambda exchange: True
        self.after: Callable[[Exchange], bool] = lambda exchange: True
        self.exchanges: list[Exchange] = []
        link = self

        class Bound(Handler):
            pass

        Bound.link = link
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 60}, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        threading.Thread(target=self.server.shutdown, daemon=True).start()
        # Wakes the loop, which otherwise looks only once a minute whether it is to end.
        with suppress(OSError):
            socket.create_connection(self.server.server_address, timeout=1).close()
        self.thread.join(10)
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    link: Link
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle(self) -> None:
        with suppress(ConnectionError):  # the device has gone
            super().handle()

    def relay(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:  # the device has gone
            self.close_connection = True
            return
        exchange = Exchange(self.command, self.path, body)
        self.link.exchanges.append(exchange)
        if not self.link.before(exchange):
            self.close_connection = True
            return
        server = http.client.HTTPConnection(self.link.target, timeout=60)
        try:
            server.connect()
            headers = {name: value for name, value in self.headers.items() if name.lower() not in ("connection", "expect")}
            server.request(self.command, self.path, body or None, headers)
            if self.path.startswith("/v1/events"):
                self.close_connection = True
                return self.pass_on(server.sock)
            response = server.getresponse()
            content = response.read()
            exchange.status = response.status
            exchange.answer = gzip.decompress(content) if response.headers.get("Content-Encoding") == "gzip" else content
        except (OSError, http.client.HTTPException):  # the server has gone
            self.close_connection = True
            return
        finally:
            server.close()
        if not self.link.after(exchange):
            self.close_connection = True
            return
        self.send_response_only(response.status, response.reason)
        for name, value in response.headers.items():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        if self.command == "HEAD":
            self.send_header("Content-Length", response.headers.get("Content-Length", "0"))
        elif response.status >= 200 and response.status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def pass_on(self, stream: socket.socket) -> None:
        """Passes the bytes of an event stream on until one side closes."""
        while True:
            readable, _, _ = select.select([stream, self.connection], [], [])
            if self.connection in readable or not (data := stream.recv(1 << 16)):
                return
            self.connection.sendall(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = relay

    def log_message(self, *_) -> None:
        pass
