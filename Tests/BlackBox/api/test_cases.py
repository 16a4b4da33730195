"""The cases of merge.md over HTTP, with devices that follow clients.md. Test names contain the case's number."""

import uuid

import clocks
import pytest
from attachments import upload
from client import ErrorResponse
from convergence import check_same, history, settle
from device import Device
from writer import rescue_of

pytestmark = [pytest.mark.both_stores, pytest.mark.long]

YEAR = 365 * 24 * 3_600_000
IN_EITHER_ORDER = pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["A pushes first", "B pushes first"])


def shared_note(a: Device, b: Device, text: str = "Milk", tags: list[str] = ()) -> str:
    """Creates a note that both devices have."""
    note = a.make_note(text, tags=tags)
    a.sync()
    b.sync()
    assert b.text(note) == text
    return note


def sync_in(order: tuple[int, int], pair: list[Device]) -> None:
    for index in order:
        pair[index].sync()


def receipt(device: Device, unique_id: str) -> dict:
    return next(result for result in device.receipts if result["uniqueID"] == unique_id)


def test_edits_of_different_fields_do_not_conflict(pair):
    """The example of CouchDB's documentation: two devices change different fields of one document."""
    phone, laptop = pair
    card = phone.make_object("contact", name="Ada", mobile="1", work="1")
    settle(*pair)
    phone.edit(card, "attributes.mobile", "2")
    laptop.edit(card, "attributes.work", "3")
    phone.sync()
    laptop.sync()
    assert [receipt(device, card)["status"] for device in pair] == ["applied", "applied"]
    settle(*pair)
    for device in pair:
        entity = device.copy.objects[card]
        assert [entity.value(f"attributes.{name}") for name in ("name", "mobile", "work")] == ["Ada", "2", "3"]
        assert not device.rejected


def test_case_01_archived_and_edited(pair):
    a, b = pair
    note = shared_note(a, b)
    b.write(note, "Milk and bread")
    b.sync()
    a.archive(note)
    a.sync()  # the response contains B's text
    assert (a.note(note)["archived"], a.text(note)) == (True, "Milk and bread")
    assert receipt(a, note)["status"] == "applied"
    settle(*pair)
    assert (b.note(note)["archived"], b.text(note)) == (True, "Milk and bread")


@IN_EITHER_ORDER
def test_case_02_two_tags_added(pair, order):
    a, b = pair
    x, y = a.make_tag("x"), a.make_tag("y")
    note = shared_note(a, b)
    a.tag(note, x)
    b.tag(note, y)
    sync_in(order, pair)
    settle(*pair)
    assert set(a.note(note)["tags"]) == {x, y}


@IN_EITHER_ORDER
def test_case_03_one_tag_is_removed_and_another_added(pair, order):
    a, b = pair
    x, y = a.make_tag("x"), a.make_tag("y")
    note = shared_note(a, b, tags=[x])
    a.untag(note, x)
    b.tag(note, y)
    sync_in(order, pair)
    settle(*pair)
    assert a.note(note)["tags"] == [y]


@IN_EITHER_ORDER
def test_case_04_a_tag_is_removed_and_later_added_again(pair, order):
    a, b = pair
    x = a.make_tag("x")
    note = shared_note(a, b, tags=[x])
    removed = a.untag(note, x)
    b.clock.greatest = max(b.clock.greatest, removed)  # so that B's clock is greater than A's
    b.tag(note, x)
    sync_in(order, pair)
    settle(*pair)
    assert b.note(note)["tags"] == [x]


@IN_EITHER_ORDER
def test_case_05_two_paragraphs_are_edited(pair, order):
    a, b = pair
    note = shared_note(a, b, "one\n\ntwo\n\nthree\n")
    a.write(note, "ONE\n\ntwo\n\nthree\n")
    b.write(note, "one\n\ntwo\n\nTHREE\n")
    sync_in(order, pair)
    settle(*pair)
    assert a.text(note) == "ONE\n\ntwo\n\nTHREE\n"


@IN_EITHER_ORDER
def test_case_05_two_words_of_a_paragraph_that_one_device_moves(pair, order):
    """An empty line inserted above a paragraph does not make it a new paragraph, which would be duplicated."""
    a, b = pair
    fox = "The {} brown fox jumps over the {} dog today."
    note = shared_note(a, b, f"top\n{fox.format('quick', 'lazy')}\n\nend one\n")
    a.write(note, f"top\n\n{fox.format('slow', 'lazy')}\n\nend two\n")
    b.write(note, f"top\n{fox.format('quick', 'busy')}\n\nend one\n")
    sync_in(order, pair)
    settle(*pair)
    assert a.text(note) == f"top\n\n{fox.format('slow', 'busy')}\n\nend two\n"


