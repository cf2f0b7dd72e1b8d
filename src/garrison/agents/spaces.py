"""The policy of a run on any other environment than CAGE-2: that environment's observations in, its actions out."""

from typing import Any, ClassVar, Self

import numpy as np

from garrison.agents.forward import network_of
from garrison.agents.protocol import Flags
from garrison.errors import UserError
from garrison.learn.nn.description import build_space, policy_config
from garrison.learn.nn.sampling import make_streams
from garrison.learn.registry import learner_section
from garrison.learn.spaces.registry import action_distribution, observation_form
from garrison.storage.schema import Kind


class SpaceAgent:
    """Takes the likeliest action of a network, or draws one.

    Args:
        values: those of a checkpoint: our own, or checked by `require_agent`.
        name: what results call it.
        sample: draw actions instead of taking the likeliest.
    """

    needs: ClassVar[dict[str, Kind]] = {}
    """What a checkpoint must have besides what every agent needs."""

    @classmethod
    def of(cls, values: dict[str, Any], name: str, sample: bool = False) -> Self:
        """Build the agent of a checkpoint's values."""
        return cls(values, name, sample)

    def __init__(self, values: dict[str, Any], name: str, sample: bool = False) -> None:
        self.name, self.sample = name, sample
        self.env_settings: dict[str, Any] = values["experiment"]["env"]
        """The settings of the environments that it was trained on."""
        self.masked = bool(learner_section(values["experiment"]).get("action_masks", False))
        """Whether `act` must be given what is allowed."""
        policy = values["policy"]
        self._form = observation_form(build_space(policy["observation_space"]))
        self._config = policy_config(policy)
        self._actions = action_distribution(build_space(policy["action_space"]), self._config)
        self._network = network_of(policy, values["state"]["weights"])

    def check_spaces(self, envs: Any) -> None:
        """Raise a UserError if environments do not show and take what the network was made for."""
        form = observation_form(envs.single_observation_space)
        actions = action_distribution(envs.single_action_space, self._config)
        if (form.input_shape, type(actions), actions.outputs) != (
            self._form.input_shape,
            type(self._actions),
            self._actions.outputs,
        ):
            raise UserError(
                f"{self.name} holds a network for other spaces than those of {self.env_settings['env']}: "
                f"{self._form.space} and {self._actions.space}."
            )

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Start new episodes in this many environments."""
        self._network.begin(num_envs)
        self._streams = make_streams(seed, num_envs)
        self._starts = np.ones(num_envs, np.bool_)
        self._stored = self._form.empty(num_envs)
        self._inputs = np.empty((num_envs, *self._form.input_shape), np.float32)
        self._choices = np.empty((num_envs, *self._actions.shape), self._actions.dtype)
        self._log_probs = np.empty(num_envs, np.float32)

    def reset(self, mask: Flags) -> None:
        """Forget the environments where new episodes begin."""
        self._starts |= mask

    def act(self, observations: Any, masks: Flags | None = None) -> Any:
        """Return a batch of actions for a batch of observations; `masks`, (n, actions), are False where forbidden."""
        self._form.store(observations, self._stored)
        self._form.inputs(self._stored, np.arange(len(self._stored)), self._inputs)
        outputs = self._network.logits(self._inputs, self._starts)
        self._starts[:] = False
        allowed = np.zeros((0, self._actions.mask_size), np.bool_) if masks is None else masks
        if self.sample:
            self._actions.draw(outputs, allowed, self._streams, self._choices, self._log_probs)
        else:
            self._actions.mode(outputs, allowed, self._choices)
        return self._actions.to_env(self._choices)
