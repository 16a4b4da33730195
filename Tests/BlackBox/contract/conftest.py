"""What the tests of the contract share."""

import os

import pytest

import contract_document


@pytest.fixture(scope="session")
def contract():
    return contract_document.load()


@pytest.fixture(scope="session")
def output():
    """Where generators write: below `.build`, never in the sources. Each worker has a folder of its own."""
    folder = contract_document.ROOT / ".build" / "contract" / os.environ.get("PYTEST_XDIST_WORKER", "")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
