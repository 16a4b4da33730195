"""The ancestors that a pushed text names (merge.md, Descent), and the texts that a deletion has seen (Deleting).

test_cases.py has the cases of merge.md, test_case_restored.py those after a restore.
"""

import json

import pytest
from attachments import some_bytes, upload
from client import Server
from convergence import settle
from database import make_older
from desk import A, B, C, Desk, at
from device import Device
from waiting import wait_until
from wire import Wire
from writer import Writer, deleted, new_id, rescue_of

pytestmark = pytest.mark.both_stores

ROWS = [
    ("Milk", "Milk and br", "Milk and bread"),
    ("keep me", "keep", "keep me"),
    ("x\n", "x\nTodo buy milk\n", "x\n"),
    ("Dear Ann,", "Dear Ann,\nI was in Paris yesterday and", "Dear Ann,\nI was in Rome the other day, and saw"),
]


@pytest.fixture(scope="module")
def clients(server: Server) -> list:
    """Two devices of one account. Each test uses its own notes."""
    first = server.client(device_name="A")
    return [first, first.another_device("B")]


@pytest.fixture
def pair(clients) -> list[Device]:
    """The two devices after their first sync."""
    pair = [Device(client) for client in clients]
    for device in pair:
        device.sync()
    return pair


@pytest.fixture
def writer(clients) -> Writer:
    return Writer(clients[0])


def shared_note(a: Device, b: Device, text: str) -> str:
    note = a.make_note(text)
    a.sync()
    b.sync()
    return note


def meet(*devices: Device) -> None:
    """Syncs all devices until they have converged."""
    for device in (*devices, *devices):
        device.sync()
    for device in devices:
        assert device.is_synced and not device.rejected and not device.repaired
        assert device.notes == devices[0].notes


# Reordered, lost and repeated pushes


@pytest.mark.parametrize(("base", "first", "second"), ROWS)
def test_the_text_written_last_wins_in_either_order_of_pushes(writer, base, first, second):
    """Also with another node, because the device may have signed in again between the two."""
    for node in (A, B):
        desk = Desk(writer, base, at(1))
        desk.push(second, at(3, node), base=at(1), after=[at(2)])
        field = desk.push(first, at(2), base=at(1))
        assert desk.text == second
        assert field["outcome"] == "superseded" and field["clock"] >= at(3, node)
        assert first in desk.history
        # In the order of writing, with the first response lost.
        desk = Desk(writer, base, at(1))
        desk.push(first, at(2), base=at(1))
        assert desk.push(second, at(3, node), base=at(1), after=[at(2)]) == {}
        assert desk.text == second


def test_an_earlier_text_with_a_greater_clock_arrives_late(writer):
    """The device's clock was set back between the two texts."""
    desk = Desk(writer, "a\n", at(1))
    desk.push("a\nfinal\n", at(2), base=at(1), after=[at(8)])
    assert desk.push("a\nfin", at(8), base=at(1))["outcome"] == "superseded"
    assert desk.text == "a\nfinal\n"
    assert desk.writer.state("notes", desk.note)["clocks"]["text"] > at(8)


def test_a_removed_word_with_a_greater_clock(writer):
    desk = Desk(writer, "a b\n", at(1))
    desk.push("a b\nX\n", at(2), base=at(1))
    desk.push("a b\n", at(9, B), base=at(1))
    assert desk.text == "a b\nX\n"
    desk = Desk(writer, "a b\n", at(1))
    desk.push("a b word\n", at(5, B), base=at(1))
    desk.push("a b\nX\n", at(2), base=at(1))
    desk.push("a b\n", at(9, B), base=at(5, B))
    assert desk.text == "a b\nX\n"


def test_repeating_an_old_push_changes_nothing(writer):
    """Even after merges with other texts, and after the words were removed."""
    desk = Desk(writer, "a\n", at(1))
    desk.push("a\nword\n", at(2), base=at(1))
    desk.push("b\na\n", at(3, B), base=at(1))
    before = desk.state
    desk.push("b\na\n", at(9, B), base=desk.writer.state("notes", desk.note)["clocks"]["text"])
    after = desk.state
    assert (before["text"], after["text"]) == ("b\na\nword\n", "b\na\n")
    desk.push("a\nword\n", at(2), base=at(1))
    desk.push("b\na\n", at(3, B), base=at(1))
    assert desk.state == after


