"""The machine that runs the benchmarks: hardware, versions, and current speed of the disk."""

import os
import platform
import re
import sqlite3
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / ".build/bench"
TOOLS = WORK / "tools"
SLOW = {"LD_PRELOAD": str(TOOLS / "slow-fsync.so")}


def output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=ROOT)
    return (done.stdout or done.stderr).strip()


def fdatasync_cost() -> float:
    """The current duration of an fdatasync on the disk of the databases, in milliseconds."""
    return float(output(str(TOOLS / "fdatasync"), str(WORK / "fdatasync.bin")))


def memory(pid: int, field: str) -> int:
    """A field of /proc/PID/status in bytes: VmRSS is the current value, VmHWM the peak."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE).group(1)) * 1024


def reset_peak(pid: int) -> None:
    """Resets VmHWM to VmRSS."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def description() -> list[str]:
    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    total = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text()).group(1)) / 1024 / 1024
    hummingbird = re.search(
        r'"identity" : "hummingbird",.*?"version" : "([^"]*)"', (ROOT / "Package.resolved").read_text(), re.DOTALL
    )
    return [
        f"Machine: {cpu.group(1) if cpu else platform.machine()}, {os.cpu_count()} "
        f"cores, {total:.0f} GiB, {platform.system()} {platform.release()};"
        " the load generator and every server share it.",
        f"Hesper at {output('git', 'rev-parse', '--short', 'HEAD')}, {output('swift', '--version').splitlines()[0]}, "
        f"SQLite {sqlite3.sqlite_version}, "
        f"{output('psql', '--version').removeprefix('psql ').replace('(PostgreSQL)', 'PostgreSQL')}, "
        f"{output(str(ROOT / '.build/venv/bin/pocketbase'), '--version')}, {output('/usr/sbin/nginx', '-v')}, "
        f"Hummingbird {hummingbird.group(1) if hummingbird else 'unknown'}, {output('chromium-headless-shell', '--version')}, "
        f"{output('git', '--version')}.",
    ]
