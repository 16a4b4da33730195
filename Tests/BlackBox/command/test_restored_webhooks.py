"""Webhooks of a restored or contested installation are paused (operating.md, Webhooks)."""

import json
from pathlib import Path

from backups import back_up, restore
from client import PASSWORD, Client, Server
from receiver import ALLOWED, Receiver
from rows import check_holds
from test_webhooks import deliveries, hook, note
from waiting import wait_until


def test_a_restored_server_sends_nothing_until_the_owner_resumes(tmp_path: Path) -> None:
    with Receiver() as receiver, Receiver() as later:
        with Server(environment=ALLOWED) as server:
            client = server.client(email="ada@example.org")
            made = hook(client, receiver.url)
            note(client)
            wait_until(lambda: deliveries(client, made))  # recorded after the receiver has answered
            back_up(server, tmp_path / "backup")
        assert restore(tmp_path / "backup", tmp_path / "data").returncode == 0
        path = f"/v1/webhooks/{made['uniqueID']}"
        with Server(data=tmp_path / "data", environment=ALLOWED) as server:
            client = Client(server.url)
            client.sign_in("ada@example.org", PASSWORD)
            check_holds(client.get(path).json(), {"paused": True, "pauseReason": "restored", "url": receiver.url})
            hook(client, later.url)
            new = note(client)
            later.wait(1)
            assert len(receiver.events) == 1
            check_holds(client.patch(path, {"paused": False}).json(), {"paused": False})
            receiver.wait(2)
            assert receiver.summary[1] == ("note.created", new)
            receiver.events[1].check_signature(made["secret"])
            assert receiver.events[1].id != receiver.events[0].id


def test_webhooks_are_paused_while_the_attachments_are_contested(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Receiver() as receiver:
        with Server(data=data, environment=ALLOWED) as server:
            client = server.client(email="ada@example.org")
            path = f"/v1/webhooks/{hook(client, receiver.url)['uniqueID']}"
            marker = data / "attachments/hesper-installation.json"
            wait_until(marker.exists)
        # Another copy of the database has written the marker.
        content = json.loads(marker.read_text()) | {"nonce": "0123456789abcdef"}
        marker.write_text(json.dumps(content))
        with Server(data=data, environment=ALLOWED) as server:
            client = Client(server.url, client.token)
            note(client)
            paused = wait_until(lambda: (found := client.get(path).json())["paused"] and found)
            assert paused["pauseReason"] == "contested"
            assert receiver.events == []
            wait_until(lambda: "All webhooks were paused." in server.log)
        adopted = server.command("adopt-attachments", "--yes")
        assert adopted.returncode == 0, adopted.stderr
        with Server(data=data, environment=ALLOWED) as server:
            client = Client(server.url, client.token)
            assert client.get(path).json()["paused"]
            client.patch(path, {"paused": False})
            receiver.wait(1)
