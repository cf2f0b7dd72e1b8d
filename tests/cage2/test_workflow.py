"""Workflows: compliance and alignment reward against a plain computation on the true states, orders, copies, errors."""

import copy
import pickle
from itertools import permutations
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given
from hypothesis import strategies as st

from garrison import vector
from garrison.cage2 import ACTIONS, Env, VectorEnv
from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.defender_memory import NUM_REMEMBERED
from garrison.cage2.workflow import UNITS, Workflow
from garrison.errors import UserError
from tests.helpers.duel import ACTION, Duel

ALL_ORDERS = list(permutations(range(5)))
FIXES = [a.id for a in ACTIONS if a.name.startswith(("Remove", "Restore"))]
MIX = {"bline": 0.5, "meander": 0.5}


def unit_of(host: str) -> str:
    """Return the unit type whose name is part of the host's, as the users' own code finds it."""
    (unit,) = [unit for unit in UNITS if unit in host.lower()]
    return unit


class Book:
    """One environment's compliance, the slow way: from `true_state` dicts, names and lists."""

    def __init__(self, settings: Workflow, order: tuple[int, ...]) -> None:
        self.settings = settings
        self.order = [UNITS[u] for u in order]
        self.verdicts: list[bool] = []
        self.fixed: set[str] = set()

    def reward(self, state: dict[str, Any], action: int, is_last: bool) -> float:
        """Enter an action that is played in `state` and return its alignment reward."""
        before = self.potential()
        kind, _, host = ACTIONS[action].name.partition(" ")
        is_outside = self.settings.foothold == "ignore" and host == "User0"
        if kind in ("Remove", "Restore") and not is_outside:
            unit = unit_of(host)
            self.verdicts.append(self._complies(state, unit))
            self.fixed.add(unit)
        penalty = self.settings.no_fix_penalty * self.settings.weight if is_last and not self.verdicts else 0.0
        return self.potential() - before - penalty

    def _complies(self, state: dict[str, Any], unit: str) -> bool:
        if self.settings.definition == "history":
            return all(other in self.fixed for other in self.order[: self.order.index(unit)])
        held = {
            unit_of(host)
            for host, facts in state.items()
            if host != "success"
            and not (host == "User0" and self.settings.foothold == "ignore")
            and any(session["Agent"] == "Red" for session in facts["Sessions"])
        }
        urgent = [other for other in self.order if other in held]
        return not urgent or urgent[0] == unit

    def potential(self) -> float:
        yes, no = self.verdicts.count(True), self.verdicts.count(False)
        rate = yes / (yes + no) if yes + no else 0.0
        return self.settings.weight * (rate + self.settings.step_bonus * yes - self.settings.step_penalty * no)

    @property
    def rate(self) -> float:
        return sum(self.verdicts) / len(self.verdicts) if self.verdicts else 0.5


