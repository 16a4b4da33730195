"""`hesper sync FOLDER`: a folder of text files and the notes of an account, with running servers and processes that are killed."""

import json
import os
import random
import signal
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from client import BINARY, PASSWORD, Client
from runner import ENVIRONMENT, FAILED, Hesper, run, serving
from waiting import wait_until

pytestmark = pytest.mark.long

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

    def start(self, *arguments: str) -> subprocess.Popen:
        with (self.place / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(BINARY), "sync", "Notes", *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.place,
                env=ENVIRONMENT | self.environment,
            )
        return self.process

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

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
def served(tmp_path: Path, ada: str, **environment: str) -> Iterator[tuple[str, Client]]:
    with serving(tmp_path, **environment) as (url, _):
        client = Client(url)
        client.sign_in(ada, PASSWORD)
        yield url, client


def syncing(tmp_path: Path, url: str, ada: str) -> list[Machine]:
    """Two machines whose folders are synced by running processes."""
    machines = [Machine(tmp_path / name, url, ada) for name in ("one", "other")]
    for machine in machines:
        assert machine(*machine.account, "--yes", "--once").returncode == 0
        machine.start()
    return machines


def settle(machines: list[Machine]) -> None:
    """Kills the processes, and syncs until the folders are equal."""
    for machine in machines:
        machine.kill()
    time.sleep(1.1)  # until all files have been unchanged for a second
    for machine in machines * 2:
        done = machine("--once")
        assert done.returncode == 0, done.stderr
    assert machines[0].files() == machines[1].files()


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
        wait_until(lambda: "Press Ctrl-C to stop." in (one.place / "log").read_text())
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


def test_a_folder_that_is_unmounted_during_the_first_run_keeps_its_state(ada: str, tmp_path: Path) -> None:
    """The state may have unsent changes."""
    with served(tmp_path, ada) as (url, client):
        one = Machine(tmp_path / "one", url, ada)
        (one.folder / "Soup.md").write_text("Soup")
        process = one.start(*one.account, "--yes")
        wait_until(lambda: "Press Ctrl-C to stop." in (one.place / "log").read_text() and texts(client) == ["Soup"])
        (one.folder / ".hesper").rename(one.place / "away")
        (one.folder / "Soup.md").write_text("Soup, changed")
        assert process.wait(30) == FAILED
        assert ".hesper is missing. Nothing was changed. Is the folder mounted?" in (one.place / "log").read_text()
        assert len(client.get("/v1/devices").json()["devices"]) == 2
        (one.place / "away").rename(one.folder / ".hesper")
        time.sleep(1.1)
        done = one("--once")
        assert (done.returncode, done.stderr) == (0, "")
        assert texts(client) == ["Soup, changed"]


