"""Executes the tours of README.md and docs/automate.md (support/tour.py), and checks the other commands of README.md."""

import re
import subprocess
from pathlib import Path

import pytest
from client import BINARY, ROOT
from tour import Tour

README, AUTOMATE = Tour("README.md"), Tour("docs/automate.md")
STATEMENTS = [(tour, index) for tour in (README, AUTOMATE) for index in range(1, len(tour.statements) + 1)]


@pytest.fixture(scope="module")
def toured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders with the results of the tours, by page."""
    folders = {}
    for tour in (README, AUTOMATE):
        folders[tour.page] = tmp_path_factory.mktemp("tour")
        tour.run(tmp_path_factory.mktemp("home"), folders[tour.page])
    return folders


def test_the_tour_covers_the_main_features() -> None:
    """It goes from sign-up to a conflict of two devices."""
    README.check_form()
    tour = README.statements
    assert len(tour) > 15 and sum(len(statement.prints) for statement in tour) > 10
    text = "\n".join(statement.text for statement in tour)
    for part in ("/v1/accounts", "/v1/devices", "/v1/notes", "/v1/sync", "/edits", "digest"):
        assert part in text
    assert any("merged" in line for statement in tour for line in statement.prints)


def test_the_recipes_cover_what_scripts_can_do() -> None:
    AUTOMATE.check_form()
    text = "\n".join(statement.text for statement in AUTOMATE.statements)
    for part in ("/v1/tokens", "/append", "/prepend", "/v1/search", "/v1/export", "/v1/events", "/v1/webhooks", "Idempotency-Key", "curl -sf -u"):
        assert part in text


@pytest.mark.parametrize(
    ("tour", "index"), STATEMENTS, ids=[f"{tour.page}:{tour.statements[index - 1].line}" for tour, index in STATEMENTS]
)
def test_statement(toured: dict[str, Path], tour: Tour, index: int) -> None:
    tour.check(index, toured[tour.page])


COMMANDS = [line for _, lines in README.blocks("sh") for line in lines if line.strip()]


@pytest.mark.parametrize("line", COMMANDS)
def test_other_commands_exist(line: str) -> None:
    """Commands outside the tour are Makefile targets or hesper subcommands with existing options."""
    name, *words = line.partition("#")[0].split()
    if name == "make":
        assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return
    assert name == "hesper"
    command = re.match("[a-z][a-z-]*(?: [a-z]+(?= |$))*", " ".join(words))[0].split()
    done = subprocess.run([BINARY, *command, "--help"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    usage = re.search(r"USAGE: (.*)", done.stdout)[1]
    assert usage.startswith(" ".join(["hesper", *command]))
    for option in (word for word in words if word.startswith("--")):
        assert option in usage
