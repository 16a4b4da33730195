"""`GET /v1/export`: the content of an account as a streamed ZIP archive (operating.md, Export)."""

import os
import random
import re
import time
import zipfile
from pathlib import Path

import pytest
from archive import Export, export, passes_unzip
from attachments import attach, data_path, some_bytes
from client import Client, Server
from rows import check_problem
from waiting import wait_until
from writer import Writer, new_id

pytestmark = [pytest.mark.both_stores, pytest.mark.thorough_on_postgresql]

PICTURE = some_bytes(200_000)


def test_the_export_contains_everything(client: Client, tmp_path: Path) -> None:
    tag = client.post("/v1/tags", {"name": "Reisen"}).json()["uniqueID"]
    rome = client.post("/v1/notes", {"text": "# Rome: 5/7?\n🏛 \r\n", "tags": [tag]}).json()["uniqueID"]
    old = client.post("/v1/notes", {"text": "日本\nold", "archived": True}).json()["uniqueID"]
    picture = attach(client, PICTURE, filename="forum.png", width=3)
    page = attach(client, b"<p>" * 1000, "text/html", filename="forum.png")
    client.patch(f"/v1/notes/{rome}", {"attachments": [picture]})
    board = client.post("/v1/objects", {"objectType": "board", "attributes": {"size": 4}}).json()["uniqueID"]
    gone = client.post("/v1/notes", {"text": "gone"}).json()["uniqueID"]
    client.delete(f"/v1/notes/{gone}")

    response = client.get("/v1/export")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/zip"
    assert response.headers["Cache-Control"] == "no-store"
    today = time.strftime("%Y-%m-%d", time.gmtime())
    assert response.headers["Content-Disposition"] == f'attachment; filename="hesper-{today}.zip"'
    (tmp_path / "export.zip").write_bytes(response.content)
    assert passes_unzip(tmp_path / "export.zip")

    found = Export(response.content)
    assert set(found.names) == {
        "Rome- 5-7.md", "Archive/日本.md", "Attachments/forum.png", "Attachments/forum 2.png", "hesper.json",
    }  # fmt: skip
    assert (found.text(rome), found.text(old)) == ("# Rome: 5/7?\n🏛 \r\n", "日本\nold")
    assert (found[picture], found[page]) == (PICTURE, b"<p>" * 1000)
    # PNG files are stored without compression. Text is compressed.
    kinds = {info.filename: info.compress_type for info in found.zip.infolist()}
    assert kinds["Attachments/forum.png"] == zipfile.ZIP_STORED
    assert kinds["Rome- 5-7.md"] == kinds["Attachments/forum 2.png"] == zipfile.ZIP_DEFLATED
    assert found.zip.getinfo("Archive/日本.md").flag_bits & 0x800, "the UTF-8 flag of the name is not set"

    everything, last = client.read_all()
    for section in ("notes", "tags", "attachments", "objects", "deletedObjects"):
        order = sorted(found.document[section], key=lambda each: each["uniqueID"])
        assert order == sorted(everything[section], key=lambda each: each["uniqueID"]), section
    assert found.document["digest"] == last["digest"]
    assert found.document["missing"] == []
    assert found.ids("objects") == {board} and gone in found.ids("deletedObjects")
    assert "export" in client.get("/v1/server").json()["features"]


def test_an_empty_account(client: Client) -> None:
    assert export(client).names == ["hesper.json"]


def test_the_export_contains_only_the_own_account(client: Client, somebody: Client) -> None:
    somebody.post("/v1/notes", {"text": "theirs"})
    assert export(client).document["notes"] == []
    check_problem(Client(client.url).get("/v1/export"), "unauthenticated", 401)
    check_problem(client.get("/v1/export?since=x"), "unknown-field", 422)


def test_names_are_safe_and_unique(client: Client, seed: int) -> None:
    """File names derived from hostile first lines are legal on every system, and every file is present."""
    chance = random.Random(seed)
    nasty = ["CON", "nul.txt", "../../x", "a/b\\c:d*e?f\"g<h>i|j", ".", "..", "", " ", "\t\n", "\u202e\u0007", "é", "e\u0301",
             "ﬁ", "FI", "ß", "SS", "x" * 3000, "👩‍👩‍👧" * 200, "\u0000".replace("\0", "\u0001"), "COM¹", "-rf", "~", "$HOME", "%00", "a.", "b "]  # fmt: skip
    texts = nasty * 3 + ["".join(chance.choice("aA.é/\\ \u0301\u200d🏛") for _ in range(8)) for _ in range(400)]
    writer, ids = Writer(client), {new_id(): text for text in texts}
    answer = writer.push(notes=[writer.note(unique_id, text=text) for unique_id, text in ids.items()])
    assert {result["status"] for result in answer["results"]} == {"applied"}
    found = export(client)
    assert len(found.names) == len(texts) + 1
    for unique_id, text in ids.items():
        name = found.document["files"][unique_id]
        assert found.text(unique_id) == text
        stem = name.removesuffix(".md")
        assert not re.search(r'[<>:"/\\|?*\x00-\x1f\x7f]', name) and len(name.encode()) <= 120, name
        assert not re.match(r"(?i)(con|prn|aux|nul|com\d|lpt\d|com[¹²³])(\.|$)", stem), name
        assert not name.startswith((".", " ", "-")) and not stem.endswith((".", " ")), name


