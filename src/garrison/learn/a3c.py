"""A3C (Mnih et al., 2016): every actor collects, computes a gradient and applies it to weights that all of them share.

Nobody takes a lock: the weights and Adam's moments lie in shared memory, and each actor reads and writes them as they
are, in the middle of another's writing if need be (Hogwild; Niu et al., 2011). A write that is lost costs one sample of
one coordinate. The parent process only watches, logs and saves.
"""

import pickle
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch

from garrison.learn import stages
from garrison.learn.action_mix import Counts, action_mix, count_actions
from garrison.learn.actors.actor import Actor, ActorSpec, actor_seed
from garrison.learn.actors.processes import start_actors
from garrison.learn.actors.transport import Layout
from garrison.learn.checks import STATE_FORMAT, check_finite, check_resumable, find_not_finite, start_from
from garrison.learn.config import A3CConfig
from garrison.learn.envs import Envs, check_factory, policy_of
from garrison.learn.episodes import RecentEpisodes
from garrison.learn.nn.adam import Adam
from garrison.learn.nn.loss import Means, Terms, normalisation
from garrison.learn.nn.network import make_network
from garrison.learn.nn.policy import Policy
from garrison.learn.result import Diverged, Result
from garrison.learn.returns import explained_variance, gae
from garrison.learn.reward_scale import RewardScale
from garrison.learn.rollout import Take, TrainingBatch
from garrison.learn.run import RunLog, progress
from garrison.system import cores
from garrison.workers import channel
from garrison.workers.launch import WorkerPipes
from garrison.workers.memory import Allocator, SharedMemory
from garrison.workers.supervisor import Supervisor

STATS = b"N"  # from an actor: pickled UpdateStats, or why it diverged
REPORT_SECONDS = 0.05
LOG_SECONDS = 0.5
"""How often an actor reports to its parent and the parent logs; updates come hundreds of times per second."""
UNCLIPPED = 1e9


class UpdateStats(NamedTuple):
    """What came of one update of an actor."""

    steps: int
    returns: list[float]
    lengths: list[int]
    losses: list[float]
    """`Means`, the gradient's norm and the explained variance."""
    lag: int
    """Updates that others made between reading the weights and changing them."""
    times: dict[str, float]
    actions: Counts | None
    """How often each was taken."""


class Shared:
    """What all actors read and write, in memory that `take` gives."""

    def __init__(self, take: Take, size: int, actors: int) -> None:
        floats, counts = np.dtype(np.float32), np.dtype(np.int64)
        self.weights, self.first, self.second = (take((size,), floats) for _ in range(3))
        self.adam_steps = take((1,), counts)
        self.updates = take((actors,), counts)  # by each actor
        self.rates = take((2,), np.dtype(np.float64))  # the learning rate and the weight of the entropy bonus
        self.is_over = take((1,), np.dtype(np.bool_))
        self.moments = take((3,), np.dtype(np.float64))  # of returns, see `RewardScale`


@dataclass(frozen=True)
class _A3CActorTask:
    config: A3CConfig
    spec: ActorSpec
    actors: int
    seed: int
    length: int
    """Bytes of the shared memory."""


def train(
    config: A3CConfig,
    envs: Envs,
    num_envs: int | None = None,
    run: RunLog | None = None,
    resume: dict[str, Any] | None = None,
    weights: torch.Tensor | None = None,
) -> Result:
    """Train a policy until `config.steps` steps are taken or `run` says stop.

    Each actor makes `num_envs` environments with the function `envs`, in its own process; that must be picklable. It
    starts from `resume`, the state of an earlier part, else from `weights`, else from weights drawn with the seed.

    No two runs are the same: the actors race. A resumed run has the weights and Adam's moments, and new episodes.
    """
    make_envs, num_envs = check_factory(envs, num_envs, "a3c")
    began = perf_counter()
    run = RunLog() if run is None else run
    actors = cores() if config.actors < 0 else config.actors
    one = make_envs(1)  # only to learn the spaces
    policy = policy_of(one, config.policy, config.seed)
    one.close()
    start_from(weights, policy)
    length = Allocator(None)
    Shared(length.take, len(policy.flat), actors)
    memory = SharedMemory()
    shared = Shared(Allocator(memory.map(length.offset)).take, len(policy.flat), actors)
    parent = _Parent(config, policy, shared, actors, resume)
    spec = ActorSpec(make_envs, num_envs, config.policy, config.action_masks, config.compute)
    task = _A3CActorTask(config, spec, actors, (config.seed + parent.steps) % 2**63, length.offset)
    parent.set_rates(progress(parent.steps, config.steps, run))
    pool = start_actors(_work, task, actors, memory, config.actor_timeout)
    try:
        parent.follow(Supervisor(pool, "actor", lambda place: None), run)
    except Diverged as diverged:
        run.checkpoint(diverged.state)
        raise
    finally:
        shared.is_over[0] = True
        pool.close()
    final = parent.state()
    policy.flat.copy_(final["weights"])
    run.checkpoint(final)
    network = make_network(policy, 1, config.compute, 1)
    network.close()
    return Result(
        policy=policy,
        state=final,
        steps=parent.steps,
        updates=parent.updates,
        seconds=perf_counter() - began,
        metrics=parent.metrics,
        times=parent.times,
        threads=1,
        compute=network.compute,
        exact_resume=False,
    )


