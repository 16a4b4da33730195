"""Edits in the web app's local copy (clients.md, rules 1, 2, 4 and 8), and how they are shown."""

import uuid

from store_page import StoreTab, pages, tab  # noqa: F401 - fixtures


# Takes the deletions that are due within this number of milliseconds.
TAKE = """
    return copy.transaction(["deletions", "unsent", "made"], "readwrite", tx => records.takeDeletions(tx, Date.now() + argument))
"""
# Writes a text as an editor does, over the version that it shows: [note, text, clock, value].
WRITE = "const [note, text, clock, value] = argument; return copy.write(note, text, {clock, value})"


def test_a_deletion_can_be_undone_also_after_a_reload(tab: StoreTab) -> None:
    note = tab.run("const id = await copy.createNote({text: 'stay'}); await copy.remove(id); return id")
    assert tab.run("return [copy.note(argument) ?? null, copy.notes().length]", note) == [None, 0]
    tab.reload()
    assert tab.run("return copy.notes().length") == 0
    assert tab.run("return copy.nextDeletion() - Date.now()") <= 10_000
    taken = tab.run(TAKE, 0)
    assert taken == []
    assert tab.run("return copy.undoRemove(argument)", note) is True
    assert tab.run("return copy.note(argument).text", note) == "stay"
    tab.run("await copy.remove(argument)", note)
    [text] = tab.run("return (await raw(copy, 'unsent')).map(one => one.clock)")
    taken = tab.run(TAKE, 10_001)
    seen = {"uniqueID": note, "objectType": "note", "textSeen": "", "textAfter": [text]}
    assert taken == [seen], "a deletion of an object unknown to the server must be sent"
    assert tab.run("return copy.undoRemove(argument)", note) is False, "the deletion could be undone after it was taken"
    assert tab.run("return [copy.unsentCount(), (await raw(copy, 'unsent')).length, (await raw(copy, 'made')).length]") == [1, 0, 0]
    assert tab.run("return copy.note(argument) ?? null", note) is None


def test_a_deletion_records_the_seen_text(tab: StoreTab) -> None:
    """The recorded text does not change until the deletion is sent (merge.md, Deleting a text that was not seen)."""
    shown, typed, empty = tab.run("""
        const ids = [await copy.createNote({text: "a"}), await copy.createNote({text: "b"}), await copy.createNote()]
        await acknowledge(copy)
        return ids""")
    clock = tab.run("return copy.note(argument).textClock", shown)
    base = tab.run("return copy.note(argument).textClock", typed)
    own = tab.run(WRITE, [typed, "b and more", base, "b"])
    tag = tab.run("return copy.createTag('x')")
    tab.run("for (const id of argument) await copy.remove(id)", [shown, typed, empty, tag])
    later = "2999-01-01T00:00:00.000Z-0000-1111111111111111"
    for note in (shown, typed, empty):
        tab.run("await put({uniqueID: argument[0], type: 'note', fixed: {}, registers: {text: ['theirs', argument[1]]}})", [note, later])
    taken = {one.pop("uniqueID"): one for one in tab.run(TAKE, 10_001)}
    assert taken == {
        shown: {"objectType": "note", "textSeen": clock, "textAfter": []},
        typed: {"objectType": "note", "textSeen": base, "textAfter": [own]},
        empty: {"objectType": "note", "textSeen": "", "textAfter": []},
        tag: {"objectType": "tag"},
    }


def unsent_text(tab: StoreTab, note: str) -> dict | None:
    return tab.run("""
        return (await raw(copy, "unsent")).find(one => one.uniqueID === argument && one.attribute === "text") ?? null
    """, note)  # fmt: skip


def test_continued_text_keeps_its_base(tab: StoreTab) -> None:
    note = tab.run("const id = await copy.createNote({text: 'a'}); await acknowledge(copy); return id")
    acknowledged = tab.run("return copy.note(argument).textClock", note)
    first = tab.run(WRITE, [note, "ab", acknowledged, "a"])
    record = unsent_text(tab, note)
    assert record["base"] == acknowledged and record["baseValue"] == "a" and record["clock"] == first > acknowledged
    # Signing in again changes the node.
    tab.run("""
        const session = {...copy.session, device: {uniqueID: "aaaaaaaaaaaaaaaa", name: "again"}}
        await copy.transaction(["meta"], "readwrite", tx => tx.put("meta", session, "session"))
    """)
    second = tab.run(WRITE, [note, "abc", first, "ab"])
    record = unsent_text(tab, note)
    assert record["base"] == acknowledged and record["baseValue"] == "a" and record["value"] == "abc"
    assert second.endswith("-aaaaaaaaaaaaaaaa") and second > first
    tab.run("await acknowledge(copy)")
    third = tab.run(WRITE, [note, "abcd", second, "abc"])
    assert third.endswith("-aaaaaaaaaaaaaaaa")
    assert unsent_text(tab, note)["base"] == second


