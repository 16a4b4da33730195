"""Retry-After, proxies that buffer streams, and insecure contexts (clients.md, rules 9 and 12)."""

import pytest
from client import Server
from engine_page import Profile, device_of
from playwright.sync_api import Route

PROBLEM = '{"slug": "%s", "title": "Wait", "status": %d, "detail": "Not now."}'


def test_retry_after_is_honoured(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    tab.run('await until(() => engine.status.live, "live")')
    tab.identical()
    responses = [(503, "unavailable"), (429, "too-many-requests")]

    def refuse(route: Route) -> None:
        if not responses:
            return route.continue_()
        status, slug = responses.pop(0)
        return route.fulfill(status=status, body=PROBLEM % (slug, status), content_type="application/problem+json",
                             headers={"Retry-After": "3"})  # fmt: skip

    tab.page.route("**/v1/sync", refuse)
    note = tab.run('globalThis.begun = Date.now(); return copy.createNote({text: "x"})')
    tab.run('await until(() => engine.status.problem, "a problem")')
    status = tab.status
    assert status["phase"] == "waiting" and status["problem"]["slug"] == "unavailable" and status["toSend"] == 1
    assert status["nextTry"] - tab.run("return begun") > 2_900
    # Typing meanwhile does not cause an earlier request.
    tab.run('await type(argument, "x y")', note)
    tab.identical(20)
    assert tab.run("return Date.now() - begun") > 5_800
    assert tab.run('return engine.requests().filter(one => one.problem).map(one => one.problem)') == [
        "unavailable", "too-many-requests"]  # fmt: skip
    device.sync()
    assert device.text(note) == "x y"


def test_the_client_polls_if_no_stream_gets_through(profile: Profile, server: Server) -> None:
    tab = profile(server)
    held: list[Route] = []
    tab.page.route("**/v1/events*", lambda route: held.append(route))  # like a proxy that buffers the whole response
    device = device_of(server, tab.sign_up())
    tab.run('await until(() => engine.status.phase === "synced", "synced")')
    note = device.make_note("polled")
    device.sync()
    tab.run('await until(() => textOf(argument) === "polled", "the note", 25)', note)
    assert not tab.status["live"] and len(held) == 1


def test_an_interrupted_stream_resumes_without_missing_changes(
    profile: Profile, fresh_server: Server, everything: bool
) -> None:
    tab = profile(fresh_server)
    device = device_of(fresh_server, tab.sign_up())
    tab.run('await until(() => engine.status.live, "live")')
    for number in range(3 if everything else 1):
        fresh_server.restart()
        note = device.make_note(f"after {number}")
        device.sync()
        tab.run('await until(() => textOf(argument), "the note", 20)', note)
    tab.run('engine.syncNow(); await until(() => engine.status.live, "live again", 30); await identical()')
    # It must not send requests continuously.
    for _ in range(10):  # requests in progress may finish first
        count = tab.run("return engine.requests().length")
        tab.run("await later(2000)")
        if tab.run("return engine.requests().length") == count:
            return
    raise AssertionError("the client sends requests continuously")


def test_a_response_that_is_older_than_an_event_causes_no_repair(profile: Profile, server: Server) -> None:
    """Its digest is not that of the copy, which has the later change. Nothing is read from the start because of that."""
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    tab.run('await until(() => engine.status.live, "live"); await identical()')
    requests: list[dict] = []

    def delay(route: Route) -> None:
        response = route.fetch()
        requests.append(route.request.post_data_json)
        if len(requests) == 1:
            note = device.make_note("later")
            device.sync()
            tab.run('await until(() => textOf(argument) === "later", "the event")', note)
        route.fulfill(response=response)

    tab.page.route("**/v1/sync", delay)
    tab.run('await copy.createNote({text: "mine"})')
    tab.identical()
    assert [note["text"] for note in requests[0]["changes"]["notes"]] == ["mine"]
    assert all(request.get("syncToken") for request in requests) and len(requests) < 5


@pytest.mark.thorough
def test_without_a_secure_context_each_tab_syncs_separately(profile: Profile, server: Server) -> None:
    plain = profile(server, server.url.replace("127.0.0.1", "hesper.test"))
    email = server.client().email
    plain.sign_in(email)
    device = device_of(server, email)
    other = plain.another()
    other.run('await until(() => engine.status.phase === "synced", "synced")')
    for tab in (plain, other):
        status = tab.status
        assert not status["isSecure"] and status["leads"] and not status["live"]
        assert not tab.run("return Boolean(crypto.subtle || navigator.locks)")
    note = plain.run("""
        const id = await copy.createNote({text: "one"})
        await copy.attach(id, new Blob([new Uint8Array(70_000)], {type: "image/png"}), {filename: "zeros.png"})
        return id""")
    other.run('await until(() => textOf(argument), "the note"); await type(argument, "one, two")', note)
    for tab in (plain, other):
        tab.identical(25)
    device.sync()
    assert device.text(note) == "one, two" and len(device.note(note)["attachments"]) == 1
    attachment = device.note(note)["attachments"][0]
    assert device.client.get(f"/v1/attachments/{attachment}/data").content == bytes(70_000)
    device.write(note, "one, two, three")
    device.sync()
    for tab in (plain, other):
        tab.run('await until(() => textOf(argument) === "one, two, three", "the text", 30)', note)
        tab.identical(25)


def test_after_a_day_offline_base_values_are_sent(profile: Profile, server: Server) -> None:
    """merge.md, Text: after more than a day, `textBaseValue` is sent with each text in every push of the sync."""
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    note = tab.run('return copy.createNote({text: "base"})')
    tab.identical()
    device.sync()
    tab.context.set_offline(True)
    tab.run("""
        await copy.transaction(["meta"], "readwrite", async tx => {
          tx.put("meta", {...await tx.get("meta", "sync"), lastSync: Date.now() - 2 * 86400000}, "sync")
        })
        await type(argument, "base and more")""", note)
    sent: list[dict] = []
    tab.page.on("request", lambda request: sent.append(request.post_data_json) if request.url.endswith("/v1/sync") else None)
    tab.context.set_offline(False)
    tab.run("engine.syncNow(); await identical()")
    [pushed] = [body["changes"]["notes"][0] for body in sent if body.get("changes")][-1:]
    assert pushed["textBaseValue"] == "base" and pushed["textBase"] == device.copy.objects[note].clock("text")
