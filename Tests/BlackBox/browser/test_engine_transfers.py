"""Transfer of attachment bytes between browser and server (clients.md, rule 11)."""

import time

import pytest
from attachments import attach, data_path, download, sha256, some_bytes
from client import Server
from engine_page import EngineTab, Profile, device_of
from playwright.sync_api import Route

# Bytes that can be generated in JavaScript and Python.
BYTES = "Uint8Array.from({length: argument}, (_, n) => (n * 31 + (n >> 8)) & 255)"


def these_bytes(count: int) -> bytes:
    return bytes((n * 31 + (n >> 8)) & 255 for n in range(count))


def attach_here(tab: EngineTab, count: int, mime_type: str = "image/png") -> tuple[str, str]:
    """Creates a note with an attachment. Returns their IDs."""
    return tuple(tab.run(f"""
        const id = await copy.createNote({{text: "with bytes"}})
        return [id, await copy.attach(id, new Blob([{BYTES}]), {{mimeType: "{mime_type}", filename: "a.bin"}})]""", count))


def test_bytes_are_uploaded_before_their_attachment(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    note, attachment = attach_here(tab, 50_000)
    tab.identical()
    device.sync()
    assert device.note(note)["attachments"] == [attachment]
    assert download(device.client, attachment) == these_bytes(50_000)
    paths = tab.run("return engine.requests().map(one => one.method + ' ' + one.path)")
    assert f"PUT {data_path(attachment)}" in paths
    assert tab.status["uploads"] == {"count": 0, "sent": 0, "total": 0}


def test_a_large_upload_continues_after_a_reload(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    tab.identical()
    size, parts = 11 << 20, []

    def break_off(route: Route) -> None:
        offset = int(route.request.headers["upload-offset"])
        parts.append(offset)
        # The second part is lost.
        return route.abort() if offset and parts.count(offset) == 1 else route.continue_()

    tab.page.route("**/v1/uploads/*", lambda route: break_off(route) if route.request.method == "PATCH" else route.continue_())
    note, attachment = attach_here(tab, size, "application/zip")
    tab.run('await until(() => engine.requests().some(one => one.method === "PATCH" && one.status), "the first part")')
    uploads = tab.status["uploads"]
    assert uploads["count"] == 1 and uploads["total"] == size and tab.status["phase"] != "synced"
    tab.reload()
    tab.identical(30)
    assert parts.count(0) == 1, "the first part went up twice"
    assert "HEAD" in tab.run('return engine.requests().filter(one => one.path.startsWith("/v1/uploads/")).map(one => one.method)')
    device.sync()
    assert device.note(note)["attachments"] == [attachment]
    assert download(device.client, attachment) == these_bytes(size)
    assert tab.run('return raw("uploads")') == []


def test_pictures_are_downloaded_automatically_and_large_files_on_demand(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    pictures = [attach(device.client, some_bytes(20_000, n)) for n in range(5)]
    large = attach(device.client, some_bytes(5 << 20, 9), "application/zip")
    for member in [*pictures, large]:
        note = device.make_note(f"holds {member}")
        device.edit(note, f"attachments.{member}", True)
    device.sync()
    tab.identical()
    tab.run('await until(() => argument.every(id => copy.attachment(id).isHere), "pictures")', pictures)
    tab.run('await until(() => !engine.status.downloads.count, "done")')
    assert not tab.run("return copy.attachment(argument).isHere", large)
    hash_ = """
        const bytes = await (await engine.want(argument)).arrayBuffer()
        return [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].map(b => b.toString(16).padStart(2, "0")).join("")"""
    assert tab.run(hash_, large) == sha256(some_bytes(5 << 20, 9))
    assert tab.run(hash_, pictures[0]) == sha256(some_bytes(20_000, 0))
    assert tab.run("return copy.attachment(argument).isHere", large)


def test_at_most_three_concurrent_downloads_with_the_open_note_first(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    tab.identical()
    notes = {}
    for n in range(9):
        member = attach(device.client, some_bytes(1_000, n))
        note = device.make_note(f"note {n}")
        device.edit(note, f"attachments.{member}", True)
        notes[note] = member
    held, order = [], []
    tab.page.route("**/v1/attachments/*/data", lambda route: (held.append(route), order.append(route.request.url)))
    # The oldest note would be last.
    last = next(iter(notes))
    tab.run("engine.opened(argument)", last)
    device.sync()
    tab.run('await until(() => engine.status.downloads.count === 9, "downloads")')
    for _ in range(600):
        if len(held) == 3:
            break
        tab.page.wait_for_timeout(50)
    tab.page.wait_for_timeout(500)
    assert len(held) == 3 and notes[last] in order[0]
    for n in range(9):
        for _ in range(100):
            tab.page.wait_for_timeout(100)
            if held:
                break
        assert 1 <= len(held) <= 3, f"{len(held)} held, {n} released"
        held.pop(0).continue_()
    tab.run('await until(() => argument.every(id => copy.attachment(id).isHere), "all")', list(notes.values()))
    assert len(order) == 9


def test_damaged_downloads_are_discarded(profile: Profile, server: Server) -> None:
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    tab.identical()
    member = attach(device.client, some_bytes(1_000))
    tab.page.route("**/v1/attachments/*/data", lambda route: route.fulfill(body=some_bytes(1_000, 2)))
    note = device.make_note("x")
    device.edit(note, f"attachments.{member}", True)
    device.sync()
    # The automatic download comes first. It is postponed after it was refused.
    tab.run('await until(() => engine.requests().some(one => one.path === argument), "a download")', data_path(member))
    assert tab.run("return thrown(() => engine.want(argument))", member) == "damaged"
    assert not tab.run("return copy.attachment(argument).isHere", member)
    tab.page.unroute("**/v1/attachments/*/data")
    assert tab.run("return (await engine.want(argument)).size", member) == 1_000


@pytest.mark.thorough
def test_a_download_may_take_longer_than_the_timeout(profile: Profile, server: Server) -> None:
    """The timeout of 120 s is the time without a byte."""
    tab = profile(server)
    device = device_of(server, tab.sign_up())
    tab.identical()
    network = tab.context.new_cdp_session(tab.page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": 6_000, "uploadThroughput": -1}
    network.send("Network.emulateNetworkConditions", slow)
    member = attach(device.client, some_bytes(840_000))
    device.edit(device.make_note("x"), f"attachments.{member}", True)
    device.sync()
    begin = time.monotonic()
    tab.run('await until(() => copy.attachment(argument)?.isHere, "the file", 250)', member)
    assert time.monotonic() - begin > 120


def test_a_refused_upload_does_not_block_other_changes(profile: Profile) -> None:
    with Server(environment={"HESPER_QUOTA": "1MiB"}) as server:
        tab = profile(server)
        device = device_of(server, tab.sign_up())
        note, _ = attach_here(tab, 2 << 20)
        tab.run('await until(() => engine.status.problem, "a problem")')
        assert tab.status["problem"]["slug"] == "quota-exceeded" and tab.status["phase"] == "waiting"
        tab.run('await type(argument, "still goes out")', note)
        tab.run('await until(async () => (await raw("unsent")).every(one => one.attribute !== "text"), "the text is sent")')
        device.sync()
        assert device.text(note) == "still goes out" and device.note(note)["attachments"] == []


def test_a_permanently_refused_file_is_reported(profile: Profile, server: Server) -> None:
    tab = profile(server)
    tab.sign_up()
    tab.identical()
    tab.page.route("**/v1/attachments/*/data", lambda route: route.fulfill(
        status=413, content_type="application/problem+json",
        body='{"slug": "too-large", "title": "Too large", "status": 413, "detail": "At most 1 MiB."}'))
    note, attachment = attach_here(tab, 1_000)
    tab.run('await until(() => copy.shelf().length, "the shelf")')
    tab.identical()
    [refused] = tab.run("return copy.shelf()")
    assert refused["uniqueID"] == attachment and refused["note"] == note and refused["problem"]["slug"] == "too-large"
    assert tab.run("return copy.note(argument).attachments", note) == []
