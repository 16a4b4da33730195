"""Reads and modifies a server's database directly, SQLite or PostgreSQL, and copies it."""

import shutil
import sqlite3
import zlib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import postgres
from client import Server


def query(server: Server, sqlite: str, postgresql: str | None = None) -> list[tuple]:
    """Executes one statement, given in each dialect. Returns its rows. PostgreSQL's values are strings."""
    if server.database:
        rows = server.store.sql(postgresql or sqlite, postgres.name_in(server.database))
        return [tuple(row) for row in rows]
    with closing(sqlite3.connect(server.data / "hesper.sqlite")) as database, database:
        return database.execute(sqlite).fetchall()


def make_older(server: Server, days: int) -> None:
    """Moves all dates set by the server's clock the given number of days into the past."""
    dates = {
        "tombstones": "arrival_date",
        "edits": "pushed_at",
        "sweeps": "due_date",
        "idempotency_keys": "creation_date",
    }
    for table, column in dates.items():
        update = f"UPDATE {table} SET {column} = {column} - "
        query(server, f"{update}{days * 86_400_000}", f"{update}interval '{days} days'")
    query(server, "DELETE FROM leases")
    set_checksums(server)


def set_checksums(server: Server) -> None:
    """Recomputes the checksums of all edits, as ParcelChecksum.swift does."""
    texts = ["type", "body", "text_name"]
    blobs = ["text_origin", "object", "first_clock", "last_clock", "text_clock", "pushed_by", "missing_ancestors"]
    columns = ["type", "is_servers", "text_origin", "body", "object", "first_clock", "last_clock", "text_clock", "scope",
               "sequence", "pushed_by", "pushed_at", "missing_ancestors", "text_name", "has_lost_words", "number"]  # fmt: skip
    lite = {name: f"CASE WHEN {name} IS NULL THEN '-' ELSE hex({name}) END" for name in texts + blobs}
    postgresql = {name: f"coalesce(encode({name}, 'hex'), '-')" for name in blobs}
    postgresql |= {name: f"coalesce(encode(convert_to({name}::text, 'UTF8'), 'hex'), '-')" for name in texts}
    postgresql |= {"object": "encode(uuid_send(object), 'hex')", "is_servers": "is_servers::int"}
    postgresql |= {"has_lost_words": "has_lost_words::int", "pushed_at": "(extract(epoch FROM pushed_at) * 1000)::bigint"}
    selects = [f"SELECT {', '.join(names.get(name, name) for name in columns)} FROM edits" for names in (lite, postgresql)]
    values = []
    for row in query(server, *selects):
        crc = 0
        for name, value in list(zip(columns, row))[:14]:
            if name == "text_name" and value == "-":
                continue
            if name not in texts + blobs:
                crc = zlib.crc32(int(value).to_bytes(8, "big", signed=True), crc)
            elif value == "-":
                crc = zlib.crc32((-1).to_bytes(8, "big", signed=True), crc)
            else:
                part = bytes.fromhex(value)
                crc = zlib.crc32(part, zlib.crc32(len(part).to_bytes(8, "big"), crc))
        values.append(f"({row[8]}, {row[15]}, {crc + int(row[14])})")
    query(
        server,
        f"WITH sums (scope, number, sum) AS (VALUES {', '.join(values)}) UPDATE edits SET checksum = sums.sum FROM sums "
        "WHERE edits.scope = sums.scope AND edits.number = sums.number",
    )


def dump(server: Server) -> str:
    """The whole database as SQL text."""
    if server.database:
        return server.store.dump(postgres.name_in(server.database))
    with closing(sqlite3.connect(f"file:{server.data / 'hesper.sqlite'}?mode=ro", uri=True)) as database:
        return "\n".join(database.iterdump())


@dataclass
class Backup:
    """A copy of all data, made while the server is stopped."""

    files: Path
    database: str | None

    @staticmethod
    def make(server: Server, folder: Path) -> "Backup":
        shutil.copytree(server.data, folder)
        name = postgres.name_in(server.database) if server.database else None
        if name:
            server.store.sql(f"CREATE DATABASE {name}_kept TEMPLATE {name}")
        return Backup(folder, name)

    def copy_back(self, server: Server) -> None:
        """Replaces the server's data by the copy, as an operator without `hesper restore` would."""
        shutil.rmtree(server.data)
        shutil.copytree(self.files, server.data)
        if self.database:
            server.store.sql(f"DROP DATABASE {self.database}")
            server.store.sql(f"CREATE DATABASE {self.database} TEMPLATE {self.database}_kept")