@IN_EITHER_ORDER
def test_case_06_two_lines_are_appended(pair, order):
    a, b = pair
    note = shared_note(a, b, "list\n")
    older = a.write(note, "list\nmilk\n")
    b.clock.greatest = max(b.clock.greatest, older)
    b.write(note, "list\nbread\n")
    sync_in(order, pair)
    settle(*pair)
    assert a.text(note) == "list\nmilk\nbread\n"


@IN_EITHER_ORDER
def test_case_07_the_same_line_is_appended_twice(pair, order):
    a, b = pair
    note = shared_note(a, b, "list\n")
    a.write(note, "list\nmilk\n")
    b.write(note, "list\nmilk\n")
    sync_in(order, pair)
    settle(*pair)
    assert a.text(note) == "list\nmilk\n"


@IN_EITHER_ORDER
def test_case_08_one_word_is_replaced_twice(pair, order):
    a, b = pair
    note = shared_note(a, b, "the red door")
    older = a.write(note, "the blue door")
    b.clock.greatest = max(b.clock.greatest, older)
    b.write(note, "the green door")
    sync_in(order, pair)
    settle(*pair)
    assert a.text(note) == "the green door"
    assert "the blue door" in history(a, note)


@IN_EITHER_ORDER
def test_case_08_after_a_merge_one_word_is_replaced_twice(devices, order):
    """C's push causes a merge first. The merged text ranks by the clocks of the texts that it was merged from."""
    a, b, c = devices(3)
    note = shared_note(a, b, "the red door\n\nend\n")
    c.sync()
    older = a.write(note, "the blue door\n\nend\n")
    c.clock.greatest = max(c.clock.greatest, older)
    c_clock = c.write(note, "the red door\n\nend\n\nP.S.\n")
    b.clock.greatest = max(b.clock.greatest, c_clock)
    b.write(note, "the green door\n\nend\n")
    c.sync()
    sync_in(order, [a, b])
    settle(a, b, c)
    assert a.text(note) == "the green door\n\nend\n\nP.S.\n"
    assert "the blue door\n\nend\n" in history(a, note)


@IN_EITHER_ORDER
def test_case_09_a_paragraph_is_deleted_and_edited(pair, order):
    a, b = pair
    note = shared_note(a, b, "keep\n\nThis sentense has one mistake.\n\nkeep too\n")
    a.write(note, "keep\n\nkeep too\n")
    b.write(note, "keep\n\nThis sentence has one mistake.\n\nkeep too\n")
    sync_in(order, pair)
    settle(*pair)
    assert "This sentence has one mistake." in a.text(note)
    assert a.text(note).startswith("keep\n\n") and a.text(note).endswith("keep too\n")


@IN_EITHER_ORDER
def test_case_10_an_unknown_base(pair, order):
    a, b = pair
    note = b.make_note("the first text")
    b.sync()
    a.sync()
    older = a.edit(note, "text", "the blue text")
    # A's base is not in the bag, and there is no earlier text of A.
    a.unsent[note, "text"].base = clocks.clock(clocks.wall() - YEAR, 0, "00000000000000aa")
    b.clock.greatest = max(b.clock.greatest, older)
    b.write(note, "the green text")
    sync_in(order, pair)
    settle(*pair)
    assert a.text(note) == "the green text"
    assert "the blue text" in history(a, note)


def test_case_11_deleted_and_edited(pair):
    a, b = pair
    tag = a.make_tag("kept")
    note = shared_note(a, b, tags=[tag])
    a.delete(note)
    a.sync()
    b.write(note, "Milk, and words that nobody else has")
    b.sync()
    assert receipt(b, note)["status"] == "deleted"
    settle(*pair)
    rescued = b.rescued[note]
    assert rescued == str(uuid.uuid5(uuid.UUID(note), "Milk, and words that nobody else has"))
    for device in pair:
        assert device.note(note) is None
        assert device.text(rescued) == "Milk, and words that nobody else has"
        assert device.note(rescued)["tags"] == [tag]
    assert "Milk, and words that nobody else has" in history(a, note)


