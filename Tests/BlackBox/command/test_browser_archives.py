"""Archives made in the browser (Tests/Web/repack.js) can be imported by the server, and vice versa."""

import json
import subprocess
from pathlib import Path

from archive import Export, passes_unzip
from attachments import attach, download, some_bytes
from client import PASSWORD, Client
from runner import Hesper, serving

REPACK = Path(__file__).parents[2] / "Web/repack.js"
PICTURE = some_bytes(300_000)


def repack(folder: Path, out: str, source: str) -> dict:
    """Imports `source` with the web app's code and exports everything to `out`. Returns the report of the import."""
    done = subprocess.run(
        ["node", REPACK, out, source], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_id(export: Export, section: str) -> dict:
    return {each["uniqueID"]: each for each in export.document[section]}


def test_an_export_survives_import_and_export_in_the_browser(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    with serving(tmp_path) as (url, _):
        client = Client(url)
        client.sign_in(ada, PASSWORD)
        tag = client.post("/v1/tags", {"name": "Travel"}).json()["uniqueID"]
        picture = attach(client, PICTURE, filename="forum.png")
        client.post("/v1/notes", {"text": "# Rome\n", "tags": [tag], "attachments": [picture]})
        client.post("/v1/notes", {"text": "Milk", "archived": True, "attributes": {"pinned": True}})
        client.post("/v1/objects", {"objectType": "board", "attributes": {"title": "Kitchen"}})
        digest = client.sync()["digest"]
        assert hesper("export", "--account", ada, "server.zip").returncode == 0
        report = repack(tmp_path, "browser.zip", "server.zip")
        assert [report[name] for name in ("notes", "tags", "attachments", "objects")] == [2, 1, 1, 1]
        assert report["refused"] == []
        assert passes_unzip(tmp_path / "browser.zip")
        servers, browsers = Export(tmp_path / "server.zip"), Export(tmp_path / "browser.zip")
        assert sorted(browsers.names) == sorted(servers.names)
        assert browsers.document["files"] == servers.document["files"]
        assert browsers.document["digest"] == servers.document["digest"] == digest
        for section in ("notes", "tags", "attachments", "objects"):
            assert by_id(browsers, section) == by_id(servers, section)

        other = Client(url)
        other.sign_up("grace@example.org")
        done = hesper("import", "--account", "grace@example.org", "browser.zip")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == (
            "Imported browser.zip: 2 new notes, 0 changed, 0 unchanged, 1 new tag, 1 new attachment, 1 new object.\n"
        )
        assert other.sync()["digest"] == digest
        assert download(other, picture) == PICTURE


def test_importing_a_folder_creates_the_same_notes_in_both(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    folder = tmp_path / "Notes"
    (folder / "Travel/Paris").mkdir(parents=True)
    (folder / "todo.md").write_text("# To do\n")
    (folder / "Travel/Paris/tour d’été.txt").write_text("The tower\n")
    assert hesper("import", "--account", ada, "Notes").returncode == 0
    assert repack(tmp_path, "browser.zip", "Notes")["notes"] == 2
    assert hesper("export", "--account", ada, "server.zip").returncode == 0
    servers, browsers = Export(tmp_path / "server.zip"), Export(tmp_path / "browser.zip")
    assert by_id(browsers, "notes") == by_id(servers, "notes")
    assert {tag["uniqueID"]: tag["name"] for tag in browsers.document["tags"]} == {
        tag["uniqueID"]: tag["name"] for tag in servers.document["tags"]
    }
    again = hesper("import", "--account", ada, "browser.zip")
    assert again.stdout.startswith("Imported browser.zip: 0 new notes, 0 changed, 2 unchanged, 0 new tags"), again.stdout