def test_the_base_of_a_text_is_the_version_in_the_editor(tab: StoreTab) -> None:
    """Not the current version. The server merges changes that arrived meanwhile."""
    note = tab.run("const id = await copy.createNote({text: 'a'}); await acknowledge(copy); return id")
    shown = tab.run("return copy.note(argument).textClock", note)
    tab.run("""
        await put({uniqueID: argument, type: "note", fixed: {}, registers: {text: ["theirs", "2999-01-01T00:00:00.000Z-0000-1111111111111111"]}})
    """, note)  # fmt: skip
    tab.run(WRITE, [note, "ab", shown, "a"])
    record = unsent_text(tab, note)
    assert record["base"] == shown and record["baseValue"] == "a"
    assert tab.run("return copy.note(argument).text", note) == "ab", "the unsent text was replaced"
    fresh = tab.run("const id = await copy.createNote(); await copy.write(id, 'new', {clock: null, value: ''}); return id")
    assert "base" not in unsent_text(tab, fresh)


def test_an_unchanged_text_is_no_edit(tab: StoreTab) -> None:
    note = tab.run("const id = await copy.createNote({text: 'a'}); await acknowledge(copy); return id")
    clock = tab.run("return copy.note(argument).textClock", note)
    assert tab.run(WRITE, [note, "a", clock, "a"]) == clock
    assert unsent_text(tab, note) is None
    # But restoring the text after a change is an edit, because the change may be in flight.
    typed = tab.run(WRITE, [note, "ab", clock, "a"])
    back = tab.run(WRITE, [note, "a", typed, "ab"])
    assert back > typed and unsent_text(tab, note)["value"] == "a"


def test_texts_of_two_tabs_are_merged(tab: StoreTab) -> None:
    note = tab.run("const id = await copy.createNote({text: 'one\\ntwo\\nthree'}); await acknowledge(copy); return id")
    base = tab.run("return copy.note(argument).textClock", note)
    tab.another().run(WRITE, [note, "one\ntwo\nthree four", base, "one\ntwo\nthree"])
    tab.run(WRITE, [note, "zero one\ntwo\nthree", base, "one\ntwo\nthree"])
    assert tab.run("return copy.note(argument).text", note) == "zero one\ntwo\nthree four"
    assert unsent_text(tab, note)["base"] == base
    assert tab.run("return copy.notices()") == []
    # If both changed the same words, the later text wins and the other is reported.
    tab.run(WRITE, [note, "mine\ntwo\nthree", base, "one\ntwo\nthree"])
    assert tab.run("return copy.note(argument).text", note) == "mine\ntwo\nthree"
    [notice] = tab.run("return copy.notices()")
    replaced = {"text": "zero one\ntwo\nthree four", "location": 0, "length": len("mine\ntwo\nthree")}
    assert notice["kind"] == "merged" and notice["superseded"] == [replaced]
    assert notice["clock"] == tab.run("return copy.note(argument).textClock", note)
    tab.run("await copy.dismiss(argument)", notice["key"])
    tab.reload()
    assert tab.run("return copy.notices()") == []


def test_a_text_with_a_new_clock_is_still_the_editors_version(tab: StoreTab) -> None:
    note = tab.run("return copy.createNote({text: 'a'})")
    old = tab.run("return copy.note(argument).textClock", note)
    tab.run("""
        await copy.transaction(["meta", "unsent"], "readwrite", async tx => {
          const clock = await records.clockIn(tx)
          for (const edit of await tx.getAll("unsent")) tx.put("unsent", {...edit, clock: clock.tick(Date.now())})
        })
        await copy.write(argument[0], "ab", {clock: argument[1], value: "a"})
    """, [note, old])  # fmt: skip
    assert tab.run("return [copy.note(argument).text, copy.notices().length]", note) == ["ab", 0]


