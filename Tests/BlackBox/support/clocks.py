"""Hybrid logical clocks (merge.md, Clocks).

A clock is a string: date in milliseconds, counter, node. Clocks compare as strings. A node is 16 hex digits.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def wall() -> int:
    """The current time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def date(milliseconds: int) -> str:
    """An RFC 3339 date in UTC with milliseconds, the format of all dates in Hesper."""
    moment = EPOCH + timedelta(milliseconds=milliseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


def clock(milliseconds: int, counter: int, node: str) -> str:
    return f"{date(milliseconds)}-{counter:04x}-{node}"


def parts(text: str) -> tuple[int, int, str]:
    """The milliseconds, counter and node of a clock."""
    moment = datetime.strptime(text[:24], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(milliseconds=1), int(text[25:29], 16), text[30:]


class ClockSource:
    """Generates the clocks of one device.

    `wall` is the device's wall clock, which may be wrong. `offset` is the estimated difference to the server's clock, in
    milliseconds.
    """

    def __init__(self, node: str, wall: Callable[[], int] = wall):
        self.node, self.wall = node, wall
        self.offset = 0
        self.greatest = ""  # the greatest clock seen or generated
        self.confirmed = ""  # the greatest clock that the server accepted or sent

    @property
    def now(self) -> int:
        """The wall clock, corrected by the offset to the server's clock."""
        return self.wall() + self.offset

    def tick(self) -> str:
        """Generates a clock that is greater than every clock seen."""
        made = clock(self.now, 0, self.node)
        if made[:24] <= self.greatest[:24]:
            milliseconds, counter, _ = parts(self.greatest)
            # A counter that would overflow carries over into the milliseconds.
            made = (
                clock(milliseconds, counter + 1, self.node)
                if counter < 0xFFFF
                else clock(milliseconds + 1, 0, self.node)
            )
        self.greatest = made
        return made

    def observe(self, other: str) -> None:
        """Records a clock that the server accepted or sent. The next tick is greater."""
        self.confirmed = max(self.confirmed, other)
        self.greatest = max(self.greatest, other)

    def adjust_offset(self, server_clock: str, sent: float) -> None:
        """Corrects the offset by `serverClock`, which every sync response carries.

        The server read its clock after the request was sent, at the wall clock `sent`, and before the response arrived. The
        offset changes only if this cannot be true, because the time that a response takes is not an error of the wall clock.
        """
        server = parts(server_clock)[0]
        least = server - self.wall()
        greatest = max(least, server - sent)  # `sent` is later if the wall clock was set back during the request
        self.offset = min(max(self.offset, least), greatest)
        self.observe(server_clock)

    def reset_to_confirmed(self) -> None:
        """Resets to the greatest clock that the server accepted or sent. Clocks that only this device used are discarded."""
        self.greatest = self.confirmed
