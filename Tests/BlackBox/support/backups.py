"""Makes, reads and restores backups."""

import json
from pathlib import Path
from subprocess import CompletedProcess

from attachments import sha256
from client import Server
from runner import run


def back_up(server: Server, folder: Path) -> str:
    done = server.command("backup", str(folder))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def restore(backup: Path, data: Path, *arguments: str, **environment: str) -> CompletedProcess:
    return run(backup.parent, "restore", *arguments, backup, "--data", data, **environment)


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """All files of a folder with inode and modification time, which change when a file is written again."""
    found = {str(path.relative_to(folder)): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {path: (status.st_ino, status.st_mtime_ns) for path, status in found.items()}


def database(backup: Path) -> Path:
    return backup / json.loads((backup / "backup.json").read_text())["database"]["file"]


def bytes_in(backup: Path, data: bytes) -> Path:
    """The path of an attachment's bytes in a backup."""
    digest = sha256(data)
    return backup / "attachments" / digest[:2] / digest
