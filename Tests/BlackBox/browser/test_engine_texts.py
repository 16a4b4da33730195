"""Descent of texts in the web app (merge.md, Descent, Restored texts, Deleting a text that was not seen): no text is lost
or duplicated."""

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

pytestmark = pytest.mark.long

MAX_IN_FLIGHT = 16


class Network:
    """Intercepts the pushes of one profile.

    With `lose_responses`, responses are lost. With `hold_requests`, requests wait until `release`.
    """

    def __init__(self, tab: EngineTab):
        self.lose_responses = self.hold_requests = False
        self.held_requests: list[Route] = []
        self.pushed: list[dict] = []
        tab.context.route("**/v1/sync", self._pass)

    def _pass(self, route: Route) -> None:
        changes = route.request.post_data_json.get("changes") or {}
        self.pushed += [note for note in changes.get("notes", []) if "text" in note]
        if self.hold_requests and changes:
            return self.held_requests.append(route)
        if self.lose_responses and changes:
            route.fetch()
            return route.abort()
        return route.continue_()

    def lose(self, tab: EngineTab, note: str, text: str) -> dict:
        """Types a text whose response is lost. Returns the pushed note."""
        self.lose_responses, count = True, len(self.pushed)
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
        """Holds the next push. Returns when it has begun."""
        self.hold_requests = True
        tab.run("engine.syncNow()")
        for _ in range(300):
            if self.held_requests:
                return
            tab.page.wait_for_timeout(20)
        raise AssertionError("nothing was pushed")

    def release(self) -> None:
        self.hold_requests = False
        self.held_requests.pop().continue_()

    def stop_losing(self, *tabs: EngineTab) -> None:
        self.lose_responses = False
        for tab in tabs:
            tab.run("engine.syncNow(); await identical(30)")


def clock_of(push: dict) -> str:
    return push["clocks"]["text"]


def in_flight(tab: EngineTab, note: str) -> list[str]:
    return tab.run("""const text = (await raw("unsent")).find(one => one.uniqueID === argument && one.attribute === "text")
        return text?.after ?? []""", note)  # fmt: skip


@pytest.fixture
def start(profile: Profile, server: Server):
    """A tab with a note that another device has too, and the tab's network."""

    def make(text: str = "Milk"):
        tab = profile(server)
        email = tab.sign_up()
        note = tab.run("return copy.createNote({text: argument})", text)
        tab.identical()
        device = device_of(server, email)
        device.sync()
        return tab, device, note, Network(tab)

    return make


# Descent


def test_a_text_names_the_texts_in_flight(start) -> None:
    tab, device, note, network = start()
    base = tab.run("return copy.note(argument).textClock", note)
    first = network.lose(tab, note, "Milk and br")
    device.sync()
    device.write(note, device.text(note) + "\nEggs")
    device.sync()
    second = network.lose(tab, note, "Milk and bread")
    assert (first["textBase"], first["textAfter"]) == (base, [])
    assert (second["textBase"], second["textAfter"]) == (base, [clock_of(first)])
    assert in_flight(tab, note) == [clock_of(first), clock_of(second)]
    network.stop_losing(tab)
    device.sync()
    assert tab.text(note) == device.text(note) == "Milk and bread\nEggs"
    assert in_flight(tab, note) == []
    tab.run('await type(argument, textOf(argument) + "\\nTea"); await identical()', note)
    assert network.pushed[-1]["textAfter"] == [] and network.pushed[-1]["textBase"] == device.copy.objects[note].clock("text")
    tab.run('await copy.createNote({text: "a first text"}); await identical()')
    assert network.pushed[-1]["textAfter"] == [] and "textBase" not in network.pushed[-1]


def test_text_typed_meanwhile_descends_from_the_acknowledged_text(start) -> None:
    tab, device, note, network = start()
    first = network.lose(tab, note, "Milk and br")
    network.lose_responses = False
    network.hold(tab)
    tab.run('await type(argument, "Milk and bread")', note)
    network.release()
    tab.identical()
    assert network.pushed[-1]["textBase"] == clock_of(first) and network.pushed[-1]["textAfter"] == []
    device.sync()
    assert device.text(note) == "Milk and bread"


