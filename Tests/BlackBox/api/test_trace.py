"""Replays a recorded session of two people on two devices that sync over HTTP, with delays and lost responses.

HESPER_TRACE is the number of its 26,000 edits to replay (default: all).
"""

import os
import re
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from convergence import read_history, settle
from device import Device
from editing_trace import SHARED, Step, Trace, View, read_trace
from typist import Typist

pytestmark = [pytest.mark.both_stores, pytest.mark.thorough]

EDITS = int(os.environ.get("HESPER_TRACE", "26078"))


@pytest.fixture
def trace() -> Trace:
    found = read_trace("friendsforever")
    if found is None:
        pytest.skip(f"{SHARED}/data/editing-traces does not exist; set HESPER_SHARED to the folder that contains it")
    return found


def replay(trace: Trace, typists: list[Typist]) -> str:
    """Replays the session. Returns the text that the two people had, which contains the edits of both."""
    next_item = 0
    steps: list[tuple[int, list[Step]]] = []
    together = View()
    for transaction in trace.transactions[:EDITS]:
        agent = transaction.agent
        typist = typists[agent]
        others = [parent for parent in transaction.parents if trace.transactions[parent].agent != agent]
        if others and max(others) >= typist.seen:
            for author, done in steps[typist.seen : max(others) + 1]:
                for step in done if author != agent else []:
                    typist.view.apply_remote(step)
            typist.seen = max(others) + 1
        done = []
        for patch in transaction.patches:
            done += typist.type(patch, next_item)
            next_item += len(patch.inserted)
        steps.append((agent, done))
        for step in done:
            together.apply_remote(step)
    return together.text


def words(text: str) -> Counter:
    """The number of occurrences of each word in a text. Words consist of letters and digits."""
    return Counter(re.findall(r"\w+", text))


@pytest.mark.timeout(900)
def test_a_recorded_session_of_two_people(trace: Trace, devices: Callable[[int], list[Device]], seed: int) -> None:
    pair, random = devices(2), Random(seed)
    note = pair[0].make_note("")
    settle(*pair)
    typists = [Typist(device, note, Random(random.random())) for device in pair]
    typists[0].other, typists[1].other = typists[1], typists[0]
    recorded = replay(trace, typists)
    if EDITS >= len(trace.transactions):
        assert recorded == trace.end
    for _ in range(2):
        for typist in typists:
            if typist.in_flight:
                typist.receive()
            typist.push()
            typist.receive()
    settle(*pair)

    # Both devices have the same text. Every text that a device sent is in the history exactly once.
    text = pair[0].text(note)
    assert text == pair[1].text(note)
    versions = [edit for edit in reversed(read_history(pair[0].client, note)) if edit["attribute"] == "text"]
    clocks = Counter(version["clock"] for version in versions)
    assert max(clocks.values()) == 1
    nodes = {device.clock.node for device in pair}
    from_devices = {each["clock"]: each["value"] for each in versions if each["device"]["uniqueID"] in nodes}
    pushed = {clock: value for typist in typists for clock, value in typist.pushed.items()}
    from_devices.pop(next(iter(from_devices)))  # the empty note
    assert from_devices == pushed

    # The server does not invent words.
    written: set[str] = set()
    merges = 0
    for version in versions:
        found = set(words(version["value"]))
        if version["device"]["uniqueID"] not in nodes:
            merges += 1
            assert found <= written, f"not written by a device: {found - written}"
        written |= found
    lost_responses = sum(typist.lost_responses for typist in typists)
    waits = sum(typist.waits for typist in typists)
    assert merges > EDITS / 160 and lost_responses > EDITS / 400, "too few concurrent edits for a meaningful test"

    # All words of the session are in the text or its history. A few words of the text differ from the recording, where a
    # user edited text of the other that had not arrived on their device. No paragraph is duplicated.
    wanted, have = words(recorded), words(text)
    missing, more = wanted - have, have - wanted
    nowhere = set(wanted) - written
    print(
        f"{len(versions)} versions, {merges} merges, {lost_responses} lost responses, {waits} waits, {wanted.total()} words, "
        f"{missing.total()} of them other than recorded: {dict(missing)}, {more.total()} in their place: {dict(more)}, "
        f"nowhere: {nowhere}"
    )
    assert len(nowhere) <= wanted.total() / 100
    assert missing.total() <= wanted.total() / 50
    assert more.total() <= wanted.total() / 20
    paragraphs = Counter(recorded.splitlines())
    for paragraph, times in Counter(text.splitlines()).items():
        if len(paragraph.split()) >= 3:
            assert times <= max(paragraphs[paragraph], 1), paragraph
    # No paragraph is duplicated with a changed word either.
    runs = Counter(zip(*(recorded.split()[start:] for start in range(8)), strict=False))
    for run, times in Counter(zip(*(text.split()[start:] for start in range(8)), strict=False)).items():
        assert times <= max(runs[run], 1), " ".join(run)
