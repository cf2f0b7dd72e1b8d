"""IMPALA (Espeholt et al., 2018): actors collect on their own, one learner corrects for the age of their policy.

The gradient of the first minibatch of an update is exactly the paper's: min(rho_bar, ratio) * advantage * grad log pi.
Further minibatches and epochs reuse the samples with PPO's clipped surrogate around the policy that began the update,
as Sample Factory's APPO does; `epochs=1, minibatches=1` is pure IMPALA.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from garrison.learn import stages
from garrison.learn.action_mix import action_mix, count_actions
from garrison.learn.actors.actor import Actor, ActorPlan, ActorSpec
from garrison.learn.actors.gather import Gathered
from garrison.learn.actors.inline import Inline
from garrison.learn.actors.local import Local
from garrison.learn.actors.transport import Layout, Transport
from garrison.learn.checks import STATE_FORMAT, check_finite, check_resumable, find_not_finite, start_from
from garrison.learn.config import ImpalaConfig
from garrison.learn.envs import EnvFactory, Envs, check_factory, policy_of
from garrison.learn.episodes import RecentEpisodes
from garrison.learn.nn.adam import Adam
from garrison.learn.nn.epoch import Stride
from garrison.learn.nn.loss import Means, Terms, normalisation
from garrison.learn.nn.network import choose_threads, find_device, make_network
from garrison.learn.nn.policy import Policy
from garrison.learn.rehearsal import rehearse
from garrison.learn.result import Diverged, Result
from garrison.learn.returns import explained_variance
from garrison.learn.reward_scale import RewardScale
from garrison.learn.rollout import Rollout, TrainingBatch
from garrison.learn.run import RunLog, progress
from garrison.learn.stopwatch import Stopwatch
from garrison.learn.vtrace import VTrace, vtrace
from garrison.system import cores

LOOK_SECONDS = 0.5
"""How often a learner that waits for data looks whether it should stop and whether its actors live."""
UNCLIPPED = 1e9

Connect = Callable[[ActorPlan], Transport]


def train(
    config: ImpalaConfig,
    envs: Envs,
    num_envs: int | None = None,
    run: RunLog | None = None,
    resume: dict[str, Any] | None = None,
    weights: torch.Tensor | None = None,
    connect: Connect = Local,
) -> Result:
    """Train a policy until `config.steps` steps are learned from or `run` says stop.

    With `actors=0` everything happens in this process, step by step: the same configuration and seed on the same
    machine give the same result, also when stopped and resumed, provided that the environments have `get_state()` and
    `set_state(state)`. With actors, the order in which trajectories arrive decides, and no two runs are the same.

    Args:
        config: what to do.
        envs: a function that makes the environments of an actor, in the actor's process; must be picklable.
        num_envs: how many environments each actor steps at once.
        run: follows the run.
        resume: the state of an earlier result or checkpoint.
        weights: where to start from without `resume`: the weights of another policy of this shape.
        connect: starts the actors: `Local` as processes of this machine. Not used with `actors=0`.
    """
    make_envs, num_envs = check_factory(envs, num_envs, "impala")
    began = perf_counter()
    run = RunLog() if run is None else run
    threads_before = torch.get_num_threads()
    watch = Stopwatch(stages.ASYNCHRONOUS)
    policy, layout, transport = _start(config, make_envs, num_envs, resume, connect, watch)
    try:
        start_from(weights, policy)
        available = cores_for_learner(policy, transport.processes)
        threads = choose_threads(config.threads, available, policy, layout.num_envs * config.batch)
        learner = ImpalaLearner(config, policy.move(find_device(config.device)), layout, threads, resume)
        try:
            result = _loop(learner, transport, watch, run, began)
        finally:
            learner.network.close()
    finally:
        transport.close()
        torch.set_num_threads(threads_before)
    run.checkpoint(result.state)
    return result


def cores_for_learner(policy: Policy, actors: int) -> int:
    """Return on how many cores the learner computes beside actors of this machine: on those that they leave.

    With convolutions on all: learning is most of the work then, and actors that wait for it leave their cores too.
    """
    return cores() if policy.has_encoder else max(1, cores() - actors)


def _start(
    config: ImpalaConfig,
    make_envs: EnvFactory,
    num_envs: int,
    resume: dict[str, Any] | None,
    connect: Connect,
    watch: Stopwatch,
) -> tuple[Policy, Layout, Transport]:
    """Start the actors; return them with the learner's policy and what their buffers look like."""
    actors = actor_count(config)
    # New episodes of a resumed run should not be those that it began with.
    seed = (config.seed + (resume["steps"] if resume is not None else 0)) % 2**63
    threads = 1 if actors else config.threads or cores()
    spec = ActorSpec(make_envs, num_envs, config.policy, config.action_masks, config.compute, threads)
    if not actors:
        actor = Actor(spec, config.seed)
        policy = policy_of(actor.envs, config.policy, config.seed)
        layout = Layout(policy, config.rollout, num_envs, config.action_masks)
        try:
            if resume is not None:
                check_resumable(resume, "impala", policy)
            return policy, layout, Inline(actor, layout, watch, seed, resume["collector"] if resume else None)
        except BaseException:
            actor.close()
            raise
    envs = make_envs(1)  # only to learn the spaces
    policy = policy_of(envs, config.policy, config.seed)
    envs.close()
    if resume is not None:
        check_resumable(resume, "impala", policy)
    layout = Layout(policy, config.rollout, num_envs, config.action_masks)
    return policy, layout, connect(ActorPlan(spec, layout, actors, config.buffers, config.actor_timeout, seed))