def test_twenty_texts_in_flight(start) -> None:
    tab, device, note, network = start()
    texts = [f"Milk{' and bread' * count}" for count in range(1, 21)]
    for text in texts[:MAX_IN_FLIGHT]:
        network.lose(tab, note, text)
    for text in texts[MAX_IN_FLIGHT:]:
        count = len(network.pushed)
        tab.run("await type(...argument); engine.syncNow()", [note, text])
        for _ in range(300):
            if len(network.pushed) > count:
                break
            tab.page.wait_for_timeout(20)
    device.sync()
    device.write(note, device.text(note) + "\nEggs")
    device.sync()
    known = {clock_of(push): push for push in network.pushed}
    assert len(known) == MAX_IN_FLIGHT and [push["text"] for push in known.values()] == texts[:MAX_IN_FLIGHT]
    assert network.pushed[-1] == known[clock_of(network.pushed[-1])] and network.pushed[-1]["text"] == texts[MAX_IN_FLIGHT - 1]
    assert max(len(push["textAfter"]) for push in network.pushed) == MAX_IN_FLIGHT - 1
    tab.reload()
    network.stop_losing(tab)
    device.sync()
    assert tab.text(note) == device.text(note) == texts[-1] + "\nEggs"
    assert in_flight(tab, note) == []


def test_a_reload_keeps_texts_in_flight(start) -> None:
    tab, device, note, network = start()
    first = network.lose(tab, note, "Milk and br")
    tab.reload()
    second = network.lose(tab, note, "Milk and bread")
    assert second["textAfter"] == [clock_of(first)]
    tab.reload()
    device.sync()
    device.write(note, "Eggs\n" + device.text(note))
    device.sync()
    network.stop_losing(tab)
    device.sync()
    assert tab.text(note) == device.text(note) == "Eggs\nMilk and bread"


def test_signing_in_again_keeps_texts_in_flight(start) -> None:
    """merge.md, case 35."""
    tab, device, note, network = start()
    first = network.lose(tab, note, "Milk and br")
    device.client.delete(f"/v1/devices/{tab.run('return copy.session.device.uniqueID')}")
    network.lose_responses = False
    tab.run('engine.syncNow(); await until(() => engine.status.phase === "expired", "expired")')
    tab.run('await type(argument, "Milk and bre")', note)
    network.lose_responses = True
    tab.sign_in(device.client.email)
    last = network.lose(tab, note, "Milk and bread")
    named = [clock_of(push) for push in network.pushed if push["text"] == "Milk and bre"][:1]
    assert last["textAfter"] == [clock_of(first), *named]
    assert clock_of(last)[-16:] == tab.run("return copy.session.device.uniqueID") != clock_of(first)[-16:]
    network.stop_losing(tab)
    device.sync()
    assert tab.text(note) == device.text(note) == "Milk and bread"


@pytest.mark.thorough
def test_three_tabs_share_texts_in_flight(start) -> None:
    one, device, note, network = start()
    tabs = (one, one.another(), one.another())
    texts = ["Milk", *(f"Milk{' and bread' * count}" for count in range(1, 21))]
    clocks_sent: list[str] = []
    for number, (before, text) in enumerate(itertools.pairwise(texts)):
        tab = tabs[number % 3]
        tab.run("await until(() => textOf(argument[0]) === argument[1], 'the text')", [note, before])
        if number < MAX_IN_FLIGHT:
            push = network.lose(tab, note, text)
            assert push["textAfter"] == clocks_sent
            clocks_sent.append(clock_of(push))
        else:
            tab.run("await type(...argument); engine.syncNow()", [note, text])
    device.sync()
    device.write(note, device.text(note) + "\nTea")
    device.sync()
    # The leader is closed, and another tab sends the rest.
    one.close()
    network.stop_losing(*tabs[1:])
    device.sync()
    for text in (tabs[1].text(note), tabs[2].text(note), device.text(note)):
        assert text == texts[-1] + "\nTea"
    assert in_flight(tabs[1], note) == []


def test_a_text_with_a_refused_clock_gets_a_new_one(start) -> None:
    tab, device, note, network = start()
    tab.context.set_offline(True)
    tab.run("""
        await copy.transaction(["meta"], "readwrite", async tx => {
          tx.put("meta", {...await tx.get("meta", "clock"), greatest: "2031-01-01T00:00:00.000Z-0000-9f86d081884c7d65"}, "clock")
        })
        await type(argument, "Milk and bread")""", note)
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical()")
    device.sync()
    assert device.text(note) == "Milk and bread" and clock_of(network.pushed[-1]) < "2031"
    assert in_flight(tab, note) == []


# Restored texts


class Restored:
    """A server that is restored with `hesper restore`, which signs out all devices."""

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
        """The server acknowledges a line of the tab, and is then restored to before it. Another device, which never saw the
        line, writes another one."""
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
        """Goes online. The tab detects that it was signed out, and signs in again."""
        tab.context.set_offline(False)
        tab.run('engine.syncNow(); await until(() => engine.status.phase === "expired", "expired")')
        tab.sign_in(email)


