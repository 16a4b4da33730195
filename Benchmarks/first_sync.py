"""First syncs of 10,000 and of 100,000 notes, read to the end and discarded."""

import time

from client import Client, Server
from durable_pushes import fresh_folder
from load import Session, fill, load, rounds, sign_up
from peers import Nginx, PocketBase, copy_of, yardstick
from report import Row


def first_sync() -> list[Row]:
    rows = []
    for count in (10_000, 100_000):
        rows += one_size(count)
    return rows


def one_size(count: int) -> list[Row]:
    work = f"first sync of {count:,} notes, read to the end"
    limit = Row(work, "the C API stepping the same bodies", "notes/s", 0.7)
    peer = Row(work, "PocketBase, all pages of 1,000", "notes/s", 10)
    files = Row(work, "nginx, the same bytes from files", "notes/s")
    server = Server(data=fresh_folder("first-sync"), start=False)
    server.own_data = True
    with server:
        server.start()
        owner = sign_up(server, 1)[0]
        fill(server, owner, count)
        pages = response_bodies(server, owner)
        server.stop()
        database = copy_of(server.data, "first-sync")
        server.start()
        wait_for_index(server, owner)
        with PocketBase() as pocketbase, Nginx({f"{i}.json": page for i, page in enumerate(pages)}) as nginx:
            load("batch", pocketbase.port, [Session(pocketbase.bearer)], requests=count // 500, notes=500)
            records = pocketbase.pages(count)
            for _ in range(rounds() * (3 if count < 50_000 else 1)):
                ours = load("read", server.port, [Session(owner.bearer)])
                if ours["objects"] != count:
                    raise RuntimeError(f"the first sync had {ours['objects']} notes, not {count}")
                rate = count / ours["seconds"]
                limit.add(rate, yardstick(database, "read", 1)["rate"])
                listed = load(
                    "get", pocketbase.port, [Session(pocketbase.bearer)], requests=len(records), paths=records
                )
                peer.add(rate, count / listed["seconds"])
                copied = load("get", nginx.port, requests=len(pages), paths=[f"/{i}.json" for i in range(len(pages))])
                if copied["bytes"] != sum(map(len, pages)):
                    raise RuntimeError("nginx did not serve the same bytes")
                files.add(rate, count / copied["seconds"])
        database.unlink()
    return [limit, peer, files]


def wait_for_index(server: Server, owner: Session) -> None:
    """Waits until the notes of the account are indexed for the search. The server indexes them in the background."""
    client = Client(server.url, owner.bearer)
    for _ in range(1_200):
        if not client.get("/v1/search", params={"q": "x"}).json().get("unindexed"):
            return
        time.sleep(0.1)
    raise RuntimeError("the notes are not indexed after two minutes")


def response_bodies(server: Server, owner: Session) -> list[bytes]:
    """The response bodies of a first sync."""
    client, since, pages = Client(server.url, owner.bearer), None, []
    for _ in range(10_000):
        response = client.post("/v1/sync", {"limit": 5000} | ({"syncToken": since} if since else {}))
        pages.append(response.content)
        result = response.json()
        since = result["syncToken"]
        if not result["hasMore"]:
            return pages
    raise RuntimeError("the first sync does not end")
