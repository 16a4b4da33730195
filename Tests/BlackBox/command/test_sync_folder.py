"""`hesper sync FOLDER`: a folder of text files and the notes of an account, with running servers and processes that are killed."""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from client import BINARY, PASSWORD, Client
from runner import ENVIRONMENT, FAILED, Hesper, run, serving

USAGE, SIGN_IN_AGAIN, QUESTION = 2, 3, 4


class Machine:
    """A machine with a folder."""

    def __init__(self, place: Path, url: str, email: str) -> None:
        self.place = place
        self.folder = place / "Notes"
        self.folder.mkdir(parents=True)
        (place / "password").write_text(PASSWORD + "\n")
        self.account = ["--server", url, "--email", email, "--password-file", str(place / "password")]
        self.environment = {"XDG_STATE_HOME": str(place / "state")}

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess:
        return run(self.place, "sync", "Notes", *arguments, **self.environment)

    def start(self) -> subprocess.Popen:
        with (self.place / "log").open("ab") as log:
            return subprocess.Popen(
                [str(BINARY), "sync", "Notes"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.place,
                env=ENVIRONMENT | self.environment,
            )

    def files(self) -> dict[bytes, bytes]:
        """The contents of all files, by path. Paths are bytes, because they need not be UTF-8."""
        found = {}
        root = os.fsencode(self.folder)
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name != b".hesper"]
            for name in names:
                path = os.path.join(folder, name)
                found[os.path.relpath(path, root)] = Path(os.fsdecode(path)).read_bytes()
        return found


@contextmanager
def served(tmp_path: Path, ada: str) -> Iterator[tuple[str, Client]]:
    with serving(tmp_path) as (url, _):
        client = Client(url)
        client.sign_in(ada, PASSWORD)
        yield url, client


def texts(client: Client) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = client.get("/v1/notes", params={"limit": 500} | ({"cursor": cursor} if cursor else {})).json()
        found += [note["text"] for note in page["notes"]]
        cursor = page.get("nextCursor")
        if not cursor:
            return sorted(found)


