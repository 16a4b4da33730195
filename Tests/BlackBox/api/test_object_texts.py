"""Texts and files of app objects: merged, held, listed in histories, reverted and carried as those of notes."""

import json
import time

import pytest
from attachments import attach, download, some_bytes
from client import Client, Server
from convergence import check_same, settle
from database import make_older, query
from desk import A, B, at
from local_copy import LocalCopy
from push import missing_on_server
from rows import DATE, Row, check_problem, parametrize
from test_revocations import finished, moment_of, revoke
from writer import Writer, deleted, new_id, rescue_of

pytestmark = pytest.mark.both_stores

PATH = "/v1/objects/{id}"
SOUP = {"objectType": "recipe", "attributes": {"title": "Soup"}, "texts": {"method": "Boil.\n"}}


def change(unique_id: str, clock: str, kind: str | None = None, texts: dict | None = None, files: dict | None = None,
           bases: dict | None = None, after: list[str] = (), **more) -> dict:  # fmt: skip
    """A change of texts and files, all at one clock."""
    made = {"uniqueID": unique_id, "clocks": {}, **more}
    if kind:
        made["objectType"] = kind
    for name, values in (("texts", texts), ("files", files)):
        if values:
            made[name] = values
            made["clocks"][name] = dict.fromkeys(values, clock)
    if texts:
        made["textsAfter"] = dict.fromkeys(texts, list(after))
    if bases:
        made["textBases"] = bases
    return made


def push(writer: Writer, *changes: dict) -> list[dict]:
    return writer.push(objects=list(changes))["results"]


def state(writer: Writer, unique_id: str) -> dict:
    return writer.state("objects", unique_id) or {}


def edits(client: Client, unique_id: str) -> list[dict]:
    response = client.get(f"/v1/objects/{unique_id}/edits")
    assert response.status_code == 200, response.text
    return response.json()["edits"]


# Merging


def test_two_devices_edit_one_text_and_another_text_is_left_alone(writer):
    recipe = new_id()
    push(writer, change(recipe, at(1), "recipe", {"method": "Boil.\n", "notes": "Good.\n"}))
    [result] = push(writer, change(recipe, at(2, A), None, {"method": "Peel.\nBoil.\n"}, bases={"method": at(1)}))
    assert result["status"] == "applied"
    [result] = push(writer, change(recipe, at(3, B), None, {"method": "Boil.\nServe.\n"}, bases={"method": at(1)}))
    assert result["fields"]["texts.method"]["outcome"] == "merged"
    shown = state(writer, recipe)
    assert shown["texts"] == {"method": "Peel.\nBoil.\nServe.\n", "notes": "Good.\n"}
    assert shown["clocks"]["texts"]["notes"] == at(1)
    plain = writer.client.get(PATH.format(id=recipe)).json()
    assert plain == {"uniqueID": recipe, "objectType": "recipe", "attributes": {}, "texts": shown["texts"]}


def test_the_text_written_last_wins_in_either_order_of_pushes(writer):
    recipe = new_id()
    push(writer, change(recipe, at(1), "recipe", {"method": "Milk"}))
    push(writer, change(recipe, at(3), None, {"method": "Milk and bread"}, bases={"method": at(1)}, after=[at(2)]))
    [result] = push(writer, change(recipe, at(2), None, {"method": "Milk and br"}, bases={"method": at(1)}))
    assert result["fields"]["texts.method"]["outcome"] == "superseded"
    assert state(writer, recipe)["texts"] == {"method": "Milk and bread"}


def test_a_base_that_the_server_lacks_is_sent_along(writer):
    recipe = new_id()
    push(writer, change(recipe, at(1), "recipe", {"method": "One\nTwo\n"}))
    push(writer, change(recipe, at(2), None, {"method": "One\nTwo\nThree\n"}, bases={"method": at(1)}))
    late = change(recipe, at(5, B), None, {"method": "Zero\nOne\nTwo\n"}, bases={"method": at(4, B)})
    late["textBaseValues"] = {"method": "One\nTwo\n"}
    push(writer, late)
    assert state(writer, recipe)["texts"]["method"] == "Zero\nOne\nTwo\nThree\n"


def test_an_object_is_pushed_in_parts(writer):
    """Its type may arrive last. Until then the object is in no feed."""
    recipe = new_id()
    push(writer, change(recipe, at(1), None, {"method": "Boil."}))
    push(writer, change(recipe, at(1), None, {"notes": "Good."}))
    assert state(writer, recipe) == {}
    [result] = push(writer, change(recipe, at(1), "recipe"))
    assert result["status"] == "applied"
    assert state(writer, recipe)["texts"] == {"method": "Boil.", "notes": "Good."}


