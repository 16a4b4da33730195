"""`hesper check` finds damage in the database, and reports nothing for a sound one."""

import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from client import BINARY, PASSWORD, Client
from runner import ENVIRONMENT, FAILED, Hesper, run, serving


ADA = "ada@example.org"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with indexed, edited and deleted notes, and tags. Tests use copies of it."""
    place = tmp_path_factory.mktemp("sound")
    (place / "Notes/tag").mkdir(parents=True)
    for index in range(20):
        (place / f"Notes/tag/{index}.md").write_text(f"Note number {index}\n")
    assert run(place, "account", "create", ADA, stdin=PASSWORD + "\n").returncode == 0
    assert run(place, "import", "--account", ADA, "Notes").returncode == 0
    with serving(place) as (url, _):
        client = Client(url)
        client.sign_in(ADA, PASSWORD)
        notes = client.get("/v1/notes").json()["notes"]
        assert client.delete(f"/v1/notes/{notes[0]['uniqueID']}").status_code == 200
        assert client.patch(f"/v1/notes/{notes[1]['uniqueID']}", {"text": "edited"}).status_code == 200
        client.get("/v1/search", params={"q": "number"})
    return place / "data"


@pytest.fixture
def filled(sound: Path, tmp_path: Path) -> Path:
    """The database in a copy of the sound data folder."""
    shutil.copytree(sound, tmp_path / "data")
    return tmp_path / "data/hesper.sqlite"


@pytest.mark.usefixtures("filled")
def test_a_sound_database(hesper: Hesper) -> None:
    checked = hesper("check")
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "Checked 1 account: no problems found.\n", "")


DAMAGE = {
    "a digest of the scope": "UPDATE scopes SET digest = zeroblob(16)",
    "a digest of an object": "UPDATE objects SET digest = zeroblob(16) WHERE type = 'note' AND sequence = "
    "(SELECT min(sequence) FROM objects WHERE type = 'note')",
    "a body": "UPDATE objects SET body = replace(body, 'number', 'nombre') WHERE body LIKE '%number 7%'",
    "an object": "DELETE FROM objects WHERE sequence = (SELECT min(sequence) FROM objects WHERE type = 'note')",
    "the bag": "DELETE FROM edits WHERE object = (SELECT id FROM objects WHERE type = 'note' LIMIT 1)",
    "a DeletedObject": "DELETE FROM tombstones",
    "the name of a tag": "DELETE FROM tag_names",
    "the members": "DELETE FROM members",
    "the terms": "DELETE FROM terms",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found(hesper: Hesper, filled: Path, damage: str) -> None:
    database = sqlite3.connect(filled)
    changed = database.execute(DAMAGE[damage]).rowcount
    database.commit()
    database.close()
    assert changed > 0
    checked = hesper("check")
    *findings, summary = checked.stdout.splitlines()
    assert checked.returncode == FAILED
    assert findings
    assert all(finding.startswith(f"{ADA}: ") for finding in findings)
    count = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
    assert summary == f"Checked 1 account: {count}."


@pytest.mark.usefixtures("filled")
def test_check_during_writes(tmp_path: Path) -> None:
    with serving(tmp_path) as (url, _):
        client = Client(url)
        client.sign_in(ADA, PASSWORD)
        for _ in range(5):
            process = subprocess.Popen(
                [str(BINARY), "check"], cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
            )
            while process.poll() is None:
                assert client.post("/v1/notes", {"text": "meanwhile", "tags": []}).status_code == 201
            assert process.communicate()[0] == "Checked 1 account: no problems found.\n"
            assert process.returncode == 0
