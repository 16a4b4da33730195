"""Restored servers, copied browser data, and lost bytes."""

import shutil
from pathlib import Path

import pytest
from attachments import attach, data_path, download, some_bytes
from client import Server
from engine_page import EngineTab, Profile, device_of
from playwright.sync_api import Route
from test_engine_transfers import attach_here, these_bytes
from writer import Writer, new_id


@pytest.fixture
def restore(fresh_server: Server, tmp_path: Path):
    """`restore.keep()` copies the server's data, and `restore.back()` replaces the data by that copy."""

    class Restore:
        server, kept = fresh_server, tmp_path / "kept"

        def keep(self) -> None:
            self.server.stop()
            shutil.copytree(self.server.data, self.kept)
            self.server.start()

        def back(self) -> None:
            self.server.stop()
            shutil.rmtree(self.server.data)
            shutil.copytree(self.kept, self.server.data)
            self.server.start()

    return Restore()


def make_a_lot(tab: EngineTab, count: int = 700) -> None:
    tab.run("""
        const tag = await copy.createTag("kept")
        const notes = Array.from({length: argument}, (_, n) => ({text: `note ${n}`, tags: [tag]}))
        while (notes.length) await copy.createNotes(notes.splice(0, 500))""", count)
    tab.identical(40)


def test_the_browser_restores_what_a_restored_server_lacks(profile: Profile, restore) -> None:
    server = restore.server
    tab = profile(server)
    email = tab.sign_up()
    make_a_lot(tab, 600)
    kept, deleted, changed = tab.run("return copy.notes().slice(0, 3)")
    restore.keep()
    tab.run("engine.syncNow(); await identical()")
    # The restored server lacks all of this.
    tab.run("""const [kept, deleted, changed] = argument
        await type(changed, "changed since")
        await copy.setAttribute(kept, "pinned", true)
        await copy.createTag("new tag")
        for (let n = 0; n < 20; n++) await copy.createNote({text: `since ${n}`})
        await copy.remove(deleted)
        await copy.transaction(["deletions"], "readwrite", async tx => {
          tx.put("deletions", {...await tx.get("deletions", deleted), heldUntil: 1})
        }, "here")""", [kept, deleted, changed])
    note, attachment = attach_here(tab, 40_000)
    tab.run('await until(() => !copy.unsentCount(), "sent"); await identical()')
    before = tab.digest
    tab.context.set_offline(True)
    restore.back()
    # Unsent text is kept while everything is read again, even across a reload.
    other = device_of(server, email)
    other.sync()
    assert other.text(changed) != "changed since" and len(other.notes) == 600
    other_note = other.make_note("written on the restored server")
    other.sync()
    requests: list[int] = []

    def break_off(route: Route) -> None:
        """Aborts requests after the refused token and one of two pages."""
        requests.append(1)
        return route.abort() if len(requests) > 2 else route.continue_()

    tab.page.route("**/v1/sync", break_off)
    tab.run('await type(argument, "unsent meanwhile")', kept)
    tab.context.set_offline(False)
    tab.run("engine.syncNow()")
    for _ in range(1_200):
        if len(requests) > 2:
            break
        tab.page.wait_for_timeout(50)
    tab.run('await until(() => engine.status.phase === "offline", "broken off")')
    assert tab.run("return engine.rounds.record.reading") and len(requests) > 2
    tab.page.unroute("**/v1/sync")
    tab.reload()
    tab.run("engine.syncNow(); await identical(60)")
    other.sync()
    assert other.digest == other.copy.digest == tab.digest != before
    assert other.text(changed) == "changed since" and other.text(kept) == "unsent meanwhile"
    assert other.note(kept)["attributes"] == {"pinned": True} and other.note(deleted) is None
    assert tab.text(other_note) == "written on the restored server"
    assert sum(one["text"].startswith("since ") for one in other.notes.values()) == 20
    assert "new tag" in other.tags.values()
    assert other.note(note)["attachments"] == [attachment]
    assert download(other.client, attachment) == these_bytes(40_000)
    assert not tab.run("return copy.shelf()")
    assert tab.run('return raw("relays")') == []