@pytest.fixture
def restored(fresh_server: Server, tmp_path: Path) -> Restored:
    return Restored(fresh_server, tmp_path)


def test_an_acknowledged_text_is_restored_although_the_server_has_a_greater_one(profile: Profile, restored: Restored) -> None:
    """merge.md, case 36: otherwise the line would be in no history."""
    tab = profile(restored.server)
    email = tab.sign_up()
    note = tab.run('return copy.createNote({text: "Milk\\n\\nBread\\n"})')
    tab.identical()
    other = restored.lose_line(tab, note, email)
    given = tab.run("return copy.note(argument).textClock", note)
    assert other.copy.objects[note].clock("text") > given
    network = Network(tab)
    restored.sign_in(tab, email)
    tab.identical(30)
    [push] = [push for push in network.pushed if clock_of(push) == given]
    assert (push["textBase"], push["textAfter"], push["text"]) == (given, [], "Milk\n\nBread\nmine\n")
    other.sync()
    assert tab.text(note) == other.text(note) == "theirs\nMilk\n\nBread\nmine\n"
    assert tab.run('return raw("relays")') == []


@pytest.mark.parametrize("when", ["while it is read", pytest.param("before it is given back", marks=pytest.mark.thorough)])
def test_texts_to_be_restored_survive_a_reload(profile: Profile, restored: Restored, when: str) -> None:
    """By then the copy contains the greater text, so the other one must have been stored separately."""
    tab = profile(restored.server)
    email = tab.sign_up()
    # More notes than one page of a sync contains.
    tab.run('await copy.createNotes(Array.from({length: 600}, (_, n) => ({text: `note ${n}`})))')
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
    # This handler precedes `cut_off`. Nothing has been restored before.
    network = Network(tab)
    tab.run("engine.syncNow(); await identical(30)")
    other.sync()
    assert tab.text(note) == other.text(note) == "theirs\nMilk\n\nBread\nmine\nunsent\n"
    [unsent] = [push for push in network.pushed if "unsent" in push["text"]]
    assert unsent["textBaseValue"] == "Milk\n\nBread\nmine\n" and unsent["textAfter"] == []


@pytest.mark.thorough
def test_two_restores_of_the_server_before_the_first_push(profile: Profile, restored: Restored) -> None:
    """Two versions of a text are restored separately, in order. The server treats the later one as a descendant of the
    earlier one (merge.md, Restored texts), which remains in the history."""
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
    network = Network(tab)
    restored.sign_in(tab, email)
    tab.identical(30)
    # The first pushes are refused, because the device is signed out and its token has expired.
    given = dict.fromkeys(push["text"] for push in network.pushed if push["textBase"] == clock_of(push))
    assert list(given) == ["Milk\n\nBread\nmine\n", "theirs\nMilk\n\nBread\n"]
    edits = tab.run("return (await engine.history(argument)).edits", note)
    assert {"Milk\n\nBread\nmine\n", "theirs\nMilk\n\nBread\n"} <= {edit["value"] for edit in edits if edit["attribute"] == "text"}
    assert "theirs" in tab.text(note)
    assert tab.run('return raw("relays")') == []


# Deletions


def delete_elsewhere(client: Client, note: str, text_seen: str) -> dict:
    """A third device deletes a note after reading the text with this clock. Returns the receipt."""
    deletion = {"uniqueID": note, "objectType": "note", "textSeen": text_seen, "textAfter": []}
    [result] = client.another_device().sync({"deletedObjects": [deletion]})["results"]
    return result


def rescue_of(note: str) -> str:
    return str(uuid.uuid5(uuid.UUID(note), ""))


def delete_here(tab: EngineTab, note: str) -> None:
    """Deletes without waiting until the deletion can no longer be undone."""
    tab.run("""
        if (copy.note(argument)) await copy.remove(argument)
        await copy.transaction(["deletions"], "readwrite", async tx => {
          tx.put("deletions", {...await tx.get("deletions", argument), heldUntil: 1})
        }, "here")""", note)


def test_text_not_seen_by_a_deletion_goes_into_a_new_note(start) -> None:
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


def test_a_deletion_records_the_seen_text_when_it_is_made(start) -> None:
    """Text that arrives before the deletion is sent was not seen by the user."""
    tab, device, note, _ = start()
    tab.run("await copy.remove(argument)", note)
    device.write(note, "Milk, and more")
    device.sync()
    tab.run('await until(() => copy.memory.objects.get(argument).registers.text[0] === "Milk, and more", "the text")', note)
    delete_here(tab, note)
    tab.run("engine.syncNow(); await identical()")
    assert tab.text(rescue_of(note)) == "Milk, and more"


