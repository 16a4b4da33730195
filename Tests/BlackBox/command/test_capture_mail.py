"""`hesper capture-mail`: a note of an e-mail message, as a mail server delivers it on standard input."""

import email.message
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from client import BINARY, PASSWORD, ROOT, Client, Server

STORED, DATA, TRY_LATER, NO_PERMISSION = 0, 65, 75, 77


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(data=tmp_path_factory.mktemp("mail") / "data") as running:
        yield running


@pytest.fixture
def ada(server: Server) -> Client:
    return server.client()


def token(owner: Client, *scopes: str, **fields: object) -> str:
    body = {"name": "mail", "scopes": scopes or ["append"], "currentPassword": PASSWORD} | fields
    return owner.post("/v1/tokens", body).json()["token"]


def deliver(server: Server, token: str, message: bytes, **environment: str) -> tuple[int, str]:
    ended = subprocess.run(
        [BINARY, "capture-mail", token, "--data", server.data], input=message, capture_output=True, timeout=120,
        env=server.environment | environment, cwd=ROOT,
    )  # fmt: skip
    assert ended.stdout == b""
    return ended.returncode, ended.stderr.decode()


def message(subject: str | None = "Shopping", text: str = "Milk\n", html: str | None = None, **headers: str) -> email.message.EmailMessage:
    made = email.message.EmailMessage()
    if subject is not None:
        made["Subject"] = subject
    made["From"] = "Bob <bob@example.org>"
    for name, value in headers.items():
        made[name.replace("_", "-")] = value
    made.set_content(text)
    if html is not None:
        made.add_alternative(html, subtype="html")
    return made


def notes(owner: Client) -> list[dict]:
    found = [each["uniqueID"] for each in owner.get("/v1/notes").json()["notes"]]
    return [owner.get(f"/v1/notes/{each}").json() for each in found]


def test_a_message_becomes_a_note(server: Server, ada: Client) -> None:
    sent = message("Grüße aus Rom ☀", "Milk\nBrød\n", Message_ID="<1@example.org>").as_bytes()
    address = token(ada)
    assert deliver(server, address, sent) == (STORED, "")
    [note] = notes(ada)
    assert note["text"] == "# Grüße aus Rom ☀\n\nMilk\nBrød" and note["tags"] == []
    # The history names the token, and search finds the note.
    [edit] = [each for each in ada.get(f"/v1/notes/{note['uniqueID']}/edits").json()["edits"] if each["attribute"] == "text"]
    assert edit["pushedBy"]["name"] == "mail"
    ada.wait_for_index()
    assert len(ada.get("/v1/search?q=brod").json()["results"]) == 1
    [listed] = ada.get("/v1/tokens").json()["tokens"]
    assert listed["userAgent"] == "hesper capture-mail" and "lastUseDate" in listed
    # A second delivery of the same message makes no second note, also after the note was changed or deleted.
    ada.patch(f"/v1/notes/{note['uniqueID']}", {"text": "changed"})
    assert deliver(server, address, sent) == (STORED, "")
    assert [each["text"] for each in notes(ada)] == ["changed"]
    # Another message with the same ID does not change the note.
    assert deliver(server, address, message("Other", Message_ID="<1@example.org>").as_bytes()) == (STORED, "")
    assert sorted(each["text"] for each in notes(ada)) == ["# Other\n\nMilk", "changed"]
    ada.delete(f"/v1/notes/{note['uniqueID']}")
    assert deliver(server, address, sent) == (STORED, "")
    assert [each["text"] for each in notes(ada)] == ["# Other\n\nMilk"]


def test_html_and_files(server: Server, ada: Client) -> None:
    page = "<html><body><p>Dear <b>Ada</b>,</p><ul><li>one<li><a href='https://example.org/'>two</a></ul><script>x</script></body></html>"
    sent = message(None, " \n", page)
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
    sent.add_attachment(picture, maintype="image", subtype="png", filename="Grüße/../ü.png")
    sent.add_attachment(b"PK", maintype="application", subtype="zip", filename=None)
    # Another file with the same name.
    sent.add_attachment(b"other", maintype="image", subtype="png", filename="\u00fc.png")
    assert deliver(server, token(ada), sent.as_bytes()) == (STORED, "")
    [note] = notes(ada)
    assert note["text"].startswith("Dear **Ada**,") and "- [two](https://example.org/)" in note["text"]
    assert "script" not in note["text"] and "x</" not in note["text"]
    files = sorted(
        (ada.get(f"/v1/attachments/{each}").json()["filename"], ada.get(f"/v1/attachments/{each}/data").content)
        for each in note["attachments"]
    )
    assert files == sorted([("ü.png", picture), ("attachment2.zip", b"PK"), ("ü.png", b"other")])