def test_the_browser_carries_texts_and_files_of_other_apps(profile: Profile, restore) -> None:
    """It does not know these fields, but has their clocks in its digest, and gives them back to a restored server."""
    server = restore.server
    tab = profile(server)
    email = tab.sign_up()
    tab.run('await copy.createNote({text: "one"}); await identical()')
    restore.keep()
    tab.run("engine.syncNow(); await identical()")
    writer = Writer(device_of(server, email).client)
    recipe, photo, clock = new_id(), attach(writer.client, some_bytes(100)), writer.tick()
    made = {
        "uniqueID": recipe, "objectType": "recipe", "texts": {"method": "Boil.", "notes": ""},
        "files": {"photo": photo, "scan": None},
        "clocks": {"texts": {"method": clock, "notes": clock}, "files": {"photo": clock, "scan": clock}},
    }  # fmt: skip
    assert writer.push_one("objects", made | {"textsAfter": {"method": [], "notes": []}})["status"] == "applied"
    shown, digest = writer.state("objects", recipe), writer.client.sync()["digest"]
    tab.run('engine.syncNow(); await until(() => engine.rounds.record.digest === argument, "read"); await identical()', digest)
    tab.context.set_offline(True)
    restore.back()
    other = device_of(server, email)
    other.sync()
    assert recipe not in other.copy.objects
    tab.context.set_offline(False)
    tab.run("engine.syncNow()")
    given_back = Writer(other.client)
    for _ in range(600):
        if given_back.state("objects", recipe):
            break
        tab.run("await later(100)")
    assert given_back.state("objects", recipe) == shown
    tab.identical(60)


def test_a_replaced_database_file_is_detected_by_the_digest(profile: Profile, restore) -> None:
    server = restore.server
    tab = profile(server)
    email = tab.sign_up()
    note = tab.run('return copy.createNote({text: "one"})')
    tab.identical()
    restore.keep()
    tab.run("engine.syncNow(); await identical()")
    tab.run('await type(argument, "one, two"); await copy.createNote({text: "lost there"})', note)
    tab.identical()
    # After the old file is back, another device advances the sequence beyond this browser's token.
    tab.page.goto("about:blank")
    restore.back()
    other = device_of(server, email)
    other.sync()
    for n in range(10):
        other.make_note(f"other {n}")
        other.sync()
    tab.open()
    tab.identical(30)
    other.sync()
    assert other.copy.digest == other.digest == tab.digest
    assert other.text(note) == "one, two" and len(other.notes) == 12


def test_attachments_without_bytes_are_removed_from_the_copy(profile: Profile, restore) -> None:
    """If neither the server nor the browser has the bytes, the attachment is reported as rejected."""
    server = restore.server
    tab = profile(server)
    email = tab.sign_up()
    tab.identical()
    restore.keep()
    device = device_of(server, email)
    member = attach(device.client, some_bytes(5 << 20), "application/zip")
    note = device.make_note("has a file")
    device.edit(note, f"attachments.{member}", True)
    device.sync()
    tab.run('engine.syncNow(); await until(() => copy.attachment(argument), "it"); await identical()', member)
    restore.back()
    tab.run("engine.syncNow(); await later(500); await identical(30)")
    [refused] = tab.run("return copy.shelf()")
    assert refused["uniqueID"] == member and refused["problem"]["slug"] == "attachment-data-missing"
    other = device_of(server, email)
    other.sync()
    assert other.text(note) == "has a file" and other.copy.digest == tab.digest


