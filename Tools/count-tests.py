#!/usr/bin/env python3
"""Adds up what the runners found and closes with `tests: N passed, N failed`.

count-tests.py RESULTS WEB_STATUS SWIFT_STATUS PYTEST_STATUS POSTGRESQL_STATUS [PART…]: RESULTS holds the runners' JUnit
files, the statuses are their exit codes, each PART is a set-up step or build that failed and counts as one failed test.
"""

import sys
from pathlib import Path
from xml.etree import ElementTree


def outcomes(file: Path) -> dict[tuple[str, str], str]:
    """The worst outcome of each test in a JUnit file. A runner that crashed or was stopped leaves no file, or an incomplete one."""
    found: dict[tuple[str, str], str] = {}
    try:
        cases = ElementTree.parse(file).iter("testcase")
    except (FileNotFoundError, ElementTree.ParseError):
        return found
    for case in cases:
        key = (case.get("classname", ""), case.get("name", ""))
        if case.find("failure") is not None or case.find("error") is not None:
            found[key] = "failed"
        elif case.find("skipped") is not None:
            found.setdefault(key, "skipped")
        else:
            found.setdefault(key, "passed")
    return found


def main() -> int:
    results, statuses, parts = Path(sys.argv[1]), sys.argv[2:6], sys.argv[6:]
    total = {"passed": 0, "failed": len(parts), "skipped": 0}
    failures = [f"the part “{part}”" for part in parts]
    for runner, status in zip(("web", "swift", "pytest", "postgresql"), statuses):
        # `swift test` writes Swift Testing's results beside the file it was asked for, which is XCTest's.
        counted = outcomes(results / ("swift-swift-testing.xml" if runner == "swift" else f"{runner}.xml"))
        for outcome in counted.values():
            total[outcome] += 1
        failures += [f"{place} {name}" for (place, name), outcome in counted.items() if outcome == "failed"]
        if status != "0" and "failed" not in counted.values():
            total["failed"] += 1
            failures.append(f"the {runner} run itself (exit {status})")
    for failure in failures:
        print(f"failed: {failure}")
    if total["skipped"]:
        print(f"skipped: {total['skipped']} (the runners above say why)")
    if not total["passed"]:
        total["failed"] = max(total["failed"], 1)  # a run that ran nothing proves nothing
    print(f"tests: {total['passed']} passed, {total['failed']} failed")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