def test_a_token_in_an_address(server: Server, ada: Client) -> None:
    """Mail servers may change the case of an address, and the part before the token need not be there."""
    tag = ada.post("/v1/tags", {"name": "Inbox"}).json()["uniqueID"]
    address = token(ada, tag=tag)
    for number, given in enumerate([address.upper(), address.removeprefix("hesper_"), address]):
        assert deliver(server, given, message(f"{number}").as_bytes()) == (STORED, "")
    assert [note["tags"] for note in notes(ada)] == [[tag]] * 3
    # The token follows a tag that was merged into another.
    into = ada.post("/v1/tags", {"name": "Mail"}).json()["uniqueID"]
    merge = {"uniqueID": tag, "objectType": "tag", "deletionDate": "2026-01-01T00:00:00Z", "mergedInto": into}
    assert ada.post("/v1/deleted-objects", {"deletedObjects": [merge]}).status_code == 200
    assert deliver(server, address, message("merged").as_bytes()) == (STORED, "")
    assert [note["tags"] for note in notes(ada)] == [[into]] * 4


@pytest.mark.parametrize(
    ("scopes", "words"),
    [(("read",), "must be append"), (("append", "read"), "must be append"), (("write",), "must be append")],
)
def test_only_append_is_accepted(server: Server, ada: Client, scopes: tuple, words: str) -> None:
    status, error = deliver(server, token(ada, *scopes), message().as_bytes())
    assert status == NO_PERMISSION and words in error
    assert notes(ada) == []


def test_invalid_tokens(server: Server, ada: Client) -> None:
    revoked = token(ada)
    [listed] = ada.get("/v1/tokens").json()["tokens"]
    ada.delete(f"/v1/tokens/{listed['uniqueID']}")
    tag = ada.post("/v1/tags", {"name": "Gone"}).json()["uniqueID"]
    of_tag = token(ada, tag=tag)
    ada.delete(f"/v1/tags/{tag}")
    for given in (revoked, ada.token, "", "ada", "hesper_" + "a" * 43, of_tag):
        status, error = deliver(server, given, message().as_bytes())
        assert status == NO_PERMISSION and error.startswith("hesper: "), (given, error)
    assert notes(ada) == []


def test_messages_that_are_refused(server: Server, ada: Client) -> None:
    address = token(ada)
    parts = b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 101 + b"--b--"
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (level, level) for level in range(12))
    for sent, words in (
        (b"", "no header fields"),
        (b"Subject: x\n\n" + b"x" * (25 << 20), "more than 26214400 bytes"),
        (parts, "more than 100 parts"),
        (nested, "more than 10 levels"),
        (message(text="x" * (1 << 20)).as_bytes(), "cannot be stored as a note"),
        (message(None, "\n").as_bytes(), "cannot be stored as a note"),
    ):
        status, error = deliver(server, address, sent)
        assert status == DATA and words in error, error
    assert notes(ada) == []


def test_what_can_be_tried_again(server: Server, ada: Client, tmp_path: Path) -> None:
    """A full account and a database that cannot be opened are temporary."""
    address = token(ada)
    assert server.command("account", "set-quota", ada.email, "1").returncode == 0
    status, error = deliver(server, address, message().as_bytes())
    assert status == TRY_LATER and error
    assert notes(ada) == []
    assert server.command("account", "set-quota", ada.email, "default").returncode == 0
    assert deliver(server, address, message().as_bytes()) == (STORED, "")
    missing = subprocess.run(
        [BINARY, "capture-mail", address, "--data", tmp_path], input=message().as_bytes(), capture_output=True, timeout=60,
        env=server.environment, cwd=ROOT,
    )  # fmt: skip
    assert missing.returncode == TRY_LATER