def test_a_client_without_text_after(writer):
    """Clients of older versions. Their text descends from the greater of `textBase` and their own latest text."""
    desk = Desk(writer, "one\n\ntwo\n", at(1))
    desk.push("one\n\ntwo\n\nthree\n", at(2), base=at(1), after=None)
    # The response was lost, and the user continued typing from the same base.
    assert desk.push("one\n\ntwo\n\nthree four\n", at(3), base=at(1), after=None) == {}
    desk.push("zero\n\none\n\ntwo\n", at(4, B), base=at(1), after=None)
    assert desk.text == "zero\n\none\n\ntwo\n\nthree four\n"
    # Together with a client that sends `textAfter`.
    current = desk.writer.state("notes", desk.note)["clocks"]["text"]
    desk.push("zero\n\none\n\ntwo\n\nthree four\n\nfive\n", at(5, C), base=current)
    desk.push("zero!\n\none\n\ntwo\n", at(6, B), base=at(4, B), after=None)
    assert desk.text == "zero!\n\none\n\ntwo\n\nthree four\n\nfive\n"
    assert desk.writer.push_one("deletedObjects", deleted(desk.note))["status"] == "applied"


def test_an_unknown_base_with_its_value(writer):
    """B's text descends from a text of C that the server never received. B's clock is greater than that of A's text.

    The ancestors of C's text are unknown, so its words are only in the history, which keeps them forever.
    """
    desk = Desk(writer, "base\n", at(1))
    desk.push("base\nA line\n", at(2), base=at(1))
    field = desk.push("base\nC line\nB line\n", at(9, B), base=at(8, C), value="base\nC line\n")
    assert field["outcome"] == "merged"
    assert sorted(desk.text.split()) == sorted("base A line B line".split())
    assert "base\nC line\n" in desk.history


def test_an_unknown_base_without_its_value(writer):
    """The greater clock wins. The sender of the other text receives all its superseded words."""
    desk = Desk(writer, "a red car\n", at(5))
    field = desk.push("something else", at(2, B))
    assert field["outcome"] == "superseded"
    assert field["superseded"] == [{"text": "something else", "location": 0, "length": 10}]
    assert desk.text == "a red car\n"
    assert desk.push("another thing", at(7, B), base=at(6, C)) == {}
    assert desk.text == "another thing" and "a red car\n" in desk.history


def test_superseded_words_are_returned_with_their_positions(writer):
    """Positions are in UTF-16 code units of the current text. Only the author receives them."""
    desk = Desk(writer, "🚗 a red car\n", at(1))
    assert desk.push("🚗 a green car\n", at(5, B), base=at(1)) == {}
    field = desk.push("🚗 a blue car\n", at(2), base=at(1))
    assert field["superseded"] == [{"text": "blue", "location": 5, "length": 5}]
    assert desk.text == "🚗 a green car\n" and "🚗 a blue car\n" in desk.history


# Devices that follow clients.md


def test_a_push_is_overtaken_by_the_next(pair):
    """Two connections: the first push's body is completed after the response to the second push."""
    a, b = pair
    for base, first, second in ROWS:
        note = shared_note(a, b, base)
        a.write(note, first)
        slow = a.prepare()
        body = json.dumps({"changes": slow.changes(False), "syncToken": a.token}).encode()
        with Wire(int(a.client.url.rpartition(":")[2]), a.client.token) as wire:
            wire.send_head("POST", "/v1/sync", {"Content-Type": "application/json", "Content-Length": str(len(body))})
            wire.send(body[:-20])
            a.write(note, second)
            quick = a.prepare()
            a.receive(quick, a.send(quick))
            wire.send(body[-20:])
            late = wire.response()
        assert late.status == 200
        a.receive(slow, json.loads(late.body))
        meet(a, b)
        assert (a.text(note), b.text(note)) == (second, second)


