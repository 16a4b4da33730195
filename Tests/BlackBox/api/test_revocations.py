"""`/v1/devices/{uniqueID}/revocation`: revokes a lost device, and undoes its changes after a moment (merge.md, Devices)."""

import time

import attachments
import clocks
import pytest
from client import Client
from convergence import history, settle
from device import Device
from events import Events
from rows import Row, check_holds, check_problem, parametrize


def moment_of(client: Client) -> str:
    """The server's wall clock. Changes pushed after this call are later."""
    date = client.get("/v1/server").json()["serverClock"][:24]
    time.sleep(0.005)
    return date


def path_of(lost: Client) -> str:
    return f"/v1/devices/{lost.device['uniqueID']}/revocation"


def revoke(client: Client, lost: Client, moment: str | None = None, status: int = 201) -> dict:
    response = client.post(path_of(lost), {} if moment is None else {"moment": moment})
    assert response.status_code == status, response.text
    return response.json()


def finished(client: Client, lost: Client) -> dict:
    """The revocation, once it is finished."""
    for _ in range(3_000):
        response = client.get(path_of(lost))
        assert response.status_code == 200, response.text
        if "finishDate" in response.json():
            return response.json()
        time.sleep(0.02)
    raise AssertionError(f"the revocation did not finish: {response.text}")


def visible(client: Client) -> dict[str, dict]:
    """All visible content by ID: without clocks, and only current members."""
    found, _ = client.read_all()
    del found["deletedObjects"]
    shown = [one for items in found.values() for one in items]
    return {
        one["uniqueID"]: {
            name: sorted(value) if name in ("tags", "attachments") else value
            for name, value in one.items()
            if name != "clocks"
        }
        for one in shown
    }


def test_case_31_the_changes_of_a_lost_device_are_undone(devices):
    """The device changed objects, and other devices have these changes. After the revocation all devices have the old state."""
    laptop, phone, tablet = devices(3)
    paris, rome = laptop.make_tag("Paris"), laptop.make_tag("Rome")
    first, second = laptop.make_note("Milk\nBread\n", tags=[paris]), laptop.make_note("Soup\n")
    laptop.sync()
    picture = attachments.attach(laptop.client, b"a picture")
    laptop.edit(first, f"attachments.{picture}", True)
    board = laptop.make_object("board", rows=3)
    settle(laptop, phone, tablet)
    before, moment = visible(laptop.client), moment_of(laptop.client)

    phone.write(first, "Beer\n")
    phone.archive(first)
    phone.untag(first, paris)
    phone.tag(first, rome)
    phone.edit(first, f"attachments.{picture}", False)
    phone.edit(second, f"attachments.{picture}", True)
    phone.write(second, "Soup\nWine\n")
    phone.rename(rome, "Roma")
    phone.edit(board, "attributes.rows", 9)
    wine = phone.make_note("Wine", tags=[phone.make_tag("Bar")])
    settle(laptop, phone, tablet)
    assert wine in tablet.notes and tablet.text(first) == "Beer\n"
    # Changes by other devices remain.
    tablet.archive(second)
    settle(laptop, phone, tablet)
    before[second]["archived"] = True

    begun = revoke(laptop.client, phone.client, moment)
    check_holds(begun, {"device": {"uniqueID": phone.client.device["uniqueID"], "name": "B"}, "moment": moment})
    done = finished(laptop.client, phone.client)
    settle(laptop, tablet)
    assert visible(laptop.client) == before
    assert tablet.text(first) == "Milk\nBread\n" and wine not in tablet.notes
    assert done["objects"] == {"putBack": 4, "deleted": 2, "older": 0, "kept": 0}
    assert done["deletedObjects"] == [] and begun["requestDate"] <= done["finishDate"]
    # The history is complete. The restored value is a new edit.
    assert history(laptop, first) == ["Milk\nBread\n", "Beer\n", "Milk\nBread\n"]


def test_its_token_and_streams_end_immediately(client):
    lost = client.another_device()
    with Events(lost) as events, Events(client) as others:
        assert events.changes() and others.changes()
        revoke(client, lost)
        assert events.ends()
        check_problem(lost.get("/v1/account"), "unauthenticated", 401)
        check_problem(lost.post("/v1/sync", {}), "unauthenticated", 401)
        names = [device["uniqueID"] for device in client.get("/v1/devices").json()["devices"]]
        assert lost.device["uniqueID"] not in names
        # The streams of other devices continue.
        note = client.post("/v1/notes", {"text": "Milk"}).json()
        assert others.changes().data["changes"]["notes"][0]["uniqueID"] == note["uniqueID"]


def test_restored_values_are_sent_as_events(client):
    lost = client.another_device()
    note = client.post("/v1/notes", {"text": "Milk"}).json()
    moment = moment_of(client)
    lost.patch(f"/v1/notes/{note['uniqueID']}", {"text": "Beer"})
    with Events(client) as events:
        events.changes()
        revoke(client, lost, moment)
        [state] = events.changes().data["changes"]["notes"]
        assert state["text"] == "Milk"
    # The clock has the server's node, as for all edits by resource routes.
    server = client.get("/v1/server").json()["serverClock"][-16:]
    assert state["clocks"]["text"][-16:] == server


