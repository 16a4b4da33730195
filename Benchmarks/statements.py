"""Writes statements.h for yardstick.c from the Swift sources, so that the yardstick plays what the server plays."""

import re
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "Sources/HesperSQLite"
NEEDED = ["lock", "object", "tombstone", "insertObject", "insertParcel", "advance"]
SETTINGS = {"writerCache": "WRITER_CACHE", "checkpointPages": "CHECKPOINT_PAGES"}


def found(pattern: str, text: str, what: str) -> str:
    match = re.search(pattern, text, re.DOTALL)
    if not match:
        sys.exit(f"statements.py: there is no {what} in {SOURCES} any more")
    return match.group(1)


def header() -> str:
    statements = (SOURCES / "PushStatements.swift").read_text()
    connections = (SOURCES / "Connections.swift").read_text()
    lines = ["/* Made by statements.py. */"]
    for name in NEEDED:
        sql = found(rf'static let {name} =\s*(""".*?"""|"[^"\n]*")', statements, f"statement {name}")
        lines.append(f'#define SQL_{name} "{" ".join(sql.strip(chr(34)).split())}"')
    for name, macro in SETTINGS.items():
        lines.append(f"#define {macro} {found(rf'{name} = ([0-9_]+)', connections, name).replace('_', '')}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(header())
