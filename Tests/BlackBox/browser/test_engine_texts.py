"""What the web app says of its texts (merge.md, Descent, Restored texts, Deleting a text that was not seen): nothing typed is
lost, and nothing comes twice."""

import itertools
import shutil
import uuid
from pathlib import Path

import clocks
import pytest
from client import Client, Server
from device import Device
from engine_page import EngineTab, Profile, device_of
from playwright.sync_api import Route

MOST_NAMED = 16


class Wire:
    """What one profile pushes of texts. While `loses`, a push arrives and its answer does not; while `holds`, it waits."""

    def __init__(self, tab: EngineTab):
        self.loses = self.holds = False
        self.held: list[Route] = []
        self.pushed: list[dict] = []
        tab.context.route("**/v1/sync", self._pass)

    def _pass(self, route: Route) -> None:
        changes = route.request.post_data_json.get("changes") or {}
        self.pushed += [note for note in changes.get("notes", []) if "text" in note]
        if self.holds and changes:
            return self.held.append(route)
        if self.loses and changes:
            route.fetch()
            return route.abort()
        return route.continue_()

    def lose(self, tab: EngineTab, note: str, text: str) -> dict:
        """Types a text that arrives without an answer: what was pushed."""
        self.loses, count = True, len(self.pushed)
        tab.run("""
            await type(...argument)
            engine.syncNow()""", [note, text])  # fmt: skip
        for _ in range(600):
            sent = [push for push in self.pushed[count:] if push["text"] == text]
            if sent:
                tab.run("await later(100)")
                return sent[0]
            tab.page.wait_for_timeout(20)
        raise AssertionError(f"{text!r} was not pushed")

    def hold(self, tab: EngineTab) -> None:
        """Until the next push has begun."""
        self.holds = True
        tab.run("engine.syncNow()")
        for _ in range(300):
            if self.held:
                return
            tab.page.wait_for_timeout(20)
        raise AssertionError("nothing was pushed")

    def let_go(self) -> None:
        self.holds = False
        self.held.pop().continue_()

    def let_through(self, *tabs: EngineTab) -> None:
        self.loses = False
        for tab in tabs:
            tab.run("engine.syncNow(); await identical(30)")


def clock_of(push: dict) -> str:
    return push["clocks"]["text"]


def unanswered(tab: EngineTab, note: str) -> list[str]:
    return tab.run("""const text = (await raw("unsent")).find(one => one.uniqueID === argument && one.attribute === "text")
        return text?.after ?? []""", note)  # fmt: skip


@pytest.fixture
def start(profile: Profile, server: Server):
    """A tab with a note that another device has too, and what the tab pushes."""

    def make(text: str = "Milk"):
        tab = profile(server)
        email = tab.sign_up()
        note = tab.run("return copy.createNote({text: argument})", text)
        tab.identical()
        device = device_of(server, email)
        device.sync()
        return tab, device, note, Wire(tab)

    return make


# Descent


def test_a_text_names_those_that_were_sent_and_not_answered(start) -> None:
    tab, device, note, wire = start()
    base = tab.run("return copy.note(argument).textClock", note)
    first = wire.lose(tab, note, "Milk and br")
    device.sync()
    device.write(note, device.text(note) + "\nEggs")
    device.sync()
    second = wire.lose(tab, note, "Milk and bread")
    assert (first["textBase"], first["textAfter"]) == (base, [])
    assert (second["textBase"], second["textAfter"]) == (base, [clock_of(first)])
    assert unanswered(tab, note) == [clock_of(first), clock_of(second)]
    wire.let_through(tab)
    device.sync()
    assert tab.text(note) == device.text(note) == "Milk and bread\nEggs"
    assert unanswered(tab, note) == []
    tab.run('await type(argument, textOf(argument) + "\\nTea"); await identical()', note)
    assert wire.pushed[-1]["textAfter"] == [] and wire.pushed[-1]["textBase"] == device.copy.objects[note].clock("text")
    tab.run('await copy.createNote({text: "a first text"}); await identical()')
    assert wire.pushed[-1]["textAfter"] == [] and "textBase" not in wire.pushed[-1]