def test_status_and_questions(ada: str, tmp_path: Path) -> None:
    with served(tmp_path, ada) as (url, client):
        one = Machine(tmp_path / "one", url, ada)
        for number in range(30):
            (one.folder / f"{number}.md").write_text(f"Note {number}")
        assert one(*one.account, "--yes", "--once").returncode == 0
        assert json.loads(one("--status", "--json").stdout) == {
            "account": ada, "attachments": 0, "files": 30, "folder": str(one.folder), "missing": [], "needsSignIn": False, "plan": {},
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
    # Without a server. The process that runs is not the one that shows the status.
    one.start()
    (one.folder / "20.md").write_text("Not sent")
    wait_until(lambda: json.loads(one("--status", "--json").stdout)["unsent"], pause=0.2)
    assert "Not sent to the server yet: 1\n" in one("--status").stdout
    one.kill()
    assert "Not sent to the server yet: 1\n" in one("--status").stdout


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


def test_odd_names_and_texts_are_the_same_on_another_machine(ada: str, tmp_path: Path, everything: bool) -> None:
    """Every name, and every name of a folder. With --everything, every name in every folder."""
    with served(tmp_path, ada) as (url, client):
        one, other = Machine(tmp_path / "one", url, ada), Machine(tmp_path / "other", url, ada)
        count = 0
        for index, folder in enumerate(["", "sub", "deep/er/and/deeper", "sp ace", "UPPER", "é", "e\u0301x", "-x"]):
            (one.folder / folder).mkdir(parents=True, exist_ok=True)
            for name in NAMES if everything or not index else NAMES[index::7]:
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


def held(client: Client) -> dict[str, list[str]]:
    """The texts of the notes that have attachments, and the filenames of these."""
    found = {}
    for note in client.get("/v1/notes", params={"limit": 500}).json()["notes"]:
        names = [client.get(f"/v1/attachments/{attachment}").json()["filename"] for attachment in note["attachments"]]
        if names:
            found[note["text"]] = sorted(names)
    return found


def attach(client: Client, text: str, filename: str, data: bytes) -> None:
    """Adds an attachment to the note with a text, as the web app does."""
    (note,) = [note for note in client.get("/v1/notes").json()["notes"] if note["text"] == text]
    attachment = str(uuid.uuid4())
    assert client.put(f"/v1/attachments/{attachment}/data", data=data).status_code == 201
    properties = {"mimeType": "application/octet-stream", "filename": filename}
    assert client.put(f"/v1/attachments/{attachment}", properties).status_code == 201
    path = f"/v1/notes/{note['uniqueID']}"
    etag = client.get(path).headers["ETag"]
    change = {"attachments": [*note["attachments"], attachment]}
    assert client.patch(path, change, headers={"If-Match": etag}).status_code == 200


def test_linked_files_are_attachments(ada: str, tmp_path: Path) -> None:
    with served(tmp_path, ada) as (url, client):
        one, other = Machine(tmp_path / "one", url, ada), Machine(tmp_path / "other", url, ada)
        trip = "![](pics/villa%201.png) [map](<map of Rome.pdf> 'M') ![[sound.mp3]] ![](missing.png) ![](/etc/hostname)"
        for path, data in {
            "Trips/Rome.md": trip.encode(), "Trips/pics/villa 1.png": b"\x89PNG" + bytes(range(256)) * 40,
            "map of Rome.pdf": b"%PDF", "old/sound.mp3": b"ID3", "unlinked.png": b"unlinked",
        }.items():  # fmt: skip
            (one.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (one.folder / path).write_bytes(data)
        time.sleep(1.1)
        plan = one(*one.account, "--dry-run")
        assert "  Files that become attachments: 3\n" in plan.stdout
        assert held(client) == {}
        assert one(*one.account, "--yes", "--once").returncode == 0
        names = ["Trips/pics/villa 1.png", "map of Rome.pdf", "old/sound.mp3"]
        assert held(client) == {trip: names}
        assert other(*other.account, "--yes", "--once").returncode == 0
        files = one.files()
        del files[b"unlinked.png"]
        assert other.files() == files

        # Changed bytes, a move with its link, an attachment from elsewhere, which is larger than what is downloaded without a request.
        (one.folder / "map of Rome.pdf").write_bytes(b"%PDF, with notes")
        (one.folder / "old/sound.mp3").rename(one.folder / "sound.mp3")
        attach(client, trip, "photo.jpg", b"photo")
        large = random.Random(1).randbytes(9 << 20)
        attach(client, trip, "video.bin", large)
        time.sleep(1.1)
        for machine in (one, other, one):
            done = machine("--once")
            assert (done.returncode, done.stderr) == (0, "")
        files = one.files()
        assert files[b"photo.jpg"] == b"photo" and files[b"video.bin"] == large
        del files[b"unlinked.png"]
        assert other.files() == files
        names = ["Trips/pics/villa 1.png", "map of Rome.pdf", "photo.jpg", "sound.mp3", "video.bin"]
        assert held(client) == {trip: names}
        for machine in (one, other):
            assert machine("--once").stdout == "Synced. Nothing was changed.\n"
        status = json.loads(one("--status", "--json").stdout)
        assert (status["attachments"], status["files"], status["plan"], status["missing"]) == (5, 1, {}, [])

        # A deleted file is asked for with the others, or removed at once if that is confirmed.
        (other.folder / "photo.jpg").unlink()
        assert "photo.jpg" not in other("--once").stderr
        assert [file["path"] for file in json.loads(other("--status", "--json").stdout)["missing"]] == ["photo.jpg"]
        assert other("--once", "--confirm-deletions").returncode == 0
        assert one("--once").returncode == 0
        assert not (one.folder / "photo.jpg").exists()
        (trashed,) = (one.folder / ".hesper/trash").rglob("photo.jpg")
        assert trashed.read_bytes() == b"photo"


@pytest.mark.parametrize(("limit", "status"), [(200 << 10, 0), (10 << 10, FAILED)])
def test_files_over_the_limit_of_the_server_stay(limit: int, status: int, ada: str, tmp_path: Path) -> None:
    """The command asks for the limit before it sends a file of more than 64 KiB. A smaller one may be refused."""
    with served(tmp_path, ada, HESPER_ATTACHMENT_SIZE=f"{limit >> 10}KiB") as (url, client):
        one = Machine(tmp_path / "one", url, ada)
        large = os.urandom(limit + 1)
        (one.folder / "Soup.md").write_text("![](large.bin) ![](small.bin)")
        (one.folder / "large.bin").write_bytes(large)
        (one.folder / "small.bin").write_bytes(b"small")
        time.sleep(1.1)
        for arguments in ([*one.account, "--yes", "--once"], ["--once"]):
            done = one(*arguments)
            assert done.returncode == status
            assert "Skipped large.bin: " in done.stderr
        assert [file["path"] for file in json.loads(one("--status", "--json").stdout)["skipped"]] == ["large.bin"]
        assert one.files()[b"large.bin"] == large
        (one.folder / "large.bin").write_bytes(b"no longer large")
        time.sleep(1.1)
        done = one("--once")
        assert (done.returncode, done.stderr) == (0, "")
        sizes = [attachment["byteCount"] for attachment in client.get("/v1/attachments").json()["attachments"]]
        assert sorted(sizes) == [5, 15]


@pytest.mark.thorough
def test_odd_names_of_linked_files(ada: str, tmp_path: Path) -> None:
    with served(tmp_path, ada) as (url, client):
        one, other = Machine(tmp_path / "one", url, ada), Machine(tmp_path / "other", url, ada)
        links = []
        names = [name for name in NAMES if not name.startswith("#")]
        for folder in ["", "sp ace/"]:
            (one.folder / folder).mkdir(exist_ok=True)
            for number, name in enumerate(names):
                path = f"{folder}{name}.png"
                (one.folder / path).write_bytes(f"{folder} {number}".encode())
                links.append(f"![](./{quote(path)})")
        (one.folder / "Links.md").write_text("\n".join(links))
        time.sleep(1.1)
        for machine in (one, other):
            done = machine(*machine.account, "--yes", "--once")
            assert (done.returncode, done.stderr) == (0, "")
        assert len(one.files()) == len(links) + 1
        assert other.files() == one.files()


def test_an_imported_folder_does_not_double_its_files(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    one = Machine(tmp_path / "one", "", ada)
    (one.folder / "Soup.md").write_text("![](soup.png)")
    (one.folder / "soup.png").write_bytes(b"soup")
    assert run(tmp_path, "import", "--account", ada, one.folder).returncode == 0
    with served(tmp_path, ada) as (url, client):
        one.account[1] = url
        time.sleep(1.1)
        shown = one(*one.account, "--dry-run")
        assert "Files that are equal to notes: 1\n" in shown.stdout
        assert "Files that are equal to attachments: 1\n" in shown.stdout
        assert one(*one.account, "--yes", "--once").returncode == 0
        assert held(client) == {"![](soup.png)": ["soup.png"]}
        # The state is lost.
        for file in (one.folder / ".hesper").iterdir():
            file.unlink() if file.is_file() else None
        assert one(*one.account, "--yes", "--once").returncode == 0
        assert held(client) == {"![](soup.png)": ["soup.png"]}
        assert one.files() == {b"Soup.md": b"![](soup.png)", b"soup.png": b"soup"}


@pytest.mark.parametrize("seed", [1])
def test_killed_processes_lose_and_double_no_files(seed: int, ada: str, tmp_path: Path, everything: bool) -> None:
    chance, steps = random.Random(seed), 60 if everything else 25
    with served(tmp_path, ada) as (url, client):
        machines = syncing(tmp_path, url, ada)
        contents = {}
        for number in range(steps):
            machine = chance.choice(machines)
            folder = machine.folder
            pictures = sorted(path for path in folder.rglob("*.png") if ".hesper" not in path.parts)
            match chance.randrange(5):
                case 0 | 1:
                    name = f"p{number}.png"
                    contents[name] = os.urandom(chance.choice([10, 100_000]))
                    (folder / name).write_bytes(contents[name])
                    (folder / f"n{number}.md").write_text(f"n{number} ![]({name})\n")
                case 2 if pictures:
                    # A new file gets the name, as most programs save pictures.
                    picture = chance.choice(pictures)
                    contents[picture.name] = os.urandom(100)
                    new = picture.with_name(picture.name + "~")
                    new.write_bytes(contents[picture.name])
                    new.replace(picture)
                    time.sleep(2.5)
                case 3:
                    machine.kill()
                    time.sleep(chance.random() * 0.3)
                    machine.start()
                case _:
                    time.sleep(chance.random() * 2)
        settle(machines)
        files = machines[0].files()
        pictures = Counter(data for path, data in files.items() if b".png" in path)
        # Both machines may have replaced a picture at the same time. Then both are there.
        assert set(contents.values()) <= set(pictures)
        assert [data for data, number in pictures.items() if number > 1] == []
        names = [name for names in held(client).values() for name in names]
        assert len(names) == len(pictures) > steps // 6


@pytest.mark.parametrize("seed", [1])
def test_killed_processes_lose_and_double_nothing(seed: int, ada: str, tmp_path: Path, everything: bool) -> None:
    chance, steps = random.Random(seed), 120 if everything else 60
    with served(tmp_path, ada) as (url, client):
        machines = syncing(tmp_path, url, ada)
        count, written = 0, set()
        for _ in range(steps):
            machine = chance.choice(machines)
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
                    machine.kill()
                    time.sleep(chance.random() * 0.3)
                    machine.start()
                case _:
                    written.discard(word)
                    time.sleep(chance.random())
        settle(machines)
        assert sorted(text.decode() for text in machines[0].files().values()) == texts(client)
        words = Counter(word for text in texts(client) for word in text.split())
        assert {word: number for word, number in words.items() if number > 1} == {}
        # What was written to a file that a killed process was about to replace is in the trash.
        trash = [path.read_text() for machine in machines for path in (machine.folder / ".hesper/trash").rglob("*.md")]
        assert written - set(words) - {word for text in trash for word in text.split()} == set()
        assert len(words) > steps // 2
