"""Collecting without a barrier: whichever environments are ready act and go on, while the others still step.

Every environment gives its T steps, in its own time; row t of environment i is that environment's t-th step, with the
action that its own stream draws. So a rollout is the one that stepping all environments together gives, but for
rounding: matrix products round differently in batches of other sizes.

    act for all, in pieces, and send each piece at once
    until every environment has given its steps:
        receive the first few that are ready, act for those that have steps left, send them

Nothing is in flight between two rollouts: the next actions are chosen by what has been learned from these.
"""

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from garrison.learn.collector import Collector, EndedEpisodes, Rows
from garrison.learn.nn.network import Network
from garrison.learn.rollout import Rollout
from garrison.learn.stopwatch import Stopwatch
from garrison.system import cores


class ReadyFirstCollector(Collector):
    """Takes environments as they get ready."""

    def __init__(self, envs: VectorEnv[Any, Any, Any], network: Network, seed: int, masked: bool) -> None:
        super().__init__(envs, network, seed, masked)
        # A worker steps only its own environments. With shares of this size, one that has run out of them has filled a
        # share by itself, so it never waits for another worker's step; smaller shares would only cost more calls. Of
        # more workers than cores, some wait in any case.
        self._shares = min(max(2, min(self.envs.workers, cores())), envs.num_envs)
        self._times = np.zeros(envs.num_envs, np.int64)  # how many steps each has given
        self._stored = np.zeros_like(self.seen)  # on the way into a rollout
        self._in_flight = 0

    def _fill(self, rollout: Rollout, episodes: EndedEpisodes, watch: Stopwatch) -> None:
        envs, form = self.envs, self.network.policy.observations
        self._times[:] = 0
        self._in_flight = 0
        for k in range(self._shares):
            self._act(rollout, self.all[k :: self._shares], watch)  # some of every worker's, so that all begin at once
        while self._in_flight:
            share = max(1, self._in_flight // self._shares)
            shown, *results, ids = envs.recv(min(share, envs.batch_size))
            watch.mark("step")
            self._tell_first_step()
            self._in_flight -= len(ids)
            times = self._times[ids]
            stored = self._stored[: len(ids)]
            form.store(shown, stored)
            rollout.observations[times + 1, ids] = stored
            self._note_results(rollout, episodes, (times, ids), ids, results, watch)
            self._times[ids] = times + 1
            watch.mark("copy")
            going_on = ids[times + 1 < rollout.steps]
            if len(going_on):
                self._act(rollout, going_on, watch)

    def _act(self, rollout: Rollout, ids: Rows, watch: Stopwatch) -> None:
        """Choose the next actions of these environments and send them off."""
        policy = self.network.policy
        at = self._times[ids], ids
        self._note_view(rollout, at, ids)  # before the workers write to these environments' rows again
        masks = self.masks[ids] if self.masked else self.masks
        streams = self.streams[ids]
        choices = np.empty((len(ids), *policy.actions.shape), policy.actions.dtype)
        log_probs, values = np.empty((2, len(ids)), np.float32)
        observations = rollout.observations[at]
        self.network.act(observations, self.starts[ids], masks, streams, choices, log_probs, values, ids)
        actions = policy.actions.to_env(choices)
        watch.mark("act")
        self.envs.send(actions, ids)
        watch.mark("step")
        self._in_flight += len(ids)
        self.streams[ids] = streams
        rollout.choices[at] = choices
        rollout.log_probs[at] = log_probs
        rollout.values[at] = values
        watch.mark("copy")