def check_twenty_texts(a: Device, b: Device, note: str, pushed: list[dict]) -> None:
    """Checks the changes that A pushed for twenty texts, whose responses were lost, and that the last merges with B's edit."""
    clocks_sent = [change["clocks"]["text"] for change in pushed]
    assert clocks_sent[16:] == clocks_sent[15:16] * 4 and len(set(clocks_sent)) == 16
    assert [change["textAfter"] for change in pushed[:16]] == [clocks_sent[:index] for index in range(16)]
    assert pushed[16:] == pushed[15:16] * 4
    b.sync()
    b.write(note, b.text(note) + "B's line\n")
    b.sync()
    meet(a, b)
    assert a.text(note) == "start\nline 19\nB's line\n"
    # The delayed pushes arrive.
    for change in pushed:
        a.client.sync({"notes": [change]})
    meet(a, b)
    assert a.text(note) == "start\nline 19\nB's line\n"


def test_twenty_texts_in_flight(pair):
    """At most 16 texts are in flight. Then the 16th is sent again until it is acknowledged."""
    a, b = pair
    note = shared_note(a, b, "start\n")
    pushed = []
    for index in range(20):
        a.write(note, f"start\nline {index}\n")
        push = a.prepare()
        pushed.append(push.changes(False)["notes"][0])
        if index % 3:
            a.send(push)  # the response is lost
    check_twenty_texts(a, b, note, pushed)


def test_responses_out_of_order(pair):
    """The response to an earlier push does not become the base of a later text."""
    a, b = pair
    note = shared_note(a, b, "start\n")
    pushes = []
    for line in ("one", "one two", "one two three"):
        a.write(note, f"start\n{line}\n")
        pushes.append(a.prepare())
    answers = [a.send(push) for push in pushes]
    a.write(note, "start\none two three four\n")
    for index in (1, 0, 2):
        a.receive(pushes[index], answers[index])
    meet(a, b)
    assert b.text(note) == "start\none two three four\n"


def test_registers_that_arrive_before_their_note(clients):
    """A pushes registers of a note without `creationDate`. B pushes the date and receives the note with A's registers."""
    a, b = (Writer(client) for client in clients)
    token = b.push()["syncToken"]
    note, tag = new_id(), a.tag(new_id())
    a.push(tags=[tag], notes=[a.edit(note, text="A's words", archived=True, tags={tag["uniqueID"]: True})])
    token = b.push(since=token)["syncToken"]
    answer = b.push(since=token, notes=[{"uniqueID": note, "creationDate": "2024-01-02T03:04:05.000Z"}])
    [state] = [state for state in answer["changes"]["notes"] if state["uniqueID"] == note]
    assert (state["text"], state["archived"], state["tags"]) == ("A's words", True, [tag["uniqueID"]])
    assert b.push(since=answer["syncToken"])["digest"] == answer["digest"]
    assert note in [each["uniqueID"] for each in a.client.read_all()[0]["notes"]]


# Deleting texts that were not seen


def test_texts_that_the_deleting_device_has_seen_are_not_rescued(pair):
    """All current words were seen: in the other device's text or in its own texts, unsent, in flight or merged."""
    a, b = pair

    def delete(note: str) -> None:
        a.delete(note)
        a.sync()
        result = next(result for result in a.receipts if result["uniqueID"] == note)
        assert result["status"] == "applied" and "rescuedInto" not in result
        meet(a, b)
        assert rescue_of(note) not in a.notes and note not in a.notes
        assert not b.rescued.get(note)

    delete(shared_note(a, b, "read by both\n"))
    # B removed words, which A has not seen.
    note = shared_note(a, b, "read by both\nand more\n")
    b.write(note, "read by both\n")
    b.sync()
    delete(note)
    # A's own words, whose response was lost.
    note = shared_note(a, b, "old\n")
    a.write(note, "old\nA's own\n")
    a.sync(lose_response=True)
    delete(note)
    # The same after signing in again.
    note = shared_note(a, b, "old\n")
    a.write(note, "old\nA's own\n")
    a.sync(lose_response=True)
    former = a.client.device["uniqueID"]
    a.sign_in_again()
    assert a.client.device["uniqueID"] != former
    delete(note)
    # A note without text, and a note unknown to the server.
    note = a.make("note", None, {"creationDate": "2024-01-02T03:04:05.000Z"})
    meet(a, b)
    delete(note)
    delete(a.make_note("made and deleted offline"))


