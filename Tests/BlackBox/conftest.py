"""What the black-box tests share: a server for all, a server for one test, a fresh account, devices, a seed."""

import os
import time
from collections.abc import Callable, Iterator

import pytest
from client import Client, Server
from device import Device


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
