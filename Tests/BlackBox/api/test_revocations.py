"""`/v1/devices/{uniqueID}/revocation`: a device is lost, and what it pushed after a moment is put back (merge.md, Devices)."""

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
    """The server's wall clock: what is pushed from here on is pushed later."""
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
    """The revocation, once all is put back."""
    for _ in range(3_000):
        response = client.get(path_of(lost))
        assert response.status_code == 200, response.text
        if "finishDate" in response.json():
            return response.json()
        time.sleep(0.02)
    raise AssertionError(f"it does not come to an end: {response.text}")


def seen(client: Client) -> dict[str, dict]:
    """All that people see, by ID: no clocks, and of members only those that are in."""
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


def test_case_31_all_is_as_without_the_lost_device(devices):
    """It moved and edited things, others hold that already: the same everywhere afterwards, digests equal."""
    laptop, phone, tablet = devices(3)
    paris, rome = laptop.make_tag("Paris"), laptop.make_tag("Rome")
    first, second = laptop.make_note("Milk\nBread\n", tags=[paris]), laptop.make_note("Soup\n")
    laptop.sync()
    picture = attachments.attach(laptop.client, b"a picture")
    laptop.edit(first, f"attachments.{picture}", True)
    board = laptop.make_object("board", rows=3)
    settle(laptop, phone, tablet)
    before, moment = seen(laptop.client), moment_of(laptop.client)

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
    # What others change meanwhile stands.
    tablet.archive(second)
    settle(laptop, phone, tablet)
    before[second]["archived"] = True

    begun = revoke(laptop.client, phone.client, moment)
    check_holds(begun, {"device": {"uniqueID": phone.client.device["uniqueID"], "name": "B"}, "moment": moment})
    done = finished(laptop.client, phone.client)
    settle(laptop, tablet)
    assert seen(laptop.client) == before
    assert tablet.text(first) == "Milk\nBread\n" and wine not in tablet.notes
    assert done["objects"] == {"putBack": 4, "deleted": 2, "older": 0, "kept": 0}
    assert done["deletedObjects"] == [] and begun["requestDate"] <= done["finishDate"]
    # Nothing is lost: what was put back is one more edit, and the history has all.
    assert history(laptop, first) == ["Milk\nBread\n", "Beer\n", "Milk\nBread\n"]


def test_its_token_ends_at_once_and_so_do_its_streams(client):
    lost = client.another_device()
    with Events(lost) as events, Events(client) as others:
        assert events.changes() and others.changes()
        revoke(client, lost)
        assert events.ends()
        check_problem(lost.get("/v1/account"), "unauthenticated", 401)
        check_problem(lost.post("/v1/sync", {}), "unauthenticated", 401)
        names = [device["uniqueID"] for device in client.get("/v1/devices").json()["devices"]]
        assert lost.device["uniqueID"] not in names
        # The others hear on.
        note = client.post("/v1/notes", {"text": "Milk"}).json()
        assert others.changes().data["changes"]["notes"][0]["uniqueID"] == note["uniqueID"]


def test_what_is_put_back_reaches_who_listens(client):
    lost = client.another_device()
    note = client.post("/v1/notes", {"text": "Milk"}).json()
    moment = moment_of(client)
    lost.patch(f"/v1/notes/{note['uniqueID']}", {"text": "Beer"})
    with Events(client) as events:
        events.changes()
        revoke(client, lost, moment)
        [state] = events.changes().data["changes"]["notes"]
        assert state["text"] == "Milk"
    # A clock of the server's own, as of everything that a plain route sets.
    server = client.get("/v1/server").json()["serverClock"][-16:]
    assert state["clocks"]["text"][-16:] == server


def test_again_changes_nothing_and_an_earlier_moment_more(client):
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


def test_without_a_moment_everything_stays(client):
    lost = client.another_device()
    note = lost.post("/v1/notes", {"text": "Milk"}).json()
    answer = revoke(client, lost)
    assert "moment" not in answer and answer["finishDate"] == answer["requestDate"]
    assert client.get(f"/v1/notes/{note['uniqueID']}").json() == note


