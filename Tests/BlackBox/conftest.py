"""What the black-box tests share: a server for all, a server for one test, a fresh account, devices, a seed."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import postgres
import pytest
from client import Client, Server
from device import Device

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


def is_worker(config: pytest.Config) -> bool:
    """Whether this is one of several processes that run tests at once (`pytest -n`): each has servers of its own."""
    return hasattr(config, "workerinput")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    select(config, items)
    if is_worker(config):
        mix(items)


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what the markers say (pytest.ini); a file that is named runs in any case."""
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


def mix(items: list[pytest.Item]) -> None:
    """Puts long files first and mixes the others: those of one folder would all wait at once, or all want the processor."""
    folders: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(item.path for item in items):
        folders.setdefault(path.parent, []).append(path)
    # How far into its folder each file is; the long ones before all.
    place = {path: (index + 0.5) / len(files) for files in folders.values() for index, path in enumerate(files)}
    for item in items:
        if item.get_closest_marker("long"):
            place[item.path] = -1
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
