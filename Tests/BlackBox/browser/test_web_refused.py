"""Changes that the server rejects are shown with the reason, and do not block others (clients.md, rule 9)."""

import pytest
from app import App
from attachments import attach, some_bytes
from playwright.sync_api import expect


@pytest.mark.parametrize("has_note", [True, False], ids=["another note has it", "an app object has it"])
def test_a_rejected_change_is_shown_with_its_reason(browser_and_device, has_note):
    app, other = browser_and_device
    mine = other.make_note("Mine")
    theirs = other.make_note("Theirs") if has_note else other.make_object("recipe", title="Theirs")
    picture = attach(other.client, some_bytes(1000), filename="both.png")
    other.sync()
    app.wait_for("copy.attachment(argument[0]) && copy.note(argument[1])", [picture, mine])
    app.go_offline()
    app.run("await copy.reattach(argument[0], argument[1])", [mine, picture])
    app.open("Mine")
    app.write()
    app.type(", and words that are not refused")
    app.leave()
    attribute, added, removed = (f"attachments.{picture}", True, False) if has_note else ("files.photo", picture, None)
    other.edit(theirs, attribute, added)
    other.sync()
    app.go_online()
    app.expect_sync("refused")
    other.sync()
    assert other.text(mine) == "Mine, and words that are not refused"
    app.sync_button.click()
    rejected = app.dialog.get_by_role("listitem").filter(has_text="Mine")
    expect(rejected).to_contain_text("This file belongs to another note or app")
    expect(rejected.get_by_role("button", name="Open")).to_be_visible()
    # When the other object no longer has the picture, the change is sent again automatically (protocol.md, Errors).
    other.edit(theirs, attribute, removed)
    other.sync()
    app.wait_for("copy.note(argument[0]).attachments[0] === argument[1] && copy.shelf().length === 0", [mine, picture])
    app.page.keyboard.press("Escape")
    app.wait_synced()
    other.sync()
    assert other.note(mine)["attachments"] == [picture]


def test_a_rejected_change_can_be_dismissed(browser_and_device):
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


def test_a_tag_name_that_is_too_long_is_not_sent(signed_up: App):
    app = signed_up
    app.new_note("A note").leave()
    field = app.page.get_by_role("combobox", name="Add a tag")
    field.fill("漢" * 100)  # 300 bytes; the limit is 256
    field.press("Enter")
    expect(app.page.get_by_role("region", name="Messages")).not_to_be_empty()
    app.wait_synced()
    assert app.run("return copy.tags()") == []
    app.page_errors.clear()  # the app also logs the message


def test_the_log_of_requests_can_be_copied(signed_up: App):
    app = signed_up
    app.wait_synced()
    app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.sync_button.click()
    app.dialog.get_by_text("Last 200 requests").click()
    ids = app.run("return engine.requests().map(request => request.requestID)")
    app.button("Copy log").click()
    expect(app.toast("Log copied")).to_be_visible()
    log = app.page.evaluate("() => navigator.clipboard.readText()")
    assert "POST\t/v1/accounts\t201" in log and "POST\t/v1/sync\t200" in log
    assert all(request_id in log for request_id in ids)
    assert "password" not in log and "hesper_" not in log
