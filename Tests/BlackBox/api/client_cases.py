"""The cases of merge.md for clients that store their copy: the web app, and apps on the Swift library. Tests have their numbers.

`pair` is such a client, A, and a Device, B. `pair_with(wall=ms)` returns them with an offset of A's wall clock. Tests of test_cases.py
that use only the common interface run unchanged. All compare A's files, B's copy and the server, register by register.
"""

from types import FunctionType

import clocks
import pytest
import test_cases
from attachments import attach, some_bytes
from convergence import history, settle
from test_cases import IN_EITHER_ORDER, YEAR, shared_note, sync_in

# Beginnings of the names of tests that do not use internals of Device.
SHARED_CASES = [
    "test_case_02", "test_case_03", "test_case_04", "test_case_05_two_paragraphs", "test_case_06", "test_case_07",
    "test_case_08_one_word", "test_case_09", "test_case_13", "test_case_14", "test_case_15", "test_case_16", "test_case_22",
    "test_case_25", "test_case_26", "test_two_tags_swap",
]  # fmt: skip


# In these, the server decides, and the client only takes its result. `make test` runs them with Device only (test_cases.py).
SERVER_DECIDES = [
    "test_case_01", "test_case_02", "test_case_03", "test_case_04", "test_case_05", "test_case_06", "test_case_07", "test_case_09",
    "test_case_12", "test_case_13", "test_case_14", "test_case_15", "test_case_16", "test_case_20", "test_case_21", "test_case_22", "test_case_26",
    "test_case_30", "test_two_tags_swap",
]  # fmt: skip


def thorough(test):
    """A copy of a test that is marked thorough. The test itself runs in other modules."""
    made = FunctionType(test.__code__, test.__globals__, test.__name__, test.__defaults__, test.__closure__)
    made.__dict__.update(test.__dict__, pytestmark=[*getattr(test, "pytestmark", []), pytest.mark.thorough.mark])
    return made


def named(module, prefixes: list[str]) -> dict:
    """The tests of a module whose names have these beginnings, by name, for pytest to find in another module."""
    found = {}
    for prefix in prefixes:
        names = [name for name in vars(module) if name.startswith(prefix)]
        assert names, f"no test begins with {prefix}"
        found |= {name: getattr(module, name) for name in names}
    return found


def client_cases() -> dict:
    """The tests of this module and those of SHARED_CASES, by name."""
    found = named(test_cases, SHARED_CASES) | {name: each for name, each in globals().items() if name.startswith("test_case_")}
    return {name: thorough(each) if name.startswith(tuple(SERVER_DECIDES)) else each for name, each in found.items()}


def both(pair, read) -> list:
    return [read(device) for device in pair]


def test_case_01_archived_and_edited(pair):
    a, b = pair
    note = shared_note(a, b)
    b.write(note, "Milk and bread")
    b.sync()
    a.archive(note)
    a.sync()  # the response contains B's text
    assert (a.note(note)["archived"], a.text(note)) == (True, "Milk and bread")
    settle(*pair)


@IN_EITHER_ORDER
def test_case_10_an_unknown_base(pair, order):
    a, b = pair
    note = b.make_note("first")
    b.sync()
    a.sync()
    older = a.write(note, "A's text")
    a.forget_base(note, clocks.clock(clocks.wall() - YEAR, 0, "00000000000000aa"))
    b.clock.greatest = max(b.clock.greatest, older)
    b.write(note, "B's text")
    sync_in(order, pair)
    settle(*pair)
    # If A's text arrived first, B's edit of the same line is in conflict with it, and both lines remain.
    assert a.text(note) in ("B's text", "A's text\nB's text")
    assert "A's text" in history(a, note)


@pytest.mark.parametrize("writer", ["A", "B"])
def test_case_11_deleted_and_edited(pair, writer):
    one, other = pair if writer == "B" else reversed(pair)
    tag = one.make_tag("kept")
    note = shared_note(one, other, tags=[tag])
    one.delete(note)
    one.sync()
    other.write(note, "Milk, and unsent words")
    other.sync()
    settle(*pair)
    rescued = other.rescued[note]
    for device in pair:
        assert device.note(note) is None
        assert device.text(rescued) == "Milk, and unsent words"
        assert device.note(rescued)["tags"] == [tag]
    assert "Milk, and unsent words" in history(one, note)


def test_case_11_two_devices_rescue_the_same_text_into_one_note(pair):
    a, b = pair
    note = shared_note(a, b)
    assert b.client.delete(f"/v1/notes/{note}").status_code == 200
    for device in pair:
        device.write(note, "the same words")
    settle(*pair)
    assert both(pair, lambda device: list(device.notes)) == [[a.rescued[note]]] * 2
    assert b.text(a.rescued[note]) == "the same words"


@IN_EITHER_ORDER
def test_case_12_a_note_is_deleted_twice(pair, order):
    a, b = pair
    note = shared_note(a, b)
    a.delete(note)
    b.delete(note)
    sync_in(order, pair)
    settle(*pair)
    assert both(pair, lambda device: list(device.copy.deleted)) == [[note], [note]]


