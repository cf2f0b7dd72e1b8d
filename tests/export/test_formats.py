"""Exported files act as the agents that they were made of, whatever the spaces, and are not kept if they do not."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from garrison import evaluate, load_agent
from garrison.cage2 import VectorEnv
from garrison.errors import GarrisonError, UserError
from garrison.export import export_agent
from garrison.export.exporting import SUFFIXES
from garrison.export.player import OPERATIONS, Player
from tests.helpers.saved_policies import save_policy

pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

ROOT = Path(__file__).parents[2]
NUMBERS = spaces.Box(-5, 5, (3, 2), np.float32)
STEERING = spaces.Box(np.array([-2.0, 0.0], np.float32), np.array([2.0, 5.0], np.float32))
GEAR = spaces.Tuple((spaces.Discrete(5), spaces.MultiBinary(3)))
PIXELS = spaces.Box(0, 255, (36, 40, 3), np.uint8)
MIXED = spaces.Dict(
    {
        "camera": spaces.Box(0, 255, (2, 10, 12), np.uint8),
        "where": spaces.Tuple((spaces.Discrete(4, start=2), spaces.MultiDiscrete([3, 2]))),
        "lamps": spaces.MultiBinary(5),
        "speed": NUMBERS,
    }
)
CASES: dict[str, dict[str, Any]] = {
    "numbers": {
        "observation_space": NUMBERS,
        "action_space": spaces.Discrete(6, start=3),
        "normalise_observations": True,
    },
    "masks": {"observation_space": spaces.MultiBinary(9), "action_space": spaces.Discrete(7), "masked": True},
    "gru": {"observation_space": NUMBERS, "action_space": spaces.MultiDiscrete([3, 4]), "recurrent_size": 8},
    "pixels": {"observation_space": PIXELS, "action_space": spaces.Discrete(4), "activation": "relu"},
    "squashed": {"observation_space": NUMBERS, "action_space": STEERING, "continuous_actions": "squashed"},
    "mixed": {
        "observation_space": MIXED,
        "action_space": spaces.Dict(
            {"gas": STEERING, "gear": spaces.Tuple((spaces.Discrete(5), spaces.MultiBinary(3)))}
        ),
        "normalise_observations": True,
        "recurrent_size": 6,
    },
    "critic with extras": {
        "observation_space": NUMBERS,
        "action_space": spaces.Discrete(3),
        "extras_space": spaces.Dict({"truth": NUMBERS}),
        "critic_extras": ("truth",),
        "trunk": "separate",
        "normalise_observations": True,
    },
}
QUICK = [case for case in CASES if case != "mixed"]


@pytest.mark.parametrize("format", ["onnx", "numpy", pytest.param("torchscript", marks=pytest.mark.long)])
@pytest.mark.parametrize("case", [*QUICK, pytest.param("mixed", marks=pytest.mark.long)])
def test_a_file_acts_as_its_agent(case: str, format: str, tmp_path: Path) -> None:
    agent = save_policy(tmp_path / "mine.garrison", **CASES[case])
    exported = export_agent(str(agent), format, tmp_path / f"out{SUFFIXES[format]}")  # it checks this itself
    assert exported.observations == 1000
    assert exported.path.exists()


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped agent in all formats, and an episode of it."""
    folder = tmp_path_factory.mktemp("record")
    for format, suffix in SUFFIXES.items():
        export_agent("record", format, folder / f"record{suffix}")
    envs, agent = VectorEnv(1, red="bline", rules="leaderboard", length=100), load_agent("record")
    bits, actions = [envs.reset(seed=5)[0][0]], []
    agent.begin(1)
    for _ in range(100):
        actions.append(int(agent.act(bits[-1][None])[0]))
        bits.append(envs.step(np.array(actions[-1:]))[0][0])
    np.save(folder / "bits.npy", bits[:-1])
    np.save(folder / "actions.npy", actions)
    return folder


def test_the_snippet_of_the_guide_plays_where_garrison_cannot_be_imported(record: Path) -> None:
    (snippet,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "export.md").read_text(), flags=re.M | re.S)
    assert len([line for line in snippet.splitlines() if line.strip()]) <= 20
    found = _run_without_garrison(snippet, record)
    assert found == str(np.load(record / "actions.npy").tolist())


@pytest.mark.parametrize("suffix", [".npz", pytest.param(".pt", marks=pytest.mark.long)])
def test_the_player_plays_other_formats_where_garrison_cannot_be_imported(suffix: str, record: Path) -> None:
    code = f"""
import numpy as np
from record_player import Player
player = Player("record{suffix}")
player.begin(1)
print([int(player.act(bits[None])[0]) for bits in np.load("bits.npy")])
"""
    assert _run_without_garrison(code, record) == str(np.load(record / "actions.npy").tolist())


def test_a_player_is_scored_as_its_agent(record: Path) -> None:
    totals = [evaluate(agent, episodes=2).total for agent in (Player(record / "record.npz"), load_agent("record"))]
    assert totals[0] == totals[1]


def test_a_file_that_acts_otherwise_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = save_policy(tmp_path / "mine.garrison", **CASES["numbers"])
    monkeypatch.setitem(OPERATIONS, "Tanh", np.sin)
    with pytest.raises(GarrisonError, match=r"does not act as .*: step 1 differs, so it was not kept"):
        export_agent(str(agent), "numpy", tmp_path / "mine.npz")
    assert not (tmp_path / "mine.npz").exists()


def test_an_encoder_of_ones_own_is_written_by_torch_alone(tmp_path: Path) -> None:
    own = {
        "observation_space": NUMBERS,
        "action_space": spaces.Discrete(3),
        "encoder": "tests.helpers.own_encoder:Sums",
    }
    agent = save_policy(tmp_path / "mine.garrison", **own)
    export_agent(str(agent), "torchscript", tmp_path / "mine.pt")
    for format, suffix in (("onnx", ".onnx"), ("numpy", ".npz")):
        with pytest.raises(UserError, match=f"cannot be written as {format}.* Use --format torchscript"):
            export_agent(str(agent), format, tmp_path / f"mine{suffix}")


@pytest.mark.parametrize(
    ("agent", "format", "out", "said"),
    [
        ("react-restore", "onnx", None, "is scripted"),
        ("record", "onxx", None, "did you mean 'onnx'"),
        ("record", "onnx", "x.npz", "ends in .onnx"),
        ("recrod", "onnx", None, "did you mean 'record'"),
    ],
)
def test_what_cannot_be_exported_is_refused(agent: str, format: str, out: str | None, said: str) -> None:
    with pytest.raises(UserError, match=said):
        export_agent(agent, format, out)


def _run_without_garrison(code: str, folder: Path) -> str:
    blocked = "import sys\nsys.modules['garrison'] = None\n"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-c", blocked + code]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=120
    ).stdout.strip()
