"""Reads the statements that a PostgreSQL server executed from its log."""

import re
from dataclasses import dataclass

from postgres import PostgreSQL

# Settings that log every statement with its application name and database.
SETTINGS = ["log_statement = all", "log_line_prefix = '%a|%d|'"]
LINE = re.compile(r"^(?P<application>[^|\n]*)\|(?P<database>[^|\n]*)\|LOG:  (?:execute \S+|statement): ", re.MULTILINE)


@dataclass
class Statements:
    """The statements that one server has logged since `forget`."""

    server: PostgreSQL
    start: int = 0

    def __post_init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.start = len(self._log())

    def of(self, application: str) -> list[str]:
        """The statements of connections with this application name."""
        log = self._log()[self.start :]
        found = list(LINE.finditer(log))
        ends = [*[match.start() for match in found[1:]], len(log)]
        return [
            re.split(r"\n\S*\|", log[match.end() : end])[0].strip()
            for match, end in zip(found, ends, strict=False)
            if match["application"] == application
        ]

    def _log(self) -> str:
        return (self.server.folder / "data/log").read_text(errors="replace")
