"""A recorded session of two people, typed into two devices that sync over HTTP, with delays and answers lost.

HESPER_TRACE says how many of its 26,000 edits are typed, all of them unless told.
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
        pytest.skip(f"{SHARED}/data/editing-traces is not there; HESPER_SHARED names another folder")
    return found


def replay(trace: Trace, typists: list[Typist]) -> str:
    """Types the session; the text that the two people had then, both of their edits in it."""
    next_item = 0
    steps: list[tuple[int, list[Step]]] = []
    together = View()
    for transaction in trace.transactions[:EDITS]:
        agent = transaction.agent
        typist = typists[agent]
        others = [parent for parent in transaction.parents if trace.transactions[parent].agent != agent]
        if others and max(others) >= typist.seen:
            for who, done in steps[typist.seen : max(others) + 1]:
                for step in done if who != agent else []:
                    typist.view.see(step)
            typist.seen = max(others) + 1
        done = []
        for patch in transaction.patches:
            done += typist.type(patch, next_item)
            next_item += len(patch.inserted)
        steps.append((agent, done))
        for step in done:
            together.see(step)
    return together.text


def words(text: str) -> Counter:
    """How often each word is in a text; what is no letter or digit parts words."""
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

    # Both have one text, and every text that left a device is in its history, once.
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

    # The server writes no word that nobody wrote.
    written: set[str] = set()
    merges = 0
    for version in versions:
        found = set(words(version["value"]))
        if version["device"]["uniqueID"] not in nodes:
            merges += 1
            assert found <= written, f"nobody wrote {found - written}"
        written |= found
    lost_answers = sum(typist.lost_answers for typist in typists)
    waits = sum(typist.waits for typist in typists)
    assert merges > EDITS / 160 and lost_answers > EDITS / 400, "two people who never wrote at once prove nothing"

    # No word of the session is missing from text and history. Where they mended each other's words before they had
    # them here, a few words of the text differ from what was recorded; no paragraph is there twice.
    wanted, have = words(recorded), words(text)
    missing, more = wanted - have, have - wanted
    nowhere = set(wanted) - written
    print(
        f"{len(versions)} versions, {merges} merges, {lost_answers} answers lost, {waits} waits, {wanted.total()} words, "
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
    # Nor is one there twice with a word changed.
    runs = Counter(zip(*(recorded.split()[start:] for start in range(8)), strict=False))
    for run, times in Counter(zip(*(text.split()[start:] for start in range(8)), strict=False)).items():
        assert times <= max(runs[run], 1), " ".join(run)