# Plain routes

ROWS = [
    Row("patch a text", "PATCH", PATH, {"texts": {"method": "Fry."}}, holds={"texts": {"method": "Fry."}}),
    Row("put keeps texts and files that it does not name", "PUT", PATH, {"objectType": "recipe", "texts": {"notes": "x"}},
        holds={"texts": {"method": "Boil.\n", "notes": "x"}, "attributes": {"title": "Soup"}}),
    Row("put without texts", "PUT", PATH, {"objectType": "recipe"}, holds={"texts": {"method": "Boil.\n"}}),
    Row("a file that is null", "PATCH", PATH, {"files": {"photo": None}}, holds={"files": {"photo": None}}),
    Row("a text that is null", "PATCH", PATH, {"texts": {"method": None}}, 422,
        holds={"slug": "invalid-field", "pointer": "/texts/method"}),
    Row("a text that is too long", "PATCH", PATH, {"texts": {"method": "x" * (1 << 20) + "x"}}, 422,
        holds={"slug": "invalid-field", "pointer": "/texts/method"}),
    Row("a name that is too long", "PATCH", PATH, {"texts": {"n" * 65: "x"}}, 422,
        holds={"slug": "invalid-field", "pointer": "/texts/" + "n" * 65}),
    Row("more than four texts", "PATCH", PATH, {"texts": dict.fromkeys("abcd", "x")}, 422,
        holds={"slug": "invalid-field"}),
    Row("a file that is no ID", "PATCH", PATH, {"files": {"photo": "a.png"}}, 422,
        holds={"slug": "invalid-field", "pointer": "/files/photo"}),
    Row("texts of a note", "PUT", "/v1/notes/{id2}", {"texts": {"method": "x"}}, 422,
        holds={"slug": "unknown-field", "pointer": "/texts"}),
    Row("history", "GET", PATH + "/edits", holds={"edits": [
        {"attribute": "attributes.title", "value": "Soup"},
        {"attribute": "texts.method", "value": "Boil.\n", "pushedAt": DATE, "standing": True}]}),
    Row("history of an unknown object", "GET", "/v1/objects/{id2}/edits", status=404),
    Row("history of an object as that of a note", "GET", "/v1/notes/{id}/edits", status=404),
]  # fmt: skip


@parametrize(ROWS)
def test_plain_routes(row: Row, somebody: Client) -> None:
    made = somebody.post("/v1/objects", SOUP)
    assert made.status_code == 201, made.text
    row.run(somebody, {"id": made.json()["uniqueID"], "id2": new_id()})


def test_a_plain_write_with_if_match_is_merged(somebody):
    made = somebody.post("/v1/objects", SOUP)
    path = PATH.format(id=made.json()["uniqueID"])
    stale = somebody.patch(path, {"texts": {"method": "x"}}, headers={"If-Match": '"other"'})
    assert stale.status_code == 412
    response = somebody.patch(path, {"texts": {"method": "Boil.\nServe.\n"}}, headers={"If-Match": made.headers["ETag"]})
    assert (response.status_code, response.json()["texts"]) == (200, {"method": "Boil.\nServe.\n"})


# Deleting


def test_words_that_a_deletion_had_not_seen_are_in_a_new_object(writer):
    recipe = new_id()
    push(writer, change(recipe, at(1), "recipe", {"method": "Boil.\n", "notes": "Good.\n"}))
    push(writer, change(recipe, at(2, B), None, {"method": "Boil.\nServe.\n"}, bases={"method": at(1)}))
    seen = {"method": at(1), "notes": at(1)}
    answer = writer.push(deletedObjects=[deleted(recipe, "recipe", textsSeen=seen, textsAfter={})])
    [result] = answer["results"]
    assert (result["status"], result["rescuedInto"]) == ("rescued", rescue_of(recipe))
    rescued = state(writer, rescue_of(recipe))
    assert (rescued["objectType"], rescued["attributes"], rescued["texts"]) == ("recipe", {}, {"method": "Boil.\nServe.\n"})
    assert rescued["clocks"]["texts"] == {"method": at(2, B)}
    gone = writer.client.get(PATH.format(id=recipe))
    check_problem(gone, "deleted", 410)
    assert gone.json()["deletedObject"]["rescuedInto"] == rescue_of(recipe)
    # The unsent words of another device are merged with those of the new object.
    late = change(rescue_of(recipe), at(3), None, {"method": "Peel.\nBoil.\n"}, bases={"method": at(1)})
    push(writer, late)
    assert state(writer, rescue_of(recipe))["texts"]["method"] == "Peel.\nBoil.\nServe.\n"
    # The history of the deleted object can still be read.
    assert {edit["value"] for edit in edits(writer.client, recipe)} == {"Boil.\n", "Good.\n", "Boil.\nServe.\n"}


