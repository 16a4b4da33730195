"""Reads go to a standby exactly when it shows what the primary shows (operating.md, PostgreSQL): nobody ever notices."""

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import pytest
from client import Client, Server
from convergence import contents, settle
from device import Device
from events import Events
from postgres import PASSWORD, PostgreSQL, name_in, quote
from runner import WRONG_SETTING, run
from statement_log import SETTINGS, Statements

# How a server calls its connections.
PRIMARY, REPLICA = "hesper", "hesper-read"
FOUND, LOST = "Reads go to the replica", "The replica is not asked for now"
READS = re.compile(r"\bFROM (objects|tombstones|terms|documents)\b")


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgreSQL]:
    with PostgreSQL(SETTINGS) as running:
        yield running


@pytest.fixture(scope="module")
def standby(primary: PostgreSQL) -> Iterator[PostgreSQL]:
    with primary.standby() as running:
        yield running


@contextmanager
def serving(primary: PostgreSQL, replica: PostgreSQL, address: str | None = None) -> Iterator[Server]:
    """A server that writes to one and reads from the other, which has replayed the making of the tables."""
    address = address or primary.database()
    if replica.primary is not None:
        replica.catch_up()
    with Server(database=address, environment={"HESPER_DATABASE_READ": replica.address_like(address)}) as server:
        within(30, lambda: FOUND in server.log)
        yield server


@dataclass
class Asked:
    """Which of the two answered."""

    primary: Statements
    replica: Statements

    def during(self, body: Callable) -> str:
        """Does `body`, and tells who was asked for objects meanwhile."""
        self.primary.forget()
        self.replica.forget()
        self.result = body()
        found = {
            name
            for name, log, who in [("primary", self.primary, PRIMARY), ("replica", self.replica, REPLICA)]
            if any(READS.search(statement) for statement in log.of(who))
        }
        return " and ".join(sorted(found)) or "nobody"


@pytest.fixture
def asked(primary: PostgreSQL, standby: PostgreSQL) -> Asked:
    return Asked(Statements(primary), Statements(standby))


@pytest.fixture
def server(primary: PostgreSQL, standby: PostgreSQL) -> Iterator[Server]:
    with serving(primary, standby) as running:
        yield running


@pytest.fixture
def paused(standby: PostgreSQL) -> Iterator[PostgreSQL]:
    """The standby, which may be paused: not for longer than the test."""
    yield standby
    standby.sql("SELECT pg_wal_replay_resume()")


def within(seconds: float, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.05)


def texts(client: Client, since: str | None = None) -> set[str]:
    """Of the notes in `GET /v1/changes`, page by page."""
    found: set[str] = set()
    while True:
        answer = client.get("/v1/changes", params={"limit": 20} | ({"since": since} if since else {}))
        assert answer.status_code == 200, answer.text
        found |= {note["text"] for note in answer.json()["changes"].get("notes", [])}
        since = answer.json()["syncToken"]
        if not answer.json()["hasMore"]:
            return found


def search(client: Client, words: str) -> set[str]:
    answer = client.get("/v1/search", params={"q": words})
    assert answer.status_code == 200, answer.text
    return {result["note"]["text"] for result in answer.json()["results"]}


def written(server: Server, count: int = 50) -> Device:
    """A device that has written notes, all of which are indexed."""
    device = Device(server.client())
    for number in range(count):
        device.make_note(f"Milk {number}")
    device.sync()
    assert len(search(device.client, "milk")) == count
    return device


def moved(client: Client, server: Server) -> Client:
    """The same device, on another server."""
    same = Client(server.url, client.token)
    same.email, same.password, same.device = client.email, client.password, client.device
    return same


def test_what_is_read_comes_from_the_standby(server, standby, asked):
    device = written(server)
    token = device.token
    device.make_note("Bread")
    device.sync()
    assert search(device.client, "bread") == {"Bread"}
    other = Device(device.client.another_device())
    standby.catch_up()
    client = device.client
    milk = {f"Milk {number}" for number in range(50)}
    for read, expected in [
        (lambda: texts(client), milk | {"Bread"}),
        (lambda: texts(client, token), {"Bread"}),
        (lambda: search(client, "milk"), milk),
        (lambda: len(client.get("/v1/notes").json()["notes"]), 51),
        (lambda: client.get("/v1/deleted-objects").json()["deletedObjects"], []),
        (lambda: other.sync(), None),
    ]:
        assert asked.during(read) == "replica"
        assert expected is None or asked.result == expected
    assert contents(other.copy) == contents(device.copy)
    # Nothing has changed since: nobody needs to be asked.
    assert asked.during(lambda: texts(client, device.token)) == "nobody"
    assert FOUND in server.log


