"""Collecting from CAGE-2's native batch: each thread acts and steps for its environments, without Python in between.

Acting for 64 environments and stepping them takes some 30 microseconds; a loop in Python adds half of that again, and
threads that came back to it would wait for one another at every step. Here they meet when the rollout is full. It holds
what `Collector` would have collected, but for the rounding of matrix products where threads share what one would do.
"""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from garrison.cage2.native_steps import NativeSteps, allow_rows, step_rows
from garrison.cage2.step import RESET_SAME_STEP
from garrison.jit import kernel
from garrison.learn.collector import Collector, EndedEpisodes
from garrison.learn.envs import native_steps
from garrison.learn.nn.blas import new_blas
from garrison.learn.nn.clock import KernelClock, nanoseconds
from garrison.learn.nn.compiled import CompiledNetwork
from garrison.learn.nn.passes import Decisions, Net, decide, prepare
from garrison.learn.nn.plan import Scratch, Seen, ThreadWorkspace
from garrison.learn.nn.sampling import Streams
from garrison.learn.rollout import Rollout
from garrison.learn.spaces.observations import pack
from garrison.learn.stages import COLLECTING
from garrison.learn.stopwatch import Stopwatch

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]

Times = tuple[int, int, int]
"""The nanoseconds that went to acting, stepping and copying."""

SMALLEST_SHARE = 16
"""Fewer environments per thread are not worth waking it."""
STEPS_PER_CALL = 500_000
"""Of all environments together: less than a second, after which Ctrl-C is heard."""


class Record(NamedTuple):
    """What is written of every step, (T, N) each: the arrays of the rollout, and those of ended episodes."""

    observations: NDArray[np.uint8]
    choices: NDArray[np.int32]
    masks: Flags
    log_probs: Floats
    values: Floats
    rewards: Floats
    terminations: Flags
    truncations: Flags
    final_values: Floats
    starts: Flags
    counted: Flags
    returns: NDArray[np.float64]
    lengths: Rows

    @classmethod
    def of(cls, rollout: Rollout, episodes: EndedEpisodes) -> "Record":
        """Return the arrays of a rollout."""
        own = [getattr(rollout, name) for name in cls._fields[: -len(EndedEpisodes._fields)]]
        return cls._make([*own, *episodes])


class Ledger(NamedTuple):
    """What a collector keeps of each environment from step to step: its own arrays, (N,) each."""

    starts: Flags
    resetting: Flags
    returns: NDArray[np.float64]
    lengths: Rows
    masks: Flags
    streams: Streams

    @classmethod
    def of(cls, collector: Collector) -> "Ledger":
        """Return the arrays of a collector."""
        return cls._make([getattr(collector, name) for name in cls._fields])


@kernel(cached=True)
def play_rows(
    sgemm: Any,
    net: Net,
    steps: NativeSteps,
    record: Record,
    ledger: Ledger,
    first: int,
    last: int,
    begin: int,
    end: int,
    scratch: Scratch,
    clock: KernelClock,
) -> Times:
    """Play the steps from `first` to `last` in the environments from `begin` to `end`; return where time went."""
    blas, rows, no_inputs = new_blas(sgemm), np.arange(begin, end), np.empty((0, 0), np.float32)
    acting, stepping, copying = 0, 0, 0
    prepare(net, True, scratch)
    now = nanoseconds(clock)
    for t in range(first, last):
        for i in range(begin, end):
            record.starts[t, i] = ledger.starts[i]
            record.counted[t, i] = not ledger.resetting[i]
        masks = ledger.masks[begin:end]
        if masks.shape[0]:
            record.masks[t][begin:end] = masks
        out = Decisions(record.choices[t][begin:end], record.log_probs[t][begin:end], record.values[t][begin:end])
        seen = Seen(record.observations[t], no_inputs)
        decide(blas, net, seen, rows, masks, ledger.streams[begin:end], out, scratch)
        before, now = now, nanoseconds(clock)
        acting += now - before
        ended = step_rows(steps, out.choices, begin, end)
        before, now = now, nanoseconds(clock)
        stepping += now - before
        pack(steps.observations[begin:end], record.observations[t + 1][begin:end])
        allow_rows(steps, begin, end, ledger.masks)
        _note(steps, record, ledger, t, begin, end)
        before, now = now, nanoseconds(clock)
        copying += now - before
        if ended > 0 and steps.reset_mode == RESET_SAME_STEP:
            gone = begin + np.flatnonzero(steps.truncations[begin:end])
            seen_last = np.empty((gone.shape[0], record.observations.shape[2]), np.uint8)
            pack(steps.final_observations[gone], seen_last)
            final = Decisions(np.empty((0, 1), np.int32), np.empty(0, np.float32), np.empty(gone.shape[0], np.float32))
            every = np.arange(gone.shape[0])
            decide(blas, net, Seen(seen_last, no_inputs), every, masks[:0], ledger.streams[:0], final, scratch)
            record.final_values[t][gone] = final.values
            before, now = now, nanoseconds(clock)
            acting += now - before
    return acting, stepping, copying


