"""Storage quotas (protocol.md, Quota), and disabled accounts."""

import threading
import time
from pathlib import Path

import pytest
from attachments import data_path, some_bytes
from client import Client, ErrorResponse, Server
from convergence import settle
from database import Backup
from device import Device
from events import Events
from writer import new_id

pytestmark = pytest.mark.both_stores

KIB = "a" * 1024


@pytest.fixture
def small():
    """A server with a quota of 20 KiB."""
    with Server(arguments=["--quota", "20KiB"]) as server:
        yield server


def usage(client: Client) -> tuple[int, int | None]:
    account = client.get("/v1/account").json()
    return account["usage"]["storedBytes"], account.get("quotaBytes")


def slugs(receipts: list[dict]) -> list[str | None]:
    return [receipt.get("problem", {}).get("slug") for receipt in receipts]


def set_quota(server: Server, client: Client, quota: str) -> str:
    done = server.command("account", "set-quota", client.email, quota)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_texts_histories_and_attachments_count(small):
    client = small.client()
    assert usage(client) == (0, 20 << 10)
    note = client.post("/v1/notes", {"text": KIB}).json()["uniqueID"]
    first, _ = usage(client)
    assert 1024 < first < 1300
    client.patch(f"/v1/notes/{note}", {"text": KIB[:-1]})
    second, _ = usage(client)
    assert 2047 < second < 2500
    assert client.put(data_path(new_id()), data=some_bytes(1000)).status_code == 201
    assert usage(client)[0] == second + 1000
    # Deleted notes count until they can no longer be restored.
    client.delete(f"/v1/notes/{note}")
    assert usage(client)[0] == second + 1000
    assert small.command("check").returncode == 0


def test_resource_routes_refuse_the_whole_request(small):
    client = small.client()
    for _ in range(17):
        last = client.post("/v1/notes", {"text": KIB})
        assert last.status_code == 201
    full = client.post("/v1/notes", {"text": 2 * KIB})
    assert (full.status_code, full.json()["slug"]) == (507, "quota-exceeded")
    assert full.json()["limit"] == 20 << 10 and full.json()["used"] == usage(client)[0]
    path = f"/v1/notes/{last.json()['uniqueID']}"
    assert client.patch(path, {"text": 3 * KIB}).status_code == 507
    tag = client.post("/v1/tags", {"name": "Rome"})
    assert tag.status_code == 201
    assert client.patch(path, {"archived": True, "tags": [tag.json()["uniqueID"]]}).status_code == 200
    assert client.patch(path, {"text": "short"}).json()["text"] == "short"
    assert client.put(data_path(new_id()), data=some_bytes(5_000)).status_code == 507
    assert client.delete(path).status_code == 200
    assert client.get("/v1/notes").json()["notes"][0]["text"] == KIB


def test_a_device_keeps_refused_changes_and_sends_them_later(small):
    phone = Device(small.client())
    laptop = Device(phone.client.another_device())
    notes = [phone.make_note(f"{n} {KIB}") for n in range(25)]
    receipts = phone.sync()
    refused = [slug for slug in slugs(receipts) if slug]
    assert set(refused) == {"quota-exceeded"} and 7 <= len(refused) <= 12
    assert len(receipts) == 25, "an object was sent more than once"
    assert len(phone.new) == len(refused) and not phone.is_synced and not phone.rejected
    assert len(phone.notes) == 25
    laptop.sync()
    assert len(laptop.notes) == 25 - len(refused)
    # Small changes of a note are sent although its text is refused.
    first = notes[0]
    phone.write(first, f"longer {KIB} {KIB}")
    phone.archive(first)
    phone.sync()
    laptop.sync()
    assert laptop.note(first)["archived"] and laptop.text(first) == f"0 {KIB}"
    assert phone.text(first) == f"longer {KIB} {KIB}"
    # Changes by other devices still arrive: a deletion and a shorter text.
    laptop.delete(notes[1])
    laptop.write(notes[2], "short")
    laptop.sync()
    assert not laptop.has_unsent
    phone.sync()
    assert phone.text(notes[1]) is None and phone.text(notes[2]) == "short"
    assert "10485760 bytes" in set_quota(small, phone.client, "10MiB")
    settle(phone, laptop)
    assert len(laptop.notes) == 24 and laptop.text(first) == f"longer {KIB} {KIB}"
    assert small.command("check").returncode == 0


def test_typing_after_a_refusal_merges_with_other_edits(small):
    phone = Device(small.client())
    laptop = Device(phone.client.another_device())
    note = phone.make_note("one\n")
    settle(phone, laptop)
    while not any(slugs(laptop.sync())):
        laptop.make_note(KIB)
    phone.write(note, f"one\n{KIB}\n")
    assert slugs(phone.sync()) == ["quota-exceeded"]
    phone.write(note, f"one\n{KIB}\n{KIB}\n")
    assert slugs(phone.sync()) == ["quota-exceeded"]
    laptop.write(note, "zer\n")
    laptop.sync()
    set_quota(small, phone.client, "unlimited")
    settle(phone, laptop)
    assert phone.text(note) == f"zer\n{KIB}\n{KIB}\n"


