"""Accessibility and layout of all main views: names, roles, contrast, targets, focus, text direction, on several screens."""

from pathlib import Path

import pytest
from app import App
from attachments import attach
from client import Server
from device import Device
from playwright.sync_api import expect

pytestmark = pytest.mark.long

PICTURE = Path("/usr/share/desktop-base/emerald-theme/grub/grub-16x9.png")
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
TABLET = {"viewport": {"width": 900, "height": 800}, "has_touch": True, "is_mobile": True}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
SIZES = {"desktop": DESKTOP, "tablet": TABLET, "phone": PHONE}


@pytest.fixture(scope="module")
def household(server: Server) -> Device:
    """An account with every kind of content."""
    device = Device(server.client(device_name="laptop"))
    garden, kitchen = device.make_tag("Garden"), device.make_tag("מטבח")
    picture = attach(device.client, PICTURE.read_bytes(), filename="bed.png", width=1920, height=1080)
    paper = attach(device.client, b"%PDF-", "application/pdf", filename="plan.pdf")
    note = device.make_note("The bed by the wall\n\nGarlic until 2 December 2026, see https://example.org", tags=[garden, kitchen])
    device.edit(note, f"attachments.{picture}", True)
    device.edit(note, f"attachments.{paper}", True)
    device.make_note("שיר לשעת ערב\n\nהערב יורד על הגן.", tags=[kitchen], pinned=True)
    device.make_note("")
    device.archive(device.make_note("Meter readings\n\n48213"))
    device.delete(device.make_note("Gone"))
    gone = device.make_note("Gone as well")
    device.sync()
    device.delete(gone)
    device.write(note, device.text(note) + "\n\nAnd straw.")
    device.sync()
    device.first = note
    return device


def views(app: App, household: Device):
    """Yields the name of each main view when it is shown."""
    main = app.page.get_by_role("main")
    app.go("#/")
    expect(app.rows.first).to_be_visible()
    yield "list"
    app.search("garlic")
    yield "search"
    app.search("nothing like this anywhere")
    expect(app.page.get_by_text("No notes found").first).to_be_visible()
    yield "nothing found"
    app.search("")
    app.go(f"#/note/{household.first}")
    expect(app.editor).to_be_visible()
    expect(app.page.get_by_role("button", name="Show bed.png")).to_be_visible()
    yield "note"
    app.editor.focus()
    expect(app.editor).to_be_focused()
    yield "writing"
    app.page.keyboard.press("Escape")
    app.page.get_by_role("combobox", name="Add a tag").focus()
    app.page.wait_for_timeout(100)
    yield "choosing a tag"
    app.page.keyboard.press("Escape")
    app.page.get_by_role("button", name="Show bed.png").click()
    expect(app.dialog).to_be_visible()
    yield "picture"
    app.page.keyboard.press("Escape")
    app.page.get_by_role("article", name="Note").get_by_role("button", name="More", exact=True).click()
    expect(app.page.get_by_role("menu")).to_be_visible()
    yield "menu"
    app.page.keyboard.press("Escape")
    for fragment, words in (
        (f"#/history/{household.first}", "Current version"), ("#/archive", None), ("#/deleted", "Restore"), ("#/devices", "this device"),
        ("#/transfer", None), ("#/capture", "Save note"),
    ):  # fmt: skip
        app.go(fragment)
        if words:
            expect(main.get_by_text(words).first).to_be_visible()
        app.page.wait_for_timeout(100)
        yield fragment.split("/")[1]
    app.go("#/devices")
    app.button("New token").click()
    expect(app.dialog).to_be_visible()
    yield "new token"
    app.page.keyboard.press("Escape")
    app.go("#/")
    app.sync_button.click()
    expect(app.dialog).to_be_visible()
    yield "sync"
    app.page.keyboard.press("Escape")
    app.page.keyboard.press("?")
    expect(app.dialog).to_be_visible()
    yield "keyboard"
    app.page.keyboard.press("Escape")
    app.row("bed by the wall").click()
    app.page.get_by_role("article", name="Note").get_by_role("button", name="Pin", exact=True).click()
    app.choose("Delete")
    expect(app.toast("Note deleted")).to_be_visible()
    app.page.wait_for_timeout(200)
    yield "message"
    app.undo()


