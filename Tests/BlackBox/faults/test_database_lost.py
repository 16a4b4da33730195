"""The database of a running server stops, restarts and loses connections: requests return 503, then the server recovers.

Acknowledged changes are kept. Other pushes are applied completely or not at all.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from client import Client, Server
from device import Device
from follower import Follower
from postgres import PostgreSQL, name_in
from storm import Author, Storm
from verdict import check_data, push_again, settle
from waiting import wait_until

pytestmark = pytest.mark.long

ROUNDS = 3
MAX_SECONDS_OF_CUTS = 60  # the limit on a busy machine
MAX_PUSHES = 5_000


@pytest.fixture(scope="module")
def durable() -> Iterator[PostgreSQL]:
    """A PostgreSQL server with fsync, which tests may stop."""
    with PostgreSQL(["fsync = on", "full_page_writes = on"]) as running:
        yield running


@pytest.fixture
def served(durable: PostgreSQL) -> Iterator[Server]:
    with Server(database=durable.database()) as running:
        yield running


def check_refusal(client: Client) -> None:
    """Checks that requests return 503 while the database is unavailable, and that the process is alive."""
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 503
    for answer in (
        client.post("/v1/sync", {}),
        client.get("/v1/notes"),
        client.post("/v1/notes", {"text": "a note"}),
        client.post("/v1/devices", {"email": client.email, "password": client.password, "deviceName": "another"}),
    ):
        assert (answer.status_code, answer.json()["slug"]) == (503, "unavailable"), answer.text
        assert int(answer.headers["Retry-After"]) > 0
        assert "PostgreSQL" not in answer.text


def wait_until_ready(client: Client, seconds: float = 60) -> None:
    wait_until(lambda: client.get("/readyz").status_code == 200, seconds, failure="the server did not find its database again")


def check_lost(storm: Storm) -> None:
    """Checks that pushes were refused with the right error, and applied completely or not at all. Sends them again."""
    for author in storm.authors:
        assert set(author.refused) <= {"unavailable"}, author.refused
        if author.lost:
            push_again(author)


def test_an_outage_logs_at_most_one_error_per_second(served: Server, durable: PostgreSQL) -> None:
    """Errors of requests and of background work, such as the sweeper, which runs every 10 seconds."""
    client = served.client()
    durable.control("stop -m immediate")
    try:
        before, start = len(served.log), time.monotonic()
        while time.monotonic() < start + 12:
            assert client.get("/v1/notes").status_code == 503
            time.sleep(0.02)
        lines = served.log[before:].splitlines()
        assert sum(" error " in line for line in lines) <= 13, lines
    finally:
        durable.control("start")
    wait_until_ready(client)


@pytest.mark.thorough
def test_the_database_restarts_under_load(served: Server, durable: PostgreSQL, seed: int) -> None:
    storm, pid = Storm(served, seed), served.pid
    client = storm.authors[0].device.client
    for _ in range(ROUNDS):
        storm.rage(storm.random.randint(10, 150), lambda: durable.control("stop -m immediate"))
        check_refusal(client)
        durable.control("start")
        wait_until_ready(client)
        storm.check()
        check_lost(storm)
    settle(storm)
    storm.check(everything=True)
    assert (served.process.poll(), served.pid) == (None, pid), "the server was restarted"
    assert served.stop() == 0
    check_data(served)


def test_connections_are_terminated_under_load(served: Server, durable: PostgreSQL, seed: int, everything: bool) -> None:
    storm, least = Storm(served, seed, accounts=2, devices=4), 6 if everything else 2  # seconds
    began = time.monotonic()
    acknowledged: list[Author] = []
    cut = 0

    def is_over() -> bool:
        took = time.monotonic() - began
        has_enough = cut > 20 and len(acknowledged) > 20 and any(author.refused for author in storm.authors)
        return took > (least if has_enough else MAX_SECONDS_OF_CUTS)

    def push_on(author: Author) -> None:
        """Pushes until the end. Pushes that were not acknowledged are repeated unchanged."""
        for _ in range(MAX_PUSHES):
            if is_over():
                return
            if author.push(author.lost) is not None if author.lost else author.change_and_push():
                acknowledged.append(author)
            else:
                time.sleep(0.02)

    with ThreadPoolExecutor(len(storm.authors)) as pool:
        pushing = [pool.submit(push_on, author) for author in storm.authors]
        while not is_over():
            [[count]] = durable.sql(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                f"WHERE datname = '{name_in(served.database)}' AND application_name = 'hesper'"
            )
            cut += int(count)
            time.sleep(0.1)
        for each in pushing:
            each.result(MAX_SECONDS_OF_CUTS + 60)
    refused = sum(author.refused.get("unavailable", 0) for author in storm.authors)
    print(f"{cut} connections terminated, {len(acknowledged)} pushes acknowledged, {refused} refused")
    assert cut > 20 and len(acknowledged) > 20 and refused > 0
    wait_until_ready(storm.authors[0].device.client)
    check_lost(storm)
    settle(storm)
    storm.check(everything=True)
    assert served.stop() == 0
    check_data(served)


def test_event_streams_after_a_database_restart(served: Server, durable: PostgreSQL, seed: int, everything: bool) -> None:
    """Streams deliver all changes made before and after the outage."""
    device = Device(served.client())
    follower = Follower(device.client.another_device(), Random(seed))
    follower.start()
    for number in range(ROUNDS if everything else 1):
        device.make_note(f"before {number}")
        device.sync()
        durable.control("stop -m immediate")
        check_refusal(device.client)
        durable.control("start")
        wait_until_ready(device.client)
        device.make_note(f"after {number}")
        device.sync()
    follower.finish(device)
