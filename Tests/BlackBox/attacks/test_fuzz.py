"""A short run of `make fuzz`, with a different seed each time."""

from client import Server
from fuzz import fuzz


def test_mutated_requests(seed: int, everything: bool) -> None:
    requests = 3_000 if everything else 1_000
    with Server() as server:
        counts = fuzz(server, requests, seed)
        # The requests are neither all valid nor all nonsense.
        assert counts.total() == requests
        for status in (200, 400, 404, 422):
            assert counts[status] > requests // 100, counts
        checked = server.command("check")
        assert checked.returncode == 0, checked.stdout + checked.stderr
