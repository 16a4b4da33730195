"""Using the app with only the keyboard, as users without a mouse or with a screen reader do."""

import uuid

from app import App
from client import PASSWORD, Client
from playwright.sync_api import expect


def press(app: App, *keys: str) -> None:
    for key in keys:
        app.page.keyboard.press(key)


def tab_to(app: App, locator, limit: int = 40) -> None:
    """Presses Tab until the element has the focus."""
    for _ in range(limit):
        if locator.evaluate("element => element === document.activeElement"):
            return
        app.page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {locator}")


def test_the_main_flow(new_app, client: Client):
    app = new_app()
    keyboard = app.page.keyboard
    tab_to(app, app.button("Create an account"))
    press(app, "Enter")
    expect(app.page.get_by_label("E-mail")).to_be_focused()
    keyboard.type(f"{uuid.uuid4().hex}@example.org")
    tab_to(app, app.page.get_by_label("Password", exact=True))
    keyboard.type(PASSWORD)
    press(app, "Enter")
    app.wait_signed_in()
    app.expect_titles("Welcome to Hesper")
    press(app, "ArrowDown", "Control+e")
    app.expect_titles()
    tab_to(app, app.button("New note").first)
    press(app, "Enter")
    expect(app.editor).to_be_focused()
    app.type("First\nwith words")
    press(app, "Escape")
    app.wait_saved()
    press(app, "Escape")
    expect(app.row("First")).to_be_focused()
    press(app, "n")
    app.type("Second")
    press(app, "Escape")
    app.wait_saved()
    press(app, "Escape")
    expect(app.row("Second")).to_be_focused()
    # The list: arrows, open, edit.
    press(app, "ArrowDown")
    expect(app.row("First")).to_be_focused()
    app.expect_text("First\nwith words")
    press(app, "Enter")
    expect(app.editor).to_be_focused()
    press(app, "Control+End")
    app.type(" and more")
    press(app, "Escape", "Escape")
    # A tag.
    press(app, "t")
    expect(app.page.get_by_role("combobox", name="Add a tag")).to_be_focused()
    keyboard.type("evening")
    press(app, "Enter")
    expect(app.button("Remove tag evening")).to_be_visible()
    press(app, "Escape", "Escape")
    app.row("First").focus()
    # Sort by hand; move, pin, archive, undo.
    app.expect_titles("First", "Second")
    app.button("Sort and select").focus()
    press(app, "Enter", "ArrowDown", "ArrowDown", "ArrowDown", "Enter")
    app.expect_titles("Second", "First")
    app.row("First").focus()
    press(app, "Alt+ArrowUp")
    app.expect_titles("First", "Second")
    press(app, "Alt+ArrowDown")
    app.expect_titles("Second", "First")
    press(app, "p")
    app.expect_titles("First", "Second")
    press(app, "p")
    app.expect_titles("Second", "First")
    press(app, "Control+e")
    app.expect_titles("Second")
    press(app, "Control+z")
    app.expect_titles("Second", "First")
    # Search.
    press(app, "/")
    expect(app.search_box).to_be_focused()
    keyboard.type("more")
    app.expect_titles("First")
    press(app, "Escape")
    app.expect_titles("Second", "First")
    press(app, "ArrowDown")
    expect(app.row("Second")).to_be_focused()
    # The state of sync.
    press(app, "s")
    expect(app.dialog).to_be_visible()
    press(app, "Escape")
    expect(app.dialog).to_have_count(0)
    expect(app.row("Second")).to_be_focused()
    app.wait_synced()


def test_the_list_of_shortcuts(signed_up: App):
    app = signed_up
    press(app, "?")
    for words in ("New note", "Search", "Archive or unarchive", "Delete", "Show keyboard shortcuts"):
        expect(app.dialog.get_by_text(words, exact=True)).to_be_visible()
    press(app, "Escape")
    expect(app.dialog).to_have_count(0)


def test_single_letters_can_be_turned_off(signed_up: App):
    """WCAG 2.1.4: speech input would trigger them."""
    app = signed_up
    press(app, "?")
    app.dialog.get_by_role("checkbox", name="Use single-letter shortcuts").uncheck()
    press(app, "Escape", "n")
    app.page.wait_for_timeout(200)
    expect(app.editor).to_have_count(0)
    app.reload()
    app.wait_signed_in()
    press(app, "n")
    app.page.wait_for_timeout(200)
    expect(app.editor).to_have_count(0)


def test_dialogs_keep_the_focus_and_return_it(signed_up: App):
    app = signed_up
    app.wait_synced()
    app.sync_button.focus()
    press(app, "Enter")
    expect(app.dialog).to_be_visible()
    for _ in range(12):
        press(app, "Tab")
        inside = "() => document.activeElement === document.body || Boolean(document.activeElement.closest('dialog'))"
        assert app.page.evaluate(inside)
    press(app, "Escape")
    expect(app.sync_button).to_be_focused()


def test_arrow_keys_in_menus(signed_up: App):
    app = signed_up
    app.new_note("A note").leave()
    more = app.page.get_by_role("article", name="Note").get_by_role("button", name="More", exact=True)
    more.focus()
    press(app, "Enter")
    expect(app.page.get_by_role("menuitem", name="History")).to_be_focused()
    press(app, "End")
    expect(app.page.get_by_role("menuitem", name="Delete")).to_be_focused()
    press(app, "Escape")
    expect(app.page.get_by_role("menu")).to_have_count(0)
    expect(more).to_be_focused()


def test_actions_are_announced(signed_up: App):
    app = signed_up
    app.new_note("Spoken").leave()
    app.row("Spoken").focus()
    press(app, "p")
    expect(app.page.locator("[role=status][aria-live]").filter(has_text="Pinned")).to_have_count(1)
    press(app, "Control+Delete")
    expect(app.page.locator("[role=status][aria-live]").filter(has_text="Note deleted. Undo: Control Z")).to_have_count(1)
