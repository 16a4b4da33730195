"""One address for a primary and its standby, such as a load balancer or virtual IP (operating.md, Failover)."""

import contextlib
import socket
import socketserver
import threading
import time

from client import Client, Server
from device import Device
from postgres import PostgreSQL, free_port
from waiting import wait_until

# A server that lost its database tries to reconnect at least every two seconds.
SECONDS_AWAY = 5


def pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for each in (source, sink):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


class ForwardingHandler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.server.target.port)) as there:
            back = threading.Thread(target=pump, args=(there, self.request), daemon=True)
            back.start()
            pump(self.request, there)
            back.join()


class Balancer(socketserver.ThreadingTCPServer):
    """A TCP proxy that forwards each new connection to the current `target`."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, target: PostgreSQL):
        super().__init__(("127.0.0.1", free_port()), ForwardingHandler)
        self.target = target
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_) -> None:
        self.shutdown()
        self.server_close()

    def in_place_of(self, server: PostgreSQL, address: str) -> str:
        return address.replace(f"127.0.0.1:{server.port}", f"127.0.0.1:{self.server_address[1]}")


def check_unavailable(client: Client, token: str) -> None:
    """Checks that reads, syncs, writes and readiness return 503."""
    assert client.get("/readyz").status_code == 503
    for answer in (
        client.get("/v1/notes"),
        client.get("/v1/changes", params={"since": token}),
        client.post("/v1/notes", {"text": "Butter"}),
    ):
        assert (answer.status_code, answer.json()["slug"]) == (503, "unavailable"), answer.text


def test_a_standby_is_not_read_before_it_is_promoted() -> None:
    with PostgreSQL() as primary, primary.standby() as standby, Balancer(primary) as balancer:
        address = balancer.in_place_of(primary, primary.database())
        with Server(database=address) as server:
            device = Device(server.client())
            device.make_note("Milk")
            device.sync()
            standby.catch_up()
            # Later commits are received by the standby but not replayed, so they are not visible there yet.
            standby.sql("SELECT pg_wal_replay_pause()")
            device.make_note("Bread")
            device.sync()
            reached = primary.sql("SELECT pg_current_wal_flush_lsn()")[0][0]
            wait_until(lambda: standby.sql(f"SELECT pg_last_wal_receive_lsn() >= '{reached}'") == [["t"]], failure="the standby did not receive the commit")
            balancer.target = standby
            primary.kill()
            deadline = time.monotonic() + SECONDS_AWAY
            while time.monotonic() < deadline:
                check_unavailable(device.client, device.token)
                time.sleep(0.1)
            # Commands use the standby only if target_session_attrs allows it.
            refused = server.command("check")
            assert refused.returncode != 0 and "session is read-only" in refused.stderr, refused.stderr
            server.environment["HESPER_DATABASE"] = f"{address}&target_session_attrs=any"
            checked = server.command("check")
            assert checked.returncode == 0, checked.stderr

            standby.control("promote")
            wait_until(lambda: device.client.get("/readyz").status_code == 200, failure="the server did not find its database again")
            answer = device.client.get("/v1/changes", params={"since": device.token})
            assert answer.status_code == 200, answer.text
            notes = device.client.get("/v1/notes").json()["notes"]
            assert {note["text"] for note in notes} == {"Milk", "Bread"}
            device.make_note("Honey")
            device.sync()
            assert len(device.client.get("/v1/notes").json()["notes"]) == 3
