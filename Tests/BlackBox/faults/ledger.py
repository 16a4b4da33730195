"""What the server acknowledged, written down outside of it, and whether a server still has all of that."""

from collections import Counter

from client import Client
from convergence import read_history
from local_copy import LocalCopy, read_state
from push import Push


class Ledger:
    """Every change of one account that was answered, by whichever device. Appending is all that threads do to it."""

    def __init__(self) -> None:
        self.edits: list[tuple[str, str, str, str, object]] = []  # type, object, attribute, clock, value
        self.made: list[str] = []
        self.deleted: list[str] = []
        self.checked = 0  # how many of `edits` have been looked for in histories

    def note_down(self, push: Push, results: list[dict]) -> None:
        """Takes down a push that was answered, but for what the answer refuses."""
        refused = [result for result in results if result["status"] == "rejected"]
        assert not refused, refused
        self.made += push.fixed
        self.deleted += push.deletions
        for (unique_id, attribute), edit in push.edits.items():
            self.edits.append((edit.type, unique_id, attribute, edit.clock, edit.value))

    def check(self, client: Client, everything: bool = False) -> LocalCopy:
        """Every acknowledged change is there, in the objects and once in the histories; what a new device would get.

        `everything`: looks at all histories again, not only at those of notes that changed since the last check.
        """
        server = read_copy(client)
        for unique_id in self.made:
            assert unique_id in server.deleted or server.objects[unique_id].exists, f"{unique_id} is lost"
        for unique_id in self.deleted:
            assert unique_id in server.deleted, f"{unique_id} is back from the dead"
            assert unique_id not in server.objects
        for _, unique_id, attribute, clock, value in self.edits:
            if unique_id in server.deleted:
                continue
            stands = server.objects[unique_id].registers[attribute]
            assert stands[1] >= clock, f"{attribute} of {unique_id} at {clock} is lost: {stands}"
            if stands[1] == clock:
                assert stands[0] == value, f"{attribute} of {unique_id} at {clock} is {stands[0]!r}, not {value!r}"
        self.check_histories(client, 0 if everything else self.checked)
        self.checked = len(self.edits)
        return server

    def check_histories(self, client: Client, first: int) -> None:
        """Each edit of a note, also of a deleted one, is in its history with its value, and nothing is there twice."""
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
    """All that a new device would read; its digest is the server's."""
    found, answer = client.read_all()
    copy = LocalCopy()
    ids = Counter(item["uniqueID"] for items in found.values() for item in items)
    assert not ids or max(ids.values()) == 1, f"an object came twice: {ids.most_common(1)}"
    for deleted in found.pop("deletedObjects"):
        copy.fold_deleted(deleted)
    for section, items in found.items():
        for item in items:
            copy.fold_entity(read_state(section, item))
    assert copy.digest == answer["digest"]
    return copy
