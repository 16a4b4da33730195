"""The latency of a push while 200 devices on 20 accounts poll, push and listen, on both databases."""

import subprocess
from contextlib import contextmanager

from client import Server
from durable_pushes import fresh_folder
from listeners import write
from load import Session, load, rounds
from machine import TOOLS, fdatasync_cost
from postgres_limits import postgresql
from postgres_rows import on
from report import Row

ACCOUNTS, DEVICES = 20, 10
RATE = 600  # polls and pushes a second; each push is sent to nine listeners
SECONDS = 10


def tail() -> list[Row]:
    with Server(data=fresh_folder("tail")) as server:
        return measured(server, "")


def postgres_tail() -> list[Row]:
    with postgresql() as postgres, on(postgres) as server:
        return measured(server, "on PostgreSQL: ")


def measured(server: Server, prefix: str) -> list[Row]:
    work = f"{prefix}a push, {ACCOUNTS * DEVICES} devices of {ACCOUNTS} accounts listen, poll and push, {RATE // 2} pushes/s"
    rows = {
        "p50": Row(f"{work}, p50", "5 ms", "ms", 1, most=True),
        "p99": Row("the same, p99", "50 ms", "ms", 1, most=True),
        "p999": Row("the same, p99.9", "50 ms", "ms"),
    }
    sessions = devices(server)
    with listening(server, sessions):
        # The first request of each device gets a sync token.
        load("turns", server.port, sessions, connections=len(sessions), requests=2 * len(sessions))
        for _ in range(rounds()):
            cost = fdatasync_cost()
            found = load("turns", server.port, sessions, connections=len(sessions), seconds=SECONDS, rate=RATE)
            for name, row in rows.items():
                row.add(found[name] * 1000, float(row.comparison.split()[0]), cost)
    return list(rows.values())


def devices(server: Server) -> list[Session]:
    """The sessions of all devices, those of an account far apart."""
    owners = [server.client() for _ in range(ACCOUNTS)]
    every = [owners] + [[owner.another_device() for owner in owners] for _ in range(DEVICES - 1)]
    return [Session(one.token, one.device["uniqueID"], one.sync()["syncToken"]) for row in every for one in row]


@contextmanager
def listening(server: Server, sessions: list[Session]):
    """An event stream of each device."""
    file = write([f"{one.bearer} {one.node} {one.token}" for one in sessions])
    command = [TOOLS / "listen", "idle", "--port", str(server.port), "--sessions", file]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        if holder.stdout.readline() != "ready\n":
            raise RuntimeError("not all streams were opened")
        yield
        holder.stdin.close()
        holder.wait(30)
