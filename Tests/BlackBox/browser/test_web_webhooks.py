"""Webhooks in the browser: creating, the secret, the log with tests and replay, pausing, deleting."""

import json
import re

import pytest
from app import App
from client import PASSWORD, Server
from playwright.sync_api import Locator, expect
from receiver import ALLOWED, Receiver
from test_web_language import CUT
from test_web_looks import PHONE

SECRET = re.compile(r"^whsec_[A-Za-z0-9+/]{43}=$")


def hooks(app: App) -> Locator:
    return app.page.get_by_role("list", name="Webhooks").get_by_role("listitem")


def test_a_webhook_from_its_creation_to_its_end(new_app):
    with Server(environment=ALLOWED) as server, Receiver() as receiver:
        app = new_app(server).sign_up()
        app.tolerated.add("422")
        app.wait_synced()
        app.run('await copy.createTag("Shopping")')
        app.wait_synced()
        app.go("#/devices")
        expect(app.page.get_by_text("No webhooks yet.")).to_be_visible()

        # Problems are shown at their fields.
        app.button("New webhook").click()
        form = app.dialog
        create = form.get_by_role("button", name="Create webhook")
        expect(form.get_by_label("URL")).to_be_focused()
        create.click()
        expect(form.get_by_text("Enter a URL that begins with https://.")).to_be_visible()
        form.get_by_label("URL").fill("http://192.0.2.1/")
        create.click()
        expect(form.get_by_text("the operator of the server has not allowed this network")).to_be_visible()
        form.get_by_label("URL").fill(receiver.url + "/hook")
        for name in ("Note created", "Note changed", "Note deleted"):
            form.get_by_label(name).uncheck()
        create.click()
        expect(form.get_by_text("Select at least one event.")).to_be_visible()
        form.get_by_label("Note created").check()
        form.get_by_label("Tag", exact=True).select_option("Shopping")
        assert app.accessibility() == []
        create.click()

        name = receiver.url.removeprefix("http://") + "/hook"
        secret = app.page.get_by_label(f"Secret of {name}")
        expect(secret).to_be_focused()
        expect(secret).to_have_value(SECRET)
        key = secret.input_value()
        assert app.accessibility() == []
        app.button("Done").click()
        expect(app.button("New webhook")).to_be_focused()
        expect(hooks(app)).to_contain_text(["Note created · notes with the tag “Shopping”"])
        expect(hooks(app)).to_contain_text(["Active · created: "])

        app.run('await copy.createNote({text: "Milk", tags: [copy.tags()[0].uniqueID]})')
        [event] = receiver.wait(1)
        event.check_signature(key)
        # The server records the delivery after the receiver has responded.
        app.wait_for("(await engine.deliveries((await engine.webhooks())[0].uniqueID)).length")
        app.button(f"Log of {name}").click()
        log = app.dialog.get_by_role("list", name="Deliveries").get_by_role("listitem")
        expect(log).to_contain_text([re.compile("Note created.*Delivered .* · status: 204 · 1 attempt", re.DOTALL)])
        log.get_by_role("button", name="Send again").click()
        receiver.wait(2)
        assert receiver.events[1].id == event.id
        expect(log).to_contain_text([re.compile("2 attempts")])
        receiver.respond = lambda _: 404
        app.dialog.get_by_role("button", name="Send test event").click()
        expect(log).to_have_count(2)
        expect(log.first).to_contain_text("Test")
        expect(log.first).to_contain_text("The receiver responded with status 404.")
        assert app.accessibility() == []
        app.page.keyboard.press("Escape")

        app.button(f"Pause {name}").click()
        expect(app.toast(f"Webhook {name} paused")).to_be_visible()
        expect(hooks(app)).to_contain_text([re.compile("Paused")])
        receiver.respond = lambda _: 204
        app.run('await copy.createNote({text: "Bread", tags: [copy.tags()[0].uniqueID]})')
        app.wait_synced()
        app.button(f"Resume {name}").click()
        receiver.wait(4)
        expect(hooks(app)).to_contain_text(["Active"])
        app.button(f"Delete {name}").click()
        app.dialog.get_by_role("button", name="Delete").click()
        expect(app.toast(f"Webhook {name} deleted")).to_be_visible()
        expect(hooks(app)).to_have_count(0)
        expect(app.button("New webhook")).to_be_focused()


@pytest.mark.thorough
def test_all_states_in_german_on_a_phone(new_app, server: Server):
    client = server.client()
    app = new_app(**PHONE, locale="de-DE", reduced_motion="reduce")
    app.run("await engine.signIn(argument)", {"email": client.email, "password": PASSWORD, "deviceName": "Handy"})
    app.wait_for("engine.status.identical")
    page, past = app.page, "2026-03-05T10:00:00.000Z"
    reasons = [None, "failing", "gone", "restored", "contested", "owner", "unknown"]
    body = [
        {
            "uniqueID": f"{at}", "url": f"https://n8n.example.org/webhook/{'long' * at}", "creationDate": past,
            "events": ["note.created", "note.changed", "tag.deleted"], "failures": at, "paused": reason is not None,
        } | ({"pauseReason": reason} if reason else {"firstFailureDate": past, "nextAttemptDate": "2099-03-05T10:00:00.000Z"})
        for at, reason in enumerate(reasons)
    ]  # fmt: skip
    page.route(
        "**/v1/webhooks",
        lambda route: route.fulfill(content_type="application/json", body=json.dumps({"webhooks": body})),
    )
    app.go("#/devices")
    rows = page.get_by_role("list", name="Webhooks").get_by_role("listitem")
    expect(rows).to_have_count(7)
    for at, words in enumerate((
        "nächster Versuch", "drei Tage lang", "nicht mehr gibt", "Sicherung", "eine Kopie", "Pausiert", "Pausiert",
    )):  # fmt: skip
        expect(rows.nth(at)).to_contain_text(words)
    assert app.accessibility(touch=True) + page.evaluate(CUT) == []
    page.get_by_role("button", name="Neuer Webhook").click()
    expect(page.get_by_role("dialog", name="Neuer Webhook")).to_be_visible()
    assert app.accessibility(touch=True) + page.evaluate(CUT) == []
