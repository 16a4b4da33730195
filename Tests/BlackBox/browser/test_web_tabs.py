"""Tabs of one browser are one client. One tab is the leader, which syncs. The others follow and can become leaders."""

import pytest
from app import App


def leaders(*tabs: App) -> list[bool]:
    return [tab.run("return engine.status.leads") for tab in tabs]


def test_edits_appear_in_the_other_tab(signed_up: App):
    one = signed_up
    one.new_note("Hello")
    one.wait_saved()
    other = one.tab(f"#/note/{one.note_id}")
    other.expect_text("Hello")
    one.type(", world")
    other.expect_text("Hello, world")
    other.write()
    other.type("!")
    one.expect_text("Hello, world!")
    for tab in (one, other):
        tab.wait_synced()


@pytest.mark.thorough
def test_edits_appear_in_the_other_tab_offline(signed_up: App):
    one = signed_up
    one.new_note("Hello")
    one.wait_synced()
    other = one.tab(f"#/note/{one.note_id}")
    other.wait_synced()
    one.go_offline()
    one.type(" from one")
    other.expect_text("Hello from one")
    other.write()
    other.type(" and the other")
    other.leave()
    one.expect_text("Hello from one and the other")
    one.go_online()
    for tab in (one, other):
        tab.wait_synced()
    assert one.run("return copy.notes().length") == 1


@pytest.mark.thorough
def test_another_tab_becomes_leader_when_the_leader_is_closed(signed_up: App):
    one = signed_up
    one.wait_synced()
    other = one.tab()
    other.wait_synced()
    assert leaders(one, other) == [True, False]
    one.page.close()
    other.wait_for("engine.status.leads")
    other.new_note("Written after the first tab was closed").leave()
    other.wait_synced()
    other.wait_for("engine.status.live")


@pytest.mark.thorough
def test_a_hidden_leader_is_replaced(signed_up: App):
    one = signed_up
    one.wait_synced()
    other = one.tab()
    other.wait_synced()
    assert leaders(one, other) == [True, False]
    one.hide()
    other.wait_for("engine.status.leads")
    assert leaders(one, other) == [False, True]
    other.new_note("Seen").leave()
    other.wait_synced()
    one.hide(False)
    one.wait_synced()
    one.expect_titles("Seen")


def test_the_only_visible_tab_stays_leader(signed_up: App):
    one = signed_up
    one.wait_synced()
    other = one.tab()
    other.wait_synced()
    other.hide()
    one.page.wait_for_timeout(300)
    assert leaders(one, other) == [True, False]


def test_all_tabs_share_one_event_stream(two_browsers: list[App]):
    a, b = two_browsers
    a.wait_synced()
    tabs = [a.tab(), a.tab()]
    for tab in tabs:
        tab.wait_synced()
    b.wait_for("engine.status.live && engine.status.listeners === 1")


@pytest.mark.thorough
def test_two_tabs_never_create_the_same_clock(signed_up: App):
    """Both create fifty notes at once. All clocks must differ."""
    one = signed_up
    other = one.tab()
    write = "for (let number = 0; number < 50; number++) await copy.createNote({text: argument + number})"
    pending = [f"async argument => {{ const {{copy}} = await import('/js/app.js'); {write} }}"]
    for tab, name in ((one, "one "), (other, "other ")):
        tab.page.evaluate(f"argument => {{ window.done = ({pending[0]})(argument) }}", name)
    for tab in (one, other):
        tab.page.evaluate("() => window.done")
    one.wait_synced()
    clocks = one.run(
        """const {result} = await new Promise(done => { indexedDB.open("hesper").onsuccess = event => done(event.target) })
        const objects = await new Promise(done => { result.transaction("objects").objectStore("objects").getAll().onsuccess = event => done(event.target.result) })
        result.close()
        return objects.flatMap(pack => pack.objects).flatMap(one => Object.values(one.registers).map(([, clock]) => clock))"""
    )
    assert len(clocks) == len(set(clocks)) == 100
    for tab in (one, other):
        assert tab.run("return copy.notes().length") == 100


@pytest.mark.thorough
@pytest.mark.service_worker
def test_signing_out_in_one_tab_signs_out_all_tabs(signed_up: App):
    one = signed_up
    one.new_note("Gone in both").leave()
    one.wait_synced()
    other = one.tab()
    other.expect_titles("Gone in both")
    one.sign_out()
    other.page.get_by_label("Password", exact=True).wait_for()
    assert "Gone in both" not in other.page.locator("body").inner_text()
