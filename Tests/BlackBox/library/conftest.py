"""Fixtures of the tests of the Swift library: apps on it, beside devices of Device."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from client import Server
from device import Device
from library_device import LibraryDevice, Make, library_devices


# Beginnings of the names of tests that concern the server more than the library, or that differ little from others.
THOROUGH = (
    "test_case_03", "test_case_04", "test_case_05", "test_case_07", "test_case_09", "test_case_14", "test_case_15", "test_case_16",
    "test_case_24_edits", "test_case_24_a_token_that_the_restored_sequence_has_passed[the library is A]", "test_case_36",
    "test_case_30_two_tags_of_a_note_are_merged[y removed last-False]",
    "test_case_30_two_tags_of_a_note_are_merged[x added last", "test_case_34_pushes_arrive_in_reverse_order[keep me",
    "test_case_34_pushes_arrive_in_reverse_order[Dear Ann", "test_case_34_pushes_arrive_in_reverse_order[x",
    "test_a_damaged_write_ahead_log", "test_unsent_text_based_on", "test_a_rescue_is_restored", "test_twenty_texts_in_flight",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and is_thorough(item.name):
            item.add_marker("thorough")


def is_thorough(name: str) -> bool:
    # The token that the sequence has passed is B's.
    is_other_role = "the library is B" in name and not name.startswith("test_case_24_a_token")
    return name.startswith(THOROUGH) or is_other_role


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Make]:
    with library_devices(tmp_path / "library") as make:
        yield make


@pytest.fixture
def pair_with(server: Server, library: Make) -> Callable[..., list]:
    """`pair_with(wall=ms)` returns an app with an offset of its wall clock, A, and a Device, B, of one account."""

    def make(wall: int = 0) -> list[LibraryDevice | Device]:
        client = server.client(device_name="B")
        return [library(server, client.email, wall=wall), Device(client)]

    return make


@pytest.fixture
def pair(pair_with) -> list[LibraryDevice | Device]:
    return pair_with()


@pytest.fixture
def devices(server: Server, library: Make) -> Callable[[int], list]:
    """`devices(3)` returns an app, a Device, and another app, of one account."""

    def make(count: int) -> list[LibraryDevice | Device]:
        client = server.client(device_name="B")
        made = [library(server, client.email) for _ in range(count - 1)]
        return [made[0], Device(client), *made[1:]]

    return make


@pytest.fixture(scope="module", params=[0, 1], ids=["the library is A", "the library is B"])
def pair_on(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Server], list]]:
    """`pair_on(server)` returns an app and a Device of a new account on this server."""
    with library_devices(tmp_path_factory.mktemp("library")) as library:

        def make(server: Server) -> list[LibraryDevice | Device]:
            client = server.client(device_name="Device")
            pair = [library(server, client.email), Device(client)]
            return pair if request.param == 0 else pair[::-1]

        yield make
