"""The latency of one account's small pushes while another account sends large ones."""

import http.client
import json
import random
import threading
import time
import uuid
from datetime import datetime, timezone

from client import Client, Server
from durable_pushes import fresh_folder
from load import median
from machine import fdatasync_cost
from postgres_limits import postgresql
from report import Row

LARGE = 4  # connections that push continuously
NOTES = 8
TEXT_BYTES = 1_040_000  # eight of them are a push of nearly 8 MiB
SECONDS = 30


def neighbours() -> list[Row]:
    """Measures on SQLite."""
    with Server(data=fresh_folder("neighbours")) as server:
        return measured(server, "")


def postgres_neighbours() -> list[Row]:
    """Measures on PostgreSQL."""
    with (
        postgresql() as postgres,
        Server(data=fresh_folder("neighbours"), database=postgres.database()) as server,
    ):
        return measured(server, "on PostgreSQL: ")


def measured(server: Server, prefix: str) -> list[Row]:
    work = f"{prefix}a push of one note while another account's {LARGE} connections push 8 MiB of unique words each"
    rows = [
        Row(f"{work}, p50", "100 ms", "ms", 1, most=True),
        Row("the same, p99", "1 s", "ms", 1, most=True),
        Row("the same, p50", "without other pushes", "ms"),
    ]
    small, large = (one_device(server) for _ in range(2))
    cost = fdatasync_cost()
    alone = [small_push(small) for _ in range(100)]
    end = threading.Event()
    floods = [threading.Thread(target=flood, args=(server, large, seed, end)) for seed in range(LARGE)]
    for thread in floods:
        thread.start()
    time.sleep(3)  # until all connections push
    found, stop = [], time.monotonic() + SECONDS
    while time.monotonic() < stop:
        found.append(small_push(small))
        time.sleep(0.01)
    end.set()
    for thread in floods:
        thread.join()
    found.sort()
    rows[0].add(median(found), 100, cost)
    rows[1].add(found[len(found) * 99 // 100], 1000, cost)
    rows[2].add(median(found), median(alone), cost)
    return rows


def one_device(server: Server) -> Client:
    client = Client(server.url)
    client.sign_up()
    return client


def stamp(client: Client, counter: int) -> str:
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"{now}-{counter:04x}-{client.device['uniqueID']}"


def small_push(client: Client) -> float:
    """The response time of a push of one note, in milliseconds."""
    clock = stamp(client, 0)
    note = {
        "uniqueID": str(uuid.uuid4()),
        "creationDate": clock[:24],
        "text": "milk and bread " * 30,
        "clocks": {"text": clock},
    }
    start = time.monotonic()
    client.sync({"notes": [note]})
    return (time.monotonic() - start) * 1000


def flood(server: Server, client: Client, seed: int, end: threading.Event) -> None:
    """Continuously pushes new notes, each with unique words."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    chance = random.Random(seed)
    texts = []
    for _ in range(NOTES):
        words = (f"{chance.getrandbits(32):08x}" for _ in range(TEXT_BYTES // 9))
        texts.append(" ".join(words).translate(str.maketrans("0123456789", "ghijklmnop")).encode())
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
    headers = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/json"}
    # A limit of one object keeps the response small, because only the writes matter.
    token = client.sync()["syncToken"]
    while not end.is_set():
        # Substituting the letters creates new words from the same texts.
        order = bytes.maketrans(letters.encode(), "".join(chance.sample(letters, 26)).encode())
        parts = []
        for number, text in enumerate(texts):
            clock = stamp(client, number)
            head = {"uniqueID": str(uuid.uuid4()), "creationDate": clock[:24], "clocks": {"text": clock}, "text": ""}
            parts.append(json.dumps(head)[:-2].encode() + text.translate(order) + b'"}')
        body = b'{"limit":1,"syncToken":"' + token.encode() + b'","changes":{"notes":[' + b",".join(parts) + b"]}}"
        connection.request("POST", "/v1/sync", body, headers)
        response = connection.getresponse()
        response.read()
        if response.status != 200:
            raise RuntimeError(f"a large push failed with status {response.status}")
    connection.close()
