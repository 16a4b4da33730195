"""Fixtures of the tests of the `hesper` command."""

from functools import partial
from pathlib import Path

import pytest
from client import PASSWORD
from runner import Hesper, run


@pytest.fixture
def hesper(tmp_path: Path) -> Hesper:
    """`hesper("account", "list", HESPER_DATA="d")` runs the command in an empty folder."""
    return partial(run, tmp_path)


@pytest.fixture
def ada(hesper: Hesper) -> str:
    """The e-mail address of an account in the folder `data`."""
    made = hesper("account", "create", "ada@example.org", stdin=PASSWORD + "\n")
    assert made.returncode == 0, made.stderr
    return "ada@example.org"
