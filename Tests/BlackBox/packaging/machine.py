"""An isolated machine to install packages on: this one, with all changes in memory and discarded at the end. Needs root."""

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
# Users of the package do not have the toolchain.
mount -t tmpfs tmpfs {folder}/root{toolchain}
echo ready
exec sleep 600
"""


def toolchain_libraries() -> Path:
    return Path(shutil.which("swift")).resolve().parents[1] / "lib/swift"


class Machine:
    """Runs commands as root in its own file system. It shares the network with the host."""

    def __init__(self, folder: Path):
        self.root = folder / "root"
        script = SETUP.format(folder=folder, toolchain=toolchain_libraries())
        self.keeper = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        output = self.keeper.stdout.readline()
        self.error = None if output == "ready\n" else output + self.keeper.communicate()[0]

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

    def check(self, *words: object, **options) -> str:
        done = self.run(*words, **options)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def put(self, file: Path) -> str:
        """Copies a file into the machine. Returns its path there."""
        self.check("sh", "-c", f"cat > /tmp/{file.name} < /proc/{os.getpid()}/root{file}")
        return f"/tmp/{file.name}"

    @contextlib.contextmanager
    def serving(self, port: int, seconds: float = 30):
        """Runs the service as its unit does, except for features of systemd."""
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