def test_case_11_two_devices_rescue_the_same_text_into_one_note(devices):
    a, b, c = devices(3)
    note = shared_note(a, b)
    c.sync()
    a.delete(note)
    a.sync()
    for device in (b, c):
        device.write(note, "the same words")
    settle(b, c, a)
    assert len(a.notes) == 1
    assert a.text(b.rescued[note]) == "the same words"


@IN_EITHER_ORDER
def test_case_12_a_note_is_deleted_twice(pair, order):
    a, b = pair
    note = shared_note(a, b)
    a.delete(note)
    b.delete(note)
    statuses = []
    for index in order:
        pair[index].sync()
        statuses.append(receipt(pair[index], note)["status"])
    assert statuses == ["applied", "unchanged"]
    settle(*pair)
    assert list(a.copy.deleted) == [note]


@IN_EITHER_ORDER
def test_case_13_two_tags_with_one_name(pair, order):
    a, b = pair
    one, other = a.make_tag("Paris"), b.make_tag("paris")
    survivor, loser = min(one, other), max(one, other)
    note_a, note_b = a.make_note("a", tags=[one]), b.make_note("b", tags=[other])
    sync_in(order, pair)
    settle(*pair)
    for device in pair:
        assert list(device.tags) == [survivor]
        assert device.note(note_a)["tags"] == device.note(note_b)["tags"] == [survivor]
        assert device.copy.deleted[loser]["mergedInto"] == survivor


@IN_EITHER_ORDER
def test_case_14_a_tag_is_renamed_and_added(pair, order):
    a, b = pair
    tag = a.make_tag("foo")
    note = shared_note(a, b)
    a.rename(tag, "Foo")
    b.tag(note, tag)
    sync_in(order, pair)
    settle(*pair)
    for device in pair:
        assert device.tags == {tag: "Foo"}
        assert device.note(note)["tags"] == [tag]


@IN_EITHER_ORDER
def test_case_15_two_tags_are_renamed_to_one_name(pair, order):
    a, b = pair
    car, bike = a.make_tag("car"), a.make_tag("bike")
    first = a.make_note("first", tags=[car])
    second = a.make_note("second", tags=[bike])
    settle(*pair)
    a.rename(car, "auto")
    b.rename(bike, "Auto")
    sync_in(order, pair)
    settle(*pair)
    survivor = min(car, bike)
    for device in pair:
        assert list(device.tags) == [survivor]
        assert device.note(first)["tags"] == device.note(second)["tags"] == [survivor]


@IN_EITHER_ORDER
def test_case_16_a_tag_is_deleted_and_added(pair, order):
    a, b = pair
    x, y = a.make_tag("x"), a.make_tag("y")
    note = shared_note(a, b, tags=[y])
    before = a.note(note)
    a.delete(x)
    b.tag(note, x)
    sync_in(order, pair)
    settle(*pair)
    for device in pair:
        assert device.note(note) == before
        assert x not in device.tags


def test_case_17_a_push_is_repeated_after_a_lost_response(pair):
    a, b = pair
    tag = a.make_tag("x")
    note = a.make_note("Milk", tags=[tag], pinned=True)
    a.sync(lose_response=True)
    b.sync()
    assert b.text(note) == "Milk"
    a.sync()
    assert {result["uniqueID"]: result["status"] for result in a.receipts} == {tag: "unchanged", note: "unchanged"}
    settle(*pair)
    assert len(a.notes) == len(a.tags) == 1
    assert history(a, note) == ["Milk"]


def test_case_18_a_clock_a_year_ahead(pair):
    a, b = pair
    note = shared_note(a, b)
    ahead = Device(a.client, wall=lambda: clocks.wall() + YEAR)
    ahead.copy = a.copy  # the same device after its wall clock was set wrong
    ahead.token = a.token
    ahead.write(note, "A, a year ahead")
    b.sync()
    ahead.sync()
    assert ahead.restamps == 1
    assert ahead.text(note) == "A, a year ahead"
    b.sync()
    b.write(note, "B's later edit wins")
    settle(b, ahead)
    assert ahead.text(note) == "B's later edit wins"
    year = clocks.date(clocks.wall() + 600_000)
    assert all(clock < year for _, _, registers in contents_of(b) for _, clock in registers.values())


def contents_of(device: Device) -> list:
    return [(entity.type, entity.fixed, entity.registers) for entity in device.copy.objects.values()]


