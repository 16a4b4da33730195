#!/usr/bin/env python3
"""Writes the case folding table of HesperModel and the vector file it is tested against.

    python3 Tools/case-folding.py            write both files
    python3 Tools/case-folding.py --check    exit 1 if a file is not up to date

`str.casefold()` of one code point is its mapping in CaseFolding.txt with status C or F. The table stays at the Unicode
version below, because it decides which tag names are equal. A newer version would have to be deployed in all
implementations at once. Unicode 14.0 to 15.1 (Python 3.11 to 3.13) have the same foldings.
"""
import json
import pathlib
import sys
import unicodedata

VERSIONS = ("14.0.0", "15.0.0", "15.1.0")
ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "Sources/HesperModel/Search/CaseFolding.swift"
VECTORS = ROOT / "Tests/Vectors/case-folding.json"


def foldings():
    """The code points that folding changes, with their foldings."""
    points = (p for p in range(0x110000) if not 0xD800 <= p <= 0xDFFF)
    return {p: chr(p).casefold() for p in points if chr(p).casefold() != chr(p)}


def ranges(single):
    """Groups foldings as (first, last, stride, delta): delta is added to every stride-th code point in first...last."""
    runs = []
    for point, target in sorted(single.items()):
        delta = target - point
        if runs:
            first, last, stride, previous = runs[-1]
            step = point - last
            if delta == previous and step in (1, 2) and stride in (0, step):
                runs[-1] = (first, point, step, delta)
                continue
        runs.append((point, point, 0, delta))
    return [(first, last, stride or 1, delta) for first, last, stride, delta in runs]


def lines(cells):
    """Joins cells to lines of at most 120 columns."""
    line = "       "
    for cell in cells:
        if len(line) + len(cell) + 2 > 120:
            yield line
            line = "       "
        line += f" {cell},"
    yield line


def swift(folds):
    runs = ranges({p: ord(t) for p, t in folds.items() if len(t) == 1})
    run_cells = [f"({f:#06x}, {l:#06x}, {s}, {d})" for f, l, s, d in runs]
    full_cells = [
        f"{p:#06x}: [{', '.join(f'{ord(c):#06x}' for c in t)}]" for p, t in sorted(folds.items()) if len(t) > 1
    ]
    return "\n".join(
        [
            "// Written by Tools/case-folding.py from Unicode 15.1 (the same in 14.0 and 15.0): change that, not this.",
            "",
            "/// Unicode full case folding, scalar by scalar and without context: CaseFolding.txt, statuses C and F.",
            "enum CaseFolding {",
            "    /// Every `stride`-th scalar of `first...last` moves by `delta`. In ascending order.",
            "    static let ranges: [(first: UInt32, last: UInt32, stride: UInt32, delta: Int32)] = [",
            *lines(run_cells),
            "    ]",
            "",
            "    /// Scalars that become several.",
            "    static let full: [UInt32: [UInt32]] = [",
            *lines(full_cells),
            "    ]",
            "}",
            "",
        ]
    )


def vectors(folds):
    """Writes one folding per line, so that changes are readable in a diff."""
    rows = [f'  {json.dumps(f"{p:04X}")}: {json.dumps(" ".join(f"{ord(c):04X}" for c in t))}' for p, t in sorted(folds.items())]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def main():
    if unicodedata.unidata_version not in VERSIONS:
        sys.exit(f"this Python has Unicode {unicodedata.unidata_version}, but the table requires one of {', '.join(VERSIONS)}")
    folds = foldings()
    written = {TABLE: swift(folds), VECTORS: vectors(folds)}
    if "--check" in sys.argv[1:]:
        stale = [str(path.relative_to(ROOT)) for path, text in written.items() if path.read_text("utf-8") != text]
        sys.exit(f"not up to date with Tools/case-folding.py: {', '.join(stale)}" if stale else 0)
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


main()