def actor_count(config: ImpalaConfig) -> int:
    """Return the number of actor processes."""
    return max(1, cores() - 1) if config.actors < 0 else config.actors


class ImpalaLearner:
    """The weights, and how they change with a batch."""

    def __init__(
        self, config: ImpalaConfig, policy: Policy, layout: Layout, threads: int, resume: dict[str, Any] | None = None
    ) -> None:
        self.config, self.policy = config, policy
        self.network = make_network(policy, layout.num_envs * config.batch, config.compute, threads)
        self.adam = Adam(policy.flat, config.adam_beta1, config.adam_beta2, config.adam_epsilon)
        self.gathered = Gathered(layout, config.batch)
        self.steps, self.updates = 0, 0
        self.episodes = RecentEpisodes()
        self.reward_scale = RewardScale(config)
        if resume is not None:
            self.steps, self.updates = resume["steps"], resume["updates"]
            policy.flat.copy_(resume["weights"])
            self.adam.restore(resume["adam"])
            self.episodes.restore(resume)
            self.reward_scale.restore(resume)

    def state(self, transport: Transport) -> dict[str, Any]:
        """Return everything needed to continue."""
        return {
            "format": STATE_FORMAT,
            "algorithm": "impala",
            "steps": self.steps,
            "updates": self.updates,
            "weights": self.policy.flat.clone().cpu(),
            "adam": self.adam.state(),
            "collector": transport.state(),
            **self.episodes.state(),
            **self.reward_scale.state(),
        }

    def update(self, done: float, watch: Stopwatch, state: Callable[[], dict[str, Any]]) -> dict[str, float]:
        """Learn from the gathered batch when the share `done` of the run is over; return its metrics.

        Raises Diverged with the last good state.
        """
        config, gathered, rollout = self.config, self.gathered, self.gathered.rollout
        check_finite(rollout, self.updates, state)
        for columns, actor in gathered.sources():
            self.reward_scale.observe(rollout, columns, actor)
        lags = gathered.lags(self.updates)
        recurrent_state = torch.from_numpy(gathered.buffer.memory)
        if any(lags):
            log_probs, values = self.network.evaluate(rollout, recurrent_state)
        else:  # these weights have just acted
            log_probs, values = rollout.log_probs, np.vstack((rollout.values, rollout.last_values))
        trace = self._trace(rollout, log_probs, values)
        advantages = trace.advantages
        if config.normalise_advantages == "batch":
            mean, scale = normalisation(advantages[rollout.counted])
            advantages = (advantages - np.float32(mean)) * np.float32(scale)
        size = advantages.size
        batch = TrainingBatch.of(
            rollout, advantages * trace.weights, recurrent_state, log_probs, values[:-1], trace.targets
        )
        watch.mark("advantages")

        learning_rate = config.learning_rate_at(done)
        terms = Terms(config.clip or UNCLIPPED, 0.0, config.value_coef, config.entropy_coef_at(done))
        stride = Stride(learning_rate, config.max_grad_norm, normalises=False)
        good_weights, good_adam = self.policy.flat.clone(), self.adam.state()
        # Each update's order has a seed of its own, so a resumed run needs no generator's state.
        random = np.random.default_rng((config.seed, self.updates))
        parts: list[Means] = []
        norms: list[float] = []
        for epoch in range(config.epochs):
            minibatches = batch.minibatches(config.minibatches, self.policy.is_recurrent, random)
            for number, (means, norm) in enumerate(self.network.learn(batch, minibatches, terms, self.adam, stride)):
                if what := find_not_finite(means, norm):
                    self.policy.flat.copy_(good_weights)
                    self.adam.restore(good_adam)
                    raise Diverged(
                        f"{what} is not finite since update {self.updates + 1}, epoch {epoch + 1}, minibatch "
                        f"{number + 1} (after {self.steps} steps); the last good state is kept. A lower learning_rate "
                        f"(now {learning_rate:g}), max_grad_norm or reward_scale may help.",
                        state(),
                    )
                parts.append(means)
                norms.append(norm)
        self.policy.observe(rollout)
        watch.mark("learn")

        self.steps += int(rollout.counted.sum())
        self.updates += 1
        returns, lengths = gathered.episodes()
        self.episodes.add(returns, lengths)
        losses = np.mean(np.array(parts), axis=0)
        metrics = {
            "train/learning_rate": learning_rate,
            "train/entropy_coef": terms.entropy_coef,
            "train/epochs": config.epochs,
            "rollout/episodes": len(returns),
            "train/policy_lag": float(np.mean(lags)),
            "train/policy_lag_max": max(lags),
            "train/vtrace_weight": float(trace.weights.sum() / size),
            **{f"train/{name}": float(value) for name, value in zip(Means._fields, losses, strict=True)},
            "train/grad_norm": float(np.mean(norms)),
            "train/explained_variance": explained_variance(trace.targets, values[:-1]),
            **{f"actors/{stage}": share for stage, share in gathered.shares().items()},
            **self.episodes.metrics(),
        }
        watch.mark("log")
        return metrics

    def rehearse(self) -> None:
        """Compile what an update runs."""
        rollout = self.gathered.rollout
        rehearse(self.network, rollout.num_envs, len(rollout.masks) > 0, self._rehearsed_advantages)

    def _rehearsed_advantages(self, rollout: Rollout) -> NDArray[np.float32]:
        return self._trace(rollout, rollout.log_probs, np.vstack((rollout.values, rollout.last_values))).advantages

    def _trace(self, rollout: Rollout, log_probs: NDArray[np.float32], values: NDArray[np.float32]) -> VTrace:
        """Correct for the age of the policy that collected; `log_probs` and `values` are the present one's."""
        config = self.config
        return vtrace(
            log_probs - rollout.log_probs,
            self.reward_scale(rollout.rewards),
            values[:-1],
            rollout.terminations,
            rollout.truncations,
            rollout.final_values,  # by the actor's critic: its few versions of age matter less than the critic's error
            values[-1],
            config.gamma,
            config.rho_bar,
            config.c_bar,
            config.vtrace_lambda,
        )


