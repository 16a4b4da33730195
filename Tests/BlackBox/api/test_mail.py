"""E-mail with links. The configured mail command is a script that stores the messages in a folder."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_string
from email.message import Message
from email.policy import default
from pathlib import Path

import pytest
from client import PASSWORD, Client, Server, plain_session
from database import dump, query

pytestmark = [pytest.mark.both_stores, pytest.mark.thorough_on_postgresql]

NEW_PASSWORD = "another horse, another battery"
ORIGIN = "https://notes.example.org"
STORE_MESSAGE = 'f=$(mktemp "$1/$(date +%s%N)-XXXXXX") && cat > "$f" && mv "$f" "$f.eml"\n'
LINK = re.compile(rf"{ORIGIN}(/[a-z-]+\?code=([0-9A-Z-]{{29}}))$", re.M)


@dataclass
class MailServer:
    """A server that sends e-mail, and the messages passed to its mail command."""

    server: Server
    folder: Path

    def messages(self, count: int, seconds: float = 60) -> list[Message]:
        """All messages in order, once there are `count` of them or after the timeout."""
        deadline = time.monotonic() + seconds
        while len(files := sorted(self.folder.glob("*.eml"))) < count and time.monotonic() < deadline:
            time.sleep(0.05)
        return [message_from_string(file.read_text(), policy=default) for file in files]

    def link(self, count: int) -> tuple[str, str]:
        """The path and the code in message number `count`."""
        messages = self.messages(count)
        assert len(messages) == count, self.server.log
        found = LINK.search(messages[-1].get_content())
        return found[1], found[2]

    def client(self, email: str = "ada@example.org") -> Client:
        return self.server.client(email=email)


def serving(tmp_path: Path, script: str = STORE_MESSAGE) -> Server:
    (tmp_path / "messages").mkdir()
    (tmp_path / "script").write_text(script)
    environment = {
        "HESPER_SENDMAIL": f"/bin/sh {tmp_path}/script {tmp_path}/messages",
        "HESPER_MAIL_FROM": "hesper@example.org",
        "HESPER_URL": ORIGIN,
    }
    return Server(environment=environment, log_level="trace")


def wait_for(server: Server, words: str) -> None:
    """Waits until the words are in the log."""
    deadline = time.monotonic() + 60
    while words not in server.log:
        assert time.monotonic() < deadline, server.log
        time.sleep(0.05)


@pytest.fixture
def mail_server(tmp_path: Path) -> Iterator[MailServer]:
    with serving(tmp_path) as server:
        yield MailServer(server, tmp_path / "messages")


def test_verification_and_password_reset(mail_server: MailServer) -> None:
    assert "mail" in Client(mail_server.server.url).get("/v1/server").json()["features"]
    phone = mail_server.client()
    (message,) = mail_server.messages(1)
    assert (message["From"], message["To"]) == ("Hesper <hesper@example.org>", "ada@example.org")
    assert message["Auto-Submitted"] == "auto-generated" and message["Date"].datetime.tzinfo
    assert re.fullmatch(r"<[0-9a-z]+@example\.org>", message["Message-ID"])
    assert message.defects == [] and message.get_content_type() == "text/plain"
    path, code = mail_server.link(1)
    assert path.startswith("/verify-email?")

    # No password link is sent to an address that is not verified.
    session = plain_session()
    forgotten = f"{mail_server.server.url}/forgot-password"
    assert session.get(forgotten).status_code == 200
    early = session.post(forgotten, data={"email": "ada@example.org"})
    assert early.status_code == 202
    page = session.get(mail_server.server.url + path)
    assert (page.status_code, page.headers["Cache-Control"]) == (200, "no-store")
    assert "verified: -\n" in mail_server.server.command("account", "show", "ada@example.org").stdout
    assert session.post(f"{mail_server.server.url}/verify-email", data={"code": code}).status_code == 200
    assert "emailVerificationDate" in phone.get("/v1/account").json()
    assert re.search(r"verified: 2\d{3}-", mail_server.server.command("account", "show", "ada@example.org").stdout)

    late = session.post(forgotten, data={"email": "Ada@example.org"})
    assert (late.status_code, late.text) == (202, early.text)
    path, code = mail_server.link(2)
    assert path == f"/reset-password?code={code}"
    form = {"code": code, "password": NEW_PASSWORD}
    assert session.post(f"{mail_server.server.url}/reset-password", data=form).status_code == 200
    assert phone.get("/v1/account").status_code == 401
    phone.sign_in("ada@example.org", NEW_PASSWORD)
    assert phone.post("/v1/passwords", {"code": code, "newPassword": PASSWORD}).status_code == 403
    assert "emailVerificationDate" in phone.get("/v1/account").json()


def verified(mail_server: MailServer, email: str, messages: int) -> Client:
    client = mail_server.client(email)
    assert client.post("/v1/email-verifications", {"code": mail_server.link(messages)[1]}).status_code == 204
    return client


def test_codes_and_addresses_are_not_logged_or_stored(mail_server: MailServer) -> None:
    """Neither the database nor the trace log contains codes. The log contains no addresses."""
    phone = verified(mail_server, "ada@example.org", 1)
    assert phone.post("/v1/password-resets", {"email": phone.email}).status_code == 202
    codes = [mail_server.link(2)[1], LINK.search(mail_server.messages(2)[0].get_content())[2]]
    kept = dump(mail_server.server)
    assert "password-reset" in kept
    for code in codes:
        assert code not in kept and code.replace("-", "") not in kept
        assert code not in mail_server.server.log
    wait_for(mail_server.server, "E-mail sent")
    assert phone.email not in mail_server.server.log


def test_erasing_an_account_removes_links_and_verification(mail_server: MailServer) -> None:
    phone = verified(mail_server, "ada@example.org", 1)
    assert phone.post("/v1/password-resets", {"email": phone.email}).status_code == 202
    _, code = mail_server.link(2)
    assert phone.delete("/v1/account", json={"password": PASSWORD}).status_code == 204
    assert phone.post("/v1/passwords", {"code": code, "newPassword": PASSWORD}).status_code == 403
    assert query(mail_server.server, "SELECT * FROM tickets") == []
    # A new account with this address must verify it again.
    again = mail_server.client("ada@example.org")
    assert "emailVerificationDate" not in again.get("/v1/account").json()


def test_responses_do_not_reveal_accounts(mail_server: MailServer) -> None:
    verified(mail_server, "ada@example.org", 1)
    mail_server.client("bob@example.org")
    answers = []
    for email in ("ada@example.org", "bob@example.org", "nobody@example.org"):
        nobody = Client(mail_server.server.url)
        answer = nobody.post("/v1/password-resets", {"email": email}, headers={"X-Request-ID": "the-same"})
        headers = {name: value for name, value in answer.headers.items() if name != "Date"}
        answers.append((answer.status_code, headers, answer.content))
    assert answers[0][0] == 202
    assert answers[0] == answers[1] == answers[2]
    assert sorted(message["To"] for message in mail_server.messages(3)) == [*["ada@example.org"] * 2, "bob@example.org"]


def test_a_hanging_command_does_not_block_the_server(tmp_path: Path) -> None:
    with serving(tmp_path, "exec sleep 1000\n") as server:
        clients = [server.client(email=f"{index}@example.org") for index in range(4)]
        for client in clients:
            assert client.post("/v1/notes", {"text": "x"}).status_code == 201
            assert client.post("/v1/account/email-verification").status_code == 202
        # Closing the server sends SIGTERM while messages are being sent. It must stop within the timeout.
    assert "Waiting e-mails dropped at shutdown" in server.log
    assert "@example.org" not in server.log


def test_the_server_starts_with_a_wrong_mail_command(tmp_path: Path) -> None:
    environment = {
        "HESPER_SENDMAIL": "/nowhere/sendmail -t",
        "HESPER_MAIL_FROM": "hesper@example.org",
        "HESPER_URL": ORIGIN,
    }
    with Server(environment=environment) as server:
        assert "Cannot send e-mail: /nowhere/sendmail is not an executable file" in server.log
        server.client(email="ada@example.org")
        wait_for(server, "E-mail not sent: the command cannot be started")
