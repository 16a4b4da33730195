"""Checks that devices have converged: equal copies, equal digests, and the same content in the server's responses."""

from client import Client, ErrorResponse
from device import Device
from local_copy import LocalCopy


def contents(copy: LocalCopy) -> tuple[dict, dict]:
    """The content of a copy: existing objects with all registers, and DeletedObjects with their `mergedInto`."""
    objects = {
        entity.unique_id: (entity.type, dict(entity.fixed), dict(entity.registers))
        for entity in copy.objects.values()
        if entity.exists
    }
    return objects, {unique_id: deleted.get("mergedInto") for unique_id, deleted in copy.deleted.items()}


def differences(one: LocalCopy, other: LocalCopy) -> dict:
    """The objects and DeletedObjects that differ between two copies: what each has, by ID."""
    found = {}
    for here, there in zip(contents(one), contents(other), strict=True):
        found |= {key: (here.get(key), there.get(key)) for key in here.keys() | there.keys() if here.get(key) != there.get(key)}
    return found


def settle(*devices: Device, rounds: int = 4, repaired: int = 0) -> None:
    """Syncs all devices until a round changed nothing, at most `rounds` times. Then checks that their copies are equal."""
    before = None
    for _ in range(rounds):
        for device in devices:
            device.sync()
        digests = {device.copy.digest for device in devices if device.is_synced}
        if digests == before and len(digests) == 1 and all(device.is_synced for device in devices):
            break
        before = digests
    check_same(*devices, repaired=repaired)


def check_same(*devices: Device, repaired: int = 0) -> None:
    """Checks that copies are equal. `repaired`: the total number of full re-reads that differing digests have caused."""
    first = devices[0]
    assert sum(device.repaired for device in devices) == repaired, "digests differed"
    for device in devices:
        assert not device.has_unsent, (device.unsent, device.new, device.deletions)
        assert device.is_synced, f"the digest of the copy is {device.copy.digest}, the server's is {device.digest}"
        differing = differences(device.copy, first.copy)
        assert not differing, differing
        assert device.notes == first.notes
        assert device.tags == first.tags
    found, answer = first.client.read_all()
    assert answer["digest"] == first.copy.digest
    assert {note["uniqueID"] for note in found["notes"]} == set(first.notes)
    for unique_id, note in first.notes.items():
        response = first.client.get(f"/v1/notes/{unique_id}")
        assert response.json() == note, (response.text, note)


def history(device: Device, note: str, attribute: str = "text") -> list:
    """The values of an attribute in a note's history, newest first."""
    edits = read_history(device.client, note)
    return [edit.get("value") for edit in edits if edit["attribute"] == attribute]


def read_history(client: Client, note: str) -> list[dict]:
    """All edits of a note, newest first. Empty if the server does not know the note."""
    edits, cursor = [], {}
    for _ in range(10_000):
        response = client.get(f"/v1/notes/{note}/edits", params={"limit": 200, **cursor})
        if response.status_code == 404:
            return []
        if response.status_code != 200:
            raise ErrorResponse(response)
        page = response.json()
        edits += page["edits"]
        if "nextCursor" not in page:
            return edits
        cursor = {"cursor": page["nextCursor"]}
    raise RuntimeError("the history did not end")
