"""The backend `jax`: what every batch of CAGE-2 promises, the bytes of `native`, and what it says it cannot do."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import garrison.vector
from garrison.cage2 import RedAgent
from garrison.cage2.names import RedKind
from garrison.cage2.workflow import Workflow
from garrison.errors import UserError
from garrison.jaxsim.batch import step_episodes
from tests.helpers.cage2_contract import *  # noqa: F403 - its tests become tests of this file
from tests.helpers.cage2_contract import ID, make, play
from tests.helpers.vector_samples import assert_same


@pytest.fixture
def backend() -> str:
    return "jax"


EVERYONE: dict[str, Any] = {
    "red": ["bline", "meander", "sleep", "external", "external"],
    "observation": "memory",
    "actions": "compact",
    "rules": "leaderboard",
    "length": [31, 30, 29, 28, 40],
}
INSIDE_A_STEP = ("placed", "found", "events", "event_ports", "event_shell")


def test_all_attackers_memory_and_compact_actions_are_those_of_native() -> None:
    envs, reference = (make(each, **EVERYONE, extras=["access_oldest"]) for each in ("jax", "native"))
    assert_same(reference.reset(seed=8), envs.reset(seed=8))
    generator = np.random.default_rng(2)
    for step in range(120):
        red = np.stack([generator.integers(0, RedKind.INVALID, 5), generator.integers(0, 13, 5)], axis=1)
        actions = {"blue": generator.integers(0, envs.single_action_space["blue"].n, 5), "red": red}
        assert_same(reference.step(actions), envs.step(actions))
        assert_same(reference.extras, envs.extras)
        if step % 10 == 0:
            assert_same(reference.action_masks(by_truth=True), envs.action_masks(by_truth=True))
            expected, got = reference.get_state(), envs.get_state()
            for name in expected.dtype.names:
                if name not in INSIDE_A_STEP:
                    assert_same(expected[name], got[name], name)
            if step % 50 == 0:
                envs.set_state(expected)
    with pytest.raises(UserError, match="dict with the keys 'blue' and 'red'"):
        envs.step(np.zeros(5, int))


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_any_sequence_of_calls_gives_what_native_gives(mode: str) -> None:
    both = [make(each, autoreset_mode=mode, extras={"access": "step", "t": 2}) for each in ("jax", "native")]
    generator = np.random.default_rng(11)
    saved: list[Any] = []
    over = np.zeros(5, np.bool_)

    def compare(call: Any) -> Any:
        ours, theirs = (call(envs) for envs in both)
        assert_same(theirs, ours)
        assert_same(both[1].extras, both[0].extras)
        return ours

    compare(lambda envs: envs.reset(seed=0))
    for _ in range(300):
        chance = generator.random()
        if chance < 0.15 or (mode == "disabled" and over.any()):
            mask = over | (generator.random(5) < 0.3)
            mask[0] |= not mask.any()
            seeds = [int(generator.integers(99)) if generator.random() < 0.5 else None for _ in range(5)]
            compare(lambda envs, mask=mask, seeds=seeds: envs.reset(seed=seeds, options={"reset_mask": mask}))
            over &= ~mask
        elif chance < 0.2:
            saved.append(both[0].get_state())
        elif chance < 0.25 and saved:
            state, ids = saved[generator.integers(len(saved))], generator.permutation(5)[:2]
            compare(lambda envs, state=state, ids=ids: envs.set_state(state[ids], ids))
            over[ids] = state["done"][ids] == 1
        else:
            actions = generator.integers(0, 145, 5)
            over = compare(lambda envs, actions=actions: envs.step(actions))[3]
    compare(lambda envs: envs.action_masks(by_truth=True))


def test_one_program_serves_all_modes_and_steps() -> None:
    play(make("jax", autoreset_mode="next_step"))
    before = step_episodes._cache_size()
    for mode in ("same_step", "disabled"):
        play(make("jax", autoreset_mode=mode, length=9, rules="leaderboard"))
    assert step_episodes._cache_size() == before


def test_other_environments_and_what_native_alone_can_are_told() -> None:
    for env in ("CartPole-v1", "garrison/CybORG-v0", lambda: None):
        with pytest.raises(
            UserError, match="backend 'jax' needs an environment that is written in JAX, garrison/CAGE2"
        ):
            garrison.vector.make(env, 2, "jax")  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"does not account for its time; use JAX's own profiler"):
        make("jax", timing=True)
    with pytest.raises(UserError, match="knows no workflow: use the backend 'native'"):
        make("jax", workflow=Workflow())
    with pytest.raises(UserError, match="leave out threads=2"):
        make("jax", threads=2)
    with pytest.raises(UserError, match="attacker written in Python cannot be compiled"):
        make("jax", red=Idle)
    with pytest.raises(UserError, match="unknown field of the true state 'acess'; did you mean 'access'"):
        make("jax").follow(["acess"])
    with pytest.raises(UserError, match="plays no tapes"):
        make("jax").play_tapes(np.zeros(1))
    with pytest.raises(UserError, match=r"has no rollout\(\)"):
        make("jax").rollout([0])


class Idle(RedAgent):
    def act(self, view: Any) -> Any:
        return np.zeros(view.num_envs, int), np.zeros(view.num_envs, int)


def test_a_state_with_an_attacker_that_is_not_compiled_in_is_refused() -> None:
    envs, other = make("jax"), make("native", red="sleep")
    envs.reset(seed=0)
    other.reset(seed=0)
    with pytest.raises(UserError, match="attacker 'sleep', and only bline, meander is compiled into this batch"):
        envs.set_state(other.get_state())


WITHOUT_JAX = """
import sys
from importlib.machinery import PathFinder

class Hidden:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in ("jax", "jaxlib") else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not PathFinder] + [Hidden]
import garrison.vector
from garrison.errors import UserError
try:
    garrison.vector.make("garrison/CAGE2-v0", 2, "jax")
except UserError as error:
    print(error)
"""


def test_without_jax_one_sentence_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_JAX], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("JAX is not installed: pip install")
    assert done.stdout.count("\n") == 1


def test_the_backends_module_does_not_load_jax() -> None:
    code = "import sys, garrison.vector.api, garrison.vector.backends.jax_; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_it_is_registered_under_its_name() -> None:
    with pytest.raises(UserError, match="did you mean 'jax'"):
        garrison.vector.make(ID, 2, "jx")
