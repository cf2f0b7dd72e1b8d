"""The native batch: many CAGE-2 environments behind Gymnasium's vector interface, stepped by one compiled call."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.attackers import Attackers
from garrison.cage2.infos import episode_infos
from garrison.cage2.inputs import (
    HIGHEST_SEED,
    environment_ids,
    episode_lengths,
    policy_memory,
    read_blue_actions,
    seeds_from_system,
)
from garrison.cage2.layout import DETAILS, MAX_DETAILED_LENGTH, MAX_LENGTH, SCENARIO, STATE, STATE_BEFORE_HISTORY, TAPE
from garrison.cage2.mersenne import seed_generators, seed_keys
from garrison.cage2.names import (
    ACTION_SETS,
    DEFAULT_ACTIONS,
    DEFAULT_ENCODER,
    DEFAULT_LENGTH,
    DEFAULT_OBSERVATION,
    DEFAULT_RED,
    DEFAULT_RULES,
    DEFAULT_SOURCE,
    NUM_ACTIONS,
    SOURCES,
    Red,
    Source,
)
from garrison.cage2.native_steps import NativeSteps
from garrison.cage2.observation_sets import choose_observation
from garrison.cage2.playing import NO_POLICY, NOTHING_KEPT, get_ready, play_share
from garrison.cage2.policies import Policy, read_policy
from garrison.cage2.red_agent import RedAgent, RedView
from garrison.cage2.rendering import RENDER_MODES, Rendering
from garrison.cage2.rng import seed_streams
from garrison.cage2.rolled_out import Keeping, RolloutResult
from garrison.cage2.saved_states import joined, split
from garrison.cage2.scenario import load_scenario
from garrison.cage2.soundness import check_scenario, check_states, check_tapes
from garrison.cage2.step import (
    RESET_DISABLED,
    RESET_NEXT_STEP,
    RESET_SAME_STEP,
    mask_batch,
    observe_batch,
    reset_batch,
    step_batch,
    warm_up,
)
from garrison.cage2.thread_team import SharedWork, ThreadTeam
from garrison.cage2.truth import Truth
from garrison.cage2.workflow import ORDER_BITS, Compliance, Workflow, apply_workflow, order_table
from garrison.contract import resets
from garrison.contract.misuse import Closed, NotReset
from garrison.errors import UserError, choose
from garrison.jit import COMPILED, records

RESET_MODES = {
    AutoresetMode.NEXT_STEP: RESET_NEXT_STEP,
    AutoresetMode.SAME_STEP: RESET_SAME_STEP,
    AutoresetMode.DISABLED: RESET_DISABLED,
}
CHUNK = 256  # environments that a thread takes at a time in a rollout, at most: they stay in its cache for all steps
STEP_CHUNK = 128  # the same in a single step: taking them costs as much as stepping one or two
STEPS_PER_CALL = 2_000_000  # of all environments together: a fraction of a second, after which Ctrl-C is heard

Step = tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]
Arrays = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any, Any]  # how many they are is part of a kernel's signature
Ids = Sequence[int] | NDArray[np.integer[Any]] | None


class VectorEnv(Rendering, gymnasium.vector.VectorEnv[Any, Any, Any]):
    """A batch of CAGE-2 environments.

    What `reset` and `step` return belongs to the caller. **With `copy=False` observations, rewards and flags are the
    batch's own buffers, which the next call overwrites**: quicker, for callers that keep nothing over a step.

    Every environment depends only on its seed and its actions: never on the size of the batch, its place in it, or the
    number of threads.

    Args:
        num_envs: how many environments.
        red: who attacks: `bline`, `meander`, `sleep`; a list of these, one for each environment; a mixture such as
            `{"bline": 0.5, "meander": 0.5}`, drawn at each reset; or `external`: then an action is
            `{"blue": actions, "red": (n, 2) kind and target}`, numbered as `RedKind`, hosts and (for a sweep)
            subnets; naming what Red does not know is an `INVALID` action that fails. An attacker of your own, or a
            trained one (`garrison.load_red`), is a `RedAgent`: the class, an instance, or `"module:Class"`; it may also
            be part of a mixture.
        rules: `head` or `leaderboard`, see `garrison.cage2.scenario`.
        length: steps after which an episode is truncated, or a list of these.
        encoder: `challenge` or `wrapper2`, see `garrison.cage2.scenario`.
        threads: over how many threads a step is split; worth it from about a thousand environments.
        autoreset_mode: one of Gymnasium's three modes.
        scenario: path of a changed copy of `scenario2.toml`.
        observation: `bits`, the challenge's 52, or `memory`: behind them what a defender can remember of its own
            observations and actions, see `garrison.cage2.observation_sets`.
        actions: `all`, the challenge's 145, or `compact`, see `garrison.cage2.action_sets`.
        workflow: in which order kinds of hosts are to be fixed, see `garrison.cage2.workflow`. Rewards are then the
            environment's plus the alignment's (`envs.workflow` has them apart), and observations end with the order.
        action_mask_infos: put `action_mask`, what `action_masks()` returns, into the infos of every reset and step,
            where TorchRL and Tianshou look for it; it costs more than the step itself.
        copy: return fresh arrays; False returns the buffers.
        render_mode: None; `ansi`: `render` returns the tables of all environments as text; `rgb_array`: pictures.
        source: where random draws come from: `stream`, a generator of ours that makes only the draws that matter; or
            `cyborg`, Python's generator used as CybORG uses it, so that a seed gives CybORG's own episode of that seed:
            the one that follows on `random.seed(seed)` right before its `reset()`. The generator goes on from episode
            to episode. `CybORG(...)` and `ChallengeWrapper(...)` each take the draws of a reset as well: a script that
            seeds first is matched by two more resets. Such a batch takes about 50 kB for each environment.
    """

    metadata: dict[str, Any] = {"render_modes": [*RENDER_MODES], "render_fps": 4}  # noqa: RUF012 - as in Gymnasium
    older_layouts = (STATE_BEFORE_HISTORY,)
    """Of states that other versions saved, and that `set_state` takes"""

    truth: Truth
    """The true state, as read-only views that follow the batch"""
    workflow: Compliance | None
    """How the workflow is followed, as read-only views that follow the batch; None without a workflow"""
    final_observations: NDArray[np.int8]
    """With SAME_STEP: the last observation of each environment whose episode ended in the last step"""

    _team = ThreadTeam(0)  # Gymnasium 1.2 also closes what could not be made

    def __init__(
        self,
        num_envs: int = 1,
        red: str | Sequence[str] | Mapping[Any, float] | RedAgent | type[RedAgent] = DEFAULT_RED,
        rules: str = DEFAULT_RULES,
        length: int | Sequence[int] = DEFAULT_LENGTH,
        encoder: str = DEFAULT_ENCODER,
        threads: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        scenario: str | Path | None = None,
        observation: str = DEFAULT_OBSERVATION,
        actions: str = DEFAULT_ACTIONS,
        workflow: Workflow | None = None,
        action_mask_infos: bool = False,
        copy: bool = True,
        render_mode: str | None = None,
        source: str = DEFAULT_SOURCE,
    ) -> None:
        self.num_envs = num_envs = resets.whole("num_envs", num_envs, 1, 2**31 - 1)
        self._threads = resets.whole("threads", threads, 1, 1024)
        self.rules, self.encoder, self.copy = rules, encoder, copy
        self._action_mask_infos = action_mask_infos
        self.render_mode = None if render_mode is None else choose("render_mode", render_mode, RENDER_MODES)
        self.autoreset_mode = resets.autoreset_mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}

        self._scenario = load_scenario(scenario, rules, encoder)
        self._envs = np.zeros(num_envs, STATE)
        self._envs["bline_user"] = -1  # the one field whose zero means something before the first reset
        has_details = choose("source", source, SOURCES) == "cyborg"
        self._envs["length"] = episode_lengths(length, num_envs, MAX_DETAILED_LENGTH if has_details else MAX_LENGTH)
        self._attackers = Attackers(red, num_envs)
        self._envs["red"], self._scenario["red_odds"] = self._attackers.codes, self._attackers.odds
        if has_details and (scenario is not None or self._attackers.are_drawn):
            what = "plays no changed scenario" if scenario is not None else "draws no attacker from a mixture"
            raise UserError(f"CybORG {what}, so source='cyborg' cannot either: leave it out, or use source='stream'.")
        seeds = seeds_from_system(num_envs)
        self._envs["stream"] = seed_streams(seeds)
        self._seeds = np.full(num_envs, -1, object)  # the last ones given
        self._details = np.zeros(num_envs, DETAILS) if has_details else None
        self._tapes = np.zeros((1, 1), TAPE)

        width = choose_observation(self._scenario, observation)
        if workflow is not None and not isinstance(workflow, Workflow):
            raise UserError(f"workflow must be a garrison.cage2.workflow.Workflow or None; got {workflow!r}.")
        self._workflow = workflow
        if workflow is not None:
            apply_workflow(workflow, self._envs, self._scenario)
            width += ORDER_BITS if workflow.show_order else 0
        self._action_ids = ACTION_IDS[choose("actions", actions, ACTION_SETS)]
        self.single_observation_space = Box(0, 1, (width,), np.int8)
        self.single_action_space = self._attackers.action_space(len(self._action_ids))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

        self._obs = np.zeros((num_envs, width), np.int8)
        self.final_observations = np.zeros((num_envs, width), np.int8)
        self._rewards = np.zeros(num_envs)
        self._terminations = np.zeros(num_envs, np.bool_)
        self._truncations = np.zeros(num_envs, np.bool_)
        self._is_reset = False
        self._attach()
        warm_up(has_details)
        if has_details:
            self._envs["source"] = Source.CYBORG
            self._seed_details(list(range(num_envs)), seeds)

    def _attach(self) -> None:
        """Make what is derived from the arrays: after construction, unpickling or copying."""
        self.truth = Truth.of(self._envs)
        self.workflow = None if self._workflow is None else Compliance.of(self._workflow, self._envs)
        details = None if self._details is None else records(self._details)
        self._records = records(self._envs), records(self._scenario), records(self._tapes), details
        self._team = ThreadTeam(self._threads - 1)
        self._blue = np.zeros(self.num_envs, np.int64)  # the actions of a step
        self._step_work: SharedWork | None = None

    # --- Gymnasium's interface

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin new episodes.

        Args:
            seed: s seeds environment i with s+i; a list seeds each environment, None leaves one's stream as it is.
            options: `{"reset_mask": (n,) bool array}` resets only these environments.
        """
        self._check_open()
        seeds = resets.spread_seed(seed, self.num_envs, HIGHEST_SEED)
        mask = resets.reset_mask(options, self.num_envs)
        if not self._is_reset and not mask.all():
            raise NotReset("the first reset must reset all environments: call reset() without a reset_mask.")
        chosen = [i for i in np.flatnonzero(mask).tolist() if seeds[i] is not None]
        self._seeds[chosen] = [seeds[i] for i in chosen]
        self._begin(mask, chosen, seed_streams([seeds[i] for i in chosen]))  # type: ignore[misc]
        self._truncations[mask] = False
        self._is_reset = True
        return self._out(self._obs), self._mask_infos()

    def step(self, actions: Any) -> Step:
        """Step every environment: observations, rewards, terminations, truncations, infos."""
        self._check_ready()
        blue = self._read_actions(actions)
        if self._attackers.own is not None:
            self._attackers.play(self._envs)
        ended = self._run(blue)
        final = self.final_observations if self.autoreset_mode == AutoresetMode.SAME_STEP else None
        infos = episode_infos(self._envs, self._truncations, self.workflow, final) if ended else {}
        if self._action_mask_infos:
            infos |= self._mask_infos()
        return (
            self._out(self._obs),
            self._out(self._rewards),
            self._out(self._terminations),
            self._out(self._truncations),
            infos,
        )

    def rollout(
        self, policy: Policy, steps: int | None = None, *, memory: NDArray[np.int64] | None = None, sums: bool = False
    ) -> RolloutResult:
        """Play several steps without coming back to Python between them: for search and evaluation.

        Everything is as after as many calls of `step` with the same actions: states, rewards, resets of the autoreset
        mode, what `observations` and `truth` show.

        Args:
            policy: how Blue acts. Actions of its own for each step, (steps,) or (steps, n); a `Cycle`; `Reactions`; or
                a function compiled by `numba.njit`, called as `policy(observation, t, memory)`, which returns the
                action of one environment: `observation` is its row, `t` counts the steps of its episode from 0, and
                `memory` is its row of `memory`, which the function may write to. In a step that only resets, nobody is
                asked. If it returns what is no action, the batch has to be reset.
            steps: how many; a list of actions has as many as it has rows.
            memory: (n, any) int64 array of rows for the function, kept from call to call by who calls; 0 columns by
                default.
            sums: keep only the sum of each environment's rewards, and the flags of the last step: for memory's sake.

        >>> from garrison.cage2 import Cycle, VectorEnv
        >>> envs = VectorEnv(1000, red="meander", length=30, autoreset_mode="Disabled")
        >>> _ = envs.reset(seed=0)
        >>> result = envs.rollout(Cycle([1, 135]), 30)  # Monitor, Restore Enterprise0, and so on
        >>> result.rewards.shape, len(result.episodes.returns)
        ((30, 1000), 1000)
        """
        self._check_ready()
        if self._attackers.are_external:
            raise UserError("rollout() plays scripted attackers only; this batch's chooses in Python: use step().")
        chosen, steps = read_policy(policy, steps, self.num_envs, len(self._action_ids))
        steps = resets.whole("steps", steps, 1, 2**31 - 1)
        rows = policy_memory(memory, self.num_envs)
        if self.autoreset_mode == AutoresetMode.DISABLED:
            left = int((self._envs["length"] - self._envs["t"]).min())
            if left < steps:
                raise NotReset(
                    f"an episode ends after {left} more steps and the autoreset mode is DISABLED: play at most that "
                    "many, or make the batch with another autoreset_mode."
                )
        keeping = Keeping(steps, self._envs["length"], sums)
        at_once = max(1, STEPS_PER_CALL // self.num_envs)
        chunk = CHUNK if self._threads == 1 else max(1, min(CHUNK, self.num_envs // (8 * self._threads)))
        for first in range(0, steps, at_once):
            last = min(steps, first + at_once)
            policy_arguments = (*chosen, rows, self._action_ids, first, last)
            arguments = (*self._arrays(), *self._modes(), *policy_arguments, *keeping.arrays)
            if first == 0:
                get_ready(arguments)
            self._team.run(SharedWork(play_share, arguments, self.num_envs, chunk))
            self._check_policy(int(keeping.stopped_at[0]))
        self._team.forget()
        return keeping.rollout(self._out(self._obs), self._out(self._truncations))

    @property
    def np_random_seed(self) -> Any:
        """The seed that each environment was last given; -1 for one that the system has seeded."""
        return tuple(self._seeds.tolist())

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads."""
        self._team.close()

    # --- more than Gymnasium asks for

    @property
    def observations(self) -> NDArray[np.int8]:
        """Blue's present observations: the buffer that the next step overwrites."""
        return self._obs

    @property
    def red_view(self) -> RedView:
        """What Red knows now, as a `RedAgent` is shown it."""
        return RedView(self._envs)

    def native_steps(self) -> NativeSteps | None:
        """Return what another kernel needs to step this batch; None if a part of its steps is Python.

        It may be used until the next call of any other method. Who replaces a method that takes part in a step, in a
        subclass or in the place of ours, has it called.
        """
        is_own = all(getattr(type(self), name, None) is own for name, own in _TAKES_PART.items())
        if not is_own or not _TAKES_PART.keys().isdisjoint(vars(self)):
            return None
        if self._attackers.are_external or self._details is not None:
            return None
        self._check_open()
        envs, scenario, tapes, _, *buffers = self._arrays()
        return NativeSteps._make([envs, scenario, tapes, *buffers, self._action_ids, *self._modes()])

    def set_orders(self, orders: Any, now: bool = False) -> None:
        """Give the environments new orders, in any form that `Workflow.orders` takes.

        An episode is judged by one order: new ones take effect at each environment's next reset, automatic or not. With
        `now` they take effect at once, which needs that no environment has been stepped since its reset.
        """
        if self._workflow is None:
            raise UserError("this batch has no workflow; make it with workflow=Workflow(...) to give it orders.")
        if now and self._envs["t"].any():
            raise UserError("episodes are under way, so orders cannot change now: call reset(), or leave out now=True.")
        self._envs["next_order"] = order_table(orders, self.num_envs)
        if now:
            self._envs["order"] = self._envs["next_order"]
            self._observe(np.ones(self.num_envs, np.bool_))

    def set_red(self, red: str | Mapping[str, float]) -> None:
        """Change who attacks: from each environment's next reset on, automatic or not, one is drawn by these odds.

        Args:
            red: a mixture such as `{"bline": 0.3, "meander": 0.7}`, or one name. Neither a state nor a checkpoint of
                the batch holds it: who goes on from one sets it again.
        """
        if self._attackers.are_external or self._details is not None:
            what = "its attacker comes from outside" if self._attackers.are_external else "it draws as CybORG does"
            raise UserError(f"this batch cannot change its attackers: {what}.")
        self._scenario["red_odds"] = self._attackers.change({red: 1.0} if isinstance(red, str) else red)
        self._step_work = None

    def action_masks(self, by_truth: bool = False) -> NDArray[np.bool_]:
        """Return (n, number of actions): False where an action cannot have an effect now.

        By default only what Blue can know is used: a decoy that would be refused, and Monitor. With `by_truth` also an
        Analyse that would find nothing and a Remove that would change nothing: useful to study agents, but a challenge
        entry does not know this.
        """
        masks = np.empty((self.num_envs, NUM_ACTIONS), np.bool_)
        envs, scenario, *_ = self._records
        mask_batch(envs, scenario, by_truth, masks)
        return masks if len(self._action_ids) == NUM_ACTIONS else masks[:, self._action_ids]

    def get_state(self, env_ids: Ids = None) -> NDArray[np.void]:
        """Return a copy of the complete state of some environments, random streams included."""
        ids = self._ids(env_ids)
        return joined(self._envs[ids], None if self._details is None else self._details[ids])

    def set_state(self, state: NDArray[np.void], env_ids: Ids = None) -> None:
        """Put saved states into some environments, one each; they go on exactly as the saved ones would."""
        ids = self._ids(env_ids)
        state, details = split(state, self._details is not None)
        if state.shape not in ((len(ids),), ()):
            raise UserError(f"the state holds {len(state)} environments, but {len(ids)} were to be set.")
        if not self._attackers.are_external and np.any(state["red"] == Red.EXTERNAL):
            raise UserError("the state has an external attacker; make the batch with red='external' to go on with it.")
        if self._workflow is not None and np.any(state["order"].sum(axis=-1) == 0):
            raise UserError("the state comes from a batch without a workflow, so it has no orders to go on with.")
        check_states(state, self._scenario, self._tape_steps, details)
        self._envs[ids] = state
        if self._details is not None:
            self._details[ids] = details
        mask = np.zeros(self.num_envs, np.bool_)
        mask[ids] = True
        self._observe(mask)
        self._truncations[ids] = self._envs["done"][ids].astype(np.bool_)
        self._is_reset = self._is_reset or bool(mask.all())

    def clone(self, env_ids: Ids = None, repeat: int = 1) -> Self:
        """Return a new batch of copies of some environments, each `repeat` times in a row.

        The copies share nothing with this batch. To try all actions at once: `envs.clone([i], repeat=145)`.
        """
        ids = np.repeat(self._ids(env_ids), resets.whole("repeat", repeat, 1, 2**31 - 1))
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.num_envs = len(ids)
        twin.closed = False
        for name in (
            "_envs",
            "_seeds",
            "_obs",
            "final_observations",
            "_rewards",
            "_terminations",
            "_truncations",
        ):
            setattr(twin, name, getattr(self, name)[ids])
        twin._details = None if self._details is None else self._details[ids]
        if self._tapes.shape[1] > 1:
            twin._tapes = self._tapes[ids]
        twin._scenario = self._scenario.copy()
        twin._attackers = self._attackers.copied(ids)
        twin.observation_space = batch_space(self.single_observation_space, len(ids))
        twin.action_space = batch_space(self.single_action_space, len(ids))
        twin._attach()
        return twin

    def play_tapes(self, tapes: NDArray[np.void]) -> None:
        """Take the random draws from recordings, (n, steps) records of `TAPE`, instead of the streams."""
        if self._details is not None:
            raise UserError("this batch draws as CybORG does: make it with source='stream' to play tapes.")
        longest = int(self._envs["length"].max())
        if tapes.dtype != TAPE or tapes.ndim != 2 or len(tapes) != self.num_envs or tapes.shape[1] < longest:
            raise UserError(f"tapes must be ({self.num_envs}, {longest}) records of TAPE; got {tapes.shape}.")
        check_tapes(tapes)
        self._tapes = np.ascontiguousarray(tapes)
        self._envs["source"] = Source.TAPE
        self._attach()

    # --- inside

    def _read_actions(self, actions: Any) -> NDArray[np.int64]:
        """Read Blue's actions into a buffer, checked before any environment moves; Red's, if given, into another."""
        actions, red = self._attackers.read(actions)
        read_blue_actions(actions, self._action_ids, self._blue)
        if red is not None:
            self._attackers.actions[:] = red
        return self._blue

    def _begin(self, mask: NDArray[np.bool_], seeded: list[int], streams: NDArray[np.uint32]) -> None:
        """Begin episodes in the environments of `mask`, those of `seeded` with these random streams."""
        self._envs["stream"][seeded] = streams
        self._seed_details(seeded, self._seeds[seeded].tolist())
        envs, scenario, _, details = self._records
        reset_batch(envs, scenario, details, self._attackers.are_drawn, mask, self._obs)

    def _seed_details(self, ids: list[int], seeds: list[int]) -> None:
        """Seed the generators of some environments as `random.seed` would, where the draws are CybORG's own."""
        if self._details is not None and ids:
            seed_generators(records(self._details), np.array(ids), *seed_keys(seeds))

    def _run(self, blue: NDArray[np.int64]) -> int:
        """Step every environment with the actions of the buffer `blue`, and return how many episodes ended."""
        if self._threads == 1 or not COMPILED:
            return int(step_batch(*self._arrays(), 0, self.num_envs, *self._modes()))
        if self._step_work is None:  # made once: the threads wait for more of it inside the kernel
            arguments = (*self._arrays(), *self._modes(), *NO_POLICY, 0, 1, *NOTHING_KEPT)
            get_ready(arguments)
            # So few at a time that nobody waits long for the last.
            chunk = max(1, min(STEP_CHUNK, self.num_envs // (4 * self._threads)))
            self._step_work = SharedWork(play_share, arguments, self.num_envs, chunk)
        return self._team.run(self._step_work)

    def _arrays(self) -> Arrays:
        """Return the arrays of a kernel that steps the batch."""
        return (
            *self._records,
            self._blue,
            self._attackers.actions,
            self._obs,
            self.final_observations,
            self._rewards,
            self._truncations,
        )

    def _modes(self) -> tuple[int, bool]:
        """Return what a kernel does about ended episodes, and whether attackers are drawn then."""
        return RESET_MODES[self.autoreset_mode], self._attackers.are_drawn

    def _observe(self, mask: NDArray[np.bool_]) -> None:
        """Write the observations of the environments of `mask`, from their present state."""
        envs, scenario, *_ = self._records
        observe_batch(envs, scenario, mask, self._obs)

    def _ids(self, env_ids: Ids) -> NDArray[np.intp]:
        return environment_ids(env_ids, self.num_envs)

    def _check_open(self) -> None:
        if self.closed:
            raise Closed("this batch of environments is closed; make a new one.")

    def _check_ready(self) -> None:
        """Raise unless every environment can be stepped."""
        if self.closed or not self._is_reset:
            self._check_open()
            raise NotReset("call reset() before the first step().")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._truncations.any():
            raise NotReset(
                f"episodes have ended in environments {np.flatnonzero(self._truncations)[:8].tolist()} and the "
                "autoreset mode is DISABLED: call reset(options={'reset_mask': truncations}) before the next step."
            )

    def _check_policy(self, stopped_at: int) -> None:
        """Raise if a policy named what is no action: some environments have then moved further than others."""
        if stopped_at >= 0:
            self._is_reset = False
            raise UserError(
                f"the policy chose the action {self._blue[stopped_at]} in environment {stopped_at}, but they lie in "
                f"0..{len(self._action_ids) - 1}; call reset() before going on."
            )

    def _mask_infos(self) -> dict[str, Any]:
        """Return the action masks as an entry of infos, where they are asked for."""
        if not self._action_mask_infos:
            return {}
        return {"action_mask": self.action_masks(), "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _out(self, array: NDArray[Any]) -> Any:
        return array.copy() if self.copy else array

    def __getstate__(self) -> dict[str, Any]:
        derived = ("truth", "workflow", "_records", "_team", "_blue", "_step_work")
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        try:
            self.__dict__.update(state)
            self._check_records()
        except (AttributeError, KeyError, TypeError) as error:
            raise UserError(f"this is no saved batch of this version of Garrison: {error}.") from error
        self._attach()

    def _check_records(self) -> None:
        """Raise unless kernels can work on arrays that come from outside: other people's pickles."""
        n, (width,) = self.num_envs, self.single_observation_space.shape or (0,)
        for name, array, dtype, shape in (
            ("state", self._envs, STATE, (n,)),
            ("scenario", self._scenario, SCENARIO, (1,)),
            ("observations", self._obs, np.int8, (n, width)),
            ("final observations", self.final_observations, np.int8, (n, width)),
            ("rewards", self._rewards, np.float64, (n,)),
            ("terminations", self._terminations, np.bool_, (n,)),
            ("truncations", self._truncations, np.bool_, (n,)),
            ("Red's actions", self._attackers.actions, np.int8, (n, 2)),
            ("tapes", self._tapes, TAPE, self._tapes.shape),
        ):
            if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
                raise UserError(
                    f"this is no saved batch of this version of Garrison: the array of its {name} does not fit."
                )
        check_scenario(self._scenario)
        check_tapes(self._tapes)
        if self._details is not None and (self._details.dtype != DETAILS or self._details.shape != (n,)):
            raise UserError(
                "this is no saved batch of this version of Garrison: the array of its details does not fit."
            )
        check_states(self._envs, self._scenario, self._tape_steps, self._details)

    @property
    def _tape_steps(self) -> int:
        """How many steps each environment's own tape has."""
        return self._tapes.shape[1] if len(self._tapes) == self.num_envs else 0


_TAKES_PART = {name: getattr(VectorEnv, name, None) for name in ("step", "action_masks", "learning_rewards")}
"""What learners call at every step, as it is here: a batch of ours has no `learning_rewards`"""
