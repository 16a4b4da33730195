"""HTTP over a plain socket, for tests of interim responses, incomplete bodies and pipelined requests."""

import socket
from dataclasses import dataclass, field


@dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: bytes = b""
    interim: list["Response"] = field(default_factory=list)


class Wire:
    """One connection to a server, with a bearer token."""

    def __init__(self, port: int, token: str, seconds: float = 30):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self.reader = self.socket.makefile("rb")
        self.token = token

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.reader.close()
        self.socket.close()

    def send_head(self, method: str, path: str, headers: dict[str, str]) -> None:
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {self.token}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.socket.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1"))

    def send(self, body: bytes) -> None:
        self.socket.sendall(body)

    def any_response(self) -> Response:
        """The next response, final or interim (1xx)."""
        status = int(self.reader.readline().split()[1])
        headers = {}
        while line := self.reader.readline().rstrip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        body = b""
        if status >= 200 and status not in (204, 304):
            body = self.reader.read(int(headers.get("content-length", "0")))
        return Response(status, headers, body)

    def response(self) -> Response:
        """The next final response, with the interim responses before it."""
        interim = []
        for _ in range(10):
            response = self.any_response()
            if response.status >= 200:
                response.interim = interim
                return response
            interim.append(response)
        raise AssertionError("ten interim responses without a final response")
