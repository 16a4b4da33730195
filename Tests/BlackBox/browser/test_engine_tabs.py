"""All tabs of a browser are one client (clients.md, rule 12). One tab leads and shares its state with the others."""

from attachments import attach, some_bytes
from client import Server
from engine_page import EngineTab, Profile, device_of
from playwright.sync_api import APIResponse, Route


def leaders(*tabs: EngineTab) -> list[bool]:
    return [tab.status["leads"] for tab in tabs]


def wait_until_leads(tab: EngineTab) -> None:
    tab.run('await until(() => engine.status.leads, "leads")')


def test_one_tab_leads_and_all_have_the_same_status(profile: Profile, server: Server) -> None:
    first = profile(server)
    device = device_of(server, first.sign_up())
    second = first.another()
    second.run('await until(() => engine.status.phase === "synced" && engine.status.live, "told")')
    assert leaders(first, second) == [True, False]
    note = second.run('return copy.createNote({text: "in the second"})')
    assert second.status["phase"] != "synced" or second.status["toSend"] == 0
    second.identical()
    device.sync()
    assert device.text(note) == "in the second"
    device.write(note, "from elsewhere")
    device.sync()
    for tab in (first, second):
        tab.run('await until(() => textOf(argument) === "from elsewhere", "the text")', note)
    # All tabs share one stream and one log of requests.
    streams = 'return engine.requests().filter(one => one.path === "/v1/events").length'
    assert first.run(streams) == second.run(streams) == 1
    second.run("engine.syncNow(); const count = engine.requests().length; await until(() => engine.requests().length > count)")
    assert first.run("return engine.requests().length") == second.run("return engine.requests().length")


def test_another_tab_leads_when_the_leader_is_closed(profile: Profile, server: Server) -> None:
    first = profile(server)
    first.sign_up()
    first.run('await until(() => engine.status.live, "live")')
    second, third = first.another(), first.another()
    second.identical()
    # The last edit of the closed tab is still sent.
    note = first.run('return copy.createNote({text: "last words"})')
    first.close()
    third.run('await until(() => textOf(argument) === "last words", "the note")', note)
    third.identical()
    wait_until_leads(second)  # it is the first in the queue
    assert leaders(second, third) == [True, False]
    second.identical()


def test_a_hidden_leader_hands_over_to_a_visible_tab(profile: Profile, server: Server) -> None:
    first = profile(server)
    first.sign_up()
    first.identical()
    hidden, seen = first.another(), first.another()
    hidden.visible(False)
    seen.identical()
    first.visible(False)
    # The hidden tab was first in the queue and passes leadership on to the visible one.
    wait_until_leads(seen)
    assert leaders(first, hidden, seen) == [False, False, True]
    seen.run('await until(() => engine.status.live, "live")')
    # The leader stays leader while no other tab is visible.
    seen.visible(False)
    first.run("await later(300)")
    assert leaders(first, hidden, seen) == [False, False, True]
    hidden.visible(True)
    wait_until_leads(hidden)
    note = seen.run('return copy.createNote({text: "still goes out"})')
    hidden.run('await until(() => textOf(argument), "the note"); await identical()', note)
    seen.identical()


def test_two_tabs_never_generate_the_same_clock(profile: Profile, server: Server) -> None:
    first = profile(server)
    device = device_of(server, first.sign_up())
    second = first.another()
    note = first.run('return copy.createNote({text: "0"})')
    second.run('await until(() => textOf(argument), "the note")', note)
    for tab in (first, second):
        tab.page.evaluate("""note => { globalThis.work = (async () => {
            for (let n = 0; n < 40; n++) {
              await copy.setAttribute(note, "counter", `${n} ${Math.random()}`)
              await copy.createNote({text: `${n}`})
            }
        })() }""", note)
    for tab in (first, second):
        tab.run("await work")
    first.identical()
    device.sync()
    assert len(device.notes) == 81 and first.digest == device.copy.digest
    edits = device.client.get(f"/v1/notes/{note}/edits", params={"limit": 200}).json()["edits"]
    clocks = [edit["clock"] for edit in edits]
    assert len(clocks) == len(set(clocks))


def test_signing_out_in_one_tab_signs_out_all_tabs(profile: Profile, server: Server) -> None:
    first = profile(server)
    device = device_of(server, first.sign_up())
    second = first.another()
    second.run('await until(() => copy.session, "the session")')
    note = second.run('return copy.createNote({text: "sent before"})')
    second.run("await identical(); await engine.signOut()")
    first.run('await until(() => engine.status.phase === "signed-out" && !copy.notes().length, "signed out")')
    assert second.status["phase"] == "signed-out" and second.run("return copy.notes()") == []
    device.sync()
    assert device.text(note) == "sent before"
    assert len(device.client.get("/v1/devices").json()["devices"]) == 1
    # Another account can now use this browser.
    second.sign_up()
    second.identical()
    assert first.run("return copy.session.account.email") == second.run("return copy.session.account.email")


def test_nothing_is_saved_after_signing_out(profile: Profile, server: Server) -> None:
    """A response and bytes that arrive later do not get into the erased copy, which may soon belong to another account."""
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    tab.identical()
    held: list[tuple[Route, APIResponse]] = []
    for path in ("**/v1/sync", "**/v1/attachments/*/data"):
        tab.page.route(path, lambda route: held.append((route, route.fetch())))
    picture = attach(device.client, some_bytes(1_000))
    device.edit(device.make_note("Soup"), f"attachments.{picture}", True)
    device.sync()
    tab.run('await until(() => copy.attachment(argument), "the picture")', picture)
    tab.run("engine.syncNow()")
    for _ in range(600):
        if len(held) > 1:
            break
        tab.page.wait_for_timeout(50)
    assert {"sync", "data"} <= {route.request.url.rpartition("/")[2] for route, _ in held}
    tab.run("await engine.signOut()")
    for route, response in held:
        route.fulfill(response=response)
    tab.page.wait_for_timeout(500)
    for store in ("objects", "bytes", "meta"):
        assert tab.run("return raw(argument)", store) == [], store
    assert tab.status["phase"] == "signed-out" and not tab.status["problem"]
