"""An app on the Swift library, the web app and a Device of one account live random lives, and end with equal copies."""

from pathlib import Path

import pytest
from client import Server
from engine_page import Profile
from three_clients import live

pytestmark = pytest.mark.long


@pytest.mark.timeout(7_200)
def test_three_clients(
    profile: Profile, server: Server, tmp_path: Path, seed: int, everything: bool, pytestconfig: pytest.Config
) -> None:
    """The first life has the seed of the test, the others those that follow. `--seeds` is their number."""
    for number in range(seed, seed + (pytestconfig.getoption("--seeds") or (300 if everything else 1))):
        tab = profile(server)
        live(server, tab, tmp_path / str(number), number)
        tab.context.close()
