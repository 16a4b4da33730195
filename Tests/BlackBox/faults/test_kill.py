"""`kill -9` in the middle of a storm of pushes, again and again: every acknowledged change is there, and there once.

HESPER_KILLS says how often, 8 unless told.
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

KILLS = int(os.environ.get("HESPER_KILLS", "8"))
TERMS = 3


@pytest.mark.timeout(60 + 12 * KILLS)
def test_killed_in_the_middle_of_a_storm(fresh_server: Server, seed: int) -> None:
    random, storm = Random(seed), Storm(fresh_server, seed)
    committed = 0
    for kill in range(KILLS):
        delay = random.random() * 0.01

        def crash(delay: float = delay) -> None:
            time.sleep(delay)  # anywhere in a push, not just after an answer
            fresh_server.kill()

        storm.rage(random.randint(10, 150), crash)
        if kill % 3 == 2:
            crash_while_it_starts(fresh_server, random.random() * 0.1)
        check_data(fresh_server)
        fresh_server.start()
        storm.reconnect()
        storm.check()
        lost = [author for author in storm.authors if author.lost]
        outcomes = [push_again(author) for author in lost]
        committed += sum(outcomes)
        storm.check()
        print(f"kill {kill + 1}: {storm.acknowledged} acknowledged, {sum(outcomes)} of {len(lost)} lost answers")
    settle(storm)
    storm.check(everything=True)
    fresh_server.stop()
    check_data(fresh_server)
    print(f"{KILLS} kills, {storm.acknowledged} pushes acknowledged, {committed} more were committed unanswered")


def test_asked_to_end_in_the_middle_of_a_storm(fresh_server: Server, seed: int) -> None:
    """SIGTERM: whatever was accepted is answered, so nothing that was not answered is there; exit status 0."""
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
                assert not push_again(author), "a push was committed and its answer kept back"
    settle(storm)
    storm.check(everything=True)
    assert "error" not in fresh_server.log


def test_the_ledger_notices(fresh_server: Server, seed: int) -> None:
    """A check that cannot fail is none: what was never pushed, or is gone, or is other than it was, is noticed."""
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


def crash_while_it_starts(server: Server, delay: float) -> None:
    """A second crash, while it puts right what the first one left."""
    server.launch()
    time.sleep(delay)
    server.kill()
