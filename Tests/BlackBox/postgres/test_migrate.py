"""`hesper migrate-data`: moving an installation to PostgreSQL, as in operating.md (From SQLite to PostgreSQL)."""

import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from attachments import attach, download, some_bytes, upload
from client import BINARY, Client, Server
from convergence import read_history, settle
from device import Device
from postgres import PASSWORD as DATABASE_PASSWORD
from postgres import PostgreSQL, name_in, quote
from runner import ENVIRONMENT, FAILED, WRONG_SETTING, WRONG_USAGE, run

pytestmark = pytest.mark.long

SECRETS = [DATABASE_PASSWORD, quote(DATABASE_PASSWORD, safe="")]
# More notes than one transaction of a move contains.
MANY = 5_100


@dataclass
class Household:
    """An installation on SQLite with data: its folder and signed-in devices."""

    data: Path
    devices: list[Device] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)
    deleted: str = ""

    def fill(self, server: Server) -> None:
        """Creates three accounts and erases a fourth: one with two devices, one with many notes, one without notes."""
        phone = Device(server.client(email="ada@example.org", device_name="phone \N{SNOWMAN}"))
        laptop = Device(phone.client.another_device())
        self.devices = [phone, laptop]
        tags = [phone.make_tag(name) for name in ("Straße", "Home", "2025")]
        notes = [phone.make_note(f"Milk number {index}", tags=tags[: index % 3], pinned=True) for index in range(30)]
        phone.make_object("board", title="a board\0with nothing", n=1.5)
        settle(phone, laptop)
        for turn in range(3):
            phone.write(notes[0], f"Milk number 0\nfrom the phone {turn}\n")
            laptop.write(notes[0], f"from the laptop {turn}\nMilk number 0\n")
            laptop.archive(notes[1], turn % 2 == 0)
            settle(phone, laptop)
        phone.delete(notes[2])
        laptop.delete(tags[2])
        self.deleted = notes[2]
        for seed, size in enumerate((1, 1_000, 100_000)):
            data = some_bytes(size, seed)
            self.pictures[attach(phone.client, data)] = data
        phone.edit(notes[3], f"attachments.{next(iter(self.pictures))}", True)
        upload(phone.client, b"bytes without an attachment yet")
        assert self.retry().status_code == 201
        hook = phone.client.post("/v1/webhooks", {"url": "https://localhost/", "events": ["tag.deleted"], "tag": tags[0]}).json()
        assert phone.client.post(f"/v1/webhooks/{hook['uniqueID']}/test").json()["delivered"] is False
        assert phone.client.patch(f"/v1/webhooks/{hook['uniqueID']}", {"paused": True}).status_code == 200
        settle(phone, laptop)

        gone = Device(server.client(email="gone@example.org"))
        gone.make_note("erased")
        gone.sync()
        assert server.command("account", "delete", "gone@example.org", "--yes").returncode == 0

        bob = Device(server.client(email="bob@example.org"))
        for index in range(MANY):
            bob.make_note(f"note {index} of many")
        bob.sync()
        eve = Device(server.client(email="eve@example.org"))
        eve.sync()
        self.devices += [bob, eve]
        self.devices[0].client.get("/v1/search", params={"q": "milk"})

    def retry(self):
        """The same request each time: only the first creates a note."""
        client = self.devices[0].client
        return client.post("/v1/notes", {"text": "once"}, headers={"Idempotency-Key": "the-same"})

    def snapshot(self, server: Server) -> list:
        """Everything visible over HTTP, except the current time and the last use of devices."""
        seen = []
        for device in self.devices:
            client = device.client
            client.url = server.url
            found, answer = client.read_all(limit=700)
            devices = client.get("/v1/devices").json()["devices"]
            account = client.get("/v1/account").json()
            webhooks = client.get("/v1/webhooks").json()["webhooks"]
            seen.append(
                {
                    "pull": found,
                    "last answer": timeless(answer),
                    "digests": timeless(client.get("/v1/digests").json()),
                    "account": account,
                    "webhooks": webhooks,
                    "deliveries": [client.get(f"/v1/webhooks/{each['uniqueID']}/deliveries").json() for each in webhooks],
                    "devices": [timeless(row) for row in devices],
                    "history": {note["uniqueID"]: read_history(client, note["uniqueID"]) for note in found["notes"][:40]},
                    "deleted": client.get("/v1/recently-deleted").json(),
                    "feeds": [timeless(client.get(f"/v1/{feed}").json()) for feed in ("notes", "tags", "objects")],
                }
            )
        retry = self.retry()
        seen.append({name: retry.headers.get(name) for name in ("Location", "Idempotency-Replayed")})
        seen.append({picture: download(self.devices[0].client, picture) for picture in self.pictures})
        return seen