@pytest.mark.parametrize("seen", [None, {"method": at(2, B)}])
def test_a_deletion_that_had_seen_everything_rescues_nothing(writer, seen):
    recipe = new_id()
    push(writer, change(recipe, at(1), "recipe", {"method": "Boil.\n"}))
    push(writer, change(recipe, at(2, B), None, {"method": "Boil.\nServe.\n"}, bases={"method": at(1)}))
    [result] = writer.push(deletedObjects=[deleted(recipe, "recipe", **({"textsSeen": seen} if seen else {}))])["results"]
    assert result["status"] == "applied"
    assert state(writer, rescue_of(recipe)) == {}


def test_text_fields_of_the_wrong_type_of_object_are_refused(writer):
    rows = [
        (deleted(new_id(), "recipe", textSeen=""), "/deletedObjects/0/textSeen"),
        (deleted(new_id(), "note", textsSeen={}), "/deletedObjects/0/textsSeen"),
        (deleted(new_id(), "recipe", textsSeen={"method": "x"}), "/deletedObjects/0/textsSeen/method"),
        (deleted(new_id(), "recipe", textsSeen={}, textsAfter={"method": "x"}), "/deletedObjects/0/textsAfter/method"),
    ]
    for deletion, pointer in rows:
        [result] = writer.push(deletedObjects=[deletion])["results"]
        assert (result["status"], result["problem"]["pointer"]) == ("rejected", f"/changes{pointer}")


# Files


def test_a_file_is_held_by_one_object(writer):
    client = writer.client
    photo, one, two = attach(client, some_bytes(100)), new_id(), new_id()
    push(writer, change(one, at(1), "recipe", files={"photo": photo}), change(two, at(1), "recipe"))
    [result] = push(writer, change(two, at(2), files={"photo": photo}))
    assert result["fields"]["files.photo"]["problem"]["slug"] == "attachment-in-use"
    response = client.post("/v1/notes", {"text": "x", "attachments": [photo]})
    check_problem(response, "attachment-in-use", 409)
    # It moves in one push, in either order.
    results = push(writer, change(two, at(3), files={"photo": photo}), change(one, at(3), files={"photo": None}))
    assert [result["status"] for result in results] == ["applied", "applied"]
    assert (state(writer, one)["files"], state(writer, two)["files"]) == ({"photo": None}, {"photo": photo})


def test_two_devices_set_one_file_at_once(fresh_server: Server) -> None:
    client = fresh_server.client()
    writer = Writer(client)
    recipe, kept, lost = new_id(), attach(client, some_bytes(1_000, 1)), attach(client, some_bytes(1_000, 2))
    push(writer, change(recipe, at(2, B), "recipe", files={"photo": kept}))
    [result] = push(writer, change(recipe, at(2, A), files={"photo": lost}))
    assert result["fields"]["files.photo"] == {"outcome": "superseded", "clock": at(2, B)}
    assert state(writer, recipe)["files"] == {"photo": kept}
    fresh_server.stop()
    make_older(fresh_server, 31)
    age = "UPDATE blobs SET unheld_since = unheld_since - "
    query(fresh_server, f"{age}{31 * 86_400_000}", f"{age}interval '31 days'")
    fresh_server.start()
    for _ in range(600):
        if client.get(f"/v1/attachments/{lost}").status_code == 410:
            break
        time.sleep(0.05)
    assert client.get(f"/v1/attachments/{lost}").status_code == 410
    assert download(client, kept) == some_bytes(1_000, 1)


# Limits


