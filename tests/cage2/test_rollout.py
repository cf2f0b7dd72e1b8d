"""Steps inside of the kernel: the same as `step` in a loop, bit by bit; policies; bad input."""

from typing import Any

import numba
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from garrison.agents.scripted import FIRST_OF_BLOCK, SCRIPTED
from garrison.cage2 import Cycle, Reactions, VectorEnv
from garrison.cage2 import vector_env as module
from garrison.cage2.names import NUM_ACTIONS, NUM_HOSTS, Host
from garrison.cage2.rolled_out import RolloutResult
from garrison.cage2.workflow import Workflow
from garrison.errors import UserError

MIX = {"bline": 0.4, "meander": 0.4, "sleep": 0.2}
MODES = ("NextStep", "SameStep")
REMOVE, RESTORE, USER0 = FIRST_OF_BLOCK["remove"], FIRST_OF_BLOCK["restore"], int(Host.USER0)


def pair(n: int = 5, seed: int = 3, **settings: Any) -> tuple[VectorEnv, VectorEnv]:
    """Return two equal batches, the first for `step` with one thread."""
    threads = settings.pop("threads", 1)
    one, other = (VectorEnv(n, **{"red": MIX, "length": 7, **settings}, threads=k) for k in (1, threads))
    one.reset(seed=seed)
    other.reset(seed=seed)
    return one, other


def assert_same(stepped: VectorEnv, rolled: VectorEnv, result: RolloutResult, actions: Any) -> None:
    """Step one batch by `actions`, called for each step, and compare everything with a rollout of the other."""
    ended = []
    for t, (rewards, truncations) in enumerate(zip(result.rewards, result.truncations, strict=True)):
        _, expected, terminations, expected_truncations, infos = stepped.step(actions(t))
        assert rewards.tobytes() == expected.tobytes()
        assert truncations.tobytes() == expected_truncations.tobytes()
        assert not terminations.any()
        stats = infos.get("final_info", infos).get("episode_stats")
        if stats is not None:
            ended += [(t, i, stats["r"][i], stats["l"][i]) for i in np.flatnonzero(stats["_r"])]
    episodes = [tuple(row) for row in zip(*(part.tolist() for part in result.episodes), strict=True)]
    assert episodes == ended
    assert result.terminations.shape == result.truncations.shape
    assert not result.terminations.any()
    assert result.observations.tobytes() == stepped.observations.tobytes()
    assert rolled.observations.tobytes() == stepped.observations.tobytes()
    assert rolled.final_observations.tobytes() == stepped.final_observations.tobytes()
    assert rolled.get_state().tobytes() == stepped.get_state().tobytes()
    for batch in (stepped, rolled):  # and both go on alike
        batch.step(np.ones(batch.num_envs, int))
    assert rolled.get_state().tobytes() == stepped.get_state().tobytes()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rules", ["head", "leaderboard"])
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 13, 70])
def test_a_plan_is_steps_in_a_loop(mode: str, rules: str, threads: int, n: int) -> None:
    stepped, rolled = pair(n, autoreset_mode=mode, rules=rules, threads=threads)
    plan = np.random.default_rng(0).integers(NUM_ACTIONS, size=(25, n))
    assert_same(stepped, rolled, rolled.rollout(plan), lambda t: plan[t])


@pytest.mark.parametrize(
    "settings",
    [
        {"red": "bline"},
        {"red": "meander", "encoder": "wrapper2"},
        {"red": ["sleep", "bline", "meander", "meander", "bline"], "length": [1, 2, 9, 30, 4]},
        {"observation": "memory"},
        {"observation": "history", "actions": "compact"},
        {"source": "cyborg", "red": "meander"},
        {"workflow": Workflow(weight=2.0)},
        {"copy": False},
    ],
)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_kind_of_batch_can_be_rolled_out(settings: dict[str, Any], mode: str, threads: int) -> None:
    stepped, rolled = pair(autoreset_mode=mode, threads=threads, **settings)
    plan = np.random.default_rng(1).integers(stepped.single_action_space.n, size=(20, 5))
    assert_same(stepped, rolled, rolled.rollout(plan), lambda t: plan[t])


