"""Copies of an app's file, such as a backup that was restored on another device: both devices continue, and nothing is lost."""

import shutil

import clocks
import pytest
from convergence import settle
from library_device import NotSynced
from test_cases import shared_note


def test_a_copied_file_becomes_another_device(pair, tmp_path):
    """The library recognizes the copy, because what the device remembers outside of the file is missing."""
    a, b = pair
    note = shared_note(a, b, "list\n")
    a.write(note, "list\nbefore the copy\n")
    copied = a.copied(tmp_path / "copied")
    try:
        assert copied.clock.node != a.clock.node
        a.write(note, "list\nbefore the copy\nA\n")
        copied.write(note, "list\nbefore the copy\ncopied\n")
        with pytest.raises(NotSynced) as failure:
            copied.sync()
        assert (failure.value.status["phase"], failure.value.status["problem"]) == ("signedOut", "signInAgain(copied)")
        a.sync()
        copied.sign_in_again()
        settle(a, copied, b)
        assert sorted(b.text(note).splitlines()) == ["A", "before the copy", "copied", "list"]
    finally:
        copied.close()


def test_the_server_detects_a_copy_of_the_whole_device(pair, tmp_path):
    """The copy includes what the device remembers outside of the file. Both make the same clock, for different edits."""
    a, b = pair
    soon = clocks.clock(clocks.wall() + 60_000, 0, a.clock.node)
    one, other = shared_note(a, b, "one\n"), shared_note(a, b, "other\n")
    a.app.close()
    shutil.copytree(a.folder / "state", tmp_path / "copied/state")
    copied = a.copied(tmp_path / "copied")
    a.open()
    try:
        assert copied.clock.node == a.clock.node
        for device in (a, copied):
            device.clock.greatest = soon
        assert a.write(one, "one\nby A\n") == copied.write(one, "one\nby the copy\n")
        copied.edit(one, "attributes.pinned", True)
        copied.write(other, "other, by the copy\n")
        a.sync()
        with pytest.raises(NotSynced) as failure:
            copied.sync()
        assert (failure.value.status["phase"], failure.value.status["problem"]) == ("waiting", "signInAgain(copied)")
        copied.sign_in_again()
        assert copied.clock.node != a.clock.node
        settle(a, copied, b)
        assert sorted(b.text(one).splitlines()) == ["by A", "by the copy", "one"]
        assert b.text(other) == "other, by the copy\n" and b.note(one)["attributes"] == {"pinned": True}
        assert not copied.rejected
    finally:
        copied.close()
