"""Checks after a fault: unacknowledged pushes are repeated, and all devices and the server must agree."""

from client import Server
from convergence import check_same, read_history
from ledger import read_copy
from push import Push
from storm import Author, Storm


def push_again(author: Author) -> bool:
    """Repeats a push that was not acknowledged. Returns whether it had been committed.

    A push is one transaction, so it must have been committed completely or not at all.
    """
    push = author.lost
    assert push
    was_there = presence(author, push)
    committed = any(was_there.values())
    assert all(was_there.values()) == committed, f"only a part of the push was committed: {was_there}"
    answer = author.push(push)
    assert answer, "the repeated push was not acknowledged"
    allowed = {"unchanged"} if committed else {"applied"}
    for result in answer["results"]:
        # Another device may have changed or deleted shared notes meanwhile, and names of tags may be taken.
        shared = result["uniqueID"] in author.shared or result["objectType"] == "tag"
        more = {"merged", "deleted", "unchanged", "applied"} if shared else set()
        assert result["status"] in allowed | more, (committed, result)
    return committed


def presence(author: Author, push: Push) -> dict[str, bool]:
    """Whether each part of a push is on the server, by description."""
    client, found = author.device.client, {}
    copy = read_copy(client)
    for unique_id, deletion in push.deletions.items():
        if deletion["objectType"] == "note":  # a tag may have been deleted because its name was taken
            found[f"the deletion of {unique_id}"] = unique_id in copy.deleted
    for unique_id, (kind, _) in push.fixed.items():
        found[f"the {kind} {unique_id}"] = unique_id in copy.objects or unique_id in copy.deleted
    histories: dict[str, set] = {}
    for (unique_id, attribute), edit in push.edits.items():
        if edit.type == "note":
            if unique_id not in histories:
                history = read_history(client, unique_id)
                histories[unique_id] = {(each["attribute"], each["clock"]) for each in history}
            found[f"{attribute} of {unique_id}"] = (attribute, edit.clock) in histories[unique_id]
    return found


def settle(storm: Storm) -> None:
    """Syncs all devices. Checks that the copies of each account are equal, and equal to the server's."""
    for _ in range(3):
        for author in storm.authors:
            author.device.sync()
    for ledger in storm.witnesses.values():
        check_same(*(author.device for author in storm.authors if author.ledger is ledger))


def check_data(server: Server) -> None:
    """Checks the data with `hesper check`. The server may be stopped."""
    checked = server.command("check")
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
    assert checked.stdout.endswith(": no problems found.\n")
