"""What holds for any sequence of actions."""

import pickle
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from garrison.cage2.names import (
    ENCODERS,
    NUM_ACTIONS,
    NUM_HOSTS,
    RULES,
    SCRIPTED_REDS,
    Access,
    RedKind,
)
from garrison.cage2.vector_env import VectorEnv

LENGTH = 25
REDS = st.sampled_from(SCRIPTED_REDS)
RULE_SETS = st.sampled_from(RULES)
ENCODER_NAMES = st.sampled_from(ENCODERS)
SEEDS = st.integers(0, 2**32)
# Half of the actions aim at the hosts that matter, so that sequences reach deep states.
ACTION = st.one_of(
    st.integers(0, NUM_ACTIONS - 1), st.builds(lambda b, h: 2 + 13 * b + h, st.integers(0, 10), st.integers(1, 3))
)
ACTIONS = st.lists(ACTION, min_size=5, max_size=40)
RED_ACTION = st.tuples(st.integers(0, 5), st.integers(0, NUM_HOSTS - 1)).map(
    lambda a: (a[0], a[1] % 3) if a[0] == RedKind.SWEEP else a
)


def trajectory(envs: VectorEnv, actions: list[int], row: int = 0) -> list[tuple[bytes, float, bytes]]:
    """Play the same actions in every environment and return what environment `row` shows."""
    kept = []
    for action in actions:
        obs, rewards, *_ = envs.step(np.full(envs.num_envs, action))
        kept.append((obs[row].tobytes(), float(rewards[row]), envs.get_state([row]).tobytes()))
    return kept


@given(
    red=REDS,
    rules=RULE_SETS,
    encoder=ENCODER_NAMES,
    seed=SEEDS,
    actions=ACTIONS,
    size=st.integers(2, 9),
    data=st.data(),
)
def test_place_size_threads_and_copies_change_nothing(
    red: str, rules: str, encoder: str, seed: int, actions: list[int], size: int, data: Any
) -> None:
    settings: dict[str, Any] = {"red": red, "rules": rules, "encoder": encoder, "length": LENGTH}
    alone = VectorEnv(1, **settings)
    alone.reset(seed=seed)
    expected = trajectory(alone, actions)
    alone.reset(seed=seed)
    assert trajectory(alone, actions) == expected  # same seed, same bytes

    row = data.draw(st.integers(0, size - 1))
    batch = VectorEnv(size, threads=data.draw(st.integers(1, 3)), **settings)
    batch.reset(seed=[seed + i - row if i != row and seed >= size else seed for i in range(size)])
    cut = data.draw(st.integers(0, len(actions)))
    assert trajectory(batch, actions[:cut], row) == expected[:cut]
    moved = data.draw(st.sampled_from([lambda e: e, lambda e: e.clone(), lambda e: pickle.loads(pickle.dumps(e))]))
    assert trajectory(moved(batch), actions[cut:], row) == expected[cut:]
    batch.close()


@given(red=REDS, rules=RULE_SETS, seed=SEEDS, actions=ACTIONS)
def test_rewards_are_the_sums_of_their_terms_and_observations_are_bits(
    red: str, rules: str, seed: int, actions: list[int]
) -> None:
    envs = VectorEnv(1, red=red, rules=rules, length=LENGTH)
    envs.reset(seed=seed)
    total = 0.0
    for action in actions:
        obs, rewards, terminations, truncations, infos = envs.step([action])
        terms = envs.truth.reward_terms[0]
        assert np.isfinite(terms).all()
        assert rewards[0] == round(float(terms.sum()), 3)
        assert rewards[0] == round(float(rewards[0]), 1)
        assert set(np.unique(obs)) <= {0, 1}
        assert not terminations.any()
        total += float(rewards[0])
        if truncations[0]:
            assert infos["episode_stats"]["r"][0] == round(total, 3)
            total = 0.0


@given(seed=SEEDS, rules=RULE_SETS, turns=st.lists(st.tuples(ACTION, RED_ACTION), min_size=5, max_size=60))
def test_the_state_stays_consistent_whatever_both_sides_do(
    seed: int, rules: str, turns: list[tuple[int, tuple[int, int]]]
) -> None:
    envs = VectorEnv(1, red="external", rules=rules, length=1000)
    envs.reset(seed=seed)
    # Begin with a way in, so that the attacker's random turns meet open doors.
    opening = [
        (0, (1, 2)),
        (0, (2, 10)),
        (0, (3, 10)),
        (0, (3, 10)),
        (0, (4, 10)),
        (0, (2, 2)),
        (0, (3, 2)),
        (0, (4, 2)),
    ]
    for action, red in [*opening, *turns]:
        before = envs.get_state()[0]
        envs.step({"blue": [action], "red": [red]})
        after = envs.get_state()[0]
        privileged = after["sessions"] - after["removable"] - after["hidden"]
        assert (privileged >= 0).all()
        assert (after["lead"] <= after["removable"]).all()
        assert ((privileged > 0) == (after["access"] == Access.PRIVILEGED)).all()
        assert ((after["sessions"] > 0) == (after["access"] > Access.NONE)).all()
        assert (after["access_oldest"] <= after["access"]).all()
        assert ((after["access_oldest"] > 0) == (after["sessions"] > 0)).all()
        assert (after["lead"] + (after["oldest_fixed"] > 0) > 0).tolist() == (after["sessions"] > 0).tolist()
        assert after["access"][8] == Access.PRIVILEGED
        risen = np.flatnonzero(after["access"] > before["access"])
        assert set(risen) <= {int(after["red_target"])}  # only Red raises access, and only on its target
        assert (after["decoys"].sum(axis=1) + envs._scenario["image_sockets"][0] == after["sockets"]).all()


@given(red=REDS, rules=RULE_SETS, encoder=ENCODER_NAMES, seed=SEEDS, actions=ACTIONS, by_truth=st.booleans())
def test_masks_never_forbid_an_action_that_would_have_an_effect(
    red: str, rules: str, encoder: str, seed: int, actions: list[int], by_truth: bool
) -> None:
    envs = VectorEnv(1, red=red, rules=rules, encoder=encoder, length=1000)
    envs.reset(seed=seed)
    for action in actions[:20]:
        envs.step([action])
    mask = envs.action_masks(by_truth)[0]
    assert mask[0]
    trial = envs.clone([0], repeat=NUM_ACTIONS)
    trial.step(np.arange(NUM_ACTIONS))
    after = trial.get_state()
    for field in ("blue_action", "blue_success"):  # what Blue did is not an effect
        after[field] = 0
    has_effect = np.array([after[a].tobytes() != after[0].tobytes() for a in range(NUM_ACTIONS)])
    assert not (has_effect & ~mask).any(), np.flatnonzero(has_effect & ~mask)
    if by_truth:  # and by truth they forbid most of what would have none
        idle = ~has_effect & mask
        assert np.flatnonzero(idle).tolist() == [0] or idle.sum() < 20


@given(seed=SEEDS, host=st.integers(0, NUM_HOSTS - 1), actions=ACTIONS)
def test_restoring_twice_is_restoring_once(seed: int, host: int, actions: list[int]) -> None:
    envs = VectorEnv(1, red="sleep", length=1000)
    envs.reset(seed=seed)
    for action in actions:
        envs.step([action])
    envs.step([132 + host])
    once = envs.get_state()
    envs.step([132 + host])
    twice = envs.get_state()
    for field in ("t", "total"):
        twice[field] = once[field]
    assert twice.tobytes() == once.tobytes()
