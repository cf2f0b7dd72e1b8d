"""PPO with everything on the device: the story of `garrison.learn.ppo`, told in calls of several updates each.

Between two calls, about a second apart, are the clock, Ctrl-C, logs and checkpoints. How updates are divided into calls
changes no bit of the result.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from garrison.errors import UserError
from garrison.learn import stages
from garrison.learn.action_mix import action_mix
from garrison.learn.checks import STATE_FORMAT, check_resumable, check_shape
from garrison.learn.config import JaxPPOConfig
from garrison.learn.episodes import RecentEpisodes
from garrison.learn.jax_ppo.dense import DensePolicy
from garrison.learn.jax_ppo.device_envs import DeviceEnvs
from garrison.learn.jax_ppo.devices import MOST_UPDATES, Program
from garrison.learn.jax_ppo.optimiser import AdamState
from garrison.learn.jax_ppo.saved_scene import from_saved, to_saved
from garrison.learn.jax_ppo.update import Report, Trainer, TrainState, key_of
from garrison.learn.nn.loss import Means
from garrison.learn.nn.policy import Policy
from garrison.learn.result import Diverged, Result
from garrison.learn.run import RunLog, progress
from garrison.learn.stopwatch import Stopwatch
from garrison.storage.saved_run import agents_of
from garrison.system import cores

CALL_SECONDS = 1.0
"""How long a call should take: more would keep Ctrl-C and the view waiting, less would gain nothing."""


def train(
    config: JaxPPOConfig,
    envs: Any,
    num_envs: int | None = None,
    run: RunLog | None = None,
    resume: dict[str, Any] | None = None,
    weights: torch.Tensor | None = None,
) -> Result:
    """Train `config.seeds` policies until each has taken `config.steps` steps or `run` says stop.

    Args:
        config: what to do.
        envs: an environment written in JAX with Gymnax's methods, see `DeviceEnvs`.
        num_envs: how many of it each agent has.
        run: follows the run; it is told of every agent, and of the mean over them.
        resume: the state of an earlier part; with several seeds it has those of all agents, see `agents_of`.
        weights: where all agents start from without `resume`, instead of weights drawn with their seeds.

    The same configuration and seed on the same machine give the same result, also when stopped and resumed. An agent
    that is trained beside others differs from one that is trained alone by rounding.
    """
    began = perf_counter()
    if num_envs is None:
        raise UserError("say how many environments to make: num_envs is missing.")
    run = RunLog() if run is None else run
    device_envs = DeviceEnvs(envs, num_envs)
    batch = _check_batch(config, device_envs)
    policies = [
        Policy(device_envs.observation_space, device_envs.action_space, config.policy, seed) for seed in config.agents
    ]
    dense = DensePolicy(device_envs.size, policies[0].actions.outputs, config.policy)
    program = Program(Trainer(config, device_envs, dense), config.seeds, config.device)
    episodes = [RecentEpisodes() for _ in config.agents]
    steps, updates, exact_resume = 0, 0, True
    if resume is None:
        if weights is not None:
            check_shape(weights, policies[0], "start")
        state = _begin(program, config, [policy.flat if weights is None else weights for policy in policies], 0)
    else:
        agents = _check_agents(resume, config, policies[0])
        steps, updates = resume["steps"], resume["updates"]
        for recent, agent in zip(episodes, agents, strict=True):
            recent.restore(agent)
        state, exact_resume = _restored(program, config, agents, updates)

    def saved() -> dict[str, Any]:
        return _to_state(state, steps, updates, episodes)

    watch = Stopwatch(stages.ON_DEVICE)
    metrics: dict[str, float] = {}
    program.compile(state)
    run.started()
    watch.credit({})  # what it took to start belongs to no update
    count = 1
    try:
        while steps < config.steps and not run.stop:
            call_began = perf_counter()
            count = min(count, -(-(config.steps - steps) // batch))
            done = progress(steps, config.steps, run)
            shares = [min(1.0, max(done, (steps + k * batch) / config.steps)) for k in range(count)]
            rates = np.array([[config.learning_rate_at(x), config.entropy_coef_at(x)] for x in shares]).T
            before = state
            state, reports = program.run(before, rates, count)
            reports = jax.device_get(reports)
            watch.mark("device")

            sound, what = _find_not_finite(reports, count)
            seconds = perf_counter() - call_began
            split = stages.to_metrics({stage: spent / count for stage, spent in watch.lap().items()})
            for k in range(sound):
                steps += batch
                updates += 1
                common = {
                    "time/fps": count * batch * config.seeds / seconds,
                    "train/learning_rate": float(rates[0, k]),
                    "train/entropy_coef": float(rates[1, k]),
                }
                rows = [_metrics(reports, i, k, episodes[i], run.action_kinds) for i in range(config.seeds)]
                if config.seeds > 1:
                    for i, row in enumerate(rows):
                        run.log_agent(i, steps, common | row | split)
                metrics = common | _mean(rows) | split
                run.log(steps, metrics)
            if sound < count:
                # What came before is made once more: states within a call are not kept.
                state = program.run(before, rates, sound)[0] if sound else before
                raise Diverged(
                    f"{what} is not finite since update {updates + 1} (after {steps} steps); the last good state is "
                    f"kept. A lower learning_rate (now {rates[0, sound]:g}), max_grad_norm or reward_scale may help.",
                    saved(),
                )
            if run.due_checkpoint(steps):
                run.checkpoint(saved())
            watch.mark("log")
            count = int(np.clip(count * CALL_SECONDS / seconds, 1, min(2 * count, MOST_UPDATES)))
        final = saved()
    except Diverged as diverged:
        run.checkpoint(diverged.state)
        raise
    run.checkpoint(final)
    policies[0].flat.copy_(final["weights"])
    return Result(
        policy=policies[0],
        state=final,
        steps=steps,
        updates=updates,
        seconds=perf_counter() - began,
        metrics=metrics,
        times=dict(watch.totals),
        threads=cores(),
        compute="jax",
        exact_resume=exact_resume,
    )


def _check_batch(config: JaxPPOConfig, envs: DeviceEnvs) -> int:
    """Return the steps of an update; refuse what cannot be learned from."""
    if config.action_masks and not envs.has_masks:
        raise UserError("action_masks is set, but the environment has no get_avail_actions(state).")
    batch = config.rollout * envs.num_envs
    if batch % config.minibatches:
        raise UserError(
            f"ppo-jax needs minibatches of one size: {envs.num_envs} environments x {config.rollout} steps cannot be "
            f"divided into {config.minibatches}."
        )
    return batch


def _check_agents(resume: dict[str, Any], config: JaxPPOConfig, policy: Policy) -> list[dict[str, Any]]:
    """Return the states of the agents that a run continues with."""
    agents = agents_of(resume)
    if len(agents) != config.seeds:
        raise UserError(f"cannot resume with {config.seeds} seeds: the run has {len(agents)}.")
    for agent in agents:
        check_resumable(agent, "ppo-jax", policy)
    return agents


def _begin(program: Program, config: JaxPPOConfig, weights: list[torch.Tensor], updates: int) -> TrainState:
    keys = np.stack([key_of(seed) for seed in config.agents])
    return program.begin(keys, np.stack([each.numpy() for each in weights]), updates)


def _restored(
    program: Program, config: JaxPPOConfig, agents: list[dict[str, Any]], updates: int
) -> tuple[TrainState, bool]:
    """Return the state that agents were saved in, and whether exactly so; else new episodes begin."""
    state = jax.device_get(_begin(program, config, [agent["weights"] for agent in agents], updates))
    adam = AdamState(
        np.stack([agent["adam"]["first"].numpy() for agent in agents]),
        np.stack([agent["adam"]["second"].numpy() for agent in agents]),
        np.array([agent["adam"]["steps"] for agent in agents], np.int32),
    )
    scenes = [agent["collector"]["envs"] for agent in agents]
    is_exact = all(scene is not None for scene in scenes)
    scene = state.scene
    if is_exact:
        examples = [_of_agent(scene, i) for i in range(len(agents))]
        found = [from_saved(saved, example) for saved, example in zip(scenes, examples, strict=True)]
        scene = jax.tree.map(lambda *leaves: jnp.stack(leaves), *found)
    return program.place(state._replace(adam=adam, scene=scene)), is_exact


def _to_state(state: TrainState, steps: int, updates: int, episodes: list[RecentEpisodes]) -> dict[str, Any]:
    """Return what a checkpoint keeps: the first agent as if there was no other, and then the others."""
    host = jax.device_get(state)
    agents = [
        {
            "weights": torch.from_numpy(np.array(host.weights[i])),
            "adam": {
                "first": torch.from_numpy(np.array(host.adam.first[i])),
                "second": torch.from_numpy(np.array(host.adam.second[i])),
                "steps": int(host.adam.steps[i]),
            },
            "collector": {"envs": to_saved(_of_agent(host.scene, i))},
            **recent.state(),
        }
        for i, recent in enumerate(episodes)
    ]
    common = {"format": STATE_FORMAT, "algorithm": "ppo-jax", "steps": steps, "updates": updates}
    return {**common, **agents[0], **({"others": agents[1:]} if len(agents) > 1 else {})}


def _of_agent(tree: Any, i: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[i], tree)


def _find_not_finite(reports: Report, count: int) -> tuple[int, str]:
    """Return how many updates came before the first with a number that is not finite, and which number that is."""
    parts: dict[str, Any] = {"the sum of the rewards": reports.rewards}
    parts |= {f"the loss's part {name!r}": getattr(reports.means, name) for name in Means._fields}
    parts["the gradient"] = reports.grad_norm
    firsts = {what: int(np.argmin(good)) for what, rows in parts.items() if not (good := _finite(rows, count)).all()}
    what = min(firsts, key=lambda what: firsts[what], default="")
    return firsts.get(what, count), what


def _finite(rows: Any, count: int) -> Any:
    return np.isfinite(rows[:, :count]).all(axis=0)


def _metrics(reports: Report, i: int, k: int, recent: RecentEpisodes, kinds: Sequence[str] | None) -> dict[str, float]:
    """Return what update `k` of a call says of agent `i`; `kinds` are the names of its actions."""
    ended = int(reports.ended.count[i, k])
    returns, lengths = (rows[i, k][:ended][::-1].tolist() for rows in (reports.ended.returns, reports.ended.lengths))
    recent.add(returns, lengths)
    return {
        "train/epochs": int(reports.epochs[i, k]),
        "rollout/episodes": ended,
        **{f"train/{name}": float(getattr(reports.means, name)[i, k]) for name in Means._fields},
        "train/grad_norm": float(reports.grad_norm[i, k]),
        "train/explained_variance": float(reports.explained_variance[i, k]),
        **action_mix(np.asarray(reports.actions[i, k]), kinds),
        **recent.metrics(),
    }


def _mean(rows: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean over agents of what all of them report."""
    if len(rows) == 1:
        return rows[0]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0] if all(name in row for row in rows)}
