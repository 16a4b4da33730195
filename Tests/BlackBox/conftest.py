"""Options and fixtures of the black-box tests: servers, accounts, devices and random seeds."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import postgres
import pytest
from client import Client, Server
from device import Device

def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--everything", action="store_true", help="run the random tests in full, which takes hours")
    parser.addoption(
        "--store",
        choices=["sqlite", "postgresql"],
        default="sqlite",
        help="the database of the test servers",
    )
    parser.addoption("--seeds", type=int, help="the number of random runs of differential/ (default 2, with --everything 40)")
    parser.addoption("--operations", type=int, help="the operations per random run (default 300, with --everything 1250)")


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
        return  # the xdist controller only distributes tests
    Server.store = postgres.running()


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is an xdist worker (`pytest -n`). Each worker has its own servers."""
    return hasattr(config, "workerinput")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    select(config, items)
    if is_worker(config):
        distribute(items)


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects tests by marker (see pytest.ini). A file named on the command line always runs."""
    named = {Path(argument.split("::")[0]).resolve() for argument in config.args}

    def is_left_out(item: pytest.Item) -> bool:
        if item.path in named:
            return False
        if config.getoption("--store") != "sqlite" and not item.get_closest_marker("both_stores"):
            return True
        return bool(item.get_closest_marker("thorough")) and not config.getoption("--everything")

    left_out = [item for item in items if is_left_out(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out(item)]


def distribute(items: list[pytest.Item]) -> None:
    """Orders the files for xdist: files marked `long` first, then the files of all folders interleaved.

    The files of one folder use the same resource, such as the processor or a timer, so running them together is slower.
    """
    folders: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(item.path for item in items):
        folders.setdefault(path.parent, []).append(path)
    # The relative position of each file in its folder. Long files come before all others.
    position = {path: (index + 0.5) / len(files) for files in folders.values() for index, path in enumerate(files)}
    for item in items:
        if item.get_closest_marker("long"):
            position[item.path] = -1
    items.sort(key=lambda item: position[item.path])


@pytest.fixture(scope="session")
def postgresql() -> postgres.PostgreSQL:
    """A PostgreSQL server shared by the tests that do not restart or reconfigure it."""
    return postgres.running()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server shared by all tests that change only accounts they created."""
    with Server() as running:
        yield running


@pytest.fixture
def fresh_server() -> Iterator[Server]:
    """A server that the test may stop, kill, restart and fill."""
    with Server() as running:
        yield running


@pytest.fixture
def client(server: Server) -> Client:
    """A new account on the shared server, signed in as one device."""
    return server.client()


@pytest.fixture
def devices(server: Server) -> Callable[[int], list[Device]]:
    """`devices(2)` returns two devices of one new account, each with an empty copy."""

    def make(count: int) -> list[Device]:
        first = server.client(device_name="A")
        others = [first.another_device(device_name=chr(ord("A") + index)) for index in range(1, count)]
        return [Device(client) for client in [first, *others]]

    return make


@pytest.fixture
def seed() -> int:
    """The random seed: HESPER_SEED, or a new one. A seed repeats the random choices of a run, but not its timing."""
    seed = int(os.environ.get("HESPER_SEED", time.time_ns() % 1_000_000))
    print(f"HESPER_SEED={seed}")
    return seed
