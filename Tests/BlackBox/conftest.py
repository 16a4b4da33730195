"""Options and fixtures of the black-box tests: servers, accounts, devices and random seeds."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

# Their assertions show the values that differ, as those of tests do.
pytest.register_assert_rewrite("client_cases")

import postgres
from client import LOGS, ROOT, Client, Server
from device import Device

def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--everything", action="store_true", help="run the random tests in full, which takes hours")
    parser.addoption(
        "--store",
        choices=["sqlite", "postgresql"],
        default="sqlite",
        help="the database of the test servers",
    )
    parser.addoption("--seeds", type=int, help="the number of random runs of a test (differential/: 1, with --everything 40)")
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


def named_files(config: pytest.Config) -> set[Path]:
    """The files named on the command line."""
    return {Path(argument.split("::")[0]).resolve() for argument in config.args}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With PostgreSQL, the other files are not even imported, because that takes each worker some seconds."""
    if config.getoption("--store") == "sqlite" or not collection_path.is_file() or collection_path in named_files(config):
        return None
    return True if "both_stores" not in collection_path.read_text() else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    select(config, items)
    if is_worker(config):
        distribute(items)


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects tests by marker (see pytest.ini). A file named on the command line always runs."""
    named = named_files(config)

    def is_left_out(item: pytest.Item) -> bool:
        if item.path in named:
            return False
        # The order of two pushes concerns the server more than the web app and the library.
        is_second_order = "B pushes first" in item.name and item.path.parent.name in ("browser", "library")
        is_thorough = is_second_order or bool(item.get_closest_marker("thorough"))
        if config.getoption("--store") != "sqlite":
            if not item.get_closest_marker("both_stores"):
                return True
            is_thorough = is_thorough or bool(item.get_closest_marker("thorough_on_postgresql"))
        return is_thorough and not config.getoption("--everything")

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


@cache
def small_app() -> Path:
    """A folder with a web app of one page. Reading the real one takes half of the processor time of a server's start."""
    folder = LOGS / f"share-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    (folder / "Public").mkdir(parents=True, exist_ok=True)
    (folder / "Public/index.html").write_text("<!doctype html><title>Hesper</title>")
    shutil.copy(ROOT / "openapi.yaml", folder)
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Only these tests open the web app on servers of their own. The shared server always serves it."""
    Server.public = None if item.path.parent.name == "browser" else small_app()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server shared by all tests that change only accounts they created."""
    with Server(environment={"HESPER_PUBLIC": str(ROOT)}) as running:
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
