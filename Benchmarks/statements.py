"""The statements of a push, from the Swift sources, so that what stands beside our figures plays what the server plays.

Run, it writes statements.h for yardstick.c and postgres.c.
"""

import re
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "Sources"
SQLITE = ["lock", "object", "tombstone", "insertObject", "insertParcel", "advance"]
POSTGRES = ["lock", "states", "insertObjects", "insertParcels", "advance"]
SETTINGS = {"writerCache": "WRITER_CACHE", "checkpointPages": "CHECKPOINT_PAGES"}
# What a session of ours is told that changes how statements are done.
SESSION = ["enable_seqscan", "enable_mergejoin", "enable_hashjoin", "jit", "plan_cache_mode"]


def found(pattern: str, file: str, what: str) -> str:
    match = re.search(pattern, (SOURCES / file).read_text(), re.DOTALL)
    if not match:
        sys.exit(f"statements.py: there is no {what} in {file} any more")
    return match.group(1)


def statement(store: str, name: str) -> str:
    """One of a store's PushStatements, on one line."""
    file = f"Hesper{store}/PushStatements.swift"
    sql = found(rf'static let {name} =\s*(""".*?"""|"[^"\n]*")', file, f"statement {name}")
    return " ".join(sql.strip('"').split())


def session() -> dict[str, str]:
    """Settings of a session on PostgreSQL, as our connections have them."""
    script = found(r'var sessionScript: String \{\s*"""(.*?)"""', "HesperPostgres/Client/PostgresSettings.swift", "script")
    settings = dict(re.findall(r"SET (\w+) = (\w+);", script))
    return {name: settings[name] for name in SESSION if name in settings}


def header() -> str:
    lines = ["/* Made by statements.py. */"]
    lines += [f'#define SQL_{name} "{statement("SQLite", name)}"' for name in SQLITE]
    lines += [f'#define POSTGRES_{name} "{statement("Postgres", name)}"' for name in POSTGRES]
    for name, macro in SETTINGS.items():
        value = found(rf"{name} = ([0-9_]+)", "HesperSQLite/Connections.swift", name)
        lines.append(f"#define {macro} {value.replace('_', '')}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(header())
