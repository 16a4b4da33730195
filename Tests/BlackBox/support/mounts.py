"""Small file systems, which a test can fill."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MEGABYTE = 1 << 20


def fill(ballast: Path) -> None:
    """Writes a file until the file system is full."""
    with ballast.open("wb", buffering=0) as file:
        for size in (MEGABYTE, 4_096):
            for _ in range(10_000):
                try:
                    file.write(bytes(size))
                except OSError as error:
                    assert error.errno == errno.ENOSPC, error
                    break


@contextmanager
def mounted(folder: Path, size: str = "32m", mode: str = "700") -> Iterator[Path]:
    """A mounted tmpfs. Skips the test if mounting is not possible."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode={mode}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("mounting a small disk needs root")
    made = subprocess.run(mount, capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"cannot mount a tmpfs: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def mounted_image(folder: Path, size: str = "32m") -> Iterator[Path]:
    """A mounted ext4 image. Skips the test if mounting is not possible."""
    if os.geteuid() != 0 or not shutil.which("mount") or not shutil.which("mkfs.ext4"):
        pytest.skip("mounting an image needs root and mkfs.ext4")
    image = folder.with_suffix(".image")
    subprocess.run(["truncate", "-s", size, image], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    made = subprocess.run(["mount", "-o", "loop", image, folder], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"cannot mount an image: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
