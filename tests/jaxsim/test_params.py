"""Numbers of the game that change without compiling anything."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from garrison.cage2.scenario import DEFAULT_FILE, load_scenario
from garrison.errors import UserError
from garrison.jaxsim import Cage2, Params, odds, params_of, thousandths
from tests.helpers.jax_twin import Twin

EVERYBODY = ["bline", "meander", "sleep", "external"]
OTHER_NUMBERS = {
    "exploit_top_odds = 0.75": "exploit_top_odds = 0.4",
    "reverse_shell_detection = 0.95": "reverse_shell_detection = 0.6",
    "brute_force_tries = 10": "brute_force_tries = 1",
    "restore = 1.0": "restore = 0.625",
    "service = 10.0": "service = 3.333",
    "process_ids = 32767": "process_ids = 1000",  # a new process often gets an old id again
    "confidentiality = 0.0": "confidentiality = 0.7",
    "weight = 0.1": "weight = 6.0",  # as much as another
    "opens = 22": "opens = 53",  # a second decoy that can be stacked
    "ports = [22, 80, 3390, 443, 25]": "ports = [22, 80, 3390, 443, 25, 21, 139, 3389]",  # every exploit fits
}
OTHER_PLACES = {
    'foothold = "User0"': 'foothold = "User2"',
    'host = "Op_Server0"': 'host = "Op_Host1"',
    '["Enterprise0", "Enterprise1", "Enterprise2"]': '["Enterprise1"]\nEnterprise = ["User1"]',
    'SSHBruteForce = "noisy failure"': 'SSHBruteForce = "privileged"',
    "restore_patches = []": 'restore_patches = ["SSHBruteForce", "FTPDirectoryTraversal"]',
}


def changed(tmp_path: Path, changes: dict[str, str]) -> Path:
    text = DEFAULT_FILE.read_text()
    for old, new in changes.items():
        assert old in text, old
        text = re.sub(re.escape(old), new, text)
    file = tmp_path / "mine.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("changes", [OTHER_NUMBERS, OTHER_PLACES, OTHER_NUMBERS | OTHER_PLACES])
def test_a_changed_scenario_is_the_compiled_engines(tmp_path: Path, changes: dict[str, str]) -> None:
    file = changed(tmp_path, changes)
    Twin(128, seed=9, red=EVERYBODY * 32, length=60, scenario=file, observation="memory").play(130)


def play(env: Cage2, params: Params, seed: int, steps: int = 40) -> Any:
    """Play random actions by keys and return all rewards and the last state."""

    def step(carry: Any, key: Any) -> Any:
        state, params = carry
        action = jax.random.randint(key, (), 0, env.num_actions)
        _, state, reward, _, _ = env.step(key, state, action, params)
        return (state, params), reward

    key = jax.random.key(seed)
    _, state = env.reset(key, params)
    (state, _), rewards = jax.lax.scan(step, (state, params), jax.random.split(key, steps))
    return rewards, state


def test_many_networks_at_once_are_those_networks_one_by_one() -> None:
    env = Cage2(length=25)
    rates = jnp.array([0.0, 0.3, 0.95, 1.0])
    lengths = jnp.array([10, 25, 40, 41])
    services = jnp.array([1.0, 10.0, 2.5, 0.0])

    def params(rate: Any, length: Any, service: Any) -> Params:
        return env.default_params.replace(
            detect_rate=odds(rate), max_steps_in_episode=length, service_cost=thousandths(service)
        )

    one = jax.jit(lambda *numbers: play(env, params(*numbers), 3))
    together = jax.jit(jax.vmap(lambda *numbers: play(env, params(*numbers), 3)))(rates, lengths, services)
    for i in range(4):
        alone = one(rates[i], lengths[i], services[i])
        jax.tree.map(lambda many, single, i=i: np.testing.assert_array_equal(many[i], single), together, alone)
    assert one._cache_size() == 1


def test_other_numbers_compile_nothing() -> None:
    env = Cage2()
    program = jax.jit(lambda params: play(env, params, 0)[0])
    for scenario in ({}, {"rules": "leaderboard"}, {"encoder": "wrapper2"}):
        for length in (30, 100):
            program(params_of(load_scenario(**scenario), length))
    program(env.default_params.replace(restore_cost=thousandths(0.5), top_odds=odds(0.1)))
    assert program._cache_size() == 1


def test_costs_that_32_bits_cannot_sum_are_refused(tmp_path: Path) -> None:
    dear = load_scenario(changed(tmp_path, {"service = 10.0": "service = 999_999.0"}))
    assert int(params_of(dear, 2).service_cost) == 999_999_000
    with pytest.raises(UserError, match="an episode of 3 steps more than 2,097,152"):
        params_of(dear, 3)