def test_a_repeated_revocation_and_one_with_an_earlier_moment(client):
    lost = client.another_device()
    note = client.post("/v1/notes", {"text": "Milk"}).json()["uniqueID"]
    early = moment_of(client)
    lost.patch(f"/v1/notes/{note}", {"archived": True})
    late = moment_of(client)
    lost.patch(f"/v1/notes/{note}", {"text": "Beer"})
    revoke(client, lost, late)
    done = finished(client, lost)
    check_holds(client.get(f"/v1/notes/{note}").json(), {"text": "Milk", "archived": True})
    digest = client.read_all()[1]["digest"]
    for moment in (late, None, moment_of(client)):
        assert revoke(client, lost, moment, status=200) == done
    assert client.read_all()[1]["digest"] == digest
    assert revoke(client, lost, early, status=200)["moment"] == early
    assert finished(client, lost)["objects"]["putBack"] == 2
    check_holds(client.get(f"/v1/notes/{note}").json(), {"text": "Milk", "archived": False})


def test_without_a_moment_nothing_is_undone(client):
    lost = client.another_device()
    note = lost.post("/v1/notes", {"text": "Milk"}).json()
    answer = revoke(client, lost)
    assert "moment" not in answer and answer["finishDate"] == answer["requestDate"]
    assert client.get(f"/v1/notes/{note['uniqueID']}").json() == note


def test_objects_it_deleted_are_listed(client):
    lost = client.another_device()
    notes = [client.post("/v1/notes", {"text": f"note {number}"}).json()["uniqueID"] for number in range(5)]
    paris = client.post("/v1/tags", {"uniqueID": "ffffffff-0000-4000-8000-000000000000", "name": "Paris"}).json()
    lost.delete(f"/v1/notes/{notes[0]}")
    moment = moment_of(client)
    client.delete(f"/v1/notes/{notes[1]}")
    for note in notes[2:]:
        lost.delete(f"/v1/notes/{note}")
    # A tag with a smaller ID takes the name of another tag.
    rome = {"uniqueID": "00000000-0000-4000-8000-000000000000", "name": "Rome"}
    lost.post("/v1/tags", rome)
    stamp = clocks.ClockSource(lost.device["uniqueID"]).tick()
    lost.sync({"tags": [rome | {"name": "paris", "clocks": {"name": stamp}}]})
    revoke(client, lost, moment)
    finished(client, lost)
    merged = {"uniqueID": paris["uniqueID"], "objectType": "tag", "mergedInto": rome["uniqueID"]}
    found, cursor = [], {}
    for _ in range(9):
        page = client.get(path_of(lost), params={"limit": 2} | cursor).json()
        assert len(page["deletedObjects"]) <= 2
        found += page["deletedObjects"]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert [one["uniqueID"] for one in found] == [paris["uniqueID"], *reversed(notes[2:])]
    check_holds(found[0], merged)
    # Their texts are in the list of recently deleted notes.
    deleted = {note["uniqueID"]: note["firstLine"] for note in client.get("/v1/recently-deleted").json()["notes"]}
    assert deleted[notes[3]] == "note 3"
    assert client.get(f"/v1/notes/{notes[3]}/edits").json()["edits"][0]["value"] == "note 3"


def test_its_later_edits_are_refused_from_any_device(client):
    lost = client.another_device()
    note = client.post("/v1/notes", {"text": "Milk"}).json()["uniqueID"]
    moment = moment_of(client)
    theirs = clocks.ClockSource(lost.device["uniqueID"]).tick()
    revoke(client, lost, moment)
    archived = {"uniqueID": note, "archived": True, "text": "Beer", "clocks": {"archived": theirs, "text": theirs}}
    own = clocks.ClockSource(client.device["uniqueID"]).tick()
    archived["clocks"]["archived"] = own
    [result] = client.sync({"notes": [archived]})["results"]
    assert result["status"] == "rejected"
    check_holds(
        result["fields"]["text"],
        {"outcome": "rejected", "problem": {"slug": "device-revoked", "pointer": "/changes/notes/0/text"}},
    )
    # The rest of the push is applied.
    check_holds(client.get(f"/v1/notes/{note}").json(), {"text": "Milk", "archived": True})


def test_a_device_can_revoke_itself(client):
    """Its changes are undone as well."""
    lost = client.another_device()
    note = client.post("/v1/notes", {"text": "Milk"}).json()["uniqueID"]
    moment = moment_of(client)
    lost.patch(f"/v1/notes/{note}", {"text": "Beer"})
    assert lost.post(path_of(lost), {"moment": moment}).status_code == 201
    check_problem(lost.get("/v1/account"), "unauthenticated", 401)
    assert finished(client, lost)["objects"]["putBack"] == 1
    assert client.get(f"/v1/notes/{note}").json()["text"] == "Milk"


