"""`hesper import` of the exports of other apps (docs/move-in.md): each format end to end, twice, and hostile files.

The formats in detail are tested by `Tests/HesperMoveInTests`."""

import io
import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from client import BINARY, PASSWORD, Client
from move_in import PICTURE, enex, enml, evernote, html, joplin, keep, obsidian, simplenote, standard_notes, zipped
from runner import FAILED, WRONG_USAGE, Hesper, serving

# The source, its file name, whether the app has pinned notes, the text of the note "Rome" ({mark} is its picture), and what
# the first import prints.
FORMATS: dict[str, tuple[Callable[[Path], None], str, bool, str, str]] = {
    "Simplenote": (simplenote, "notes.zip", True, "Rome\nA [[Plan|plan]]",
                   "2 new notes, 0 changed, 0 unchanged, 1 new tag, 1 in the trash not imported."),
    "Standard Notes": (standard_notes, "backup.zip", True, "# Rome\n\nA plan",
                       "2 new notes, 0 changed, 0 unchanged, 1 new tag, 1 in the trash not imported."),
    "Keep": (keep, "takeout.zip", True, "# Rome\n\nA plan\n\n{mark}",
             "2 new notes, 0 changed, 0 unchanged, 1 new tag, 1 new attachment, 1 in the trash not imported."),
    "Obsidian": (obsidian, "vault.zip", False, "---\ntags: [travel]\n---\n# Rome\n\nA [[Plan]]\n\n{mark}\n",
                 "2 new notes, 0 changed, 0 unchanged, 1 new tag, 1 new attachment, 1 other file ignored."),
    "Joplin": (joplin, "all.jex", False, "# Rome\n\nA [[Plan|plan]]\n\n{mark}",
               "2 new notes, 0 changed, 0 unchanged, 1 new tag, 1 new attachment, 1 in the trash not imported."),
    "Evernote": (evernote, "travel.enex", False, "# Rome\n\nA [[Plan]]\n{mark}",
                 "2 new notes, 0 changed, 0 unchanged, 1 new tag, 1 new attachment."),
    "HTML": (html, "pages.zip", False, "# Rome\n\nA [[Plan]]\n\n{mark}",
             "3 new notes, 0 changed, 0 unchanged, 1 new tag, 1 new attachment."),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_moving_in(hesper: Hesper, ada: str, tmp_path: Path, name: str) -> None:
    make, file, has_pins, text, printed = FORMATS[name]
    make(tmp_path / file)
    first = hesper("import", "--account", ada, file)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.split(": ", 1)[1] == printed + "\n"
    with serving(tmp_path) as (url, _):
        client = Client(url)
        client.sign_in(ada, PASSWORD)
        notes = client.get("/v1/notes").json()["notes"]
        rome = next(note for note in notes if "Rome" in note["text"])
        mark = "".join(f"![](attachment:{id})" for id in rome["attachments"])
        assert rome["text"] == text.replace("{mark}", mark)
        assert ("{mark}" in text) == bool(mark)
        for attachment in rome["attachments"]:
            assert client.get(f"/v1/attachments/{attachment}/data").content == PICTURE
        tags = {tag["uniqueID"]: tag["name"] for tag in client.get("/v1/tags").json()["tags"]}
        assert [tags[tag] for tag in rome["tags"]] == ["travel"]
        assert rome["attributes"] == ({"pinned": True} if has_pins else {})
        if name not in ("Obsidian", "HTML"):
            assert rome["creationDate"].startswith("2019-05-06")
            assert rome["sortDate"].startswith("2020-05-06")

        # What was changed or deleted here stays as it is.
        plan = next(note for note in notes if "pack" in note["text"] or "Plan" in note["text"].split("\n")[0])
        assert client.delete(f"/v1/notes/{plan['uniqueID']}").status_code == 200
        assert client.patch(f"/v1/notes/{rome['uniqueID']}", {"text": "My words", "tags": []}).status_code == 200
        before = client.get(f"/v1/notes/{rome['uniqueID']}").json()
        again = hesper("import", "--account", ada, file)
        assert (again.returncode, again.stderr) == (0, "")
        assert "0 new notes, 0 changed" in again.stdout
        assert "1 previously deleted" in again.stdout
        assert "0 new tags" in again.stdout
        assert client.get(f"/v1/notes/{rome['uniqueID']}").json() == before
        assert client.get(f"/v1/notes/{plan['uniqueID']}").status_code == 410
    assert hesper("check").returncode == 0
    assert not list(tmp_path.glob("hesper-import-*"))


def test_a_newer_export_is_merged(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    def export(changed: str, text: str, *more: dict) -> None:
        note = {"id": "1", "content": text, "creationDate": "2019-05-06T07:08:09.000Z", "lastModified": changed}
        zipped(tmp_path / "notes.zip", {"source/notes.json": json.dumps({"activeNotes": [note, *more], "trashedNotes": []})})

    export("2020-01-01T00:00:00.000Z", "one\n\ntwo\n\nthree")
    assert hesper("import", "--account", ada, "notes.zip").returncode == 0
    with serving(tmp_path) as (url, _):
        client = Client(url)
        client.sign_in(ada, PASSWORD)
        (note,) = client.get("/v1/notes").json()["notes"]
        assert client.patch(f"/v1/notes/{note['uniqueID']}", {"text": "ONE\n\ntwo\n\nthree"}).status_code == 200
        export("2020-02-01T00:00:00.000Z", "one\n\ntwo\n\nTHREE", {"id": "2", "content": "new", "creationDate": "2020-02-01T00:00:00Z"})
        again = hesper("import", "--account", ada, "notes.zip")
        assert "1 new note, 1 changed, 0 unchanged" in again.stdout
        assert client.get(f"/v1/notes/{note['uniqueID']}").json()["text"] == "ONE\n\ntwo\n\nTHREE"


# Invalid and hostile files


def laughs() -> str:
    entities = '<!ENTITY lol0 "lol">' + "".join(
        f'<!ENTITY lol{index} "{f"&lol{index - 1};" * 10}">' for index in range(1, 10)
    )
    return f"<!DOCTYPE en-export [{entities}<!ENTITY secret SYSTEM 'secret.txt'>]>"


def test_hostile_enex(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the secret")
    good = f"<title>Good</title><content>{enml('<div>fine</div>')}</content>"
    (tmp_path / "a.enex").write_text(enex(
        "<title>&lol9;</title><content>x</content>", "<title>&secret;</title><content>x</content>",
        f"<title>Deep</title><content>{enml('<div>' * 100_000)}</content>", "<title>Broken</title><content>a & b</content>",
        f"<title>Crypt</title><content>{enml('a <en-crypt>QUJD</en-crypt>')}</content>", good, doctype=laughs(),
    ))  # fmt: skip
    done = hesper("import", "--account", ada, "a.enex")
    assert done.returncode == FAILED
    assert "2 new notes" in done.stdout
    assert done.stderr.splitlines()[0] == "hesper: Skipped a.enex: It declares entities, which are not allowed."
    assert "hesper: Skipped a.enex, Deep: Its elements are nested more than 256 levels deep." in done.stderr
    assert "Skipped a.enex, Broken: It is not valid: " in done.stderr
    assert "Skipped a.enex, Crypt, encrypted text: It is encrypted." in done.stderr
    with serving(tmp_path) as (url, _):
        client = Client(url)
        client.sign_in(ada, PASSWORD)
        texts = {note["text"] for note in client.get("/v1/notes").json()["notes"]}
    assert texts == {"# Good\n\nfine", "# Crypt\n\na [encrypted text]"}


@pytest.mark.parametrize("size", [20, pytest.param(200, marks=pytest.mark.thorough)])  # MiB
def test_a_resource_over_the_limit(hesper: Hesper, ada: str, tmp_path: Path, size: int) -> None:
    start, end = enex(
        f"<title>Large</title><content>{enml('<div>text</div>')}</content><resource><data encoding=\"base64\">|</data>"
        "<mime>video/mp4</mime><resource-attributes><file-name>film.mp4</file-name></resource-attributes></resource>"
    ).split("|")
    line = b"QUJD" * 19 + b"\n"
    with (tmp_path / "large.enex").open("wb") as file:
        file.write(start.encode())
        for _ in range(size):
            file.write(line * ((4 << 20) // (3 * 76)))
        file.write(end.encode())
    done = hesper("import", "--account", ada, "large.enex", HESPER_ATTACHMENT_SIZE="1MiB")
    assert "1 new note" in done.stdout
    assert "0 new attachments" not in done.stdout
    count = size * ((4 << 20) // (3 * 76)) * 57
    assert done.stderr == f"hesper: Skipped large.enex, Large, film.mp4: It has {count} bytes. The maximum is {1 << 20}.\n"


def test_attributes_are_limited(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    with (tmp_path / "a.enex").open("wb") as file:
        file.write(b'<en-export><note><title a="')
        for _ in range(11):  # The parser accepts 10 MB.
            file.write(b"a" * 1_000_000)
        file.write(b'"/></note><note><title>Next</title><content></content></note></en-export>')
    done = hesper("import", "--account", ada, "a.enex")
    assert done.returncode == FAILED
    assert "1 new note" in done.stdout
    assert done.stderr.count("Skipped a.enex") == 1


def test_the_parser_is_limited(tmp_path: Path) -> None:
    """The limits are read while the parser waits, because a pipe holds less than its output."""
    page = tmp_path / "page.html"
    page.write_text("<p>" + "word " * 100_000)
    work = {"files": [{"path": str(page), "isEvernote": False}], "staging": str(tmp_path), "attachmentBytes": 1}
    (tmp_path / "work").write_text(json.dumps(work))
    arguments = [str(BINARY), "parse-markup", str(tmp_path / "work"), "0"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, bufsize=0, env={"MALLOC_ARENA_MAX": "1"}) as process:
        output = process.stdout.read(1)
        limits = Path(f"/proc/{process.pid}/limits").read_text()
        while more := process.stdout.read(1 << 20):
            output += more
    assert process.returncode == 0
    assert [line.split()[3:5] for line in limits.splitlines() if "address space" in line] == [[str(512 << 20)] * 2]
    assert [line.split()[3:5] for line in limits.splitlines() if "cpu time" in line] == [["900", "900"]]
    assert [json.loads(line).popitem()[0] for line in output.splitlines()] == ["note", "end"]


def test_hostile_archives(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as made:
        made.writestr("inner.md", "inner")
    zipped(tmp_path / "Notes.zip", {
        "Notes/a.md": "![](../../outside.png) [zip](inner.zip) ![](b.png)", "Notes/inner.zip": inner.getvalue(),
        "Notes/b.png": PICTURE, "../outside.png": b"outside", "Notes/big.md": b"\0" * 50_000_000,
    })  # fmt: skip
    (tmp_path.parent / "outside.png").write_bytes(b"not this")
    done = hesper("import", "--account", ada, "Notes.zip")
    assert done.returncode == FAILED
    assert "1 new note, " in done.stdout
    assert "2 new attachments" in done.stdout
    assert sorted(done.stderr.splitlines()) == [
        "hesper: Skipped ../outside.png: Its path in the archive is invalid.",
        "hesper: Skipped Notes/big.md: It has 50000000 bytes. The maximum is 1048576.",
    ]
    again = hesper("import", "--account", ada, "Notes.zip")
    assert "0 new notes, 0 changed, 1 unchanged" in again.stdout
    assert hesper("check").returncode == 0


def test_encrypted_notes_are_reported(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    items = [{"uuid": "1", "content_type": "Note", "content": "004:abc"}]
    (tmp_path / "backup.txt").write_text(json.dumps({"version": "004", "items": items}))
    (tmp_path / "Standard Notes Backup.txt").write_bytes((tmp_path / "backup.txt").read_bytes())
    done = hesper("import", "--account", ada, "Standard Notes Backup.txt")
    assert done.returncode == FAILED
    assert "It is encrypted. Export a decrypted backup." in done.stderr


def test_files_over_the_quota_are_reported(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    folder = tmp_path / "Notes"
    folder.mkdir()
    (folder / "A.md").write_text("![](large.png)")
    (folder / "large.png").write_bytes(os.urandom(100_000))
    assert hesper("account", "set-quota", ada, "50000").returncode == 0
    done = hesper("import", "--account", ada, "Notes")
    assert done.returncode == FAILED
    assert "1 new note" in done.stdout
    assert done.stderr.startswith("hesper: Skipped A.md, large.png: ")
    assert hesper("account", "set-quota", ada, "1000000").returncode == 0
    again = hesper("import", "--account", ada, "Notes")
    assert (again.returncode, again.stderr) == (0, "")
    assert "1 changed, 0 unchanged, 0 new tags, 1 new attachment" in again.stdout


def test_other_files(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    done = hesper("import", "--account", ada, "a.pdf")
    assert (done.returncode, done.stderr) == (
        WRONG_USAGE, "hesper: a.pdf must be a folder, a zip file, a text file, or a file that another app exported.\n",
    )  # fmt: skip
