"""The CAGE-2 defender in a checkpoint: a network, and its view of the game."""

import copy
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from garrison.agents.border import observed_bits
from garrison.agents.cage2_view import Cage2View
from garrison.agents.forward import InferenceNetwork, network_of
from garrison.agents.protocol import Choices, Explanation, Flags
from garrison.cage2.names import DEFAULT_RULES
from garrison.errors import UserError
from garrison.learn.registry import learner_section
from garrison.registration import CAGE2
from garrison.storage import checkpoint
from garrison.storage.saved_run import CAGE2_AGENT, require_agent
from garrison.storage.schema import Kind


class NetworkAgent:
    """Takes the likeliest action of a network, or draws one.

    It is given the challenge's 52 observations and returns the challenge's 145 actions; `Cage2View` translates for a
    network that was trained on a memory, on fewer actions or with masks.

    Args:
        network: what computes the logits.
        name: what results call it.
        rules: the rules that it was trained under, if known.
        encoder: which 52 observations it reads.
        observation: what the network was trained on, see `garrison.cage2.observation_sets`.
        actions: the set of actions that it chooses from, see `garrison.cage2.action_sets`.
        masked: whether it leaves out the actions that it knows to be refused.
        sample: draw actions instead of taking the likeliest.
        order: the index of the workflow's order that it is to follow; None if it was trained without.
        value_unit: what a value of 1 is worth in rewards of the challenge; None if the network's values mean nothing.
        belief: whether the network is shown a belief, see `garrison.belief.belief_bits`.
    """

    needs: ClassVar[dict[str, Kind]] = CAGE2_AGENT
    """What a checkpoint must have besides what every agent needs."""

    def __init__(
        self,
        network: InferenceNetwork,
        name: str = "network",
        rules: str | None = None,
        encoder: str = "challenge",
        observation: str = "bits",
        actions: str = "all",
        masked: bool = False,
        sample: bool = False,
        order: int | None = None,
        value_unit: float | None = None,
        belief: bool = False,
    ) -> None:
        self.name, self.rules, self.encoder, self.sample = name, rules, encoder, sample
        self.reads_belief = belief
        self._network, self._value_unit = network, value_unit
        self._starts = np.ones(0, np.bool_)
        self._view = Cage2View(
            network.size, network.outputs, rules or DEFAULT_RULES, encoder, observation, actions, masked, order, belief
        )

    @classmethod
    def load(cls, path: Path, sample: bool = False, name: str = "") -> "NetworkAgent":
        """Read the defender of a run folder or a checkpoint."""
        values, name = checkpoint.load(path), name or str(path)
        require_agent(values, name, cls.needs)
        return cls.of(values, name, sample)

    @classmethod
    def of(cls, values: dict[str, Any], name: str, sample: bool = False, order: int | None = None) -> "NetworkAgent":
        """Build the defender of a checkpoint's values: our own, or checked by `require_agent`.

        One that was trained on workflows needs the index of an `order`.
        """
        env = values["experiment"]["env"]
        if env["env"] != CAGE2:
            raise UserError(f"{name} was trained on {env['env']}; only defenders of {CAGE2} can be evaluated.")

        follows = "workflow" in values["experiment"]
        if follows and order is None:
            raise UserError(f"{name} follows workflows and must be shown an order: use garrison workflow evaluate.")
        settings = learner_section(values["experiment"])
        return cls(
            network_of(values["policy"], values["state"]["weights"]),
            name=name,
            rules=env["rules"],
            encoder=env["challenge_encoder"],
            observation=env["observation"],
            actions=env["actions"],
            masked=bool(settings.get("action_masks", False)),
            sample=sample,
            order=order if follows else None,
            value_unit=_value_unit(env, settings, values["state"]),
            belief=bool(env.get("belief", False)),
        )

    @property
    def misses(self) -> NDArray[np.int64]:
        """Steps in each episode after which no state fitted what was shown; 0 for who reads no belief."""
        return self._view.misses if self.reads_belief else np.zeros(len(self._starts), np.int64)

    def require_same_game(self, other: "NetworkAgent") -> None:
        """Raise a UserError unless it was trained under the rules and on the observations of `other`."""
        if (self.rules, self.encoder) != (other.rules, other.encoder):
            raise UserError(
                f"{self.name} cannot play beside {other.name}: it has other rules ({self.rules} instead of "
                f"{other.rules}) or another encoder ({self.encoder} instead of {other.encoder})."
            )

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Start new episodes in this many environments."""
        self._random = np.random.default_rng(seed)
        self._network.begin(num_envs)
        self._view.begin(num_envs)
        self._starts = np.ones(num_envs, np.bool_)

    def reset(self, mask: Flags) -> None:
        """Forget the environments where new episodes begin."""
        self._starts |= mask

    def act(self, observations: NDArray[Any]) -> Choices:
        """Return one action per row."""
        bits = observed_bits(observations, len(self._starts))
        self._inputs = self._view.inputs(bits, self._starts)
        self._logits = logits = self._network.logits(self._inputs, self._starts)
        self._starts[:] = False
        self._view.forbid(logits)
        if self.sample:  # the largest of logits with Gumbel noise has the probabilities of the softmax
            logits = logits + self._random.gumbel(size=logits.shape).astype(np.float32)
        return self._view.actions(logits.argmax(axis=1))

    def explain(self) -> Explanation:
        """Return the probabilities, the masked actions and the values of the last `act`."""
        weights = np.exp(self._logits - self._logits.max(axis=1, keepdims=True))
        values = None if self._value_unit is None else self._network.values(self._inputs)
        return Explanation(
            self._view.spread(weights / weights.sum(axis=1, keepdims=True)),
            self._view.spread(np.isneginf(self._logits)),
            None if values is None or self._value_unit is None else values.astype(np.float64) * self._value_unit,
        )

    def took(self, actions: Choices) -> None:
        """Remember what Blue did instead."""
        self._view.took(actions)

    def clone(self, rows: NDArray[np.intp], seed: int) -> Self:
        """Return the same defender for copies of these environments."""
        twin = copy.copy(self)
        twin._random = np.random.default_rng(seed)
        twin._network, twin._view = self._network.clone(rows), self._view.clone(rows)
        twin._starts = self._starts[rows]
        return twin

    def memory(self) -> NDArray[np.uint8] | None:
        """Return what decides the next actions; None if they are drawn, or the network has a state of its own."""
        return None if self.sample or self._network.is_recurrent else self._view.memory()


def _value_unit(env: dict[str, Any], settings: dict[str, Any], state: dict[str, Any]) -> float | None:
    """Return what a value of 1 is worth in the environment's rewards, which learning has scaled; None if unknown."""
    if env.get("reward", "score") != "score":  # then values are no returns
        return None
    unit = 1 / float(settings.get("reward_scale", 1.0) or 1.0)
    if not settings.get("normalise_returns", False):
        return unit
    count, _, squares = state.get("reward_scale", {}).get("moments", (0.0, 0.0, 0.0))
    return unit * float(np.sqrt(squares / count)) if count else None
