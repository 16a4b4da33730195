"""100,000 objects of an app's own type in an app on the Swift library."""

import time

import pytest
from client import Server
from library_device import LibraryDevice, Make

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(3_600)]

COUNT = 100_000
# A push has at most 1,500 objects or 4 MiB, a page 500 objects, and each is in memory several times: as rows, as JSON, as a request
# or response. A debug build took 77 MiB. All objects together would take several hundred.
MAX_MEMORY = 150 << 20


def memory(device: LibraryDevice) -> int:
    """The largest resident size of the app so far."""
    with open(f"/proc/{device.app.process.pid}/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


def test_100_000_objects(server: Server, library: Make):
    email = server.client().email
    a, b = library(server, email, direct=True), library(server, email, direct=True)

    def measured(what: str, device: LibraryDevice, action, *arguments) -> None:
        began = time.monotonic()
        action(*arguments)
        print(f"{what}: {time.monotonic() - began:.1f} s, {memory(device) >> 20} MiB")

    def sync(device: LibraryDevice) -> None:
        device.go_online()
        status = device.app.call("sync", seconds=1_800)
        device.go_offline()
        assert (status["phase"], status["isIdentical"]) == ("synced", True), status

    measured("insert", a, lambda: a.app.call("makeContacts", count=COUNT))
    measured("send", a, sync, a)
    measured("fetch", b, sync, b)
    for device in (a, b):
        assert device.app.call("count", type="contact") == COUNT
        assert memory(device) < MAX_MEMORY, f"{memory(device) >> 20} MiB"
        assert not device.has_unsent
        assert device.digest == device.meta("sync")["digest"] == a.digest
    # The digest of the file's rows, computed independently.
    assert b.copy.digest == b.digest
