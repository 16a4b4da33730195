"""Runs PostgreSQL servers for tests, on free loopback ports with data below .build/. They end with the test process."""

import atexit
import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import quote

import pytest
from client import ROOT, free_port

# Contains characters that must be encoded in a URL, so that every test covers decoding. It must never appear in output.
PASSWORD = "p@ss/word:of%these?tests"
SCRIPT = ROOT / "Tests/HesperPostgresTests/Servers/postgres.sh"
PSQL_OPTIONS = ["-X", "-q", "-A", "-t", "-F", "\x1f", "-v", "ON_ERROR_STOP=1"]


def programs() -> Path | None:
    """The folder of initdb, pg_ctl and psql. Debian does not have them in PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return versions[-1].parent if versions else None


class PostgreSQL:
    """One PostgreSQL server. It ends when this process ends, for whatever reason (`postgres.sh`).

    `settings`: lines of postgresql.conf. fsync is off unless they set it.
    `folder`: must be accessible to the server's user.
    `primary`: makes this a standby of that server, with its settings and the ones given here.
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
        """Runs a pg_ctl command: `restart -m immediate`, `stop -m immediate`, `start`."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        self.expect_ok(command)

    def standby(self, settings: list[str] = ()) -> "PostgreSQL":
        """A new standby of this server by streaming replication. `control("promote")` on it ends the replication."""
        return PostgreSQL(settings, primary=self)

    def kill(self) -> None:
        """Ends all processes with SIGKILL, as a crash of the machine would. `control("start")` starts the server again."""
        pids = self.signal(signal.SIGKILL)
        deadline = time.monotonic() + 30
        while any(is_running(pid) for pid in pids):
            assert time.monotonic() < deadline, "the processes did not end"
            time.sleep(0.01)
        # Zombies may remain until they are reaped. With the PID file in place, a start would consider the server running.
        (self.folder / "data/postmaster.pid").unlink()

    def signal(self, number: int) -> list[int]:
        """Sends a signal to all processes. Returns their IDs."""
        first = (self.folder / "data/postmaster.pid").read_text().split()[0]
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        pids = [int(pid) for pid in [first, *children]]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return pids

    def catch_up(self, seconds: float = 30) -> None:
        """Waits until this standby has replayed all that its primary has committed."""
        reached = self.primary.sql("SELECT pg_current_wal_insert_lsn()")[0][0]
        deadline = time.monotonic() + seconds
        while self.sql(f"SELECT pg_last_wal_replay_lsn() >= '{reached}'") != [["t"]]:
            assert time.monotonic() < deadline, f"the standby has not reached {reached} after {seconds} s"
            time.sleep(0.02)

    def expect_ok(self, command: str) -> None:
        response = self.process.stdout.readline().strip()
        if response != "ok":
            logs = [path.read_text(errors="replace")[-2000:] for path in (self.folder / "log",) if path.exists()]
            raise RuntimeError(f"PostgreSQL, {command}: {response!r}; {''.join(logs)}")

    def address(self, database: str = "postgres") -> str:
        """A URL for HESPER_DATABASE. Pass it only in the environment, because other users can read command lines."""
        return f"postgresql://hesper:{quote(PASSWORD, safe='')}@127.0.0.1:{self.port}/{database}?sslmode=disable"

    def address_like(self, address: str) -> str:
        """The URL of the database of the same name on this server, such as a standby's copy of it."""
        return self.address(name_in(address))

    def database(self, more: str = "") -> str:
        """Creates an empty database. Returns its URL."""
        name = f"black_box_{next(self.numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE template0 {more}")
        return self.address(name)

    def writable_folder(self, path: Path) -> Path:
        """Creates a folder in which the server may write."""
        path.mkdir()
        if os.geteuid() == 0:
            shutil.chown(path, "postgres")
        return path

    def drop(self, address: str) -> None:
        if self.process.poll() is None:
            self.sql(f"DROP DATABASE IF EXISTS {name_in(address)} WITH (FORCE)")

    def sql(self, statement: str, database: str = "postgres") -> list[list[str]]:
        """Executes a statement as superuser. Returns its rows as strings."""
        rows = self.run("psql", *PSQL_OPTIONS, "-d", database, text=statement)
        return [line.split("\x1f") for line in rows.splitlines()]

    @contextlib.contextmanager
    def locked(self, table: str, database: str) -> Iterator[None]:
        """Locks a table inside a `with` block. Statements of other sessions that read or write it wait until the block ends."""
        command = [programs() / "psql", *PSQL_OPTIONS, "-d", database]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment
        ) as psql:
            print(f"BEGIN; LOCK TABLE {table}; SELECT 'locked';", file=psql.stdin, flush=True)
            assert psql.stdout.readline() == "locked\n"
            try:
                yield
            finally:
                psql.stdin.close()  # ends psql and its transaction

    @property
    def environment(self) -> dict[str, str]:
        """The environment of PostgreSQL's client programs, with the address of this server."""
        connection = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "hesper", "PGPASSWORD": PASSWORD}
        return {name: value for name, value in os.environ.items() if not name.startswith("PG")} | connection

    def run(self, program: str, *arguments: str, text: str = "") -> str:
        """Runs one of PostgreSQL's client programs on this server. Returns its output."""
        done = subprocess.run(
            [programs() / program, *arguments], input=text, capture_output=True, text=True, timeout=60,
            env=self.environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def dump(self, database: str) -> str:
        """A database's dump as SQL text."""
        return self.run("pg_dump", "-d", database)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(60)
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def is_running(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def name_in(address: str) -> str:
    """The name of the database in a URL."""
    return address.rsplit("/", 1)[1].split("?")[0]


@cache
def running() -> PostgreSQL:
    """A server shared by all tests that do not change its configuration or state. It starts at the first use."""
    server = PostgreSQL()
    atexit.register(server.close)
    return server
