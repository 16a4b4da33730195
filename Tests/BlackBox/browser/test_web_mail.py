"""E-mail verification and forgotten passwords in the browser. The server's mail command is a script that saves e-mails."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from app import App
from client import Server
from playwright.sync_api import Page, expect

ORIGIN = "https://notes.example.org"
SAVE_SCRIPT = 'f=$(mktemp "$1/$(date +%s%N)-XXXXXX") && cat > "$f" && mv "$f" "$f.eml"\n'


@pytest.fixture
def mail_server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "mail").mkdir()
    (tmp_path / "script").write_text(SAVE_SCRIPT)
    environment = {
        "HESPER_SENDMAIL": f"/bin/sh {tmp_path}/script {tmp_path}/mail",
        "HESPER_MAIL_FROM": "hesper@example.org",
        "HESPER_URL": ORIGIN,
    }
    with Server(environment=environment) as server:
        yield server


def link(folder: Path, count: int) -> str:
    """The path of the link in the e-mail with this number."""
    deadline = time.monotonic() + 60
    while len(emails := sorted((folder / "mail").glob("*.eml"))) < count:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return re.search(rf"{ORIGIN}(/\S+)", emails[count - 1].read_text())[1] if count <= len(emails) else ""


def open_page(app: App, server: Server, path: str) -> Page:
    page = app.context.new_page()
    page.goto(server.url + path)
    return page


def test_verifying_an_address_and_setting_a_new_password(mail_server: Server, new_app: Callable[..., App], tmp_path: Path):
    app = new_app(server=mail_server)
    app.sign_up("ada@example.org")
    first = link(tmp_path, 1)
    app.go("#/devices")
    app.button("Verify e-mail").click()
    expect(app.toast("Verification e-mail sent to ada@example.org")).to_be_visible()
    second = link(tmp_path, 2)
    assert second != first
    page = open_page(app, mail_server, second)
    page.get_by_role("button", name="Verify address").click()
    expect(page.get_by_text("Your e-mail address is verified.")).to_be_visible()
    page.get_by_role("link", name="Open notes").click()
    expect(page.get_by_text("Create your first note", exact=False)).to_be_visible()
    page.close()
    app.reload()
    expect(app.page.get_by_text(re.compile("Pictures and files"))).to_be_visible()
    expect(app.button("Verify e-mail")).to_have_count(0)

    app.sign_out()
    app.choose_form("Sign in")
    app.page.get_by_role("link", name="Forgot your password?").click()
    app.page.get_by_label("E-mail").fill("ada@example.org")
    app.button("Send the link").click()
    expect(app.page.get_by_role("heading", name="Check your e-mail")).to_be_visible()
    page = open_page(app, mail_server, link(tmp_path, 3))
    page.get_by_label(re.compile("New password")).fill("another horse, another battery")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_text("Password changed").first).to_be_visible()
    page.get_by_role("link", name="Sign in").click()
    expect(page.get_by_role("heading", name=re.compile("^Sign in"))).to_be_visible()
    page.close()
    app.visit()
    app.sign_in("ada@example.org", password="another horse, another battery")


def test_without_a_mail_command_the_app_offers_no_mail(new_app: Callable[..., App]):
    app = new_app()
    app.choose_form("Sign in")
    app.sign_up()
    app.go("#/devices")
    expect(app.page.get_by_text(re.compile("Pictures and files"))).to_be_visible()
    expect(app.button("Verify e-mail")).to_have_count(0)
    app.sign_out()
    expect(app.page.get_by_role("link", name="Forgot your password?")).to_have_count(0)
