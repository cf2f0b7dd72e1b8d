"""What a defender can remember follows from its observations and actions alone, and says what it should."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from garrison.cage2 import VectorEnv, load_scenario
from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.defender_memory import DECOY_SLOTS, GROUPS, NUM_REMEMBERED, forget, remember, write_memory
from garrison.cage2.layout import MEMORY
from garrison.cage2.names import ACTIONS, HOSTS, Red
from garrison.jit import records


def groups(row: np.ndarray) -> dict[str, list[int]]:
    """Return the remembered bits of one observation by name, as the indices that are set."""
    at, found = 52, {}
    for name, width in GROUPS.items():
        found[name] = np.flatnonzero(row[at : at + width]).tolist()
        at += width
    assert at == len(row) == NUM_REMEMBERED
    return found


def test_the_slots_are_what_a_pristine_host_accepts() -> None:
    envs = VectorEnv(1)
    envs.reset(seed=0)
    mask = envs.action_masks()[0]
    accepted = [(a.host, a.decoy) for a in ACTIONS if a.decoy >= 0 and mask[a.id]]
    assert sorted(DECOY_SLOTS) == sorted(accepted)


def test_compact_actions_leave_out_only_what_cannot_pay() -> None:
    names = {ACTIONS[a].name for a in ACTION_IDS["compact"]}
    assert "Sleep" in names
    assert "Restore Op_Server0" in names
    assert "DecoyFemitter Enterprise1" in names
    assert not any("Defender" in name or "User0" in name or name == "Monitor" for name in names)
    assert len(names) == len(ACTION_IDS["compact"]) == 67


def test_a_compact_action_is_the_action_it_stands_for() -> None:
    compact = VectorEnv(1, actions="compact")
    full = VectorEnv(1)
    assert compact.single_action_space.n == 67
    assert compact.action_masks().shape == (1, 67)
    for i, a in enumerate(ACTION_IDS["compact"]):
        compact.reset(seed=3)
        full.reset(seed=3)
        compact.step([i])
        full.step([a])
        assert compact.get_state().tobytes() == full.get_state().tobytes()


@given(
    red=st.sampled_from(["bline", "meander", "sleep"]),
    rules=st.sampled_from(["head", "leaderboard"]),
    seed=st.integers(0, 2**32),
    actions=st.lists(st.integers(0, 144), min_size=1, max_size=60),
)
def test_an_agent_that_sees_only_52_bits_remembers_the_same(
    red: str, rules: str, seed: int, actions: list[int]
) -> None:
    told = VectorEnv(1, red=red, rules=rules, length=25, observation="memory", autoreset_mode="SameStep")
    bare = VectorEnv(1, red=red, rules=rules, length=25, autoreset_mode="SameStep")
    memory = records(np.zeros(1, MEMORY))
    scenario = records(load_scenario(rules=rules))
    row = np.zeros(NUM_REMEMBERED, np.int8)

    def expect(obs: np.ndarray, bits: np.ndarray) -> None:
        row[:52] = bits
        write_memory(memory[0], row)
        np.testing.assert_array_equal(obs, row)

    forget(memory[0], scenario[0])
    expect(told.reset(seed=seed)[0][0], bare.reset(seed=seed)[0][0])
    for action in actions:
        obs, *_, infos = told.step([action])
        bits, _, _, truncations, bare_infos = bare.step([action])
        if truncations[0]:
            remember(memory[0], scenario[0], action, bare_infos["final_obs"][0])
            expect(infos["final_obs"][0], bare_infos["final_obs"][0])
            forget(memory[0], scenario[0])
        else:
            remember(memory[0], scenario[0], action, bits[0])
        expect(obs[0], bits[0])


@pytest.mark.slow
@pytest.mark.parametrize("red", ["bline", "meander", "sleep"])
def test_the_attacker_is_recognised_after_three_steps_whatever_blue_does(red: str) -> None:
    envs = VectorEnv(2000, red=red, observation="memory")
    envs.reset(seed=0)
    random = np.random.default_rng(0)
    for _ in range(3):
        obs, *_ = envs.step(random.integers(145, size=2000))
    at = 52 + sum(width for name, width in list(GROUPS.items())[:8])
    looks_like = obs[:, at : at + 2].mean(axis=0).tolist()
    assert looks_like == {"bline": [1, 0], "meander": [0, 1], "sleep": [0, 0]}[red]
    assert Red.BLINE == 0


def test_what_was_seen_and_done_is_remembered() -> None:
    envs = VectorEnv(1, red="bline", observation="memory", length=50)
    obs, _ = envs.reset(seed=4)
    assert groups(obs[0]) == {name: [] for name in GROUPS}
    envs.step([0])
    obs, *_ = envs.step([54 + 1])  # DecoyHarakaSMPT Enterprise0, while B_line scans its first host
    seen = groups(obs[0])
    target = int(envs.truth.red_target[0])
    assert seen["scan seen on host"] == seen["host of the first scan"] == seen["host of the last event"] == [target]
    assert seen["decoy in place"] == [DECOY_SLOTS.index((1, 2))]
    assert seen["steps taken"] == [0, 1]
    obs, *_ = envs.step([132 + 1])
    seen = groups(obs[0])
    assert seen["restored before"] == [HOSTS.index("Enterprise0")]
    assert seen["decoy in place"] == []


def test_a_restored_state_shows_the_same_memory() -> None:
    envs = VectorEnv(3, red="meander", observation="memory")
    envs.reset(seed=0)
    for _ in range(9):
        envs.step([55, 132, 3])
    other = VectorEnv(3, red="meander", observation="memory")
    other.set_state(envs.get_state())
    np.testing.assert_array_equal(other.observations, envs.observations)
