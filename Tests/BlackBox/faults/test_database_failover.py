"""The primary is killed under load and its standby is promoted, as in operating.md (Failover).

Two servers continue without a restart. No acknowledged change is lost, because commits wait for the standby.
"""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import pytest
from client import ROOT, Client, Server
from follower import Follower
from postgres import PostgreSQL, name_in
from storm import Author, Storm, client_beside
from test_database_lost import check_lost, check_refusal, wait_until_ready
from verdict import check_data, settle
from waiting import wait_until

pytestmark = pytest.mark.long

OPERATING = (ROOT / "docs/operating.md").read_text()
WAIT_FOR_STANDBY = "ALTER SYSTEM SET synchronous_standby_names = 'standby'"
NO_STANDBY = "ALTER SYSTEM RESET synchronous_standby_names"
RELOAD = "SELECT pg_reload_conf()"
PROMOTE = "SELECT pg_promote()"
IS_SYNCHRONOUS = "SELECT application_name, sync_state FROM pg_stat_replication"

SECONDS_AWAY = 3
# The maximum duration of a request while no database accepts writes. Requests in progress fail when the primary ends, later
# ones when an attempt to connect has failed.
MAX_REFUSAL_SECONDS = 5
MAX_PUSHES = 20_000


@pytest.mark.parametrize("command", [WAIT_FOR_STANDBY, NO_STANDBY, RELOAD, PROMOTE, IS_SYNCHRONOUS])
def test_the_commands_are_documented(command: str) -> None:
    assert command in OPERATING


@dataclass
class Cluster:
    primary: PostgreSQL
    standby: PostgreSQL

    def address(self, database: str, first: PostgreSQL) -> str:
        """A URL with both hosts, in either order. Hesper finds the one that accepts writes."""
        ports = sorted([self.primary.port, self.standby.port], key=lambda port: port != first.port)
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        return self.primary.address(database).replace(f"127.0.0.1:{self.primary.port}", hosts)


@contextmanager
def replicated() -> Iterator[Cluster]:
    with PostgreSQL(["fsync = on", "full_page_writes = on"]) as primary, primary.standby() as standby:
        configure(primary, WAIT_FOR_STANDBY)
        wait_until(lambda: primary.sql(IS_SYNCHRONOUS) == [["standby", "sync"]], failure="the standby did not become synchronous")
        yield Cluster(primary, standby)


def configure(server: PostgreSQL, command: str) -> None:
    server.sql(command)
    server.sql(RELOAD)


class Load:
    """All devices of a storm push to both servers until `end`. Pushes that were not acknowledged are repeated unchanged."""

    def __init__(self, storm: Storm, there: str):
        self.storm, self.is_over = storm, threading.Event()
        self.refusals: list[float] = []  # the durations of refused requests in seconds
        for author in storm.authors[::2]:
            author.device.client.url = there
        self.pool = ThreadPoolExecutor(len(storm.authors))
        self.pushing = [self.pool.submit(self.push_on, author) for author in storm.authors]

    def push_on(self, author: Author) -> None:
        for _ in range(MAX_PUSHES):
            if self.is_over.is_set():
                return
            began = time.monotonic()
            if author.push(author.lost) is not None if author.lost else author.change_and_push():
                with self.storm.counted:
                    self.storm.acknowledged += 1
            else:
                self.refusals.append(time.monotonic() - began)
                time.sleep(0.05)
        raise RuntimeError("the load was not ended")

    def wait_for(self, pushes: int, seconds: float = 60) -> None:
        """Waits for this number of further acknowledged pushes."""
        wanted, deadline = self.storm.acknowledged + pushes, time.monotonic() + seconds
        while self.storm.acknowledged < wanted:
            assert not any(each.done() for each in self.pushing), [each.exception() for each in self.pushing if each.done()]
            assert time.monotonic() < deadline, f"{self.storm.acknowledged} of {wanted} pushes"
            time.sleep(0.02)

    def wait_until_all_are_refused(self, seconds: float = 30) -> None:
        """Waits until no request is pending. From then on, `acknowledged` does not change."""
        wait_until(lambda: all(author.lost for author in self.storm.authors), seconds, failure="some pushes were not refused")

    def end(self) -> None:
        self.is_over.set()
        for each in self.pushing:
            each.result(60)
        self.pool.shutdown()