def test_a_restored_server_with_a_smaller_quota_loses_nothing(tmp_path: Path):
    with Server(arguments=["--quota", "none"]) as server:
        phone = Device(server.client())
        first = phone.make_note("first")
        phone.sync()
        server.stop()
        backup = Backup.make(server, tmp_path / "backup")
        server.start()
        texts = {phone.make_note(f"{n} {KIB}"): f"{n} {KIB}" for n in range(5)}
        phone.write(first, f"first {KIB}")
        phone.sync()
        server.stop()
        backup.copy_back(server)
        server.start()
        set_quota(server, phone.client, "1KiB")
        phone.sync()
        assert {note: phone.text(note) for note in texts} == texts and phone.text(first) == f"first {KIB}"
        assert not phone.rejected and not phone.is_synced
        set_quota(server, phone.client, "default")
        laptop = Device(phone.client.another_device())
        settle(phone, laptop)
        assert {note: laptop.text(note) for note in texts} == texts and laptop.text(first) == f"first {KIB}"


def test_set_quota(small):
    client = small.client()
    assert set_quota(small, client, "0") == f"The quota of {client.email} is now 0 bytes. The account uses 0 bytes.\n"
    assert client.post("/v1/notes", {"text": "x"}).status_code == 507
    assert client.post("/v1/notes", {"text": ""}).status_code == 201
    set_quota(small, client, "unlimited")
    assert client.post("/v1/notes", {"text": 30 * KIB}).status_code == 201
    assert usage(client)[1] is None
    set_quota(small, client, "default")
    assert usage(client)[1] == 20 << 10
    assert client.post("/v1/notes", {"text": "x"}).status_code == 507
    shown = small.command("account", "show", client.email).stdout
    assert "quota:    default\n" in shown and f"stored:   {usage(client)[0]} bytes" in shown
    for wrong in ("-1", "much", "5 apples", ""):
        refused = small.command("account", "set-quota", client.email, wrong)
        assert refused.returncode != 0 and "unlimited" in refused.stderr, refused.stderr
    assert small.command("account", "set-quota", "nobody@example.org", "1GiB").returncode != 0
    assert usage(client)[1] == 20 << 10


def test_import_lists_refused_files(small, tmp_path: Path):
    client = small.client()
    for n in range(5):
        (tmp_path / f"{n}.md").write_text(f"{n}\n{6 * KIB}")
    small.environment["HESPER_QUOTA"] = "20KiB"
    arguments = ("import", "--account", client.email, str(tmp_path))
    done = small.command(*arguments)
    assert done.returncode == 1 and done.stderr.count("storage is full") == 2
    assert len(client.read_all()[0]["notes"]) == 3
    set_quota(small, client, "1MiB")
    assert small.command(*arguments).returncode == 0
    assert len(client.read_all()[0]["notes"]) == 5


def test_concurrent_writes_do_not_exceed_the_quota(small):
    client = small.client()
    others = [client.another_device() for _ in range(8)]
    found: list[int] = []

    def write(other: Client) -> None:
        found.extend(other.post("/v1/notes", {"text": KIB}).status_code for _ in range(5))

    threads = [threading.Thread(target=write, args=[other]) for other in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored, quota = usage(client)
    assert quota - 1200 < stored <= quota
    assert set(found) == {201, 507} and found.count(201) == len(client.read_all()[0]["notes"])


def test_a_disabled_account_is_refused_and_keeps_its_data(small):
    client = small.client()
    note = client.post("/v1/notes", {"text": "kept"}).json()
    other = small.client()
    with Events(client) as events, Events(other) as theirs:
        events.wait_for("changes")
        theirs.wait_for("changes")
        began = time.monotonic()
        done = small.command("account", "disable", client.email)
        assert (done.returncode, done.stdout) == (0, f"Disabled the account {client.email}.\n")
        while events.next() is not None:
            pass
        assert time.monotonic() - began < 15
        for answer in (client.get("/v1/account"), client.post("/v1/sync", {}), client.get("/v1/events")):
            assert (answer.status_code, answer.json()["slug"]) == (403, "account-disabled")
        with pytest.raises(ErrorResponse) as refused:
            Client(small.url).sign_in(client.email)
        assert refused.value.slug == "account-disabled"
        # Without the password, the response does not reveal that the account is disabled.
        with pytest.raises(ErrorResponse) as refused:
            Client(small.url).sign_in(client.email, "not the password")
        assert refused.value.slug == "unauthenticated"
        assert "\tdisabled\n" in small.command("account", "list").stdout
        assert "disabled: 20" in small.command("account", "show", client.email).stdout
        assert small.command("account", "disable", client.email).returncode == 0, "disabling an account twice failed"
        assert other.post("/v1/notes", {"text": "theirs"}).status_code == 201
        assert theirs.changes(), "another account's stream ended"
    assert small.command("account", "enable", client.email).stdout == f"Enabled the account {client.email}.\n"
    assert client.get(f"/v1/notes/{note['uniqueID']}").json() == note
    assert "disabled: -" in small.command("account", "show", client.email).stdout