@kernel
def _note(steps: NativeSteps, record: Record, ledger: Ledger, t: int, begin: int, end: int) -> None:
    """Write what step `t` brought, and keep the account of episodes, as `Collector` does."""
    for i in range(begin, end):
        reward, ended = steps.rewards[i], steps.truncations[i]
        record.rewards[t, i] = reward
        record.terminations[t, i] = False
        record.truncations[t, i] = ended
        ledger.returns[i] += reward
        ledger.lengths[i] += record.counted[t, i]
        if ended:
            record.returns[t, i] = ledger.returns[i]
            record.lengths[t, i] = ledger.lengths[i]
            ledger.returns[i] = 0.0
            ledger.lengths[i] = 0
        if steps.reset_mode == RESET_SAME_STEP:
            ledger.starts[i] = ended
        else:
            ledger.starts[i] = ledger.resetting[i]
            ledger.resetting[i] = ended


class NativeCollector(Collector):
    """Plays all steps of a rollout inside compiled code."""

    network: CompiledNetwork

    def __init__(self, envs: VectorEnv[Any, Any, Any], network: CompiledNetwork, seed: int, masked: bool) -> None:
        super().__init__(envs, network, seed, masked)
        self._compile()

    def _fill(self, rollout: Rollout, episodes: EndedEpisodes, watch: Stopwatch) -> None:
        at_once = max(1, STEPS_PER_CALL // self.envs.num_envs)
        first = 0
        while first < rollout.steps:
            last = min(rollout.steps, first + (1 if self.on_first_step else at_once))
            began = perf_counter()
            times = self._play(Record.of(rollout, episodes), first, last)
            scale = (perf_counter() - began) / max(1, sum(times))
            watch.credit({stage: time * scale for stage, time in zip(COLLECTING, times, strict=True)})
            self._tell_first_step()
            first = last

    def _play(self, record: Record, first: int, last: int) -> Times:
        """Play the steps from `first` to `last`; return what the first thread's time went to."""
        steps, ledger = native_steps(self.envs.envs), Ledger.of(self)
        times: dict[int, Times] = {}

        def play(workspace: ThreadWorkspace, rows: Rows) -> None:
            begin, end = int(rows[0]), int(rows[-1]) + 1
            sgemm, net, scratch, clock = self.network.sgemm, self.network.net, workspace.scratch, workspace.clock
            times[begin] = play_rows(sgemm, net, steps, record, ledger, first, last, begin, end, scratch, clock)

        self.network.spread(play, self.all, SMALLEST_SHARE)
        return times[0]

    def _compile(self) -> None:
        """Compile the kernel, or load it, before the clock starts: no step is played."""
        policy = self.network.policy
        rollout = Rollout.allocate(1, self.envs.num_envs, policy.observations, policy.actions, self.masked)
        if self.masked:
            self.masks = np.ones((self.envs.num_envs, policy.actions.mask_size), np.bool_)
        shape = rollout.rewards.shape
        self._play(Record.of(rollout, EndedEpisodes(np.empty(shape), np.empty(shape, np.int64))), 0, 0)
