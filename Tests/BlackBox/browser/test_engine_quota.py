"""Changes refused as over the quota stay in the browser, are shown, and are sent when there is space (clients.md, rule 14)."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from client import Server
from engine_page import Profile, device_of

KIB = "a" * 1024
# The number of sync requests since the tab was opened.
REFUSED = 'return engine.requests().filter(one => one.path === "/v1/sync").length'


@pytest.fixture
def small() -> Iterator[Server]:
    with Server(arguments=["--quota", "10KiB"]) as server:
        yield server


def set_quota(server: Server, email: str, quota: str) -> None:
    done = server.command("account", "set-quota", email, quota)
    assert done.returncode == 0, done.stderr


def test_large_changes_wait_for_space_and_small_ones_are_sent(profile: Profile, small: Server) -> None:
    tab = profile(small)
    email = tab.sign_up()
    device = device_of(small, email)
    note = tab.run("const id = await copy.createNote({text: argument}); await identical(); return id", KIB)
    fresh = tab.run("return copy.createNote({text: argument})", 12 * KIB)
    tab.run("await type(...argument)", [note, 12 * KIB])
    tab.run('await until(() => engine.status.held === 2, "two are held")')
    status = tab.status
    assert (status["phase"], status["problem"]["slug"], status["problem"]["detail"]) == ("waiting", "changes-held", "2")
    assert status["toSend"] == 2 and tab.run("return copy.shelf().length") == 0
    # Small changes of the same note are sent, and changes of other devices are received.
    tab.run("await copy.setArchived([argument], true)", note)
    tab.run('await until(async () => (await raw("unsent")).every(one => one.held || one.uniqueID !== argument), "sent")', note)
    device.sync()
    assert device.note(note)["archived"] and device.text(note) == KIB and fresh not in device.notes
    device.write(note, f"{KIB[:-1]}b")
    device.sync()
    # No further requests are sent while all unsent changes wait.
    tab.run("await later(1500)")
    count = tab.run(REFUSED)
    tab.run("await later(3000)")
    assert tab.run(REFUSED) <= count + 1
    # A reload keeps the state.
    tab.reload()
    tab.run('await until(() => engine.status.held === 2 && engine.status.phase === "waiting", "still held")')
    assert tab.run("return textOf(argument)", note) == 12 * KIB
    # A shortened text is sent immediately.
    tab.run('await type(argument, "short")', note)
    tab.run('await until(() => engine.status.held === 1, "one is held")')
    set_quota(small, email, "1MiB")
    tab.run("engine.syncNow(); await identical()")
    device.sync()
    assert device.text(fresh) == 12 * KIB and "short" in device.text(note)
    assert tab.status["held"] == 0 and not tab.run('return "full" in (copy.memory.meta.get("sync") ?? {})')


def test_refused_changes_are_retried_automatically(profile: Profile, small: Server) -> None:
    tab = profile(small)
    email = tab.sign_up()
    tab.identical()
    tab.run("await copy.createNote({text: argument})", 12 * KIB)
    tab.run('await until(() => engine.status.held === 1, "it is held")')
    full = 'return copy.memory.meta.get("sync").full'
    assert tab.run(full)["wait"] == 60_000
    # Simulates the end of the minute.
    soon = """await copy.transaction(["meta"], "readwrite", async tx => {
        const sync = await tx.get("meta", "sync")
        tx.put("meta", {...sync, full: {...sync.full, until: Date.now() + 500}}, "sync")
    })"""
    tab.run(soon)
    tab.reload()
    tab.run('await until(() => copy.memory.meta.get("sync").full.wait === 120000, "it was tried again")')
    set_quota(small, email, "unlimited")
    tab.run(soon)
    tab.reload()
    tab.identical(20)


def test_a_refused_note_can_be_deleted(profile: Profile, small: Server) -> None:
    tab = profile(small)
    tab.sign_up()
    tab.identical()
    note = tab.run("return copy.createNote({text: argument})", 12 * KIB)
    tab.run('await until(() => engine.status.held === 1, "it is held")')
    tab.run("await copy.remove(argument); engine.syncNow()", note)
    tab.run("await later(11_000); engine.syncNow()")  # until it can no longer be undone
    tab.identical()
    assert tab.status["held"] == 0 and tab.run("return copy.note(argument) ?? null", note) is None


@pytest.mark.thorough
def test_a_restored_server_with_a_smaller_quota_gets_all_changes_later(profile: Profile, tmp_path: Path) -> None:
    with Server() as server:
        tab = profile(server)
        email = tab.sign_up()
        first = tab.run('const id = await copy.createNote({text: "first"}); await identical(); return id')
        assert server.command("backup", str(tmp_path / "backup")).returncode == 0
        second = tab.run("const id = await copy.createNote({text: argument}); await identical(); return id", KIB)
        tab.run("await type(...argument); await identical()", [first, f"first {KIB}"])
        tab.context.set_offline(True)
        server.stop()
        shutil.rmtree(server.data)
        assert server.command("restore", str(tmp_path / "backup")).returncode == 0
        set_quota(server, email, "100")
        server.start()
        tab.context.set_offline(False)
        tab.run('engine.syncNow(); await until(() => engine.status.phase !== "offline", "back")')
        if tab.run('await later(500); return engine.status.phase') == "expired":
            tab.sign_in(email)
        tab.run('await until(() => engine.status.held === 2, "two are held", 30)')
        assert tab.run("return [textOf(argument[0]), textOf(argument[1])]", [first, second]) == [f"first {KIB}", KIB]
        set_quota(server, email, "default")
        tab.run("engine.syncNow(); await identical(30)")
        device = device_of(server, email)
        device.sync()
        assert (device.text(first), device.text(second)) == (f"first {KIB}", KIB)


def test_a_disabled_account_is_reported_and_loses_nothing(profile: Profile, small: Server) -> None:
    tab = profile(small)
    email = tab.sign_up()
    tab.identical()
    assert small.command("account", "disable", email).returncode == 0
    note = tab.run('return copy.createNote({text: "kept"})')
    tab.run('await until(() => engine.status.problem?.slug === "account-disabled", "the problem")')
    assert tab.status["phase"] == "waiting" and tab.run("return textOf(argument)", note) == "kept"
    assert small.command("account", "enable", email).returncode == 0
    tab.run("engine.syncNow()")
    tab.identical(20)