def test_a_deleted_attachment_of_a_note_is_uploaded_again(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    note, attachment = attach_here(tab, 3_000)
    tab.identical()
    device.client.delete(f"/v1/attachments/{attachment}")
    tab.run('await until(() => copy.note(argument[0]).attachments.some(id => id !== argument[1]), "another")', [note, attachment])
    tab.identical()
    device.sync()
    [again] = device.note(note)["attachments"]
    assert again != attachment and download(device.client, again) == these_bytes(3_000)


def test_a_copied_browser_becomes_a_new_device(profile: Profile, server: Server) -> None:
    """merge.md, Clocks: the same clock with another value means that two copies of one device exist."""
    tab = profile(server)
    email = tab.sign_up()
    note = tab.run('return copy.createNote({text: "one"})')
    tab.identical()
    node = tab.run("return copy.session.device.uniqueID")
    device = device_of(server, email)
    tab.context.set_offline(True)
    tab.run("await copy.setAttribute(argument, 'color', 'red'); await type(argument, 'mine')", note)
    [edit] = tab.run('return (await raw("unsent")).filter(one => one.attribute === "attributes.color")')
    # An edit that the other copy of this browser would have made.
    device.client.sync({"notes": [{"uniqueID": note, "attributes": {"color": "blue"},
                                   "clocks": {"attributes": {"color": edit["clock"]}}}]})  # fmt: skip
    tab.context.set_offline(False)
    tab.run('engine.syncNow(); await until(() => engine.status.phase === "expired", "told")')
    assert tab.status["problem"]["slug"] == "clock-reused" and tab.text(note) == "mine"
    tab.sign_in(email)
    tab.identical()
    assert tab.run("return copy.session.device.uniqueID") != node
    device.sync()
    assert device.note(note)["attributes"] == {"color": "red"} and device.text(note) == "mine"
    assert tab.digest == device.copy.digest and not tab.run("return copy.shelf()")


def test_an_attachment_in_use_is_retried_when_it_is_released(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    first, attachment = attach_here(tab, 2_000)
    tab.identical()
    device.sync()
    second = tab.run('return copy.createNote({text: "wants it"})')
    tab.run("await copy.reattach(argument[0], argument[1])", [second, attachment])
    tab.identical()
    [refused] = tab.run("return copy.shelf()")
    assert refused["problem"]["slug"] == "attachment-in-use" and refused["uniqueID"] == second
    assert tab.run("return copy.note(argument).attachments", second) == []
    device.edit(first, f"attachments.{attachment}", False)
    device.sync()
    tab.run('await until(() => !copy.shelf().length && copy.note(argument).attachments.length, "held")', second)
    tab.identical()
    device.sync()
    assert device.note(second)["attachments"] == [attachment]


@pytest.mark.thorough
def test_a_deleted_note_is_restored_once(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    note, attachment = attach_here(tab, 2_000)
    tab.run("""
        await copy.addTag(argument, await copy.createTag("Paris"))
        await copy.setAttribute(argument, "pinned", true)
        await copy.setArchived([argument], true)
        await type(argument, "the last words")""", note)
    tab.identical()
    device.sync()
    device.delete(note)
    device.sync()
    tab.run('await until(() => !copy.note(argument), "gone")', note)
    [listed] = tab.run("return (await engine.recentlyDeleted()).notes")
    assert listed["uniqueID"] == note and listed["firstLine"] == "the last words"
    again = tab.run("return engine.putBack(argument)", note)
    assert tab.run("return engine.putBack(argument)", note) == again != note
    tab.identical()
    device.sync()
    shown = device.note(again)
    assert shown["text"] == "the last words" and shown["archived"] and shown["attributes"] == {"pinned": True}
    assert shown["attachments"] == [attachment] and [device.tags[tag] for tag in shown["tags"]] == ["Paris"]
    history = tab.run("return (await engine.history(argument)).edits", again)
    assert {edit["attribute"] for edit in history} >= {"text", "archived", "attributes.pinned"}
    assert download(device.client, attachment) and data_path(attachment)
    # If the restored note is deleted too, restoring creates another one.
    device.delete(again)
    device.sync()
    tab.run('await until(() => !copy.note(argument), "gone")', again)
    third = tab.run("return engine.putBack(argument)", note)
    assert third not in (note, again) and tab.text(third) == "the last words"
