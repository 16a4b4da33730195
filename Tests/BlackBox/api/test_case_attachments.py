"""The cases of merge.md about attachments, over HTTP, with devices that follow clients.md."""

import pytest
from attachments import download, some_bytes, upload
from client import Server
from convergence import check_same, settle
from device import Device
from local_copy import LocalCopy
from push import missing_on_server

pytestmark = pytest.mark.both_stores

DATA = some_bytes(10_000)


def make_attachment(device: Device, data: bytes = DATA) -> str:
    """Uploads bytes and creates the attachment, which the next sync pushes."""
    attachment = upload(device.client, data)
    return device.make("attachment", attachment, {"mimeType": "image/png", "filename": "a.png"})


def result(device: Device, unique_id: str) -> dict:
    return next(each for each in device.receipts if each["uniqueID"] == unique_id)


def holder(device: Device, note: str) -> list[str]:
    return device.note(note)["attachments"]


def test_case_21_an_attachment_is_pushed_twice(pair):
    a, b = pair
    picture = make_attachment(a)
    note = a.make_note("with a picture")
    a.edit(note, f"attachments.{picture}", True)
    a.sync(lose_response=True)
    a.sync()
    assert result(a, picture)["status"] == "unchanged"
    settle(a, b)
    assert (holder(a, note), holder(b, note)) == ([picture], [picture])
    assert download(b.client, picture) == DATA
    # Other bytes and other properties are refused.
    other = b.client.put(f"/v1/attachments/{picture}/data", data=b"other bytes")
    assert (other.status_code, other.json()["slug"]) == (409, "immutable")
    answer = b.client.sync({"attachments": [{"uniqueID": picture, "mimeType": "image/gif"}]}, since=b.token)
    assert answer["results"][0]["fields"]["mimeType"]["problem"]["slug"] == "immutable"
    settle(a, b)


def test_case_23_one_picture_is_added_to_two_notes(pair):
    a, b = pair
    picture, one, two = make_attachment(a), a.make_note("one"), a.make_note("two")
    settle(a, b)
    a.edit(one, f"attachments.{picture}", True)
    b.edit(two, f"attachments.{picture}", True)
    b.write(two, "two, and more")
    a.sync()
    b.sync()
    # Only the attachment is refused. The text in the same push is applied.
    refused = result(b, two)["fields"][f"attachments.{picture}"]
    assert (refused["outcome"], refused["problem"]["slug"]) == ("rejected", "attachment-in-use")
    settle(a, b)
    for device in pair:
        assert (holder(device, one), holder(device, two)) == ([picture], [])
        assert device.text(two) == "two, and more"


def test_case_29_a_picture_moves_between_notes_in_one_push(pair):
    a, b = pair
    picture, one, two = make_attachment(a), a.make_note("one"), a.make_note("two")
    a.edit(one, f"attachments.{picture}", True)
    settle(a, b)
    # In either order of the notes in the push.
    for out_of, into in ((one, two), (two, one)):
        b.edit(into, f"attachments.{picture}", True)
        b.edit(out_of, f"attachments.{picture}", False)
        b.sync()
        assert {each["status"] for each in b.receipts} == {"applied"}
        settle(a, b)
        for device in pair:
            assert (holder(device, into), holder(device, out_of)) == ([picture], [])


def test_an_attachment_without_bytes_is_refused(pair):
    a, b = pair
    picture = a.make("attachment", None, {"mimeType": "image/png"})
    a.sync()
    assert (result(a, picture)["status"], result(a, picture)["problem"]["slug"]) == (
        "rejected", "attachment-data-missing",
    )  # fmt: skip
    b.sync()
    assert picture not in b.copy.objects


def test_an_attachment_is_deleted_and_concurrently_added_to_a_note(pair):
    a, b = pair
    picture, note = make_attachment(a), a.make_note("a note")
    settle(a, b)
    a.delete(picture)
    b.edit(note, f"attachments.{picture}", True)
    a.sync()
    b.sync()
    settle(a, b)
    for device in pair:
        assert holder(device, note) == []
    assert a.client.get(f"/v1/attachments/{picture}/data").status_code == 410


def test_case_24_bytes_are_uploaded_to_a_restored_server(fresh_server: Server):
    """If HEAD reports missing bytes, a device uploads them again before it pushes the attachment."""
    device = Device(fresh_server.client(device_name="A"))
    picture, note = make_attachment(device), device.make_note("a note")
    device.edit(note, f"attachments.{picture}", True)
    device.sync()
    kept = download(device.client, picture)
    # A new server stands for one restored from an earlier backup.
    with Server() as restored:
        client = restored.client()
        assert client.request("HEAD", f"/v1/attachments/{picture}/data").status_code == 404
        assert upload(client, kept, picture) == picture
        for push in missing_on_server(device.copy, LocalCopy()):
            results = client.sync(push.changes(with_base_values=False))["results"]
            assert {each["status"] for each in results} == {"applied"}, results
        assert client.read_all()[1]["digest"] == device.copy.digest
        assert download(client, picture) == kept
    check_same(device)
