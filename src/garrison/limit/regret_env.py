"""The native batch for learning from regrets: it plays as always, and says beside each reward what to learn from."""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.vector_env import Step, VectorEnv
from garrison.errors import UserError
from garrison.limit.regret import Regret


class RegretEnv(VectorEnv):
    """A batch of CAGE-2 environments that also says what each step lost (`garrison.limit.regret`).

    Rewards are the challenge's own; a learner takes `learning_rewards` in their place. They count only what the episode
    holds, so its last step ends it: it is reported as a termination and not as a truncation, behind which something
    would still be to come.

    Args:
        regret: what actions lose, under the same rules and with the same length.
        num_envs: how many environments.
        settings: as those of `VectorEnv`.
    """

    learning_rewards: NDArray[np.float64]
    """(n,) what to learn from, of the last step"""

    def __init__(self, regret: Regret, num_envs: int, **settings: Any) -> None:
        super().__init__(num_envs, **settings)
        self._regret = regret
        self.learning_rewards = np.zeros(num_envs)

    def step(self, actions: Any) -> Step:
        """Step every environment; where an episode ends it is terminated."""
        regrets, own = self._regret.of(self._envs, self._read_actions(actions))
        observations, rewards, terminations, truncations, infos = super().step(actions)
        self.learning_rewards = regrets + own * rewards
        return observations, rewards, truncations, terminations, infos

    def rollout(self, *given: Any, **named: Any) -> NoReturn:
        """Refuse: regrets are found between two steps."""
        raise UserError("a batch that says what steps lose has no rollout(): use step(), or a VectorEnv.")

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads."""
        super().close_extras(**kwargs)
        self._regret.close()