# All sizes and schemes are in `make test-all`. test_german_texts_fit checks the light scheme on a phone.
BASIC = ("desktop", "dark")


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        pytest.param(size, scheme, marks=() if (size, scheme) == BASIC else pytest.mark.thorough)
        for size in SIZES
        for scheme in ("light", "dark")
    ],
)
def test_every_view_is_accessible(new_app, household, size, scheme):
    app = new_app(**SIZES[size], color_scheme=scheme, reduced_motion="reduce")
    touch = size != "desktop"
    found = {}
    for form in ("Create an account", "Sign in"):
        app.choose_form(form)
        found[form] = app.accessibility(touch)
    app.sign_in(household.client.email, device_name=f"{size}, {scheme}")
    app.wait_synced()
    for name in views(app, household):
        found[name] = app.accessibility(touch)
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize("size", ["desktop", pytest.param("phone", marks=pytest.mark.thorough)])
def test_the_focus_is_visible(new_app, household, size):
    """Each element reached with Tab has an outline, a shadow or a text cursor."""
    app = new_app(**SIZES[size])
    app.sign_in(household.client.email)
    app.wait_synced()
    app.go(f"#/note/{household.first}")
    expect(app.editor).to_be_visible()
    invisible, stops = [], set()
    for _ in range(40):
        app.page.keyboard.press("Tab")
        found = app.page.evaluate(
            """() => {
              const element = document.activeElement
              if (element === document.body) return null
              const name = `${element.localName} ${element.computedName}`
              if (element.matches("textarea, [contenteditable], input:not([type=checkbox], [type=radio], [type=file])")) return [name, true]
              for (let at = element; at && at !== document.body; at = at.parentElement) {
                const style = getComputedStyle(at)
                if (at !== element && !at.matches(":focus-within")) break
                if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 || at === element && style.boxShadow !== "none") return [name, true]
              }
              return [name, false]
            }"""
        )
        if found:
            stops.add(found[0])
            if not found[1]:
                invisible.append(found[0])
    assert invisible == []
    assert len(stops) >= 8, stops


def test_the_theme_can_be_chosen(signed_up: App):
    app = signed_up
    background = "() => getComputedStyle(document.body).backgroundColor"
    light = app.page.evaluate(background)
    app.button("Theme").click()
    app.page.get_by_role("menuitemradio", name="Dark").click()
    dark = app.page.evaluate(background)
    assert dark != light
    app.reload()
    app.wait_signed_in()
    assert app.page.evaluate(background) == dark
    app.page.emulate_media(color_scheme="dark")
    app.button("Theme").click()
    app.page.get_by_role("menuitemradio", name="Light").click()
    assert app.page.evaluate(background) == light


def test_right_to_left(new_app, household):
    app = new_app()
    app.sign_in(household.client.email)
    app.open("שיר לשעת ערב")
    assert app.editor.locator("div").first.evaluate("line => getComputedStyle(line).direction") == "rtl"
    title = app.row("שיר לשעת ערב").locator(".note-title bdi")
    assert title.evaluate("element => getComputedStyle(element).direction") == "rtl"
    app.write()
    assert app.editor.locator("div").first.evaluate("line => getComputedStyle(line).direction") == "rtl"
    # A note in Latin script is still left-to-right.
    app.leave()
    app.open("The bed by the wall")
    assert app.editor.locator("div").first.evaluate("line => getComputedStyle(line).direction") == "ltr"


def test_a_phone_shows_one_pane_at_a_time(new_app, household):
    app = new_app(**PHONE)
    app.sign_in(household.client.email)
    app.wait_synced()
    expect(app.row("The bed by the wall")).to_be_visible()
    app.row("The bed by the wall").tap()
    expect(app.editor).to_be_visible()
    expect(app.rows.first).not_to_be_visible()
    app.button("Back to list").tap()
    expect(app.rows.first).to_be_visible()
    app.button("Menu").tap()
    app.page.get_by_role("navigation").get_by_role("treeitem", name="Garden").tap()
    app.expect_titles("The bed by the wall")
    app.row("The bed by the wall").tap()
    app.page.go_back()
    app.expect_titles("The bed by the wall")


def test_motion_is_reduced(new_app, household):
    app = new_app(reduced_motion="reduce")
    app.sign_in(household.client.email)
    app.wait_synced()
    app.sync_button.click()
    active = app.page.evaluate("() => document.getAnimations().filter(one => one.effect.getComputedTiming().duration > 1).length")
    assert active == 0