def test_the_content_of_a_deletion(pair):
    a, b = pair
    note = shared_note(a, b, "old\n")
    seen = a.copy.objects[note].clock("text")
    sent = a.write(note, "old\nA's own\n")
    a.sync(lose_response=True)
    a.write(note, "old\nA's own, and unsent\n")
    a.delete(note)
    [deletion] = a.prepare().changes(False)["deletedObjects"]
    assert deletion == deleted(note, textSeen=seen, textAfter=[sent])
    a.sync()
    tag = a.make_tag(new_id())
    a.delete(tag)
    [deletion] = a.prepare().changes(False)["deletedObjects"]
    assert deletion == deleted(tag, "tag")
    meet(a, b)


def test_a_repeated_deletion_rescues_nothing(pair):
    """A deletion without `textSeen` rescues nothing either. A repeated push does not rescue twice."""
    a, b = pair
    note, other = shared_note(a, b, "old\n"), shared_note(a, b, "old\n")
    before = len(a.notes)
    for each in (note, other):
        b.write(each, "old\nB's words\n")
    b.sync()
    a.delete(note)
    a.sync(lose_response=True)
    a.sync()
    [result] = [result for result in a.receipts if result["uniqueID"] == note]
    assert result["status"] == "unchanged"
    assert b.client.sync({"deletedObjects": [deleted(note, textSeen="")]})["results"][0]["status"] == "unchanged"
    assert a.client.sync({"deletedObjects": [deleted(other)]})["results"][0]["status"] == "applied"
    meet(a, b)
    assert len(a.notes) == before - 1 and a.text(rescue_of(note)) == "old\nB's words\n"
    assert a.copy.deleted[note]["rescuedInto"] == b.copy.deleted[note]["rescuedInto"] == rescue_of(note)
    # A device that has read the rescued note can delete it.
    a.delete(rescue_of(note))
    a.sync()
    meet(a, b)
    assert rescue_of(note) not in a.notes


def test_unsent_text_of_a_rescued_note(devices):
    """It becomes an edit of the new note, with its original base. No line is lost or duplicated."""
    a, b, c = devices(3)
    note = a.make_note("old\n")
    for device in (a, b, c):
        device.sync()
    b.write(note, "old\nB's line\n")
    b.sync()
    c.write(note, "C's line\nold\n")
    a.delete(note)
    a.sync()
    assert a.receipts[0]["status"] == "rescued" and a.receipts[0]["rescuedInto"] == rescue_of(note)
    settle(c, b, a)
    assert c.moved == {note: rescue_of(note)} and not c.rescued
    for device in (a, b, c):
        assert list(device.notes) == [rescue_of(note)]
        assert sorted(device.text(rescue_of(note)).splitlines()) == ["B's line", "C's line", "old"]


def test_unsent_text_of_a_rescued_note_that_was_deleted(pair):
    """It goes into another new note, because nothing was rescued of the deleted rescue note."""
    a, b = pair
    note = shared_note(a, b, "old\n")
    b.write(note, "old\nB's line\n")
    b.sync()
    b.write(note, "old\nB's line\nB, unsent\n")
    a.delete(note)
    a.sync()
    a.delete(rescue_of(note))
    a.sync()
    meet(b, a)
    texts = [shown["text"] for shown in a.notes.values()]
    assert texts.count("old\nB's line\nB, unsent\n") == 1
    assert note not in a.notes and rescue_of(note) not in a.notes


def test_a_picture_that_moved_to_another_note_is_not_rescued(pair):
    """The move is in the same push as the deletion. The other picture is rescued with the note."""
    a, b = pair
    note, other = shared_note(a, b, "old\n"), shared_note(a, b, "other\n")
    moved, stays = (upload(a.client, some_bytes(100, seed)) for seed in (1, 2))
    for picture in (moved, stays):
        a.make("attachment", picture, {"mimeType": "image/png"})
        a.edit(note, f"attachments.{picture}", True)
    meet(a, b)
    b.write(note, "old\nB's words\n")
    b.sync()
    a.edit(other, f"attachments.{moved}", True)
    a.delete(note)
    a.sync()
    meet(a, b)
    assert a.note(other)["attachments"] == [moved]
    assert a.note(rescue_of(note))["attachments"] == [stays]
    assert a.text(rescue_of(note)) == "old\nB's words\n"


