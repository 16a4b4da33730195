"""The web app's engine with another client of the same account (clients.md). Both must converge."""

import random
import threading

import pytest
from client import Server
from engine_page import Profile, device_of
from playwright.sync_api import Route


def test_browser_and_device_edit_one_note_offline_and_converge(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    note = tab.run('return copy.createNote({text: "Milk\\nBread\\nEggs"})')
    tab.identical()
    device.sync()
    tab.context.set_offline(True)
    tab.run('await until(() => engine.status.phase === "offline", "offline")')
    tab.run('await type(argument, "Oat milk\\nBread\\nEggs")', note)
    status = tab.status
    assert status["toSend"] == 1 and status["offlineSince"] and status["nextTry"] and not status["identical"]
    device.write(note, "Milk\nBread\nEggs\nCoffee")
    device.archive(note)
    device.sync()
    tab.context.set_offline(False)
    tab.identical()
    device.sync()
    assert tab.text(note) == device.text(note) == "Oat milk\nBread\nEggs\nCoffee"
    assert tab.run("return copy.note(argument).archived", note)
    assert tab.digest == device.copy.digest == device.digest


def test_changes_of_another_device_arrive_without_polling(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    tab.run('await until(() => engine.status.live, "live")')
    tab.identical()
    requests_before = tab.run('return engine.requests().filter(one => one.path === "/v1/sync").length')
    note = device.make_note("from the device", tags=[device.make_tag("Paris")])
    device.sync()
    tab.run('await until(() => textOf(argument) === "from the device", "the note")', note)
    assert tab.run("return copy.tag(copy.note(argument).tags[0]).name", note) == "Paris"
    tab.identical()
    assert tab.run('return engine.requests().filter(one => one.path === "/v1/sync").length') == requests_before


@pytest.mark.thorough
def test_random_edits_on_both_sides_converge(profile: Profile, server: Server, seed: int) -> None:
    """Both make random edits, online and offline. Their digests must be equal afterwards."""
    chance = random.Random(seed)
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    for round_ in range(12):
        offline = chance.random() < 0.5
        tab.context.set_offline(offline)
        tab.run(
            """let seed = argument
            const chance = count => { seed = (seed * 48271) % 2147483647; return seed % count }
            const words = ["oat", "milk", "bread", "lamp", "river", "stone"]
            const act = async () => {
              const notes = copy.notes({archived: null}), note = notes[chance(notes.length || 1)]
              const action = note ? chance(9) : 0
              if (action < 2) await copy.createNote({text: words[chance(6)] + "\\n" + words[chance(6)]})
              else if (action < 5) await type(note, copy.note(note).text + "\\n" + words[chance(6)] + " " + chance(100))
              else if (action === 5) await copy.setArchived([note], chance(2) === 0)
              else if (action === 6) await copy.addTag(note, await copy.createTag(words[chance(6)]))
              else if (action === 7) await copy.setAttribute(note, "pinned", chance(2) === 0)
              else if (copy.note(note).tags.length) await copy.removeTag(note, copy.note(note).tags[0])
            }
            // The other may have deleted it this very moment.
            for (let i = 0; i < 12; i++) await act().catch(error => { if (error.slug !== "gone") throw error })
            if (chance(3) === 0 && copy.notes().length) {
              const id = copy.notes()[0]
              await copy.remove(id)
              await copy.transaction(["deletions"], "readwrite", async tx => {
                tx.put("deletions", {...await tx.get("deletions", id), heldUntil: 1})
              }, "here")
            }""",
            chance.randrange(1, 1 << 30),
        )
        for _ in range(10):
            notes = list(device.notes)
            note = chance.choice(notes) if notes else None
            match chance.randrange(7) if note else 0:
                case 0 | 1:
                    device.make_note(f"device {chance.random()}")
                case 2 | 3:
                    device.write(note, f"{device.text(note)}\nline {chance.randrange(100)}")
                case 4:
                    device.archive(note, chance.random() < 0.5)
                case 5:
                    device.tag(note, device.make_tag(chance.choice(["Oat", "RIVER", "other"])))
                case 6:
                    if chance.random() < 0.4:
                        device.delete(note)
        device.sync()
        if round_ % 3 == 2:
            tab.context.set_offline(False)
            tab.run("engine.syncNow(); await identical()")
            device.sync()
            tab.identical()
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical(30)")
    device.sync()
    # The status "identical" may refer to an earlier state until the event arrives.
    tab.run("await until(() => engine.rounds.record.digest === argument, 'the same digest')", device.copy.digest)
    assert device.copy.digest == device.digest
    tab.identical()
    shown = tab.run("return copy.notes({archived: null}).map(id => [id, copy.note(id).text, copy.note(id).tags])")
    assert {id_: (text, tags) for id_, text, tags in shown} == {
        id_: (note["text"], note["tags"]) for id_, note in device.notes.items()
    }
    assert not tab.run("return copy.shelf()")


@pytest.mark.thorough
def test_a_lost_response_causes_no_conflict(profile: Profile, server: Server) -> None:
    """merge.md, case 25: text typed after a lost response is neither duplicated nor in conflict."""
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    note = tab.run('return copy.createNote({text: "One."})')
    tab.identical()
    device.sync()
    lost = []

    def lose(route: Route) -> None:
        if route.request.post_data_json.get("changes") and len(lost) < 3:
            lost.append(route.fetch().status)
            return route.abort()
        return route.continue_()

    tab.page.route("**/v1/sync", lose)
    tab.run('await type(argument, "One. Two.")', note)
    tab.run('await until(() => engine.status.phase === "offline", "offline")')
    assert lost[0] == 200
    device.sync()
    device.write(note, "One. Two.\nAnd a line.")
    device.sync()
    tab.run('await type(argument, copy.note(argument).text + " Three.")', note)
    tab.identical(30)
    device.sync()
    assert tab.text(note) == device.text(note) == "One. Two. Three.\nAnd a line."
    assert tab.digest == device.copy.digest


def test_many_unsent_changes_are_split_into_pushes(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    tab.identical()
    tab.context.set_offline(True)
    tab.run("""
        const tag = await copy.createTag("many")
        const notes = Array.from({length: 2300}, (_, n) => ({text: `note ${n}`, tags: [tag]}))
        while (notes.length) await copy.createNotes(notes.splice(0, 500))
    """)
    assert tab.status["toSend"] == 2301
    tab.context.set_offline(False)
    tab.run("engine.syncNow()")
    tab.identical(60)
    pushes = tab.run('return engine.requests().filter(one => one.path === "/v1/sync" && one.status === 200).length')
    assert pushes >= 3  # one without changes, and two with 1,500 and 801 objects
    device.sync()
    assert len(device.notes) == 2300 and tab.digest == device.copy.digest
    assert all(len(note["tags"]) == 1 for note in device.notes.values())


def test_a_large_account_is_read_in_pages_with_progress(profile: Profile, server: Server) -> None:
    first = server.client()
    first.sync({"notes": [
        {"uniqueID": f"00000000-0000-4000-8000-{n:012x}", "creationDate": "2026-11-21T12:00:00.000Z",
         "text": f"note {n}", "clocks": {"text": f"2026-11-21T12:00:00.000Z-{n:04x}-{first.device['uniqueID']}"}}
        for n in range(1900)
    ]})  # fmt: skip
    tab = profile(server)
    tab.run("""globalThis.seen = []
        engine.addEventListener("status", () => seen.push(engine.status.toFetch.objects))""")
    tab.sign_in(first.email)
    tab.identical(30)
    assert tab.run("return copy.notes().length") == 1900
    seen = tab.run("return seen")
    assert max(seen) > 500 and seen[-1] == 0


def test_an_edit_during_a_first_sync(profile: Profile, server: Server) -> None:
    """The next page has been requested already when the edit is made. It is requested again, together with the edit."""
    first = device_of(server, server.client().email)
    for n in range(300):
        first.make_note(f"note {n}")
    first.sync()
    tab = profile(server)
    tab.run("""
        const {http} = engine.rounds
        const send = http.send.bind(http)
        globalThis.sent = []
        http.send = async (method, path, options) => {
          if (path === "/v1/sync" && sent.push(options.json) === 2) copy.createNote({text: "meanwhile"})
          return send(method, path, options)
        }""")
    tab.sign_in(first.client.email)
    tab.identical(30)
    begin, ahead, again = tab.run("return sent.slice(0, 3)")
    assert "syncToken" not in begin and ahead["syncToken"] == again["syncToken"]
    assert "changes" not in ahead and len(again["changes"]["notes"]) == 1
    first.sync()
    assert len(first.notes) == 301 and tab.digest == first.copy.digest


def test_an_object_that_the_mirror_lacks(profile: Profile, server: Server) -> None:
    """Another tab may have stored an object a moment ago. It is merged with what the server sends, not replaced."""
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    note = tab.run('return copy.createNote({text: "Bread"})')
    tab.identical()
    device.sync()
    tab.context.set_offline(True)
    tab.run("await until(() => engine.status.offlineSince, 'offline'); copy.memory.objects.delete(argument)", note)
    device.archive(note)
    device.sync()
    tab.context.set_offline(False)
    tab.run('await until(() => copy.note(argument)?.archived, "the note")', note)
    tab.identical()
    assert tab.text(note) == "Bread" and tab.digest == device.copy.digest


def test_the_server_is_killed_while_the_browser_pushes(profile: Profile, fresh_server: Server) -> None:
    server = fresh_server
    tab = profile(server)
    email = tab.sign_up()
    tab.identical()
    is_over = threading.Event()

    def kill_repeatedly() -> None:
        for _ in range(6):
            if is_over.wait(0.5):
                return
            server.kill()
            server.start()

    killer = threading.Thread(target=kill_repeatedly)
    killer.start()
    try:
        texts = tab.run("""
            const texts = {}
            for (let n = 0; n < 60; n++) {
              const id = await copy.createNote({text: `note ${n}`})
              await type(id, `note ${n}\\nand more`)
              texts[id] = textOf(id)
              await later(50)
            }
            return texts""")
    finally:
        is_over.set()
        killer.join()
    tab.run("engine.syncNow(); await identical(40)")
    device = device_of(server, email)
    device.sync()
    assert {id_: note["text"] for id_, note in device.notes.items()} == texts
    assert device.copy.digest == tab.digest


def test_an_expired_session_loses_no_text(profile: Profile, server: Server) -> None:
    tab = profile(server)
    email = tab.sign_up()
    device = device_of(server, email)
    note = tab.run('return copy.createNote({text: "before"})')
    tab.identical()
    device.client.delete(f"/v1/devices/{tab.run('return copy.session.device.uniqueID')}")
    tab.run("""
        await type(argument, "before and after")
        await until(() => engine.status.phase === "expired", "expired")
        await type(argument, "before and after that")""", note)
    assert tab.status["toSend"] == 1
    tab.reload()
    assert tab.status["phase"] == "expired" and tab.text(note) == "before and after that"
    # Another account cannot sign in while these notes are stored.
    other = server.client()
    assert tab.run("return thrown(() => engine.signIn(argument))",
                   {"email": other.email, "password": other.password, "deviceName": "x"}) == "other-account"  # fmt: skip
    assert tab.status["phase"] == "expired" and tab.text(note) == "before and after that"
    tab.sign_in(email)
    tab.identical()
    device.sync()
    assert device.text(note) == "before and after that"


def test_unsent_text_of_a_deleted_note_goes_into_a_new_note(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    note = tab.run("""
        const tag = await copy.createTag("kept")
        return copy.createNote({text: "a thought", tags: [tag]})""")
    tab.identical()
    device.sync()
    tab.context.set_offline(True)
    tab.run('await type(argument, "a thought, finished")', note)
    device.delete(note)
    device.sync()
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical()")
    device.sync()
    assert tab.text(note) is None
    [rescued] = tab.run("return copy.notes()")
    assert tab.text(rescued) == device.text(rescued) == "a thought, finished"
    assert len(device.note(rescued)["tags"]) == 1
    [notice] = tab.run("return copy.notices()")
    assert notice["kind"] == "rescued" and notice["into"] == rescued and notice["uniqueID"] == note


def test_text_replaced_by_a_merge_is_reported(profile: Profile, server: Server) -> None:
    """merge.md, case 8: the author of the replaced words is notified."""
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    note = tab.run('return copy.createNote({text: "The car is red."})')
    tab.identical()
    device.sync()
    tab.context.set_offline(True)
    tab.run('await type(argument, "The car is blue.")', note)
    # The clients' estimates of their clock offsets differ by some milliseconds.
    device.clock.observe(tab.run("return copy.note(argument).textClock", note))
    device.write(note, "The car is green.")
    device.sync()
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical()")
    assert tab.text(note) == "The car is green."
    [notice] = tab.run("return copy.notices()")
    assert notice["kind"] == "merged" and notice["superseded"] == [{"text": "blue", "location": 11, "length": 5}]
    assert notice["clock"] == tab.run("return copy.note(argument).textClock", note)


def test_a_rejected_field_does_not_block_others(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    note = tab.run('return copy.createNote({text: "good"})')
    tab.identical()
    # The app's interface does not allow such a value, but another version might.
    tab.run("""
        const {edit} = await import("/js/store/records.js")
        await copy.transaction(["unsent", "meta"], "readwrite", tx => {
          return edit(tx, "note", argument, "attributes.large", "x".repeat(9000))
        }, "here")
        await type(argument, "better")""", note)
    tab.identical()
    device.sync()
    assert device.text(note) == "better"
    [refused] = tab.run("return copy.shelf()")
    assert refused["attribute"] == "attributes.large" and refused["problem"]["slug"] in ("invalid-field", "too-large")
    assert tab.status["toSend"] == 0


def test_a_refused_member_goes_on_the_shelf_alone(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    tag = tab.run('return copy.createTag("Home")')
    note = tab.run('return copy.createNote({text: "good", tags: [argument]})', tag)
    tab.identical()
    # No page makes such a name; another version of the app might.
    tab.run("""
        const {edit} = await import("/js/store/records.js")
        await copy.transaction(["unsent", "meta"], "readwrite", async tx => {
          await edit(tx, "note", argument[0], "tags.no ID", true)
          await edit(tx, "note", argument[0], `tags.${argument[1]}`, false)
        }, "here")
        await engine.syncNow()""", [note, tag])
    tab.identical()
    device.sync()
    assert device.note(note)["tags"] == []
    [refused] = tab.run("return copy.shelf()")
    assert (refused["attribute"], refused["problem"]["slug"]) == ("tags.no ID", "invalid-field")
    assert tab.status["toSend"] == 0


def test_edits_with_a_clock_ahead_get_new_clocks(profile: Profile, server: Server) -> None:
    """merge.md, case 18."""
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    note = tab.run('return copy.createNote({text: "one"})')
    tab.identical()
    tab.context.set_offline(True)
    tab.run("""
        await copy.transaction(["meta"], "readwrite", async tx => {
          tx.put("meta", {...await tx.get("meta", "clock"), greatest: "2031-01-01T00:00:00.000Z-0000-9f86d081884c7d65"}, "clock")
        })
        await type(argument, "two")
        await type(argument, "three")
        await copy.setArchived([argument], true)""", note)
    assert tab.run("return copy.note(argument).textClock", note) > "2031"
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical()")
    device.sync()
    assert device.text(note) == "three" and device.note(note)["archived"]
    assert device.copy.objects[note].clock("text") < "2031"


def test_typing_is_reported_to_other_devices(profile: Profile, server: Server) -> None:
    tab, other = profile(server), profile(server)
    other.sign_in(tab.sign_up(), "other")
    note = tab.run('return copy.createNote({text: "x"})')
    for one in (tab, other):
        one.run('await until(() => engine.status.listeners === 1 && copy.note(argument), "a listener")', note)
    other.run('globalThis.received = []; engine.addEventListener("typing", event => received.push(event.detail))')
    tab.run("engine.typing(argument); engine.typing(argument)", note)
    other.run('await until(() => received.length, "typing")')
    [received] = other.run("await later(200); return received")
    assert received["uniqueID"] == note and received["device"]["name"] == "browser"