@given(
    orders=st.lists(st.integers(0, 119), min_size=3, max_size=3),
    definition=st.sampled_from(["state", "history"]),
    foothold=st.sampled_from(["ignore", "count"]),
    scales=st.sampled_from([(0.0, 0.0), (0.25, 0.5)]),
    mode=st.sampled_from(list(AutoresetMode)),
    red=st.sampled_from(["bline", "meander", MIX, ["bline", "sleep", "meander"]]),
    seed=st.integers(0, 2**32),
    actions=st.lists(
        st.lists(st.sampled_from(FIXES) | st.integers(0, 144), min_size=3, max_size=3), min_size=1, max_size=50
    ),
)
def test_every_step_equals_a_plain_computation_on_the_true_state(
    orders: list[int],
    definition: str,
    foothold: str,
    scales: tuple[float, float],
    mode: AutoresetMode,
    red: Any,
    seed: int,
    actions: list[list[int]],
) -> None:
    lengths = [30, 17, 1]
    settings = Workflow(orders, definition=definition, foothold=foothold, step_bonus=scales[0], step_penalty=scales[1])
    envs = VectorEnv(3, red=red, length=lengths, autoreset_mode=mode, workflow=settings)
    bare = VectorEnv(3, red=red, length=lengths, autoreset_mode=mode)
    view = envs.workflow
    assert view is not None
    bits = envs.reset(seed=seed)[0]
    assert bits[:, :52].tobytes() == bare.reset(seed=seed)[0].tobytes()
    books = [Book(settings, ALL_ORDERS[k]) for k in orders]
    ended = [False] * 3  # under NEXT_STEP: the coming step only resets
    sums = np.zeros(3)
    for row in actions:
        states = [envs.true_state(i) for i in range(3)]
        steps = envs.truth.t.tolist()
        obs, rewards, _, truncations, infos = envs.step(row)
        bare_obs, bare_rewards, _, bare_truncations, bare_infos = bare.step(row)
        assert obs[:, :52].tobytes() == bare_obs.tobytes()
        assert view.env_rewards.tobytes() == bare_rewards.tobytes()
        assert truncations.tobytes() == bare_truncations.tobytes()
        np.testing.assert_array_equal(rewards, view.env_rewards + view.alignment_rewards)
        for i in range(3):
            if ended[i] and mode == AutoresetMode.NEXT_STEP:
                books[i], sums[i], ended[i] = Book(settings, ALL_ORDERS[orders[i]]), 0.0, False
                assert (rewards[i], view.alignment_rewards[i]) == (0, 0)
            else:
                ended[i] = steps[i] + 1 == lengths[i]
                expected = books[i].reward(states[i], row[i], ended[i])
                np.testing.assert_allclose(view.alignment_rewards[i], expected, atol=1e-12)
                sums[i] += view.alignment_rewards[i]
            if ended[i]:
                book = books[i]
                infos, bare_infos = (told.get("final_info", told) for told in (infos, bare_infos))
                numbers = {name: infos["workflow"][name][i] for name in ("fixes", "compliant", "rate")}
                assert numbers == {"fixes": len(book.verdicts), "compliant": sum(book.verdicts), "rate": book.rate}
                assert (view.last_fixes[i], view.last_compliant[i]) == (len(book.verdicts), sum(book.verdicts))
                assert view.last_rate[i] == book.rate
                assert (
                    view.last_env_return[i] == bare_infos["episode_stats"]["r"][i] == infos["workflow"]["env_return"][i]
                )
                np.testing.assert_allclose(view.last_alignment_return[i], sums[i], atol=1e-9)
                total = view.last_env_return[i] + view.last_alignment_return[i]
                assert infos["episode_stats"]["r"][i] == total
                if scales == (0.0, 0.0):  # the identity, to the last bit
                    telescoped = 30.0 * book.rate if book.verdicts else -0.2 * 30.0
                    assert view.last_alignment_return[i] == infos["workflow"]["alignment_return"][i] == telescoped
            if ended[i] and mode != AutoresetMode.NEXT_STEP:
                books[i], sums[i], ended[i] = Book(settings, ALL_ORDERS[orders[i]]), 0.0, False
        if mode == AutoresetMode.DISABLED and truncations.any():
            mask = truncations.copy()
            envs.reset(options={"reset_mask": mask})
            bare.reset(options={"reset_mask": mask})
        assert view.fixes.tolist() == [len(book.verdicts) for book in books]
        assert view.compliant.tolist() == [sum(book.verdicts) for book in books]
        assert view.rates.tolist() == [book.rate for book in books]