def test_the_first_run(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    assert hesper("sync", "missing").returncode == USAGE
    with served(tmp_path, ada) as (url, client):
        client.post("/v1/notes", {"text": "From the Web\nmore"})
        one = Machine(tmp_path / "one", url, ada)
        (one.folder / "Soup.md").write_text("# Soup\n")
        before = sorted(one.folder.iterdir())
        missing = one("--once")
        assert missing.returncode == USAGE
        assert missing.stderr.startswith(f"hesper: {one.folder} is not synced yet")
        no_password = one(*one.account[:4])
        assert (no_password.returncode, no_password.stdout) == (USAGE, "")
        for arguments, status in ((["--dry-run"], 0), ([], USAGE)):
            shown = one(*one.account, *arguments)
            assert shown.returncode == status
            assert "Files that become notes: 1\n  Notes that become files: 1\n" in shown.stdout
            assert sorted(one.folder.iterdir()) == before
            assert texts(client) == ["From the Web\nmore"]
        (one.place / "wrong").write_text("wrong password here\n")
        assert one(*one.account[:4], "--password-file", str(one.place / "wrong"), "--yes").returncode == FAILED
        assert sorted(one.folder.iterdir()) == before
        done = one(*one.account, "--yes", "--once")
        assert (done.returncode, done.stderr) == (0, "")
        assert one.files() == {b"Soup.md": b"# Soup\n", b"From the Web.md": b"From the Web\nmore"}
        assert texts(client) == ["# Soup\n", "From the Web\nmore"]
        # Nothing secret is in the folder, and only the owner can read the state.
        assert {path.name for path in (one.folder / ".hesper").iterdir()} <= {"folder.json", "tmp"}
        assert set(json.loads((one.folder / ".hesper/folder.json").read_text())) == {"folder", "host"}
        (state,) = [path for path in (one.place / "state/hesper").iterdir() if path.is_dir()]
        assert state.stat().st_mode & 0o077 == 0
        again = one("--once")
        assert (again.returncode, again.stdout) == (0, "Synced. Nothing was changed.\n")


def test_who_may_sync_a_folder(ada: str, tmp_path: Path) -> None:
    with served(tmp_path, ada) as (url, client):
        one = Machine(tmp_path / "one", url, ada)
        (one.folder / "Soup.md").write_text("Soup")
        assert one(*one.account, "--yes", "--once").returncode == 0
        running = one.start()
        time.sleep(1)
        other = one("--once")
        assert (other.returncode, other.stderr) == (FAILED, "hesper: Another process syncs this folder.\n")
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 0

        inner = one.folder / "Inner"
        inner.mkdir()
        refused = run(tmp_path, "sync", inner, *one.account, "--yes", **one.environment)
        assert refused.returncode == FAILED
        assert "A folder within it cannot be synced separately." in refused.stderr

        marker = one.folder / ".hesper/folder.json"
        content = json.loads(marker.read_text())
        marker.write_text(json.dumps(content | {"host": "elsewhere"}))
        assert "is synced by elsewhere" in one("--once").stderr
        assert one("--once", "--take-over").returncode == 0
        assert json.loads(marker.read_text()) == content

        for device in client.get("/v1/devices").json()["devices"]:
            if device["name"] != "laptop":
                client.delete(f"/v1/devices/{device['uniqueID']}")
        (one.folder / "Soup.md").write_text("Soup, while signed out")
        time.sleep(1.1)
        assert one("--once").returncode == SIGN_IN_AGAIN
        assert texts(client) == ["Soup"]
        assert one("--once", *one.account).returncode == 0
        assert texts(client) == ["Soup, while signed out"]

        marker.unlink()
        gone = one("--once")
        assert gone.returncode == USAGE
        assert "its folder .hesper is missing" in gone.stderr


def test_status_and_questions(ada: str, tmp_path: Path) -> None:
    with served(tmp_path, ada) as (url, client):
        one = Machine(tmp_path / "one", url, ada)
        for number in range(30):
            (one.folder / f"{number}.md").write_text(f"Note {number}")
        assert one(*one.account, "--yes", "--once").returncode == 0
        assert json.loads(one("--status", "--json").stdout) == {
            "account": ada, "files": 30, "folder": str(one.folder), "missing": [], "needsSignIn": False, "plan": {},
            "questions": [], "refused": [], "skipped": [], "unsent": 0,
        }
        (one.folder / "binary.md").write_bytes(b"a\0b")
        for number in range(12):
            (one.folder / f"{number}.md").unlink()
        time.sleep(1.1)
        asked = one("--once")
        assert asked.returncode == QUESTION
        assert "12 missing files: the notes are kept." in asked.stderr
        status = json.loads(one("--status", "--json").stdout)
        assert [file["path"] for file in status["skipped"]] == ["binary.md"]
        assert len(status["missing"]) == 12 and len(status["questions"]) == 1
        assert len(texts(client)) == 30
        assert one("--once", "--confirm-deletions").returncode == 0
        assert len(texts(client)) == 18


NAMES = [
    "-rf", " leading", "trailing ", "dots..", "CON", "a'b\"c", "back\\slash", "new\nline", "tab\t", "emoji 🎉👩‍👩‍👧", "nfc é", "nfd e\u0301",
    "ß", "İ", "日本語", "ع", "%20", "*?", "a:b|c", "$(id)", "x" * 240, "é" * 120, "two.dots", "#tag", "[[link]]", "Untitled", "Untitled 2",
    "\u202egpj", "a\u200bb", "~home", "case", "CASE", "-", "{}", "`x`", "\x7f", "\x1b[31m",
]  # fmt: skip
TEXTS = [
    b"plain\n", b"no end", b"\xef\xbb\xbfBOM\r\nand CRLF\r\n", b"CRLF\r\nonly\r\n", b"mixed\r\nends\n", b"CR\ronly\r",
    b"---\ntitle: T\ntags: [a, b]\n---\n# H\n", b"![pic](p.png)\n![[x.png]]\n", b"\n\n\nlate\n", b" \t\n", b"x" * 100_000 + b"\n",
    b"\x1b[31mred\n",
]  # fmt: skip


def test_odd_names_and_texts_are_the_same_on_another_machine(ada: str, tmp_path: Path) -> None:
    with served(tmp_path, ada) as (url, client):
        one, other = Machine(tmp_path / "one", url, ada), Machine(tmp_path / "other", url, ada)
        count = 0
        for folder in ["", "sub", "deep/er/and/deeper", "sp ace", "UPPER", "é", "e\u0301x", "-x"]:
            (one.folder / folder).mkdir(parents=True, exist_ok=True)
            for name in NAMES:
                count += 1
                ending = ["md", "txt", "markdown", "MD"][count % 4]
                (one.folder / folder / f"{name}.{ending}").write_bytes(TEXTS[count % len(TEXTS)] + b"%d" % count)
        time.sleep(1.1)
        for machine in (one, other):
            done = machine(*machine.account, "--yes", "--once")
            assert (done.returncode, done.stderr) == (0, "")
        assert len(one.files()) == count
        assert other.files() == one.files()
        for machine in (one, other):
            assert machine("--once").stdout == "Synced. Nothing was changed.\n"
        assert len(texts(client)) == count


@pytest.mark.parametrize("seed", [1])
def test_killed_processes_lose_and_double_nothing(seed: int, ada: str, tmp_path: Path) -> None:
    chance = random.Random(seed)
    with served(tmp_path, ada) as (url, client):
        machines = [Machine(tmp_path / name, url, ada) for name in ("one", "other")]
        for machine in machines:
            assert machine(*machine.account, "--yes", "--once").returncode == 0
        running = [machine.start() for machine in machines]
        count, written = 0, set()
        for _ in range(120):
            index = chance.randrange(2)
            machine = machines[index]
            files = sorted(machine.folder.rglob("*.md"))
            count += 1
            word = f"w{count}w"
            written.add(word)
            match chance.randrange(8):
                case 0:
                    (machine.folder / f"{word}.md").write_text(f"{word}\n")
                case 1 | 2 if files:
                    with chance.choice(files).open("a") as file:
                        file.write(f"{word}\n")
                case 3 if files:
                    # A new file gets the name, as with vim and `sed -i`.
                    file = chance.choice(files)
                    new = file.with_name(file.name + "~")
                    new.write_text(f"{word}\n{file.read_text()}")
                    new.replace(file)
                case 4:
                    client.post("/v1/notes", {"text": f"{word}\n"})
                case 5:
                    notes = client.get("/v1/notes").json()["notes"]
                    if notes:
                        note = chance.choice(notes)
                        got = client.get(f"/v1/notes/{note['uniqueID']}")
                        patched = client.patch(
                            f"/v1/notes/{note['uniqueID']}", {"text": f"{got.json()['text']}{word}\n"},
                            headers={"If-Match": got.headers["ETag"]},
                        )  # fmt: skip
                        if patched.status_code == 200:
                            continue
                    written.discard(word)
                case 6:
                    written.discard(word)
                    running[index].kill()
                    running[index].wait()
                    time.sleep(chance.random() * 0.3)
                    running[index] = machine.start()
                case _:
                    written.discard(word)
                    time.sleep(chance.random())
        for process in running:
            process.kill()
            process.wait()
        time.sleep(1.1)
        for machine in machines * 2:
            done = machine("--once")
            assert done.returncode == 0, done.stderr
        assert machines[0].files() == machines[1].files()
        assert sorted(text.decode() for text in machines[0].files().values()) == texts(client)
        words = Counter(word for text in texts(client) for word in text.split())
        assert {word: number for word, number in words.items() if number > 1} == {}
        # What was written to a file that a killed process was about to replace is in the trash.
        trash = [path.read_text() for machine in machines for path in (machine.folder / ".hesper/trash").rglob("*.md")]
        assert written - set(words) - {word for text in trash for word in text.split()} == set()
        assert len(words) > 60
