"""`hesper import` of a folder: repeated, with a running server, and concurrently."""

import os
import subprocess
from pathlib import Path

import pytest
from client import BINARY, PASSWORD, Client
from device import Device
from runner import ENVIRONMENT, FAILED, WRONG_USAGE, Hesper, serving


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with two importable texts, and one that is not UTF-8."""
    folder = tmp_path / "Notes"
    (folder / "Travel/Paris").mkdir(parents=True)
    (folder / "todo.md").write_text("# To do\n\n- everything\n")
    (folder / "Travel/Paris/tower.txt").write_text("The tower\nis tall.\n")
    (folder / "Travel/broken.txt").write_bytes(b"\xff\xfe")
    (folder / "picture.jpg").write_bytes(b"\xff\xd8")
    os.utime(folder / "todo.md", (1557126489, 1557126489))
    return folder


def test_importing_twice(hesper: Hesper, ada: str, notes: Path) -> None:
    first = hesper("import", "--account", ada, "Notes")
    assert first.returncode == FAILED
    assert first.stderr == "hesper: Skipped Travel/broken.txt: It is not valid UTF-8.\n"
    assert first.stdout == (
        "Imported Notes: 2 new notes, 0 changed, 0 unchanged, 2 new tags, 1 skipped, 1 other file ignored.\n"
    )
    (notes / "Travel/broken.txt").unlink()
    before = hesper("account", "list").stdout
    second = hesper("import", "--account", ada, "Notes")
    assert (second.returncode, second.stderr) == (0, "")
    assert second.stdout == (
        "Imported Notes: 0 new notes, 0 changed, 2 unchanged, 0 new tags, 1 other file ignored.\n"
    )
    assert hesper("account", "list").stdout == before
    assert hesper("check").returncode == 0


@pytest.mark.usefixtures("notes")
def test_with_a_running_server(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    with serving(tmp_path) as (url, _):
        client = Client(url)
        client.sign_in(ada, PASSWORD)
        device = Device(client)
        device.sync()
        hesper("import", "--account", ada, "Notes")
        device.sync()
        (found,) = client.get("/v1/search", params={"q": "tower"}).json()["results"]
        tower = found["note"]
        assert tower["text"] == "The tower\nis tall.\n"
        tags = {tag["uniqueID"]: tag["name"] for tag in client.get("/v1/tags").json()["tags"]}
        assert {tags[tag] for tag in tower["tags"]} == {"Travel", "Paris"}
        todo = next(note for note in client.get("/v1/notes").json()["notes"] if note["text"].startswith("# To do"))
        assert todo["creationDate"] == todo["sortDate"] == "2019-05-06T07:08:09.000Z"

        # Changes made on a device are kept.
        assert client.patch(f"/v1/notes/{todo['uniqueID']}", {"text": "# Done\n", "archived": True}).status_code == 200
        assert client.delete(f"/v1/notes/{tower['uniqueID']}").status_code == 200
        again = hesper("import", "--account", ada, "Notes").stdout
        assert "0 new notes, 0 changed, 1 unchanged, 0 new tags, 1 previously deleted" in again
        after = client.get(f"/v1/notes/{todo['uniqueID']}").json()
        assert (after["text"], after["archived"]) == ("# Done\n", True)
        assert client.get(f"/v1/notes/{tower['uniqueID']}").status_code == 410
        device.sync()
    assert hesper("check").returncode == 0


@pytest.mark.parametrize("count", [1_000, pytest.param(3_000, marks=pytest.mark.thorough)])
def test_a_large_import_during_writes(hesper: Hesper, ada: str, tmp_path: Path, count: int) -> None:
    folder = tmp_path / "Many"
    for index in range(count):
        (folder / f"{index % 10}").mkdir(parents=True, exist_ok=True)
        (folder / f"{index % 10}/{index}.txt").write_text(f"Note {index}\n" * 5)
    with serving(tmp_path) as (url, _):
        client = Client(url)
        client.sign_in(ada, PASSWORD)
        process = subprocess.Popen(
            [str(BINARY), "import", "--account", ada, "Many"],
            cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        written = 0
        while process.poll() is None or written < 20:
            assert client.post("/v1/notes", {"text": f"written meanwhile {written}"}).status_code == 201
            written += 1
        out, progress = process.communicate(timeout=60)
        assert out.startswith(f"Imported Many: {count} new notes, 0 changed, 0 unchanged, 10 new tags.")
        assert progress.splitlines()[-1] == f"{count} of {count} notes imported"
        listed = hesper("account", "list").stdout.split("\t")
        assert int(listed[2]) == count + 10 + written
    assert hesper("check").returncode == 0


def test_two_concurrent_imports_of_one_folder(hesper: Hesper, ada: str, notes: Path, tmp_path: Path) -> None:
    (notes / "Travel/broken.txt").unlink()
    for index in range(400):
        (notes / f"Travel/{index}.md").write_text(f"Note {index}\n")
    both = [
        subprocess.Popen([str(BINARY), "import", "--account", ada, "Notes"], cwd=tmp_path, env=ENVIRONMENT,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [process.wait(60) for process in both] == [0, 0]
    assert hesper("account", "list").stdout.split("\t")[2] == "404"
    assert hesper("check").returncode == 0


def test_unknown_accounts_and_folders(hesper: Hesper, ada: str) -> None:
    nobody = hesper("import", "--account", "eve@example.org", ".")
    assert (nobody.returncode, nobody.stderr) == (FAILED, "hesper: No account has the e-mail address eve@example.org.\n")
    nothing = hesper("import", "--account", ada, "nowhere")
    assert (nothing.returncode, nothing.stderr) == (WRONG_USAGE, "hesper: nowhere: No such file or directory.\n")
    assert hesper("import", ".").returncode == WRONG_USAGE
