"""Figures to rows, rows to RESULTS.md."""

import time
from dataclasses import dataclass, field

from load import median
from machine import ROOT, description, fdatasync_cost
from postgres_limits import SETTINGS

RESULTS = ROOT / "Benchmarks/RESULTS.md"
FINDINGS = ROOT / "Benchmarks/FINDINGS.md"


@dataclass
class Row:
    """One line of the table. Ratios are taken round by round, so that what slows both in one round changes little."""

    work: str
    beside: str
    unit: str
    reach: float | None = None  # None: only printed
    most: bool = False  # the ratio is to stay below `reach`
    applies: str = ""  # a condition on the machine under which `reach` holds, if it did not hold
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    fdatasync: list[float] = field(default_factory=list)

    def add(self, ours: float, theirs: float, fdatasync: float | None = None) -> None:
        self.ours.append(ours)
        self.theirs.append(theirs)
        if fdatasync is not None:
            self.fdatasync.append(fdatasync)

    @property
    def ratio(self) -> float:
        return median([one / other for one, other in zip(self.ours, self.theirs)])

    @property
    def verdict(self) -> str:
        if self.reach is None:
            return "printed"
        met = self.ratio <= self.reach if self.most else self.ratio >= self.reach
        return "met" if met else f"missed{f' ({self.applies})' if self.applies else ''}"

    @property
    def line(self) -> str:
        reach = "–" if self.reach is None else f"{'at most' if self.most else 'at least'} {self.reach:g}"
        sync = f"{median(self.fdatasync):.2f} ms" if self.fdatasync else "–"
        return (
            f"| {self.work} | {self.beside} | {shown(median(self.ours))} {self.unit} | {shown(median(self.theirs))} | "
            f"{self.ratio:.2f} | {reach} | {self.verdict} | {len(self.ours)} | {sync} |"
        )


@dataclass
class Table:
    """A table of its own, below the main one."""

    title: str
    explanation: str
    head: str
    alignment: str
    lines: list[str]

    @property
    def text(self) -> str:
        return "\n".join([f"## {self.title}", "", self.explanation, "", self.head, self.alignment, *self.lines])


def shown(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def write(rows: list[Row], tables: list[Table], seconds: float) -> None:
    """Writes RESULTS.md; what a person found out about the figures (FINDINGS.md) goes below the tables."""
    lines = [
        "# What Hesper reaches",
        "",
        f"Made by `make bench` on {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC in {seconds / 60:.0f} minutes.",
        "",
        *(f"- {line}" for line in description()),
        f"- PostgreSQL has {', '.join(SETTINGS)}, and its defaults otherwise.",
        f"- One fdatasync cost {fdatasync_cost():.2f} ms at the end; beside durable figures: in their rounds.",
        "",
        "Figures are medians of interleaved rounds, the ratio is the median of the rounds' ratios.",
        "",
        "| work | beside | Hesper | beside | ratio | reach | | rounds | fdatasync |",
        "| --- | --- | ---: | ---: | ---: | --- | --- | ---: | ---: |",
        *(row.line for row in rows),
        "",
    ]
    for table in tables:
        lines += [table.text, ""]
    if FINDINGS.exists():
        lines += [FINDINGS.read_text().rstrip(), ""]
    RESULTS.write_text("\n".join(lines))
