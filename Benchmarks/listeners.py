"""Event streams: the latency from a commit to its event, and the memory of an idle stream."""

import hashlib
import json
import secrets
import sqlite3
import subprocess
import time
import uuid
from pathlib import Path

from client import Client, Server
from durable_pushes import fresh_folder
from load import rounds, sign_up
from machine import TOOLS, WORK, fdatasync_cost, memory
from peers import Hello, database_of
from report import Row

IDLE = 5_000


def latency() -> list[Row]:
    """Five scopes, each with 20 listeners and one device that pushes. 100 commits per second in total."""
    half = Row("commit to event on another device, 100 commits/s, 5 scopes of 20 listeners, p50", "5 ms", "ms", 1, most=True)
    most = Row("the same, p99", "50 ms", "ms", 1, most=True)
    with listening("latency", scopes=5, devices=20) as (server, sessions):
        for _ in range(rounds()):
            cost = fdatasync_cost()
            found = live(server, sessions, scopes=5, listeners=20, pushes=1_000, rate=100)
            half.add(found["p50"] * 1000, 5, cost)
            most.add(found["p99"] * 1000, 50, cost)
    return [half, most]


def fan_out() -> list[Row]:
    """One commit to a scope with many listeners."""
    row = Row("one commit until the last of 1,000 listeners of the scope receives it", "the only listener", "ms")
    with listening("fan-out", scopes=1, devices=1_000) as (server, sessions):
        for _ in range(rounds()):
            cost = fdatasync_cost()
            ours = live(server, sessions, scopes=1, listeners=1_000, pushes=20, rate=5)["last"]
            row.add(ours * 1000, live(server, sessions[:2], scopes=1, listeners=1, pushes=20, rate=5)["last"] * 1000, cost)
    return [row]


def idle() -> list[Row]:
    """Listeners that receive only keep-alive comments."""
    limit = Row(f"memory of an idle listener, of {IDLE:,}", "28 KB", "KB", 1, most=True)
    above = Row("the same, above a plain stream of Hummingbird", "8 KB", "KB", 1, most=True)
    scopes = 5
    with listening("idle", scopes=scopes, devices=IDLE // scopes - 1) as (server, sessions), Hello() as hello:
        for _ in range(3):
            ours = held(server.pid, server.port, sessions)
            bare = held(hello.process.pid, hello.port, sessions, "/events")
            limit.add(ours, 28)
            above.add(ours - bare, 8)
            server.restart()
            hello.restart()
    return [limit, above]


def held(pid: int, port: int, sessions: list[str], path: str = "/v1/events") -> float:
    """The memory per open stream in KB."""
    before = memory(pid, "VmRSS")
    file = write(sessions)
    command = [TOOLS / "listen", "idle", "--port", str(port), "--sessions", file, "--path", path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        if holder.stdout.readline() != "ready\n":
            raise RuntimeError("not all streams were opened")
        time.sleep(2)
        during = memory(pid, "VmRSS")
        holder.stdin.close()
        holder.wait(30)
    return (during - before) / 1000 / len(sessions)


def live(server: Server, sessions: list[str], scopes: int, listeners: int, pushes: int, rate: float) -> dict:
    """Runs listen.c."""
    numbers = {"port": server.port, "scopes": scopes, "listeners": listeners, "pushes": pushes, "rate": rate}
    command = [TOOLS / "listen", "live", "--sessions", write(with_tokens(server, sessions, listeners))]
    for name, value in numbers.items():
        command += [f"--{name}", str(value)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=pushes / rate + 180)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def write(sessions: list[str]) -> Path:
    file = WORK / "sessions"
    file.write_text("".join(f"{line}\n" for line in sessions))
    return file


def with_tokens(server: Server, sessions: list[str], listeners: int) -> list[str]:
    """The lines, with the sync token of a complete sync for those that push."""
    lines = list(sessions)
    for index in range(0, len(lines), listeners + 1):
        bearer, node, _ = lines[index].split()
        lines[index] = f"{bearer} {node} {Client(server.url, bearer).read_all()[1]['syncToken']}"
    return lines


class listening:
    """A server with accounts that each have one signed-in device and many more, and the lines of listen.c for them.

    The further devices are inserted into the database, because signing in is slow by design.
    """

    def __init__(self, name: str, scopes: int, devices: int):
        self.scopes, self.devices = scopes, devices
        self.server = Server(data=fresh_folder(name), start=False)
        self.server.own_data = True

    def __enter__(self) -> tuple[Server, list[str]]:
        self.server.start()
        owners = sign_up(self.server, self.scopes)
        self.server.stop()
        lines = []
        with sqlite3.connect(database_of(self.server.data)) as database:
            for owner in owners:
                lines.append(f"{owner.bearer} {owner.node} -")
                lines += [self.add_device(database, owner.bearer) for _ in range(self.devices)]
        database.close()
        self.server.start()
        return self.server, lines

    @staticmethod
    def add_device(database: sqlite3.Connection, owner: str) -> str:
        """Adds a device to the account, and returns its line."""
        node, token = secrets.token_bytes(8), "hesper_" + secrets.token_urlsafe(32)
        database.execute(
            "INSERT INTO devices (node, account, token, name, creation_date, last_use_date)"
            " SELECT ?, account, ?, ?, creation_date, last_use_date FROM devices WHERE token = ?",
            (node, hashlib.sha256(token.encode()).digest(), str(uuid.uuid4()), hashlib.sha256(owner.encode()).digest()),
        )
        return f"{token} {node.hex()} -"

    def __exit__(self, *_) -> None:
        self.server.close()
