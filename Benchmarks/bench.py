"""Measures all rows, or the given ones: `bench.py [ROW…]`. Each figure is measured ROUNDS times (default 5)."""

import sys
import time
import traceback

import attachment_bytes
import durable_pushes
import listeners
import neighbours
import postgres_rows
import report
import tail
from client_library import client_library
from first_sync import first_sync
from growth import growth
from machine import WORK, fdatasync_cost
from nothing_changed import nothing_changed
from text_quality import text_quality
from web_app import web_app

ROWS = {
    "one-note": durable_pushes.one_note,
    "slow-disk": durable_pushes.one_note_slow_disk,
    "five-hundred": durable_pushes.five_hundred_notes,
    "ten-thousand": durable_pushes.ten_thousand_notes,
    "first-sync": first_sync,
    "nothing-changed": nothing_changed,
    "growth": growth,
    "download": attachment_bytes.download,
    "upload": attachment_bytes.upload,
    "latency": listeners.latency,
    "fan-out": listeners.fan_out,
    "idle": listeners.idle,
    "web-app": web_app,
    "client": client_library,
    "text-quality": text_quality,
    "postgres-one-note": postgres_rows.one_note,
    "postgres-five-hundred": postgres_rows.five_hundred_notes,
    "postgres-first-sync": postgres_rows.first_sync,
    "postgres-accounts": postgres_rows.accounts,
    "tail": tail.tail,
    "postgres-tail": tail.postgres_tail,
    "neighbours": neighbours.neighbours,
    "postgres-neighbours": neighbours.postgres_neighbours,
}


def main() -> int:
    chosen = sys.argv[1:] or list(ROWS)
    if unknown := [name for name in chosen if name not in ROWS]:
        print(f"bench: unknown rows {', '.join(unknown)}. The rows are {', '.join(ROWS)}", file=sys.stderr)
        return 2
    WORK.mkdir(parents=True, exist_ok=True)
    began, rows, tables, failed = time.monotonic(), [], [], []
    for name in chosen:
        print(f"==> {name} (one fdatasync takes {fdatasync_cost():.2f} ms)", flush=True)
        try:
            for result in ROWS[name]():
                if isinstance(result, report.Table):
                    tables.append(result)
                    print(result.text, flush=True)
                else:
                    rows.append(result)
                    print(result.line, flush=True)
        except Exception:  # Continue with the other rows.
            traceback.print_exc()
            failed.append(name)
    if chosen == list(ROWS):
        report.write(rows, tables, time.monotonic() - began)
        print(f"bench: wrote {report.RESULTS}")
    else:
        print("bench: RESULTS.md is written only if all rows are measured")
    if failed:
        print(f"bench: failed rows: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