def test_one_plan_for_all_and_one_for_each_give_the_same() -> None:
    one, each = pair()
    plan = np.random.default_rng(2).integers(NUM_ACTIONS, size=12)
    a, b = one.rollout(plan), each.rollout(np.repeat(plan[:, None], 5, axis=1))
    assert a.rewards.tobytes() == b.rewards.tobytes()
    assert one.get_state().tobytes() == each.get_state().tobytes()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_cycle_begins_again_with_every_episode(mode: str, threads: int) -> None:
    stepped, rolled = pair(autoreset_mode=mode, length=[3, 5, 7, 11, 30], threads=threads)
    table = np.random.default_rng(3).integers(NUM_ACTIONS, size=(4, 5))
    result = rolled.rollout(Cycle(table), 40)
    assert_same(stepped, rolled, result, lambda t: table[stepped.truth.t % 4, np.arange(5)])


@pytest.mark.parametrize("name", ["belief-restore", "react-restore", "shield", "alert-remove"])
def test_policies_play_as_the_scripted_agents_do(name: str) -> None:
    stepped, rolled = pair(20, autoreset_mode="Disabled", length=30, red="bline")
    agent = SCRIPTED[name]()
    agent.begin(20)
    memory = np.zeros((20, 1), np.int64)
    result = rolled.rollout(POLICIES[name], 30, memory=memory)
    for t in range(30):
        rewards = stepped.step(agent.act(stepped.observations))[1]
        assert rewards.tobytes() == result.rewards[t].tobytes()
    assert rolled.get_state().tobytes() == stepped.get_state().tobytes()


def restore_what_is_believed_compromised() -> Reactions:
    table = np.full((NUM_HOSTS, 16), -1)
    table[:, 4:] = RESTORE + np.arange(NUM_HOSTS)[:, None]
    return Reactions(table, otherwise=0)


@numba.njit
def remove_after_an_alert(observation: Any, t: int, memory: Any) -> int:
    monitored = t > 0 and memory[0] == 1
    for h in range(NUM_HOSTS):
        if monitored and h != USER0 and observation[4 * h + 1] != 0:
            memory[0] = 0
            return REMOVE + h
    memory[0] = 1
    return 1


