"""Quality of text merges (lost, duplicated and exact results) and speed, compared with `git merge-file --union`.

`text_quality.py [PROGRAM]` prints the table for another program with the interface of `merge-trials merge`.
"""

import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from load import rounds
from machine import ROOT, WORK
from report import Row, Table
from text_corpora import HISTORIES, TRACE, Trial, alternated, concurrent_writing, prose_histories, tokens, words

PROGRAM = ROOT / ".build/release/merge-trials"
CORPORA = {
    "concurrent writing (friendsforever)": (TRACE, concurrent_writing),
    "histories of prose (rust-book)": (HISTORIES, prose_histories),
}


@dataclass
class Figures:
    """The results of a merge program on a corpus."""

    merges: int = 0
    new: int = 0  # words that occur more often in a side than in the base
    lost: int = 0  # new words of the correct result that are missing in the merge
    surplus: int = 0  # words that occur more often in the merge than in the correct result
    exact: int = 0

    def add(self, trial: Trial, merged: str) -> None:
        self.merges += 1
        self.new += trial.new_words.total()
        if merged == trial.right:
            self.exact += 1
            return
        actual, expected = Counter(words(merged)), Counter(words(trial.right))
        self.lost += (trial.new_words & (expected - actual)).total()
        self.surplus += (actual - expected).total()

    def line(self, corpus: str, merger: str, verdict: str = "") -> str:
        numbers = " | ".join(f"{number:,}" for number in (self.merges, self.new, self.lost, self.surplus, self.exact))
        return f"| {corpus} | {merger} | {numbers} | {verdict} |"


# The algorithm before pushes declared the base of their text (386b70f), measured with this script on 2026-11-23.
RECORDED = {
    "concurrent writing (friendsforever)": Figures(428, 24_902, lost=100, surplus=19, exact=409),
    "histories of prose (rust-book)": Figures(1_259, 201_732, lost=3_140, surplus=1_076, exact=1_087),
}

EXPLANATION = """\
Each merge has two sides with a common base, and a known correct result.

- Concurrent writing: windows of 100 to 4,000 operations of a recorded session of two authors. The base is the common text before the
  window, each side has the operations of one author, and the correct result has those of both. Operations in a line that the other
  author began in the window count as the other's.
- Histories of prose: the edits between two successive versions of a chapter, assigned alternately to two devices, once for each of
  four gaps: edits with fewer than 3, 10, 25 or 60 words between them are joined. The correct result is the later version.

New words occur more often in a side than in the base. Lost words are new words of the correct result that are missing in the merge.
Surplus words occur more often in the merge than in the correct result. An exact merge equals the correct result.
By words, git gets each word, run of blanks, line end and other character as a separate line.
The target: fewer lost and fewer surplus words than git by words, and at least as many exact merges."""


def text_quality() -> list[Row | Table]:
    return [*tables(PROGRAM), *speed(PROGRAM)]


def tables(program: Path) -> list[Table]:
    """The table, or none if the corpora are missing."""
    lines = []
    for corpus, (data, changes) in CORPORA.items():
        if not data.exists():
            print(f"text-quality: skipped {corpus}: {os.path.relpath(data, ROOT)} does not exist", flush=True)
            continue
        trials = alternated(changes())
        hesper, by_lines, by_words = (
            measured(trials, merge) for merge in (by_program(program), git_by_lines, git_by_words)
        )
        lines.append(hesper.line(corpus, "Hesper", verdict(hesper, by_words)))
        if recorded := RECORDED.get(corpus):
            lines.append(recorded.line(corpus, "Hesper before explicit bases (386b70f), recorded"))
        lines.append(by_lines.line(corpus, "`git merge-file --union`, by lines"))
        lines.append(by_words.line(corpus, "`git merge-file --union`, by words"))
    head = "| corpus | merged by | merges | new words | lost | surplus | exact | target |"
    alignment = "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"
    return [Table("Merging text", EXPLANATION, head, alignment, lines)] if lines else []


def measured(trials: list[Trial], merge: Callable[[list[Trial]], list[str]]) -> Figures:
    figures = Figures()
    for trial, merged in zip(trials, merge(trials), strict=True):
        figures.add(trial, merged)
    return figures


