#!/usr/bin/env python3
"""Adds up the results of all test runners and prints `tests: N passed, N failed`.

count-tests.py RESULTS [RUNNER=STATUS…] [PART…]: the folder RESULTS contains a JUnit file RUNNER.xml and the output RUNNER.log of each
runner, whose exit status is STATUS. Each PART is a set-up step or a build that failed, and counts as one failed test.
"""

import sys
from pathlib import Path
from xml.etree import ElementTree

# For a crashed runner, the last lines of its log are printed again, because CI shows the end of the output.
LINES_OF_A_CRASH = 60


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


def crash(log: Path) -> list[str]:
    """The crash report in a runner's log, or its last lines if there is none."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    begin = next((number for number, line in enumerate(lines) if "Fatal error" in line or "*** " in line), None)
    return lines[-LINES_OF_A_CRASH:] if begin is None else lines[begin : begin + LINES_OF_A_CRASH]


def main() -> int:
    results, rest = Path(sys.argv[1]), sys.argv[2:]
    runners = dict(argument.split("=") for argument in rest if "=" in argument)
    parts = [argument for argument in rest if "=" not in argument]
    total = {"passed": 0, "failed": len(parts), "skipped": 0}
    failures = [f"{part}" for part in parts]
    for runner, status in runners.items():
        counted = outcomes(results / f"{runner}.xml")
        for outcome in counted.values():
            total[outcome] += 1
        failures += [f"{group} {name}" for (group, name), outcome in counted.items() if outcome == "failed"]
        if status != "0" and "failed" not in counted.values():
            total["failed"] += 1
            failures.append(f"{runner} runner (exit status {status})")
            print(*crash(results / f"{runner}.log"), sep="\n")
    for failure in failures:
        print(f"failed: {failure}")
    if total["skipped"]:
        print(f"skipped: {total['skipped']} (see the output of the runners)")
    if not total["passed"]:
        total["failed"] = max(total["failed"], 1)  # a run without tests is a failure
    print(f"tests: {total['passed']} passed, {total['failed']} failed")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