def check_refusals(*clients: Client) -> None:
    """Checks that requests are refused with the right error within the time limit."""
    for client in clients:
        began = time.monotonic()
        check_refusal(client)
        assert time.monotonic() - began < MAX_REFUSAL_SECONDS


def lose_the_primary(cluster: Cluster, storm: Storm, here: Client, there: Client) -> None:
    """Kills the primary under load, promotes the standby some seconds later, and continues the load."""
    load = Load(storm, there.url)
    try:
        load.wait_for(20)
        cluster.primary.kill()
        lost = time.monotonic()
        check_refusals(here, there)
        load.wait_until_all_are_refused()
        before = storm.acknowledged
        time.sleep(max(0, lost + SECONDS_AWAY - time.monotonic()))
        check_refusals(here, there)
        assert storm.acknowledged == before, "a push was acknowledged without a database"
        assert cluster.standby.sql(PROMOTE) == [["t"]]
        promoted = time.monotonic()
        for client in (here, there):
            wait_until_ready(client)
        recovery = f"promoted after {promoted - lost:.1f} s, ready {time.monotonic() - promoted:.1f} s later"
        print(f"{before} acknowledged; {recovery}")
        load.wait_for(20)
    finally:
        load.end()
    print(f"{storm.acknowledged} acknowledged, {len(load.refusals)} refused, each within {max(load.refusals):.2f} s")
    assert max(load.refusals) < MAX_REFUSAL_SECONDS


def test_a_primary_is_killed_under_load(seed: int, everything: bool) -> None:
    with replicated() as cluster:
        database = name_in(cluster.primary.database())
        with (
            Server(database=cluster.address(database, first=cluster.primary)) as here,
            Server(database=cluster.address(database, first=cluster.standby)) as there,
        ):
            count = 3 if everything else 2
            storm, pids = Storm(here, seed, accounts=count, devices=count), (here.pid, there.pid)
            witness = storm.authors[0].device.client.another_device()
            elsewhere = Client(there.url, witness.token)
            elsewhere.email, elsewhere.password = witness.email, witness.password
            followers = [
                Follower(Client(server.url, witness.another_device().token), Random(seed)) for server in (here, there)
            ]
            for follower in followers:
                follower.start()
            lose_the_primary(cluster, storm, witness, elsewhere)
            check_lost(storm)
            settle(storm)
            storm.check(everything=True)
            for follower in followers:
                follower.finish(storm.authors[0].device)
            assert [server.process.poll() for server in (here, there)] == [None, None]
            assert (here.pid, there.pid) == pids, "a server was restarted"
            assert there.stop() == here.stop() == 0
            check_data(here)


def test_nothing_is_acknowledged_without_the_standby() -> None:
    """A push waits until the standby is running again, or until the operator disables waiting."""
    with replicated() as cluster:
        address = cluster.address(name_in(cluster.primary.database()), first=cluster.primary)
        with Server(database=address) as server, ThreadPoolExecutor(1) as pool:
            client = server.client()
            repairs = [lambda: cluster.standby.control("start"), lambda: configure(cluster.primary, NO_STANDBY)]
            for number, repair in enumerate(repairs):
                cluster.standby.kill()
                pushing = pool.submit(client.post, "/v1/notes", {"text": f"note {number}"})
                time.sleep(2)
                assert not pushing.done(), pushing.result().text
                # Readers do not wait and do not see the pending note.
                notes = client_beside(client).get("/v1/notes").json()["notes"]
                assert [note["text"] for note in notes] == [f"note {each}" for each in range(number)]
                repair()
                assert pushing.result(30).status_code == 201
