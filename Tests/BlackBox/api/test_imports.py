"""Imports on the server (protocol.md, Imports): upload, preview, start, report, and what can go wrong.

The formats are tested by `command/test_move_in.py`; the worker of the server and the command use the same code."""

import io
import json
import os
import threading
import time
import zipfile
from pathlib import Path

import pytest
from attachments import some_bytes
from client import Client, Server
from database import query
from device import Device
from events import Events
from move_in import enex, enml, evernote, keep, packed, simplenote
from waiting import wait_until

pytestmark = pytest.mark.both_stores

UNFINISHED = ("uploading", "reading", "writing")
PART = {"Content-Type": "application/partial-upload"}


def made(make, folder: Path) -> bytes:
    """The file that one of the functions of `move_in` makes."""
    make(folder / "made")
    return (folder / "made").read_bytes()


def notes_zip(count: int, **members: object) -> bytes:
    """An export of Simplenote with so many notes."""
    date = "2019-05-06T07:08:09.000Z"
    notes = [{"id": str(index), "content": f"Note {index}\n\nwords {index}", "creationDate": date, "tags": [f"tag {index % 7}"]} | members
             for index in range(count)]  # fmt: skip
    return packed({"source/notes.json": json.dumps({"activeNotes": notes, "trashedNotes": []})})


def create(client: Client, data: bytes, name: str | None = "notes.zip") -> str:
    """Creates an import. Returns its path."""
    response = client.post("/v1/imports", {"byteCount": len(data)} | ({"name": name} if name else {}))
    assert response.status_code == 201, response.text
    assert response.json()["state"] == "uploading"
    assert response.headers["Location"] == f"/v1/imports/{response.json()['uniqueID']}"
    return response.headers["Location"]


def append(client: Client, path: str, data: bytes, at: int = 0, complete: bool = True):
    headers = PART | {"Upload-Offset": str(at), "Upload-Complete": "?1" if complete else "?0", "Content-Length": str(len(data))}
    return client.patch(f"{path}/data", data=data, headers=headers)


def offset(client: Client, path: str) -> int:
    response = client.request("HEAD", f"{path}/data")
    assert response.status_code == 204
    return int(response.headers["Upload-Offset"])


def upload(client: Client, data: bytes, name: str | None = "notes.zip") -> str:
    path = create(client, data, name)
    response = append(client, path, data)
    assert (response.status_code, response.headers["Upload-Complete"]) == (200, "?1"), response.text
    assert response.json()["state"] in ("reading", "ready", "failed")
    return path


def settled(client: Client, path: str, seconds: float = 60, beyond: tuple[str, ...] = UNFINISHED) -> dict:
    """The import, when the server has finished its work on it."""
    end = time.monotonic() + seconds
    while (found := client.get(path).json())["state"] in beyond:
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


def run(client: Client, data: bytes, name: str | None = "notes.zip") -> tuple[dict, dict]:
    """Imports a file. Returns the import when it is ready, and when it is done."""
    path = upload(client, data, name)
    ready = settled(client, path)
    assert ready["state"] == "ready", ready
    assert client.post(f"{path}/start").status_code == 202
    return ready, settled(client, path)


def texts(client: Client) -> list[str]:
    return sorted(note["text"] for note in client.read_all()[0]["notes"])


def test_simplenote_end_to_end_and_twice(client: Client, tmp_path: Path) -> None:
    data = made(simplenote, tmp_path)
    assert client.get("/v1/imports").json() == {"imports": []}
    path = create(client, data)
    assert client.get("/v1/imports").json()["imports"][0]["uniqueID"] == path.rpartition("/")[2]
    assert append(client, path, data).status_code == 200
    ready = settled(client, path)
    assert (ready["state"], ready["name"], ready["byteCount"]) == ("ready", "notes.zip", len(data))
    assert ready["preview"] == {
        "notes": 2, "tags": 1, "pictures": 0, "files": 0, "objects": 0, "trashed": 1, "ignored": 0, "skippedCount": 0, "skipped": [],
    }  # fmt: skip
    assert texts(client) == []
    started = client.post(f"{path}/start")
    assert started.status_code == 202
    done = settled(client, path)
    assert (done["state"], done["done"], done["total"]) == ("done", 2, 2)
    assert done["report"] == {
        "new": 2, "changed": 0, "unchanged": 0, "deleted": 0, "tags": 1, "attachments": 0, "objects": 0, "deletions": 0,
        "trashed": 1, "ignored": 0, "skippedCount": 0, "skipped": [],
    }  # fmt: skip
    assert client.post(f"{path}/start").json()["state"] == "done"
    assert texts(client) == ["Plan", "Rome\nA [[Plan|plan]]"]
    (rome,) = [note for note in client.get("/v1/notes").json()["notes"] if "Rome" in note["text"]]
    edit = client.get(f"/v1/notes/{rome['uniqueID']}/edits").json()["edits"][0]
    assert edit["pushedBy"]["uniqueID"] == client.device["uniqueID"]
    before = client.sync()["digest"]
    # A finished import is replaced by the next one.
    again = run(client, data)[1]
    assert (again["report"]["new"], again["report"]["unchanged"]) == (0, 2)
    assert client.sync()["digest"] == before