def test_a_signed_out_device_can_be_revoked(client):
    """A thief may have signed out the device. The history shows its ID."""
    lost, tidy = client.another_device(), client.another_device()
    note = client.post("/v1/notes", {"text": "Milk"}).json()["uniqueID"]
    moment = moment_of(client)
    stamp = clocks.ClockSource(lost.device["uniqueID"]).tick()
    lost.sync({"notes": [{"uniqueID": note, "text": "Beer", "clocks": {"text": stamp}}]})
    for device in (lost, tidy):
        assert device.delete(f"/v1/devices/{device.device['uniqueID']}").status_code == 204
    [theirs] = [
        edit["device"]["uniqueID"] for edit in client.get(f"/v1/notes/{note}/edits").json()["edits"]
        if edit.get("value") == "Beer"
    ]  # fmt: skip
    assert theirs == lost.device["uniqueID"]
    check_holds(revoke(client, lost, moment), {"device": {"uniqueID": theirs}, "moment": moment})
    assert finished(client, lost)["objects"]["putBack"] == 1
    assert client.get(f"/v1/notes/{note}").json()["text"] == "Milk"
    assert revoke(client, lost, moment, status=200)["moment"] == moment
    # A signed-out device without edits is unknown. Devices of other accounts are unknown too.
    check_problem(client.post(path_of(tidy), {"moment": moment}), "not-found", 404)
    other = Client(client.url)
    other.sign_up()
    check_problem(other.post(path_of(lost), {"moment": moment}), "not-found", 404)


def test_a_revocation_by_a_stolen_device_is_undone(client):
    """A stolen device revokes the owner's other device. The owner signs in again and revokes the stolen one."""
    thief, laptop = client.another_device(), client.another_device()
    note = client.post("/v1/notes", {"text": "Milk"}).json()["uniqueID"]
    moment = moment_of(client)
    laptop.patch(f"/v1/notes/{note}", {"text": "Milk and bread"})
    stolen = moment_of(client)
    revoke(thief, laptop, moment)
    finished(thief, laptop)
    assert client.get(f"/v1/notes/{note}").json()["text"] == "Milk"
    revoke(client, thief, stolen)
    finished(client, thief)
    assert client.get(f"/v1/notes/{note}").json()["text"] == "Milk and bread"


BAD = [
    Row("not an object", "POST", "{path}", [], status=422),
    Row("not a date", "POST", "{path}", {"moment": "yesterday"}, status=422, holds={"pointer": "/moment"}),
    Row("a number", "POST", "{path}", {"moment": 7}, status=422, holds={"pointer": "/moment"}),
    Row("an unknown field", "POST", "{path}", {"since": "2026-11-21T08:40:00Z"}, status=422,
        holds={"slug": "unknown-field"}),
    Row("an unknown device", "POST", "/v1/devices/0123456789abcdef/revocation", {}, status=404),
    Row("an invalid ID", "POST", "/v1/devices/phone/revocation", {}, status=404),
    Row("not revoked", "GET", "{path}", status=404),
    Row("an invalid cursor", "GET", "{path}?cursor=x", status=422, holds={"pointer": "cursor"}),
]  # fmt: skip


@parametrize(BAD)
def test_invalid_requests(row, somebody):
    row.run(somebody, {"path": path_of(somebody)})
    assert somebody.get("/v1/account").status_code == 200


@pytest.mark.parametrize("count", [600, pytest.param(1_500, marks=pytest.mark.thorough)])
def test_a_revocation_continues_after_kill_9(fresh_server, count):
    """The server is killed repeatedly during the revocation. Every change is undone exactly once."""
    client = fresh_server.client()
    laptop = Device(client)
    phone = Device(client.another_device())
    notes = [laptop.make_note(f"note {number}") for number in range(count)]
    settle(laptop, phone)
    moment = moment_of(client)
    for note in notes:
        phone.write(note, "Beer")
    phone.sync()
    begun = revoke(client, phone.client, moment)
    kills = 0
    for _ in range(40):
        fresh_server.kill()
        fresh_server.start()
        client.url = laptop.client.url = fresh_server.url
        kills += 1
        # Waits until some work is done before each kill.
        before = begun["objects"]["putBack"]
        for _ in range(200):
            begun = client.get(path_of(phone.client)).json()
            if "finishDate" in begun or begun["objects"]["putBack"] > before:
                break
            time.sleep(0.01)
        if "finishDate" in begun:
            break
    assert kills > 1
    assert finished(client, phone.client)["objects"] == {"putBack": count, "deleted": 0, "older": 0, "kept": 0}
    settle(laptop)
    assert {note["text"] for note in laptop.notes.values()} == {f"note {number}" for number in range(count)}
    assert history(laptop, notes[7]) == ["note 7", "Beer", "note 7"]
    check = fresh_server.command("check")
    assert check.returncode == 0, check.stdout + check.stderr
