"""Records what the server acknowledged, and checks that it still has all of it."""

from collections import Counter

from client import Client
from convergence import read_history
from local_copy import LocalCopy, read_state
from push import Push


class Ledger:
    """All acknowledged changes of one account, by any of its devices. Threads only append to it."""

    def __init__(self) -> None:
        self.edits: list[tuple[str, str, str, str, object]] = []  # type, object, attribute, clock, value
        self.made: list[str] = []
        self.deleted: list[str] = []
        self.checked = 0  # the number of `edits` whose histories have been checked

    def record(self, push: Push, results: list[dict]) -> None:
        """Records an acknowledged push. Asserts that nothing of it was rejected."""
        refused = [result for result in results if result["status"] == "rejected"]
        assert not refused, refused
        self.made += push.fixed
        self.deleted += push.deletions
        for (unique_id, attribute), edit in push.edits.items():
            self.edits.append((edit.type, unique_id, attribute, edit.clock, edit.value))

    def check(self, client: Client, everything: bool = False) -> LocalCopy:
        """Checks that the server has every acknowledged change, once, in objects and histories. Returns a new device's copy.

        `everything`: check the histories of all notes, not only of those changed since the last check.
        """
        server = read_copy(client)
        for unique_id in self.made:
            assert unique_id in server.deleted or server.objects[unique_id].exists, f"{unique_id} is lost"
        for unique_id in self.deleted:
            assert unique_id in server.deleted, f"{unique_id} is no longer deleted"
            assert unique_id not in server.objects
        for _, unique_id, attribute, clock, value in self.edits:
            if unique_id in server.deleted:
                continue
            current = server.objects[unique_id].registers[attribute]
            assert current[1] >= clock, f"{attribute} of {unique_id} at {clock} is lost: {current}"
            if current[1] == clock:
                assert current[0] == value, f"{attribute} of {unique_id} at {clock} is {current[0]!r}, not {value!r}"
        self.check_histories(client, 0 if everything else self.checked)
        self.checked = len(self.edits)
        return server

    def check_histories(self, client: Client, first: int) -> None:
        """Checks that all edits of notes, including deleted ones, are in the histories with their values, and only once."""
        expected: dict[str, dict[tuple[str, str], object]] = {}
        for kind, unique_id, attribute, clock, value in self.edits[first:]:
            if kind == "note":
                expected.setdefault(unique_id, {})[attribute, clock] = value
        for unique_id, edits in expected.items():
            found = read_history(client, unique_id)
            keys = Counter((edit["attribute"], edit["clock"]) for edit in found)
            assert max(keys.values()) == 1, f"{unique_id} has an edit twice: {keys.most_common(1)}"
            values = {(edit["attribute"], edit["clock"]): edit.get("value") for edit in found}
            lost = {key: value for key, value in edits.items() if key not in values or values[key] != value}
            assert not lost, f"the history of {unique_id} lacks {lost}"


def read_copy(client: Client) -> LocalCopy:
    """The copy of a new device. Checks that its digest equals the server's."""
    found, answer = client.read_all()
    copy = LocalCopy()
    ids = Counter(item["uniqueID"] for items in found.values() for item in items)
    assert not ids or max(ids.values()) == 1, f"an object was sent twice: {ids.most_common(1)}"
    for deleted in found.pop("deletedObjects"):
        copy.fold_deleted(deleted)
    for section, items in found.items():
        for item in items:
            copy.fold_entity(read_state(section, item))
    assert copy.digest == answer["digest"]
    return copy
