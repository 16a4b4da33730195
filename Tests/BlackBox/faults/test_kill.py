"""`kill -9` under load, repeatedly: every acknowledged change is present exactly once.

HESPER_KILLS is the number of kills (default 3, in `make test-all` 20).
"""

import os
import time
from random import Random

import pytest
from client import Server
from ledger import Ledger
from storm import Storm
from verdict import check_data, push_again, settle

pytestmark = [pytest.mark.both_stores, pytest.mark.long]

KILLS = int(os.environ.get("HESPER_KILLS", "3"))
TERMS = 3


@pytest.mark.thorough_on_postgresql
@pytest.mark.timeout(120 + 12 * KILLS)
def test_kills_under_load(fresh_server: Server, seed: int, everything: bool) -> None:
    random, storm = Random(seed), Storm(fresh_server, seed)
    committed = 0
    for kill in range(KILLS):
        delay = random.random() * 0.01

        def crash(delay: float = delay) -> None:
            time.sleep(delay)  # so that the kill is not always just after a response
            fresh_server.kill()

        storm.rage(random.randint(10, 150 if everything else 60), crash)
        if kill % 3 == 2:
            crash_during_start(fresh_server, random.random() * 0.1)
        check_data(fresh_server)
        fresh_server.start()
        storm.reconnect()
        storm.check()
        lost = [author for author in storm.authors if author.lost]
        outcomes = [push_again(author) for author in lost]
        committed += sum(outcomes)
        storm.check()
        print(f"kill {kill + 1}: {storm.acknowledged} acknowledged, {sum(outcomes)} of {len(lost)} lost responses were committed")
    settle(storm)
    storm.check(everything=True)
    fresh_server.stop()
    check_data(fresh_server)
    print(f"{KILLS} kills, {storm.acknowledged} pushes acknowledged, {committed} more were committed without a response")


@pytest.mark.thorough
def test_sigterm_under_load(fresh_server: Server, seed: int) -> None:
    """All accepted requests get a response, so no push without a response is committed. The exit status is 0."""
    random, storm = Random(seed), Storm(fresh_server, seed)
    for _ in range(TERMS):
        status = storm.rage(random.randint(10, 150), fresh_server.stop)
        assert status == 0
        check_data(fresh_server)
        fresh_server.start()
        storm.reconnect()
        storm.check()
        for author in storm.authors:
            assert set(author.refused) <= {"unavailable"}, author.refused
            if author.lost:
                assert not push_again(author), "a push was committed without a response"
    settle(storm)
    storm.check(everything=True)
    assert "error" not in fresh_server.log


def test_the_ledger_detects_differences(fresh_server: Server, seed: int) -> None:
    """The check fails for an edit that was never pushed, another value, a missing object, and a missing deletion."""
    storm = Storm(fresh_server, seed, accounts=1, devices=1)
    [author] = storm.authors
    for _ in range(20):
        assert author.change_and_push()
    [(client, ledger)] = storm.witnesses.items()
    ledger.check(client)
    note = author.shared[0]
    attribute, clock = "text", author.device.clock.tick()
    forged = ("note", note, attribute, clock, "never pushed")
    known = next(edit for edit in reversed(ledger.edits) if edit[0] == "note")
    for edits, made, deleted in [
        ([forged], [], []),
        ([(*known[:4], "another value")], [], []),
        ([], ["0b7f2d0e-7a2c-4c39-9d43-2f8b8ea35a10"], []),
        ([], [], [note]),
    ]:
        wrong = Ledger()
        wrong.edits, wrong.made, wrong.deleted = ledger.edits + edits, ledger.made + made, ledger.deleted + deleted
        with pytest.raises((AssertionError, KeyError)):
            wrong.check(client)


def crash_during_start(server: Server, delay: float) -> None:
    """Kills the server while it recovers from the previous kill."""
    server.launch()
    time.sleep(delay)
    server.kill()
