"""`hesper restore --salvage` restores the readable part of a damaged backup, and devices send the rest."""

import copy
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from attachments import attach, download, some_bytes
from backups import back_up, bytes_in, database, restore
from client import PASSWORD, Client, ErrorResponse, Server
from convergence import history, settle
from device import Device
from runner import FAILED, run

pytestmark = pytest.mark.long

PAGE = 4096
PICTURES = [some_bytes(size, size) for size in (1, 5_000, 40_000, 200_000)]


class Household:
    """Two devices of one account, with notes of different sizes, histories, tags, deletions and pictures."""

    def __init__(self, server: Server, random: Random, count: int = 80):
        self.phone = Device(server.client(email="ada@example.org", device_name="phone"))
        self.laptop = Device(self.phone.client.another_device())
        tags = [self.phone.make_tag(f"tag {number}") for number in range(20)]
        notes = [
            self.phone.make_note(f"{number} " + "words " * random.choice([1, 20, 300, 4_000]), tags=[random.choice(tags)])
            for number in range(count)
        ]
        self.pictures = {attach(self.phone.client, data): data for data in PICTURES}
        for picture in self.pictures:
            self.phone.edit(random.choice(notes), f"attachments.{picture}", True)
        self.phone.sync()
        for _ in range(count // 3):
            self.phone.write(random.choice(notes), "written again " + "x" * random.randrange(3_000))
            self.phone.sync()
        settle(self.phone, self.laptop)
        for note in random.sample(notes, count // 10):
            self.laptop.delete(note)
        self.laptop.rename(tags[0], "renamed")
        self.laptop.delete(tags[1])
        for note in random.sample(sorted(self.laptop.notes), 10):
            self.laptop.archive(note)
        settle(self.phone, self.laptop)
        self.notes, self.digest = self.phone.notes, self.phone.copy.digest

    def reconnect(self, server: Server) -> None:
        """Signs in and syncs as devices do after a restore (clients.md). The devices have the bytes of all pictures."""
        for device in (self.phone, self.laptop):
            device.client.url = server.url
            device.client.sign_in("ada@example.org")
        for picture, data in self.pictures.items():
            path = f"/v1/attachments/{picture}/data"
            if self.phone.client.request("HEAD", path).status_code == 404:
                assert self.phone.client.put(path, data=data).status_code == 201
        settle(self.phone, self.laptop)

    def check_complete(self) -> None:
        for device in (self.phone, self.laptop):
            assert device.notes == self.notes
            assert device.copy.digest == self.digest
            assert device.rejected == []
        for picture, data in self.pictures.items():
            assert download(self.laptop.client, picture) == data


@dataclass
class Original:
    """A household, the backup of its server, and the server's data folder. Tests use copies."""

    household: Household
    backup: Path
    data: Path


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, everything: bool) -> Iterator[Original]:
    backup = tmp_path_factory.mktemp("original") / "backup"
    with Server() as server:
        household = Household(server, Random(1), count=150 if everything else 80)
        back_up(server, backup)
        server.stop()
        yield Original(household, backup, server.data)


@pytest.fixture
def household(original: Original) -> Household:
    return copy.deepcopy(original.household)


@pytest.fixture
def backup(original: Original, tmp_path: Path) -> Path:
    return shutil.copytree(original.backup, tmp_path / "backup")


def damage_pages(path: Path, random: Random, share: float, spare: set[int] = frozenset()) -> list[int]:
    """Overwrites random pages, completely or partly, with zeros or random bytes. Returns their numbers."""
    numbers = [number for number in range(1, path.stat().st_size // PAGE + 1) if number not in spare]
    chosen = sorted(random.sample(numbers, max(1, int(len(numbers) * share))))
    with path.open("r+b") as file:
        for number in chosen:
            start = random.choice([0, 0, random.randrange(PAGE - 64)])
            count = random.choice([PAGE - start, random.randrange(1, PAGE - start)])
            file.seek((number - 1) * PAGE + start)
            file.write(random.choice([bytes(count), random.randbytes(count)]))
    return chosen


def pages_of(path: Path, *names: str) -> set[int]:
    """The root pages of tables and indexes."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as opened:
        roots = dict(opened.execute("SELECT name, rootpage FROM sqlite_schema"))
    return {roots[name] for name in names}


def overwrite(path: Path, pages: set[int]) -> None:
    with path.open("r+b") as file:
        for number in pages:
            file.seek((number - 1) * PAGE)
            file.write(b"\xff" * PAGE)


def salvage(backup: Path, data: Path) -> str:
    """Salvages a backup that a normal restore refuses. Checks the result. Returns the report of lost data."""
    refused = restore(backup, data)
    assert refused.returncode == FAILED
    assert "Use hesper restore --salvage to restore everything that is not damaged." in refused.stderr
    assert not data.exists()
    done = restore(backup, data, "--salvage")
    assert done.returncode in (0, FAILED), done.stderr
    assert done.stdout.startswith("Restored "), done.stderr
    assert (done.returncode == FAILED) == (done.stderr != "")
    checked = run(backup.parent, "check", "--data", data)
    assert checked.returncode == 0, checked.stdout
    return done.stderr


def new_device(server: Server, email: str = "ada@example.org") -> Device:
    """A device with an empty copy, synced. It shows what the server has."""
    client = Client(server.url)
    client.sign_in(email)
    device = Device(client)
    device.sync()
    return device


@pytest.mark.parametrize("share", [pytest.param(0.01, marks=pytest.mark.thorough), 0.05, pytest.param(0.2, marks=pytest.mark.thorough), 0.6])
def test_devices_restore_the_content_of_damaged_pages(
    household: Household, backup: Path, tmp_path: Path, seed: int, share: float
) -> None:
    random = Random(seed)
    # Without the page of accounts, a new password is needed, which another test covers.
    spare = pages_of(database(backup), "accounts")
    damaged = damage_pages(database(backup), random, share, spare)
    print("damaged pages:", damaged)
    bytes_in(backup, PICTURES[2]).write_bytes(b"?" * len(PICTURES[2]))
    bytes_in(backup, PICTURES[3]).unlink()
    print(salvage(backup, tmp_path / "data"))
    with Server(tmp_path / "data") as server:
        if share < 0.1:
            reader = new_device(server)
            assert len(reader.notes) > len(household.notes) / 2
        household.reconnect(server)
        household.check_complete()
        assert server.command("check").stdout.endswith(": no problems found.\n")


def test_only_damaged_attachments_are_lost(household: Household, backup: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    bytes_in(backup, PICTURES[1]).write_bytes(b"?" * len(PICTURES[1]))
    bytes_in(backup, PICTURES[3]).unlink()
    said = salvage(backup, data)
    lost = [picture for picture, content in household.pictures.items() if content in (PICTURES[1], PICTURES[3])]
    assert len(said.splitlines()) == 2
    assert all(picture in said for picture in lost)
    with Server(data) as server:
        household.reconnect(server)
        household.check_complete()
        assert server.command("check").returncode == 0


TREES = ["objects", "edits", "sqlite_schema"]
OTHER_TREES = ["tombstones", "blobs", "scopes", "memberships", "memberships_scope", "installation"]


@pytest.mark.parametrize("tree", [*TREES, *(pytest.param(tree, marks=pytest.mark.thorough) for tree in OTHER_TREES)])
def test_a_lost_root_page(household: Household, backup: Path, tmp_path: Path, tree: str) -> None:
    """The pages that it refers to are found without it."""
    data = tmp_path / "data"
    pages = {1} if tree == "sqlite_schema" else pages_of(database(backup), tree)
    overwrite(database(backup), pages)
    salvage(backup, data)
    with Server(data) as server:
        if tree in TREES:
            reader = new_device(server)
            assert reader.notes == household.notes
        household.reconnect(server)
        household.check_complete()
        assert server.command("check").returncode == 0


def test_an_account_with_a_lost_row(household: Household, backup: Path, tmp_path: Path) -> None:
    """Its address is also in an index. Its password hash is lost."""
    data = tmp_path / "data"
    overwrite(database(backup), pages_of(database(backup), "accounts"))
    said = salvage(backup, data)
    assert "ada@example.org: the account's row is lost. Set a password: hesper account reset-password" in said
    with Server(data) as server:
        with pytest.raises(ErrorResponse):
            new_device(server)
        done = server.command("account", "set-password", "ada@example.org", input=PASSWORD + "\n")
        assert done.returncode == 0, done.stderr
        household.reconnect(server)
        household.check_complete()
        assert server.command("check").returncode == 0


def test_notes_are_not_assigned_to_a_guessed_account(household: Household, backup: Path, tmp_path: Path) -> None:
    """Without schema and memberships, the account stays empty until devices fill it. The notes are in a separate account."""
    data = tmp_path / "data"
    overwrite(database(backup), {1} | pages_of(database(backup), "memberships", "memberships_scope"))
    said = salvage(backup, data)
    assert "ada@example.org: the objects of this account could not be identified. The account is empty." in said
    assert "hesper account reset-password account-1@salvage.invalid" in said
    with Server(data) as server:
        assert new_device(server).notes == {}
        done = server.command("account", "set-password", "account-1@salvage.invalid", input=PASSWORD + "\n")
        assert done.returncode == 0, done.stderr
        assert new_device(server, "account-1@salvage.invalid").notes == household.notes
        household.reconnect(server)
        household.check_complete()


def test_a_backup_without_its_description(household: Household, original: Original, backup: Path, tmp_path: Path) -> None:
    """The database is sound but cannot be verified. Every row is read from its page, and nothing is lost."""
    data = tmp_path / "data"
    notes = sorted(household.notes)[:20]
    with Server(shutil.copytree(original.data, tmp_path / "copy")) as server:
        household.phone.client.url = server.url
        histories = [history(household.phone, note) for note in notes]
        other = Device(server.client(email="eve@example.org"))
        other.make_note("of another account")
        other.sync()
        back_up(server, backup)
    (backup / "backup.json").write_text("{")
    refused = restore(backup, data)
    assert refused.returncode == FAILED and "is not a backup manifest." in refused.stderr
    done = restore(backup, data, "--salvage")
    assert done.stderr.count("\n") == 1 and done.stderr.endswith(" Using the newest database in the backup.\n")
    assert run(tmp_path, "check", "--data", data).stdout == "Checked 2 accounts: no problems found.\n"
    with Server(data) as server:
        reader = new_device(server)
        assert (reader.notes, reader.copy.digest) == (household.notes, household.digest)
        assert [history(reader, note) for note in notes] == histories
        assert list(new_device(server, "eve@example.org").notes.values()) == list(other.notes.values())
        assert {attachment: download(reader.client, attachment) for attachment in household.pictures} == household.pictures
        found = reader.client.get("/v1/search", params={"q": "written again"}).json()
        assert found["results"]
        household.reconnect(server)
        household.check_complete()
