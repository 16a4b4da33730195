"""The cases of merge.md in an app on the Swift library: A is the app, B a client in Python. Tests have the numbers of the cases.

Most are those of client_cases.py, test_cases.py and test_text_descent.py. Case 24 is in test_library_restored.py.
"""

import json
import threading

import pytest
import test_cases
import test_text_descent
from client_cases import client_cases, named
from convergence import settle
from library_device import NotSynced
from link import Exchange
from test_cases import shared_note
from test_text_descent import ROWS, check_twenty_texts

pytestmark = pytest.mark.long

globals().update(client_cases())
# These are stricter than those of client_cases.py, because the receipts are known.
globals().update(
    named(
        test_cases,
        [
            "test_edits_of_different_fields", "test_case_08_after", "test_case_17", "test_case_28", "test_case_30",
            "test_case_32", "test_case_33",
        ],
    )  # fmt: skip
)
globals().update(
    named(
        test_text_descent,
        ["test_texts_that_the_deleting_device_has_seen", "test_a_repeated_deletion", "test_unsent_text_of_a_rescued_note"],
    )
)


def pushed_text(exchanges: list, note: str) -> dict:
    """The change of the note's text in the requests of one sync, which may repeat it."""
    changes = [change for exchange in exchanges for change in (exchange.changes or {}).get("notes", [])]
    first, *others = [change for change in changes if change["uniqueID"] == note]
    assert all(change == first for change in others)
    return first


@pytest.mark.parametrize(("base", "first", "second"), ROWS)
def test_case_34_pushes_arrive_in_reverse_order(pair, base, first, second):
    a, b = pair
    note = shared_note(a, b, base)
    a.write(note, first)
    [slow, *_] = [each for each in a.sync_with(before=lambda exchange: not exchange.changes) if each.changes]
    a.write(note, second)
    a.sync()
    # The first push was delayed on its way.
    a.client.post("/v1/sync", json.loads(slow.body)).raise_for_status()
    settle(a, b)
    assert (a.text(note), b.text(note)) == (second, second)


def test_case_35_a_lost_response_before_signing_in_again(pair):
    a, b = pair
    note = shared_note(a, b, "start\n")
    a.write(note, "start\nA's sentence.\n")
    a.sync(lose_response=True)
    former = a.clock.node
    assert b.client.delete(f"/v1/devices/{former}").status_code == 204
    b.sync()
    b.write(note, b.text(note) + "\nB's paragraph.\n")
    b.sync()
    with pytest.raises(NotSynced) as failure:
        a.sync()
    assert (failure.value.status["phase"], failure.value.status["problem"]) == ("waiting", "signInAgain(expired)")
    a.sign_in_again()
    assert a.clock.node != former
    a.write(note, "start\nA's sentence, changed. And more.\n")
    settle(*pair)
    assert b.text(note) == "start\nA's sentence, changed. And more.\n\nB's paragraph.\n"


def test_typing_while_a_push_is_in_flight_causes_no_conflict(pair):
    """merge.md, Text: the text descends from the one in flight."""
    a, b = pair
    note = shared_note(a, b, "The quick")
    for words in ("The quick brown", "The quick brown fox", "The quick brown fox jumps"):
        arrived, typed, pushes = threading.Event(), threading.Event(), []

        def hold(exchange: Exchange, arrived=arrived, typed=typed, pushes=pushes) -> bool:
            if exchange.changes:
                pushes.append(exchange)
                arrived.set()
                typed.wait(10)
            return True

        a.write(note, words)
        a.link.after = hold
        a.go_online()
        assert arrived.wait(10)
        a.write(note, words + " …")
        typed.set()
        a.sync()
        results = [result for exchange in [*pushes, *a.link.exchanges] for result in exchange.results]
        assert results and all(result["status"] == "applied" for result in results)
        assert a.text(note) == words + " …"
    settle(*pair)
    assert b.text(note) == "The quick brown fox jumps …"


def test_twenty_texts_in_flight(pair):
    """At most 16 texts are in flight. Then the 16th is sent again until it is acknowledged."""
    a, b = pair
    note = shared_note(a, b, "start\n")
    pushed = []
    for index in range(20):
        a.write(note, f"start\nline {index}\n")
        way = "after" if index % 3 else "before"  # the response is lost, or the request
        pushed.append(pushed_text(a.sync_with(**{way: lambda exchange: not exchange.changes}), note))
    check_twenty_texts(a, b, note, pushed)
