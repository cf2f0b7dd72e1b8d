"""When things happened: the bits say it, agents that see only the 52 have the same, and older states still load."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from garrison.cage2 import VectorEnv
from garrison.cage2.defender_history import GROUPS, NUM_HISTORY, REMEMBERED, WATCHED
from garrison.cage2.defender_memory import NUM_REMEMBERED
from garrison.cage2.layout import STATE, STATE_BEFORE_HISTORY
from garrison.cage2.names import HOSTS, Host
from garrison.export.cage2_tables import cage2_tables
from garrison.export.player import CageMemory

RESTORE_USER2 = 2 + 13 * 10 + Host.USER2
REMOVE_USER2 = 2 + 13 * 1 + Host.USER2


@given(
    red=st.sampled_from(["bline", "meander", "sleep"]),
    rules=st.sampled_from(["head", "leaderboard"]),
    encoder=st.sampled_from(["challenge", "wrapper2"]),
    seed=st.integers(0, 2**32),
    actions=st.lists(st.integers(0, 144), min_size=1, max_size=60),
)
def test_a_second_account_of_the_52_bits_and_the_actions_gives_the_same_bits(
    red: str, rules: str, encoder: str, seed: int, actions: list[int]
) -> None:
    """The player of exported agents keeps its own books, in plain Python and from lists of what happened."""
    settings: Any = {"red": red, "rules": rules, "encoder": encoder, "length": 25, "autoreset_mode": "SameStep"}
    told, bare = VectorEnv(1, observation="history", **settings), VectorEnv(1, **settings)
    env = {"rules": rules, "challenge_encoder": encoder, "observation": "history", "actions": "all"}
    memory = CageMemory(cage2_tables(env, masked=True))
    observations, bits = told.reset(seed=seed)[0], bare.reset(seed=seed)[0]
    starts = True
    for action in [*actions, 0]:
        assert memory.see(bits[0].tolist(), starts) == observations[0].tolist()
        memory.last = action
        observations, _, _, starts_now, _ = told.step([action])
        bits, *_ = bare.step([action])
        starts = bool(starts_now[0])


def history(row: np.ndarray, name: str) -> np.ndarray:
    names = list(GROUPS)
    each = len(WATCHED)
    widths = [GROUPS[group] // each for group in names[:4]]
    if name in names[:4]:
        table = row[NUM_REMEMBERED : NUM_REMEMBERED + each * sum(widths)].reshape(each, sum(widths))
        begin = sum(widths[: names.index(name)])
        return table[:, begin : begin + widths[names.index(name)]]
    begin = NUM_REMEMBERED + sum(GROUPS[group] for group in names[: names.index(name)])
    return row[begin : begin + GROUPS[name]]


def test_ages_run_out() -> None:
    envs = VectorEnv(1, red="sleep", observation="history", length=90)
    envs.reset(seed=0)
    place = WATCHED.index(Host.USER2)
    rows = [envs.step([action])[0][0] for action in [RESTORE_USER2, REMOVE_USER2, *([0] * 40)]]
    restored = [history(row, "host was restored so lately")[place].sum() for row in rows]
    removed = [history(row, "Remove on host so lately")[place].sum() for row in rows]
    assert restored[:7] == [5, 4, 4, 3, 3, 3, 2]
    assert restored[REMEMBERED - 1 : REMEMBERED + 1] == [1, 0]
    assert removed[:7] == [0, 4, 3, 2, 1, 1, 0]
    assert history(rows[0], "kind of Blue's last action").tolist() == [0, 0, 0, 0, 1]
    assert history(rows[1], "kind of Blue's last action").tolist() == [0, 0, 1, 0, 0]
    assert history(rows[1], "host of Blue's last action").tolist() == [int(h == Host.USER2) for h in WATCHED]


def test_the_first_bits_are_those_of_memory() -> None:
    both = [VectorEnv(50, red="meander", observation=name) for name in ("memory", "history")]
    actions = np.random.default_rng(0).integers(145, size=(60, 50))
    for envs in both:
        envs.reset(seed=5)
    for row in actions:
        shorter, longer = (envs.step(row)[0] for envs in both)
        assert np.array_equal(shorter, longer[:, :NUM_REMEMBERED])
    assert longer.shape[1] == NUM_REMEMBERED + NUM_HISTORY
    assert longer[:, NUM_REMEMBERED:].any(axis=0).sum() > NUM_HISTORY / 2


def test_states_that_were_saved_before_there_was_a_history_go_on() -> None:
    envs, twin = VectorEnv(4, red="bline", observation="memory"), VectorEnv(4, red="bline", observation="memory")
    envs.reset(seed=0)
    for _ in range(9):
        envs.step([55, 132, 3, 17])
    state = envs.get_state()
    old = np.zeros(4, STATE_BEFORE_HISTORY)
    for name in STATE_BEFORE_HISTORY.names or ():
        if name != "unused":
            old[name] = state[name]
    twin.set_state(old)
    assert twin.get_state().tobytes() == state.tobytes()
    assert STATE_BEFORE_HISTORY.itemsize < STATE.itemsize


@pytest.mark.parametrize("observation", ["history", "memory"])
def test_a_restored_state_shows_the_same(observation: str) -> None:
    envs, other = (VectorEnv(3, red="meander", observation=observation) for _ in range(2))
    envs.reset(seed=0)
    for _ in range(9):
        envs.step([55, 132, 3])
    other.set_state(envs.get_state())
    assert np.array_equal(other.observations, envs.observations)
    assert len(HOSTS) > len(WATCHED)