def test_a_preview_counts_pictures_and_names_what_is_skipped(client: Client, tmp_path: Path) -> None:
    ready, done = run(client, made(keep, tmp_path), "takeout.zip")
    assert [ready["preview"][name] for name in ("notes", "tags", "pictures", "trashed")] == [2, 1, 1, 1]
    assert done["report"]["attachments"] == 1
    ready, done = run(client, made(evernote, tmp_path), "travel.enex")
    assert [ready["preview"][name] for name in ("notes", "tags", "pictures")] == [2, 1, 1]
    assert (done["report"]["new"], done["report"]["attachments"]) == (2, 1)
    crypt = enex(f"<title>A</title><content>{enml('<en-crypt>QUJD</en-crypt>')}</content>", "<title>B</title><content>a & b</content>")
    ready, done = run(client, crypt.encode(), "a.enex")
    for found in (ready["preview"], done["report"]):
        assert found["skippedCount"] == len(found["skipped"]) == 2
        assert [each["path"] for each in found["skipped"]] == ["a.enex, A, encrypted text", "a.enex, B"]
        assert found["skipped"][0]["reason"].startswith("It is encrypted")
    assert "server" not in json.dumps(done).lower()


def test_texts_and_files_that_do_not_belong_together(client: Client) -> None:
    """Without a name of the archive, a note is identified by the name and the text of its file."""
    run(client, packed({"a.md": "One", "b.md": "Two"}), None)
    ready, done = run(client, packed({"a.md": "Another", "b.md": "Two"}), None)
    assert "name" not in ready
    assert (done["report"]["new"], done["report"]["unchanged"]) == (1, 1)
    run(client, b"Alone", "single.txt")
    assert run(client, b"Alone", "single.txt")[1]["report"]["unchanged"] == 1
    assert texts(client) == ["Alone", "Another", "One", "Two"]
    # With a name, it is identified by its path.
    run(client, packed({"a.md": "Before"}), "folder.zip")
    assert run(client, packed({"a.md": "After"}), "folder.zip")[1]["report"]["changed"] == 1


def test_an_export_of_hesper_is_imported_with_its_ids(client: Client, server: Server) -> None:
    client.post("/v1/notes", {"text": "Milk", "attributes": {"pinned": True}})
    data = client.get("/v1/export").content
    digest = client.sync()["digest"]
    other = server.client()
    ready, done = run(other, data, "hesper.zip")
    assert (ready["preview"]["notes"], done["report"]["new"]) == (1, 1)
    assert other.sync()["digest"] == digest


def test_an_interrupted_upload_is_resumed(client: Client) -> None:
    data = packed({"Notes/a.md": "text", "Notes/film.bin": some_bytes(900_000)})
    path = create(client, data, "Notes.zip")
    assert append(client, path, data[:300_000], complete=False).status_code == 204
    assert offset(client, path) == 300_000
    wrong = append(client, path, data[200_000:], 200_000)
    assert (wrong.status_code, wrong.json()["slug"], wrong.json()["uploadOffset"]) == (409, "upload-offset", 300_000)
    # A request that is cut off.
    with pytest.raises(Exception):  # noqa: B017 - the kind of the error does not matter
        client.patch(f"{path}/data", data=iter([data[300_000:500_000], 7]), headers=PART | {"Upload-Offset": "300000", "Upload-Complete": "?1"})
    assert client.get(path).json()["state"] == "uploading"
    # The server may still be storing the bytes of that request.
    end = time.monotonic() + 30
    while (last := append(client, path, data[(at := offset(client, path)) :], at)).status_code == 409:
        assert time.monotonic() < end
    assert last.status_code == 200 and at >= 300_000
    # For a client that did not receive that response.
    assert append(client, path, b"", len(data)).status_code == 200
    assert offset(client, path) == len(data)
    assert settled(client, path)["preview"]["notes"] == 1
    assert append(client, path, data[:9], 9).json()["slug"] == "upload-offset"


