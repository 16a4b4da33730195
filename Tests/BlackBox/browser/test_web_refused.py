"""What the server refuses stands on a visible shelf, with the reason; it holds nothing else up (clients.md, rule 9)."""

from app import App
from attachments import attach, some_bytes
from playwright.sync_api import expect


def test_a_refused_change_shows_with_its_reason(browser_and_device):
    app, other = browser_and_device
    mine, theirs = other.make_note("Mine"), other.make_note("Theirs")
    picture = attach(other.client, some_bytes(1000), filename="both.png")
    other.sync()
    app.wait_for("copy.attachment(argument[0]) && copy.note(argument[1])", [picture, mine])
    app.go_offline()
    app.run("await copy.reattach(argument[0], argument[1])", [mine, picture])
    app.open("Mine")
    app.write()
    app.type(", and words that are not refused")
    app.leave()
    other.edit(theirs, f"attachments.{picture}", True)
    other.sync()
    app.go_online()
    app.expect_sync("refused")
    other.sync()
    assert other.text(mine) == "Mine, and words that are not refused"
    app.sync_button.click()
    shelf = app.dialog.get_by_role("listitem").filter(has_text="Mine")
    expect(shelf).to_contain_text("This file belongs to another note")
    expect(shelf.get_by_role("button", name="Open")).to_be_visible()
    # Once the other lets go of it, it is tried again by itself (protocol.md, Errors).
    other.edit(theirs, f"attachments.{picture}", False)
    other.sync()
    app.wait_for("copy.note(argument[0]).attachments[0] === argument[1] && copy.shelf().length === 0", [mine, picture])
    app.page.keyboard.press("Escape")
    app.wait_synced()
    other.sync()
    assert other.note(mine)["attachments"] == [picture]


def test_what_is_refused_can_be_put_away(browser_and_device):
    app, other = browser_and_device
    mine, theirs = other.make_note("Mine"), other.make_note("Theirs")
    picture = attach(other.client, some_bytes(1000), filename="both.png")
    other.edit(theirs, f"attachments.{picture}", True)
    other.sync()
    app.wait_for("copy.attachment(argument[0]) && copy.note(argument[1])", [picture, mine])
    app.run("await copy.reattach(argument[0], argument[1])", [mine, picture])
    app.expect_sync("refused")
    app.reload()
    app.expect_sync("refused")
    app.sync_button.click()
    app.dialog.get_by_role("button", name="Dismiss").click()
    app.page.keyboard.press("Escape")
    app.wait_synced()


def test_what_is_too_large_is_said_before_it_is_sent(signed_up: App):
    app = signed_up
    app.new_note("A note").leave()
    field = app.page.get_by_role("combobox", name="Add a tag")
    field.fill("漢" * 100)  # 300 bytes; the limit is 256
    field.press("Enter")
    expect(app.page.get_by_role("region", name="Messages")).not_to_be_empty()
    app.wait_synced()
    assert app.run("return copy.tags()") == []
    app.complaints.clear()  # the app logs what it told the person


def test_the_log_of_requests_can_be_copied(signed_up: App):
    app = signed_up
    app.wait_synced()
    app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.sync_button.click()
    app.dialog.get_by_text("Last 200 requests").click()
    app.button("Copy log").click()
    expect(app.toast("Log copied")).to_be_visible()
    log = app.page.evaluate("() => navigator.clipboard.readText()")
    assert "POST\t/v1/accounts\t201" in log and "POST\t/v1/sync\t200" in log
    ids = app.run("return engine.requests().map(request => request.requestID)")
    assert all(request_id in log for request_id in ids)
    assert "password" not in log and "hesper_" not in log