def test_an_object_near_every_limit(fresh_writer):
    """256 attributes of 8 KiB, 4 texts of 1 MiB and 64 files, pushed in parts, read in one page, and merged once more."""
    names = [f"n{number:03}" + "x" * 60 for number in range(256)]
    recipe, clock = new_id(), at(1)
    texts = {name: letter * ((1 << 20) - 1) + "\n" for name, letter in zip(names, "abcd")}
    attributes = dict.fromkeys(names, "v" * (8 * 1024 - 2))
    parts = [
        change(recipe, clock, "recipe", texts=dict(list(texts.items())[:2])),
        change(recipe, clock, texts=dict(list(texts.items())[2:])),
        change(recipe, clock, files={name: new_id() for name in names[:64]}),
        {"uniqueID": recipe, "attributes": attributes, "clocks": {"attributes": dict.fromkeys(names, clock)}},
    ]
    for part in parts:
        [result] = push(fresh_writer, part)
        assert result["status"] == "applied", result
    for excess in ({"texts": {"more": ""}}, {"files": {"more": None}}):
        [result] = push(fresh_writer, change(recipe, at(2), **excess))
        [field] = result["fields"].values()
        assert (field["problem"]["slug"], result["status"]) == ("invalid-field", "rejected")
    first = names[0]
    [result] = push(fresh_writer, change(recipe, at(3), texts={first: "new\n" + texts[first][4:]}, bases={first: clock}))
    assert result["status"] == "applied"
    shown = state(fresh_writer, recipe)
    assert (len(shown["attributes"]), len(shown["texts"]), len(shown["files"])) == (256, 4, 64)
    assert len(json.dumps(shown)) > 6 << 20
    assert fresh_writer.client.get(PATH.format(id=recipe)).json()["texts"][first].startswith("new\n")
    assert [edit["attribute"] for edit in edits(fresh_writer.client, recipe)][0] == f"texts.{first}"


# Revocation, and clients that know neither texts nor files


def test_a_revocation_reverts_texts_and_files(devices):
    laptop, phone = devices(2)
    photo, other = attach(laptop.client, some_bytes(10)), attach(laptop.client, some_bytes(20))
    recipe = laptop.make("recipe")
    for name, value in {"texts.method": "Boil.\n", "files.photo": photo}.items():
        laptop.edit(recipe, name, value)
    settle(laptop, phone)
    moment = moment_of(laptop.client)
    for name, value in {"texts.method": "Burn.\n", "texts.spam": "Spam.\n", "files.photo": other}.items():
        phone.edit(recipe, name, value)
    settle(laptop, phone)
    revoke(laptop.client, phone.client, moment)
    finished(laptop.client, phone.client)
    laptop.sync()
    shown = laptop.client.get(PATH.format(id=recipe)).json()
    assert shown["texts"] == {"method": "Boil.\n", "spam": ""}
    assert shown["files"] == {"photo": photo}
    check_same(laptop)


def test_a_client_that_does_not_know_texts_and_files_carries_them(pair):
    """The reference client keeps registers of sections that it does not know, for its digest and for a restored server."""
    a, b = pair
    writer = Writer(a.client)
    recipe, photo = new_id(), attach(a.client, some_bytes(10))
    push(writer, change(recipe, at(1), "recipe", {"method": "Boil.\n", "notes": ""}, {"photo": photo, "scan": None}))
    settle(a, b)
    entity = b.copy.objects[recipe]
    assert entity.registers == {
        "texts.method": ("Boil.\n", at(1)), "texts.notes": ("", at(1)),
        "files.photo": (photo, at(1)), "files.scan": (None, at(1)),
    }  # fmt: skip
    # Its own edit of the object leaves them alone.
    b.edit(recipe, "attributes.title", "Soup")
    settle(a, b)
    assert state(writer, recipe)["texts"] == {"method": "Boil.\n", "notes": ""}


def test_a_client_gives_texts_and_files_back_to_a_restored_server(devices):
    (a,) = devices(1)
    writer = Writer(a.client)
    recipe, photo = new_id(), attach(a.client, some_bytes(10))
    push(writer, change(recipe, at(1), "recipe", {"method": "Boil.\n"}, {"photo": photo}))
    a.sync()
    [lost] = missing_on_server(a.copy, LocalCopy())
    [given] = [one for one in lost.changes(False)["objects"] if one["uniqueID"] == recipe]
    assert given == {
        "uniqueID": recipe, "objectType": "recipe", "texts": {"method": "Boil.\n"}, "files": {"photo": photo},
        "clocks": {"texts": {"method": at(1)}, "files": {"photo": at(1)}},
    }  # fmt: skip
    # The server already has all of it.
    [result] = push(writer, given)
    assert result["status"] == "unchanged"
