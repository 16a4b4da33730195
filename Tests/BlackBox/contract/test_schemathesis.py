"""Runs schemathesis against a server with TLS: no 5xx, and no response that the contract does not define."""

import os
import subprocess
import sys
from pathlib import Path

import contract_document
import generators
import pytest
import schemathesis_hooks as hooks
from secure import TLSServer

pytestmark = [pytest.mark.long, pytest.mark.thorough]

HERE = Path(__file__).parent
# Must differ from the passwords in the contract's examples, which would otherwise change this account.
PASSWORD = "none of the examples has this one"
SECONDS = 900  # without other load it takes 90


@pytest.mark.timeout(SECONDS + 60)
def test_responses_conform_to_the_contract(tmp_path, output):
    with TLSServer(tmp_path) as server:
        run(server, output)


def run(server: TLSServer, output: Path) -> None:
    client = server.client(password=PASSWORD)
    environment = {
        **generators.environment(),
        "HESPER_TOKEN": client.token,
        "HESPER_DEVICE": client.device["uniqueID"],
        "HESPER_HOOKS": str(HERE / "schemathesis_hooks.py"),
        "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent / "support"), os.environ.get("PYTHONPATH", "")]),
    }
    log = output / "schemathesis.log"
    with log.open("wb") as written:
        # schemathesis writes caches to the working directory, so it runs in a folder below .build.
        done = subprocess.run(
            [
                Path(sys.executable).parent / "schemathesis", "--config-file", HERE / "schemathesis.toml", "run",
                contract_document.PATH, "--url", server.url, "--checks", "all",
                "--tls-verify", server.certificate,
            ],
            cwd=output, env=environment, stdout=written, stderr=subprocess.STDOUT, timeout=SECONDS,
        )  # fmt: skip
    printed = log.read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, printed[-20_000:]
    assert server.process.poll() is None, "the server ended"
    assert client.get("/v1/account").status_code == 200, "the run changed the account or its token"
    assert "passed" in printed.rsplit("SUMMARY", 1)[-1]


# The hooks that excuse failures

NOTE = {"uniqueID": "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"}
WRONG = {"uniqueID": "5f0c5a1e"}


@pytest.mark.parametrize(
    "notes, results, refused",
    [
        ([WRONG], [("/changes/notes/0", "rejected")], True),
        ([WRONG], [("/changes/notes/0", "applied")], False),
        ([WRONG], [], False),
        ([NOTE, WRONG], [("/changes/notes/0", "applied"), ("/changes/notes/1", "rejected")], True),
        ([NOTE, 7], [("/changes/notes/0", "rejected"), ("/changes/notes/1", "applied")], False),
        ([NOTE], [("/changes/notes/0", "rejected")], False),
    ],
)
def test_an_invalid_element_must_be_rejected_in_its_result(notes, results, refused):
    answer = {"results": [{"pointer": pointer, "status": status} for pointer, status in results]}
    assert hooks.refuses_each_element({"changes": {"notes": notes}}, answer, "sync") is refused


@pytest.mark.parametrize(
    "body, fits",
    [
        ({"changes": {"notes": [WRONG]}}, True),
        ({"changes": {"notes": [WRONG], "extra": []}}, False),
        ({"changes": {"notes": 7}}, False),
        ({"changes": {}, "limit": 0}, False),
        (["changes"], False),
    ],
)
def test_errors_outside_the_elements_are_not_excused(body, fits):
    assert hooks.fits(hooks.without_elements(body, "sync"), "SyncRequest") is fits