def test_what_was_typed_on_meanwhile_descends_from_what_was_answered(start) -> None:
    tab, device, note, wire = start()
    first = wire.lose(tab, note, "Milk and br")
    wire.loses = False
    wire.hold(tab)
    tab.run('await type(argument, "Milk and bread")', note)
    wire.let_go()
    tab.identical()
    assert wire.pushed[-1]["textBase"] == clock_of(first) and wire.pushed[-1]["textAfter"] == []
    device.sync()
    assert device.text(note) == "Milk and bread"


def test_twenty_unanswered_texts(start) -> None:
    tab, device, note, wire = start()
    texts = [f"Milk{' and bread' * count}" for count in range(1, 21)]
    for text in texts[:MOST_NAMED]:
        wire.lose(tab, note, text)
    for text in texts[MOST_NAMED:]:
        count = len(wire.pushed)
        tab.run("await type(...argument); engine.syncNow()", [note, text])
        for _ in range(300):
            if len(wire.pushed) > count:
                break
            tab.page.wait_for_timeout(20)
    device.sync()
    device.write(note, device.text(note) + "\nEggs")
    device.sync()
    known = {clock_of(push): push for push in wire.pushed}
    assert len(known) == MOST_NAMED and [push["text"] for push in known.values()] == texts[:MOST_NAMED]
    assert wire.pushed[-1] == known[clock_of(wire.pushed[-1])] and wire.pushed[-1]["text"] == texts[MOST_NAMED - 1]
    assert max(len(push["textAfter"]) for push in wire.pushed) == MOST_NAMED - 1
    tab.reload()
    wire.let_through(tab)
    device.sync()
    assert tab.text(note) == device.text(note) == texts[-1] + "\nEggs"
    assert unanswered(tab, note) == []


def test_a_reload_forgets_no_unanswered_text(start) -> None:
    tab, device, note, wire = start()
    first = wire.lose(tab, note, "Milk and br")
    tab.reload()
    second = wire.lose(tab, note, "Milk and bread")
    assert second["textAfter"] == [clock_of(first)]
    tab.reload()
    device.sync()
    device.write(note, "Eggs\n" + device.text(note))
    device.sync()
    wire.let_through(tab)
    device.sync()
    assert tab.text(note) == device.text(note) == "Eggs\nMilk and bread"


def test_a_new_sign_in_forgets_no_unanswered_text(start) -> None:
    """merge.md, case 35."""
    tab, device, note, wire = start()
    first = wire.lose(tab, note, "Milk and br")
    device.client.delete(f"/v1/devices/{tab.run('return copy.session.device.uniqueID')}")
    wire.loses = False
    tab.run('engine.syncNow(); await until(() => engine.status.phase === "expired", "expired")')
    tab.run('await type(argument, "Milk and bre")', note)
    wire.loses = True
    tab.sign_in(device.client.email)
    last = wire.lose(tab, note, "Milk and bread")
    named = [clock_of(push) for push in wire.pushed if push["text"] == "Milk and bre"][:1]
    assert last["textAfter"] == [clock_of(first), *named]
    assert clock_of(last)[-16:] == tab.run("return copy.session.device.uniqueID") != clock_of(first)[-16:]
    wire.let_through(tab)
    device.sync()
    assert tab.text(note) == device.text(note) == "Milk and bread"


def test_three_tabs_share_twenty_unanswered_texts(start) -> None:
    one, device, note, wire = start()
    tabs = (one, one.another(), one.another())
    texts = ["Milk", *(f"Milk{' and bread' * count}" for count in range(1, 21))]
    clocks_sent: list[str] = []
    for number, (before, text) in enumerate(itertools.pairwise(texts)):
        tab = tabs[number % 3]
        tab.run("await until(() => textOf(argument[0]) === argument[1], 'the text')", [note, before])
        if number < MOST_NAMED:
            push = wire.lose(tab, note, text)
            assert push["textAfter"] == clocks_sent
            clocks_sent.append(clock_of(push))
        else:
            tab.run("await type(...argument); engine.syncNow()", [note, text])
    device.sync()
    device.write(note, device.text(note) + "\nTea")
    device.sync()
    # The one that leads goes, and another sends the rest.
    one.close()
    wire.let_through(*tabs[1:])
    device.sync()
    for text in (tabs[1].text(note), tabs[2].text(note), device.text(note)):
        assert text == texts[-1] + "\nTea"
    assert unanswered(tabs[1], note) == []


