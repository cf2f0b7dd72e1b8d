"""Saved states of Procgen's games: what is not one of these games' is refused before the library, which would exit."""

from typing import Any

import numpy as np
import pytest

from garrison import vector
from garrison.errors import UserError
from garrison.learn import train
from garrison.learn.config import PolicyConfig, PPOConfig
from garrison.registration import PROCGEN_IDS
from garrison.storage import checkpoint
from tests.helpers.installed import needs_procgen
from tests.helpers.played import is_same

pytestmark = needs_procgen


def games(env: str = "procgen-bigfish-v0", num_envs: int = 2, **settings: Any) -> Any:
    envs = vector.make(env, num_envs, "native", autoreset_mode="SameStep", **settings)
    envs.reset(seed=3)
    return envs


def played(envs: Any, steps: int = 5) -> list[Any]:
    return [envs.step(np.full(envs.num_envs, t % 15)) for t in range(steps)]


def changed_byte(saved: dict[str, Any]) -> dict[str, Any]:
    saved["states"][len(saved["states"]) // 3] ^= 1
    return saved


def changed_length(saved: dict[str, Any]) -> dict[str, Any]:
    saved["lengths"] += [-4, 4]
    return saved


def not_by_procgen(saved: dict[str, Any]) -> dict[str, Any]:
    return {"states": np.zeros_like(saved["states"]), "lengths": saved["lengths"]}


@pytest.mark.parametrize("env", PROCGEN_IDS)
def test_the_state_of_every_game_fits_it_whatever_was_played(env: str) -> None:
    envs = games(env, 1)
    played(envs, 20)
    saved = envs.get_state()
    first = played(envs)
    envs.reset(seed=8)
    envs.set_state(saved)
    assert is_same(first, played(envs))
    envs.close()


def test_a_state_saved_before_there_were_checksums_is_taken() -> None:
    envs = games()
    saved = envs.get_state()
    first = played(envs)
    envs.set_state({name: saved[name] for name in ("states", "lengths")})
    assert is_same(first, played(envs))
    envs.close()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed_byte, "checksum is wrong"),
        (changed_length, "checksum is wrong"),
        (not_by_procgen, "state of game 0 is damaged"),
        (lambda saved: saved | {"lengths": np.array([2**63 - 1, 2**63 - 1])}, "not the state of 2 games"),
        (lambda saved: saved | {"lengths": saved["lengths"].astype(float)}, "not the state of 2 games"),
        (lambda saved: saved | {"lengths": saved["lengths"][:1]}, "not the state of 2 games"),
        (lambda saved: {"states": saved["states"]}, "not the state of 2 games"),
        (lambda saved: saved["states"], "not the state of 2 games"),
    ],
)
def test_a_damaged_state_is_refused_in_a_sentence_and_the_games_go_on(change: Any, message: str) -> None:
    envs, undisturbed = games(), games()
    with pytest.raises(UserError, match=message):
        envs.set_state(change(envs.get_state()))
    assert is_same(played(envs), played(undisturbed))
    envs.close()
    undisturbed.close()


@pytest.mark.parametrize(
    ("env", "settings"),
    [
        ("procgen-maze-v0", {}),
        ("procgen-bigfish-v0", {"distribution_mode": "easy"}),
        ("procgen-bigfish-v0", {"num_levels": 5}),
        ("procgen-bigfish-v0", {"use_backgrounds": False}),
    ],
)
def test_a_state_of_another_game_or_of_other_settings_is_refused(env: str, settings: dict[str, Any]) -> None:
    envs, foreign = games(), games(env, **settings)
    with pytest.raises(UserError, match="another game of Procgen's than bigfish, or of one with other settings"):
        envs.set_state(foreign.get_state())
    envs.close()
    foreign.close()


def test_a_training_does_not_go_on_from_a_damaged_state() -> None:
    policy = PolicyConfig(hidden=(8,), trunk="encoder")
    config = PPOConfig(steps=16, rollout=8, epochs=1, minibatches=1, threads=1, policy=policy)
    state = train(config, games(copy=False)).state
    kept = checkpoint.tensors(checkpoint.decode(b"".join(checkpoint.encode(state)), "a checkpoint"))
    assert kept["collector"]["envs"]["checksum"] == state["collector"]["envs"]["checksum"]
    kept["collector"]["envs"]["states"][1000] ^= 1
    with pytest.raises(UserError, match="checksum is wrong"):
        train(config, games(copy=False), resume=kept)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"use_generated_assets": True}, "use_generated_assets cannot be seeded"),
        ({"distribution_mode": "extreme"}, "bigfish has no distribution_mode 'extreme'; chaser, dodgeball"),
        ({"distribution_mode": "memory"}, "bigfish has no distribution_mode 'memory'"),
        ({"num_levels": 2**31 - 1, "start_level": 1}, "start_level must lie between 0 and 0"),
    ],
)
def test_settings_at_which_the_library_would_exit_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        games(**settings)
