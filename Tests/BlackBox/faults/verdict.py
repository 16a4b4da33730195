"""After a fault: what was not acknowledged is sent again, everybody syncs, and all must be one and whole."""

from client import Server
from convergence import check_same, read_history
from ledger import read_copy
from push import Push
from storm import Author, Storm


def push_again(author: Author) -> bool:
    """Sends the push whose answer was lost once more, as it was; whether it had been committed.

    A push is one transaction: all of it is there already, or nothing.
    """
    push = author.lost
    assert push
    was_there = presence(author, push)
    committed = any(was_there.values())
    assert all(was_there.values()) == committed, f"a part of a push is there: {was_there}"
    answer = author.push(push)
    assert answer, "the server runs, and gives no answer"
    allowed = {"unchanged"} if committed else {"applied"}
    for result in answer["results"]:
        # What somebody else changes or deletes meanwhile may stand against it; a tag's name may be taken.
        shared = result["uniqueID"] in author.shared or result["objectType"] == "tag"
        more = {"merged", "deleted", "unchanged", "applied"} if shared else set()
        assert result["status"] in allowed | more, (committed, result)
    return committed


def presence(author: Author, push: Push) -> dict[str, bool]:
    """Of what a push carried, whether it is on the server."""
    client, found = author.device.client, {}
    copy = read_copy(client)
    for unique_id, deletion in push.deletions.items():
        if deletion["objectType"] == "note":  # A tag may be deleted already, because its name was taken.
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
    """Everybody syncs: the copies of an account are one, and the server's."""
    for _ in range(3):
        for author in storm.authors:
            author.device.sync()
    for ledger in storm.witnesses.values():
        check_same(*(author.device for author in storm.authors if author.ledger is ledger))


def check_data(server: Server) -> None:
    """`hesper check` on a folder that nobody serves."""
    checked = server.command("check")
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
    assert checked.stdout.endswith(": no problems found.\n")
