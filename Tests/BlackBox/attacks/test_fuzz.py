"""A short run of `make fuzz`, with a different seed each time."""

from client import Server
from fuzz import fuzz

REQUESTS = 3_000


def test_mutated_requests(seed: int) -> None:
    with Server() as server:
        counts = fuzz(server, REQUESTS, seed)
        # The requests are neither all valid nor all nonsense.
        assert counts.total() == REQUESTS
        for status in (200, 400, 404, 422):
            assert counts[status] > REQUESTS // 100, counts
        checked = server.command("check")
        assert checked.returncode == 0, checked.stdout + checked.stderr
