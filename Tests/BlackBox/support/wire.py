"""HTTP as it goes over the wire: interim answers, bodies that break off, several requests at once."""

import socket
from dataclasses import dataclass, field


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes = b""
    interim: list["Answer"] = field(default_factory=list)


class Wire:
    """One connection to a server."""

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

    def answer_or_interim(self) -> Answer:
        """The next answer, whatever it is."""
        status = int(self.reader.readline().split()[1])
        headers = {}
        while line := self.reader.readline().rstrip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        body = b""
        if status >= 200 and status not in (204, 304):
            body = self.reader.read(int(headers.get("content-length", "0")))
        return Answer(status, headers, body)

    def answer(self) -> Answer:
        """The next answer that is one, with the interim ones before it."""
        interim = []
        for _ in range(10):
            answer = self.answer_or_interim()
            if answer.status >= 200:
                answer.interim = interim
                return answer
            interim.append(answer)
        raise AssertionError("ten interim answers, and no other")