def timeless(answer: dict) -> dict:
    return {name: value for name, value in answer.items() if name not in ("serverClock", "lastUseDate")}


@pytest.fixture(scope="module")
def household(tmp_path_factory: pytest.TempPathFactory) -> tuple[Household, list]:
    """The stopped installation, and its snapshot. Tests that serve it use a copy."""
    household = Household(tmp_path_factory.mktemp("migrate") / "data")
    with Server(household.data) as server:
        household.fill(server)
        seen = household.snapshot(server)
    return household, seen


@pytest.fixture
def address(postgresql: PostgreSQL) -> Iterator[str]:
    """The URL of an empty database."""
    address = postgresql.database()
    yield address
    postgresql.drop(address)


def migrate(data: Path, address: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """Runs the migration. The password is only in the environment and must not be in the output."""
    arguments = ["migrate-data", "--from", f"sqlite:{data}", *arguments]
    done = run(data.parent, *arguments, HESPER_DATABASE=address, **environment)
    assert not any(secret in done.stdout + done.stderr for secret in SECRETS)
    return done


def test_everything_is_moved(household: tuple[Household, list], address: str, tmp_path: Path) -> None:
    """Tokens remain valid, all content is the same, and devices continue to sync."""
    house, seen = household
    moved = migrate(house.data, address)
    assert moved.returncode == 0, moved.stderr
    first, *more = moved.stdout.splitlines()
    assert first.startswith("Migrated 3 accounts with ") and first.endswith(" rows to PostgreSQL. Every row was compared.")
    assert more == [
        f"4 attachments in {house.data}/attachments: all present.",
        f"Start the server with HESPER_ATTACHMENTS={house.data}/attachments. "
        "If several servers use the database, they must share this folder, or use S3.",
        f"{house.data}/hesper.sqlite is unchanged. Archive it: changes made in one database do not reach the "
        "other.",
    ]
    with Server(tmp_path / "elsewhere", ["--attachments", str(house.data / "attachments")], database=address) as server:
        check_equal(house.snapshot(server), seen)
        check = server.command("check", "--attachments", str(house.data / "attachments"))
        assert (check.returncode, check.stdout.splitlines()[-1]) == (0, "Checked 3 accounts: no problems found.")
        phone, laptop, bob, _ = house.devices
        phone.client.wait_for_index()
        found = phone.client.get("/v1/search", params={"q": "milk", "limit": 50}).json()["results"]
        assert len(found) == 29
        for device in house.devices:
            assert not any(device.client.sync(since=device.token)["changes"].values())
        note = bob.make_note("the first after the move")
        bob.sync()
        changes = bob.client.get("/v1/changes", params={"since": token_in(seen, 2)}).json()["changes"]
        assert [one["uniqueID"] for one in changes["notes"]] == [note]
        laptop.write(laptop.make_note("of the laptop"), "of the laptop, edited")
        settle(phone, laptop)
        Client(server.url).sign_in("ada@example.org", device_name="a third one")
        Device(server.client(email="new@example.org")).sync()
        assert server.command("check", "--attachments", str(house.data / "attachments")).returncode == 0


def check_equal(found: list, seen: list) -> None:
    """Compares part by part, to keep failures readable."""
    for one, other in zip(found[:-1], seen[:-1], strict=True):
        for part, value in one.items():
            assert value == other[part], part
    assert found[-1] == seen[-1]


def token_in(seen: list, device: int) -> str:
    return seen[device]["last answer"]["syncToken"]


def start_move(data: Path, address: str) -> subprocess.Popen:
    return subprocess.Popen(
        [str(BINARY), "migrate-data", "--from", f"sqlite:{data}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=data.parent,
        env=ENVIRONMENT | {"HESPER_DATABASE": address},
    )  # fmt: skip


def blocked_move(postgresql: PostgreSQL, data: Path, address: str) -> subprocess.Popen:
    """A move that is blocked at Eve's scope, after two other scopes were committed."""
    name = name_in(address)
    with Server(database=address) as server:
        server.stop()
    postgresql.sql(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END'; "
        "CREATE TRIGGER wait BEFORE INSERT ON scopes FOR EACH ROW WHEN (NEW.sequence = 0) EXECUTE FUNCTION wait()",
        name,
    )
    process = start_move(data, address)
    for _ in range(600):
        if postgresql.sql("SELECT count(*) FROM scopes", name) == [["2"]]:
            return process
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.kill()
    raise AssertionError("the move did not reach Eve's scope")


def test_an_interrupted_move_is_continued(
    household: tuple[Household, list], postgresql: PostgreSQL, address: str, tmp_path: Path
) -> None:
    """The incomplete target is not served. Committed scopes are not moved again. Both sides are locked during the move."""
    house, seen = household
    process = blocked_move(postgresql, house.data, address)
    try:
        served = run(tmp_path, "serve", "--port", "0", "--data", str(house.data))
        assert served.returncode == FAILED and "database is locked" in served.stderr
        second = migrate(house.data, address)
        assert second.returncode == FAILED and "is in use. Stop hesper serve" in second.stderr
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    for command in (["serve", "--port", "0"], ["account", "list"], ["check"]):
        refused = run(tmp_path, *command, HESPER_DATABASE=address)
        assert (refused.returncode, refused.stdout) == (FAILED, "")
        assert "a migration to this database has not finished: run hesper migrate-data again, with the same source" in refused.stderr
    postgresql.sql("DROP TRIGGER wait ON scopes", name_in(address))
    kept = postgresql.sql("SELECT id, xmin FROM scopes ORDER BY id", name_in(address))
    assert len(kept) == 2

    moved = migrate(house.data, address)
    assert moved.returncode == 0, moved.stderr
    assert moved.stdout.startswith("2 of 3 scopes had already been migrated.\nMigrated 3 accounts with ")
    assert postgresql.sql("SELECT id, xmin FROM scopes ORDER BY id", name_in(address))[:2] == kept
    with Server(tmp_path / "elsewhere", ["--attachments", str(house.data / "attachments")], database=address) as server:
        check_equal(house.snapshot(server), seen)


@pytest.mark.thorough
def test_a_move_killed_at_random_moments(household: tuple[Household, list], address: str, tmp_path: Path, seed: int) -> None:
    house, seen = household
    chance = random.Random(seed)
    for _ in range(6):
        process = start_move(house.data, address)
        time.sleep(chance.uniform(0, 1))
        process.kill()
        process.wait()
        process.stderr.close()
    moved = migrate(house.data, address)
    if moved.returncode != 0:
        # The last process may have finished.
        assert "The target already contains this installation completely." in moved.stderr
    with Server(tmp_path / "elsewhere", ["--attachments", str(house.data / "attachments")], database=address) as server:
        check_equal(house.snapshot(server), seen)
        assert server.command("check", "--no-attachments").returncode == 0


@pytest.mark.thorough
def test_the_source_changed_after_an_interrupted_move(
    household: tuple[Household, list], postgresql: PostgreSQL, address: str, tmp_path: Path
) -> None:
    """Changed scopes are moved again: edits, an erased account, a new password."""
    original, _ = household
    house = replace(original, data=tmp_path / "data", devices=[])
    shutil.copytree(original.data, house.data)
    process = blocked_move(postgresql, house.data, address)
    process.kill()
    process.wait()
    process.stderr.close()
    postgresql.sql("DROP TRIGGER wait ON scopes", name_in(address))
    with Server(house.data) as server:
        client = Client(server.url)
        client.sign_in("ada@example.org")
        ada = Device(client)
        ada.sync()
        for note in list(ada.notes)[:5]:
            ada.write(note, "edited since")
        ada.sync()
        assert server.command("account", "delete", "bob@example.org", "--yes").returncode == 0
        house.devices = [ada]
        seen = house.snapshot(server)
    moved = migrate(house.data, address)
    assert moved.returncode == 0, moved.stderr
    with Server(house.data, database=address) as server:
        check_equal(house.snapshot(server), seen)
        assert server.command("account", "list").stdout.count("\n") == 2
        assert server.command("check").returncode == 0
    assert postgresql.sql("SELECT DISTINCT scope FROM edits", name_in(address)) == [["1"]]


def refuse(done: subprocess.CompletedProcess, status: int, why: str) -> None:
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith("hesper: ") and why in done.stderr and done.stderr.count("\n") == 1, done.stderr


def rows_of(postgresql: PostgreSQL, address: str) -> list[str]:
    """The rows of a dump, without the random key that pg_dump adds."""
    return [line for line in postgresql.dump(name_in(address)).splitlines() if "restrict " not in line]


def test_a_target_that_is_not_empty(
    household: tuple[Household, list], postgresql: PostgreSQL, address: str, tmp_path: Path
) -> None:
    """Another installation, a part of another one, or the same one: the move is refused and changes nothing."""
    house, _ = household
    with Server(database=address) as server:
        refuse(migrate(house.data, address), FAILED, "A server is using the target database. Stop it.")
        ada = Device(server.client(email="ada@example.org"))
        ada.make_note("of another installation")
        ada.sync()
    before = rows_of(postgresql, address)
    refuse(migrate(house.data, address), FAILED, "The target contains another installation, or part of one")
    assert rows_of(postgresql, address) == before

    small = tmp_path / "small"
    with Server(small) as server:
        server.client()
    other = postgresql.database()
    stopped = blocked_move(postgresql, house.data, other)
    stopped.kill()
    stopped.wait()
    stopped.stderr.close()
    refuse(migrate(small, other), FAILED, "The target contains another installation, or part of one")
    postgresql.drop(other)
    third = postgresql.database()
    assert migrate(small, third).returncode == 0
    refuse(migrate(small, third), FAILED, "The target already contains this installation completely.")
    postgresql.drop(third)


@pytest.mark.parametrize("names", [("hesper", "hesper"), *(pytest.param(("web1", name), marks=pytest.mark.thorough) for name in ("mover", "hesper"))])
def test_a_target_in_use_under_any_application_name(address: str, tmp_path: Path, names: tuple[str, str]) -> None:
    """The target has no accounts. Only the running server prevents the move, and it continues to run."""
    theirs, ours = (f"{address}&application_name={name}" for name in names)
    with Server(tmp_path / "data") as source:
        source.client(email="ada@example.org")
    with Server(database=theirs) as server:
        refuse(migrate(tmp_path / "data", ours), FAILED, "A server is using the target database. Stop it.")
        assert Client(server.url).get("/readyz").status_code == 200
    assert migrate(tmp_path / "data", ours).returncode == 0
    with Server(tmp_path / "data", database=theirs) as server:
        Client(server.url).sign_in("ada@example.org")


def test_a_source_in_use(address: str) -> None:
    with Server() as server:
        server.client()
        refuse(migrate(server.data, address), FAILED, f"{server.data} is in use. Stop hesper serve")
        server.kill()
        assert migrate(server.data, address).returncode == 0


def test_missing_attachments(household: tuple[Household, list], address: str, tmp_path: Path) -> None:
    """The move is completed, and the exit status reports the missing bytes."""
    house, _ = household
    shutil.copytree(house.data / "attachments", tmp_path / "attachments")
    lost = next(iter(house.pictures))
    for path in (tmp_path / "attachments").rglob(f"{lost}.*"):
        path.unlink()
    moved = migrate(house.data, address, HESPER_ATTACHMENTS=str(tmp_path / "attachments"))
    assert moved.returncode == FAILED
    assert f"hesper: ada@example.org: The data of attachment {lost} is missing: 1/" in moved.stderr
    assert f"4 attachments in {tmp_path}/attachments: 1 missing." in moved.stdout
    with Server(house.data, database=address) as server:
        assert server.command("account", "list").returncode == 0


def test_the_password_in_a_password_file(
    household: tuple[Household, list], postgresql: PostgreSQL, address: str, tmp_path: Path
) -> None:
    """A URL without a password may be on the command line."""
    house, _ = household
    plain = address.replace(f":{SECRETS[1]}", "")
    assert plain != address
    file = tmp_path / "passwords"
    file.write_text(f"*:*:*:*:{DATABASE_PASSWORD.replace(':', chr(92) + ':')}\n")
    file.chmod(0o600)
    arguments = ["migrate-data", "--from", f"sqlite:{house.data}", "--to", plain]
    done = run(tmp_path, *arguments, PGPASSFILE=str(file))
    assert done.returncode == 0, done.stderr
    again = run(tmp_path, *arguments, PGPASSWORD=DATABASE_PASSWORD)
    refuse(again, FAILED, "The target already contains this installation")


def test_errors_of_the_command_line(household: tuple[Household, list], tmp_path: Path) -> None:
    house, _ = household
    help_text = run(tmp_path, "migrate-data", "--help").stdout
    for words in ("--from <sqlite:FOLDER>", "--to <postgresql://…>", "HESPER_DATABASE", "PGPASSFILE", "run it again"):
        assert words in help_text
    rows = [
        ([], WRONG_USAGE, "--from"),
        (["--from", f"sqlite:{house.data}"], WRONG_USAGE, "Set the database to migrate to"),
        (["--from", "postgresql://host/x"], WRONG_USAGE, "must have the form sqlite:FOLDER"),
        (["--from", "data"], WRONG_USAGE, "--from: must have the form sqlite: or postgresql://user@host/database."),
        (["--from", f"sqlite:{tmp_path}", "--to", "postgresql://host/x"], WRONG_SETTING, "contains no hesper.sqlite"),
        (["--from", f"sqlite:{house.data}", "--to", "x"], WRONG_USAGE, "--to: must have the form sqlite: or postgresql://user@host/database."),
        (["--from", f"sqlite:{house.data}", "--to", "sqlite:x"], WRONG_USAGE, "Set the database to migrate to"),
    ]
    for arguments, status, why in rows:
        done = run(tmp_path, "migrate-data", *arguments)
        assert done.returncode == status, (arguments, done.stderr)
        assert why in done.stderr, (arguments, done.stderr)
    gone = run(tmp_path, "migrate-data", "--from", f"sqlite:{house.data}", "--to", "postgresql://127.0.0.1:1/x")
    refuse(gone, FAILED, "Cannot connect to the target database set with --to or HESPER_DATABASE: ")
