"""A PostgreSQL server for the benchmarks, and the speed of our SQL statements on it without Hesper."""

import json
import os
import re
import subprocess
from urllib.parse import unquote, urlsplit

from machine import TOOLS, WORK
from postgres import PostgreSQL, name_in, programs
from statements import session, statement

# The defaults of Debian's packages. Unlike in the tests, commits wait for the disk. Listed in RESULTS.md.
SETTINGS = [
    "fsync = on",
    "synchronous_commit = on",
    "full_page_writes = on",
    "shared_buffers = 128MB",
    "max_connections = 100",
]

DATE = "2026-11-21T08:47:12.345Z"
CLOCK = f"{DATE}-0003-9f86d081884c7d65"
TEXT = "".join(" " if i % 6 == 5 else chr(ord("a") + i % 23) for i in range(500))
BODY = (
    f'{{"uniqueID":"00000000-0000-4000-8000-000000000000","creationDate":"{DATE}","text":"{TEXT}","archived":false,'
    f'"sortDate":"{DATE}","tags":[],"attachments":[],"attributes":{{}},"clocks":{{"text":"{CLOCK}","tags":{{}},'
    '"attachments":{},"attributes":{}}}'
)
PARCEL = f'[["creationDate",null,{{"date":"{DATE}"}}],["text","{CLOCK}","{TEXT}"]]'


def postgresql() -> PostgreSQL:
    """A PostgreSQL server on the disk of the other databases."""
    return PostgreSQL(SETTINGS)


def copy_of(postgres: PostgreSQL, address: str) -> str:
    """Copies a database without connections, and returns the address of the copy."""
    name = f"{name_in(address)}_copy"
    postgres.sql(f"CREATE DATABASE {name} TEMPLATE {name_in(address)}")
    return postgres.address(name)


def environment(address: str) -> dict[str, str]:
    """The environment for libpq, with the session settings of Hesper."""
    url = urlsplit(address)
    return {
        **os.environ,
        "PGHOST": url.hostname,
        "PGPORT": str(url.port),
        "PGUSER": url.username,
        "PGPASSWORD": unquote(url.password),
        "PGDATABASE": name_in(address),
        "PGSSLMODE": "disable",
        "PGOPTIONS": " ".join(f"-c {name}={value}" for name, value in session().items()),
    }


def script(scope: str) -> str:
    """A pgbench script that pushes one new note: BEGIN, the lock, and the other statements in one pipeline.

    pgbench has no UUIDs, so they are created from large integers.
    """
    note = "ARRAY[(lpad(to_hex(:high::bigint), 16, '0') || lpad(to_hex(:low::bigint), 16, '0'))::uuid]"
    scopes, clock = "ARRAY[:scope::bigint]", "ARRAY[:clock::bytea]"
    date = "ARRAY['2026-11-21 08:47:12.345Z'::timestamptz]"
    statements = {
        "lock": [scopes],
        "states": [scopes, note, str(32 << 20)],
        "insertObjects": [scopes, note, "ARRAY[0]", "ARRAY['note']", "ARRAY[:next::bigint]", f"ARRAY[{len(BODY)}]",
                          clock, "ARRAY[:body::json]"],
        "insertParcels": [scopes, "ARRAY[:number::bigint]", note, "ARRAY[:next::bigint]", "ARRAY['note']",
                          "ARRAY[false]", "ARRAY[false]", clock, clock, clock, "ARRAY[NULL]", "ARRAY[:parcel::json]",
                          "ARRAY[NULL]", "ARRAY[:node::bytea]", "ARRAY[2596069104::bigint]", "ARRAY[NULL]", date],
        "advance": [scopes, "ARRAY[:next::bigint]", clock, clock, clock, "ARRAY[:number::bigint]",
                    f"ARRAY[{len(PARCEL)}::bigint]"],
    }  # fmt: skip

    def sql(name: str) -> str:
        values = statements[name]
        return re.sub(r"\$(\d+)", lambda match: values[int(match.group(1)) - 1], statement("Postgres", name))

    largest = 9 * 10**18
    return f"""
\\set scope {scope}
\\set high random(0, {largest})
\\set low random(0, {largest})
BEGIN ISOLATION LEVEL READ COMMITTED;
{sql("lock")} \\gset
\\set next :sequence + 1
\\set number :last_edit + 1
\\startpipeline
{sql("states")};
{sql("insertObjects")};
{sql("insertParcels")};
{sql("advance")};
COMMIT;
\\endpipeline
"""


def pgbench(address: str, scope: str, clients: int, seconds: int) -> float:
    """Runs pgbench and returns commits per second, each a push of one new note. `scope` is a pgbench expression."""
    file = WORK / "push.sql"
    file.write_text(script(scope))
    constants = {
        "clock": "\\x0000019abcdef012000300ff00ff00ff", "node": "\\x9f86d081884c7d65", "body": BODY, "parcel": PARCEL,
    }  # fmt: skip
    command = [programs() / "pgbench", "-n", "-M", "prepared", "-c", clients, "-j", 2, "-T", seconds, "-f", file]
    for name, value in constants.items():
        command += ["-D", f"{name}={value}"]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=600, env=environment(address)
    )
    rate = re.search(r"^tps = ([0-9.]+)", done.stdout, re.MULTILINE)
    if done.returncode or not rate or not re.search(r"number of failed transactions: 0 ", done.stdout):
        raise RuntimeError(f"pgbench: {done.stdout} {done.stderr}")
    return float(rate.group(1))


def yardstick(address: str, *arguments: str | int) -> dict:
    """Runs postgres.c."""
    done = subprocess.run(
        [str(TOOLS / "postgres"), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment(address),
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)
