"""Case 24 of merge.md: last night's copy of the data is put back. Devices give back what it lacks: nothing is lost."""

import pytest
from client import Refused
from convergence import history, settle
from database import Backup
from device import Device


def put_back(server, backup) -> None:
    """Somebody puts old data over the new, without `hesper restore`."""
    server.stop()
    backup.put_back(server)
    server.start()


@pytest.fixture
def restorable(fresh_server, tmp_path):
    """Two devices, and the data as it was when both had everything."""
    first = fresh_server.client(device_name="A")
    a, b = Device(first), Device(first.another_device("B"))
    tag = a.make_tag("old tag")
    a.make_note("untouched since", tags=[tag])
    notes = {name: a.make_note(name) for name in ("edited by A", "edited by B", "deleted today", "archived today")}
    settle(a, b)
    fresh_server.stop()
    backup = Backup.make(fresh_server, tmp_path / "backup")
    fresh_server.start()
    return fresh_server, a, b, notes, backup


def edit_today(a: Device, b: Device, notes: dict[str, str]) -> dict[str, str]:
    a.write(notes["edited by A"], "A's words of today")
    b.write(notes["edited by B"], "B's words of today")
    b.archive(notes["archived today"])
    a.delete(notes["deleted today"])
    tag = b.make_tag("new tag")
    made = {"by A": a.make_note("made by A"), "by B": b.make_note("made by B", tags=[tag], pinned=True)}
    settle(a, b)
    # And both texts merged by the server: its own edits are given back, too.
    a.write(made["by A"], "made by A\n\nA went on")
    b.write(made["by A"], "B began, made by A")
    settle(a, b)
    return made


def test_case_24_restored_from_last_nights_backup(restorable):
    server, a, b, notes, backup = restorable
    made = edit_today(a, b, notes)
    expected, tags = a.notes, a.tags
    held = a.copy.digest
    put_back(server, backup)

    with pytest.raises(Refused) as refusal:
        a.client.sync({"notes": []}, since=a.token)
    assert (refusal.value.status, refusal.value.slug) == (410, "token-expired")

    settle(a, b)
    for device in (a, b):
        assert device.notes == expected
        assert device.tags == tags
        assert device.note(notes["deleted today"]) is None
        assert device.copy.digest == held
    assert a.note(made["by B"])["attributes"] == {"pinned": True}
    assert server.command("check").returncode == 0


def test_case_24_edits_made_offline_meanwhile(restorable):
    """Unsent words go out with the text they started from, which the restored server does not have."""
    server, a, b, notes, backup = restorable
    made = edit_today(a, b, notes)
    note = made["by B"]
    a.write(note, "made by B\n\nand A, offline")
    b.write(note, "first: made by B")
    put_back(server, backup)
    settle(a, b)
    assert a.text(note) == "first: made by B\n\nand A, offline"
    assert a.note(notes["deleted today"]) is None
    assert server.command("check").returncode == 0


def test_case_24_nothing_of_a_refused_call_is_applied(restorable):
    server, a, b, notes, backup = restorable
    edit_today(a, b, notes)
    put_back(server, backup)
    unsent = a.make_note("not stored with a token that expired")
    push = a.prepare()
    with pytest.raises(Refused) as refusal:
        a.send(push)
    assert refusal.value.slug == "token-expired"
    assert a.client.get(f"/v1/notes/{unsent}").status_code == 404
    a.sync()
    assert a.client.get(f"/v1/notes/{unsent}").status_code == 200
    assert history(a, unsent) == ["not stored with a token that expired"]


def test_case_24_a_device_that_comes_when_the_numbers_have_overtaken_its_token(restorable):
    """The server cannot tell from B's token any more; B can tell from the digests, and gives back what only it has."""
    server, a, b, notes, backup = restorable
    edit_today(a, b, notes)
    alone = b.make_note("only B has this")
    b.sync()
    put_back(server, backup)
    a.sync()
    assert a.note(alone) is None
    for _ in range(30):
        a.write(notes["edited by A"], a.text(notes["edited by A"]) + "!")
        a.sync()
    settle(b, a, repaired=1)
    assert b.repaired == 1
    assert a.text(alone) == "only B has this"
    assert a.note(notes["deleted today"]) is None