def test_case_17_a_push_is_repeated_after_a_lost_response(pair):
    a, b = pair
    tag = a.make_tag("x")
    note = a.make_note("Milk", tags=[tag], pinned=True)
    a.sync(lose_response=True)
    b.sync()
    assert b.text(note) == "Milk"
    settle(*pair)
    assert len(a.notes) == len(a.tags) == 1
    assert history(a, note) == ["Milk"]
    assert history(a, note, f"tags.{tag}") == [True]


def test_case_18_a_clock_a_year_ahead(pair):
    a, b = pair
    note = shared_note(a, b)
    a.set_wall(YEAR)
    a.write(note, "A, a year ahead")
    b.sync()
    a.sync()
    assert a.text(note) == "A, a year ahead"
    b.sync()
    b.write(note, "B is not overruled")
    settle(b, a)
    assert a.text(note) == "B is not overruled"
    soon = clocks.date(clocks.wall() + 600_000)
    assert all(
        clock < soon for entity in a.copy.objects.values() for _, clock in entity.registers.values()
    ), "a clock of next year was accepted"
    assert not a.rejected


def test_case_19_a_clock_a_year_behind(pair_with):
    a, b = pair_with(wall=-YEAR)
    note = b.make_note("B's edit")
    b.sync()
    a.sync()
    a.write(note, "A's edit, after seeing B's")
    a.archive(note)
    settle(a, b)
    assert b.text(note) == "A's edit, after seeing B's"
    assert b.note(note)["archived"]


def test_case_20_three_years_offline(pair):
    a, b = pair
    note, other = shared_note(a, b), shared_note(a, b, "stays")
    b.delete(note)
    b.sync()
    a.set_wall(3 * YEAR)
    settle(*pair)
    assert list(a.notes) == [other]
    assert not a.rescued  # it had no unsent words


def test_case_21_an_attachment_is_pushed_twice(pair):
    a, b = pair
    data = some_bytes(10_000)
    note = a.make_note("with a picture")
    picture = a.attach(note, data, "image/png", "a.png")
    a.sync(lose_response=True)
    settle(*pair)
    assert both(pair, lambda device: device.note(note)["attachments"]) == [[picture], [picture]]
    assert b.client.get(f"/v1/attachments/{picture}/data").content == data


def test_case_23_one_picture_is_added_to_two_notes(pair):
    """The rejected member is kept with its error. The text in the same push is accepted."""
    a, b = pair
    one, two = b.make_note("one"), a.make_note("two")
    picture = attach(b.client, some_bytes(100))
    settle(*pair)
    b.edit(one, f"attachments.{picture}", True)
    a.edit(two, f"attachments.{picture}", True)
    a.write(two, "two, and more")
    b.sync()
    a.sync()
    assert [entry["problem"]["slug"] for entry in a.rejected] == ["attachment-in-use"]
    settle(*pair)
    for device in pair:
        assert (device.note(one)["attachments"], device.note(two)["attachments"]) == ([picture], [])
        assert device.text(two) == "two, and more"


def test_case_27_a_lost_response_and_a_later_edit_of_the_other_device(pair):
    a, b = pair
    note = shared_note(a, b)
    a.archive(note)
    a.sync(lose_response=True)
    b.sync()
    assert b.note(note)["archived"]
    b.archive(note, False)
    b.sync()
    a.sync()
    assert not a.note(note)["archived"]
    settle(*pair)


def test_case_28_a_tag_is_deleted_and_created_again_in_one_push(pair):
    a, b = pair
    old = a.make_tag("Paris")
    settle(*pair)
    a.delete(old)
    new = a.make_tag("Paris")
    note = a.make_note("Louvre", tags=[new])
    settle(*pair)
    for device in pair:
        assert device.tags == {new: "Paris"}
        assert device.note(note)["tags"] == [new]
        assert device.copy.deleted[old].get("mergedInto") is None


def test_case_29_a_picture_moves_between_notes_in_one_push(pair):
    a, b = pair
    one, two = a.make_note("one"), a.make_note("two")
    picture = a.attach(one, some_bytes(1000), "image/png", "a.png")
    settle(*pair)
    for out_of, into in ((one, two), (two, one)):
        a.edit(into, f"attachments.{picture}", True)
        a.edit(out_of, f"attachments.{picture}", False)
        settle(*pair)
        assert not a.rejected
        for device in pair:
            assert (device.note(into)["attachments"], device.note(out_of)["attachments"]) == ([picture], [])


@pytest.mark.parametrize("removed_last", [True, False], ids=["y removed last", "x added last"])
def test_case_30_two_tags_of_a_note_are_merged(pair, removed_last):
    """The greater clock of the two registers decides, on all devices."""
    a, b = pair
    x, y = a.make_tag("x"), a.make_tag("y")
    note = a.make_note("a", tags=[x, y] if removed_last else [y])
    settle(*pair)
    a.untag(note, y)
    if not removed_last:
        a.tag(note, x)
    a.sync()
    b.rename(y, "X")  # the same name as x
    settle(*pair)
    for device in pair:
        assert list(device.tags) == [min(x, y)]
        assert device.note(note)["tags"] == ([] if removed_last else [min(x, y)])
