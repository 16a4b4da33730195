"""The published vectors agree with the Python reference, and the example in their README runs."""

import re
import subprocess
import sys
from pathlib import Path

import check
import pytest

FOLDER = Path(check.__file__).parent


def every_case():
    for kind in check.CHECKS:
        for case in check.cases(kind):
            yield pytest.param(kind, case, id=f"{kind}: {case['name']}")


@pytest.mark.parametrize(("kind", "case"), list(every_case()))
def test_the_reference_agrees(kind, case):
    check.CHECKS[kind](case)


@pytest.mark.parametrize("kind", check.CHECKS)
def test_every_check_can_fail(kind):
    """Each check fails if one character of the expected value is changed."""
    field = {"clocks": "bytes", "revocations": "outcome"}.get(kind, "digest")
    case = next(case for case in check.cases(kind) if field in case)
    wrong = {**case, field: ("0" if case[field][0] != "0" else "1") + case[field][1:]}
    with pytest.raises(AssertionError):
        check.CHECKS[kind](wrong)


def test_the_example_of_the_readme_runs():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    run = subprocess.run(
        [sys.executable, "-c", example], cwd=FOLDER, capture_output=True, text=True, timeout=30, check=False
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) == sum("object" in case for case in check.cases("digests"))
    assert [line for line in lines if not line.startswith("ok ")] == []


def test_every_file_is_documented():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for file in FOLDER.glob("*.json"):
        assert f"## {file.name}" in readme