def verdict(ours: Figures, theirs: Figures) -> str:
    missed = [
        name
        for name, met in (
            ("lost", ours.lost < theirs.lost),
            ("surplus", ours.surplus < theirs.surplus),
            ("exact", ours.exact >= theirs.exact),
        )
        if not met
    ]
    return f"missed: {', '.join(missed)}" if missed else "met"


def results(program: Path, trials: list[Trial]) -> list[dict]:
    """Runs the program, which prints one line per trial."""
    lines = "".join(
        json.dumps({"base": trial.base, "older": trial.older, "newer": trial.newer}) + "\n" for trial in trials
    )
    done = subprocess.run([program, "merge"], input=lines, capture_output=True, encoding="utf-8", check=True, timeout=600)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def by_program(program: Path) -> Callable[[list[Trial]], list[str]]:
    return lambda trials: [result["merged"] for result in results(program, trials)]


# git


def git_by_lines(trials: list[Trial]) -> list[str]:
    return in_parallel(git_merge_file, trials)


def git_by_words(trials: list[Trial]) -> list[str]:
    """Merges with each token in a separate line."""

    def merged(trial: Trial, folder: str) -> str:
        texts = (one_token_per_line(text) for text in (trial.base, trial.older, trial.newer))
        return without_lines(git_merge_file(Trial(*texts, right=""), folder))

    return in_parallel(merged, trials)


LINE_END = "\N{SYMBOL FOR LINE FEED}"


def one_token_per_line(text: str) -> str:
    if LINE_END in text or "\r" in text:
        raise ValueError("the text cannot be written with one token per line")
    return "".join(f"{token}\n" for token in tokens(text.replace("\n", LINE_END)))


def without_lines(text: str) -> str:
    return text.replace("\n", "").replace(LINE_END, "\n")


def git_merge_file(trial: Trial, folder: str) -> str:
    names = ("older", "base", "newer")
    for name, text in zip(names, (trial.older, trial.base, trial.newer)):
        Path(folder, name).write_bytes(text.encode())
    done = subprocess.run(
        ["git", "merge-file", "-p", "--union", *names], cwd=folder, capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode()


def in_parallel(merge: Callable[[Trial, str], str], trials: list[Trial]) -> list[str]:
    def in_folder(trial: Trial) -> str:
        with TemporaryDirectory(dir=WORK) as folder:
            return merge(trial, folder)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(in_folder, trials))


# Speed


def speed(program: Path) -> list[Row]:
    work, trial = "merge of two texts of 1 MiB, 1,000 changes each", large_trial()
    bound = Row(work, "150 ms", "ms", 1, most=True)
    by_lines = Row("the same", "`git merge-file --union`, by lines, including its files and process", "ms")
    by_words = Row("the same", "`git merge-file --union`, by words, the same", "ms")
    for result in results(program, [trial] * rounds()):
        took = result["milliseconds"]
        bound.add(took, 150)
        by_lines.add(took, milliseconds(lambda: git_by_lines([trial])))
        by_words.add(took, milliseconds(lambda: git_by_words([trial])))
    return [bound, by_lines, by_words]


def milliseconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return (time.monotonic() - began) * 1000


def large_trial() -> Trial:
    """Two sides of slightly less than 1 MiB, the maximum size of a note."""
    chance = random.Random(1)
    vocabulary = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 10))) for _ in range(5_000)]

    weights = list(itertools.accumulate(1 / (rank + 5) for rank in range(len(vocabulary))))

    def phrase(count: int) -> list[str]:
        return chance.choices(vocabulary, cum_weights=weights, k=count)

    def text(lines: list[list[str]]) -> str:
        return "".join(" ".join(line) + "\n" for line in lines)

    base, size = [], 0
    while size < (1 << 20) - 10_000:
        base.append(phrase(chance.randint(5, 80)))
        size += len(text(base[-1:]))

    def changed() -> str:
        side = [list(line) for line in base]
        for _ in range(1_000):
            line = chance.choice(side)
            at = chance.randrange(len(line) + 1)
            deleted, inserted = chance.choice(((0, 1), (0, 5), (1, 1), (1, 2), (3, 0)))
            line[at : at + deleted] = phrase(inserted)
        return text(side)

    return Trial(text(base), changed(), changed(), right="")


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    measured_program = Path(sys.argv[1]) if sys.argv[1:] else PROGRAM
    for table in tables(measured_program):
        print(table.text)
    for row in speed(measured_program):
        print(row.line)
