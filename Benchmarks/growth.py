"""The effect of a million notes in the scope on pushes and polls, and the memory of a first sync of 1 GB."""

from client import Server
from durable_pushes import fresh_folder
from load import Session, fill, load, rounds, sign_up
from machine import fdatasync_cost, memory, reset_peak
from report import Row

SECONDS = 3
SIZE = 700  # bytes of text, so that a first sync of a million notes sends more than 1 GB


def growth() -> list[Row]:
    push = Row("push of one note with 1,000,000 notes in the scope", "with 1,000", "ms", 1.25, most=True)
    poll = Row("poll with 1,000,000 notes in the scope", "with 1,000", "ms", 1.25, most=True)
    first = Row(
        "peak memory during a first sync of {:.2f} GB, above idle", "64 MB", "MB", 1, most=True
    )
    with filled("large", 1_000_000) as (large, owner), filled("small", 1_000) as (small, other):
        for _ in range(rounds()):
            cost = fdatasync_cost()
            times = [
                load("push", server.port, [session], seconds=SECONDS)["p50"] * 1000
                for server, session in ((large, owner), (small, other))
            ]
            push.add(*times, cost)
            times = [
                load("poll", server.port, [session], seconds=SECONDS)["p50"] * 1000
                for server, session in ((large, owner), (small, other))
            ]
            poll.add(*times)
        large.restart()
        load("poll", large.port, [owner], requests=200)
        sent = 0
        for _ in range(3):
            idle = memory(large.pid, "VmRSS")
            reset_peak(large.pid)
            figures = load("read", large.port, [Session(owner.bearer)])
            sent = figures["bytes"]
            if sent < 1e9:
                raise RuntimeError(f"the first sync had only {sent} bytes")
            first.add((memory(large.pid, "VmHWM") - idle) / 2**20, 64)
        first.work = first.work.format(sent / 1e9)
    return [push, poll, first]


class filled:
    """A server, and the session of an account with some notes."""

    def __init__(self, name: str, count: int):
        self.count = count
        self.server = Server(data=fresh_folder(name), start=False)
        self.server.own_data = True

    def __enter__(self) -> tuple[Server, Session]:
        self.server.start()
        session = sign_up(self.server, 1)[0]
        fill(self.server, session, self.count, notes=min(1000, self.count), size=SIZE)
        return self.server, session

    def __exit__(self, *_) -> None:
        self.server.close()
