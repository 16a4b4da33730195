"""Cases 24 and 36 of merge.md: a server is restored from last night's backup. Devices send what it lacks, so nothing is lost."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from client import ErrorResponse, Server
from convergence import history, settle
from database import Backup, query
from desk import B, C, Desk, at
from device import Device
from writer import Writer, rescue_of

pytestmark = pytest.mark.both_stores


def replace_data(server, backup) -> None:
    """Replaces the server's files by the backup, as an operator without `hesper restore` would."""
    server.stop()
    backup.copy_back(server)
    server.start()


@pytest.fixture
def restorable(fresh_server, tmp_path, pair_on):
    """A server with two devices, and a backup of the state that both had synced."""
    a, b = pair_on(fresh_server)
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
    # The server also merges two texts. Its own edits must be restored as well.
    a.write(made["by A"], "made by A\n\nA went on")
    b.write(made["by A"], "B began, made by A")
    settle(a, b)
    return made


def test_case_24_restored_from_last_nights_backup(restorable):
    server, a, b, notes, backup = restorable
    made = edit_today(a, b, notes)
    expected, tags = a.notes, a.tags
    held = a.copy.digest
    replace_data(server, backup)

    with pytest.raises(ErrorResponse) as refusal:
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


@pytest.mark.thorough
def test_case_24_edits_made_offline_meanwhile(restorable):
    """Unsent text is sent with the value of its base, which the restored server lacks."""
    server, a, b, notes, backup = restorable
    made = edit_today(a, b, notes)
    note = made["by B"]
    a.write(note, "made by B\n\nand A, offline")
    b.write(note, "first: made by B")
    replace_data(server, backup)
    settle(a, b)
    assert a.text(note) == "first: made by B\n\nand A, offline"
    assert a.note(notes["deleted today"]) is None
    assert server.command("check").returncode == 0


def test_case_24_a_push_with_an_expired_token_is_not_applied(restorable):
    server, a, b, notes, backup = restorable
    edit_today(a, b, notes)
    replace_data(server, backup)
    unsent = a.make_note("not stored with a token that expired")
    push = a.prepare()
    with pytest.raises(ErrorResponse) as refusal:
        a.send(push)
    assert refusal.value.slug == "token-expired"
    assert a.client.get(f"/v1/notes/{unsent}").status_code == 404
    a.sync()
    assert a.client.get(f"/v1/notes/{unsent}").status_code == 200
    assert history(a, unsent) == ["not stored with a token that expired"]


def test_case_24_a_token_that_the_restored_sequence_has_passed(restorable):
    """The server cannot recognize B's token as expired. B detects the difference by the digests and sends what only it has."""
    server, a, b, notes, backup = restorable
    edit_today(a, b, notes)
    alone = b.make_note("only B has this")
    b.sync()
    replace_data(server, backup)
    a.sync()
    assert a.note(alone) is None
    for _ in range(30):
        a.write(notes["edited by A"], a.text(notes["edited by A"]) + "!")
        a.sync()
    settle(b, a, repaired=1)
    assert b.repaired == 1
    assert a.text(alone) == "only B has this"
    assert a.note(notes["deleted today"]) is None


# Restored with `hesper restore`: the server knows that it was restored, and its state at that moment.


@dataclass
class Pair:
    """Two devices of one account. Both had the note when the backup was made."""

    a: Device
    b: Device
    note: str


@dataclass
class Restored:
    server: Server
    pairs: dict[str, Pair]
    writer: Writer
    desks: dict[str, Desk]


PAIRS = ["A first", "B first", "typed on", "rescued"]
DESKS = {"generations in order": "Dear Ann,", "generations, the last first": "Dear Ann,", "base late": "x\n"}
DESKS |= {"base late, its value first": "x\n", "only merged": "a\n", "early clock": "a\n", "unknown base": "base\n"}
GENERATIONS = ["Dear Ann,\nI was in Paris yesterday and", "Dear Ann,\nI was in Rome the other day, and saw"]


def back_up(server: Server, folder: Path) -> Callable[[], None]:
    """Backs up the server. Returns a function that restores the backup."""
    if not server.database:
        assert server.command("backup", str(folder)).returncode == 0

        def restore() -> None:
            shutil.rmtree(server.data)
            done = server.command("restore", str(folder))
            assert done.returncode == 0, done.stderr

        return restore
    server.stop()
    backup = Backup.make(server, folder)
    server.start()

    def restore_dump() -> None:
        backup.copy_back(server)
        query(server, "", "UPDATE installation SET epoch = epoch + 1")
        query(server, "", "UPDATE scopes SET restored_sequence = sequence")
        query(server, "", "DELETE FROM devices")

    return restore_dump


@pytest.fixture(scope="module")
def restored(tmp_path_factory: pytest.TempPathFactory, pair_on: Callable[[Server], list[Device]]) -> Iterator[Restored]:
    """One server for all schedules. Each schedule has its own note or account."""
    with Server() as server:
        pairs = {name: make_pair(*pair_on(server)) for name in PAIRS}
        writer = Writer(server.client())
        desks = {name: Desk(writer, text, at(1)) for name, text in DESKS.items()}
        desks["only merged"].push("a\nOther's line\n", at(2, B), base=at(1))
        restore = back_up(server, tmp_path_factory.mktemp("backup") / "backup")
        for pair in pairs.values():
            pair.a.write(pair.note, "base\nA's line\n")
            pair.a.sync()
        pairs["rescued"].b.delete(pairs["rescued"].note)
        pairs["rescued"].b.sync()
        pairs["rescued"].a.sync()
        server.stop()
        restore()
        server.start()
        for pair in pairs.values():
            for device in (pair.a, pair.b):
                assert device.client.get("/v1/account").status_code == 401
                device.sign_in_again()
        writer.client.sign_in(writer.client.email)
        yield Restored(server, pairs, writer, desks)