POLICIES = {
    "belief-restore": restore_what_is_believed_compromised(),
    "react-restore": Cycle([1, *(RESTORE + h for h in range(NUM_HOSTS) if h != USER0)]),
    "shield": Cycle([RESTORE + Host.OP_SERVER0, *[0] * 29]),
    "alert-remove": remove_after_an_alert,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_function_sees_its_row_its_episodes_step_and_its_memory(mode: str, threads: int) -> None:
    stepped, rolled = pair(40, autoreset_mode=mode, threads=threads, observation="memory", actions="compact")
    count = stepped.single_action_space.n

    @numba.njit
    def policy(observation: Any, t: int, memory: Any) -> int:
        if t == 0:
            memory[1] = 0
        memory[0] += 1
        memory[1] = (5 * memory[1] + observation.sum() + t) % 1009
        return memory[1] % count

    memory, own = np.zeros((40, 2), np.int64), np.zeros((40, 2), np.int64)
    plain = getattr(policy, "py_func", policy)

    def actions(t: int) -> Any:
        states = stepped.get_state()
        rows = zip(stepped.observations, states["t"].tolist(), own, states["done"], strict=True)
        return np.array([0 if done else plain(row, step, kept) for row, step, kept, done in rows])

    result = rolled.rollout(policy, 25, memory=memory)
    assert_same(stepped, rolled, result, actions)
    assert memory.tolist() == own.tolist()


@pytest.mark.parametrize("threads", [1, 2])
def test_sums_are_the_rewards_summed_step_by_step(threads: int) -> None:
    whole, summed = pair(11, autoreset_mode="SameStep", threads=threads)
    plan = np.random.default_rng(4).integers(NUM_ACTIONS, size=(14, 11))
    full, short = whole.rollout(plan), summed.rollout(plan, sums=True)
    expected = np.zeros(11)
    for rewards in full.rewards:
        expected += rewards
    assert short.rewards.tobytes() == expected.tobytes()
    assert short.truncations.tolist() == full.truncations[-1].tolist()
    assert short.terminations.shape == (11,)
    for a, b in zip(full.episodes, short.episodes, strict=True):
        assert a.tolist() == b.tolist()


def test_what_a_rollout_returns_belongs_to_the_caller() -> None:
    envs, _ = pair()
    plan = np.random.default_rng(5).integers(NUM_ACTIONS, size=(6, 5))
    first = envs.rollout(plan, sums=True)
    kept = [array.copy() for array in (first.observations, first.rewards, first.truncations)]
    envs.rollout(plan)
    for array, before in zip((first.observations, first.rewards, first.truncations), kept, strict=True):
        np.testing.assert_array_equal(array, before)


def test_a_long_rollout_is_made_of_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    stepped, rolled = pair(autoreset_mode="SameStep")
    monkeypatch.setattr(module, "STEPS_PER_CALL", 15)
    plan = np.random.default_rng(6).integers(NUM_ACTIONS, size=(20, 5))
    assert_same(stepped, rolled, rolled.rollout(plan), lambda t: plan[t])


def test_steps_and_rollouts_of_one_batch_may_alternate() -> None:
    stepped, rolled = pair(30, autoreset_mode="SameStep", threads=2)
    random = np.random.default_rng(7)
    for _ in range(20):
        plan = random.integers(NUM_ACTIONS, size=(3, 30))
        rolled.rollout(plan[:2])
        rolled.step(plan[2])
        for row in plan:
            stepped.step(row)
        assert rolled.get_state().tobytes() == stepped.get_state().tobytes()


def test_without_autoreset_no_episode_may_end_before_the_last_step() -> None:
    envs = VectorEnv(2, length=[4, 6], autoreset_mode="Disabled")
    envs.reset(seed=0)
    with pytest.raises(ResetNeeded, match="ends after 4 more steps"):
        envs.rollout(Cycle([0]), 5)
    assert envs.truth.t.tolist() == [0, 0]
    result = envs.rollout(Cycle([0]), 4)
    assert result.truncations[-1].tolist() == [True, False]
    with pytest.raises(ResetNeeded, match="have ended in environments"):
        envs.rollout(Cycle([0]), 1)


@pytest.mark.parametrize(
    ("policy", "steps", "message"),
    [
        ([[1, 2, 3]], None, r"must have the shape \(steps,\) or \(steps, 2\)"),
        ([], None, "must have the shape"),
        ([1.0, 2.0], None, "must be whole numbers"),
        ([145], None, r"must lie in 0..144; got 145"),
        ([-1], None, r"must lie in 0..144; got -1"),
        ([1, 2], 3, "for 2 steps, not 3"),
        (Cycle([1]), None, "say how many steps"),
        (Cycle([1]), 0, "steps must lie"),
        (Cycle([200]), 4, "the actions of a Cycle must lie"),
        (Reactions(np.zeros((13, 4), int)), 4, r"must have the shape \(13, 16\)"),
        (Reactions(np.full((13, 16), -2)), 4, "the table of Reactions must lie in -1..144"),
        (Reactions(np.zeros((13, 16), int), otherwise=-1), 4, "otherwise of Reactions must lie"),
    ],
)
def test_bad_policies_are_refused_before_anything_moves(policy: Any, steps: int | None, message: str) -> None:
    envs, _ = pair(2)
    before = envs.get_state().tobytes()
    with pytest.raises(UserError, match=message):
        envs.rollout(policy, steps)
    assert envs.get_state().tobytes() == before


@pytest.mark.skipif(module.COMPILED is False, reason="plain Python calls any function")
def test_functions_must_be_compiled_and_take_three_values() -> None:
    envs, _ = pair(2)
    with pytest.raises(UserError, match=r"put @numba\.njit above it"):
        envs.rollout(lambda observation, t, memory: 0, 3)
    with pytest.raises(UserError, match="the policy could not be compiled"):
        envs.rollout(numba.njit(lambda observation: 0), 3)


@pytest.mark.parametrize("action", [-1, 145])
def test_a_function_that_names_no_action_ends_the_rollout_and_asks_for_a_reset(action: int) -> None:
    envs, _ = pair(9, threads=2)

    @numba.njit
    def policy(observation: Any, t: int, memory: Any) -> int:
        return action if memory[0] == 6 and t == 3 else 0

    memory = np.arange(9)[:, None].copy()
    with pytest.raises(UserError, match=f"chose the action {action} in environment 6"):
        envs.rollout(policy, 5, memory=memory)
    with pytest.raises(ResetNeeded):
        envs.step(np.zeros(9, int))
    envs.reset(seed=0)
    envs.step(np.zeros(9, int))


@pytest.mark.parametrize("memory", [[1], np.zeros(2, np.int64), np.zeros((2, 1)), np.zeros((3, 1), np.int64)])
def test_memory_must_be_rows_of_whole_numbers(memory: Any) -> None:
    envs, _ = pair(2)
    with pytest.raises(UserError, match="memory must be a writeable contiguous int64 array of 2 rows"):
        envs.rollout(Cycle([0]), 2, memory=memory)


def test_attackers_from_outside_cannot_be_rolled_out() -> None:
    envs = VectorEnv(2, red="external")
    with pytest.raises(ResetNeeded):
        envs.rollout([0])
    envs.reset(seed=0)
    with pytest.raises(UserError, match="scripted attackers only"):
        envs.rollout([0])