def test_head_creates_no_archive(client: Client) -> None:
    attach(client, PICTURE)
    head = client.request("HEAD", "/v1/export")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == "application/zip"
    assert not {"Content-Length", "Transfer-Encoding"} & set(head.headers)
    assert client.get("/v1/account").status_code == 200


# Size


def peak_memory(pid: int) -> int:
    """The process's peak memory in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) // 1024


def reset_peak_memory(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


@pytest.mark.thorough
def test_memory_is_independent_of_the_size() -> None:
    """An export of 400 MB of attachments and 30 MB of notes uses at most 64 MiB."""
    with Server(arguments=["--attachment-size", "1GiB"]) as server:
        client = server.client()
        block = some_bytes(1 << 20)
        for _ in range(4):
            unique_id = new_id()
            stream = (block for _ in range(100))
            assert client.put(data_path(unique_id), data=stream).status_code == 201
            assert client.put(f"/v1/attachments/{unique_id}", {"mimeType": "image/png"}).status_code == 201
        for page in range(10):
            stamp = f"2026-01-01T00:00:00.000Z-{page:04x}-{client.device['uniqueID']}"
            notes = [
                {"uniqueID": new_id(), "creationDate": "2026-01-01T00:00:00Z", "text": f"{page} {index}\n" + "text " * 600,
                 "clocks": {"text": stamp}}
                for index in range(1000)
            ]  # fmt: skip
            client.sync({"notes": notes})
        reset_peak_memory(server.pid)
        before = peak_memory(server.pid)
        size = 0
        with client.get("/v1/export", stream=True) as response:
            for chunk in response.iter_content(1 << 20):
                size += len(chunk)
        assert size > 400 << 20
        assert peak_memory(server.pid) - before < 64, f"from {before} MiB"


# Disconnected clients


def open_files(pid: int) -> list[str]:
    """The temporary files, attachments and connections that the process has open."""
    links = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{number}"))
        except FileNotFoundError:
            continue
    return [link for link in links if "/hesper-export" in link or "/attachments/" in link or link.startswith("socket:")]


@pytest.fixture
def large(fresh_server: Server) -> Client:
    """An account whose export exceeds the buffers of a connection."""
    client = fresh_server.client()
    attach(client, some_bytes(30 << 20))
    return client


def test_a_disconnected_client_leaves_no_open_files(fresh_server: Server, large: Client) -> None:
    before = len(open_files(fresh_server.pid))
    for bytes_taken in (0, 1000, 5 << 20):
        response = Client(large.url, large.token).get("/v1/export", stream=True)
        response.raw.read(bytes_taken)
        response.close()
    # One connection of the test itself may still be open.
    wait_until(lambda: len(open_files(fresh_server.pid)) <= before + 1)
    assert len(export(large).document["attachments"]) == 1
    assert fresh_server.process.poll() is None


def test_at_most_two_concurrent_exports(fresh_server: Server, large: Client) -> None:
    waiting = [Client(large.url, large.token).get("/v1/export", stream=True) for _ in range(2)]
    assert [response.status_code for response in waiting] == [200, 200]
    refused = large.get("/v1/export")
    check_problem(refused, "too-many-requests", 429)
    assert int(refused.headers["Retry-After"]) > 0
    # The limit applies per account.
    assert export(fresh_server.client()).names == ["hesper.json"]
    for response in waiting:
        response.close()
    wait_until(lambda: large.get("/v1/export").status_code == 200)


def test_missing_attachments_are_listed(fresh_server: Server, large: Client) -> None:
    lost = attach(large, PICTURE, filename="lost.png")
    (found,) = (fresh_server.data / "attachments").rglob(f"{lost}.*")
    found.unlink()
    exported = export(large)
    assert exported.document["missing"] == [lost]
    assert lost in exported.zip.read("MISSING.txt").decode()
    assert lost not in exported.document["files"] and lost in exported.ids("attachments")
    assert f"Attachment {lost} (lost.png) is missing" in fresh_server.log


def test_no_space_for_temporary_files() -> None:
    with Server(environment={"TMPDIR": "/proc"}) as server:
        client = server.client()
        response = client.get("/v1/export")
        check_problem(response, "unavailable", 503)
        assert client.get("/v1/account").status_code == 200
