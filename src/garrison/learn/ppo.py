"""Proximal policy optimisation (Schulman et al., 2017): collect, estimate advantages, learn, log, repeat."""

from contextlib import closing
from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from garrison.learn import stages
from garrison.learn.action_mix import action_mix, count_actions
from garrison.learn.checks import (
    STATE_FORMAT,
    check_env_count,
    check_finite,
    check_resumable,
    find_not_finite,
    start_from,
)
from garrison.learn.collectors import make_collector
from garrison.learn.config import PPOConfig
from garrison.learn.envs import Envs, check_factory, policy_of
from garrison.learn.episodes import RecentEpisodes
from garrison.learn.nn.adam import Adam
from garrison.learn.nn.epoch import Stride
from garrison.learn.nn.loss import Means, Terms, normalisation
from garrison.learn.nn.network import choose_threads, find_device, make_network
from garrison.learn.rehearsal import rehearse
from garrison.learn.result import Diverged, Result
from garrison.learn.returns import explained_variance, gae
from garrison.learn.reward_scale import RewardScale
from garrison.learn.rollout import Rollout, TrainingBatch
from garrison.learn.run import RunLog, progress
from garrison.learn.stopwatch import Stopwatch
from garrison.system import cores

__all__ = ["Diverged", "Result", "RunLog", "train"]


