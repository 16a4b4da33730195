"""The most frequent request: a poll without changes."""

from client import Server
from load import Session, load, rounds, sign_up
from peers import Hello, PocketBase
from report import Row

SECONDS = 3


def nothing_changed() -> list[Row]:
    limit = Row(
        "“nothing changed” (`changes?since=`), 32 connections", "Hummingbird responding with “hello”", "requests/s", 0.75
    )
    peer = Row("the same", "PocketBase, one record changed since", "requests/s", 5)
    with Server() as server, Hello() as hello, PocketBase() as pocketbase:
        sessions = sign_up(server, 32)
        load("push", server.port, sessions, requests=320)
        load("create", pocketbase.port, [Session(pocketbase.bearer)], requests=320)
        records, newest = [Session(pocketbase.bearer) for _ in range(32)], pocketbase.newest()
        for _ in range(rounds()):
            ours = load("poll", server.port, sessions, seconds=SECONDS)["rate"]
            limit.add(ours, load("get", hello.port, connections=32, seconds=SECONDS, paths=["/"])["rate"])
            peer.add(ours, load("get", pocketbase.port, records, seconds=SECONDS, paths=[newest])["rate"])
    return [limit, peer]
