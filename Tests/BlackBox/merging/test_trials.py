"""The laws of merging texts (merge.md, Merging three texts), on random texts and lives: the program `merge-trials`."""

import subprocess

import pytest
from client import BINARY

TRIALS = BINARY.parent / "merge-trials"
HOURS = 3_600


@pytest.mark.timeout(4 * HOURS)
# Random texts look for new faults with --everything; `make test` has a seed of its own, so that it passes or fails by what
# was changed.
@pytest.mark.parametrize(
    "command, count, full",
    [("laws", "--merges 20000 --seed 2", "--merges 3000000"), ("lives", "--lives 300 --seed 2", "--lives 10000")],
)
def test_trials(command: str, count: str, full: str, everything: bool):
    if not TRIALS.exists():
        pytest.fail(f"{TRIALS} is not there: swift build -c release --product merge-trials")
    trials = subprocess.run(
        [TRIALS, command, *(full if everything else count).split()], capture_output=True, text=True, timeout=4 * HOURS
    )
    print(trials.stdout, trials.stderr)
    assert trials.returncode == 0
