"""Downloads of attachments compared with nginx, and uploads compared with `dd conv=fsync`."""

import re
import shutil
import subprocess
import time
from random import Random

from attachments import attach
from client import Server
from durable_pushes import fresh_folder
from load import Session, load, rounds, sign_up
from machine import WORK, fdatasync_cost, memory, reset_peak
from peers import Nginx
from report import Row

CONNECTIONS = 8
MEGABYTE = 1_000_000
UPLOADS = 200


def download() -> list[Row]:
    rows = []
    for size in (1, 100):
        work = f"download of {size} MB attachments, {CONNECTIONS} connections"
        row = Row(work, "nginx, the same files", "MB/s", 0.7 if size == 1 else 0.5)
        data = Random(size).randbytes(size * MEGABYTE)
        with Server(data=fresh_folder("download")) as server, Nginx({"file": data}) as nginx:
            server.own_data = True
            client = server.client()
            attachment = attach(client, data)
            for _ in range(rounds()):
                row.add(
                    wrk(f"{server.url}/v1/attachments/{attachment}/data", client.token),
                    wrk(f"http://127.0.0.1:{nginx.port}/file"),
                )
        rows.append(row)
    return rows


def wrk(url: str, token: str = "", seconds: int = 5) -> float:
    """Downloads in MB/s. The data is discarded."""
    command = ["wrk", "-t", "1", "-c", str(CONNECTIONS), "-d", str(seconds), "--timeout", "60s"]
    command += ["-H", f"Authorization: Bearer {token}"] if token else []
    done = subprocess.run([*command, url], capture_output=True, text=True, timeout=seconds + 120)
    if done.returncode or "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise RuntimeError(f"{done.stdout}{done.stderr}")
    number, unit = re.search(r"Transfer/sec:\s+([0-9.]+)([KMG]?B)", done.stdout).groups()
    return float(number) * {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}[unit] / MEGABYTE


def upload() -> list[Row]:
    row = Row(f"upload of 1 MB attachments, {CONNECTIONS} connections", "dd conv=fsync, 8 processes", "MB/s", 0.4)
    flat = Row("peak memory during an upload of 2 GB, above idle", "64 MB", "MB", 1, most=True)
    with Server(data=fresh_folder("upload"), arguments=["--quota", "none", "--attachment-size", "4GiB"]) as server:
        server.own_data = True
        owner = sign_up(server, 1)[0]
        sessions = [Session(owner.bearer) for _ in range(CONNECTIONS)]
        load("upload", server.port, sessions, requests=CONNECTIONS, size=MEGABYTE)
        for _ in range(rounds()):
            cost = fdatasync_cost()
            ours = load("upload", server.port, sessions, requests=UPLOADS, size=MEGABYTE)
            row.add(ours["rate"], dd(), cost)
        reset_peak(server.pid)
        idle = memory(server.pid, "VmRSS")
        load("upload", server.port, sessions[:1], requests=1, size=2_000 * MEGABYTE)
        flat.add((memory(server.pid, "VmHWM") - idle) / 2**20, 64)
    return [row, flat]


def dd() -> float:
    """Writes in MB/s: eight concurrent processes write the same data to files and sync each."""
    folder = WORK / "dd"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "bytes").write_bytes(Random(1).randbytes(MEGABYTE))
    loop = f"for i in $(seq {UPLOADS // CONNECTIONS}); do dd if=bytes of=$0-$i bs=1000000 conv=fsync status=none; done"
    began = time.monotonic()
    running = [subprocess.Popen(["sh", "-c", loop, str(index)], cwd=folder) for index in range(CONNECTIONS)]
    if any(process.wait(120) for process in running):
        raise RuntimeError("dd failed")
    took = time.monotonic() - began
    shutil.rmtree(folder)
    return UPLOADS / took
