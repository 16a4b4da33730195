"""Capturing: notes as plain text and forms, tags by name, and additions to notes (protocol.md, Capturing)."""

import uuid

import pytest
from client import Client
from device import Device
from rows import check_holds, check_problem

pytestmark = pytest.mark.both_stores

PLAIN = {"Content-Type": "text/plain"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def note(somebody: Client) -> str:
    return somebody.post("/v1/notes", {"text": "Shopping\nMilk"}).json()["uniqueID"]


def add(client: Client, note: str, text: str, where: str = "append", **options) -> dict:
    response = client.post(f"/v1/notes/{note}/{where}", {"text": text}, **options)
    assert response.status_code == 200, response.text
    assert response.json() == client.get(f"/v1/notes/{note}").json()
    assert response.headers["ETag"] == client.get(f"/v1/notes/{note}").headers["ETag"]
    return response.json()


# MARK: Bodies


@pytest.mark.parametrize("kind", ["text/plain", "Text/Plain; charset=utf-8"])
def test_a_note_from_plain_text(somebody: Client, kind: str) -> None:
    text = "Mülch 🥛\r\n\n- [ ] Bread\n"
    response = somebody.request("POST", "/v1/notes", data=text.encode(), headers={"Content-Type": kind})
    assert response.status_code == 201, response.text
    check_holds(somebody.get(response.headers["Location"]).json(), {"text": text, "tags": [], "archived": False})


def test_a_note_from_a_form(client: Client) -> None:
    body = "text=Milk+%26+eggs%0AÜ&tagNames=Shopping,%20at%20home%20,,shopping".encode()
    note = client.request("POST", "/v1/notes", data=body, headers=FORM).json()
    names = sorted(client.get(f"/v1/tags/{tag}").json()["name"] for tag in note["tags"])
    assert (note["text"], names) == ("Milk & eggs\nÜ", ["Shopping", "at home"])
    assert client.request("POST", "/v1/notes", data="text=", headers=FORM).json()["text"] == ""


@pytest.mark.parametrize(
    ("body", "headers", "slug", "status"),
    [
        (b"\xff", PLAIN, "malformed-request", 400),
        (b"a\0b", PLAIN, "invalid-field", 422),
        (b"x" * (2**20 + 1), PLAIN, "invalid-field", 422),
        (b"text=%ff", FORM, "malformed-request", 400),
        (b"text=a&text=b", FORM, "invalid-field", 422),
        (b"title=a", FORM, "unknown-field", 422),
        (b"<p>", {"Content-Type": "text/html"}, "unsupported-media-type", 415),
    ],
)
def test_bodies_that_are_refused(somebody: Client, note: str, body: bytes, headers: dict, slug: str, status: int) -> None:
    before = somebody.get(f"/v1/notes/{note}").json()
    for path in ("/v1/notes", f"/v1/notes/{note}/append"):
        check_problem(somebody.request("POST", path, data=body, headers=headers), slug, status)
    assert somebody.get(f"/v1/notes/{note}").json() == before


def test_other_routes_accept_only_json(somebody: Client, note: str) -> None:
    for method, path in (("PUT", f"/v1/notes/{note}"), ("PATCH", f"/v1/notes/{note}"), ("POST", "/v1/tags")):
        response = somebody.request(method, path, data=b"Milk", headers=PLAIN)
        check_problem(response, "unsupported-media-type", 415)


# MARK: Tags by name


def test_tags_by_name(client: Client) -> None:
    kitchen = client.post("/v1/tags", {"name": "Kitchen"}).json()["uniqueID"]
    other = client.post("/v1/tags", {"name": "Other"}).json()["uniqueID"]
    note = client.post("/v1/notes", {"text": "Milk", "tags": [other], "tagNames": [" KITCHEN", "New", "new "]}).json()
    [new] = set(note["tags"]) - {kitchen, other}
    assert len(note["tags"]) == 3 and client.get(f"/v1/tags/{new}").json()["name"] == "New"
    path = f"/v1/notes/{note['uniqueID']}"
    # In a patch, the list of tags is replaced.
    assert client.patch(path, {"tagNames": ["new"]}).json()["tags"] == [new]
    assert client.patch(path, {"text": "Bread"}).json()["tags"] == [new]
    assert client.put(path, {"text": "Bread", "tagNames": ["Kitchen"]}).json()["tags"] == [kitchen]
    assert client.patch(path, {"tagNames": []}).json()["tags"] == []
    names = sorted(each["name"] for each in client.get("/v1/changes").json()["changes"]["tags"])
    assert names == ["Kitchen", "New", "Other"]


@pytest.mark.parametrize(
    ("names", "pointer"),
    [("Kitchen", "/tagNames"), (["a", 1], "/tagNames/1"), (["a", " "], "/tagNames/1"), (["x" * 257], "/tagNames/0"),
     (["a"] * 1_001, "/tagNames")],
)  # fmt: skip
def test_names_that_are_refused(client: Client, names: object, pointer: str) -> None:
    check_problem(client.post("/v1/notes", {"text": "x", "tagNames": names}), "invalid-field", 422, pointer)
    changes = client.get("/v1/changes").json()["changes"]
    assert not changes["notes"] and not changes["tags"]


# MARK: Additions


@pytest.mark.parametrize(
    ("text", "where", "addition", "result"),
    [
        ("", "append", "Milk", "Milk"),
        ("A", "append", "B", "A\nB"),
        ("A\n", "append", "B\n", "A\nB\n"),
        ("A\n\n", "append", "B", "A\n\nB"),
        ("A", "append", "", "A\n"),
        ("A\r\n", "append", "B", "A\r\nB"),
        ("", "prepend", "B", "B"),
        ("A", "prepend", "B", "A\nB"),
        ("A\n", "prepend", "B", "A\nB"),
        ("A\nC", "prepend", "B", "A\nB\nC"),
        ("A\nC", "prepend", "B\n", "A\nB\nC"),
        ("A\r\nC", "prepend", "B", "A\r\nB\nC"),
        ("\nC", "prepend", "B", "\nB\nC"),
    ],
)
def test_where_text_is_added(somebody: Client, text: str, where: str, addition: str, result: str) -> None:
    note = somebody.post("/v1/notes", {"text": text}).json()["uniqueID"]
    assert add(somebody, note, addition, where)["text"] == result


def test_additions_as_plain_text_and_form(somebody: Client, note: str) -> None:
    path = f"/v1/notes/{note}/append"
    assert somebody.request("POST", path, data="Öl\n".encode(), headers=PLAIN).status_code == 200
    assert somebody.request("POST", path, data="text=eggs", headers=FORM).status_code == 200
    assert somebody.get(f"/v1/notes/{note}").json()["text"] == "Shopping\nMilk\nÖl\neggs"
    check_problem(somebody.request("POST", path, data="text=a&tagNames=b", headers=FORM), "unknown-field", 422)


def test_additions_merge_with_edits_of_devices(pair: list[Device]) -> None:
    """A device was offline while a script appended and prepended."""
    a, _ = pair
    note = a.make_note("Log\nfirst")
    a.sync()
    a.write(note, "Log (today)\nfirst, changed")
    script = Client(a.client.url, a.client.token)
    add(script, note, "last")
    add(script, note, "newest", "prepend")
    a.sync()
    a.sync()
    text = script.get(f"/v1/notes/{note}").json()["text"]
    assert sorted(text.split("\n")) == sorted(["Log (today)", "newest", "first, changed", "last"])
    assert text.startswith("Log (today)\n") and text.endswith("\nlast")


def test_a_retry_adds_nothing(somebody: Client, note: str) -> None:
    key = {"Idempotency-Key": str(uuid.uuid4())}
    first = somebody.post(f"/v1/notes/{note}/append", {"text": "eggs"}, headers=key)
    again = somebody.post(f"/v1/notes/{note}/append", {"text": "eggs"}, headers=key)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.headers["Idempotency-Replayed"] == "true" and "Idempotency-Replayed" not in first.headers
    assert again.json()["text"] == "Shopping\nMilk\neggs"
    other = somebody.post(f"/v1/notes/{note}/append", {"text": "other"}, headers=key)
    check_problem(other, "idempotency-key-reused", 422)
    # The key is valid for one note and one place.
    assert add(somebody, note, "eggs", "prepend", headers=key)["text"] == "Shopping\neggs\nMilk\neggs"


def test_additions_that_are_refused(somebody: Client, note: str) -> None:
    path = f"/v1/notes/{note}/append"
    check_problem(somebody.post(path, {}), "invalid-field", 422, "/text")
    check_problem(somebody.post(path, {"text": 1}), "invalid-field", 422, "/text")
    check_problem(somebody.post(path, {"text": "a\0"}), "invalid-field", 422, "/text")
    check_problem(somebody.post(path, {"text": "a", "archived": True}), "unknown-field", 422, "/archived")
    large = somebody.post("/v1/notes", {"text": "x" * (2**20 - 1)}).json()["uniqueID"]
    check_problem(somebody.post(f"/v1/notes/{large}/append", {"text": "y"}), "invalid-field", 422, "/text")
    assert somebody.get(f"/v1/notes/{large}").json()["text"] == "x" * (2**20 - 1)
    check_problem(somebody.post(f"/v1/notes/{uuid.uuid4()}/append", {"text": "y"}), "not-found", 404)
    check_problem(somebody.post("/v1/notes/x/append", {"text": "y"}), "not-found", 404)
    somebody.delete(f"/v1/notes/{note}")
    check_problem(somebody.post(path, {"text": "y"}), "deleted", 410)
    tag = somebody.post("/v1/tags", {"name": str(uuid.uuid4())}).json()["uniqueID"]
    check_problem(somebody.post(f"/v1/notes/{tag}/append", {"text": "y"}), "not-found", 404)