def test_a_clock_that_was_refused_and_stamped_again(start) -> None:
    tab, device, note, wire = start()
    tab.context.set_offline(True)
    tab.run("""
        await copy.transaction(["meta"], "readwrite", async tx => {
          tx.put("meta", {...await tx.get("meta", "clock"), greatest: "2031-01-01T00:00:00.000Z-0000-9f86d081884c7d65"}, "clock")
        })
        await type(argument, "Milk and bread")""", note)
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical()")
    device.sync()
    assert device.text(note) == "Milk and bread" and clock_of(wire.pushed[-1]) < "2031"
    assert unanswered(tab, note) == []


# Restored texts


class Restored:
    """A server that goes back to its backup, by `hesper restore`, which signs all devices out."""

    def __init__(self, server: Server, folder: Path):
        self.server, self.backup = server, folder / "backup"

    def keep(self) -> None:
        done = self.server.command("backup", str(self.backup))
        assert done.returncode == 0, done.stderr

    def back(self) -> None:
        self.server.stop()
        shutil.rmtree(self.server.data)
        done = self.server.command("restore", str(self.backup))
        assert done.returncode == 0, done.stderr
        self.server.start()

    def lose_line(self, tab: EngineTab, note: str, email: str) -> Device:
        """The server acknowledges a line of the tab's and goes back to before it. Then another device, which never saw the
        line, writes one."""
        self.keep()
        tab.run('engine.syncNow(); await identical(); await type(argument, "Milk\\n\\nBread\\nmine\\n"); await identical()', note)
        tab.context.set_offline(True)
        self.back()
        other = device_of(self.server, email)
        other.sync()
        other.write(note, "theirs\nMilk\n\nBread\n")
        other.sync()
        return other

    def sign_in(self, tab: EngineTab, email: str) -> None:
        """Online again, the tab hears that it was signed out, and signs in."""
        tab.context.set_offline(False)
        tab.run('engine.syncNow(); await until(() => engine.status.phase === "expired", "expired")')
        tab.sign_in(email)


@pytest.fixture
def restored(fresh_server: Server, tmp_path: Path) -> Restored:
    return Restored(fresh_server, tmp_path)


def test_an_acknowledged_text_is_given_back_beside_a_greater_one(profile: Profile, restored: Restored) -> None:
    """merge.md, case 36: the line is in neither history otherwise."""
    tab = profile(restored.server)
    email = tab.sign_up()
    note = tab.run('return copy.createNote({text: "Milk\\n\\nBread\\n"})')
    tab.identical()
    other = restored.lose_line(tab, note, email)
    given = tab.run("return copy.note(argument).textClock", note)
    assert other.copy.objects[note].clock("text") > given
    wire = Wire(tab)
    restored.sign_in(tab, email)
    tab.identical(30)
    [push] = [push for push in wire.pushed if clock_of(push) == given]
    assert (push["textBase"], push["textAfter"], push["text"]) == (given, [], "Milk\n\nBread\nmine\n")
    other.sync()
    assert tab.text(note) == other.text(note) == "theirs\nMilk\n\nBread\nmine\n"
    assert tab.run('return raw("relays")') == []


@pytest.mark.parametrize("when", ["while it is read", "before it is given back"])
def test_what_is_to_be_given_back_survives_a_reload(profile: Profile, restored: Restored, when: str) -> None:
    """The copy has folded the greater text in by then, so the other must have been put aside."""
    tab = profile(restored.server)
    email = tab.sign_up()
    tab.run('for (let n = 0; n < 600; n++) await copy.createNote({text: `note ${n}`})')
    note = tab.run('return copy.createNote({text: "Milk\\n\\nBread\\n"})')
    tab.identical(40)
    other = restored.lose_line(tab, note, email)
    tab.run('await type(argument, "Milk\\n\\nBread\\nmine\\nunsent\\n")', note)
    cut: list[int] = []

    def cut_off(route: Route) -> None:
        body = route.request.post_data_json
        is_over = len(cut) > 1 and ("changes" if when == "before it is given back" else "syncToken") in body
        cut.append(1)
        route.abort() if is_over else route.continue_()

    tab.context.set_offline(False)
    tab.run('engine.syncNow(); await until(() => engine.status.phase === "expired", "expired")')
    tab.context.route("**/v1/sync", cut_off)
    tab.sign_in(email)
    tab.run('await until(() => engine.status.phase === "offline" && engine.rounds.record.startedOver, "cut off")')
    assert tab.run("return engine.rounds.record.reading") == (when == "while it is read")
    assert tab.run("return copy.memory.objects.get(argument).registers.text[0]", note) == "theirs\nMilk\n\nBread\n"
    tab.reload()
    # In force from now on, before `cut_off`: until then nothing is given back.
    wire = Wire(tab)
    tab.run("engine.syncNow(); await identical(30)")
    other.sync()
    assert tab.text(note) == other.text(note) == "theirs\nMilk\n\nBread\nmine\nunsent\n"
    [unsent] = [push for push in wire.pushed if "unsent" in push["text"]]
    assert unsent["textBaseValue"] == "Milk\n\nBread\nmine\n" and unsent["textAfter"] == []


