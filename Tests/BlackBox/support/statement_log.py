"""What a PostgreSQL was asked to do, as its own log tells it."""

import re
from dataclasses import dataclass

from postgres import PostgreSQL

# Settings with which a server tells every statement, and whose it is.
SETTINGS = ["log_statement = all", "log_line_prefix = '%a|%d|'"]
LINE = re.compile(r"^(?P<who>[^|\n]*)\|(?P<database>[^|\n]*)\|LOG:  (?:execute \S+|statement): ", re.MULTILINE)


@dataclass
class Statements:
    """Those of one server from now on."""

    server: PostgreSQL
    start: int = 0

    def __post_init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.start = len(self._log())

    def of(self, application: str) -> list[str]:
        """What connections of this name asked for since."""
        log = self._log()[self.start :]
        found = list(LINE.finditer(log))
        ends = [*[match.start() for match in found[1:]], len(log)]
        return [
            re.split(r"\n\S*\|", log[match.end() : end])[0].strip()
            for match, end in zip(found, ends, strict=False)
            if match["who"] == application
        ]

    def _log(self) -> str:
        return (self.server.folder / "data/log").read_text(errors="replace")
