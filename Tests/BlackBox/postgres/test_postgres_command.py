"""All commands work on PostgreSQL. Problems with the database are reported in one line, without its password."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from client import PASSWORD, Server, free_port
from device import Device
from events import Events
from postgres import PASSWORD as DATABASE_PASSWORD
from postgres import PostgreSQL, name_in, quote
from runner import FAILED, WRONG_SETTING, run

SECRETS = [DATABASE_PASSWORD, quote(DATABASE_PASSWORD, safe="")]


def test_server_and_commands(postgres_server: Server, tmp_path: Path) -> None:
    """Accounts, sync, a restart, and all commands. The data folder contains no SQLite database."""
    server = postgres_server
    phone = Device(server.client(email="ada@example.org", device_name="phone"))
    laptop = Device(phone.client.another_device())
    note = phone.make_note("Milk")
    phone.sync()
    laptop.sync()
    laptop.write(note, "Milk\nBread")
    laptop.sync()
    server.restart()
    phone.sync()
    assert phone.copy.objects[note].value("text") == "Milk\nBread"
    assert phone.copy.digest == laptop.copy.digest

    checked = server.command("check")
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "Checked 1 account: no problems found.\n", "")
    made = server.command("account", "create", "eve@example.org", input=PASSWORD + "\n")
    assert made.returncode == 0, made.stderr
    assert [line.split("\t")[0] for line in server.command("account", "list").stdout.splitlines()] == [
        "ada@example.org",
        "eve@example.org",
    ]
    assert "objects" in server.command("account", "show", "ada@example.org").stdout
    assert "/sign-up?invitation=" in server.command("account", "invite", "bob@example.org", check=True).stdout
    assert "/reset-password?code=" in server.command("account", "reset-password", "ada@example.org", check=True).stdout
    archive = tmp_path / "ada.zip"
    exported = server.command("export", "--account", "ada@example.org", str(archive))
    assert exported.returncode == 0, exported.stderr
    imported = server.command("import", "--account", "eve@example.org", str(archive))
    assert imported.returncode == 0, imported.stderr
    assert server.command("account", "delete", "eve@example.org", "--yes").returncode == 0
    reset = server.command("account", "set-password", "ada@example.org", input="another password\n")
    assert reset.returncode == 0, reset.stderr
    assert phone.client.get("/v1/account").status_code == 401
    assert not list(server.data.glob("*.sqlite*"))
    assert f"Attachments are in the folder {server.data}/attachments. All servers on this database must use" in server.log


def test_the_password_is_not_logged_or_in_the_command_line(postgres_server: Server) -> None:
    server = postgres_server
    server.log_level = "trace"
    server.restart()
    server.client().sync()
    line = Path(f"/proc/{server.pid}/cmdline").read_bytes().decode()
    server.stop()
    for secret in SECRETS:
        assert secret not in server.log
        assert secret not in line


def command(folder: Path, database: str, *arguments: str):
    return run(folder, *arguments, "--data", "data", HESPER_DATABASE=database)


def serve(folder: Path, database: str):
    return command(folder, database, "serve", "--port", "0")


def test_an_unreachable_database_server(tmp_path: Path) -> None:
    port = free_port()
    ended = serve(tmp_path, f"postgresql://hesper:{SECRETS[1]}@127.0.0.1:{port}/hesper")
    assert (ended.returncode, ended.stdout) == (FAILED, "")
    assert f'connection to server at "127.0.0.1", port {port} failed: Connection refused' in ended.stderr
    assert "hesper: Cannot connect to the database set with HESPER_DATABASE or --database: " in ended.stderr
    assert not any(secret in ended.stderr for secret in SECRETS)


def test_a_wrong_password_or_database(tmp_path: Path, postgresql: PostgreSQL) -> None:
    ended = serve(tmp_path, postgresql.address().replace(SECRETS[1], "wrong"))
    assert ended.returncode == FAILED
    assert 'password authentication failed for user "hesper"' in ended.stderr
    ended = serve(tmp_path, postgresql.address("nowhere"))
    assert ended.returncode == FAILED
    assert 'database "nowhere" does not exist' in ended.stderr
    assert not any(secret in ended.stderr for secret in SECRETS)


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_of_another_encoding(tmp_path: Path, postgresql: PostgreSQL, encoding: str) -> None:
    address = postgresql.database(f"ENCODING '{encoding}' LOCALE 'C'")
    ended = serve(tmp_path, address)
    assert ended.returncode == FAILED
    assert f"the database encoding is {encoding}, but must be UTF8: create a database with CREATE DATABASE" in ended.stderr
    postgresql.drop(address)


def test_a_database_of_a_later_hesper(tmp_path: Path, postgresql: PostgreSQL) -> None:
    address = postgresql.database()
    assert command(tmp_path, address, "account", "create", "ada@example.org", "--help").returncode == 0
    with Server(database=address) as server:
        server.stop()
        postgresql.sql("UPDATE hesper SET version = 900", name_in(address))
    ended = serve(tmp_path, address)
    assert ended.returncode == FAILED
    assert "the database has version 900, written by a later Hesper" in ended.stderr
    postgresql.drop(address)


def test_doctor_does_not_migrate_the_database(tmp_path: Path, postgresql: PostgreSQL) -> None:
    """A server of the earlier version may still be running."""
    address = postgresql.database()
    created = run(tmp_path, "account", "create", "ada@example.org", "--database", address, stdin=PASSWORD)
    assert created.returncode == 0, created.stderr
    [[known]] = postgresql.sql("SELECT version FROM hesper", name_in(address))
    postgresql.sql("DROP TABLE webhooks, webhook_deliveries; UPDATE hesper SET version = 13", name_in(address))
    lines = command(tmp_path, address, "doctor").stdout.splitlines()
    assert f"warning: The database has version 13. The next start upgrades it to {known}. Make a backup first." in lines
    assert postgresql.sql("SELECT version FROM hesper", name_in(address)) == [["13"]]
    postgresql.drop(address)


@pytest.mark.parametrize("arguments", [["check"], ["account", "list"], ["export", "--account", "ada@example.org"]])
def test_commands_do_not_create_tables_in_an_empty_database(tmp_path: Path, postgresql: PostgreSQL, arguments: list[str]) -> None:
    address = postgresql.database()
    ended = command(tmp_path, address, *arguments)
    assert ended.returncode == WRONG_SETTING
    assert ended.stderr.startswith("hesper: The database contains no Hesper data. Set HESPER_DATABASE or --database")
    assert postgresql.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", name_in(address)) == [["0"]]
    postgresql.drop(address)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mysql://localhost/hesper", "must have the form sqlite: or postgresql://user@host/database."),
        ("postgresql:", "must have the form sqlite: or postgresql://user@host/database."),
        ("postgresql://hesper:s@cret@host/", "@ and / in a user name or password must be written as %40 and %2F."),
        ("postgresql://hesper:s/cret@host/", "@ and / in a user name or password must be written as %40 and %2F."),
        ("postgresql://hesper:%zzsecret@host/", "invalid percent-encoded token."),
        ("postgresql://hesper:secret@host/?sslmod=require", "invalid URI query parameter."),
    ],
)
def test_invalid_urls(tmp_path: Path, text: str, why: str) -> None:
    ended = serve(tmp_path, text)
    assert (ended.returncode, ended.stderr) == (WRONG_SETTING, f"hesper: HESPER_DATABASE: {why}\n")


@pytest.mark.parametrize("count", ["0", "1", "1001", "many"])
def test_invalid_numbers_of_connections(tmp_path: Path, count: str) -> None:
    ended = run(tmp_path, "serve", "--port", "0", "--database-connections", count)
    assert ended.returncode == WRONG_SETTING
    assert ended.stderr.startswith("hesper: --database-connections: must be a number of connections from 2 to 1000, not ")


def test_the_number_of_connections_is_limited(postgresql: PostgreSQL) -> None:
    """One connection for receiving signals from other servers and one for sending them are added to the configured number."""
    address = postgresql.database()

    def connections() -> int:
        statement = "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' AND application_name = 'hesper'"
        [[count]] = postgresql.sql(statement.format(name_in(address)))
        return int(count)

    with Server(database=address, arguments=["--database-connections", "3"]) as server:
        device = Device(server.client())
        device.make_note("Milk")
        device.sync()
        with Events(device.client), ThreadPoolExecutor(12) as pool:
            with postgresql.locked("objects", name_in(address)):
                reading = [pool.submit(device.client.get, "/v1/notes") for _ in range(12)]
                for _ in range(50):
                    if connections() == 3 + 2:
                        break
                    time.sleep(0.1)
            assert [each.result().status_code for each in reading] == [200] * 12
        # The server does not close idle connections, so this is the maximum.
        assert connections() == 3 + 2
    postgresql.drop(address)
