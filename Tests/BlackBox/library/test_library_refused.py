"""Changes and requests that the server refuses (clients.md, rules 9, 13 and 14): an app on the Swift library keeps everything."""

from collections.abc import Iterator

import pytest
from client import Server
from convergence import settle
from device import Device
from library_device import LibraryDevice, Make

KIB = "a" * 1024


@pytest.fixture(scope="module")
def small_server() -> Iterator[Server]:
    """A server with a quota of 20 KiB."""
    with Server(arguments=["--quota", "20KiB"]) as server:
        yield server


@pytest.fixture
def small(small_server: Server, library: Make) -> tuple[Server, LibraryDevice, Device]:
    """The server, an app and a Device."""
    client = small_server.client(device_name="B")
    return small_server, library(small_server, client.email), Device(client)


def status(device: LibraryDevice) -> tuple[str, str | None]:
    """The phase and the problem after a sync."""
    device.sync_with()
    return device.status["phase"], device.status["problem"]


def command(server: Server, *arguments: str) -> None:
    done = server.command("account", *arguments)
    assert done.returncode == 0, done.stderr


def test_a_full_account(small):
    server, a, b = small
    notes = [a.make_note(f"{n} {KIB}") for n in range(25)]
    assert status(a) == ("waiting", "storageFull")
    assert a.has_unsent and 7 <= len(a.new) <= 12 and not a.rejected
    assert len(a.notes) == 25
    b.sync()
    assert len(b.notes) == 25 - len(a.new)
    # Small changes of a note are sent although its text is refused.
    first = next(note for note in notes if note not in a.new)
    text = a.text(first)
    a.write(first, f"longer {KIB} {KIB}")
    a.archive(first)
    assert status(a) == ("waiting", "storageFull")
    b.sync()
    assert b.note(first)["archived"] and b.text(first) == text
    assert a.text(first) == f"longer {KIB} {KIB}"
    # Changes of other devices still arrive.
    other = next(note for note in notes if note not in a.new and note != first)
    b.write(other, "short")
    b.sync()
    assert status(a) == ("waiting", "storageFull")
    assert a.text(other) == "short"
    command(server, "set-quota", b.client.email, "10MiB")
    settle(a, b)
    assert len(b.notes) == 25 and b.text(first) == f"longer {KIB} {KIB}"


def test_a_disabled_account(small):
    server, a, b = small
    note = a.make_note("before")
    settle(a, b)
    command(server, "disable", b.client.email)
    a.write(note, "meanwhile")
    assert status(a) == ("waiting", "accountDisabled")
    assert a.text(note) == "meanwhile"
    command(server, "enable", b.client.email)
    settle(a, b)
    assert b.text(note) == "meanwhile"


def test_a_server_that_cannot_be_reached(small):
    server, a, b = small
    note = a.make_note("before")
    settle(a, b)
    server.stop()
    a.write(note, "meanwhile")
    assert status(a) == ("offline", "offline")
    assert a.text(note) == "meanwhile"
    server.start()
    settle(a, b)
    assert b.text(note) == "meanwhile"
