"""A machine to install packages on: this one, with all that is changed kept in memory and thrown away. Takes root."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

SETUP = """
set -e
mount -t tmpfs -o mode=755 tmpfs {folder}
mkdir {folder}/upper {folder}/work {folder}/root
mount -t overlay overlay -o lowerdir=/,upperdir={folder}/upper,workdir={folder}/work {folder}/root
mount -t proc proc {folder}/root/proc
mount --rbind /dev {folder}/root/dev
mount -t tmpfs tmpfs {folder}/root/run
mount -t tmpfs -o mode=1777 tmpfs {folder}/root/tmp
# Nobody who installs a package has the toolchain that built it.
mount -t tmpfs tmpfs {folder}/root{toolchain}
echo ready
exec sleep 600
"""


def toolchain_libraries() -> Path:
    return Path(shutil.which("swift")).resolve().parents[1] / "lib/swift"


class Machine:
    """Runs commands as root in a file system of its own; the network is this machine's."""

    def __init__(self, folder: Path):
        self.root = folder / "root"
        script = SETUP.format(folder=folder, toolchain=toolchain_libraries())
        self.keeper = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = self.keeper.stdout.readline()
        self.complaint = None if said == "ready\n" else said + self.keeper.communicate()[0]

    def close(self) -> None:
        self.keeper.kill()
        self.keeper.wait()
        self.keeper.stdout.close()

    def command(self, *words: object) -> list[str]:
        return ["nsenter", f"--target={self.keeper.pid}", "--mount", "chroot", str(self.root), *map(str, words)]

    def run(self, *words: object, stdin: str = "", **environment: str) -> subprocess.CompletedProcess:
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        return subprocess.run(
            self.command(*words), input=stdin, capture_output=True, text=True, timeout=120, env=clean | environment
        )

    def does(self, *words: object, **options) -> str:
        done = self.run(*words, **options)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def put(self, file: Path) -> str:
        """Copies a file of this machine; its path there."""
        self.does("sh", "-c", f"cat > /tmp/{file.name} < /proc/{os.getpid()}/root{file}")
        return f"/tmp/{file.name}"

    @contextlib.contextmanager
    def serving(self, port: int, seconds: float = 30):
        """The service as its unit starts it, but for what only systemd does."""
        settings = "HESPER_DATA=/var/lib/hesper HESPER_SIGN_UP=closed"
        drop = "setpriv --reuid=hesper --regid=hesper --clear-groups --no-new-privs"
        start = f"set -a; {settings}; . /etc/default/hesper; HESPER_PORT={port}; exec {drop} hesper serve"
        process = subprocess.Popen(
            self.command("sh", "-c", start),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/var/lib/hesper"},
        )
        try:
            first = process.stdout.readline()
            assert first.startswith("Hesper listens on "), first + process.stderr.read()
            yield process
            process.terminate()
            assert process.wait(seconds) == 0
        finally:
            process.kill()
            process.communicate()
