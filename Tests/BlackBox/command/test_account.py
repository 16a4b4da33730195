"""`hesper account`, with and without a running server."""

import fcntl
import os
import pty
import select
import signal
import sqlite3
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attachments import attach, download, some_bytes
from client import BINARY, PASSWORD, Client, ErrorResponse
from runner import ENVIRONMENT, FAILED, WRONG_SETTING, WRONG_USAGE, Hesper, serving
from waiting import wait_until

NEW_PASSWORD = "another horse, another battery"


def test_create_list_show_delete(hesper: Hesper, ada: str) -> None:
    listed = hesper("account", "list").stdout.split("\t")
    assert listed[0] == ada
    assert listed[2:] == ["0", "0", "0", "default", "-\n"]
    shown = hesper("account", "show", "ADA@example.org").stdout
    assert f"email:    {ada}\n" in shown
    assert "verified: -\n" in shown and "devices:  0\n" in shown
    refused = hesper("account", "delete", ada)
    assert refused.returncode == WRONG_USAGE
    assert "Add --yes" in refused.stderr
    assert hesper("account", "delete", ada, "--yes").stdout == f"Deleted the account {ada} with 0 objects.\n"
    assert hesper("account", "list").stdout == ""


def test_with_a_running_server(hesper: Hesper, tmp_path: Path) -> None:
    with serving(tmp_path, "--sign-up", "closed") as (url, _):
        assert hesper("account", "create", "ada@example.org", stdin=PASSWORD).returncode == 0
        phone = Client(url)
        phone.sign_in("ada@example.org", PASSWORD, "phone")
        shown = hesper("account", "show", "ada@example.org").stdout
        assert phone.device["uniqueID"] in shown
        assert "  phone  " in shown
        Client(url).sign_in("ada@example.org", PASSWORD, "\x1b[2Jtablet\n")
        assert "  \\u{1b}[2Jtablet\\n  " in hesper("account", "show", "ada@example.org").stdout

        reset = hesper("account", "set-password", "ada@example.org", stdin=NEW_PASSWORD + "\n")
        assert reset.returncode == 0
        assert phone.get("/v1/account").status_code == 401
        with pytest.raises(ErrorResponse):
            Client(url).sign_in("ada@example.org", PASSWORD)
        phone.sign_in("ada@example.org", NEW_PASSWORD)

        assert hesper("account", "delete", "ada@example.org", "--yes").returncode == 0
        assert phone.get("/v1/account").status_code == 401


def test_a_password_from_a_file(hesper: Hesper, tmp_path: Path) -> None:
    (tmp_path / "password").write_text(f"{PASSWORD}\r\nand something else\n")
    made = hesper("account", "create", "ada@example.org", "--password-file", "password", stdin="not this one\n")
    assert made.returncode == 0
    with serving(tmp_path) as (url, _):
        Client(url).sign_in("ada@example.org", PASSWORD)
    missing = hesper("account", "create", "eve@example.org", "--password-file", "nowhere")
    assert (missing.returncode, missing.stderr) == (
        WRONG_USAGE,
        "hesper: Cannot read the password file nowhere.\n",
    )


class Keyboard:
    """A terminal in which `hesper account create` runs."""

    def __init__(self, folder: Path):
        self.end, terminal = pty.openpty()
        self.shown = b""
        command = [str(BINARY), "account", "create", "ada@example.org"]
        self.process = subprocess.Popen(
            command, stdin=terminal, stdout=terminal, stderr=terminal, cwd=folder, env=ENVIRONMENT,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(terminal)

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())

    def wait_for(self, text: str) -> None:
        """Reads until the terminal shows the text, for at most ten seconds."""
        deadline = time.monotonic() + 10
        while text.encode() not in self.shown:
            assert select.select([self.end], [], [], max(deadline - time.monotonic(), 0))[0], self.shown
            self.shown += os.read(self.end, 1024)

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.end)[3] & termios.ECHO)


@pytest.fixture
def keyboard(tmp_path: Path) -> Iterator[Keyboard]:
    keyboard = Keyboard(tmp_path)
    yield keyboard
    keyboard.process.kill()
    keyboard.process.wait()
    os.close(keyboard.end)


def test_the_password_prompt_repeats_and_does_not_echo(hesper: Hesper, keyboard: Keyboard) -> None:
    for question in ["Password: ", "Repeat password: "]:
        keyboard.wait_for(question)
        keyboard.type(PASSWORD + "\n")
    keyboard.wait_for("Created account ")
    assert keyboard.process.wait(30) == 0
    assert PASSWORD.encode() not in keyboard.shown
    assert keyboard.echoes
    assert hesper("account", "list").stdout.startswith("ada@example.org\t")


