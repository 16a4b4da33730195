#!/usr/bin/env python3
"""Makes deliberate faults in the client and in the merge, and checks that simulated lives notice each of them.

    Tools/faults.py                    all faults, up to 10,000 lives each
    Tools/faults.py -k clock           only faults whose name contains "clock"
    Tools/faults.py --seeds 2000       at most 2,000 lives each
    Tools/faults.py --list             the names

A fault replaces a piece of the source that occurs exactly once (fault_table.py). All faults are compiled into one copy of the
package, and a run of the simulator chooses one of them by its number in the environment variable HESPER_FAULT, so that the
copy is built once. Without the variable, the copy must pass.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
#: What the copy consists of.
COPIED = ["Package.swift", "Package.resolved", "Sources", "Tests", "Benchmarks", "Examples", "README.md", "docs", "contract"]

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fault_table import FAULTS, Fault  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-k", dest="word", default="", help="only faults whose name contains this")
    parser.add_argument("--seeds", type=int, default=10_000, help="the maximum number of lives for each fault")
    parser.add_argument("--package", type=pathlib.Path, default=ROOT, help="the package to copy")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / ".build/faults", help="where the copy is built")
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    arguments = parser.parse_args()
    if arguments.list:
        return print("\n".join(fault.name for fault in FAULTS))

    program = build(arguments.package, arguments.folder)
    clean = lives(program, 0, min(arguments.seeds, 200))
    if clean.failure:
        sys.exit(f"without a fault, a life fails: {clean.failure}")
    missed = []
    for number, fault in enumerate(FAULTS, 1):
        if arguments.word not in fault.name:
            continue
        result = lives(program, number, arguments.seeds)
        print(f"{fault.name:40} {result}", flush=True)
        if not result.failure:
            missed.append(fault.name)
    if missed:
        sys.exit(f"not noticed: {', '.join(missed)}")


# The copy


def build(package, folder):
    """Builds a copy of the package with all faults, and returns the simulator."""
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in COPIED:
        source = package / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
        elif source.exists():
            shutil.copy(source, tree / name)
    for number, fault in enumerate(FAULTS, 1):
        insert(fault, number, tree)
    (tree / "Sources/HesperModel/DeliberateFault.swift").write_text(SWITCH)
    scratch = folder / "build"
    command = ["swift", "build", "-c", "release", "--product", "simulate", "--package-path", tree, "--scratch-path", scratch]
    subprocess.run(list(map(str, command)), check=True)
    return scratch / "release/simulate"


#: Tells which fault is made.
SWITCH = """
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

private let activeFault = getenv("HESPER_FAULT").flatMap { Int(String(cString: $0)) } ?? 0

@inline(never)
public func isMade(_ fault: Int) -> Bool { fault == activeFault }
"""


def insert(fault, number, tree):
    path = tree / "Sources" / fault.file
    text = path.read_text()
    place = fault.before + fault.old + fault.after
    if text.count(place) != 1:
        sys.exit(f"{fault.name}: the source occurs {text.count(place)} times in {fault.file}, not once:\n{place}")
    if fault.is_statement:
        replacement = f"if isMade({number}) {{ {fault.new} }} else {{ {fault.old} }}"
    else:
        replacement = f"(isMade({number}) ? ({fault.new}) : ({fault.old}))"
    path.write_text(text.replace(place, fault.before + replacement + fault.after))


# The lives


@dataclasses.dataclass
class Result:
    seconds: float
    #: The first failure; empty if all lives passed.
    failure: str

    def __str__(self):
        if not self.failure:
            return f"NOT NOTICED ({self.seconds:.0f} s)"
        return f"{self.failure[:160]} ({self.seconds:.0f} s)"


def lives(program, number, seeds):
    """Runs lives until one fails."""
    start = time.monotonic()
    environment = {**os.environ, "HESPER_FAULT": str(number)}
    command = [program, "--until-failure", str(seeds)]
    output = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
    seconds = time.monotonic() - start
    if output.returncode == 0:
        return Result(seconds, "")
    lines = [line for line in output.stdout.splitlines() if re.match(r"seed \d+", line)]
    # A life that ends in a trap has failed too.
    return Result(seconds, lines[0] if lines else f"exit {output.returncode}: {output.stderr.strip()[-150:]}")


if __name__ == "__main__":
    main()
