"""A vector environment as a collector uses it, with the abilities that only some have."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.policy import Policy
from garrison.learn.spaces.observations import ObservationForm
from garrison.learn.spaces.registry import action_distribution
from garrison.learn.tensors import to_arrays, to_tensors

Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]
Who = slice | Rows
"""Some of the environments: all of them as a slice, any others by their numbers."""
EVERYONE = slice(None)

EnvFactory = Callable[[int], VectorEnv[Any, Any, Any]]
"""Makes a vector environment of this many environments; sent to other processes, so it must be picklable."""
Envs = VectorEnv[Any, Any, Any] | EnvFactory
"""What `train` takes: environments that are ready, or how to make them."""


def check_factory(envs: Envs, num_envs: int | None, algorithm: str) -> tuple[EnvFactory, int]:
    """Return the function that makes environments, and how many it should make; refuse environments that are ready."""
    if not callable(envs):
        raise UserError(f"{algorithm} makes environments in every actor: give it a function that makes them.")
    if num_envs is None:
        raise UserError("say how many environments to make: num_envs is missing.")
    return envs, num_envs


def is_ready_first(envs: Any) -> bool:
    """Return whether some environments can be stepped while others are not done."""
    return hasattr(envs, "send") and hasattr(envs, "recv")


def native_steps(envs: Any) -> Any:
    """Return what compiled code needs to step these environments, a `garrison.cage2.native_steps.NativeSteps`, or None.

    Only of environments whose own class has it: Gymnasium's wrappers pass on what they do not have, and to step past
    one would leave out what it does.
    """
    return envs.native_steps() if hasattr(type(envs), "native_steps") else None


def extra_of(envs: Any, name: str) -> NDArray[Any]:
    """Return the extra of that name, (N, ...), of a vector environment: from its `extras`, or from its `truth`."""
    published, truth = getattr(envs, "extras", None) or {}, getattr(envs, "truth", None)
    found = published[name] if name in published else getattr(truth, name, None)
    if not isinstance(found, np.ndarray):
        arrays = (key for key in dir(truth) if isinstance(getattr(truth, key), np.ndarray))
        offered = ", ".join(sorted({*published, *arrays})) or "none"
        raise UserError(f"critic_extras names {name!r}, which the environments do not publish; there are: {offered}.")
    return found


def extras_space(envs: Any, names: tuple[str, ...]) -> spaces.Dict | None:
    """Return the space of what a critic sees besides the observation; None if that is nothing."""
    if not names:
        return None
    return spaces.Dict({name: _space_of(extra_of(envs, name)) for name in names})


def _space_of(array: NDArray[Any]) -> spaces.Space[Any]:
    shape, kind = array.shape[1:], array.dtype
    if kind == np.bool_:
        return spaces.MultiBinary(shape or 1)
    if kind.kind in "iu":
        return spaces.Box(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind.type)
    return spaces.Box(-np.inf, np.inf, shape, np.float32)


def policy_of(envs: VectorEnv[Any, Any, Any], config: PolicyConfig, seed: int = 0) -> Policy:
    """Return a policy for the spaces of some environments, and for the extras that its critic is to see."""
    extras = extras_space(envs, config.critic_extras)
    return Policy(envs.single_observation_space, envs.single_action_space, config, seed, extras)


class TrainableEnvs:
    """Any Gymnasium vector environment that resets itself.

    It is asked once, here, for what it has beyond Gymnasium's interface:

        action_masks() -> (N, actions)    what is allowed now; else `infos["action_mask"]` is read; for a Dict or Tuple
                                          of actions also a mapping or tuple of the parts' masks
        final_observations                a batch with the last observation of each episode that has just ended;
                                          else `infos["final_obs"]` is read
        times                             where the time of its calls went, see `garrison.vector.timing`
        learning_rewards                  (N,) what to learn from the last step, where that is not its reward; returns
                                          are reported by the rewards
        get_state(), set_state(state)     what a run needs to continue exactly; with `older_layouts`, the other dtypes
                                          of records that set_state takes
        extras, or truth                  named arrays beside the observations, for a critic that sees more
        native_steps()                    what compiled code needs to step them, or None; see the function here
        send(actions, env_ids), recv(n)   step some environments, and take the first n that are ready (all in flight, if
                                          fewer), see `garrison.vector.backends.async_`; with `batch_size`, the most
                                          to take at once, and `workers`, what steps them

    With `critic_extras`, what it shows are pairs of observations and these extras, by their names.

    Raises a UserError if the environments do not reset themselves.
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any], critic_extras: tuple[str, ...] = ()) -> None:
        mode = envs.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        if mode == AutoresetMode.DISABLED:
            raise UserError("the environments must reset themselves: choose autoreset_mode SAME_STEP or NEXT_STEP.")
        self.envs: Any = envs
        self.num_envs = envs.num_envs
        self.resets_in_same_step = mode == AutoresetMode.SAME_STEP
        self._critic_extras = critic_extras
        if critic_extras and self.resets_in_same_step:
            raise UserError(
                "critic_extras need environments of the autoreset mode NEXT_STEP: under SAME_STEP the extras of an "
                "episode's end are gone when it is reported."
            )
        self._actions = action_distribution(envs.single_action_space)
        if is_ready_first(envs):
            able: Any = envs
            self.send = able.send
            self.batch_size, self.workers = int(able.batch_size), int(able.workers)
        self._has_masks = hasattr(envs, "action_masks")
        self._has_final_observations = hasattr(envs, "final_observations")
        self._has_learning_rewards = hasattr(envs, "learning_rewards")
        self._has_times = hasattr(envs, "times")
        self._has_state = hasattr(envs, "get_state") and hasattr(envs, "set_state")

    def reset(self, seed: int) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes everywhere; return what is seen, and infos."""
        shown, infos = self.envs.reset(seed=seed)
        return self._shown(shown), infos

    def step(self, actions: Any) -> tuple[Any, ...]:
        """Step all environments; return as Gymnasium does."""
        shown, *results = self.envs.step(actions)
        return self._shown(shown), *results

    def recv(self, count: int) -> tuple[Any, ...]:
        """Return the results of the first environments that are ready, and their numbers."""
        shown, *results, ids = self.envs.recv(count)
        return self._shown(shown, ids), *results, ids

    def _shown(self, observations: Any, who: Who = EVERYONE) -> Any:
        if not self._critic_extras:
            return observations
        return observations, {name: extra_of(self.envs, name)[who] for name in self._critic_extras}

    def masks(self, infos: dict[str, Any], who: Who = EVERYONE) -> Flags:
        """Return what the environments `who` may do now, (n, mask_size), given the infos of their last step."""
        masks = self.envs.action_masks()[who] if self._has_masks else infos.get("action_mask")
        if masks is None:
            raise UserError(
                "action_masks is set, but the environments have neither an action_masks() method nor an "
                "'action_mask' entry in their infos."
            )
        if not (self._has_masks or np.all(infos.get("_action_mask", True))):
            raise UserError(
                "action_masks is set, but an environment gave no 'action_mask' entry in its infos: it must be there "
                "after every reset and every step."
            )
        return self._actions.flat_masks(masks, self.num_envs if isinstance(who, slice) else len(who))

    def known_ends(self, rows: Rows, infos: dict[str, Any]) -> Rows:
        """Return those of `rows` of the last call whose episodes were not lost with a worker that died."""
        lost = infos.get("worker_restarted")
        return rows if lost is None else rows[~lost[rows]]

    def final_observations(self, rows: Rows, infos: dict[str, Any], form: ObservationForm) -> Any:
        """Return, as a batch, the observations in which the episodes of `rows` of the last call ended."""
        if self._has_final_observations:
            return self.envs.final_observations[rows]
        return form.batch(list(infos["final_obs"][rows]))

    def learning_rewards(self, rewards: Any, who: Who = EVERYONE) -> Any:
        """Return what to learn from the last step of the environments `who`, given its rewards."""
        return self.envs.learning_rewards[who] if self._has_learning_rewards else rewards

    def times(self) -> Any:
        """Return where the time of all calls so far went, a `garrison.vector.timing.parts.Times`; or None."""
        return self.envs.times if self._has_times else None

    def state(self) -> Any:
        """Return everything that the environments depend on, as tensors and plain values; or None."""
        return to_tensors(self.envs.get_state()) if self._has_state else None

    def restore(self, state: Any) -> bool:
        """Continue from what `state` returned, after a reset; return whether these environments can."""
        if state is None or not self._has_state:
            return False
        try:
            saved = to_arrays(state, self.envs.get_state(), getattr(self.envs, "older_layouts", ()))
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise UserError(
                f"cannot resume: the saved episodes do not fit these environments ({error}).",
                hint="They are of another version, or the checkpoint was changed: start a new run.",
            ) from None
        self.envs.set_state(saved)
        return True
