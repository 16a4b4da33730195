"""Formats figures as rows and writes RESULTS.md."""

import time
from dataclasses import dataclass, field

from load import median
from machine import ROOT, description, fdatasync_cost
from postgres_limits import SETTINGS

RESULTS = ROOT / "Benchmarks/RESULTS.md"
FINDINGS = ROOT / "Benchmarks/FINDINGS.md"


@dataclass
class Row:
    """One line of the table. The ratio is calculated per round, so that load which slows down both sides has little effect."""

    work: str
    comparison: str
    unit: str
    reach: float | None = None  # the target of the ratio; None if there is none
    most: bool = False  # whether `reach` is a maximum
    applies: str = ""  # why `reach` does not apply to this machine, if so
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
            f"| {self.work} | {self.comparison} | {shown(median(self.ours))} {self.unit} | {shown(median(self.theirs))} | "
            f"{self.ratio:.2f} | {reach} | {self.verdict} | {len(self.ours)} | {sync} |"
        )


@dataclass
class Table:
    """A separate table below the main one."""

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
    """Writes RESULTS.md. The text of FINDINGS.md, which explains the figures, is appended."""
    lines = [
        "# Benchmark results",
        "",
        f"Written by `make bench` on {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC in {seconds / 60:.0f} minutes.",
        "",
        *(f"- {line}" for line in description()),
        f"- PostgreSQL settings: {', '.join(SETTINGS)}, otherwise defaults.",
        f"- One fdatasync took {fdatasync_cost():.2f} ms at the end of the run. For durable writes, the column shows its duration in their rounds.",
        "",
        "All figures are medians of interleaved rounds. The ratio is the median of the ratios of the rounds.",
        "",
        "| work | compared with | Hesper | other | ratio | target | | rounds | fdatasync |",
        "| --- | --- | ---: | ---: | ---: | --- | --- | ---: | ---: |",
        *(row.line for row in rows),
        "",
    ]
    for table in tables:
        lines += [table.text, ""]
    if FINDINGS.exists():
        lines += [FINDINGS.read_text().rstrip(), ""]
    RESULTS.write_text("\n".join(lines))