def test_two_restores_before_anything_was_given_back(profile: Profile, restored: Restored) -> None:
    """Two generations of one text are given back, each by itself, in order: the server takes the later for a descendant of the
    earlier (merge.md, Restored texts), which its history has."""
    tab = profile(restored.server)
    email = tab.sign_up()
    note = tab.run('return copy.createNote({text: "Milk\\n\\nBread\\n"})')
    tab.identical()
    other = restored.lose_line(tab, note, email)
    tab.context.set_offline(False)
    tab.run('engine.syncNow(); await until(() => engine.status.phase === "expired", "expired")')
    tab.context.route("**/v1/sync", lambda route: route.abort() if "changes" in route.request.post_data_json else route.continue_())
    tab.sign_in(email)
    tab.run('await until(() => engine.rounds.record.startedOver && !engine.rounds.record.reading, "read")')
    tab.context.set_offline(True)
    restored.back()
    tab.context.unroute_all()
    wire = Wire(tab)
    restored.sign_in(tab, email)
    tab.identical(30)
    # The first pushes are refused: the device is signed out, its token expired.
    given = dict.fromkeys(push["text"] for push in wire.pushed if push["textBase"] == clock_of(push))
    assert list(given) == ["Milk\n\nBread\nmine\n", "theirs\nMilk\n\nBread\n"]
    edits = tab.run("return (await engine.history(argument)).edits", note)
    assert {"Milk\n\nBread\nmine\n", "theirs\nMilk\n\nBread\n"} <= {edit["value"] for edit in edits if edit["attribute"] == "text"}
    assert "theirs" in tab.text(note)
    assert tab.run('return raw("relays")') == []


# Deletions


def delete_elsewhere(client: Client, note: str, text_seen: str) -> dict:
    """A third device, which has the text of this clock, deletes a note: its receipt."""
    deletion = {"uniqueID": note, "objectType": "note", "textSeen": text_seen, "textAfter": []}
    [result] = client.another_device().sync({"deletedObjects": [deletion]})["results"]
    return result


def rescue_of(note: str) -> str:
    return str(uuid.uuid5(uuid.UUID(note), ""))


def delete_here(tab: EngineTab, note: str) -> None:
    """Deletes, and does not wait until undo is no longer possible."""
    tab.run("""
        if (copy.note(argument)) await copy.remove(argument)
        await copy.transaction(["deletions"], "readwrite", async tx => {
          tx.put("deletions", {...await tx.get("deletions", argument), heldUntil: 1})
        }, "here")""", note)


def test_what_a_deletion_had_not_seen_is_in_a_new_note(start) -> None:
    tab, device, note, _ = start()
    tab.context.set_offline(True)
    device.write(note, "Milk, and an hour of writing")
    device.sync()
    delete_here(tab, note)
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical()")
    rescued = rescue_of(note)
    assert tab.run("return copy.notes()") == [rescued]
    assert tab.text(rescued) == "Milk, and an hour of writing"
    [notice] = tab.run("return copy.notices()")
    assert (notice["kind"], notice["uniqueID"], notice["into"]) == ("unseen", note, rescued)
    assert tab.run("return copy.memory.deleted.get(argument).rescuedInto", note) == rescued
    assert tab.digest == tab.run("return engine.rounds.record.serverDigest")
    tab.run("await copy.dismiss(argument); await later(50)", notice["key"])
    assert tab.run("return copy.notices()") == []


