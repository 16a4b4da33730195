"""A look behind a server, at what its database keeps; and a copy of it, to be put back. On SQLite and on PostgreSQL."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import postgres
from client import Server


def query(server: Server, sqlite: str, postgresql: str | None = None) -> list[tuple]:
    """Does one statement, in the words of each; its rows, which PostgreSQL gives as texts."""
    if server.database:
        rows = server.store.sql(postgresql or sqlite, postgres.name_in(server.database))
        return [tuple(row) for row in rows]
    with closing(sqlite3.connect(server.data / "hesper.sqlite")) as database, database:
        return database.execute(sqlite).fetchall()


def make_older(server: Server, days: int) -> None:
    """Has everything that the server dates by its own clock be so many days older."""
    for table, column in [("tombstones", "arrival_date"), ("edits", "pushed_at"), ("sweeps", "due_date")]:
        update = f"UPDATE {table} SET {column} = {column} - "
        query(server, f"{update}{days * 86_400_000}", f"{update}interval '{days} days'")
    query(server, "DELETE FROM leases")


def findings_beside_checksums(server: Server) -> list[str]:
    """What `hesper check` finds but for checksums of edits, which do not hold after make_older()."""
    lines = server.command("check").stdout.splitlines()
    return [line for line in lines if not line.startswith("Checked") and "does not match its checksum" not in line]


def dump(server: Server) -> str:
    """All that is kept, as text."""
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

    def put_back(self, server: Server) -> None:
        """As somebody does who copies old files over the new ones, without `hesper restore`."""
        shutil.rmtree(server.data)
        shutil.copytree(self.files, server.data)
        if self.database:
            server.store.sql(f"DROP DATABASE {self.database}")
            server.store.sql(f"CREATE DATABASE {self.database} TEMPLATE {self.database}_kept")
