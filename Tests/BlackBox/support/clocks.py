"""Hybrid logical clocks (merge.md, Clocks). A clock is its text, which sorts as its bytes do; a node 16 hex digits."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def wall() -> int:
    """Milliseconds since 1970, as this machine has it."""
    return time.time_ns() // 1_000_000


def date(milliseconds: int) -> str:
    """RFC 3339 in UTC with milliseconds, as every date here is written."""
    moment = EPOCH + timedelta(milliseconds=milliseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


def clock(milliseconds: int, counter: int, node: str) -> str:
    return f"{date(milliseconds)}-{counter:04x}-{node}"


def parts(text: str) -> tuple[int, int, str]:
    """Milliseconds, counter and node of a clock."""
    moment = datetime.strptime(text[:24], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(milliseconds=1), int(text[25:29], 16), text[30:]


class ClockSource:
    """The clock of one device. `wall` is its wall clock, which may be wrong by years; `offset` is how far it is off."""

    def __init__(self, node: str, wall: Callable[[], int] = wall):
        self.node, self.wall = node, wall
        self.offset = 0
        self.greatest = ""  # of all clocks seen, its own included
        self.agreed = ""  # of those that the server accepted or sent

    @property
    def now(self) -> int:
        """The wall clock, put right by what was learned from the server's."""
        return self.wall() + self.offset

    def tick(self) -> str:
        """A clock greater than every clock seen."""
        made = clock(self.now, 0, self.node)
        if made[:24] <= self.greatest[:24]:
            milliseconds, counter, _ = parts(self.greatest)
            # A counter that would overflow carries into the milliseconds.
            made = (
                clock(milliseconds, counter + 1, self.node)
                if counter < 0xFFFF
                else clock(milliseconds + 1, 0, self.node)
            )
        self.greatest = made
        return made

    def observe(self, other: str) -> None:
        """Makes the next tick greater than `other`, which the server accepted or sent."""
        self.agreed = max(self.agreed, other)
        self.greatest = max(self.greatest, other)

    def learn(self, server_clock: str) -> None:
        """Takes how far the wall clock is off from the server's clock, which every answer of sync carries."""
        self.offset = parts(server_clock)[0] - self.wall()
        self.observe(server_clock)

    def set_back(self) -> None:
        """Forgets what only this device said: back to the greatest clock that the server accepted or sent."""
        self.greatest = self.agreed
