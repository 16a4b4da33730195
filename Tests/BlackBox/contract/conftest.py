"""What the tests of the contract share."""

import pytest

import contract_document


@pytest.fixture(scope="session")
def contract():
    return contract_document.load()


@pytest.fixture(scope="session")
def output():
    """Where generators write: below `.build`, never in the sources."""
    folder = contract_document.ROOT / ".build" / "contract"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
