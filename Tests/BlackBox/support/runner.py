"""Runs the `hesper` command without HESPER_ variables in the environment, except a low password cost."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from client import BINARY, LOW_PASSWORD_COST

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("HESPER_")} | LOW_PASSWORD_COST
FAILED, WRONG_USAGE, WRONG_SETTING = 1, 64, 78

Hesper = Callable[..., subprocess.CompletedProcess]


def run(folder: Path, *arguments: object, stdin: str = "", **environment: str) -> subprocess.CompletedProcess:
    """Runs the command in a folder until it ends. The output is captured as text."""
    return subprocess.run(
        [str(BINARY), *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=folder,
        env=ENVIRONMENT | environment,
    )


@contextmanager
def serving(folder: Path, *arguments: str, **environment: str) -> Iterator[tuple[str, subprocess.Popen]]:
    """Runs a server on a port chosen by the system. Yields the URL that it prints, and the process. Its log is `folder/log`."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(BINARY), "serve", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=folder,
            env=ENVIRONMENT | environment,
        )
    try:
        line = process.stdout.readline()
        match = re.fullmatch(r"Hesper listens on (https?://\S+:\d+)\n", line)
        assert match, line + (folder / "log").read_text()
        yield match[1], process
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
