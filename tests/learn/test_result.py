"""What training returns, as a person sees it at a prompt."""

from typing import Any

import numpy as np

from garrison.learn.result import Result


def test_a_result_prints_as_one_short_line() -> None:
    policy: Any = None
    numbers = {"rollout/ep_reward_mean": -12.345678}
    result = Result(policy, {"weights": np.zeros(10_000)}, 123_456, 12, 3.21, numbers, {}, 1, "compiled", True)
    assert repr(result) == "Result(123,456 steps, 12 updates, 3.2 s, last mean return -12.35)"
