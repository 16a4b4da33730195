#!/usr/bin/env python3
"""Prints the prose of the Swift sources, to be read in one sitting: `Tools/prose.py [doc|comment|text …] [--sample N] [--seed S]`.

doc      doc comments, each with the line that it documents
comment  other comments
text     string literals of four words or more: errors, log messages, help, output (with the lines that belong to one literal)

All of them without an argument. `--sample 200` prints so many, chosen at random, and the seed that repeats the choice.
"""

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "Sources"
LITERAL = re.compile(r'"((?:[^"\\]|\\\((?:[^()]|\([^()]*\))*\)|\\.)*)"')


def entries(path: Path) -> Iterator[tuple[str, int, str]]:
    """The kind, first line number and text of every piece of prose in a file."""
    lines = path.read_text().splitlines()
    number = 0
    while number < len(lines):
        line, begin = lines[number].strip(), number + 1
        mark = next((mark for mark in ("///", "//") if line.startswith(mark)), None)
        if mark:
            block = []
            while number < len(lines) and (line := lines[number].strip()).startswith(mark):
                if mark == "//" and line.startswith("///"):
                    break
                block.append(line.removeprefix(mark).strip())
                number += 1
            if mark == "///":
                yield "doc", begin, "\n".join([*block, f"    {lines[number].strip()}" if number < len(lines) else ""])
            elif not block[0].startswith("MARK:"):
                yield "comment", begin, "\n".join(block)
            continue
        if line.endswith('"""') and line.count('"""') == 1:
            block = []
            number += 1
            while number < len(lines) and not lines[number].strip().startswith('"""'):
                block.append(lines[number].strip())
                number += 1
            if not re.match(r"(WITH|SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER)\b", block[0] if block else ""):
                yield "text", begin, "\n".join(block)
        else:
            for match in LITERAL.finditer(line):
                if len(match[1].split()) >= 4 and not re.match(r"[A-Z]{3,} ", match[1]):
                    yield "text", begin, match[1]
        number += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=["doc", "comment", "text", []], default=[])
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    found = [
        (f"{path.relative_to(SOURCES.parent)}:{number}", kind, text)
        for path in sorted(SOURCES.rglob("*.swift"))
        for kind, number, text in entries(path)
        if not options.kinds or kind in options.kinds
    ]
    if options.sample is not None:
        print(f"seed {options.seed}, {options.sample} of {len(found)}\n")
        found = random.Random(options.seed).sample(found, min(options.sample, len(found)))
    for place, kind, text in found:
        print(f"{place} ({kind})\n{text}\n")


if __name__ == "__main__":
    main()
