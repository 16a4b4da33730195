"""What the tests of the API share."""

from collections.abc import Callable, Iterator

import pytest
from client import Client, Server
from device import Device
from secure import TLSServer
from writer import Writer


@pytest.fixture(scope="session")
def somebody(server: Server) -> Client:
    """One account for all tests that only make objects of their own: signing in is made to be slow."""
    return server.client(device_name="somebody")


@pytest.fixture
def writer(somebody: Client) -> Writer:
    return Writer(somebody)


@pytest.fixture
def fresh_writer(client: Client) -> Writer:
    """A writer whose account is empty."""
    return Writer(client)


@pytest.fixture
def pair(devices: Callable[[int], list[Device]]) -> list[Device]:
    """Two devices of one account, A and B."""
    return devices(2)


@pytest.fixture(scope="session")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TLSServer]:
    """One server with TLS, for whoever makes accounts of his own."""
    with TLSServer(tmp_path_factory.mktemp("tls")) as running:
        yield running