def play(envs: VectorEnv, steps: int, seed: int = 0) -> list[bytes]:
    """Step with random actions, half of them fixes, and keep everything that there is."""
    kept = []
    for t in range(steps):
        actions = []
        for i in range(envs.num_envs):
            random = np.random.default_rng((seed, t, i))
            actions.append(int(random.choice(FIXES) if random.random() < 0.5 else random.integers(145)))
        obs, rewards, _, truncations, _ = envs.step(actions)
        kept.append(b"".join(a.tobytes() for a in (obs, rewards, truncations, envs.get_state())))
    return kept


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("observation", ["bits", "memory"])
def test_an_environment_does_not_depend_on_the_orders_beside_it(mode: str, observation: str) -> None:
    settings: dict[str, Any] = {"length": 20, "autoreset_mode": mode, "observation": observation}
    orders = [7, 119, 0, 64]
    envs = VectorEnv(4, red=["bline", "meander", "sleep", "meander"], workflow=Workflow(orders), **settings)
    assert envs.workflow is not None
    envs.reset(seed=3)
    actions = np.random.default_rng(0).choice(FIXES, (45, 4))
    together = []
    for row in actions:
        obs, rewards, *_ = envs.step(row)
        together.append((obs.copy(), rewards.copy(), envs.workflow.rates.copy()))
    for i, red in enumerate(["bline", "meander", "sleep", "meander"]):
        alone = VectorEnv(1, red=red, workflow=Workflow(orders[i]), **settings)
        assert alone.workflow is not None
        alone.reset(seed=3 + i)
        for row, (obs, rewards, rates) in zip(actions, together, strict=True):
            got, reward, *_ = alone.step(row[i : i + 1])
            assert got[0].tobytes() == obs[i].tobytes()
            assert (reward[0], alone.workflow.rates[0]) == (rewards[i], rates[i])


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_nothing(threads: int) -> None:
    one, many = (VectorEnv(11, red=MIX, length=9, threads=n, workflow=Workflow(list(range(11)))) for n in (1, threads))
    one.reset(seed=4)
    many.reset(seed=4)
    assert play(one, 25) == play(many, 25)
    many.close()


@pytest.mark.parametrize(("observation", "width"), [("bits", 52), ("memory", NUM_REMEMBERED)])
def test_the_observation_ends_with_the_order(observation: str, width: int) -> None:
    envs = VectorEnv(
        120, observation=observation, length=2, workflow=Workflow(list(range(120))), autoreset_mode="SameStep"
    )
    bare = VectorEnv(120, observation=observation, length=2, autoreset_mode="SameStep")
    expected = np.zeros((120, 5, 5), np.int8)
    for i, order in enumerate(permutations(range(5))):
        for position, unit in enumerate(order):
            expected[i, position, unit] = 1
    assert envs.single_observation_space.shape == (width + 25,)
    obs, plain = envs.reset(seed=0)[0], bare.reset(seed=0)[0]
    for action in (55, 132, 15, 3, 1):
        assert obs in envs.observation_space
        np.testing.assert_array_equal(obs[:, width:].reshape(-1, 5, 5), expected)
        np.testing.assert_array_equal(obs[:, :width], plain)
        obs, *_, infos = envs.step(np.full(120, action))
        plain, *_, bare_infos = bare.step(np.full(120, action))
        if infos:
            final = np.stack(infos["final_obs"])
            np.testing.assert_array_equal(final[:, width:].reshape(-1, 5, 5), expected)
            np.testing.assert_array_equal(final[:, :width], np.stack(bare_infos["final_obs"]))
    hidden = VectorEnv(2, observation=observation, workflow=Workflow(show_order=False))
    assert hidden.reset(seed=0)[0].shape == (2, width)