def test_nothing_but_questions_goes_to_the_standby(server, standby, asked):
    """Whatever a server does, day in, day out: what it tells the standby changes nothing."""
    phone = Device(server.client())
    laptop = Device(phone.client.another_device())
    asked.replica.forget()
    with Events(laptop.client) as events:
        events.changes()
        for round in range(10):
            note = phone.make_note(f"Milk {round}", tags=[phone.make_tag(f"Tag {round}")])
            phone.sync()
            assert events.changes()
            standby.catch_up()
            laptop.sync()
            laptop.write(note, f"Bread {round}")
            laptop.sync()
            search(laptop.client, "bread")
            standby.catch_up()
            texts(phone.client)
            search(phone.client, "bread")
            phone.sync()
            phone.delete(note)
            phone.client.get("/v1/export")
    settle(phone, laptop)
    statements = asked.replica.of(REPLICA)
    assert len(statements) > 50
    begins = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SELECT ", "(SELECT ", "COMMIT", "ROLLBACK", "SET ")
    assert not [statement for statement in statements if not statement.startswith(begins)]
    assert asked.replica.of(PRIMARY) == []


def test_a_standby_that_lags_is_not_asked(primary, paused, asked):
    """Whoever wrote sees it at once, on any server; who has read something never sees less."""
    address = primary.database()
    with serving(primary, paused, address) as here, serving(primary, paused, address) as there:
        device, bystander = written(here), written(here)
        laptop = Device(moved(device.client.another_device(), there))
        laptop.sync()
        token = laptop.token
        paused.catch_up()
        paused.sql("SELECT pg_wal_replay_pause()")
        device.make_note("Bread")
        device.sync()
        for client in (device.client, laptop.client):
            assert asked.during(lambda: texts(client, token)) == "primary"
            assert asked.result == {"Bread"}
            assert asked.during(lambda: "Bread" in texts(client)) == "primary"
            assert asked.result
            assert asked.during(lambda: search(client, "bread")) == "primary"
            assert asked.result == {"Bread"}
        laptop.sync()
        assert contents(laptop.copy) == contents(device.copy)
        # An account made meanwhile is on the primary alone.
        new = here.client()
        assert texts(new) == set()
        # Where nothing was written, the standby is still as good as the primary.
        assert asked.during(lambda: len(texts(bystander.client))) == "replica"
        assert asked.during(lambda: len(search(bystander.client, "milk"))) == "replica"
        assert asked.result == 50

        paused.sql("SELECT pg_wal_replay_resume()")
        paused.catch_up()
        assert asked.during(lambda: texts(laptop.client, token)) == "replica"
        assert asked.result == {"Bread"}
        assert asked.during(lambda: search(laptop.client, "bread")) == "replica"


def test_nobody_sees_less_than_before(primary, paused, seed):
    """Two servers, a standby that stops and goes on, devices that read whatever is there from wherever they are."""
    random = Random(seed)
    address, is_over = primary.database(), threading.Event()

    def pause_now_and_then() -> None:
        moods = Random(seed)
        while not is_over.wait(moods.uniform(0, 0.3)):
            paused.sql(f"SELECT pg_wal_replay_{moods.choice(['pause', 'resume'])}()")

    with serving(primary, paused, address) as here, serving(primary, paused, address) as there:
        devices = [Device(here.client())]
        devices += [Device(devices[0].client.another_device()) for _ in range(2)]
        made: set[str] = set()
        pauser = threading.Thread(target=pause_now_and_then)
        pauser.start()
        try:
            for round in range(120):
                for device in devices:
                    device.client = moved(device.client, random.choice([here, there]))
                writer, reader = random.sample(devices, 2)
                writer.make_note(f"Note {round}")
                writer.sync()
                made.add(f"Note {round}")
                match random.randrange(4):
                    case 0:
                        reader.sync()
                        assert {note["text"] for note in reader.notes.values()} == made
                    case 1:
                        assert texts(reader.client) == made
                    case 2:
                        assert search(reader.client, str(round)) == {f"Note {round}"}
                    case _:
                        fresh = Device(reader.client)
                        fresh.sync()
                        assert contents(fresh.copy) == contents(writer.copy)
        finally:
            is_over.set()
            pauser.join()
        settle(*devices)


def test_events_come_from_the_primary(server, paused):
    """Whoever listens hears of a change at once, however far the standby is behind."""
    phone, laptop = Device(server.client()), None
    laptop = phone.client.another_device()
    with Events(laptop) as events:
        events.changes()
        paused.sql("SELECT pg_wal_replay_pause()")
        phone.make_note("Milk")
        phone.sync()
        assert [note["text"] for note in events.changes().data["changes"]["notes"]] == ["Milk"]


def test_a_standby_that_dies_is_missed_by_nobody(primary, asked):
    with primary.standby() as mortal, serving(primary, mortal) as server:
        device = written(server)
        asked = Asked(asked.primary, Statements(mortal))
        mortal.catch_up()
        assert asked.during(lambda: len(texts(device.client))) == "replica"

        # Its connections are cut again and again.
        for _ in range(5):
            mortal.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{REPLICA}'")
            assert len(texts(device.client)) == 50

        mortal.kill()
        for round in range(5):
            assert len(texts(device.client)) == 50
            assert len(search(device.client, "milk")) == 50
            device.make_note(f"Bread {round}")
            device.sync()
            device.client.post("/v1/sync", {"changes": {"notes": []}})
            search(device.client, "bread")
            device.delete(next(note for note, shown in device.notes.items() if shown["text"] == f"Bread {round}"))
            device.sync()
        assert server.log.count(LOST) <= 6, "a line for each time it goes away, not for each request"

        found = server.log.count(FOUND)
        mortal.control("start")
        within(40, lambda: server.log.count(FOUND) > found)
        mortal.catch_up()
        assert asked.during(lambda: len(texts(device.client))) == "replica"
        assert all(secret not in server.log for secret in (PASSWORD, quote(PASSWORD, safe="")))


def test_a_standby_that_hangs_is_waited_for_once(primary):
    with primary.standby() as hung, serving(primary, hung) as server:
        device = written(server)
        hung.catch_up()
        texts(device.client)
        hung.signal(signal.SIGSTOP)
        try:
            start = time.monotonic()
            assert len(texts(device.client)) == 50
            assert time.monotonic() - start < 12
            start = time.monotonic()
            assert len(texts(device.client)) == 50
            assert time.monotonic() - start < 2
        finally:
            hung.signal(signal.SIGCONT)


def test_what_the_standby_cancels_the_primary_answers(primary, asked):
    """A standby that waits for no query cancels those that replay gets in the way of (hot standby, query conflicts)."""
    with primary.standby(["max_standby_streaming_delay = 0"]) as strict, serving(primary, strict) as server:
        device = Device(server.client())
        for number in range(2_000):
            device.make_note(f"Milk {number}" * 20)
        device.sync()
        database, is_over = name_in(server.database), threading.Event()

        def vacuum() -> None:
            while not is_over.is_set():
                primary.sql("UPDATE documents SET archived = archived", database)
                primary.sql("VACUUM documents", database)

        def conflicts() -> int:
            counted = f"SELECT confl_snapshot FROM pg_stat_database_conflicts WHERE datname = '{database}'"
            return int(strict.sql(counted)[0][0])

        search(device.client, "milk")
        sweeper = threading.Thread(target=vacuum)
        sweeper.start()
        try:
            deadline = time.monotonic() + 30
            while conflicts() == 0 and time.monotonic() < deadline:
                for _ in range(5):
                    assert len(search(device.client, "milk")) == 1_000
        finally:
            is_over.set()
            sweeper.join()
        assert conflicts() > 0


def test_a_standby_that_was_promoted_goes_on(asked):
    """The same settings before and after: writes find the new primary, reads go on where they went."""
    with PostgreSQL(SETTINGS) as primary, primary.standby() as standby:
        address = primary.database()
        both = address.replace(
            f"127.0.0.1:{primary.port}", f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
        )
        with serving(primary, standby, f"{both}&target_session_attrs=read-write") as server:
            device = written(server)
            standby.catch_up()
            primary.kill()
            standby.control("promote")
            within(30, lambda: device.client.get("/readyz").status_code == 200)
            device.make_note("Bread")
            within(30, lambda: device.client.get("/v1/account").status_code == 200)
            device.sync()
            statements = Statements(standby)
            assert "Bread" in texts(device.client)
            assert any(READS.search(statement) for statement in statements.of(REPLICA))
            assert "Bread" in search(device.client, "bread")


def test_a_standby_that_is_away_at_the_start_is_found_later(primary):
    with primary.standby() as late:
        address = primary.database()
        late.catch_up()
        late.control("stop -m immediate")
        with Server(database=address, environment={"HESPER_DATABASE_READ": late.address_like(address)}) as server:
            device = written(server, 3)
            within(5, lambda: LOST in server.log)
            assert FOUND not in server.log
            late.control("start")
            within(40, lambda: FOUND in server.log)
            late.catch_up()
            statements = Statements(late)
            assert len(texts(device.client)) == 3
            assert statements.of(REPLICA)


def copied(primary: PostgreSQL, address: str) -> str:
    """What stands still from now on, as an archive that was restored somewhere does."""
    name = name_in(address)
    primary.sql(f"CREATE DATABASE {name}_copy TEMPLATE {name}")
    return primary.address(f"{name}_copy")


def test_equal_numbers_are_not_enough(primary):
    """A standby may have what the primary lost in a failover, under the numbers that the primary has given anew."""
    address = primary.database()
    with Server(database=address) as server:
        device = Device(server.client())
        device.make_note("Milk")
        device.sync()
    copy = copied(primary, address)
    with Server(database=copy) as lost:
        astray = Device(moved(device.client, lost))
        astray.sync()
        astray.make_note("What nobody has acknowledged")
        astray.sync()
    with Server(database=address, environment={"HESPER_DATABASE_READ": copy}) as server:
        device.client.url = server.url
        device.make_note("Bread")
        device.sync()
        statements = Statements(primary)
        assert texts(device.client) == {"Milk", "Bread"}
        assert statements.of(REPLICA), "it was not even looked at"
        assert search(device.client, "nobody") == set()


def test_another_installation_is_refused_and_later_ignored(primary, tmp_path):
    address, foreign = primary.database(), primary.database()
    for one in (address, foreign):
        with Server(database=one):
            pass
    ended = run(tmp_path, "serve", "--port", "0", HESPER_DATABASE=address, HESPER_DATABASE_READ=foreign)
    assert ended.returncode == WRONG_SETTING
    assert "The database to read from (HESPER_DATABASE_READ or --database-read names it) is of another" in ended.stderr
    assert quote(PASSWORD, safe="") not in ended.stderr

    with Server(database=address) as server:
        device = written(server, 3)
    copy = copied(primary, address)
    with Server(database=address, environment={"HESPER_DATABASE_READ": copy}) as server:
        device.client.url = server.url
        statements = Statements(primary)
        assert len(texts(device.client)) == 3
        assert any(READS.search(statement) for statement in statements.of(REPLICA))
        primary.sql("UPDATE installation SET epoch = epoch + 1", name_in(copy))
        statements.forget()
        assert len(texts(device.client)) == 3
        assert not any(READS.search(statement) for statement in statements.of(REPLICA))
        within(30, lambda: f"{LOST}; reads go to the database: it is a copy of another installation" in server.log)


def test_a_copy_of_another_version_is_not_asked(primary):
    address = primary.database()
    with Server(database=address) as server:
        device = written(server, 3)
    copy = copied(primary, address)
    version = int(primary.sql("SELECT version FROM hesper", name_in(copy))[0][0])
    primary.sql("UPDATE hesper SET version = version - 1", name_in(copy))
    with Server(database=address, environment={"HESPER_DATABASE_READ": copy}) as server:
        device.client.url = server.url
        assert len(texts(device.client)) == 3
        within(30, lambda: f"its tables have version {version - 1}, not {version}" in server.log)


@pytest.mark.parametrize(
    ("database", "read", "why"),
    [
        ("sqlite:", "postgresql://db/hesper", "there is a copy to read from only where the database is PostgreSQL"),
        ("postgresql://db/hesper", "sqlite:", "postgresql://user@host/database is wanted"),
        ("postgresql://db/hesper", "postgresql://u:p@ss@db/hesper", "are written %40 and %2F in a URL"),
    ],
)
def test_a_wrong_setting(tmp_path, database, read, why):
    ended = run(tmp_path, "serve", "--port", "0", HESPER_DATABASE=database, HESPER_DATABASE_READ=read)
    assert ended.returncode == WRONG_SETTING
    assert ended.stderr.startswith("hesper: HESPER_DATABASE_READ: ")
    assert why in ended.stderr
    assert "p@ss" not in ended.stderr