def test_what_it_deleted_is_listed_and_can_be_put_back_as_a_copy(client):
    lost = client.another_device()
    notes = [client.post("/v1/notes", {"text": f"note {number}"}).json()["uniqueID"] for number in range(5)]
    paris = client.post("/v1/tags", {"uniqueID": "ffffffff-0000-4000-8000-000000000000", "name": "Paris"}).json()
    lost.delete(f"/v1/notes/{notes[0]}")
    moment = moment_of(client)
    client.delete(f"/v1/notes/{notes[1]}")
    for note in notes[2:]:
        lost.delete(f"/v1/notes/{note}")
    # A tag of a lesser ID, and the name of another.
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
    # Their words are where those of all deleted notes are.
    deleted = {note["uniqueID"]: note["firstLine"] for note in client.get("/v1/recently-deleted").json()["notes"]}
    assert deleted[notes[3]] == "note 3"
    assert client.get(f"/v1/notes/{notes[3]}/edits").json()["edits"][0]["value"] == "note 3"


def test_what_it_made_after_the_moment_is_refused_whoever_brings_it(client):
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
    # The rest of the push stands.
    check_holds(client.get(f"/v1/notes/{note}").json(), {"text": "Milk", "archived": True})


def test_a_device_may_say_that_it_is_lost_itself(client):
    """As it may sign itself out; what it made is put back all the same."""
    lost = client.another_device()
    note = client.post("/v1/notes", {"text": "Milk"}).json()["uniqueID"]
    moment = moment_of(client)
    lost.patch(f"/v1/notes/{note}", {"text": "Beer"})
    assert lost.post(path_of(lost), {"moment": moment}).status_code == 201
    check_problem(lost.get("/v1/account"), "unauthenticated", 401)
    assert finished(client, lost)["objects"]["putBack"] == 1
    assert client.get(f"/v1/notes/{note}").json()["text"] == "Milk"


def test_a_device_that_signed_itself_out_was_lost_after_all(client):
    """A thief signs out when done; what the phone pushed tells whose it was."""
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
    # Who left nothing is as unknown as who never was, and so is a device to another account.
    check_problem(client.post(path_of(tidy), {"moment": moment}), "not-found", 404)
    other = Client(client.url)
    other.sign_up()
    check_problem(other.post(path_of(lost), {"moment": moment}), "not-found", 404)


def test_what_a_thief_had_put_back_is_put_back(client):
    """A stolen device revokes the owner's other one; the owner signs in anew and revokes the stolen one."""
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
    Row("no object", "POST", "{path}", [], status=422),
    Row("no date", "POST", "{path}", {"moment": "yesterday"}, status=422, holds={"pointer": "/moment"}),
    Row("a number", "POST", "{path}", {"moment": 7}, status=422, holds={"pointer": "/moment"}),
    Row("an unknown field", "POST", "{path}", {"since": "2026-11-21T08:40:00Z"}, status=422,
        holds={"slug": "unknown-field"}),
    Row("no device", "POST", "/v1/devices/0123456789abcdef/revocation", {}, status=404),
    Row("no ID", "POST", "/v1/devices/phone/revocation", {}, status=404),
    Row("not revoked", "GET", "{path}", status=404),
    Row("a cursor that is none", "GET", "{path}?cursor=x", status=422, holds={"pointer": "cursor"}),
]  # fmt: skip


@parametrize(BAD)
def test_bad_requests(row, somebody):
    row.run(somebody, {"path": path_of(somebody)})
    assert somebody.get("/v1/account").status_code == 200


@pytest.mark.parametrize("count", [1_500])
def test_it_goes_on_after_kill_9(fresh_server, count):
    """Killed while it puts back, again and again: nothing is left out, nothing done twice."""
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
        # Some work is done before each end.
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
