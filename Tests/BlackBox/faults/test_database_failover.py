"""The primary is lost in the middle of a storm and its standby takes over, as operating.md (Failover) says.

Two servers go on without a restart; whatever was acknowledged is there, since commits wait for the standby.
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

OPERATING = (ROOT / "docs/operating.md").read_text()
WAIT_FOR_STANDBY = "ALTER SYSTEM SET synchronous_standby_names = 'standby'"
WAIT_FOR_NOBODY = "ALTER SYSTEM RESET synchronous_standby_names"
RELOAD = "SELECT pg_reload_conf()"
PROMOTE = "SELECT pg_promote()"
IS_SYNCHRONOUS = "SELECT application_name, sync_state FROM pg_stat_replication"

SECONDS_AWAY = 3
# What a request may take while nobody takes writes: what was under way when the primary went is told at once, what comes
# then as soon as one attempt to connect has failed.
LONGEST_REFUSAL = 5
MOST_PUSHES = 20_000


@pytest.mark.parametrize("command", [WAIT_FOR_STANDBY, WAIT_FOR_NOBODY, RELOAD, PROMOTE, IS_SYNCHRONOUS])
def test_operators_are_told_the_same_commands(command: str) -> None:
    assert command in OPERATING


@dataclass
class Cluster:
    primary: PostgreSQL
    standby: PostgreSQL

    def address(self, database: str, first: PostgreSQL) -> str:
        """Of both, in either order: Hesper finds out which of them takes writes."""
        ports = sorted([self.primary.port, self.standby.port], key=lambda port: port != first.port)
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        return self.primary.address(database).replace(f"127.0.0.1:{self.primary.port}", hosts)


@contextmanager
def replicated() -> Iterator[Cluster]:
    with PostgreSQL(["fsync = on", "full_page_writes = on"]) as primary, primary.standby() as standby:
        configure(primary, WAIT_FOR_STANDBY)
        deadline = time.monotonic() + 30
        while primary.sql(IS_SYNCHRONOUS) != [["standby", "sync"]]:
            assert time.monotonic() < deadline, "commits do not wait for the standby"
            time.sleep(0.05)
        yield Cluster(primary, standby)


def configure(server: PostgreSQL, command: str) -> None:
    server.sql(command)
    server.sql(RELOAD)


class Load:
    """All devices of a storm push until it is over, on both servers; what was not acknowledged is sent again as it was."""

    def __init__(self, storm: Storm, there: str):
        self.storm, self.is_over = storm, threading.Event()
        self.refusals: list[float] = []  # how long each took, in seconds
        for author in storm.authors[::2]:
            author.device.client.url = there
        self.pool = ThreadPoolExecutor(len(storm.authors))
        self.pushing = [self.pool.submit(self.push_on, author) for author in storm.authors]

    def push_on(self, author: Author) -> None:
        for _ in range(MOST_PUSHES):
            if self.is_over.is_set():
                return
            began = time.monotonic()
            if author.push(author.lost) is not None if author.lost else author.change_and_push():
                with self.storm.counted:
                    self.storm.acknowledged += 1
            else:
                self.refusals.append(time.monotonic() - began)
                time.sleep(0.05)
        raise RuntimeError("it was not ended")

    def wait_for(self, pushes: int, seconds: float = 60) -> None:
        """Waits for so many more that are acknowledged."""
        wanted, deadline = self.storm.acknowledged + pushes, time.monotonic() + seconds
        while self.storm.acknowledged < wanted:
            assert not any(each.done() for each in self.pushing), [each.exception() for each in self.pushing if each.done()]
            assert time.monotonic() < deadline, f"{self.storm.acknowledged} of {wanted} pushes"
            time.sleep(0.02)

    def wait_until_all_are_refused(self, seconds: float = 30) -> None:
        """From then on, no acknowledgement is on its way that somebody has yet to count."""
        deadline = time.monotonic() + seconds
        while not all(author.lost for author in self.storm.authors):
            assert time.monotonic() < deadline, "some are not refused"
            time.sleep(0.02)

    def end(self) -> None:
        self.is_over.set()
        for each in self.pushing:
            each.result(60)
        self.pool.shutdown()


def check_refusals(*clients: Client) -> None:
    """Each of several requests is refused as it should be, and soon."""
    for client in clients:
        began = time.monotonic()
        check_refusal(client)
        assert time.monotonic() - began < LONGEST_REFUSAL


def lose_the_primary(cluster: Cluster, storm: Storm, here: Client, there: Client) -> None:
    """Under load; the standby is promoted some seconds later, and the load goes on."""
    load = Load(storm, there.url)
    try:
        load.wait_for(60)
        cluster.primary.kill()
        lost = time.monotonic()
        check_refusals(here, there)
        load.wait_until_all_are_refused()
        before = storm.acknowledged
        time.sleep(max(0, lost + SECONDS_AWAY - time.monotonic()))
        check_refusals(here, there)
        assert storm.acknowledged == before, "what nobody takes was acknowledged"
        assert cluster.standby.sql(PROMOTE) == [["t"]]
        promoted = time.monotonic()
        for client in (here, there):
            wait_until_ready(client)
        print(f"{before} acknowledged; away {promoted - lost:.1f} s, found {time.monotonic() - promoted:.1f} s later")
        load.wait_for(60)
    finally:
        load.end()
    print(f"{storm.acknowledged} acknowledged, {len(load.refusals)} refused, each within {max(load.refusals):.2f} s")
    assert max(load.refusals) < LONGEST_REFUSAL


def test_a_primary_is_lost_in_a_storm(seed: int) -> None:
    with replicated() as cluster:
        database = name_in(cluster.primary.database())
        with (
            Server(database=cluster.address(database, first=cluster.primary)) as here,
            Server(database=cluster.address(database, first=cluster.standby)) as there,
        ):
            storm, pids = Storm(here, seed, accounts=3, devices=3), (here.pid, there.pid)
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
                follower.arrive(storm.authors[0].device)
            assert [server.process.poll() for server in (here, there)] == [None, None]
            assert (here.pid, there.pid) == pids, "one was restarted"
            assert there.stop() == here.stop() == 0
            check_data(here)


def test_nothing_is_acknowledged_without_the_standby() -> None:
    """A push waits; it is acknowledged when the standby is back, or when the operator no longer asks for one."""
    with replicated() as cluster:
        address = cluster.address(name_in(cluster.primary.database()), first=cluster.primary)
        with Server(database=address) as server, ThreadPoolExecutor(1) as pool:
            client = server.client()
            returns = [lambda: cluster.standby.control("start"), lambda: configure(cluster.primary, WAIT_FOR_NOBODY)]
            for number, come_back in enumerate(returns):
                cluster.standby.kill()
                pushing = pool.submit(client.post, "/v1/notes", {"text": f"note {number}"})
                time.sleep(2)
                assert not pushing.done(), pushing.result().text
                # Readers wait for nobody, and see nothing of it.
                notes = client_beside(client).get("/v1/notes").json()["notes"]
                assert [note["text"] for note in notes] == [f"note {each}" for each in range(number)]
                come_back()
                assert pushing.result(30).status_code == 201