def test_orders_come_in_three_forms() -> None:
    rows = np.array([[4, 3, 2, 1, 0], [0, 1, 2, 3, 4], [2, 0, 1, 4, 3]])
    assert Workflow(rows).orders == (119, 0, ALL_ORDERS.index((2, 0, 1, 4, 3)))
    assert Workflow(rows.tolist()) == Workflow(rows) == Workflow(np.array(Workflow(rows).orders))
    envs = VectorEnv(3, workflow=Workflow(rows))
    assert envs.workflow is not None
    np.testing.assert_array_equal(envs.workflow.orders, rows)
    assert VectorEnv(2, workflow=Workflow(np.int64(119))).workflow.orders.tolist() == [[4, 3, 2, 1, 0]] * 2  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_new_orders_wait_for_the_next_reset(mode: AutoresetMode) -> None:
    envs = VectorEnv(2, length=[2, 4], autoreset_mode=mode, workflow=Workflow(0))
    view = envs.workflow
    assert view is not None
    envs.reset(seed=0)
    first, last = list(range(5)), [4, 3, 2, 1, 0]

    def orders() -> list[list[int]]:
        shown = envs.observations[:, 52:].reshape(2, 5, 5).argmax(axis=2).tolist()
        assert shown == view.orders.tolist()
        return shown  # type: ignore[no-any-return]

    envs.step([0, 0])
    envs.set_orders(119)
    assert orders() == [first, first]
    assert view.next_orders.tolist() == [last, last]
    *_, truncations, infos = envs.step([0, 0])
    if mode == AutoresetMode.SAME_STEP:
        assert infos["final_obs"][0][52:].reshape(5, 5).argmax(axis=1).tolist() == first
    else:
        assert orders() == [first, first]
        if mode == AutoresetMode.DISABLED:
            envs.reset(options={"reset_mask": truncations.copy()})
        else:
            envs.step([0, 0])
    assert orders() == [last, first]
    with pytest.raises(UserError, match="under way"):
        envs.set_orders(3, now=True)
    assert view.next_orders.tolist() == [last, last]
    envs.reset()
    assert orders() == [last, last]
    envs.set_orders([0, 119], now=True)
    assert orders() == [first, last]


def test_orders_set_between_episodes_keep_what_the_last_one_showed() -> None:
    envs = VectorEnv(2, length=3, autoreset_mode="SameStep", workflow=Workflow())
    assert envs.workflow is not None
    envs.reset(seed=0)
    for _ in range(3):
        envs.step([132, 0])
    envs.set_orders(5, now=True)
    assert envs.workflow.last_fixes.tolist() == [3, 0]
    assert envs.workflow.last_rate.tolist() == [1.0, 0.5]  # Red sweeps and scans for its first three steps
    envs.reset()
    assert envs.workflow.last_fixes.tolist() == [0, 0]


def test_a_saved_state_goes_on_identically_elsewhere() -> None:
    envs = VectorEnv(5, red=MIX, length=40, workflow=Workflow([1, 2, 3, 4, 5], definition="history"))
    envs.reset(seed=0)
    play(envs, 17)
    envs.set_orders(99)
    saved = pickle.loads(pickle.dumps(envs.get_state([1, 3])))
    other = VectorEnv(2, red=MIX, length=40, workflow=Workflow(definition="history"))
    other.set_state(saved)
    np.testing.assert_array_equal(other.observations, envs.observations[[1, 3]])
    twin = envs.clone([1, 3])
    assert play(other, 45) == play(twin, 45)
    assert other.workflow is not None
    assert other.workflow.orders.tolist() == [list(ALL_ORDERS[99])] * 2


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e)), lambda e: e.clone()])
def test_copies_go_on_identically_and_share_nothing(duplicate: Any) -> None:
    envs = VectorEnv(3, red=MIX, length=25, threads=2, workflow=Workflow([0, 60, 119], weight=7.0))
    envs.reset(seed=0)
    play(envs, 10)
    twin = duplicate(envs)
    assert twin.workflow.settings == envs.workflow.settings  # type: ignore[union-attr]
    expected = play(twin, 40)
    fixes = envs.workflow.fixes.tolist()  # type: ignore[union-attr]
    assert twin.workflow.fixes.tolist() != fixes
    assert play(envs, 40) == expected
    twin.close()
    envs.close()


def test_compact_actions_are_judged_as_what_they_stand_for() -> None:
    compact = VectorEnv(1, red="bline", actions="compact", workflow=Workflow(119))
    full = VectorEnv(1, red="bline", workflow=Workflow(119))
    compact.reset(seed=0)
    full.reset(seed=0)
    for i, a in enumerate(ACTION_IDS["compact"]):
        compact.step([i])
        full.step([a])
    assert compact.get_state().tobytes() == full.get_state().tobytes()
    assert int(full.workflow.fixes[0]) == 22  # type: ignore[union-attr]


