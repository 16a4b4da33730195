"""A PostgreSQL of the tests' own: on a free loopback port, in a folder below .build/, gone with whoever started it."""

import atexit
import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from urllib.parse import quote

import pytest
from client import ROOT, free_port

# What a URL must encode, so that every test also shows that it is read right. Nothing may ever print it.
PASSWORD = "p@ss/word:of%these?tests"
SCRIPT = ROOT / "Tests/HesperPostgresTests/Servers/postgres.sh"


def programs() -> Path | None:
    """Where initdb, pg_ctl and psql are: Debian has them not on the PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return versions[-1].parent if versions else None


class PostgreSQL:
    """One server. Its process ends when this one does, however that ends (`postgres.sh`).

    `settings` are lines of postgresql.conf; the disk is not waited for unless they say so. `folder` is one that the
    server's user can get into. With a `primary` it is a standby of that one, with its settings and these.
    """

    def __init__(
        self, settings: list[str] = (), folder: Path | None = None, primary: "PostgreSQL | None" = None
    ):
        if programs() is None:
            pytest.skip("PostgreSQL is not installed: Tools/set-up.sh test")
        if folder is None:
            (ROOT / ".build/postgres").mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix="black-box-", dir=ROOT / ".build/postgres"))
        self.folder, self.port, self.numbers, self.primary = folder, free_port(), itertools.count(1), primary
        (folder / "settings").write_text("".join(f"{line}\n" for line in settings))
        self.process = subprocess.Popen(
            ["sh", SCRIPT, programs(), str(self.port), PASSWORD, *([str(primary.port)] if primary else [])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
        )  # fmt: skip
        self.expect_ok("start")

    def __enter__(self) -> "PostgreSQL":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def control(self, command: str) -> None:
        """Does something with pg_ctl: `restart -m immediate`, `stop -m immediate`, `start`."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        self.expect_ok(command)

    def standby(self, settings: list[str] = ()) -> "PostgreSQL":
        """Another server that follows this one by streaming replication, as `standby`; `control("promote")` ends that."""
        return PostgreSQL(settings, primary=self)

    def kill(self) -> None:
        """Ends it as a crash of the machine would (SIGKILL to all its processes); `control("start")` has it back."""
        pids = self.signal(signal.SIGKILL)
        deadline = time.monotonic() + 30
        while any(is_running(pid) for pid in pids):
            assert time.monotonic() < deadline, "it does not end"
            time.sleep(0.01)
        # Whoever inherited them may not have noticed yet: then a start would take them for running.
        (self.folder / "data/postmaster.pid").unlink()

    def signal(self, number: int) -> list[int]:
        """Sends a signal to all its processes, which are given."""
        first = (self.folder / "data/postmaster.pid").read_text().split()[0]
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        pids = [int(pid) for pid in [first, *children]]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return pids

    def catch_up(self, seconds: float = 30) -> None:
        """Waits until this standby shows everything that its primary has committed by now."""
        reached = self.primary.sql("SELECT pg_current_wal_insert_lsn()")[0][0]
        deadline = time.monotonic() + seconds
        while self.sql(f"SELECT pg_last_wal_replay_lsn() >= '{reached}'") != [["t"]]:
            assert time.monotonic() < deadline, f"the standby is not at {reached} after {seconds} s"
            time.sleep(0.02)

    def expect_ok(self, command: str) -> None:
        answer = self.process.stdout.readline().strip()
        if answer != "ok":
            logs = [path.read_text(errors="replace")[-2000:] for path in (self.folder / "log",) if path.exists()]
            raise RuntimeError(f"PostgreSQL, {command}: {answer!r}; {''.join(logs)}")

    def address(self, database: str = "postgres") -> str:
        """For HESPER_DATABASE. Only ever in the environment: a command line is everybody's to read."""
        return f"postgresql://hesper:{quote(PASSWORD, safe='')}@127.0.0.1:{self.port}/{database}?sslmode=disable"

    def address_like(self, address: str) -> str:
        """The database of the same name here: a standby has all of its primary's."""
        return self.address(name_in(address))

    def database(self, more: str = "") -> str:
        """A new empty database: its address."""
        name = f"black_box_{next(self.numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE template0 {more}")
        return self.address(name)

    def own_folder(self, path: Path) -> Path:
        """Makes a folder that the server may write in."""
        path.mkdir()
        if os.geteuid() == 0:
            shutil.chown(path, "postgres")
        return path

    def drop(self, address: str) -> None:
        if self.process.poll() is None:
            self.sql(f"DROP DATABASE IF EXISTS {name_in(address)} WITH (FORCE)")

    def sql(self, statement: str, database: str = "postgres") -> list[list[str]]:
        """Does one statement as the owner of all; its rows, as texts."""
        options = ["-X", "-q", "-A", "-t", "-F", "\x1f", "-v", "ON_ERROR_STOP=1"]
        rows = self.run("psql", *options, "-d", database, text=statement)
        return [line.split("\x1f") for line in rows.splitlines()]

    def run(self, program: str, *arguments: str, text: str = "") -> str:
        """Runs one of PostgreSQL's own programs on this server: what it says."""
        who = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "hesper", "PGPASSWORD": PASSWORD}
        done = subprocess.run(
            [programs() / program, *arguments], input=text, capture_output=True, text=True, timeout=60,
            env={name: value for name, value in os.environ.items() if not name.startswith("PG")} | who,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def dump(self, database: str) -> str:
        """All that a database holds."""
        return self.run("pg_dump", "-d", database)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(60)
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def is_running(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def name_in(address: str) -> str:
    """The database that an address names."""
    return address.rsplit("/", 1)[1].split("?")[0]


@cache
def running() -> PostgreSQL:
    """One for all tests that leave the server as it is, started for the first who asks."""
    server = PostgreSQL()
    atexit.register(server.close)
    return server
