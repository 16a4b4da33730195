"""What merging a text loses, doubles and gets exactly right, beside `git merge-file --union`; and how long it takes.

`text_quality.py [PROGRAM]` prints the table for another program that answers as `merge-trials merge` does.
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
    """What a merger made of a corpus."""

    merges: int = 0
    new: int = 0  # words that a side has more often than the base
    lost: int = 0  # new words that the right result has and the merge lacks
    surplus: int = 0  # words that the merge has more often than the right result
    exact: int = 0

    def add(self, trial: Trial, merged: str) -> None:
        self.merges += 1
        self.new += trial.new_words.total()
        if merged == trial.right:
            self.exact += 1
            return
        made, due = Counter(words(merged)), Counter(words(trial.right))
        self.lost += (trial.new_words & (due - made)).total()
        self.surplus += (made - due).total()

    def line(self, corpus: str, merger: str, verdict: str = "") -> str:
        numbers = " | ".join(f"{number:,}" for number in (self.merges, self.new, self.lost, self.surplus, self.exact))
        return f"| {corpus} | {merger} | {numbers} | {verdict} |"


# The merge before a push named what its text descends from (386b70f), measured by this script on 2026-11-23.
RECORDED = {
    "concurrent writing (friendsforever)": Figures(428, 24_902, lost=100, surplus=19, exact=409),
    "histories of prose (rust-book)": Figures(1_259, 201_732, lost=3_140, surplus=1_076, exact=1_087),
}

EXPLANATION = """\
Every merge has two sides of one base, and its right result is known.

- Concurrent writing: windows of 100 to 4,000 operations of a recorded session of two people. The base is what both had before the
  window, a side has the operations of one of them, and the right result has those of both. Operations in a line that the other had
  begun in the window count as the other's.
- Histories of prose: the edits between two successive versions of a chapter, dealt to two devices in turn, once for each of four
  gaps: edits with fewer than 3, 10, 25 or 60 words between them are one edit. The right result is the later version.

New words are those that a side has more often than the base. Lost are those of them that the right result has and the merge lacks,
surplus the words that the merge has more often than the right result. An exact merge equals the right result.
By words, git gets every word, run of blanks, line end and other character as a line of its own.
The reach: fewer words lost and fewer surplus than git by words, and exact at least as often."""


def text_quality() -> list[Row | Table]:
    return [*tables(PROGRAM), *speed(PROGRAM)]


def tables(program: Path) -> list[Table]:
    """The table, or none if there is no corpus."""
    lines = []
    for corpus, (data, changes) in CORPORA.items():
        if not data.exists():
            print(f"text-quality: skipped {corpus}: there is no {os.path.relpath(data, ROOT)}", flush=True)
            continue
        trials = alternated(changes())
        hesper, by_lines, by_words = (
            measured(trials, merge) for merge in (by_program(program), git_by_lines, git_by_words)
        )
        lines.append(hesper.line(corpus, "Hesper", verdict(hesper, by_words)))
        if recorded := RECORDED.get(corpus):
            lines.append(recorded.line(corpus, "Hesper before explicit descent (386b70f), recorded"))
        lines.append(by_lines.line(corpus, "`git merge-file --union`, by lines"))
        lines.append(by_words.line(corpus, "`git merge-file --union`, by words"))
    head = "| corpus | merged by | merges | new words | lost | surplus | exact | reach |"
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


def answers(program: Path, trials: list[Trial]) -> list[dict]:
    """What the program answers: one line for every trial."""
    asked = "".join(
        json.dumps({"base": trial.base, "older": trial.older, "newer": trial.newer}) + "\n" for trial in trials
    )
    done = subprocess.run([program, "merge"], input=asked, capture_output=True, encoding="utf-8", check=True, timeout=600)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def by_program(program: Path) -> Callable[[list[Trial]], list[str]]:
    return lambda trials: [answer["merged"] for answer in answers(program, trials)]


# git


def git_by_lines(trials: list[Trial]) -> list[str]:
    return in_parallel(git_merge_file, trials)


def git_by_words(trials: list[Trial]) -> list[str]:
    """Merges with every token in a line of its own."""

    def merged(trial: Trial, folder: str) -> str:
        texts = (one_token_a_line(text) for text in (trial.base, trial.older, trial.newer))
        return without_lines(git_merge_file(Trial(*texts, right=""), folder))

    return in_parallel(merged, trials)


LINE_END = "\N{SYMBOL FOR LINE FEED}"


def one_token_a_line(text: str) -> str:
    if LINE_END in text or "\r" in text:
        raise ValueError("this text cannot be written with one token a line")
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
    by_lines = Row("the same", "`git merge-file --union`, by lines, its files and process included", "ms")
    by_words = Row("the same", "`git merge-file --union`, by words, the same", "ms")
    for answer in answers(program, [trial] * rounds()):
        took = answer["milliseconds"]
        bound.add(took, 150)
        by_lines.add(took, milliseconds(lambda: git_by_lines([trial])))
        by_words.add(took, milliseconds(lambda: git_by_words([trial])))
    return [bound, by_lines, by_words]


def milliseconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return (time.monotonic() - began) * 1000


def large_trial() -> Trial:
    """Two sides of somewhat under 1 MiB, as that is the most that a note may have."""
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
    for made in tables(measured_program):
        print(made.text)
    for row in speed(measured_program):
        print(row.line)
