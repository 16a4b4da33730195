"""`hesper export`, and `hesper import` of its archives and of other ZIP files."""

import subprocess
import zipfile
from pathlib import Path

import pytest
from archive import Export, passes_unzip
from attachments import attach, download, some_bytes
from client import BINARY, PASSWORD, Client
from runner import ENVIRONMENT, FAILED, WRONG_USAGE, Hesper, run, serving

PICTURE = some_bytes(300_000)


@pytest.fixture
def full(ada: str, tmp_path: Path) -> tuple[str, str, str]:
    """An account with two notes, a tag and a picture: e-mail address, the picture's ID, digest."""
    with serving(tmp_path) as (url, _):
        client = Client(url)
        client.sign_in(ada, PASSWORD)
        tag = client.post("/v1/tags", {"name": "Travel"}).json()["uniqueID"]
        picture = attach(client, PICTURE, filename="forum.png")
        client.post("/v1/notes", {"text": "# Rome\n", "tags": [tag], "attachments": [picture]})
        client.post("/v1/notes", {"text": "Milk", "archived": True})
        gone = client.post("/v1/notes", {"text": "gone"}).json()["uniqueID"]
        client.delete(f"/v1/notes/{gone}")
        return ada, picture, client.sync()["digest"]


def test_texts_and_files_of_app_objects_are_exported_and_imported(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    with serving(tmp_path) as (url, _):
        client = Client(url)
        client.sign_in(ada, PASSWORD)
        photo = attach(client, PICTURE, filename="soup.png")
        recipe = {"objectType": "recipe", "texts": {"method": "Boil.", "notes": "Good."}, "files": {"photo": photo, "scan": None}}
        made = client.post("/v1/objects", recipe)
        assert made.status_code == 201, made.text
        digest = client.sync()["digest"]
    done = hesper("export", "--account", ada, "ada.zip")
    assert (done.returncode, done.stdout) == (0, "Exported ada.zip: 0 notes, 1 attachment.\n")
    other = tmp_path / "other"
    other.mkdir()
    assert run(other, "account", "create", "grace@example.org", stdin=PASSWORD + "\n").returncode == 0
    for _ in range(2):
        done = run(other, "import", "--account", "grace@example.org", "../ada.zip")
        assert (done.returncode, done.stderr) == (0, "")
    assert run(other, "check").returncode == 0
    with serving(other) as (url, _):
        client = Client(url)
        client.sign_in("grace@example.org", PASSWORD)
        assert client.sync()["digest"] == digest
        assert client.get(f"/v1/objects/{made.json()['uniqueID']}").json() == made.json()
        assert download(client, photo) == PICTURE


def test_export_and_import_into_another_server(hesper: Hesper, full: tuple[str, str, str], tmp_path: Path) -> None:
    ada, picture, digest = full
    done = hesper("export", "--account", ada, "ada.zip")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Exported ada.zip: 2 notes, 1 attachment.\n", "")
    assert passes_unzip(tmp_path / "ada.zip")
    assert (tmp_path / "ada.zip").stat().st_mode & 0o077 == 0
    assert set(Export(tmp_path / "ada.zip").names) == {
        "Rome.md", "Archive/Milk.md", "Attachments/forum.png", "hesper.json",
    }  # fmt: skip

    other = tmp_path / "other"
    other.mkdir()
    assert run(other, "account", "create", "grace@example.org", stdin=PASSWORD + "\n").returncode == 0
    summary = "0 changed, {} unchanged, {} new tag{}"
    first = run(other, "import", "--account", "grace@example.org", "../ada.zip")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == (
        f"Imported ../ada.zip: 2 new notes, {summary.format(0, 1, '')}, 1 new attachment, 1 deletion.\n"
    )
    second = run(other, "import", "--account", "grace@example.org", "../ada.zip")
    assert second.stdout == f"Imported ../ada.zip: 0 new notes, {summary.format(2, 0, 's')}.\n"
    assert run(other, "check").returncode == 0
    with serving(other) as (url, _):
        client = Client(url)
        client.sign_in("grace@example.org", PASSWORD)
        assert client.sync()["digest"] == digest
        assert download(client, picture) == PICTURE
        (found,) = client.get("/v1/search", params={"q": "rome"}).json()["results"]
        assert found["note"]["attachments"] == [picture]


def test_with_a_running_server(hesper: Hesper, full: tuple[str, str, str], tmp_path: Path) -> None:
    ada, picture, digest = full
    with serving(tmp_path) as (url, _):
        assert hesper("export", "--account", ada, "ada.zip").returncode == 0
        client = Client(url)
        client.sign_up("grace@example.org")
        assert hesper("import", "--account", "grace@example.org", "ada.zip").returncode == 0
        assert client.sync()["digest"] == digest
        assert download(client, picture) == PICTURE
        assert client.get("/v1/account").json()["usage"]["attachmentBytes"] == len(PICTURE)
    assert hesper("check").returncode == 0


def test_to_standard_output(hesper: Hesper, full: tuple[str, str, str], tmp_path: Path) -> None:
    done = subprocess.run([str(BINARY), "export", "--account", full[0], "-"], capture_output=True, timeout=60,
                          cwd=tmp_path, env=ENVIRONMENT, check=True)  # fmt: skip
    assert len(Export(done.stdout).document["notes"]) == 2
    assert done.stderr == b"Exported -: 2 notes, 1 attachment.\n"


def test_output_file(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    named = hesper("export", "--account", ada)
    assert named.returncode == 0
    (found,) = tmp_path.glob("hesper-20*.zip")
    assert found.name in named.stdout
    again = hesper("export", "--account", ada, found.name)
    assert (again.returncode, again.stderr) == (
        WRONG_USAGE, f"hesper: {found.name} already exists. Name another file.\n",
    )  # fmt: skip
    nowhere = hesper("export", "--account", ada, "no/where.zip")
    assert (nowhere.returncode, nowhere.stderr) == (WRONG_USAGE, "hesper: no/where.zip: No such file or directory.\n")
    full_disk = hesper("export", "--account", ada, "/dev/full")
    assert full_disk.returncode == WRONG_USAGE
    nobody = hesper("export", "--account", "eve@example.org")
    assert (nobody.returncode, nobody.stderr) == (FAILED, "hesper: No account has the e-mail address eve@example.org.\n")
    assert not list(tmp_path.glob("*.unfinished"))


def test_missing_attachments_are_reported(hesper: Hesper, full: tuple[str, str, str], tmp_path: Path) -> None:
    ada, picture, _ = full
    (found,) = (tmp_path / "data/attachments").rglob(f"{picture}.*")
    found.unlink()
    done = hesper("export", "--account", ada, "ada.zip")
    assert done.returncode == FAILED
    assert done.stdout == "Exported ada.zip: 2 notes, 0 attachments, 1 missing or damaged.\n"
    assert done.stderr == f"hesper: Attachment {picture} (forum.png) is missing. The server has no data for it.\n"
    assert picture in Export(tmp_path / "ada.zip").zip.read("MISSING.txt").decode()


# Importing other ZIP files


def test_a_zip_of_texts(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "Notes.zip", "w") as made:
        made.writestr("Notes/Travel/paris.md", "# Paris")
        made.writestr("../evil.md", "evil")
    done = hesper("import", "--account", ada, "Notes.zip")
    assert done.returncode == FAILED
    assert done.stderr == "hesper: Skipped ../evil.md: Its path in the archive is invalid.\n"
    assert done.stdout.startswith("Imported Notes: 1 new note, ")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda data: data[: len(data) // 2], "Notes.zip is damaged: "),
        (lambda data: data[:6] + b"\x01" + data[7:], "Notes.zip is "),
        (lambda data: b"PK\x05\x06" + bytes(18), "Notes.zip is an empty zip."),
        (lambda data: b"no zip", "Notes.zip must be a folder, a zip file, a text file, or a file that another app exported."),
    ],
)
def test_invalid_zips(hesper: Hesper, ada: str, tmp_path: Path, make, message: str) -> None:
    with zipfile.ZipFile(tmp_path / "Notes.zip", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.md", "text " * 1000)
    (tmp_path / "Notes.zip").write_bytes(make((tmp_path / "Notes.zip").read_bytes()))
    done = hesper("import", "--account", ada, "Notes.zip")
    assert done.returncode != 0
    assert done.stderr.startswith(f"hesper: {message}")
    assert done.stderr.count("\n") == 1
    assert hesper("account", "list").stdout.split("\t")[2] == "0"
