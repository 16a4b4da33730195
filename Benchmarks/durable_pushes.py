"""Durable pushes: one new note per push on many connections, and 500 per push."""

import shutil
from pathlib import Path

from client import Server
from load import Session, load, rounds, sign_up
from machine import SLOW, WORK, fdatasync_cost
from peers import PocketBase, copy_of, yardstick
from report import Row

SECONDS = 3


def one_note() -> list[Row]:
    """One new 500-byte note per push, 32 connections, compared with the bare SQL statements and with PocketBase."""
    limit = Row(
        "durable pushes of one new 500-byte note, 32 connections", "our statements, one commit each", "pushes/s", 1.8
    )
    peer = Row("the same", "PocketBase, create, 32 connections", "pushes/s", 2.5)
    with prepared("one-note", 32) as (server, sessions, database), PocketBase() as pocketbase:
        records = [Session(pocketbase.bearer) for _ in range(32)]
        for _ in range(rounds()):
            cost = fdatasync_cost()
            ours = load("push", server.port, sessions, seconds=SECONDS)["rate"]
            limit.add(ours, yardstick(database, "push", 1, SECONDS)["rate"], cost)
            peer.add(ours, load("create", pocketbase.port, records, seconds=SECONDS)["rate"], cost)
    for row in (limit, peer):
        if min(row.fdatasync) > 0.5:
            row.applies = "fdatasync never took less than 0.5 ms"
    return [limit, peer]


def one_note_slow_disk() -> list[Row]:
    """The same, with a preloaded library that slows fdatasync down to 4 ms."""
    rows = [
        Row(
            f"the same, fdatasync slowed to 4 ms, {count} connections",
            "our statements, one commit each",
            "pushes/s",
            reach,
        )
        for count, reach in ((32, 10), (128, 20))
    ]
    with prepared("slow-disk", 128, SLOW) as (server, sessions, database):
        for _ in range(rounds()):
            theirs = yardstick(database, "push", 1, SECONDS, environment=SLOW)["rate"]
            for row, count in zip(rows, (32, 128)):
                row.add(load("push", server.port, sessions[:count], seconds=SECONDS)["rate"], theirs, fdatasync_cost())
    return rows


def five_hundred_notes() -> list[Row]:
    """500 new notes per push, 4 connections."""
    row = Row("pushes of 500 new notes, 4 connections", "our statements, 500 a commit", "notes/s", 0.4)
    with prepared("five-hundred", 4) as (server, sessions, database):
        for _ in range(rounds()):
            cost = fdatasync_cost()
            ours = load("push", server.port, sessions, seconds=SECONDS, notes=500)
            theirs = yardstick(database, "push", 500, SECONDS)
            row.add(ours["objects"] / ours["seconds"], theirs["objects"] / theirs["seconds"], cost)
    return [row]


def ten_thousand_notes() -> list[Row]:
    """10,000 notes, 500 per push, one connection."""
    row = Row("10,000 notes up, 500 a push, 1 connection", "PocketBase, its batch of 500", "notes/s", 8)
    with prepared("ten-thousand", 1) as (server, sessions, _), PocketBase() as pocketbase:
        for _ in range(rounds()):
            cost = fdatasync_cost()
            ours = load("push", server.port, sessions, requests=20, notes=500)
            theirs = load("batch", pocketbase.port, [Session(pocketbase.bearer)], requests=20, notes=500)
            row.add(ours["objects"] / ours["seconds"], theirs["objects"] / theirs["seconds"], cost)
        if pocketbase.count() != rounds() * 10_000:
            raise RuntimeError("PocketBase did not store all records")
    return [row]


class prepared:
    """A server with some accounts, their sessions, and a copy of its database for the yardstick."""

    def __init__(self, name: str, accounts: int, environment: dict[str, str] | None = None):
        self.name, self.accounts = name, accounts
        self.server = Server(data=fresh_folder(name), environment=environment, start=False)
        self.server.own_data = True

    def __enter__(self) -> tuple[Server, list[Session], Path]:
        self.server.start()
        sessions = sign_up(self.server, self.accounts)
        self.server.stop()
        database = copy_of(self.server.data, self.name)
        self.server.start()
        return self.server, sessions, database

    def __exit__(self, *_) -> None:
        self.server.close()
        for file in WORK.glob(f"{self.name}.db*"):
            file.unlink()


def fresh_folder(name: str) -> Path:
    """An empty folder on the disk of the benchmarks."""
    folder = WORK / f"data-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
