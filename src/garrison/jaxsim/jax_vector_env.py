"""The JAX engine behind Gymnasium's vector interface: `garrison.cage2.VectorEnv` with its environments on a device."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Self

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from garrison.cage2.layout import STATE, Record
from garrison.cage2.names import (
    DEFAULT_ACTIONS,
    DEFAULT_ENCODER,
    DEFAULT_LENGTH,
    DEFAULT_OBSERVATION,
    DEFAULT_RED,
    DEFAULT_RULES,
    DEFAULT_SOURCE,
    REDS,
    SOURCES,
)
from garrison.cage2.reward import RESOLUTION
from garrison.cage2.truth import Truth
from garrison.cage2.vector_env import Ids, VectorEnv
from garrison.errors import UserError, choose
from garrison.jaxsim.batch import Batch, begin_episodes, masks_of, step_episodes, truth_of
from garrison.jaxsim.params import params_of
from garrison.jaxsim.state_records import from_records, reward_terms, to_records
from garrison.jaxsim.variant import variant_of

_OF_TERMS = ("access", "ot_running", "blue_action", "t")
"""The true state that reward terms follow from"""


class JaxVectorEnv(VectorEnv):
    """A batch of CAGE-2 environments that live in JAX, on its default device; what comes out is NumPy.

    Arguments, results, infos, errors and saved states are those of `garrison.cage2.VectorEnv`: the same seed and
    actions give the same bytes. There are no threads, no workflow, no tapes, and no attackers written in Python.

    `truth` and `get_state` bring the whole state from the device. They are read in the moment of asking: an array of
    `truth` is up to date until the next step, and later again once `truth` is asked for. `follow` names fields
    that shall be up to date after every step.
    """

    def __init__(
        self,
        num_envs: int = 1,
        red: str | Sequence[str] | Mapping[str, float] = DEFAULT_RED,
        rules: str = DEFAULT_RULES,
        length: int | Sequence[int] = DEFAULT_LENGTH,
        encoder: str = DEFAULT_ENCODER,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        scenario: str | Path | None = None,
        observation: str = DEFAULT_OBSERVATION,
        actions: str = DEFAULT_ACTIONS,
        workflow: None = None,
        action_mask_infos: bool = False,
        copy: bool = True,
        render_mode: str | None = None,
        threads: int = 1,
        source: str = DEFAULT_SOURCE,
    ) -> None:
        if choose("source", source, SOURCES) != DEFAULT_SOURCE:
            raise UserError("the JAX engine has no draws of CybORG's: use the backend 'native' for source='cyborg'.")
        if threads != 1:
            raise UserError(f"JAX divides a batch among cores by itself: leave out threads={threads}.")
        if workflow is not None:
            raise UserError("the JAX engine knows no workflow: use the backend 'native' for one.")
        self._variant = variant_of(red, observation, actions)
        self._followed: tuple[str, ...] = ()
        super().__init__(
            num_envs=num_envs,
            red=red,
            rules=rules,
            length=length,
            encoder=encoder,
            autoreset_mode=autoreset_mode,
            scenario=scenario,
            observation=observation,
            actions=actions,
            action_mask_infos=action_mask_infos,
            copy=copy,
            render_mode=render_mode,
        )

    def _attach(self) -> None:
        """Put the records on the device: after construction, unpickling, copying, or a change of the records."""
        super()._attach()
        self._params = params_of(self._scenario, int(self._envs["length"].max()), 0, self._attackers.odds)
        self._batch = Batch(
            from_records(self._envs, self._variant, self._params),
            jnp.asarray(self._envs["length"], jnp.int32),
            jnp.asarray(self._envs["done"] == 1),
        )
        self._is_current = True

    # --- what differs from the compiled batch

    @property
    def truth(self) -> Truth:
        """The true state, read from the device now."""
        self._fetch()
        return self._truth

    @truth.setter
    def truth(self, views: Truth) -> None:
        self._truth = views

    def follow(self, names: Iterable[str]) -> None:
        """Keep these fields of `truth`, arrays that one already has, up to date after every step and reset."""
        self._followed = tuple(choose("field of the true state", name, Truth.__slots__) for name in names)

    def action_masks(self, by_truth: bool = False) -> NDArray[np.bool_]:
        """Return (n, number of actions): False where an action cannot have an effect now."""
        return np.array(masks_of(self._variant, self._params, self._batch, by_truth))

    def get_state(self, env_ids: Ids = None) -> NDArray[np.void]:
        """Return a copy of the complete state of some environments, as records that both engines take."""
        self._fetch()
        return super().get_state(env_ids)

    def set_state(self, state: NDArray[np.void], env_ids: Ids = None) -> None:
        """Put saved states, of either engine, into some environments; they go on exactly as the saved ones would."""
        if isinstance(state, np.ndarray) and state.dtype == STATE:
            strangers = set(np.unique(state["red"]).tolist()) - set(self._variant.reds)
            names = [REDS[code] for code in sorted(strangers) if 0 <= code < len(REDS)]
            if names:
                compiled = ", ".join(REDS[code] for code in self._variant.reds)
                raise UserError(
                    f"the state has the attacker {names[0]!r}, and only {compiled} is compiled into this batch.",
                    hint="Make it with a list or a mixture as red that names all attackers.",
                )
            params_of(self._scenario, int(state["length"].max(initial=1)))  # raises if 32 bits cannot say its costs
        self._fetch()
        super().set_state(state, env_ids)

    def clone(self, env_ids: Ids = None, repeat: int = 1) -> Self:
        """Return a new batch of copies of some environments, each `repeat` times in a row."""
        self._fetch()
        return super().clone(env_ids, repeat)

    def play_tapes(self, tapes: NDArray[np.void]) -> None:
        """Refuse: recordings are replayed by `garrison conformance --engine jax`."""
        raise UserError("this batch plays no tapes: use the backend 'native', or garrison.jaxsim.taped_envs.")

    def rollout(self, *given: Any, **named: Any) -> NoReturn:
        """Refuse: inside of JAX, many steps are a scan over `garrison.jaxsim.Cage2`."""
        raise UserError("this batch has no rollout(): use the backend 'native', or scan garrison.jaxsim.Cage2.")

    # --- inside

    def _begin(self, mask: NDArray[np.bool_], seeded: list[int], streams: NDArray[np.uint32]) -> None:
        is_seeded = np.zeros(self.num_envs, np.bool_)
        words = np.zeros((self.num_envs, 4), np.uint32)
        is_seeded[seeded], words[seeded] = True, streams
        batch, obs = begin_episodes(self._variant, self._params, self._batch, mask, is_seeded, words)
        self._obs[:] = obs  # waits for the device
        self._batch = batch  # last: after an interrupt in between, the episodes are where they were
        self._moved_on()

    def _run(self, blue: NDArray[np.int64]) -> int:
        batch, played = step_episodes(
            self._variant,
            self._params,
            self._batch,
            blue.astype(np.int32),
            self._attackers.actions.astype(np.int32),
            self.autoreset_mode == AutoresetMode.SAME_STEP,
        )
        obs, final_obs, reward, ended, last_total, last_length = jax.device_get(played)
        self._batch = batch
        self._obs[:] = obs
        self._rewards[:] = reward / RESOLUTION
        self._truncations[:] = ended
        count = int(ended.sum())
        if count:
            self._envs["last_total"] = last_total / RESOLUTION
            self._envs["last_length"] = last_length
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                self.final_observations[ended] = final_obs[ended]
        self._moved_on()
        return count

    def _observe(self, mask: NDArray[np.bool_]) -> None:
        """Write observations from the records, which have changed, and put these on the device."""
        super()._observe(mask)
        self._attach()

    def _moved_on(self) -> None:
        """Note that the records are behind the device, and bring what is followed."""
        self._is_current = False
        if not self._followed:
            return
        with_terms = "reward_terms" in self._followed
        names = {*self._followed, *(_OF_TERMS if with_terms else ())} - {"reward_terms"}
        read = jax.device_get(truth_of(self._params, self._batch, tuple(sorted(names))))
        for name in self._followed:
            self._envs[name] = reward_terms(read, self._scenario) if name == "reward_terms" else read[name]

    def _fetch(self) -> None:
        """Bring the records up to date."""
        if not self._is_current:
            to_records(self._batch.state, self._scenario, self._envs)
            self._envs["done"] = np.asarray(self._batch.is_over)
            self._is_current = True

    def _shown(self, env_id: int) -> tuple[Record, Record]:
        self._fetch()
        return super()._shown(env_id)

    def __getstate__(self) -> dict[str, Any]:
        self._fetch()
        derived = ("_truth", "_params", "_batch", "_is_current")
        return {name: value for name, value in super().__getstate__().items() if name not in derived}
