"""Hesper on PostgreSQL compared with our SQL statements on PostgreSQL alone."""

from client import Server
from durable_pushes import SECONDS, fresh_folder
from first_sync import wait_for_index
from load import Session, fill, load, rounds, sign_up
from machine import fdatasync_cost
from postgres import PostgreSQL, name_in
from postgres_limits import copy_of, pgbench, postgresql, yardstick
from report import Row


def one_note() -> list[Row]:
    """One new 500-byte note per push on 32 connections, for 32 accounts and for one."""
    comparison = "pgbench running our statements, 32 clients, one commit each"
    work = "on PostgreSQL: durable pushes of one new 500-byte note, 32 connections"
    many, one = Row(f"{work}, 32 accounts", comparison, "pushes/s", 1.1), Row(f"{work}, one account", comparison, "pushes/s")
    with postgresql() as postgres, prepared(postgres, 32) as (server, sessions, copy):
        first = int(postgres.sql("SELECT min(id) FROM scopes", name_in(copy))[0][0])
        shared = [Session(sessions[0].bearer, sessions[0].node, sessions[0].token) for _ in range(32)]
        for _ in range(rounds()):
            cost = fdatasync_cost()
            ours = load("push", server.port, sessions, seconds=SECONDS)["rate"]
            many.add(ours, pgbench(copy, f"{first} + :client_id", 32, SECONDS), cost)
            ours = load("push", server.port, shared, seconds=SECONDS)["rate"]
            one.add(ours, pgbench(copy, str(first), 32, SECONDS), cost)
    return [many, one]


def five_hundred_notes() -> list[Row]:
    """500 new notes per push, 4 connections of 4 accounts."""
    row = Row(
        "on PostgreSQL: pushes of 500 new notes, 4 connections", "our statements through libpq, 500 a commit, 4 connections",
        "notes/s", 0.5,
    )  # fmt: skip
    with postgresql() as postgres, prepared(postgres, 4) as (server, sessions, copy):
        for _ in range(rounds()):
            cost = fdatasync_cost()
            ours = load("push", server.port, sessions, seconds=SECONDS, notes=500)
            theirs = yardstick(copy, "push", 500, SECONDS, 4)
            row.add(ours["objects"] / ours["seconds"], theirs["objects"] / theirs["seconds"], cost)
    return [row]


def first_sync(count: int = 100_000) -> list[Row]:
    """A complete first sync compared with COPY of the same table."""
    row = Row(
        f"on PostgreSQL: first sync of {count:,} notes, read to the end", "COPY objects TO STDOUT of the same rows",
        "notes/s", 0.4,
    )  # fmt: skip
    with postgresql() as postgres, on(postgres) as server:
        owner = sign_up(server, 1)[0]
        fill(server, owner, count)
        wait_for_index(server, owner)
        for _ in range(rounds()):
            ours = load("read", server.port, [Session(owner.bearer)])
            theirs = yardstick(server.database, "copy")
            if ours["objects"] != count or theirs["objects"] != count:
                raise RuntimeError(f"{ours['objects']} notes were synced and {theirs['objects']} copied, not {count}")
            row.add(count / ours["seconds"], count / theirs["seconds"])
    return [row]


def accounts(count: int = 10_000, few: int = 10) -> list[Row]:
    """Many accounts that poll and push in turn on a few connections, compared with a few accounts."""
    row = Row(
        f"on PostgreSQL: a poll or a push, {count:,} accounts in turn on {few} connections", f"with {few} accounts",
        "ms", 1.3, most=True,
    )  # fmt: skip
    with postgresql() as postgres, on(postgres) as large, on(postgres) as small:
        servers = ((large, insert_accounts(postgres, large, count)), (small, insert_accounts(postgres, small, few)))
        for server, sessions in servers:
            # The first request of each account gets the sync token for the others.
            load("turns", server.port, sessions, connections=few, requests=len(sessions))
        for _ in range(rounds()):
            cost = fdatasync_cost()
            rates = [load("turns", server.port, sessions, connections=few, seconds=SECONDS)["rate"]
                     for server, sessions in servers]  # fmt: skip
            row.add(*(few * 1000 / rate for rate in rates), cost)
    return [row]


def on(postgres: PostgreSQL) -> Server:
    """Starts a server with a new database."""
    server = Server(data=fresh_folder("on-postgresql"), database=postgres.database(), start=False)
    server.own_data = True
    return server.start()


class prepared:
    """A server with some accounts, their sessions, and a copy of its database for comparison."""

    def __init__(self, postgres: PostgreSQL, accounts: int):
        self.postgres, self.accounts = postgres, accounts

    def __enter__(self) -> tuple[Server, list[Session], str]:
        self.server = on(self.postgres)
        sessions = sign_up(self.server, self.accounts)
        self.server.stop()
        copy = copy_of(self.postgres, self.server.database)
        self.server.start()
        return self.server, sessions, copy

    def __exit__(self, *_) -> None:
        self.server.close()


def insert_accounts(postgres: PostgreSQL, server: Server, count: int) -> list[Session]:
    """Inserts accounts with one device each into the tables, because hashing 10,000 passwords would take an hour."""
    postgres.sql(ACCOUNTS.format(count=count), name_in(server.database))
    return [Session(f"hesper_{n:043}", f"{n:016x}") for n in range(1, count + 1)]


ACCOUNTS = """
CREATE TEMPORARY TABLE created AS
SELECT n, ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id FROM generate_series(1, {count}) n;
INSERT INTO accounts SELECT id, n || '@example.org', n || '@example.org', 'none', now() FROM created;
INSERT INTO scopes (id, digest) SELECT n, decode(repeat('00', 16), 'hex') FROM created;
INSERT INTO indexing SELECT n, 0 FROM created;
INSERT INTO memberships SELECT id, n FROM created;
INSERT INTO devices (node, account, token, name, creation_date, last_use_date)
SELECT decode(lpad(to_hex(n), 16, '0'), 'hex'), id, sha256(('hesper_' || lpad(n::text, 43, '0'))::bytea), 'phone', now(), now()
FROM created;
ANALYZE;
"""
