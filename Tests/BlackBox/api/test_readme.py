"""Executes the tour in README.md with bash against a new server.

The tour consists of all blocks that begin with ```sh tour, executed in order in one shell. Lines that begin with `#>` are
the complete output of the statement before them. `…` in such a line matches anything. A statement without such lines must
print nothing and have an effect: set a variable, define a function, write a file, or change the folder.
"""

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from client import BINARY, ROOT, Server

README = (ROOT / "README.md").read_text(encoding="utf-8")
ORIGIN = "http://127.0.0.1:8080"  # where `make run` serves

# Variables that the shell changes with every statement.
VOLATILE = r"^declare \S+ (_|BASH_\w+|LINENO|RANDOM|SRANDOM|SECONDS|EPOCH\w+|PIPESTATUS|FUNCNAME|PWD|OLDPWD)\b"


@dataclass
class Statement:
    line: int  # in README.md
    text: str
    prints: list[str] = field(default_factory=list)


def blocks(kind: str) -> list[tuple[int, list[str]]]:
    """The code blocks of a kind, as (line number of the first line, lines)."""
    found = []
    for block in re.finditer(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        found.append((README.count("\n", 0, block.start(1)) + 1, block[1].splitlines()))
    return found


def is_whole(text: str) -> bool:
    """Whether bash accepts the text as complete."""
    if text.endswith("\\"):
        return False
    return subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True).returncode == 0


def statements() -> list[Statement]:
    found: list[Statement] = []
    for first, lines in blocks("sh tour"):
        begun: list[str] = []
        for number, line in enumerate(lines, first):
            if line.startswith("#>"):
                assert found and not begun, f"README.md:{number} expects output of no statement"
                found[-1].prints.append(line.removeprefix("#>").removeprefix(" "))
            elif line.strip() or begun:
                begun.append(line)
                if is_whole("\n".join(begun)):
                    found.append(Statement(number - len(begun) + 1, "\n".join(begun)))
                    begun = []
        assert not begun, f"README.md: a statement of the block at line {first} is incomplete"
    return found


def script(tour: list[Statement], url: str, folder: Path) -> str:
    """A script that runs all statements, and writes the output, exit status and shell state after each to files."""
    # The state is printed by a subshell, which cannot change it.
    state = f"(declare -p | grep -Ev '{VOLATILE}'; declare -f; pwd; find . -type f -exec sha256sum {{}} +)"
    parts = [f"{state} > {folder}/0.state"]
    for index, statement in enumerate(tour, 1):
        text = statement.text.replace(ORIGIN, url)
        parts.append(f"{{ {text}\n}} > {folder}/{index}.out 2> {folder}/{index}.err")
        parts.append(f"echo $? > {folder}/{index}.status; {state} > {folder}/{index}.state")
    return "\n".join(parts) + "\n"


def matches(printed: str, expected: list[str]) -> bool:
    pattern = "\n".join(".*".join(re.escape(part) for part in line.split("…")) for line in expected)
    return re.fullmatch(pattern + "\n" if expected else "", printed) is not None


@pytest.fixture(scope="module")
def toured(tmp_path_factory) -> tuple[list[Statement], Path]:
    """The statements of the tour after running it, and the folder with the results."""
    tour = statements()
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("tour")
    with Server() as server:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home), "LC_ALL": "C.UTF-8"}
        text = script(tour, server.url, folder)
        subprocess.run(["bash"], input=text, text=True, cwd=home, env=environment, timeout=60)
    return tour, folder


def test_the_tour_covers_the_main_features():
    """It goes from sign-up to a conflict of two devices."""
    tour = statements()
    assert len(tour) > 15 and sum(len(statement.prints) for statement in tour) > 10
    text = "\n".join(statement.text for statement in tour)
    assert text.count(ORIGIN) == 1
    for part in ("/v1/accounts", "/v1/devices", "/v1/notes", "/v1/sync", "/edits", "digest"):
        assert part in text
    assert any("merged" in line for statement in tour for line in statement.prints)
    # Blocks with a similar info string would not be executed.
    assert len(re.findall(r"^```.*tour", README, re.MULTILINE)) == len(blocks("sh tour"))
    assert README.count("\n#>") == sum(len(statement.prints) for statement in tour)


LINES = [f"line {statement.line}" for statement in statements()]


@pytest.mark.parametrize("index", range(1, len(LINES) + 1), ids=LINES)
def test_statement(toured, index):
    tour, folder = toured
    statement = tour[index - 1]

    def read(what: str, number: int = index) -> str:
        path = folder / f"{number}.{what}"
        assert path.exists(), f"the tour ended before README.md:{statement.line}"
        return path.read_text(encoding="utf-8")

    context = f"README.md:{statement.line}\n{statement.text}\n{read('err')}"
    assert (read("status"), read("err")) == ("0\n", ""), context
    assert matches(read("out"), statement.prints), f"{context}\nprinted:\n{read('out')}\nexpected: {statement.prints}"
    assert statement.prints or read("state") != read("state", index - 1), f"{context}\nhas no effect"


COMMANDS = [line for _, lines in blocks("sh") for line in lines if line.strip()]


@pytest.mark.parametrize("line", COMMANDS)
def test_other_commands_exist(line):
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
