"""What the tests of faults share."""

import os
import time

import pytest


@pytest.fixture
def seed() -> int:
    """HESPER_SEED repeats the choices of a run; the timing of the machine it cannot."""
    seed = int(os.environ.get("HESPER_SEED", time.time_ns() % 1_000_000))
    print(f"HESPER_SEED={seed}")
    return seed
