"""A backup folder must not contain or be inside the server's working folders, regardless of how its path is written."""

import json
from pathlib import Path

import pytest
from attachments import attach, download, some_bytes
from client import Server
from runner import WRONG_USAGE, Hesper


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_a_backup_around_the_attachments_is_refused(tmp_path: Path) -> None:
    """Such a backup would remove the server's temporary files and unknown files."""
    attachments = tmp_path / "big/attachments"
    with Server(tmp_path / "data", environment={"HESPER_ATTACHMENTS": str(attachments)}) as server:
        client = server.client()
        first = attach(client, some_bytes(1_000))
        around = server.command("backup", str(tmp_path / "big"))
        assert (around.returncode, around.stdout) == (WRONG_USAGE, "")
        assert around.stderr == (
            f"hesper: {tmp_path}/big contains {attachments}, the folder of the attachments. "
            "Name another folder for the backup.\n"
        )
        within = server.command("backup", str(attachments / "backup"))
        assert within.returncode == WRONG_USAGE
        assert f"{attachments}/backup is inside {attachments}, the folder of the attachments. " in within.stderr
        second = attach(client, some_bytes(2_000))
        assert [len(download(client, attachment)) for attachment in (first, second)] == [1_000, 2_000]
        # A folder next to the attachments is accepted.
        done = server.command("backup", str(tmp_path / "big/backup"))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith(": 2 copied, 0 already present.\n")


PLACES = [
    (".", ". contains data, the folder of the data"),
    ("data/", "data/ is the folder of the data"),
    ("nowhere/../data", "nowhere/../data is the folder of the data"),
    ("data/attachments/b", "data/attachments/b is inside data/attachments, the folder of the attachments"),
    ("data/uploads", "data/uploads is the folder of the uploads"),
    ("data/uploads/b/c", "data/uploads/b/c is inside data/uploads, the folder of the uploads"),
    ("data/tls/b", "data/tls/b is inside data/tls, the folder of the certificate"),
    ("data/restoring/b", "data/restoring/b is inside data/restoring, the folder of a restore"),
    ("link/tls/b", "link/tls/b is inside data/tls, the folder of the certificate"),
    ("dangling", "dangling is inside data/uploads, the folder of the uploads"),
]


@pytest.mark.parametrize(("folder", "why"), PLACES, ids=[folder for folder, _ in PLACES])
def test_refused_folders(hesper: Hesper, ada: str, tmp_path: Path, folder: str, why: str) -> None:
    (tmp_path / "link").symlink_to("data")
    (tmp_path / "dangling").symlink_to("data/uploads/b")
    before = everything(tmp_path)
    done = hesper("backup", folder)
    assert (done.returncode, done.stdout) == (WRONG_USAGE, "")
    assert done.stderr == f"hesper: {why}. Name another folder for the backup.\n"
    assert everything(tmp_path) == before


def test_attachments_in_another_folder(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    """Symbolic links are resolved. The default attachments folder remains reserved."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk/later")
    for folder, why in [
        ("disk", "disk contains link, the folder of the attachments. "),
        ("disk/later", "disk/later is the folder of the attachments. "),
        ("disk/later/b", "disk/later/b is inside link, the folder of the attachments. "),
        ("data/attachments/b", "data/attachments/b is inside data/attachments, the folder of the attachments. "),
    ]:
        done = hesper("backup", folder, HESPER_ATTACHMENTS="link")
        assert (done.returncode, done.stdout) == (WRONG_USAGE, "")
        assert why in done.stderr, (folder, done.stderr)
    assert everything(tmp_path / "disk") == set()


def test_accepted_folders(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    """A separate folder inside the data folder, and names with the same prefix."""
    for folder in ("data/backup", "data-backup", "database", "attachments", "tls", "data/tls-backup/today"):
        done = hesper("backup", folder)
        assert (done.returncode, done.stderr) == (0, ""), folder
        assert (tmp_path / folder / "backup.json").exists()
    assert hesper("restore", "data/backup", "--data", "new").returncode == 0
    assert hesper("check", "--data", "new").stdout == "Checked 1 account: no problems found.\n"


def test_restore_into_a_backup_is_refused(hesper: Hesper, ada: str, tmp_path: Path) -> None:
    """The next backup would find unknown files in its folder. Restore must not remove its own source either."""
    assert hesper("backup", "b").returncode == 0
    (tmp_path / "link").symlink_to("b")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/restoring").mkdir()
    assert hesper("backup", "other/restoring/b").returncode == 0
    before = everything(tmp_path)
    refused = [
        ("b", "b/sub", {}, "b contains b/sub, the folder of the data"),
        ("b", "link/sub", {}, "b contains link/sub, the folder of the data"),
        ("link", "b/attachments/sub", {}, "link contains b/attachments/sub, the folder of the data"),
        ("b", "new", {"HESPER_ATTACHMENTS": "b/attachments"}, "b contains b/attachments, the folder of the attachments"),
        ("other/restoring/b", "other", {}, "other/restoring/b is inside other/restoring, the folder of a restore"),
    ]
    for backup, data, environment, why in refused:
        done = hesper("restore", backup, "--data", data, **environment)
        assert (done.returncode, done.stdout) == (WRONG_USAGE, ""), (backup, data)
        assert done.stderr == f"hesper: {why}. The backup and the data must be in separate folders.\n"
    assert everything(tmp_path) == before
    assert hesper("backup", "b").returncode == 0
    assert json.loads((tmp_path / "b/backup.json").read_text())["format"] == "hesper-backup"
