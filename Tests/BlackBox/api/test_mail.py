"""Links by mail: a command of the operator's takes them; here a script keeps them in a folder."""

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

pytestmark = pytest.mark.both_stores

NEW_PASSWORD = "another horse, another battery"
ORIGIN = "https://notes.example.org"
KEEPS = 'f=$(mktemp "$1/$(date +%s%N)-XXXXXX") && cat > "$f" && mv "$f" "$f.eml"\n'
LINK = re.compile(rf"{ORIGIN}(/[a-z-]+\?code=([0-9A-Z-]{{29}}))$", re.M)


@dataclass
class Post:
    """A server that sends mail, and the letters that its command was given."""

    server: Server
    folder: Path

    def letters(self, count: int, seconds: float = 60) -> list[Message]:
        """All, the first first, once there are so many."""
        deadline = time.monotonic() + seconds
        while len(files := sorted(self.folder.glob("*.eml"))) < count and time.monotonic() < deadline:
            time.sleep(0.05)
        return [message_from_string(file.read_text(), policy=default) for file in files]

    def link(self, count: int) -> tuple[str, str]:
        """The path and the code in the letter of this number."""
        letters = self.letters(count)
        assert len(letters) == count, self.server.log
        found = LINK.search(letters[-1].get_content())
        return found[1], found[2]

    def client(self, email: str = "ada@example.org") -> Client:
        return self.server.client(email=email)


def serving(tmp_path: Path, script: str = KEEPS) -> Server:
    (tmp_path / "post").mkdir()
    (tmp_path / "script").write_text(script)
    environment = {
        "HESPER_SENDMAIL": f"/bin/sh {tmp_path}/script {tmp_path}/post",
        "HESPER_MAIL_FROM": "hesper@example.org",
        "HESPER_URL": ORIGIN,
    }
    return Server(environment=environment, log_level="trace")


def wait_for(server: Server, words: str) -> None:
    """Until they are in the log."""
    deadline = time.monotonic() + 60
    while words not in server.log:
        assert time.monotonic() < deadline, server.log
        time.sleep(0.05)


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Post]:
    with serving(tmp_path) as server:
        yield Post(server, tmp_path / "post")


def test_from_a_new_account_to_a_new_password(post: Post) -> None:
    assert "mail" in Client(post.server.url).get("/v1/server").json()["features"]
    phone = post.client()
    (letter,) = post.letters(1)
    assert (letter["From"], letter["To"]) == ("Hesper <hesper@example.org>", "ada@example.org")
    assert letter["Auto-Submitted"] == "auto-generated" and letter["Date"].datetime.tzinfo
    assert re.fullmatch(r"<[0-9a-z]+@example\.org>", letter["Message-ID"])
    assert letter.defects == [] and letter.get_content_type() == "text/plain"
    path, code = post.link(1)
    assert path.startswith("/verify-email?")

    # Until the address is verified, no letter about a password goes there.
    session = plain_session()
    forgotten = f"{post.server.url}/forgot-password"
    assert session.get(forgotten).status_code == 200
    early = session.post(forgotten, data={"email": "ada@example.org"})
    assert early.status_code == 202
    page = session.get(post.server.url + path)
    assert (page.status_code, page.headers["Cache-Control"]) == (200, "no-store")
    assert "verified: -\n" in post.server.command("account", "show", "ada@example.org").stdout
    assert session.post(f"{post.server.url}/verify-email", data={"code": code}).status_code == 200
    assert "emailVerificationDate" in phone.get("/v1/account").json()
    assert re.search(r"verified: 2\d{3}-", post.server.command("account", "show", "ada@example.org").stdout)

    late = session.post(forgotten, data={"email": "Ada@example.org"})
    assert (late.status_code, late.text) == (202, early.text)
    path, code = post.link(2)
    assert path == f"/reset-password?code={code}"
    form = {"code": code, "password": NEW_PASSWORD}
    assert session.post(f"{post.server.url}/reset-password", data=form).status_code == 200
    assert phone.get("/v1/account").status_code == 401
    phone.sign_in("ada@example.org", NEW_PASSWORD)
    assert phone.post("/v1/passwords", {"code": code, "newPassword": PASSWORD}).status_code == 403
    assert "emailVerificationDate" in phone.get("/v1/account").json()


def verified(post: Post, email: str, letters: int) -> Client:
    client = post.client(email)
    assert client.post("/v1/email-verifications", {"code": post.link(letters)[1]}).status_code == 204
    return client


def test_no_code_and_no_address_leaves_by_another_way(post: Post) -> None:
    """Neither the database nor the log, at the level that tells most, has the codes; the log has no address."""
    phone = verified(post, "ada@example.org", 1)
    assert phone.post("/v1/password-resets", {"email": phone.email}).status_code == 202
    codes = [post.link(2)[1], LINK.search(post.letters(2)[0].get_content())[2]]
    kept = dump(post.server)
    assert "password-reset" in kept
    for code in codes:
        assert code not in kept and code.replace("-", "") not in kept
        assert code not in post.server.log
    wait_for(post.server, "E-mail sent")
    assert phone.email not in post.server.log


def test_erasing_an_account_erases_it_all(post: Post) -> None:
    phone = verified(post, "ada@example.org", 1)
    assert phone.post("/v1/password-resets", {"email": phone.email}).status_code == 202
    _, code = post.link(2)
    assert phone.delete("/v1/account", json={"password": PASSWORD}).status_code == 204
    assert phone.post("/v1/passwords", {"code": code, "newPassword": PASSWORD}).status_code == 403
    assert query(post.server, "SELECT * FROM tickets") == []
    # Whoever takes the address next has to say that it is theirs.
    again = post.client("ada@example.org")
    assert "emailVerificationDate" not in again.get("/v1/account").json()


def test_answers_tell_nobody_who_has_an_account(post: Post) -> None:
    verified(post, "ada@example.org", 1)
    post.client("bob@example.org")
    answers = []
    for email in ("ada@example.org", "bob@example.org", "nobody@example.org"):
        nobody = Client(post.server.url)
        answer = nobody.post("/v1/password-resets", {"email": email}, headers={"X-Request-ID": "the-same"})
        headers = {name: value for name, value in answer.headers.items() if name != "Date"}
        answers.append((answer.status_code, headers, answer.content))
    assert answers[0][0] == 202
    assert answers[0] == answers[1] == answers[2]
    assert sorted(letter["To"] for letter in post.letters(3)) == [*["ada@example.org"] * 2, "bob@example.org"]


def test_a_command_that_hangs_harms_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, "exec sleep 1000\n") as server:
        clients = [server.client(email=f"{index}@example.org") for index in range(4)]
        for client in clients:
            assert client.post("/v1/notes", {"text": "x"}).status_code == 201
            assert client.post("/v1/account/email-verification").status_code == 202
        # The fixture ends it: two letters are under way then, and SIGTERM is heeded within their time.
    assert "Waiting e-mails dropped at shutdown" in server.log
    assert "@example.org" not in server.log


def test_a_setting_that_leads_nowhere_stops_no_server(tmp_path: Path) -> None:
    environment = {
        "HESPER_SENDMAIL": "/nowhere/sendmail -t",
        "HESPER_MAIL_FROM": "hesper@example.org",
        "HESPER_URL": ORIGIN,
    }
    with Server(environment=environment) as server:
        assert "Cannot send e-mail: /nowhere/sendmail is not an executable file" in server.log
        server.client(email="ada@example.org")
        wait_for(server, "E-mail not sent: the command cannot be started")