def test_different_passwords_are_refused(hesper: Hesper, keyboard: Keyboard) -> None:
    keyboard.wait_for("Password: ")
    keyboard.type(PASSWORD + "\n")
    keyboard.wait_for("Repeat password: ")
    keyboard.type(PASSWORD + "!\n")
    keyboard.wait_for("The passwords do not match. Nothing was changed.")
    assert keyboard.process.wait(30) == WRONG_USAGE
    assert hesper("account", "list").stdout == ""


def test_ctrl_c_restores_the_echo_of_the_terminal(keyboard: Keyboard) -> None:
    keyboard.wait_for("Password: ")
    assert not keyboard.echoes
    keyboard.type("\x03")
    assert keyboard.process.wait(30) == -signal.SIGINT
    assert keyboard.echoes


@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "message"),
    [
        (["create", "ada@example.org"], PASSWORD, FAILED, "An account with the e-mail address ada@example.org already exists."),
        (["create", "ADA@example.org"], PASSWORD, FAILED, "An account with the e-mail address ADA@example.org already exists."),
        (["create", "eve@example.org"], "short", WRONG_USAGE, "The password must have 8 to 1024 bytes, not 5."),
        (["create", "eve@example.org"], "", WRONG_USAGE, "No password was given."),
        (["show", "eve@example.org"], "", FAILED, "No account has the e-mail address eve@example.org."),
        (["delete", "eve@example.org", "--yes"], "", FAILED, "No account has the e-mail address eve@example.org."),
        (["set-password", "eve@example.org"], PASSWORD, FAILED, "No account has the e-mail address eve@example.org."),
        (["reset-password", "eve@example.org"], "", FAILED, "No account has the e-mail address eve@example.org."),
        (["invite", "ADA@example.org"], "", FAILED, "An account with the e-mail address ADA@example.org already exists."),
    ],
)
@pytest.mark.usefixtures("ada")
def test_errors(hesper: Hesper, arguments: list[str], stdin: str, status: int, message: str) -> None:
    ended = hesper("account", *arguments, stdin=stdin)
    assert (ended.returncode, ended.stdout, ended.stderr) == (status, "", f"hesper: {message}\n")


@pytest.mark.parametrize("email", ["ada", "@example.org", "ada@", "a b@example.org", "a@b@example.org", "a" * 251 + "@b.c"])
def test_invalid_addresses(hesper: Hesper, tmp_path: Path, email: str) -> None:
    ended = hesper("account", "create", email, stdin=PASSWORD)
    assert ended.returncode == WRONG_USAGE
    assert "is not an e-mail address" in ended.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "arguments",
    [["account", "list"], ["account", "show", "ada@example.org"], ["check"], ["import", "--account", "a@b.c", "."]],
)
def test_a_mistyped_data_folder_creates_no_database(hesper: Hesper, tmp_path: Path, arguments: list[str]) -> None:
    ended = hesper(*arguments, "--data", "dta")
    assert ended.returncode == WRONG_SETTING
    assert ended.stderr == "hesper: dta contains no hesper.sqlite: set the data folder with --data or HESPER_DATA.\n"
    assert not (tmp_path / "dta").exists()


@pytest.mark.parametrize(("setting", "cost"), [("", 17), ("15", 15)])
def test_passwords_are_stored_as_scrypt_with_the_configured_cost(hesper: Hesper, tmp_path: Path, setting: str, cost: int) -> None:
    made = hesper("account", "create", "ada@example.org", stdin=PASSWORD + "\n", HESPER_PASSWORD_COST=setting)
    assert made.returncode == 0, made.stderr
    with closing(sqlite3.connect(tmp_path / "data/hesper.sqlite")) as database:
        [(kept,)] = database.execute("SELECT password_hash FROM accounts")
    assert kept.startswith(f"$scrypt$ln={cost},r=8,p=1$")
    assert PASSWORD not in kept


def test_delete_removes_attachment_bytes(fresh_server):
    client, other = fresh_server.client(email="ada@example.org"), fresh_server.client()
    attach(client, some_bytes(1_000))
    kept = attach(other, some_bytes(2_000))
    fresh_server.stop()
    done = fresh_server.command("account", "delete", "ada@example.org", "--yes")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    files = [path for path in (fresh_server.data / "attachments").glob("*/*/*") if path.is_file()]
    assert [path.stat().st_size for path in files] == [2_000]
    fresh_server.start()
    assert download(other, kept) == some_bytes(2_000)


@pytest.mark.thorough
def test_deleting_over_http_removes_attachment_bytes(fresh_server):
    client = fresh_server.client()
    attach(client, some_bytes(1_000))
    assert client.delete("/v1/account", json={"password": client.password}).status_code == 204
    attachments = fresh_server.data / "attachments"
    # The server removes the folders too. `os.walk` ignores folders that are removed while they are listed.
    wait_until(lambda: not [folder for folder, _, files in os.walk(attachments) if files and Path(folder) != attachments])
