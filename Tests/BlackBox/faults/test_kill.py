"""`kill -9` in the middle of a storm of pushes, again and again: every acknowledged change is there, and there once.

HESPER_KILLS says how often (8 unless told), HESPER_SEED repeats a run's choices (not the machine's timing).
"""

import os
import time
from random import Random

import pytest
from client import Server
from convergence import check_same
from ledger import Ledger, read_copy, read_history
from push import Push
from storm import Author, Storm

KILLS = int(os.environ.get("HESPER_KILLS", "8"))
TERMS = 3
WHOLE = "Checked 2 accounts: all is well.\n"


@pytest.fixture
def seed() -> int:
    seed = int(os.environ.get("HESPER_SEED", time.time_ns() % 1_000_000))
    print(f"HESPER_SEED={seed}")
    return seed


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
        statuses = []
        storm.rage(random.randint(10, 150), lambda: statuses.append(fresh_server.stop()))
        assert statuses == [0]
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


def push_again(author: Author) -> bool:
    """Sends the push whose answer was lost once more, as it was; whether it had been committed.

    A push is one transaction: all of it is there already, or nothing.
    """
    push = author.lost
    was_there = presence(author, push)
    assert len(was_there) == 1, f"a part of a push is there: {was_there}"
    [committed] = was_there
    answer = author.push(push)
    assert answer, "the server runs, and gives no answer"
    allowed = {"unchanged"} if committed else {"applied"}
    for result in answer["results"]:
        # What somebody else changes or deletes meanwhile may stand against it; a tag's name may be taken.
        shared = result["uniqueID"] in author.shared or result["objectType"] == "tag"
        more = {"merged", "deleted", "unchanged", "applied"} if shared else set()
        assert result["status"] in allowed | more, (committed, result)
    return committed


def presence(author: Author, push: Push) -> set[bool]:
    """Whether what a push carried is on the server: {True}, {False}, or both, which must not be."""
    client, found = author.device.client, set()
    copy = read_copy(client)
    found |= {unique_id in copy.deleted for unique_id in push.deletions}
    found |= {unique_id in copy.objects or unique_id in copy.deleted for unique_id in push.fixed}
    histories: dict[str, set] = {}
    for (unique_id, attribute), edit in push.edits.items():
        if edit.type == "note":
            if unique_id not in histories:
                history = read_history(client, unique_id)
                histories[unique_id] = {(each["attribute"], each["clock"]) for each in history}
            found.add((attribute, edit.clock) in histories[unique_id])
    return found


def settle(storm: Storm) -> None:
    """Everybody syncs: the copies of an account are one, and the server's."""
    for _ in range(3):
        for author in storm.authors:
            author.device.sync()
    for ledger in storm.witnesses.values():
        check_same(*(author.device for author in storm.authors if author.ledger is ledger))


def check_data(server: Server) -> None:
    """`hesper check` on a folder that nobody serves."""
    checked = server.command("check")
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, WHOLE, "")
