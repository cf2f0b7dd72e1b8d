"""An attacker that was trained: the network of a run on Red's side, as a `RedAgent` that plays in any batch."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from garrison.agents.forward import InferenceNetwork, network_of
from garrison.cage2.names import SCRIPTED_REDS
from garrison.cage2.red_agent import RedAgent, RedView
from garrison.cage2.red_moves import KINDS_AND_TARGETS, NUM_RED_MOVES
from garrison.cage2.red_observation import NUM_RED_BITS
from garrison.errors import UserError
from garrison.learn.nn.description import policy_config
from garrison.learn.registry import learner_section
from garrison.registration import CAGE2_RED
from garrison.storage import checkpoint
from garrison.storage.saved_run import require_agent

SHIPPED_REDS = {file.stem: file for file in sorted((Path(__file__).parent / "shipped_reds").glob("*.garrison"))}


class LearnedRed(RedAgent):
    """Takes the likeliest action of a network, or draws one from the environment's own stream.

    Args:
        network: what computes the logits.
        name: what results call it.
        masked: whether it leaves out what Red knows to fail.
        sample: draw actions instead of taking the likeliest.
    """

    keeps_nothing: ClassVar[bool] = True

    def __init__(self, network: InferenceNetwork, name: str, masked: bool = True, sample: bool = False) -> None:
        self.name, self.sample, self._network, self._masked = name, sample, network, masked
        if (network.size, network.outputs) != (NUM_RED_BITS, NUM_RED_MOVES):
            raise UserError(
                f"{name} is no attacker of this version: its network has {network.size} inputs and {network.outputs} "
                f"outputs, and Red has {NUM_RED_BITS} and {NUM_RED_MOVES}."
            )

    @classmethod
    def of(cls, values: dict[str, Any], name: str, sample: bool = False) -> "LearnedRed":
        """Build the attacker of a checkpoint's values: our own, or checked by `require_agent`."""
        env = values["experiment"]["env"]["env"]
        if env != CAGE2_RED:
            raise UserError(f"{name} was trained on {env}, so it is no attacker: those are trained on {CAGE2_RED}.")
        if policy_config(values["policy"]).recurrent_size:
            raise UserError(f"{name} has a GRU, and an attacker remembers only what its observation shows.")
        masked = bool(learner_section(values["experiment"]).get("action_masks", False))
        return cls(network_of(values["policy"], values["state"]["weights"]), name, masked, sample)

    def act(self, view: RedView) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Choose by what Red knows now."""
        logits = self._network.logits(view.observations(), view.t == 0)
        if self._masked:
            logits[~view.action_masks()] = -np.inf
        moves = _drawn(logits, view.uniform()) if self.sample else logits.argmax(axis=1)
        kinds, targets = KINDS_AND_TARGETS[moves].T
        return kinds, targets


def _drawn(logits: NDArray[np.float32], uniform: NDArray[np.float64]) -> NDArray[np.intp]:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True), dtype=np.float64)
    bounds = np.cumsum(weights, axis=1)
    return np.asarray((bounds > (uniform * bounds[:, -1])[:, None]).argmax(axis=1))


def load_red(name: str, sample: bool = False) -> LearnedRed:
    """Return a trained attacker: a shipped one by its name, or that of a run folder or a checkpoint.

    Args:
        name: the name or the path.
        sample: draw its actions instead of taking the likeliest.
    """
    if not is_learned_red(name):
        raise unknown_red(name)
    values = checkpoint.load(SHIPPED_REDS.get(name, Path(name)))
    require_agent(values, name)
    return LearnedRed.of(values, name, sample)


def is_learned_red(name: str) -> bool:
    """Return whether this is the name of a shipped attacker, or a path where one may be."""
    return name in SHIPPED_REDS or (name not in SCRIPTED_REDS and Path(name).exists())


def check_red(name: str) -> None:
    """Raise a UserError if this is not the name of an attacker: scripted, trained, or `module:Class`."""
    if name not in SCRIPTED_REDS and ":" not in name and not is_learned_red(name):
        raise unknown_red(name)


def unknown_red(name: str) -> UserError:
    """Return what to say about a name that is no attacker's."""
    from difflib import get_close_matches

    names = [*SCRIPTED_REDS, *SHIPPED_REDS]
    near = get_close_matches(name, names, n=1)
    known = f"choose from {', '.join(map(repr, names))}, or give a run folder, a checkpoint or module:Class."
    return UserError(f"unknown red {name!r}; {f'did you mean {near[0]!r}?' if near else known}")


def find_red(red: Any) -> Any:
    """Return an attacker as `VectorEnv` takes it: a trained one is loaded, all else is left as it is."""
    if not isinstance(red, str):
        return red
    check_red(red)
    return load_red(red) if is_learned_red(red) else red
