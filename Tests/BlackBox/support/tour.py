"""Executes the tours in README.md and in pages of docs/ with bash against a new server.

A tour consists of all blocks of a page that begin with ```sh tour, executed in order in one shell. Lines that begin with `#>` are
the complete output of the statement before them. `…` in such a line matches anything. A statement without such lines must
print nothing and have an effect: set a variable, define a function, write a file, or change the folder.
"""

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from client import ROOT, Server

ORIGIN = "http://127.0.0.1:8080"  # where `make run` serves

# Variables that the shell changes with every statement.
VOLATILE = r"^declare \S+ (_|BASH_\w+|LINENO|RANDOM|SRANDOM|SECONDS|EPOCH\w+|PIPESTATUS|FUNCNAME|PWD|OLDPWD)\b"


@dataclass
class Statement:
    line: int  # in the page
    text: str
    prints: list[str] = field(default_factory=list)


def is_whole(text: str) -> bool:
    """Whether bash accepts the text as complete."""
    if text.endswith("\\"):
        return False
    return subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True).returncode == 0


def matches(printed: str, expected: list[str]) -> bool:
    pattern = "\n".join(".*".join(re.escape(part) for part in line.split("…")) for line in expected)
    return re.fullmatch(pattern + "\n" if expected else "", printed) is not None


class Tour:
    """The tour of a page."""

    def __init__(self, page: str):
        self.page = page
        self.source = (ROOT / page).read_text(encoding="utf-8")
        self.statements = self._statements()

    def blocks(self, kind: str) -> list[tuple[int, list[str]]]:
        """The code blocks of a kind, as (line number of the first line, lines)."""
        found = []
        for block in re.finditer(rf"^```{kind}\n(.*?)^```$", self.source, re.MULTILINE | re.DOTALL):
            found.append((self.source.count("\n", 0, block.start(1)) + 1, block[1].splitlines()))
        return found

    def _statements(self) -> list[Statement]:
        found: list[Statement] = []
        for first, lines in self.blocks("sh tour"):
            begun: list[str] = []
            for number, line in enumerate(lines, first):
                if line.startswith("#>"):
                    assert found and not begun, f"{self.page}:{number} expects output of no statement"
                    found[-1].prints.append(line.removeprefix("#>").removeprefix(" "))
                elif line.strip() or begun:
                    begun.append(line)
                    if is_whole("\n".join(begun)):
                        found.append(Statement(number - len(begun) + 1, "\n".join(begun)))
                        begun = []
            assert not begun, f"{self.page}: a statement of the block at line {first} is incomplete"
        return found

    def script(self, url: str, folder: Path) -> str:
        """A script that runs all statements, and writes the output, exit status and shell state after each to files."""
        # The state is printed by a subshell, which cannot change it.
        state = f"(declare -p | grep -Ev '{VOLATILE}'; declare -f; pwd; find . -type f -exec sha256sum {{}} +)"
        parts = [f"{state} > {folder}/0.state"]
        for index, statement in enumerate(self.statements, 1):
            text = statement.text.replace(ORIGIN, url)
            parts.append(f"{{ {text}\n}} > {folder}/{index}.out 2> {folder}/{index}.err")
            parts.append(f"echo $? > {folder}/{index}.status; {state} > {folder}/{index}.state")
        return "\n".join(parts) + "\n"

    def run(self, home: Path, folder: Path) -> None:
        """Runs the tour in the folder `home`. The results are in `folder`."""
        with Server(environment={"HESPER_WEBHOOK_NETWORKS": "127.0.0.1"}) as server:
            environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home), "LC_ALL": "C.UTF-8"}
            text = self.script(server.url, folder)
            subprocess.run(["bash"], input=text, text=True, cwd=home, env=environment, timeout=60)

    def check(self, index: int, folder: Path) -> None:
        """Checks the result of a statement; the first has the index 1."""
        statement = self.statements[index - 1]

        def read(what: str, number: int = index) -> str:
            path = folder / f"{number}.{what}"
            assert path.exists(), f"the tour ended before {self.page}:{statement.line}"
            return path.read_text(encoding="utf-8")

        context = f"{self.page}:{statement.line}\n{statement.text}\n{read('err')}"
        assert (read("status"), read("err")) == ("0\n", ""), context
        assert matches(read("out"), statement.prints), f"{context}\nprinted:\n{read('out')}\nexpected: {statement.prints}"
        assert statement.prints or read("state") != read("state", index - 1), f"{context}\nhas no effect"

    def check_form(self) -> None:
        """Checks that no block is left out because of a similar info string."""
        assert sum(statement.text.count(ORIGIN) for statement in self.statements) == 1
        assert len(re.findall(r"^```.*tour", self.source, re.MULTILINE)) == len(self.blocks("sh tour"))
        assert self.source.count("\n#>") == sum(len(statement.prints) for statement in self.statements)
