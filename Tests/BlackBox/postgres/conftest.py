"""Fixtures of the PostgreSQL tests."""

from collections.abc import Iterator

import pytest
from client import Server
from postgres import PostgreSQL


@pytest.fixture
def postgres_server(postgresql: PostgreSQL) -> Iterator[Server]:
    """A server with a new, empty database."""
    address = postgresql.database()
    with Server(database=address) as running:
        yield running
    postgresql.drop(address)