def test_writing_to_a_deleted_note_fails_and_rescue_keeps_the_text(tab: StoreTab) -> None:
    note = tab.run("""
        const tag = await copy.createTag("kept")
        const id = await copy.createNote({text: "words", tags: [tag], creationDate: "2020-02-02T00:00:00.000Z"})
        await acknowledge(copy)
        globalThis.open = copy.note(id)
        await bury({uniqueID: id, objectType: "note"})
        return id
    """)
    assert tab.run("return copy.note(argument) ?? null", note) is None
    assert tab.run("return thrown(() => copy.write(argument, 'words and more', {clock: open.textClock, value: 'words'}))", note) == "gone"
    assert tab.run("return thrown(() => copy.setArchived([argument], true))", note) == "gone"
    into = tab.run("return copy.rescue(open, 'words and more')")
    assert into == str(uuid.uuid5(uuid.UUID(note), "words and more"))
    assert tab.run("return copy.rescue(open, 'words and more')") == into, "rescuing twice must create one note"
    shown = tab.run("return [copy.note(argument), copy.notices(), copy.tags()[0].count]", into)
    assert shown[0]["text"] == "words and more" and shown[0]["creationDate"] == "2020-02-02T00:00:00.000Z" and shown[0]["tags"]
    assert [(one["kind"], one["uniqueID"], one["into"]) for one in shown[1]] == [("rescued", note, into)] and shown[2] == 1


def test_members_are_resolved_through_merged_tags(tab: StoreTab) -> None:
    shown = tab.run("""
        const [a, b] = [await copy.createTag("car"), await copy.createTag("auto")]
        const [one, two, three] = await copy.createNotes([{tags: [a]}, {tags: [a, b]}, {tags: [b]}])
        await acknowledge(copy)
        await copy.removeTag(two, b)
        const counts = () => copy.tags().map(tag => `${tag.name} ${tag.count}`)
        const before = [copy.note(two).tags.length, counts()]
        await bury({uniqueID: a, objectType: "tag", mergedInto: b})
        const after = [one, two, three].map(id => copy.note(id).tags.includes(b))
        return {before, after, counts: counts(), byOld: copy.notes({tag: a}).length, ids: [copy.tag(a).uniqueID === b]}
    """)
    assert shown["before"] == [1, ["auto 1", "car 2"]]
    # In the second note the tag was removed later than it was added under its other ID.
    assert shown["after"] == [True, False, True]
    assert shown["counts"] == ["auto 2"] and shown["byOld"] == 2 and shown["ids"] == [True]


def test_deleting_a_tag_and_undoing_it(tab: StoreTab) -> None:
    shown = tab.run("""
        const tag = await copy.createTag("x")
        const note = await copy.createNote({tags: [tag]})
        const seen = () => [copy.note(note).tags.length, copy.tags().length, copy.notes({tag}).length]
        const states = [seen()]
        await copy.remove(tag); states.push(seen())
        await copy.undoRemove(tag); states.push(seen())
        await copy.setArchived([note], true)
        states.push([copy.tag(tag).count, copy.notes({tag}).length, copy.notes({tag, archived: true}).length])
        return states
    """)
    assert shown == [[1, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 1]]


def test_names_of_tags_are_compared_without_case(tab: StoreTab) -> None:
    shown = tab.run("""
        await copy.transaction(["meta"], "readwrite", tx => tx.put("meta", {tagNameBytes: 256}, "limits"))
        const a = await copy.createTag("  Straße ")
        const same = await copy.createTag("STRASSE")
        const b = await copy.createTag("other")
        await copy.renameTag(b, "strasse")
        return {same: a === same, names: copy.tags().map(tag => tag.name), empty: await thrown(() => copy.createTag(" ")),
          long: await thrown(() => copy.createTag("é".repeat(129)))}
    """)
    assert shown == {"same": True, "names": shown["names"], "empty": "invalid", "long": "too-large"}
    assert sorted(shown["names"]) == ["Straße", "strasse"], "the server merges the two"


