"""Waiting for work that a server does in the background."""

import time
from collections.abc import Callable
from typing import Any


def wait_until(condition: Callable[[], Any], seconds: float = 60, pause: float = 0.02, failure: str = "") -> Any:
    """Calls `condition` until its value is true, and returns the value."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, failure or f"the condition was not met within {seconds} s"
        time.sleep(pause)
    return value