def test_an_invalid_deletion_is_not_applied(writer):
    """test_deleted_objects.py lists the invalid fields. The rest of the push is applied."""
    note, gone = writer.note(text="stays"), writer.note(text="goes")
    writer.push(notes=[note, gone])
    good = writer.note(text="valid")
    bad = deleted(note["uniqueID"], textSeen="", textAfter=[at(1), "x"])
    answer = writer.push(notes=[good], deletedObjects=[bad, deleted(gone["uniqueID"])])
    assert [result["status"] for result in answer["results"]] == ["applied", "rejected", "applied"]
    for each, status in ((note, 200), (good, 200), (gone, 410)):
        assert writer.client.get(f"/v1/notes/{each['uniqueID']}").status_code == status


# Thinning


def test_texts_with_superseded_words_are_kept_forever(fresh_server):
    """After conflicts, writes without `If-Match`, and unknown bases. Other texts are removed by thinning."""
    a = Writer(fresh_server.client())
    b = Writer(a.client.another_device())
    plain = Desk(a, "A's line\n", at(1))
    path = f"/v1/notes/{plain.note}"
    read = a.client.get(path)
    for time_, text in enumerate(["A's line\nB\n", "A's line\nB's li\n", "A's line\nB's line\n"], 2):
        plain.push(text, at(time_, B), base=at(time_ - 1, A if time_ == 2 else B))
    refused = a.client.patch(path, {"text": "A's line, mended\n"}, headers={"If-Match": read.headers["ETag"]})
    assert (refused.status_code, refused.json()["slug"]) == (412, "precondition-failed")
    assert plain.text == "A's line\nB's line\n"
    assert a.client.patch(path, {"text": "A's line, mended\n"}).status_code == 200
    assert plain.text == "A's line, mended\n"
    # With `If-Match`, only text that was read is replaced.
    read = a.client.get(path)
    assert a.client.patch(path, {"text": "A's line\n"}, headers={"If-Match": read.headers["ETag"]}).status_code == 200
    current = a.state("notes", plain.note)["clocks"]["text"]
    plain.push("A's line\nB's last\n", at(9, B), base=current)

    contest = Desk(a, "the re\n", at(1))
    contest.push("the red door\n", at(2), base=at(1))
    contest.push("the green door\n", at(5, B), base=at(2))
    contest.push("the blue door\n", at(3, C), base=at(2))
    current = a.state("notes", contest.note)["clocks"]["text"]
    contest.push("the green gate\n", at(6, C), base=current)

    unknown = Desk(a, "base\n", at(1))
    unknown.push("base\nA line\n", at(2), base=at(1))
    unknown.push("base\nC line\nB line\n", at(9, B), base=at(8, C), value="base\nC line\n")
    current = a.state("notes", unknown.note)["clocks"]["text"]
    unknown.push("base\nA line\nB line\nlast of C\n", at(10, C), base=current)
    # A deletion with `If-Match` deletes only what was read.
    read = a.client.get(path)
    b.push_one("notes", b.edit(plain.note, archived=True))
    assert a.client.delete(path, headers={"If-Match": read.headers["ETag"]}).status_code == 412

    fresh_server.stop()
    make_older(fresh_server, 40)
    fresh_server.start()
    wait_until(lambda: all(None in desk.history for desk in (plain, contest, unknown)), pause=0.5)
    for desk, kept, dropped in [
        (plain, "A's line\nB's line\n", ["A's line\nB's li\n", "A's line, mended\n"]),
        (contest, "the blue door\n", ["the re\n"]),
        (unknown, "base\nC line\n", ["base\n"]),
    ]:
        assert kept in desk.history and not set(dropped) & set(desk.history), desk.history
    assert fresh_server.command("check").returncode == 0