def test_order_and_filters_of_the_list(tab: StoreTab) -> None:
    shown = tab.run("""
        const day = n => `2026-01-${String(n).padStart(2, "0")}T00:00:00.000Z`
        const ids = await copy.createNotes([1, 2, 3, 4, 5].map(n => ({text: `note number ${n}`, creationDate: day(n)})))
        const list = filter => copy.notes({order: "hand", ...filter}).map(id => ids.indexOf(id) + 1)
        const states = [list()]
        await copy.setAttribute(ids[0], "pinned", true); states.push(list())
        await copy.setSortDate(ids[1], day(9)); states.push(list())
        await copy.setArchived([ids[4], ids[3]], true); states.push(list(), list({archived: true}), list({archived: null}))
        await copy.write(ids[2], "Übung\\nmacht den Meister", {clock: copy.note(ids[2]).textClock, value: "note number 3"})
        states.push(list({query: "ubung meis"}), list({query: "number", archived: null}), list({query: "  "}))
        await copy.setAttribute(ids[0], "pinned", false); states.push(list())
        return states
    """)
    assert shown == [
        [5, 4, 3, 2, 1], [1, 5, 4, 3, 2], [1, 2, 5, 4, 3], [1, 2, 3], [5, 4], [1, 2, 5, 4, 3], [3], [1, 2, 5, 4], [1, 2, 3],
        [2, 3, 1],
    ]  # fmt: skip


def test_unchanged_values_are_no_edits(tab: StoreTab) -> None:
    edits = tab.run("""
        const tag = await copy.createTag("t")
        const id = await copy.createNote({text: "x", tags: [tag]})
        const count = async () => (await raw(copy, "unsent")).length
        const clock = async () => (await copy.transaction(["meta"], "readonly", tx => tx.get("meta", "clock"))).greatest
        const before = [await count(), await clock()]
        await copy.addTag(id, tag); await copy.setArchived([id], false); await copy.setSortDate(id, copy.note(id).creationDate)
        await copy.renameTag(tag, "t")
        return JSON.stringify(before) === JSON.stringify([await count(), await clock()])
    """)
    assert edits is True


def test_a_known_id_creates_nothing(tab: StoreTab) -> None:
    shown = tab.run("""
        const uniqueID = "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"
        await copy.createNote({uniqueID, text: "imported"})
        await copy.createNote({uniqueID, text: "imported again"})
        const once = [copy.notes().length, copy.note(uniqueID).text]
        await acknowledge(copy)
        await bury({uniqueID, objectType: "note"})
        await copy.createNote({uniqueID, text: "from the dead"})
        return [once, copy.notes().length, copy.unsentCount()]
    """)
    assert shown == [[1, "imported"], 0, 0]


def test_the_same_bytes_are_attached_once(tab: StoreTab) -> None:
    shown = tab.run("""
        const [note, another] = await copy.createNotes([{}, {}])
        const blob = () => new Blob(["abc"], {type: "image/png"})
        const [a, b] = await Promise.all([copy.attach(note, blob()), copy.attach(note, blob())])
        const c = await copy.attach(another, blob(), {filename: undefined})
        await copy.detach(note, a)
        const without = copy.note(note).attachments.length
        const d = await copy.attach(note, blob())
        const made = await raw(copy, "made")
        return {same: [a === b, a === c, a === d], without, now: copy.note(note).attachments.length,
          count: (await raw(copy, "bytes")).length,
          made: made.filter(one => one.type === "attachment").map(one => [one.needsBytes, one.fixed])}
    """)
    assert shown["same"] == [True, False, True] and shown["without"] == 0 and shown["now"] == 1 and shown["count"] == 2
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert shown["made"] == [[True, {"mimeType": "image/png", "byteCount": 3, "sha256": abc}]] * 2


def test_invalid_input_causes_an_error(tab: StoreTab) -> None:
    shown = tab.run("""
        const id = await copy.createNote({text: "x"})
        await copy.transaction(["meta"], "readwrite", tx => tx.put("meta", {attachmentBytes: 2, textBytes: 5}, "limits"))
        const base = {clock: copy.note(id).textClock, value: "x"}
        return {
          large: await thrown(() => copy.attach(id, new Blob(["abc"]))),
          text: await thrown(() => copy.write(id, "ééé", base)),
          fits: await thrown(() => copy.write(id, "éé", base)),
          missing: await thrown(() => copy.setArchived(["00000000-0000-4000-8000-000000000000"], true)),
          remove: await thrown(() => copy.remove("00000000-0000-4000-8000-000000000000")),
        }
    """)
    assert shown == {
        "large": "too-large", "text": "too-large", "fits": "nothing", "missing": "missing", "remove": "missing",
    }  # fmt: skip
