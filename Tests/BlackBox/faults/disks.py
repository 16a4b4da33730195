"""Disks that can be made to fail while a server uses them, and restored."""

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from client import ROOT, Server
from mounts import MEGABYTE, fill, mounted


class Disk:
    """A disk with a server's data. After `fail`, writes (or reads) fail until `mend`."""

    server: Server

    def fail(self) -> None:
        raise NotImplementedError

    def mend(self) -> None:
        raise NotImplementedError


class SmallDisk(Disk):
    """A 32 MB file system in memory, which `fail` fills completely with another file. Needs root."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.server = Server(data=folder / "data")

    def fail(self) -> None:
        fill(self.folder / "ballast")

    def mend(self) -> None:
        (self.folder / "ballast").unlink()


class LimitedFiles(Disk):
    """A limit on the size of files (`ulimit -f`), set on the running server. Does not need root."""

    def __init__(self, folder: Path):
        # Exceeding the limit sends SIGXFSZ, which would end the server. If it is ignored, the write fails, as on a full disk.
        self.server = Server(data=folder / "data", prefix=["env", "--ignore-signal=XFSZ"])

    def fail(self) -> None:
        largest = max(file.stat().st_size for file in self.server.data.iterdir() if file.is_file())
        # Not a multiple of the page size, so that the last successful write is incomplete.
        self.set_limit(largest + MEGABYTE // 2 + 1_000)

    def mend(self) -> None:
        if self.server.process is not None:
            self.set_limit(None)

    def set_limit(self, size: int | None) -> None:
        """Sets the limit in bytes, or restores the original one (None)."""
        _, hard = resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


class FailingDisk(Disk):
    """A disk on which the given system calls of SQLite fail with EIO, by a preloaded library."""

    def __init__(self, folder: Path, calls: str):
        self.calls, self.marker = calls, folder / "fails"
        environment = {"LD_PRELOAD": str(library()), "FAILING_DISK": str(self.marker)}
        self.server = Server(data=folder / "data", environment=environment)

    def fail(self, calls: str | None = None) -> None:
        written = self.marker.with_suffix(".new")
        written.write_text(calls or self.calls)
        written.rename(self.marker)

    def mend(self) -> None:
        self.marker.unlink(missing_ok=True)


def library() -> Path:
    """The compiled preloaded library. Skips the test if there is no compiler."""
    source, built = Path(__file__).with_name("failing-disk.c"), ROOT / ".build/black-box/failing-disk.so"
    compiler = next(filter(None, map(shutil.which, ("cc", "clang", "gcc"))), None)
    if compiler is None:
        pytest.skip("no C compiler (cc, clang or gcc) is installed")
    if not built.exists() or built.stat().st_mtime < source.stat().st_mtime:
        built.parent.mkdir(parents=True, exist_ok=True)
        made = built.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", made, source], check=True)
        made.rename(built)
    return built


@contextmanager
def disk(name: str, folder: Path) -> Iterator[Disk]:
    """The disk with this name, with a running server."""
    if name == "full":
        with mounted(folder) as mount_point, closing(SmallDisk(mount_point)) as made:
            yield made
    elif name == "file limit":
        with closing(LimitedFiles(folder)) as made:
            yield made
    else:
        with closing(FailingDisk(folder, name)) as made:
            yield made


@contextmanager
def closing(made: Disk) -> Iterator[Disk]:
    with made.server:
        yield made
