"""What the black-box tests share: a server for all, a server for one test, a fresh account, devices, a seed."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import postgres
import pytest
from client import Client, Server
from device import Device

HERE = Path(__file__).parent
# What depends on the store, and is run again with `--store postgresql` unless paths are named. Left out are: what is
# answered before a store is asked (bad input, manners of HTTP, cookies, streams that stand still, the README); what is
# kept elsewhere (pictures, S3); SQLite's own disk (faults/test_disk*.py; PostgreSQL's has test_database_full.py); the command,
# the contract and the browser, which know of the store only through what is here. What is on PostgreSQL in any case
# (postgres/, faults/test_database_*.py) is in the first run.
ON_POSTGRESQL = [
    *(
        f"api/test_{name}.py"
        for name in [
            "accounts", "attachment_data", "attachments", "case_attachments", "case_restored", "cases", "changes",
            "deleted_objects", "devices", "digests", "edits", "ephemeral", "events", "events_converge", "export", "isolation",
            "mail", "notes", "objects", "quota", "recently_deleted", "search", "sync", "tags", "text_descent", "trace", "uploads",
        ]
    ),
    *(f"faults/test_{name}.py" for name in ["events_killed", "kill", "uploads_killed"]),
    "differential/test_differential.py",
]  # fmt: skip

# The longest, which workers begin with: what is begun last they would wait for together.
LONGEST = [
    *(f"{name}.py" for name in ["contract/test_schemathesis", "browser/test_web_cases", "faults/test_backup_storm"]),
    "differential/test_differential.py",
    *(f"browser/test_web_{name}.py" for name in ["editing", "signing_in", "looks", "injection"]),
    *(f"api/test_{name}.py" for name in ["cases", "events", "isolation"]),
    *(f"{name}.py" for name in ["faults/test_kill", "faults/test_uploads_killed"]),
]  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--everything", action="store_true", help="run the random tests in full, for hours")
    parser.addoption(
        "--store",
        choices=["sqlite", "postgresql"],
        default="sqlite",
        help="where the servers of the tests keep their data",
    )
    parser.addoption("--seeds", type=int, help="how many random lives differential/ has: 2, or 40")
    parser.addoption("--operations", type=int, help="how many operations each of them has: 300, or 1250")


@pytest.fixture(scope="session")
def everything(request: pytest.FixtureRequest) -> bool:
    """Whether random tests run in full."""
    return request.config.getoption("--everything")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--store") == "sqlite":
        return
    if postgres.programs() is None:
        pytest.exit("PostgreSQL is not installed: Tools/set-up.sh test", 2)
    if config.getoption("numprocesses", None) and not is_worker(config):
        return  # this process hands out tests, and runs none
    Server.store = postgres.running()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if config.getoption("--store") == "sqlite" or collection_path.suffix != ".py":
        return None
    is_named = any(Path(argument.split("::")[0]).resolve() == collection_path for argument in config.args)
    return None if is_named or str(collection_path.relative_to(HERE)) in ON_POSTGRESQL else True


def is_worker(config: pytest.Config) -> bool:
    """Whether this is one of several processes that run tests at once (`pytest -n`): each has servers of its own."""
    return hasattr(config, "workerinput")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For workers, mixes the files: those of one folder would all wait at once, or all want the processor."""
    if not is_worker(config):
        return
    folders: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(item.path for item in items):
        folders.setdefault(path.parent, []).append(path)
    # How far into its folder each file is; the longest before all.
    place = {path: (index + 0.5) / len(files) for files in folders.values() for index, path in enumerate(files)}
    place |= {HERE / name: index - len(LONGEST) for index, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place[item.path])


@pytest.fixture(scope="session")
def postgresql() -> postgres.PostgreSQL:
    """A PostgreSQL for all who leave the server as it is."""
    return postgres.running()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for everybody who changes nothing but accounts of his own."""
    with Server() as running:
        yield running


@pytest.fixture
def fresh_server() -> Iterator[Server]:
    """A server that this test may stop, kill, restart and fill."""
    with Server() as running:
        yield running


@pytest.fixture
def client(server: Server) -> Client:
    """A fresh account, signed in as one device, on the server for all."""
    return server.client()


@pytest.fixture
def devices(server: Server) -> Callable[[int], list[Device]]:
    """`devices(2)`: so many devices of one fresh account, each with an empty copy."""

    def make(count: int) -> list[Device]:
        first = server.client(device_name="A")
        others = [first.another_device(device_name=chr(ord("A") + index)) for index in range(1, count)]
        return [Device(client) for client in [first, *others]]

    return make


@pytest.fixture
def seed() -> int:
    """HESPER_SEED repeats the choices of a run; the timing of the machine it cannot."""
    seed = int(os.environ.get("HESPER_SEED", time.time_ns() % 1_000_000))
    print(f"HESPER_SEED={seed}")
    return seed