def test_the_length_is_exact(client: Client) -> None:
    path = create(client, b"12345")
    assert append(client, path, b"123456").json()["slug"] == "invalid-field"
    offset(client, path)
    short = create_again(client, path, b"12345")
    response = append(client, short, b"123")
    assert (response.status_code, response.json()["pointer"]) == (422, "Upload-Length")
    chunks = iter([b"123"])  # without Content-Length
    headers = PART | {"Upload-Offset": "0", "Upload-Complete": "?1"}
    response = client.patch(f"{short}/data", data=chunks, headers=headers)
    assert (response.status_code, response.json()["pointer"]) == (422, "Upload-Complete")
    assert append(client, short, b"45", 3).status_code == 200
    assert settled(client, short)["state"] == "failed"


def create_again(client: Client, path: str, data: bytes) -> str:
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    return create(client, data)


def test_a_second_import_is_refused(client: Client, server: Server) -> None:
    data = notes_zip(1)
    path = create(client, data)
    for body in ({"byteCount": 9}, {"name": "b.zip", "byteCount": 9}):
        response = client.post("/v1/imports", body)
        assert (response.status_code, response.json()["slug"]) == (409, "import-conflict")
    early = client.post(f"{path}/start")
    assert (early.status_code, early.json()["slug"]) == (409, "import-conflict")
    assert server.client().post("/v1/imports", {"byteCount": 9}).status_code == 201
    append(client, path, data)
    settled(client, path)
    assert client.post("/v1/imports", {"byteCount": 9}).status_code == 409
    create_again(client, path, data)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({}, "/byteCount"), ({"byteCount": 0}, "/byteCount"), ({"byteCount": "9"}, "/byteCount"), ({"byteCount": 9, "name": ""}, "/name"),
     ({"byteCount": 9, "name": "../a"}, "/name"), ({"byteCount": 9, "name": "x" * 256}, "/name"), ({"byteCount": 9, "x": 1}, "/x")],
)  # fmt: skip
def test_invalid_imports_are_refused(somebody: Client, body: dict, pointer: str) -> None:
    response = somebody.post("/v1/imports", body)
    assert (response.status_code, response.json()["pointer"]) == (422, pointer)


def test_the_maximum_size(client: Client) -> None:
    limit = client.get("/v1/server").json()["limits"]["importBytes"]
    assert limit == 4 << 30
    response = client.post("/v1/imports", {"byteCount": limit + 1})
    assert (response.status_code, response.json()["slug"], response.json()["limit"]) == (413, "too-large", limit)
    path = client.post("/v1/imports", {"byteCount": limit}).headers["Location"]
    assert client.request("HEAD", f"{path}/data").headers["Upload-Length"] == str(limit)


def encrypted() -> bytes:
    data = bytearray(packed({"a.md": "x" * 100}))
    for start in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[start] |= 1  # the flag "encrypted"
    return bytes(data)