def test_case_19_a_clock_a_year_behind(pair):
    a, b = pair
    behind = Device(a.client, wall=lambda: clocks.wall() - YEAR)
    note = b.make_note("B's edit")
    b.sync()
    behind.sync()
    behind.write(note, "A's edit, after seeing B's")
    behind.archive(note)
    settle(behind, b)
    assert b.text(note) == "A's edit, after seeing B's"
    assert b.note(note)["archived"]


def test_case_20_three_years_offline(pair):
    a, b = pair
    note, other = shared_note(a, b), shared_note(a, b, "stays")
    b.delete(note)
    b.sync()
    a.last_sync = clocks.wall() - 3 * YEAR
    a.sync()
    assert set(a.notes) == {other}
    settle(*pair)
    assert not a.rescued  # it had no unsent text


def test_case_22_an_attribute_unknown_to_the_other_client(pair):
    a, b = pair
    note = shared_note(a, b)
    a.edit(note, "attributes.pinned", True)
    b.write(note, "Milk and bread")
    settle(*pair)
    assert b.text(note) == "Milk and bread"
    assert a.note(note)["attributes"] == {"pinned": True}
    # A PUT on the resource route that omits the attribute does not remove it.
    assert b.client.put(f"/v1/notes/{note}", {"text": "Oats"}).json()["attributes"] == {"pinned": True}
    settle(*pair)
    assert (a.text(note), a.note(note)["attributes"]) == ("Oats", {"pinned": True})


def test_case_25_a_text_is_continued_after_a_lost_response(pair):
    a, b = pair
    note = shared_note(a, b, "start\n")
    a.write(note, "start\nA's sentence.\n")
    a.sync(lose_response=True)
    b.sync()
    b.write(note, b.text(note) + "\nB's paragraph.\n")
    b.sync()
    a.write(note, "start\nA's sentence. And more.\n")
    settle(*pair)
    text = a.text(note)
    assert text.count("A's sentence.") == text.count("And more.") == text.count("B's paragraph.") == 1
    assert text.count("start") == 1


def test_case_26_a_word_is_typed_and_removed(pair):
    a, b = pair
    note = shared_note(a, b, "base\n")
    early = b.write(note, "base\nB's line\n")
    a.clock.greatest = max(a.clock.greatest, early)
    a.write(note, "base word\n")
    a.sync()
    late = a.write(note, "base\n")
    a.sync()
    assert early < late
    settle(b, a)
    assert a.text(note) == "base\nB's line\n"


def test_case_27_a_lost_response_and_a_later_edit_of_the_other_device(pair):
    a, b = pair
    note = shared_note(a, b)
    a.archive(note)
    a.sync(lose_response=True)
    b.sync()
    assert b.note(note)["archived"]
    clock = b.archive(note, False)
    b.sync()
    answer = a.client.sync(a.prepare().changes(False), since=a.token)
    [result] = answer["results"]
    assert (result["status"], result["fields"]) == ("merged", {"archived": {"outcome": "superseded", "clock": clock}})
    assert [(state["uniqueID"], state["archived"]) for state in answer["changes"]["notes"]] == [(note, False)]
    settle(*pair)
    assert not a.note(note)["archived"] and not b.note(note)["archived"]


def test_case_28_a_tag_is_deleted_and_created_again_in_one_push(pair):
    a, b = pair
    old = a.make_tag("Paris")
    settle(*pair)
    a.delete(old)
    new = a.make_tag("Paris")
    note = a.make_note("Louvre", tags=[new])
    a.sync()
    assert {result["uniqueID"]: result["status"] for result in a.receipts} == {
        old: "applied",
        new: "applied",
        note: "applied",
    }
    settle(*pair)
    for device in pair:
        assert device.tags == {new: "Paris"}
        assert device.note(note)["tags"] == [new]
        assert device.copy.deleted[old].get("mergedInto") is None


def test_two_tags_swap_names_in_one_push(pair):
    """merge.md, One push: uniqueness of names is checked on the final state."""
    a, b = pair
    one, other = a.make_tag("one"), a.make_tag("other")
    settle(*pair)
    a.rename(one, "other")
    a.rename(other, "one")
    settle(*pair)
    assert b.tags == {one: "other", other: "one"}


