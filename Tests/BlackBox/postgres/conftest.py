"""What the tests of PostgreSQL share."""

from collections.abc import Iterator

import pytest
from client import Server
from postgres import PostgreSQL


@pytest.fixture
def postgres_server(postgresql: PostgreSQL) -> Iterator[Server]:
    """A server with an empty database of its own."""
    address = postgresql.database()
    with Server(database=address) as running:
        yield running
    postgresql.drop(address)