class _Parent:
    """Watches the actors, sets their rates, logs and saves."""

    def __init__(
        self, config: A3CConfig, policy: Policy, shared: Shared, actors: int, resume: dict[str, Any] | None
    ) -> None:
        self.config, self.shared, self.actors = config, shared, actors
        self.steps, self._updates_before = 0, 0
        self.episodes = RecentEpisodes()
        self.reward_scale = RewardScale(config)
        self.reward_scale.moments = shared.moments
        self.metrics: dict[str, float] = {}
        self.times = dict.fromkeys(stages.SYNCHRONOUS, 0.0)
        shared.weights[:] = policy.flat.numpy()
        if resume is not None:
            check_resumable(resume, "a3c", policy)
            self.steps, self._updates_before = resume["steps"], resume["updates"]
            shared.weights[:] = resume["weights"].numpy()
            shared.first[:] = resume["adam"]["first"].numpy()
            shared.second[:] = resume["adam"]["second"].numpy()
            shared.adam_steps[0] = resume["adam"]["steps"]
            self.episodes.restore(resume)
            self.reward_scale.restore(resume)
        self._good = self.state()

    @property
    def updates(self) -> int:
        """Updates by all actors, earlier parts of a resumed run included."""
        return self._updates_before + int(self.shared.updates.sum())

    def state(self) -> dict[str, Any]:
        """Return everything needed to continue."""
        shared = self.shared
        first, second = (torch.from_numpy(moment.copy()) for moment in (shared.first, shared.second))
        return {
            "format": STATE_FORMAT,
            "algorithm": "a3c",
            "steps": self.steps,
            "updates": self.updates,
            "weights": torch.from_numpy(shared.weights.copy()),
            "adam": {"first": first, "second": second, "steps": int(shared.adam_steps[0])},
            "collector": {"envs": None},
            **self.episodes.state(),
            **self.reward_scale.state(),
        }

    def follow(self, supervisor: Supervisor, run: RunLog) -> None:
        """Take in what actors report until there are enough steps or `run` says stop."""
        stats: list[UpdateStats] = []
        has_started = False
        logged = perf_counter()
        while self.steps < self.config.steps and not run.stop:
            message = supervisor.receive(LOG_SECONDS)
            for sentence in supervisor.check():
                run.say(sentence)
            if message is not None:
                if not has_started:
                    run.started()
                    has_started = True
                self._take(pickle.loads(message[2]), stats)
            self.set_rates(progress(self.steps, self.config.steps, run))
            now = perf_counter()
            if not stats or (now - logged < LOG_SECONDS and self.steps < self.config.steps):
                continue
            seconds, logged = now - logged, now
            self.metrics = self._measure(stats, seconds) | {"train/actors_replaced": supervisor.replaced}
            counts = [each.actions for each in stats if each.actions is not None]
            self.metrics |= action_mix(np.sum(counts, axis=0) if counts else None, run.action_kinds)
            stats = []
            if np.isfinite(self.shared.weights).all():
                self._good = self.state()
            run.log(self.steps, self.metrics)
            if run.due_checkpoint(self.steps):
                run.checkpoint(self._good)

    def _take(self, report: list[UpdateStats] | str, stats: list[UpdateStats]) -> None:
        if isinstance(report, str):
            raise Diverged(report, self._good)
        stats += report
        for each in report:
            self.steps += each.steps
            self.episodes.add(each.returns, each.lengths)

    def set_rates(self, done: float) -> None:
        """Give the actors the rates for when the share `done` of the run is over."""
        self.shared.rates[:] = self.config.learning_rate_at(done), self.config.entropy_coef_at(done)

    def _measure(self, stats: list[UpdateStats], seconds: float) -> dict[str, float]:
        losses = np.mean([each.losses for each in stats], axis=0)
        lags = [each.lag for each in stats]
        known = dict.fromkeys(stage for each in stats for stage in each.times)
        times = {stage: sum(each.times.get(stage, 0.0) for each in stats) / self.actors for stage in known}
        for stage, spent in times.items():
            self.times[stage] = self.times.get(stage, 0.0) + spent
        return {
            "time/fps": sum(each.steps for each in stats) / seconds,
            "train/learning_rate": float(self.shared.rates[0]),
            "train/entropy_coef": float(self.shared.rates[1]),
            "train/epochs": 1,
            "rollout/episodes": sum(len(each.returns) for each in stats),
            "train/policy_lag": float(np.mean(lags)),
            "train/policy_lag_max": max(lags),
            "train/actors": self.actors,
            **{f"train/{name}": float(value) for name, value in zip(LOSSES, losses, strict=True)},
            **stages.to_metrics(times),
            **self.episodes.metrics(),
        }


