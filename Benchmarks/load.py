"""Runs load.c with given sessions, and returns its figures."""

import json
import os
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from client import Client, Server
from machine import TOOLS, WORK


@dataclass
class Session:
    """One connection of the load generator: bearer token, clock node, and sync token of a complete sync (`-`: none)."""

    bearer: str
    node: str = "-"
    token: str = "-"


def sign_up(server: Server, count: int) -> list[Session]:
    """Creates accounts, each with a device that has completed a sync."""

    def one(_: int) -> Session:
        client = Client(server.url)
        client.sign_up()
        return Session(client.token, client.device["uniqueID"], client.sync()["syncToken"])

    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(one, range(count)))


def load(
    kind: str,
    port: int,
    sessions: list[Session] = (),
    connections: int | None = None,
    seconds: float | None = None,
    requests: int | None = None,
    rate: float | None = None,
    notes: int = 1,
    size: int = 500,
    paths: list[str] = (),
    timeout: float = 1800,
) -> dict:
    """Runs the load generator and returns its figures. Updates the sync tokens of the sessions."""
    command = [
        str(TOOLS / "load"),
        kind,
        "--port",
        str(port),
        "--connections",
        str(connections or len(sessions) or 1),
        "--notes",
        str(notes),
        "--bytes",
        str(size),
    ]
    if seconds:
        command += ["--seconds", str(seconds)]
    if rate:
        command += ["--rate", str(rate)]
    if requests:
        command += ["--requests", str(requests)]
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        if sessions:
            file = Path(folder, "sessions")
            file.write_text("".join(f"{one.bearer} {one.node} {one.token}\n" for one in sessions))
            command += ["--sessions", str(file), "--sessions-out", str(file)]
        if paths:
            Path(folder, "paths").write_text("\n".join(paths) + "\n")
            command += ["--paths", str(Path(folder, "paths"))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command[1:])}: {done.stderr}")
        if sessions:
            for one, line in zip(sessions, file.read_text().splitlines()):
                one.token = line.split()[2]
    return json.loads(done.stdout)


def fill(server: Server, session: Session, count: int, notes: int = 500, size: int = 500) -> None:
    """Pushes new notes to the session's account."""
    load("push", server.port, [session], requests=count // notes, notes=notes, size=size)


def rounds() -> int:
    return int(os.environ.get("ROUNDS", "5"))


def median(figures: list[float]) -> float:
    return statistics.median(figures)
