"""Fixtures of the contract tests."""

import os

import pytest

import contract_document


@pytest.fixture(scope="session")
def contract():
    return contract_document.load()


@pytest.fixture(scope="session")
def output():
    """The output folder of generators, below `.build`. Each worker has its own."""
    folder = contract_document.ROOT / ".build" / "contract" / os.environ.get("PYTEST_XDIST_WORKER", "")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