def test_own_texts_in_flight_count_as_seen(start) -> None:
    tab, device, note, network = start()
    network.lose(tab, note, "Milk and br")
    network.lose(tab, note, "Milk and bread")
    network.lose_responses = False
    delete_here(tab, note)
    tab.run("engine.syncNow(); await identical()")
    assert tab.run("return [copy.notes(), copy.notices()]") == [[], []]
    device.sync()
    assert device.notes == {}


def test_a_rescue_is_reported_after_a_lost_response(start) -> None:
    tab, device, note, network = start()
    tab.context.set_offline(True)
    device.write(note, "Milk, and more")
    device.sync()
    network.lose_responses = True
    delete_here(tab, note)
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await until(() => engine.status.phase === 'offline', 'lost')")
    network.stop_losing(tab)
    assert tab.text(rescue_of(note)) == "Milk, and more"
    assert tab.run("return copy.memory.deleted.get(argument).rescuedInto", note) == rescue_of(note)
    assert [one["kind"] for one in tab.run("return copy.notices()")] == ["unseen"]


@pytest.mark.parametrize(
    "how", ["never sent", *(pytest.param(how, marks=pytest.mark.thorough) for how in ("answered deleted", "sent and not answered"))]
)
def test_unsent_text_moves_to_the_rescue_note(start, how: str) -> None:
    """merge.md, case 33, with text that the server did not have when the note was deleted."""
    tab, device, note, network = start("Milk\n\nBread\n")
    seen = device.copy.objects[note].clock("text")
    tab.run('await type(argument, "Milk and oats\\n\\nBread\\n"); await identical()', note)
    if how == "sent and not answered":
        network.lose(tab, note, "Milk and oats\n\nBread\nmine, on its w")
    tab.context.set_offline(True)
    network.lose_responses = False
    tab.run('await type(argument, "Milk and oats\\n\\nBread\\nmine, on its way\\n")', note)
    result = delete_elsewhere(device.client, note, seen)
    rescued = rescue_of(note)
    assert (result["status"], result["rescuedInto"]) == ("rescued", rescued)
    # Meanwhile another device edits the new note.
    device.sync()
    device.write(rescued, "theirs\n" + device.text(rescued))
    device.sync()
    if how == "answered deleted":  # so that no event arrives before
        tab.context.route("**/v1/events*", lambda route: route.abort())
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical()")
    device.sync()
    assert tab.run("return copy.notes()") == [rescued]
    assert tab.text(rescued) == device.text(rescued) == "theirs\nMilk and oats\n\nBread\nmine, on its way\n"
    moved = network.pushed[-1]
    assert moved["uniqueID"] == rescued and moved["textBaseValue"] == "Milk and oats\n\nBread\n"
    [notice] = tab.run("return copy.notices()")
    assert (notice["kind"], notice["uniqueID"], notice["into"]) == ("rescued", note, rescued)


@pytest.mark.thorough
def test_unsent_text_follows_several_rescues(start) -> None:
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


@pytest.mark.parametrize("end", ["deleted", pytest.param("deleted here", marks=pytest.mark.thorough)])
def test_unsent_text_goes_into_another_note_if_the_rescue_note_is_deleted(start, end: str) -> None:
    tab, device, note, network = start()
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


def test_unsent_text_does_not_replace_text_in_the_rescue_note(start) -> None:
    """The rescue note already has unsent text when the deletion of the first note arrives."""
    tab, device, note, network = start()
    tab.run("await until(() => engine.status.live, 'live')")
    network.hold_requests = True
    tab.run('await type(argument, "Milk, mine")', note)
    network.hold(tab)
    rescued = rescue_of(note)
    tab.run("await copy.write(argument, 'others', {clock: null, value: ''})", rescued)
    seen = device.copy.objects[note].clock("text")
    device.write(note, "Milk\ntheirs")
    device.sync()
    delete_elsewhere(device.client, note, seen)
    own = str(uuid.uuid5(uuid.UUID(note), "Milk, mine"))
    tab.run('await until(() => textOf(argument) === "Milk, mine", "the words")', own)
    assert tab.text(rescued) == "others"
    network.release()
    tab.run("engine.syncNow(); await identical()")
    device.sync()
    assert device.text(own) == "Milk, mine"


def test_a_rescue_is_restored_on_a_restored_server(profile: Profile, restored: Restored) -> None:
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


# Superseded texts


def test_a_superseded_text_with_an_unknown_base_is_reported(start) -> None:
    """merge.md, Descent, rule 6: the greater clock wins, and the receipt contains the other text's words."""
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