LOSSES = (*Means._fields, "grad_norm", "explained_variance")


def _work(task: _A3CActorTask, place: int, start: int, pipes: WorkerPipes) -> None:
    """Read the weights, collect, change the weights, again and again; the target of an actor process."""
    config, spec = task.config, task.spec
    actor = Actor(spec, actor_seed(task.seed, start, spec.num_envs), stages.SYNCHRONOUS)
    try:
        policy, watch = actor.policy, actor.watch
        shared = Shared(Allocator(pipes.memory.map(task.length)).take, len(policy.flat), task.actors)
        adam = Adam(torch.from_numpy(shared.weights), config.adam_beta1, config.adam_beta2, config.adam_epsilon)
        adam.first, adam.second = torch.from_numpy(shared.first), torch.from_numpy(shared.second)
        buffer = Layout(policy, config.rollout, spec.num_envs, spec.action_masks).carve()
        rollout, recurrent_state = buffer.rollout, torch.from_numpy(buffer.memory)
        actor.collector.reset(actor_seed(task.seed, start, spec.num_envs))
        stats: list[UpdateStats] = []
        reported = -REPORT_SECONDS  # the first update is reported at once: from then on silence means that it is stuck
        reward_scale = RewardScale(config)
        reward_scale.moments = shared.moments
        random = np.random.default_rng(0)  # one minibatch: its order does not matter
        while not shared.is_over[0]:
            policy.flat.numpy()[:] = shared.weights
            version = int(shared.updates.sum())
            report = actor.fill(buffer, version)
            check_finite(rollout, version, dict)
            reward_scale.observe(rollout)
            rewards = reward_scale(rollout.rewards)
            endings = rollout.terminations, rollout.truncations, rollout.final_values, rollout.last_values
            advantages = gae(rewards, rollout.values, *endings, config.gamma, config.gae_lambda)
            batch = TrainingBatch.of(rollout, advantages, recurrent_state)
            terms = Terms(UNCLIPPED, 0.0, config.value_coef, float(shared.rates[1]))
            if config.normalise_advantages == "batch":
                mean, scale = normalisation(advantages[rollout.counted])
                terms = terms._replace(advantage_mean=mean, advantage_scale=scale)
            watch.mark("advantages")

            (rows,) = batch.minibatches(1, policy.is_recurrent, random)
            means = actor.network.gradient(batch, rows, terms)
            adam.steps = int(shared.adam_steps[0])
            lag = int(shared.updates.sum()) - version
            norm = adam.step(actor.network.gradients, float(shared.rates[0]), config.max_grad_norm)
            if what := find_not_finite(means, norm):
                raise Diverged(f"{what} is not finite after {version} updates; a lower learning_rate may help.", {})
            shared.adam_steps[0] = adam.steps
            shared.updates[place] += 1
            policy.observe(rollout)
            shared.weights[policy.statistics()] = policy.flat.numpy()[policy.statistics()]
            watch.mark("learn")

            explained = explained_variance(batch.returns, batch.values)
            losses = [*means, norm, explained]
            steps = int(rollout.counted.sum())
            taken = count_actions(rollout.choices[rollout.counted], policy.actions.space)
            stats.append(
                UpdateStats(steps, list(report.returns), list(report.lengths), losses, lag, report.times, taken)
            )
            if perf_counter() - reported > REPORT_SECONDS:
                channel.send(pipes.replies, STATS, pickle.dumps(stats))
                stats, reported = [], perf_counter()
            watch.mark("log")
    except Diverged as diverged:
        channel.send(pipes.replies, STATS, pickle.dumps(str(diverged)))
        channel.receive(pipes.commands)  # nothing to do but to wait for the end
    finally:
        actor.close()