def train(
    config: PPOConfig,
    envs: Envs,
    num_envs: int | None = None,
    run: RunLog | None = None,
    resume: dict[str, Any] | None = None,
    weights: torch.Tensor | None = None,
) -> Result:
    """Train a policy on `envs` until `config.steps` steps are taken or `run` says stop.

    It starts from `resume`, the state of an earlier part; or else from `weights`, those of another policy of the same
    shape (`Policy.flat`); or else from weights drawn with the seed.

    The same configuration and seed on the same machine give the same result, also when stopped and resumed, provided
    that the environments have `get_state()` and `set_state(state)`. The environments are stepped, not closed; where
    `envs` is a function, it makes `num_envs` of them, which are closed at the end.
    """
    if callable(envs):
        make_envs, num_envs = check_factory(envs, num_envs, "ppo")
        with closing(make_envs(num_envs)) as made:
            return train(config, made, None, run, resume, weights)
    began = perf_counter()
    run = RunLog() if run is None else run
    policy = policy_of(envs, config.policy, config.seed)
    policy.move(find_device(config.device))
    threads_before = torch.get_num_threads()
    threads = choose_threads(config.threads, cores(), policy, envs.num_envs)
    network = make_network(policy, envs.num_envs, config.compute, threads)
    adam = Adam(policy.flat, config.adam_beta1, config.adam_beta2, config.adam_epsilon)
    collector = make_collector(envs, network, config.seed, config.action_masks)
    rollout = Rollout.allocate(
        config.rollout, envs.num_envs, policy.observations, policy.actions, masked=config.action_masks
    )
    reward_scale = RewardScale(config)
    steps, updates, exact_resume = 0, 0, True
    episodes = RecentEpisodes()

    def estimate(rollout: Rollout) -> NDArray[np.float32]:
        return gae(
            reward_scale(rollout.rewards),
            rollout.values,
            rollout.terminations,
            rollout.truncations,
            rollout.final_values,
            rollout.last_values,
            config.gamma,
            config.gae_lambda,
        )

    def state() -> dict[str, Any]:
        return {
            "format": STATE_FORMAT,
            "algorithm": "ppo",
            "steps": steps,
            "updates": updates,
            "weights": policy.flat.clone().cpu(),
            "adam": adam.state(),
            "collector": collector.state(),
            **episodes.state(),
            **reward_scale.state(),
        }

    if resume is None:
        start_from(weights, policy)
        collector.reset(config.seed)
    else:
        check_resumable(resume, "ppo", policy)
        check_env_count(resume["collector"], envs.num_envs)
        steps, updates = resume["steps"], resume["updates"]
        policy.flat.copy_(resume["weights"])
        adam.restore(resume["adam"])
        episodes.restore(resume)
        reward_scale.restore(resume)
        exact_resume = collector.restore(resume["collector"], seed=config.seed + steps)

    watch = Stopwatch()
    metrics: dict[str, float] = {}
    collector.on_first_step = run.started
    try:
        rehearse(network, envs.num_envs, config.action_masks, estimate)
        watch.credit({})  # what it took to start belongs to no update
        while steps < config.steps and not run.stop:
            update_began = perf_counter()
            recurrent_state = network.recurrent_state.clone()
            returns, lengths = collector.collect(rollout, watch)
            episodes.add(returns, lengths)
            check_finite(rollout, updates, state)
            reward_scale.observe(rollout)
            batch = TrainingBatch.of(rollout, estimate(rollout), recurrent_state)
            watch.mark("advantages")

            done = progress(steps, config.steps, run)
            learning_rate = config.learning_rate_at(done)
            terms = Terms(config.clip, config.value_clip, config.value_coef, config.entropy_coef_at(done))
            if config.normalise_advantages == "batch":
                mean, scale = normalisation(batch.advantages[batch.counted.reshape(-1)])
                terms = terms._replace(advantage_mean=mean, advantage_scale=scale)
            stride = Stride(learning_rate, config.max_grad_norm, config.normalise_advantages == "minibatch")
            good_weights, good_adam = policy.flat.clone(), adam.state()
            # Each update's order has a seed of its own, so a resumed run needs no generator's state.
            random = np.random.default_rng((config.seed, updates))
            parts: list[Means] = []
            norms: list[float] = []
            epochs = 0
            at_once = 1 if config.target_kl else config.epochs  # each call costs the threads a waking
            while epochs < config.epochs:
                began_at = len(parts)
                minibatches = [
                    rows
                    for _ in range(at_once)
                    for rows in batch.minibatches(config.minibatches, policy.is_recurrent, random)
                ]
                learned = network.learn(batch, minibatches, terms, adam, stride)
                if what := find_not_finite(*learned[-1]):  # where it has stopped
                    policy.flat.copy_(good_weights)
                    adam.restore(good_adam)
                    epoch, minibatch = divmod(len(learned) - 1, len(minibatches) // at_once)
                    raise Diverged(
                        f"{what} is not finite since update {updates + 1}, epoch {epochs + epoch + 1}, minibatch "
                        f"{minibatch + 1} (after {steps} steps); the last good state is kept. A lower learning_rate "
                        f"(now {learning_rate:g}), max_grad_norm or reward_scale may help.",
                        state(),
                    )
                parts += [step.means for step in learned]
                norms += [step.norm for step in learned]
                epochs += at_once
                if config.target_kl and np.mean([p.approx_kl for p in parts[began_at:]]) > config.target_kl:
                    break
            policy.observe(rollout)
            watch.mark("learn")

            steps += int(rollout.counted.sum())
            updates += 1
            losses = np.mean(np.array(parts), axis=0)
            metrics = {
                "time/fps": float(rollout.counted.sum() / (perf_counter() - update_began)),
                "train/learning_rate": learning_rate,
                "train/entropy_coef": terms.entropy_coef,
                "train/epochs": epochs,
                "rollout/episodes": len(returns),
                **{f"train/{name}": float(value) for name, value in zip(Means._fields, losses, strict=True)},
                "train/grad_norm": float(np.mean(norms)),
                "train/explained_variance": explained_variance(batch.returns, batch.values),
                **action_mix(count_actions(rollout.choices[rollout.counted], policy.actions.space), run.action_kinds),
                **stages.to_metrics(watch.lap()),
                **episodes.metrics(),
            }
            run.log(steps, metrics)
            if run.due_checkpoint(steps):
                run.checkpoint(state())
            watch.mark("log")
        final = state()
    except Diverged as diverged:
        run.checkpoint(diverged.state)
        raise
    finally:
        network.close()
        torch.set_num_threads(threads_before)
    run.checkpoint(final)
    return Result(
        policy=policy,
        state=final,
        steps=steps,
        updates=updates,
        seconds=perf_counter() - began,
        metrics=metrics,
        times=dict(watch.totals),
        threads=network.threads,
        compute=network.compute,
        exact_resume=exact_resume,
    )