def test_the_foothold_is_outside_or_always_compromised() -> None:
    user_first = ALL_ORDERS.index((4, 0, 1, 2, 3))
    ignoring = Duel(workflow=Workflow(user_first))
    counting = Duel(workflow=Workflow(user_first, foothold="count"))
    for duel, expected in ((ignoring, [(0, 0), (0, 0), (1, 1)]), (counting, [(1, 1), (2, 2), (3, 2)])):
        view = duel.envs.workflow
        assert view is not None
        for action, numbers in zip(["Restore User0", "Remove User0", "Restore Enterprise0"], expected, strict=True):
            duel.turn(action)
            assert (view.fixes[0], view.compliant[0]) == numbers
    # More sessions on the foothold than the first do not make it count.
    ignoring.red("scan User0")
    while not ignoring.turn(red="exploit User0"):
        pass
    assert ignoring.truth("sessions", "User0") == 2
    ignoring.turn("Restore Enterprise0")
    assert ignoring.envs.workflow.compliant[0] == 2  # type: ignore[union-attr]


def test_a_fix_is_judged_by_the_state_before_it_and_by_the_first_compromised_type() -> None:
    duel = Duel(workflow=Workflow(ALL_ORDERS.index((1, 4, 0, 2, 3)), weight=12.0))
    view = duel.envs.workflow
    assert view is not None
    duel.red("sweep User")
    duel.own("User1")
    duel.turn("Restore User1")  # complies: User1 is held when it is judged, and nothing before it in the order is
    assert (view.fixes[0], view.compliant[0], view.alignment_rewards[0], view.env_rewards[0]) == (1, 1, 12.0, -1.0)
    assert duel.reward == 11.0
    duel.turn("Restore User2")  # complies: nothing is held any more
    duel.own("User1")
    duel.turn("Remove Op_Host0")  # does not: a user host is held
    assert (view.fixes[0], view.compliant[0]) == (3, 2)
    assert view.alignment_rewards[0] == 12.0 * (2 / 3) - 12.0
    duel.turn("Remove User3")  # complies: its type is the first that is held
    duel.own("Enterprise1")
    duel.turn("Remove User1")  # does not: Enterprise1 comes first
    duel.turn("Remove Enterprise0")  # complies
    assert (view.fixes[0], view.compliant[0]) == (6, 4)
    duel.turn("Analyse Enterprise1")
    assert view.alignment_rewards[0] == 0.0


def test_one_environment_equals_its_row_in_a_batch() -> None:
    settings = {"red": "meander", "length": 12, "workflow": Workflow(77)}
    one = gymnasium.make("garrison/CAGE2-v0", **settings)
    native = vector.make("garrison/CAGE2-v0", 3, "native", **settings)
    assert native.observation_space.shape == (3, 77)
    obs, _ = one.reset(seed=12)
    batch, _ = native.reset(seed=10)
    np.testing.assert_array_equal(obs, batch[2])
    total = 0.0
    for _ in range(12):
        actions = np.random.default_rng(0).choice(FIXES, 3)
        obs, reward, _, truncated, info = one.step(int(actions[2]))
        batch, rewards, _, truncations, infos = native.step(actions)
        np.testing.assert_array_equal(obs, batch[2])
        assert (reward, truncated) == (rewards[2], truncations[2])
        total += float(reward)
    assert info["episode_stats"] == {"r": infos["episode_stats"]["r"][2], "l": 12}
    assert info["episode_stats"]["r"] == pytest.approx(total)
    assert info["workflow"] == {k: v[2] for k, v in infos["workflow"].items() if not k.startswith("_")}
    assert set(info["workflow"]) == {"env_return", "alignment_return", "fixes", "compliant", "rate"}
    assert one.unwrapped.workflow.last_fixes.tolist() == [12]  # type: ignore[attr-defined]
    native.close()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_infos_are_those_of_gymnasiums_own_vector_of_single_environments(mode: AutoresetMode) -> None:
    lengths = [2, 3]
    envs = VectorEnv(2, length=lengths, autoreset_mode=mode, workflow=Workflow(50))
    peers = gymnasium.vector.SyncVectorEnv(
        [lambda n=n: Env(length=n, workflow=Workflow(50)) for n in lengths], autoreset_mode=mode
    )
    envs.reset(seed=0)
    peers.reset(seed=0)
    for _ in range(2):
        *_, infos = envs.step([ACTION["Remove User1"], 0])
        *_, expected = peers.step(np.array([ACTION["Remove User1"], 0]))
        assert set(infos) == set(expected)
    for name, values in expected["workflow"].items():
        np.testing.assert_array_equal(infos["workflow"][name], values)
        assert infos["workflow"][name].dtype == values.dtype
    peers.close()