def _loop(learner: ImpalaLearner, transport: Transport, watch: Stopwatch, run: RunLog, began: float) -> Result:
    """Receive, learn, publish, log, until there is enough or `run` says stop."""
    config, gathered = learner.config, learner.gathered
    metrics: dict[str, float] = {}

    def state() -> dict[str, Any]:
        return learner.state(transport)

    transport.publish(learner.policy.flat.cpu().numpy(), learner.updates)
    learner.rehearse()  # while the actors start
    has_started = False
    update_began = perf_counter()
    watch.credit({})  # what it took to start belongs to no update
    try:
        while learner.steps < config.steps:
            # Where a run continues exactly, it stops only between updates.
            if run.stop and (transport.actors or not gathered.reports):
                break
            trajectory = transport.receive(LOOK_SECONDS)
            watch.mark("wait")
            for sentence in transport.check():
                run.say(sentence)
            if trajectory is None:
                continue
            if not has_started:
                run.started()
                has_started = True
            gathered.add(trajectory)
            transport.release(trajectory)
            watch.mark("copy")
            if not gathered.is_full:
                continue
            steps_before = learner.steps
            metrics = learner.update(progress(learner.steps, config.steps, run), watch, state)
            taken = gathered.rollout.choices[gathered.rollout.counted]
            metrics |= action_mix(count_actions(taken, learner.policy.actions.space), run.action_kinds)
            watch.mark("log")
            gathered.clear()
            transport.publish(learner.policy.flat.cpu().numpy(), learner.updates)
            watch.mark("publish")

            now = perf_counter()
            seconds, update_began = now - update_began, now
            times = watch.lap()
            metrics |= {
                "time/fps": (learner.steps - steps_before) / seconds,
                "train/actors": transport.actors,
                "train/actors_replaced": transport.replaced,
                "train/publish_share": times["publish"] / seconds,
                "train/waiting_for_data": times["wait"] / seconds,
                **stages.to_metrics(times),
            }
            run.log(learner.steps, metrics)
            if run.due_checkpoint(learner.steps):
                run.checkpoint(state())
            watch.mark("log")
        final = state()
    except Diverged as diverged:
        run.checkpoint(diverged.state)
        raise
    return Result(
        policy=learner.policy,
        state=final,
        steps=learner.steps,
        updates=learner.updates,
        seconds=perf_counter() - began,
        metrics=metrics,
        times=dict(watch.totals),
        threads=learner.network.threads,
        compute=learner.network.compute,
        exact_resume=transport.is_exact,
    )
