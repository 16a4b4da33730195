"""Random lives of devices on a real server, and a model of what must come of every push.

With --everything, 40 seeds and 50,000 operations, which takes some minutes; `--seeds` and `--operations` say otherwise.
HESPER_SEED is the first seed.
"""

import copy
from pathlib import Path

import pytest
from client import Server
from life import Life, run
from model import Text

pytestmark = [pytest.mark.both_stores, pytest.mark.long]


@pytest.mark.timeout(4 * 3_600)
def test_lives(request: pytest.FixtureRequest, seed: int, tmp_path: Path) -> None:
    """One server for each life, as it is killed and restored."""
    config = request.config
    is_full = config.getoption("--everything", False) and config.getoption("--store") == "sqlite"
    seeds = config.getoption("--seeds") or (40 if is_full else 2)
    operations = config.getoption("--operations") or (1_250 if is_full else 300)
    for each in range(seed, seed + seeds):
        with Server() as server:
            life = run(server, each, operations, tmp_path / f"backup-{each}")
            server.stop()
            checked = server.command("check")
            assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
        print(f"HESPER_SEED={each} --seeds 1 --operations {operations}: {life.summary}")
        for loss in life.model.losses:
            print(loss)
        assert not life.lost and not life.doubled, f"seed {each}: lost {life.lost}, doubled {life.doubled}"


def test_the_model_notices(fresh_server: Server, tmp_path: Path) -> None:
    """A check that cannot fail is none: whatever the server had otherwise than the model would be noticed."""
    life = Life(fresh_server, 1, tmp_path / "backup")
    device, other, _ = life.devices
    note, tag = device.make_note("w1 w2\n"), device.make_tag("Paris")
    device.tag(note, tag)
    life.written = {"w1", "w2"}
    life.end()
    assert not life.lost and not life.doubled
    life.written.add("w3")
    life.end()
    assert life.lost == {"w3"}
    right = life.model
    for damage in (
        lambda each: each.edits.pop(f"tags.{tag}"),
        lambda each: each.fixed.update(creationDate="2024-01-01T00:00:00.000Z"),
        lambda each: each.texts.update({each.standing: Text("w1\n")}),
        lambda each: each.edits.update({"attributes.pinned": {each.standing: 1}}),
    ):
        life.model = copy.deepcopy(right)
        damage(life.model.objects[note])
        with pytest.raises(AssertionError):
            life.sync(other)
    # A push of which the server makes something else than the model does.
    device.write(note, "w1 w2 w4\n")
    life.model = copy.deepcopy(right)
    life.model.objects[note].texts["another"] = Text("", frozenset({device.unsent[note, "text"].clock}))
    with pytest.raises(AssertionError):
        life.sync(device)
