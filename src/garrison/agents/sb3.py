"""A model of Stable-Baselines3 as an agent of the challenge."""

from typing import Any

import numpy as np

from garrison.agents.cage2_view import Cage2View
from garrison.agents.protocol import Bits, Choices, Explanation, Flags
from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.names import DEFAULT_RULES, OBSERVATIONS
from garrison.cage2.observation_sets import WIDTHS
from garrison.errors import UserError


class Sb3Agent:
    """Plays what `model.predict` says; which observation and actions it was trained on follows from its spaces.

    Args:
        model: anything with `predict`, `observation_space` and `action_space`, such as a PPO, A2C or DQN.
        name: what results call it.
        rules: the rules that it was trained under, if known.
        encoder: which 52 observations it reads.
        sample: draw actions instead of taking the likeliest.
    """

    def __init__(
        self,
        model: Any,
        name: str = "",
        rules: str | None = None,
        encoder: str = "challenge",
        sample: bool = False,
    ) -> None:
        self.name, self.rules, self.encoder = name or type(model).__name__, rules, encoder
        self._model, self._sample = model, sample
        inputs, actions = int(np.prod(model.observation_space.shape)), int(getattr(model.action_space, "n", 0))
        observations = {width: OBSERVATIONS[code] for code, width in WIDTHS.items()}
        sets = {len(ids): name for name, ids in ACTION_IDS.items()}
        if inputs not in observations or actions not in sets:
            raise UserError(f"a model with {inputs} inputs and {actions} actions was not trained on garrison/CAGE2-v0.")
        self._view = Cage2View(
            inputs, actions, rules or DEFAULT_RULES, encoder, observations[inputs], sets[actions], False
        )

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Start new episodes in this many environments; what is drawn follows from torch's own seed."""
        self._view.begin(num_envs)
        self._starts, self._state = np.ones(num_envs, np.bool_), None

    def reset(self, mask: Flags) -> None:
        """Forget the environments where new episodes begin."""
        self._starts |= mask

    def act(self, observations: Bits) -> Choices:
        """Return one action per row."""
        self._inputs = self._view.inputs(observations, self._starts)
        choices, self._state = self._model.predict(
            self._inputs, self._state, self._starts, deterministic=not self._sample
        )
        self._starts[:] = False
        return self._view.actions(choices)

    def explain(self) -> Explanation | None:
        """Return the probabilities and values of an actor with a critic, such as PPO's or A2C's; None for others."""
        policy = self._model.policy
        if self._state is not None or not hasattr(policy, "get_distribution"):
            return None
        import torch

        with torch.no_grad():
            inputs, _ = policy.obs_to_tensor(self._inputs)
            odds = policy.get_distribution(inputs).distribution.probs.cpu().numpy()
            values = policy.predict_values(inputs).cpu().numpy()[:, 0].astype(np.float64)
        return Explanation(self._view.spread(odds), self._view.spread(np.zeros(odds.shape, np.bool_)), values)

    def took(self, actions: Choices) -> None:
        """Remember what Blue did instead."""
        self._view.took(actions)
