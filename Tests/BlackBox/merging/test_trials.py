"""Runs `merge-trials`, which checks the laws of text merges (merge.md, Merging three texts) on random texts."""

import subprocess

import pytest
from client import BINARY

pytestmark = pytest.mark.long

TRIALS = BINARY.parent / "merge-trials"
HOURS = 3_600


@pytest.mark.timeout(4 * HOURS)
# With --everything, the seed is random to find new faults. `make test` uses a fixed seed, so that its result depends only on
# the change.
@pytest.mark.parametrize(
    "command, count, full",
    [("laws", "--merges 2500 --seed 2", "--merges 3000000"), ("lives", "--lives 120 --seed 2", "--lives 10000")],
)
def test_trials(command: str, count: str, full: str, everything: bool):
    if not TRIALS.exists():
        pytest.fail(f"{TRIALS} does not exist. Build it with: Tools/release.sh merge-trials")
    trials = subprocess.run(
        [TRIALS, command, *(full if everything else count).split()], capture_output=True, text=True, timeout=4 * HOURS
    )
    print(trials.stdout, trials.stderr)
    assert trials.returncode == 0