def test_a_held_deletion_keeps_what_was_seen(start) -> None:
    """What comes before it is sent was not seen by who deleted."""
    tab, device, note, _ = start()
    tab.run("await copy.remove(argument)", note)
    device.write(note, "Milk, and more")
    device.sync()
    tab.run('await until(() => copy.memory.objects.get(argument).registers.text[0] === "Milk, and more", "the text")', note)
    delete_here(tab, note)
    tab.run("engine.syncNow(); await identical()")
    assert tab.text(rescue_of(note)) == "Milk, and more"


def test_own_words_are_seen_also_those_on_their_way(start) -> None:
    tab, device, note, wire = start()
    wire.lose(tab, note, "Milk and br")
    wire.lose(tab, note, "Milk and bread")
    wire.loses = False
    delete_here(tab, note)
    tab.run("engine.syncNow(); await identical()")
    assert tab.run("return [copy.notes(), copy.notices()]") == [[], []]
    device.sync()
    assert device.notes == {}


def test_a_deletion_whose_answer_was_lost_is_told_of_too(start) -> None:
    tab, device, note, wire = start()
    tab.context.set_offline(True)
    device.write(note, "Milk, and more")
    device.sync()
    wire.loses = True
    delete_here(tab, note)
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await until(() => engine.status.phase === 'offline', 'lost')")
    wire.let_through(tab)
    assert tab.text(rescue_of(note)) == "Milk, and more"
    assert tab.run("return copy.memory.deleted.get(argument).rescuedInto", note) == rescue_of(note)
    assert [one["kind"] for one in tab.run("return copy.notices()")] == ["unseen"]


@pytest.mark.parametrize("how", ["never sent", "answered deleted", "sent and not answered"])
def test_words_go_on_in_the_note_that_has_the_others(start, how: str) -> None:
    """merge.md, case 33, with words that the server did not have when the note was deleted."""
    tab, device, note, wire = start("Milk\n\nBread\n")
    seen = device.copy.objects[note].clock("text")
    tab.run('await type(argument, "Milk and oats\\n\\nBread\\n"); await identical()', note)
    if how == "sent and not answered":
        wire.lose(tab, note, "Milk and oats\n\nBread\nmine, on its w")
    tab.context.set_offline(True)
    wire.loses = False
    tab.run('await type(argument, "Milk and oats\\n\\nBread\\nmine, on its way\\n")', note)
    result = delete_elsewhere(device.client, note, seen)
    rescued = rescue_of(note)
    assert (result["status"], result["rescuedInto"]) == ("rescued", rescued)
    # In the meantime somebody writes in the new note.
    device.sync()
    device.write(rescued, "theirs\n" + device.text(rescued))
    device.sync()
    if how == "answered deleted":  # no event tells it before
        tab.context.route("**/v1/events*", lambda route: route.abort())
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical()")
    device.sync()
    assert tab.run("return copy.notes()") == [rescued]
    assert tab.text(rescued) == device.text(rescued) == "theirs\nMilk and oats\n\nBread\nmine, on its way\n"
    moved = wire.pushed[-1]
    assert moved["uniqueID"] == rescued and moved["textBaseValue"] == "Milk and oats\n\nBread\n"
    [notice] = tab.run("return copy.notices()")
    assert (notice["kind"], notice["uniqueID"], notice["into"]) == ("rescued", note, rescued)


def test_words_follow_from_one_rescued_note_to_the_next(start) -> None:
    tab, device, note, _ = start()
    tab.context.set_offline(True)
    tab.run('await type(argument, "Milk, mine")', note)
    seen = device.copy.objects[note].clock("text")
    device.write(note, "Milk\ntheirs")
    device.sync()
    assert delete_elsewhere(device.client, note, seen)["status"] == "rescued"
    device.sync()
    again = rescue_of(note)
    seen = device.copy.objects[again].clock("text")
    device.write(again, "Milk\ntheirs, and more")
    device.sync()
    assert delete_elsewhere(device.client, again, seen)["status"] == "rescued"
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical()")
    last = rescue_of(again)
    assert tab.run("return copy.notes()") == [last] and tab.text(last) == "Milk, mine\ntheirs, and more"