def bomb() -> bytes:
    """Bzip2 achieves a ratio that is impossible for the usual method."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_BZIP2) as archive:
        for index in range(100):
            archive.writestr(f"{index}.md", b"a" * 1_000_000)
    return buffer.getvalue()


def too_many_files() -> bytes:
    """100,001 empty files."""
    return packed(dict.fromkeys((f"{index}.md" for index in range(100_001)), b""))


@pytest.mark.thorough_on_postgresql
@pytest.mark.parametrize(
    ("data", "name", "problem"),
    [(lambda: b"not a zip", "notes.zip", "must be a folder, a zip file"), (lambda: b"PK\x03\x04" + bytes(100), "a.zip", "damaged"),
     (lambda: packed({"hesper.json": '{"format": "hesper-export", "formatVersion": 99}'}), "a.zip", "later version"),
     (lambda: notes_zip(20)[:-60], "a.zip", "damaged"), (encrypted, "a.zip", "encrypted"), (too_many_files, "a.zip", "100000"),
     (lambda: packed({}), "empty.zip", "empty")],
    ids=["no zip", "only a header", "a later version", "truncated", "encrypted", "too many files", "empty"],
)  # fmt: skip
def test_a_file_that_cannot_be_read(client: Client, data, name: str, problem: str) -> None:
    path = upload(client, data(), name)
    failed = settled(client, path)
    assert failed["state"] == "failed"
    assert problem in failed["problem"], failed["problem"]
    assert "/" not in failed["problem"], "the path of a temporary file is shown"
    assert client.post(f"{path}/start").json()["slug"] == "import-conflict"
    assert texts(client) == []
    assert run(client, notes_zip(1))[1]["report"]["new"] == 1


@pytest.mark.thorough_on_postgresql
def test_a_zip_bomb(client: Client) -> None:
    failed = settled(client, upload(client, bomb(), "bomb.zip"))
    assert failed["state"] == "failed"
    assert "zip bomb" in failed["problem"]


def test_the_quota_applies(fresh_server: Server) -> None:
    client = fresh_server.client(email="ada@example.org")
    assert fresh_server.command("account", "set-quota", "ada@example.org", "50000").returncode == 0
    data = packed({"Notes/A.md": "![](large.png)", "Notes/large.png": os.urandom(100_000)})
    ready, done = run(client, data, "Notes.zip")
    assert ready["preview"]["pictures"] == 1
    assert (done["report"]["new"], done["report"]["attachments"], done["report"]["skippedCount"]) == (1, 0, 1)
    assert done["report"]["skipped"][0]["path"] == "A.md, large.png"
    assert fresh_server.command("account", "set-quota", "ada@example.org", "1000000").returncode == 0
    again = run(client, data, "Notes.zip")[1]
    assert (again["report"]["changed"], again["report"]["attachments"]) == (1, 1)


def test_progress_is_in_the_event_stream(client: Client, server: Server) -> None:
    other, stranger = client.another_device(), server.client()
    with Events(other) as events, Events(stranger, closeAfter="changes") as silent:
        path = upload(client, notes_zip(400))
        states, dones = [], []
        while not states or states[-1] != "ready":
            event = events.next()
            if event.name == "import":
                assert event.id is None
                assert set(event.data) == {"uniqueID", "state", "done", "total"}
                states.append(event.data["state"])
        assert client.post(f"{path}/start").status_code == 202
        while states[-1] != "done":
            event = events.next()
            if event.name == "import":
                states.append(event.data["state"])
                dones.append(event.data["done"])
        # A state that was not sent yet is replaced by the next one.
        order = ["uploading", "reading", "ready", "writing", "done"]
        assert list(dict.fromkeys(states)) == [state for state in order if state in states]
        assert dones == sorted(dones) and dones[-1] == 400
        assert client.delete(path).status_code == 204
        while (event := events.next()).name != "import":
            pass
        assert event.data["state"] == "deleted"
        stranger.post("/v1/notes", {"text": "x"})
        while (event := silent.next()) is not None and event.name != "changes":
            assert event.name != "import"
    device = Device(other)
    device.sync()
    assert len(device.notes) == 400
    client.wait_for_index()
    assert len(client.get("/v1/search", params={"q": "words 123"}).json()["results"]) >= 1


def test_deleting_while_writing(client: Client) -> None:
    path = upload(client, notes_zip(2_000))
    assert settled(client, path)["state"] == "ready"
    assert client.post(f"{path}/start").status_code == 202
    wait_until(lambda: client.read_all()[0]["notes"], pause=0)
    assert client.delete(path).status_code == 204
    count = len(client.read_all()[0]["notes"])
    assert client.get("/v1/imports").json() == {"imports": []}
    # Nothing is written after the deletion, also not by the time that the next import is done.
    assert run(client, packed({"a.md": "next"}), "next.zip")[1]["state"] == "done"
    assert len(client.read_all()[0]["notes"]) == count + 1
    assert count < 2_000


def test_requests_of_devices_continue_while_notes_are_written(client: Client, server: Server) -> None:
    other = server.client()
    path = upload(client, notes_zip(1_500))
    assert settled(client, path)["state"] == "ready"
    client.post(f"{path}/start")
    written = 0
    while client.get(path).json()["state"] == "writing":
        for each in (client, other):
            assert each.post("/v1/notes", {"text": "meanwhile"}).status_code == 201
        written += 1
    assert written >= 2
    assert len(client.read_all()[0]["notes"]) == 1_500 + written


def test_the_work_continues_after_a_crash(fresh_server: Server) -> None:
    client = fresh_server.client(email="ada@example.org")
    data = notes_zip(2_500)
    path = upload(client, data)
    assert settled(client, path)["state"] == "ready"
    assert client.post(f"{path}/start").status_code == 202
    wait_until(lambda: client.read_all()[0]["notes"], pause=0)
    fresh_server.kill()
    query(fresh_server, "DELETE FROM leases")  # as if they had expired
    fresh_server.start()
    client.url = fresh_server.url
    assert client.get(path).json()["state"] == "writing"
    assert 0 < len(client.read_all()[0]["notes"]) < 2_500
    done = settled(client, path)
    assert done["state"] == "done"
    assert done["report"]["new"] < 2_500
    assert done["report"]["new"] + done["report"]["unchanged"] == 2_500
    assert len(client.read_all()[0]["notes"]) == 2_500
    # Files are removed after the state is set.
    wait_until(lambda: not list((fresh_server.data / "imports").iterdir()) and not list((fresh_server.data / "uploads").glob("*")))
    assert fresh_server.command("check").returncode == 0


def test_a_file_that_ends_the_server_fails(fresh_server: Server) -> None:
    client = fresh_server.client()
    path = upload(client, notes_zip(2_000))
    settled(client, path)
    client.post(f"{path}/start")
    wait_until(lambda: client.read_all()[0]["notes"], pause=0)
    fresh_server.kill()
    assert int(query(fresh_server, "SELECT attempts FROM imports")[0][0]) == 1
    query(fresh_server, "UPDATE imports SET attempts = 5")
    query(fresh_server, "DELETE FROM leases")
    fresh_server.start()
    client.url = fresh_server.url
    failed = settled(client, path)
    assert (failed["state"], failed["problem"]) == ("failed", "The server stopped several times while it imported this file. Split the file, or ask the operator to check the log.")
    assert run(client, notes_zip(1))[1]["state"] == "done"


def make_older(server: Server, hours: int) -> None:
    update = "UPDATE imports SET creation_date = creation_date - "
    query(server, f"{update}{hours * 3_600_000}", f"{update}interval '{hours} hours'")


def test_an_unfinished_import_is_removed_after_a_day(fresh_server: Server) -> None:
    client = fresh_server.client()
    path = create(client, b"12345")
    append(client, path, b"123", complete=False)
    other = fresh_server.client()
    report = run(other, notes_zip(1))[1]
    fresh_server.stop()
    make_older(fresh_server, 23)
    fresh_server.start()
    assert client.get(path).status_code == 200
    assert 3_000 < int(client.request("HEAD", f"{path}/data").headers["Upload-Limit"].rpartition("=")[2]) <= 3_600
    fresh_server.stop()
    make_older(fresh_server, 2)
    fresh_server.start()
    wait_until(lambda: client.get(path).status_code == 404)
    # A finished one remains, so that its report can be read.
    (kept,) = other.get("/v1/imports").json()["imports"]
    assert kept | {"creationDate": ""} == report | {"creationDate": ""}
    # The uploaded bytes are removed after the import.
    if fresh_server.database:
        wait_until(lambda: query(fresh_server, "", "SELECT count(*) FROM staged_uploads") == [("0",)])
    else:
        wait_until(lambda: not list((fresh_server.data / "uploads").iterdir()))


def test_bytes_that_were_lost(fresh_server: Server) -> None:
    """As after a restore of the database."""
    client, other = fresh_server.client(), fresh_server.client()
    path = upload(client, notes_zip(1))
    assert settled(client, path)["state"] == "ready"
    begun = create(other, b"12345")
    fresh_server.stop()
    if fresh_server.database:
        query(fresh_server, "", "DELETE FROM upload_parts")
        query(fresh_server, "", "DELETE FROM staged_uploads")
    else:
        for file in (fresh_server.data / "uploads").iterdir():
            file.unlink()
    fresh_server.start()
    assert client.post(f"{path}/start").status_code == 202
    failed = settled(client, path)
    assert (failed["state"], failed["problem"]) == ("failed", "The server no longer has the file. Upload it again.")
    assert other.request("HEAD", f"{begun}/data").status_code == 404
    assert other.get("/v1/imports").json() == {"imports": []}


def test_deleting_the_account_while_writing(fresh_server: Server) -> None:
    client = fresh_server.client()
    path = upload(client, notes_zip(2_000))
    settled(client, path)
    client.post(f"{path}/start")
    assert client.delete("/v1/account", json={"password": client.password}).status_code == 204
    other = fresh_server.client()
    assert run(other, notes_zip(1))[1]["state"] == "done"
    assert "Importing failed" not in fresh_server.log
    fresh_server.stop()
    assert list((fresh_server.data / "imports").iterdir()) == []


def test_the_imports_of_accounts_are_separate(client: Client, server: Server) -> None:
    """`test_isolation.py` sends every request with the ID of another account."""
    other = server.client()
    results: dict[str, dict] = {}

    def work(name: str, who: Client) -> None:
        results[name] = run(who, packed({f"{name}/a.md": name}), f"{name}.zip")[1]

    threads = [threading.Thread(target=work, args=each) for each in (("own", client), ("others", other))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[name]["report"]["new"] for name in ("own", "others")] == [1, 1]
    assert (texts(client), texts(other)) == (["own"], ["others"])
    path = f"/v1/imports/{results['own']['uniqueID']}"
    assert [other.get(path).status_code, other.delete(path).status_code, other.post(f"{path}/start").status_code] == [404] * 3
    assert client.get(path).status_code == 200