def test_views_are_read_only() -> None:
    envs = VectorEnv(1, workflow=Workflow())
    assert envs.workflow is not None
    with pytest.raises(ValueError, match="read-only"):
        envs.workflow.fixes[0] = 1
    assert VectorEnv(1).workflow is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"orders": 120}, r"must lie in 0\.\.119; got 120"),
        ({"orders": [0, -1]}, r"must lie in 0\.\.119"),
        ({"orders": "user"}, "an index, a list of indices"),
        ({"orders": 1.5}, "an index, a list of indices"),
        ({"orders": [0.5]}, "an index, a list of indices"),
        ({"orders": []}, "an index, a list of indices"),
        ({"orders": [[0, 1], [2]]}, "an index, a list of indices"),
        ({"orders": [[0, 1, 2, 3]]}, "an index, a list of indices"),
        ({"orders": [[0, 1, 2, 3, 4], [0, 1, 2, 3, 3]]}, r"row 1 is \[0, 1, 2, 3, 3\]"),
        ({"definition": "states"}, "unknown definition 'states'; did you mean 'state'"),
        ({"foothold": "skip"}, "unknown foothold 'skip'"),
        ({"weight": -1}, "weight must not be negative"),
        ({"weight": float("nan")}, "weight must be a finite number"),
        ({"step_bonus": "1"}, "step_bonus must be a finite number; got '1'"),
        ({"no_fix_penalty": -0.2}, "no_fix_penalty must not be negative"),
    ],
)
def test_wrong_settings_name_the_value_and_the_fix(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Workflow(**settings)


def test_a_workflow_must_fit_its_batch_and_its_state() -> None:
    with pytest.raises(UserError, match="one for each of the 2 environments; got 3"):
        VectorEnv(2, workflow=Workflow([1, 2, 3]))
    with pytest.raises(UserError, match=r"must be a garrison\.cage2\.workflow\.Workflow"):
        VectorEnv(2, workflow=3)  # type: ignore[arg-type]
    bare = VectorEnv(2)
    with pytest.raises(UserError, match="has no workflow"):
        bare.set_orders(1)
    envs = VectorEnv(2, workflow=Workflow())
    with pytest.raises(UserError, match="from a batch without a workflow"):
        envs.set_state(bare.get_state())
    with pytest.raises(UserError, match="one for each of the 2"):
        envs.set_orders([1])
    bare.set_state(envs.get_state())


def test_what_was_fixed_is_forgotten_with_the_episode() -> None:
    envs = VectorEnv(1, length=2, autoreset_mode="SameStep", workflow=Workflow(0, definition="history"))
    assert envs.workflow is not None
    envs.reset(seed=0)
    for action in ("Restore Defender", "Restore Enterprise0", "Restore Enterprise0"):
        envs.step([ACTION[action]])
    assert envs.workflow.last_compliant.tolist() == [2]
    assert (envs.workflow.fixes[0], envs.workflow.compliant[0]) == (1, 0)
