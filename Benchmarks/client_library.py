"""HesperClient beside GRDB: inserts, the keystroke of an editor, observation, and first syncs."""

import json
import shutil

from client import PASSWORD, Client, Server
from durable_pushes import fresh_folder
from load import Session, fill, rounds
from machine import ROOT, WORK, output
from report import Row

CLIENT = ROOT / ".build-client/release/client"


def client_library() -> list[Row]:
    return local_figures() + first_syncs()


def local_figures() -> list[Row]:
    inserts = Row(
        "HesperClient: 10,000 objects in one transaction", "GRDB inserting the same rows", "objects/s", reach=0.3
    )
    keystroke = Row("HesperClient: saving a note of 50 KB after a key, p50", "2 ms", "ms", reach=1, most=True)
    observation = Row(
        "HesperClient: from an update to the snapshot of 100 objects, p50", "5 ms", "ms", reach=1, most=True
    )
    for _ in range(rounds()):
        figures = measure()
        inserts.add(10_000 / figures["inserts"]["seconds"], 10_000 / figures["inserts"]["grdb"])
        keystroke.add(figures["keystroke"]["milliseconds"], 2)
        observation.add(figures["observation"]["milliseconds"], 5)
    return [inserts, keystroke, observation]


def first_syncs() -> list[Row]:
    """First syncs of accounts of three sizes, and the memory that they need."""
    time = Row(
        "HesperClient: first sync of 10,000 notes",
        "the same pages read and discarded, and GRDB inserting the rows",
        "ms",
        reach=2,
        most=True,
    )
    peaks = {
        count: Row(
            f"HesperClient: peak memory during a first sync of {count:,} notes", "of 10,000", "MB", 1.25, most=True
        )
        for count in (50_000, 100_000)
    }
    with Server(data=fresh_folder("client"), start=False) as server:
        server.own_data = True
        server.start()
        accounts = {count: account(server, count) for count in (10_000, *peaks)}
        for _ in range(rounds()):
            small = first_sync(server, accounts, 10_000)
            time.add(small["seconds"] * 1_000, (small["read"] + small["grdb"]) * 1_000)
            for count, row in peaks.items():
                row.add(first_sync(server, accounts, count)["peak"] / 2**20, small["peak"] / 2**20)
    return [time, *peaks.values()]


def account(server: Server, notes: int) -> Client:
    """A client of a new account with some notes."""
    client = server.client()
    fill(server, Session(client.token, client.device["uniqueID"], client.sync()["syncToken"]), notes)
    return client


def first_sync(server: Server, accounts: dict[int, Client], count: int) -> dict:
    client = accounts[count]
    figures = measure("first-sync", server.url, client.email, PASSWORD, client.token)["first-sync"]
    if figures["notes"] != count:
        raise RuntimeError(f"the first sync had {figures['notes']} notes, not {count}")
    return figures


def measure(*arguments: str) -> dict[str, dict]:
    """Runs the client in an empty folder, and returns its figures by name."""
    folder = WORK / "client"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lines = [json.loads(line) for line in output(str(CLIENT), str(folder), *arguments).splitlines()]
    shutil.rmtree(folder)
    return {line.pop("name"): line for line in lines}
