"""Two browsers edit one note at random, with and without a network: nothing is lost or doubled, and both end with the same text."""

import json
from collections.abc import Iterator

import pytest
from app import TIMEOUT, App
from client import ROOT, Client, Server
from playwright.sync_api import Browser
from two_writers import FIRST, RECORDER, Writer, run, text_edits

pytestmark = pytest.mark.long
RESULTS = ROOT / ".build/results/browser"


@pytest.fixture(scope="module")
def writers(browser: Browser, server: Server) -> Iterator[tuple[list[Writer], Client]]:
    """Two people with a browser each, and a client of their account."""
    client = server.client()
    found = []
    for number in range(2):
        context = browser.new_context(locale="en-GB")
        context.set_default_timeout(TIMEOUT)
        context.add_init_script(RECORDER)
        app = App(context, server.url, service_worker=False).visit()
        app.sign_in(client.email, device_name="AB"[number])
        start = FIRST + number * 8_000
        found.append(Writer(app, range(start, start + 8_000)))
    yield found, client
    for writer in found:
        writer.app.context.close()


@pytest.mark.timeout(3_600)
def test_two_writers(writers: tuple[list[Writer], Client], seed: int, everything: bool):
    """The first run has the seed of the test, the others those that follow."""
    people, client = writers
    for number in range(seed, seed + (500 if everything else 6)):
        try:
            run(people, client, number, actions=30 if everything else 12)
            assert not (errors := [error for writer in people for error in writer.app.page_errors]), errors
        except Exception as failure:
            for writer, name in zip(people, "AB", strict=True):
                writer.app.save_diagnostics(RESULTS, f"two-writers-{number}-{name}")
            logs = "\n".join(f"{writer.app.text!r}\n{', '.join(writer.log)}" for writer in people)
            RESULTS.mkdir(parents=True, exist_ok=True)
            record = {"failure": str(failure), "edits": text_edits(client, people[0].note)}
            record |= {name: {"typed": writer.typed, "moved": sorted(writer.moved), "log": writer.log,
                              "changes": writer.changes} for writer, name in zip(people, "AB", strict=True)}  # fmt: skip
            (RESULTS / f"two-writers-{number}.json").write_text(json.dumps(record, ensure_ascii=False, indent=1))
            raise AssertionError(f"HESPER_SEED={number}: {failure}\n{logs}") from failure
