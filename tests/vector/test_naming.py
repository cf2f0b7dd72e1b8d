"""Names of environments whose packages are extras: what is missing is one sentence, before any process starts."""

import pytest

from garrison import system
from garrison.errors import UserError
from garrison.vector.naming import resolve_env
from tests.helpers.installed import needs_atari, needs_mujoco, needs_procgen


@pytest.mark.parametrize(
    ("env", "sentence"),
    [
        ("procgen-coinrun-v0", r"^Procgen is not installed: pip install --no-deps procgen-mirror \(Linux"),
        ("procgen:procgen-coinrun-v0", r"^Procgen is not installed: pip install --no-deps procgen-mirror \(Linux"),
        ("ALE/Pong-v5", r"^The Arcade Learning Environment is not installed: pip install .*\[atari\]'$"),
        ("PongNoFrameskip-v4", r"^The Arcade Learning Environment is not installed: pip install .*\[atari\]'$"),
        ("Hopper-v5", r"^MuJoCo is not installed: pip install .*\[mujoco\]'$"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    env: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "find_spec", lambda module: None)
    with pytest.raises(UserError, match=sentence):
        resolve_env(env)


@needs_procgen
def test_procgen_is_named_as_in_its_own_documentation() -> None:
    assert resolve_env("procgen:procgen-coinrun-v0") == resolve_env("procgen-coinrun-v0") == "procgen-coinrun-v0"


@needs_atari
def test_atari_games_need_no_import_of_ones_own() -> None:
    assert resolve_env("ALE/Pong-v5") == "ALE/Pong-v5"
    with pytest.raises(UserError, match="did you mean ALE/Pong-v5"):
        resolve_env("ALE/Pog-v5")


@needs_mujoco
def test_mujoco_is_named_by_its_gymnasium_id() -> None:
    assert resolve_env("Hopper-v5") == "Hopper-v5"