@pytest.mark.parametrize("end", ["deleted", "deleted here"])
def test_words_whose_new_note_is_taken_get_one_of_their_own(start, end: str) -> None:
    tab, device, note, wire = start()
    tab.context.set_offline(True)
    tab.run('await type(argument, "Milk, mine")', note)
    seen = device.copy.objects[note].clock("text")
    device.write(note, "Milk\ntheirs")
    device.sync()
    delete_elsewhere(device.client, note, seen)
    device.sync()
    rescued = rescue_of(note)
    if end == "deleted":
        delete_elsewhere(device.client, rescued, device.copy.objects[rescued].clock("text"))
    else:
        tab.run("await copy.transaction(['deletions'], 'readwrite', tx => tx.put('deletions', "
                "{uniqueID: argument, objectType: 'note', heldUntil: Date.now() + 5000}), 'here')", rescued)  # fmt: skip
    tab.context.set_offline(False)
    own = str(uuid.uuid5(uuid.UUID(note), "Milk, mine"))
    tab.run('engine.syncNow(); await until(() => textOf(argument) === "Milk, mine", "the words")', own)
    if end == "deleted here":
        delete_here(tab, rescued)
    tab.run("engine.syncNow(); await identical(30)")
    device.sync()
    assert device.text(own) == "Milk, mine" and device.digest == tab.digest


def test_words_do_not_take_the_place_of_others_in_the_new_note(start) -> None:
    """Somebody has begun to write there when it is known here that the first note is deleted."""
    tab, device, note, wire = start()
    tab.run("await until(() => engine.status.live, 'live')")
    tab.run('await type(argument, "Milk, mine")', note)
    wire.hold(tab)
    rescued = rescue_of(note)
    tab.run("await copy.write(argument, 'others', {clock: null, value: ''})", rescued)
    seen = device.copy.objects[note].clock("text")
    device.write(note, "Milk\ntheirs")
    device.sync()
    delete_elsewhere(device.client, note, seen)
    own = str(uuid.uuid5(uuid.UUID(note), "Milk, mine"))
    tab.run('await until(() => textOf(argument) === "Milk, mine", "the words")', own)
    assert tab.text(rescued) == "others"
    wire.let_go()
    tab.run("engine.syncNow(); await identical()")
    device.sync()
    assert device.text(own) == "Milk, mine"


def test_what_was_rescued_is_told_to_a_restored_server(profile: Profile, restored: Restored) -> None:
    tab = profile(restored.server)
    email = tab.sign_up()
    note = tab.run('return copy.createNote({text: "Milk"})')
    tab.identical()
    restored.keep()
    tab.run("engine.syncNow(); await identical()")
    device = device_of(restored.server, email)
    device.sync()
    seen = device.copy.objects[note].clock("text")
    tab.run('await type(argument, "Milk, mine"); await identical()', note)
    delete_elsewhere(device.client, note, seen)
    tab.run("engine.syncNow(); await until(() => textOf(argument), 'the new note'); await identical()", rescue_of(note))
    tab.context.set_offline(True)
    restored.back()
    restored.sign_in(tab, email)
    tab.identical(30)
    fresh = device_of(restored.server, email)
    fresh.sync()
    assert fresh.copy.deleted[note]["rescuedInto"] == rescue_of(note)
    assert list(fresh.notes) == [rescue_of(note)] and fresh.text(rescue_of(note)) == "Milk, mine"


# What did not stand


def test_a_text_whose_base_nobody_knows_is_told_of(start) -> None:
    """merge.md, Descent, rule 6: the greater clock stands, and the receipt names the other's words."""
    tab, device, note, _ = start("The car is red.")
    tab.context.set_offline(True)
    tab.run('await type(argument, "The car is blue.")', note)
    unknown = clocks.clock(clocks.wall() - 86_400_000, 0, "00000000000000aa")
    tab.run("""
        await copy.transaction(["unsent"], "readwrite", async tx => {
          tx.put("unsent", {...await tx.get("unsent", [argument[0], "text"]), base: argument[1], baseValue: undefined})
        })""", [note, unknown])  # fmt: skip
    device.write(note, "A train.")
    device.sync()
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical()")
    assert tab.text(note) == "A train."
    [notice] = tab.run("return copy.notices()")
    assert notice["kind"] == "merged" and notice["uniqueID"] == note
    assert notice["superseded"] == [{"text": "The car is blue.", "location": 0, "length": len("A train.")}]
    assert notice["clock"] == tab.run("return copy.note(argument).textClock", note)
