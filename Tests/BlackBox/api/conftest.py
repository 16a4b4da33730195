"""Fixtures of the API tests."""

from collections.abc import Callable, Iterator

import pytest
from client import Client, Server
from device import Device
from secure import TLSServer
from writer import Writer


@pytest.fixture(scope="session")
def somebody(server: Server) -> Client:
    """An account shared by tests that use only objects they created, because signing in is slow by design."""
    return server.client(device_name="somebody")


@pytest.fixture
def writer(somebody: Client) -> Writer:
    return Writer(somebody)


@pytest.fixture
def fresh_writer(client: Client) -> Writer:
    """A writer with a new, empty account."""
    return Writer(client)


@pytest.fixture
def pair(devices: Callable[[int], list[Device]]) -> list[Device]:
    """Two devices of one account, A and B."""
    return devices(2)


@pytest.fixture(scope="session")
def pair_on() -> Callable[[Server], list[Device]]:
    """`pair_on(server)` returns two devices of a new account on this server. library/conftest.py has another one."""

    def make(server: Server) -> list[Device]:
        first = server.client(device_name="A")
        return [Device(first), Device(first.another_device("B"))]

    return make


@pytest.fixture(scope="session")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TLSServer]:
    """A server with TLS, shared by tests that create their own accounts."""
    with TLSServer(tmp_path_factory.mktemp("tls")) as running:
        yield running