@pytest.mark.parametrize("x_survives", [True, False])
@pytest.mark.parametrize("removed_last", [True, False], ids=["y removed last", "x added last"])
def test_case_30_two_tags_of_a_note_are_merged(pair, x_survives, removed_last):
    """The greater clock of the two registers decides on the membership, on every device."""
    a, b = pair
    small, great = "0" + str(uuid.uuid4())[1:], "f" + str(uuid.uuid4())[1:]
    x, y = (small, great) if x_survives else (great, small)
    a.make_tag("x", x)
    a.make_tag("y", y)
    note = a.make_note("a", tags=[x, y] if removed_last else [y])
    settle(*pair)
    a.untag(note, y)
    if not removed_last:
        a.tag(note, x)
    a.sync()
    b.rename(y, "X")  # the same name as x
    settle(*pair)
    for device in pair:
        assert list(device.tags) == [small]
        assert device.note(note)["tags"] == ([] if removed_last else [small])


def test_case_32_a_folder_is_imported_twice(pair):
    """IDs are derived from the source, so that a second import duplicates nothing, also on another device."""
    a, b = pair
    files = {f"note {index}.md": f"# Note {index}\n\nText of note {index}.\n" for index in range(20)}
    namespace = uuid.uuid5(uuid.NAMESPACE_URL, "a folder")
    for device in pair:
        tag = str(uuid.uuid5(namespace, "tag: folder"))
        device.make_tag("folder", tag)
        for name, text in files.items():
            unique_id = str(uuid.uuid5(namespace, name))
            device.make("note", unique_id, {"creationDate": "2024-05-06T07:08:09.000Z"}, text=text)
            device.tag(unique_id, tag)
    settle(*pair)
    assert sorted(note["text"] for note in a.notes.values()) == sorted(files.values())
    assert list(a.tags.values()) == ["folder"]
    assert all(len(note["tags"]) == 1 for note in a.notes.values())


def test_case_33_deleted_without_having_seen_the_latest_text(pair):
    """A, offline with an old version, deletes the note. The text that B wrote meanwhile goes into one new note."""
    a, b = pair
    tag = a.make_tag("kept")
    note = shared_note(a, b, "Milk\n", tags=[tag])
    picture = upload(b.client, b"a picture")
    b.make("attachment", picture, {"mimeType": "image/png"})
    b.edit(note, f"attachments.{picture}", True)
    for line in range(1, 6):
        b.write(note, "Milk\n" + "B's words\n" * line)
        b.sync()
    b.archive(note)
    b.edit(note, "attributes.pinned", True)
    b.sync()
    created = b.note(note)["creationDate"]
    a.delete(note)
    a.sync()
    assert (receipt(a, note)["status"], receipt(a, note)["rescuedInto"]) == ("rescued", rescue_of(note))
    settle(*pair)
    for device in pair:
        assert list(device.notes) == [rescue_of(note)]
        shown = device.note(rescue_of(note))
        assert (shown["text"], shown["tags"], shown["attachments"]) == ("Milk\n" + "B's words\n" * 5, [tag], [picture])
        assert (shown["archived"], shown["attributes"], shown["creationDate"]) == (False, {}, created)
        assert device.copy.deleted[note]["rescuedInto"] == rescue_of(note)
        assert not device.rescued and not device.moved
    assert history(a, note)[0] == "Milk\n" + "B's words\n" * 5


@pytest.mark.parametrize("second", ["Milk and bread", "Mil"])
def test_case_34_pushes_arrive_in_reverse_order(pair, second):
    a, b = pair
    note = shared_note(a, b)
    a.write(note, "Milk and br")
    first = a.prepare()
    a.write(note, second)
    a.sync()
    a.receive(first, a.send(first))
    settle(*pair)
    assert b.text(note) == second


def test_case_35_a_lost_response_before_signing_in_again(pair):
    a, b = pair
    note = shared_note(a, b, "start\n")
    a.write(note, "start\nA's sentence.\n")
    a.sync(lose_response=True)
    assert b.client.delete(f"/v1/devices/{a.clock.node}").status_code == 204
    b.sync()
    b.write(note, b.text(note) + "\nB's paragraph.\n")
    b.sync()
    with pytest.raises(ErrorResponse) as refusal:
        a.sync()
    assert (refusal.value.status, refusal.value.slug) == (401, "unauthenticated")
    former = a.clock.node
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
        a.write(note, words)
        push = a.prepare()
        answer = a.send(push)
        a.write(note, words + " …")  # typed before the response arrived
        a.receive(push, answer)
        assert all(result["status"] == "applied" for result in answer["results"])
        assert a.text(note) == words + " …"
    settle(*pair)
    assert b.text(note) == "The quick brown fox jumps …"
    check_same(*pair)
