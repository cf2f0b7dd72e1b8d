"""What `garrison bench sim` steps."""

from types import SimpleNamespace

import numpy as np

from garrison.bench.suites.simulators import in_calls


def test_every_call_goes_on_with_the_next_actions() -> None:
    """A batch of 10,000 was given the first two of 64 over and over, one of 100,000 the first."""
    for num_envs, calls in ((10_000, 2), (100_000, 1), (3_000, 6)):
        given: list[int] = []
        envs = SimpleNamespace(num_envs=num_envs, step=lambda actions, given=given: given.append(int(actions[0])))
        advance = in_calls(envs, np.arange(8)[:, None] * np.ones((1, num_envs), np.int64))
        assert [advance() for _ in range(9)] == [calls * num_envs] * 9
        assert given == [k % 8 for k in range(9 * calls)]
