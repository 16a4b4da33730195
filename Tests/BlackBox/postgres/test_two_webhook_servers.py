"""Two servers on one database send each event of a webhook once, and continue if one is killed."""

from pathlib import Path

from client import Client, Server
from receiver import ALLOWED, Receiver


def test_each_event_is_sent_once_also_after_a_server_was_killed(postgresql, tmp_path: Path) -> None:
    address = postgresql.database()
    environment = ALLOWED | {"HESPER_ATTACHMENTS": str(tmp_path)}
    with Server(database=address, environment=environment) as here, Server(database=address, environment=environment) as there:
        client = here.client()
        other = Client(there.url, client.token)
        with Receiver() as receiver:
            made = client.post("/v1/webhooks", {"url": receiver.url, "events": ["note.created"]}).json()
            notes = []
            for number in range(10):
                device = client if number % 2 else other
                notes.append(device.post("/v1/notes", {"text": f"note {number}"}).json()["uniqueID"])
            receiver.wait(10)
            assert [event.object for event in receiver.events] == notes
            # Whichever server sends, the other one continues when its lease has expired.
            here.kill()
            for number in range(3):
                notes.append(other.post("/v1/notes", {"text": f"later {number}"}).json()["uniqueID"])
            events = receiver.wait_for_distinct(13)
            assert list(dict.fromkeys(event.object for event in events)) == notes
            assert len({event.id for event in events}) == 13
            for event in events:
                event.check_signature(made["secret"])
    postgresql.drop(address)
