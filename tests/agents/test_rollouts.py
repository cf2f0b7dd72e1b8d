"""Games of a search, against the same games played one by one."""

from typing import Any

import numpy as np

from garrison.agents import NetworkAgent, load_agent
from garrison.agents.rollouts import Attempt, play_attempts
from garrison.belief.state_stepper import Stepper
from garrison.cage2 import VectorEnv
from garrison.cage2.layout import MAX_LENGTH


def _network_in(envs: VectorEnv, steps: int) -> NetworkAgent:
    """Return a network that has acted in a batch, which it has played for so many steps."""
    policy: NetworkAgent = load_agent("record")
    policy.begin(envs.num_envs)
    observations, _ = envs.reset(seed=8)
    for _ in range(steps):
        observations, *_ = envs.step(policy.act(observations))
    policy.act(observations)
    return policy


def test_games_are_what_the_environment_plays_from_the_same_states_with_the_same_streams() -> None:
    envs = VectorEnv(2, red=["bline", "meander"], rules="leaderboard", length=MAX_LENGTH)
    policy = _network_in(envs, 9)
    random = np.random.default_rng(2)
    attempts = [
        Attempt(
            row,
            np.array([3, 133]),
            np.repeat(envs.get_state([row]), 4),
            random.integers(1, 2**32, (steps, 4, 4), np.uint32),
            np.linspace(1, 0.5, steps),
        )
        for row, steps in ((0, 7), (1, 5))
    ]
    found = play_attempts(policy, Stepper("leaderboard", "challenge"), attempts)

    for attempt, returns in zip(attempts, found, strict=True):
        assert returns.shape == (2, 4)
        for k, first in enumerate(attempt.actions):
            for m in range(4):
                game = envs.clone([attempt.row])
                player = policy.clone(np.array([attempt.row]), seed=0)
                action, total = np.array([first]), 0.0
                player.took(action)
                for luck, share in zip(attempt.luck[:, m], attempt.shares, strict=True):
                    state = game.get_state()
                    state["stream"] = luck
                    game.set_state(state)
                    observations, rewards, *_ = game.step(action)
                    total += share * rewards[0]
                    action = player.act(observations)
                assert np.isclose(returns[k, m], total, atol=1e-9)


def test_the_policy_is_left_where_it_was() -> None:
    envs = VectorEnv(1, red="bline", rules="leaderboard")
    policy = _network_in(envs, 4)
    twin = policy.clone(np.array([0]), seed=0)
    streams = np.ones((3, 2, 4), np.uint32)
    attempt = Attempt(0, np.array([5]), np.repeat(envs.get_state(), 2), streams, np.ones(3))
    play_attempts(policy, Stepper("leaderboard", "challenge"), [attempt])
    assert policy.act(envs.observations).tolist() == twin.act(envs.observations).tolist()


class Halves:
    """Says of every state that half a point is left for each step up to the ninth, and how steps are weighed."""

    weights = np.array([2.0] * 4 + [1.0] * 5)

    def of(self, states: np.ndarray, t: int) -> np.ndarray:
        return np.full(len(states), -0.5 * max(0, 9 - t))


def test_where_a_game_is_broken_off_the_outlook_says_what_is_left() -> None:
    envs = VectorEnv(2, red=["bline", "meander"], rules="leaderboard", length=MAX_LENGTH)
    policy, stepper = _network_in(envs, 3), Stepper("leaderboard", "challenge")
    outlook: Any = Halves()
    streams = np.random.default_rng(3).integers(1, 2**32, (4, 5, 4), np.uint32)
    steps = {1: 4, 5: 4, 7: 2, 11: 3}
    attempts = [
        Attempt(
            clock % 2, np.array([0, 140]), np.repeat(envs.get_state([clock % 2]), 5), streams[:n], np.ones(n), clock
        )
        for clock, n in steps.items()
    ]
    rest = []
    for attempt in attempts:  # one by one: games of equal states, memory and luck would be played once
        (whole,) = play_attempts(policy, stepper, [attempt])
        (broken_off,) = play_attempts(policy, stepper, [attempt], outlook)
        rest.append(broken_off - whole)
    np.testing.assert_allclose([part.mean() for part in rest], [-0.5 * 4 / 2, 0, 0, 0])
    np.testing.assert_allclose([np.ptp(part) for part in rest], 0, atol=1e-12)
