"""Random operations of devices on a real server, compared with a model after every push.

--everything runs 40 seeds and 50,000 operations, which takes some minutes. `--seeds` and `--operations` override the
numbers. HESPER_SEED is the first seed.
"""

import copy
from pathlib import Path

import pytest
from client import Server
from model import Text
from simulation import Simulation, run

pytestmark = [pytest.mark.both_stores, pytest.mark.long]


@pytest.mark.timeout(4 * 3_600)
def test_random_runs(request: pytest.FixtureRequest, seed: int, tmp_path: Path) -> None:
    """Each run has its own server, which is killed and restored."""
    config = request.config
    is_full = config.getoption("--everything", False) and config.getoption("--store") == "sqlite"
    seeds = config.getoption("--seeds") or (40 if is_full else 1)
    operations = config.getoption("--operations") or (1_250 if is_full else 300)
    for each in range(seed, seed + seeds):
        with Server() as server:
            simulation = run(server, each, operations, tmp_path / f"backup-{each}")
            server.stop()
            checked = server.command("check")
            assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
        print(f"HESPER_SEED={each} --seeds 1 --operations {operations}: {simulation.summary}")
        for loss in simulation.model.losses:
            print(loss)
        problems = f"seed {each}: lost {simulation.lost}, duplicated {simulation.duplicated}"
        assert not simulation.lost and not simulation.duplicated, problems


def test_the_checks_detect_differences(fresh_server: Server, tmp_path: Path) -> None:
    """Changing the model in any way makes the checks fail."""
    simulation = Simulation(fresh_server, 1, tmp_path / "backup")
    device, other, _ = simulation.devices
    note, tag = device.make_note("w1 w2\n"), device.make_tag("Paris")
    device.tag(note, tag)
    simulation.written = {"w1", "w2"}
    simulation.end()
    assert not simulation.lost and not simulation.duplicated
    simulation.written.add("w3")
    simulation.end()
    assert simulation.lost == {"w3"}
    right = simulation.model
    for damage in (
        lambda each: each.edits.pop(f"tags.{tag}"),
        lambda each: each.fixed.update(creationDate="2024-01-01T00:00:00.000Z"),
        lambda each: each.texts.update({each.current_clock: Text("w1\n")}),
        lambda each: each.edits.update({"attributes.pinned": {each.current_clock: 1}}),
    ):
        simulation.model = copy.deepcopy(right)
        damage(simulation.model.objects[note])
        with pytest.raises(AssertionError):
            simulation.sync(other)
    # The server's text differs from the model's.
    device.write(note, "w1 w2 w4\n")
    simulation.model = copy.deepcopy(right)
    simulation.model.objects[note].texts["another"] = Text("", frozenset({device.unsent[note, "text"].clock}))
    with pytest.raises(AssertionError):
        simulation.sync(device)