def make_pair(a: Device, b: Device) -> Pair:
    note = a.make_note("base\n")
    settle(a, b)
    return Pair(a, b, note)


@pytest.mark.parametrize("first", ["A first", "B first"])
def test_case_36_a_line_pushed_after_the_backup(restored, first):
    """B, which never saw the line, edits the note. Also when B's text has the greater clock and is pushed first."""
    pair = restored.pairs[first]
    pair.b.write(pair.note, "base\nB's line\n")
    settle(*((pair.a, pair.b) if first == "A first" else (pair.b, pair.a)))
    for device in (pair.a, pair.b):
        assert device.text(pair.note) == "base\nA's line\nB's line\n"


def test_unsent_text_based_on_a_text_that_the_restored_server_lacks(restored):
    """A continues a text that the restored server lacks. B syncs first."""
    pair = restored.pairs["typed on"]
    pair.a.write(pair.note, "base\nA's line, longer\n")
    pair.b.write(pair.note, "B's line\nbase\n")
    settle(pair.b, pair.a)
    assert pair.b.text(pair.note) == "B's line\nbase\nA's line, longer\n"


def test_a_rescue_is_restored(restored):
    """The DeletedObject again refers to the rescue note, which exists once."""
    a, b, note = restored.pairs["rescued"].a, restored.pairs["rescued"].b, restored.pairs["rescued"].note
    settle(b, a)
    for device in (a, b):
        assert {key: shown["text"] for key, shown in device.notes.items()} == {rescue_of(note): "base\nA's line\n"}
        assert device.copy.deleted[note]["rescuedInto"] == rescue_of(note)
        assert not device.rescued and not device.moved
    [gone] = a.client.read_all()[0]["deletedObjects"]
    assert gone["rescuedInto"] == rescue_of(note)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_two_versions_are_restored(restored, order):
    """The text written last wins in either order. Both versions are recognized when they are sent again."""
    desk = restored.desks["generations in order" if order == [0, 1] else "generations, the last first"]
    for index in [*order, *order]:
        desk.give_back(GENERATIONS[index], at(2 + index))
    assert desk.text == GENERATIONS[1]
    assert set(desk.history) >= set(GENERATIONS)


@pytest.mark.parametrize("value", [None, "x\none\n"])
def test_a_base_is_restored_after_its_descendant(restored, value):
    desk = restored.desks["base late, its value first" if value else "base late"]
    desk.push("x\none two\n", at(4, B), base=at(3), value=value)
    desk.give_back("x\none\n", at(3))
    assert desk.text == "x\none two\n"


def test_a_text_that_was_merged_but_never_current(restored):
    """It is sent with its original base, not as a text that had been current."""
    desk = restored.desks["only merged"]
    desk.push("a\nmine\n", at(3), base=at(1))
    assert desk.text == "a\nOther's line\nmine\n"


def test_a_restored_text_with_a_clock_from_before_the_restore(restored):
    desk = restored.desks["early clock"]
    desk.push("a\nb\n", at(6), base=at(1))
    desk.give_back("a\nb\nearly clock\n", at(3, B))
    assert "early clock\n" in desk.text and desk.text.startswith("a\n")


def test_a_base_unknown_to_the_restored_server(restored):
    """The base's value is sent with the text and restores the base."""
    desk = restored.desks["unknown base"]
    desk.push("base\nA line\n", at(2), base=at(1))
    field = desk.push("base\nC line\nB line\n", at(9, B), base=at(8, C), value="base\nC line\n")
    assert field["outcome"] == "merged"
    assert sorted(desk.text.splitlines()) == ["A line", "B line", "C line", "base"]


def test_the_restored_database_is_consistent(restored):
    assert restored.server.command("check").stdout.endswith(": no problems found.\n")


def cut(log: Path) -> None:
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size // 2)


def flip(log: Path) -> None:
    with log.open("r+b") as file:
        file.seek(log.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 1]))


@pytest.mark.parametrize("damage", [cut, *(pytest.param(each, marks=pytest.mark.thorough) for each in (flip, Path.unlink))], ids=["cut", "flipped", "removed"])
def test_a_damaged_write_ahead_log(restorable, damage):
    """The database is consistent but from an earlier moment. Devices send what it lacks."""
    if Server.store is not None:
        pytest.skip("PostgreSQL keeps its log itself")
    server, a, b, notes, _ = restorable
    made = edit_today(a, b, notes)
    expected, held = a.notes, a.copy.digest
    server.kill()
    log = server.data / "hesper.sqlite-wal"
    assert log.stat().st_size > 100_000
    damage(log)
    assert server.command("check").returncode == 0
    server.start()

    with pytest.raises(ErrorResponse) as refusal:
        a.client.sync({"notes": []}, since=a.token)
    assert (refusal.value.status, refusal.value.slug) == (410, "token-expired")
    settle(a, b)
    for device in (a, b):
        assert device.notes == expected
        assert device.note(notes["deleted today"]) is None
        assert device.copy.digest == held
    assert a.note(made["by B"])["attributes"] == {"pinned": True}
    assert server.command("check").returncode == 0
