"""The database of a running server goes, comes back, loses its connections: clear 503s, then all is well by itself.

Whatever was acknowledged is there, and what was not is there whole or not at all.
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

ROUNDS = 3
SECONDS_OF_CUTS = 6
MOST_SECONDS_OF_CUTS = 60  # on a machine that has other things to do
MOST_PUSHES = 5_000


@pytest.fixture(scope="module")
def durable() -> Iterator[PostgreSQL]:
    """A PostgreSQL that waits for its disk, and that these tests may stop."""
    with PostgreSQL(["fsync = on", "full_page_writes = on"]) as running:
        yield running


@pytest.fixture
def served(durable: PostgreSQL) -> Iterator[Server]:
    with Server(database=durable.database()) as running:
        yield running


def check_refusal(client: Client) -> None:
    """While the database is away: the process lives, and says that it cannot work."""
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


def wait_until_ready(client: Client, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while client.get("/readyz").status_code != 200:
        assert time.monotonic() < deadline, "the server did not find its database again"
        time.sleep(0.05)


def check_lost(storm: Storm) -> None:
    """What was not acknowledged was refused as it should be, and is whole or not there; sent again it is."""
    for author in storm.authors:
        assert set(author.refused) <= {"unavailable"}, author.refused
        if author.lost:
            push_again(author)


def test_an_outage_takes_one_line_of_the_log_a_second_at_most(served: Server, durable: PostgreSQL) -> None:
    """Of all requests, and of what the server does in the background, such as the sweeper, which looks every 10 seconds."""
    client = served.client()
    durable.control("stop -m immediate")
    try:
        before, start = len(served.log), time.monotonic()
        while time.monotonic() < start + 12:
            assert client.get("/v1/notes").status_code == 503
        lines = served.log[before:].splitlines()
        assert sum(" error " in line for line in lines) <= 13, lines
    finally:
        durable.control("start")
    wait_until_ready(client)


def test_the_database_restarts_in_the_middle_of_a_storm(served: Server, durable: PostgreSQL, seed: int) -> None:
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
    assert (served.process.poll(), served.pid) == (None, pid), "it was restarted"
    assert served.stop() == 0
    check_data(served)


def test_connections_are_cut_while_eight_devices_push(served: Server, durable: PostgreSQL, seed: int) -> None:
    storm = Storm(served, seed, accounts=2, devices=4)
    began = time.monotonic()
    acknowledged: list[Author] = []
    cut = 0

    def is_over() -> bool:
        took = time.monotonic() - began
        has_enough = cut > 20 and len(acknowledged) > 20 and any(author.refused for author in storm.authors)
        return took > (SECONDS_OF_CUTS if has_enough else MOST_SECONDS_OF_CUTS)

    def push_on(author: Author) -> None:
        """Sends what was not acknowledged again, as it was, until it is."""
        for _ in range(MOST_PUSHES):
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
            each.result(MOST_SECONDS_OF_CUTS + 60)
    refused = sum(author.refused.get("unavailable", 0) for author in storm.authors)
    print(f"{cut} connections cut, {len(acknowledged)} pushes acknowledged, {refused} refused")
    assert cut > 20 and len(acknowledged) > 20 and refused > 0
    wait_until_ready(storm.authors[0].device.client)
    check_lost(storm)
    settle(storm)
    storm.check(everything=True)
    assert served.stop() == 0
    check_data(served)


def test_streams_of_events_outlive_the_database(served: Server, durable: PostgreSQL, seed: int) -> None:
    """Whoever only listens has, in the end, what was written before and after."""
    device = Device(served.client())
    follower = Follower(device.client.another_device(), Random(seed))
    follower.start()
    for number in range(ROUNDS):
        device.make_note(f"before {number}")
        device.sync()
        durable.control("stop -m immediate")
        check_refusal(device.client)
        durable.control("start")
        wait_until_ready(device.client)
        device.make_note(f"after {number}")
        device.sync()
    follower.arrive(device)
