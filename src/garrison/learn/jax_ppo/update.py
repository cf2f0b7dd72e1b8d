"""One update of PPO, and several in one call: pure functions of what training depends on."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from garrison.learn.config import JaxPPOConfig
from garrison.learn.jax_ppo.acting import Ended, Scene, Steps, begin, collect, last_episodes
from garrison.learn.jax_ppo.advantages import estimate_advantages, explained_share
from garrison.learn.jax_ppo.clipped_loss import Minibatch, gradient, scale_of
from garrison.learn.jax_ppo.dense import DensePolicy
from garrison.learn.jax_ppo.device_envs import DeviceEnvs
from garrison.learn.jax_ppo.optimiser import AdamState, adam_step
from garrison.learn.nn.loss import Means, Terms

Array = Any

NO_UPDATE = 2**32 - 1
"""A number that no update has: updates draw from keys made of theirs."""


class TrainState(NamedTuple):
    """Everything that the next update of one agent depends on, but for the settings."""

    key: Array
    """(2,) uint32: the agent's seed. Every update draws from a key of its own, made of this and its number."""
    updates: Array
    weights: Array
    adam: AdamState
    scene: Scene


class Pace(NamedTuple):
    """What changes from update to update, as the schedules say."""

    learning_rate: Array
    entropy_coef: Array


class Report(NamedTuple):
    """What an update tells."""

    means: Means
    """Of the loss's parts, over all minibatches."""
    grad_norm: Array
    explained_variance: Array
    epochs: Array
    rewards: Array
    """The sum of all rewards, to see whether they are finite."""
    ended: Ended
    actions: Array
    """(actions,): how often each was chosen."""


class Trainer:
    """The functions for one configuration; what they are given and return are pytrees of arrays."""

    def __init__(self, config: JaxPPOConfig, envs: DeviceEnvs, policy: DensePolicy) -> None:
        self.config, self.envs, self.policy = config, envs, policy
        self.batch = config.rollout * envs.num_envs

    def begin(self, key: Array, weights: Array, updates: Array, params: Any) -> TrainState:
        """Return the state before an update, with new episodes and a fresh Adam."""
        beginning = jax.random.fold_in(_drawing_from(key), NO_UPDATE)
        scene = begin(self.envs, jax.random.fold_in(beginning, updates), params)
        return TrainState(key, updates, weights, AdamState.fresh(len(weights)), scene)

    def run(self, state: TrainState, params: Any, pace: Pace, count: Array) -> tuple[TrainState, Report]:
        """Make `count` updates, at most as many as `pace` has; what reports hold beyond `count` is not meant."""

        def body(k: Array, carried: tuple[TrainState, Report]) -> tuple[TrainState, Report]:
            state, reports = carried
            state, report = self.update(state, params, Pace(pace.learning_rate[k], pace.entropy_coef[k]))
            return state, jax.tree.map(lambda rows, row: rows.at[k].set(row), reports, report)

        now = Pace(pace.learning_rate[0], pace.entropy_coef[0])
        _, form = jax.eval_shape(lambda state: self.update(state, params, now), state)
        most = len(pace.learning_rate)
        reports = jax.tree.map(lambda leaf: jnp.zeros((most, *leaf.shape), leaf.dtype), form)
        return lax.fori_loop(0, count, body, (state, reports))  # type: ignore[no-any-return]

    def update(self, state: TrainState, params: Any, pace: Pace) -> tuple[TrainState, Report]:
        """Collect, estimate advantages, learn."""
        config = self.config
        acting, shuffling = jax.random.split(jax.random.fold_in(_drawing_from(state.key), state.updates))
        parameters = self.policy.split(state.weights)
        scene, steps = collect(
            self.envs, self.policy, parameters, state.scene, acting, params, config.rollout, config.action_masks
        )
        last_values = self.policy.values(parameters, scene.observations.astype(jnp.float32))
        scaled = steps.outcomes._replace(rewards=steps.outcomes.rewards * jnp.float32(config.reward_scale))
        advantages = estimate_advantages(scaled, last_values, config.gamma, config.gae_lambda)
        samples = self._samples(steps, advantages)
        weights, adam, (means, norms), epochs = self._learn(state.weights, state.adam, samples, pace, shuffling)
        report = Report(
            means,
            norms,
            explained_share(samples.returns, samples.values),
            epochs,
            steps.outcomes.rewards.sum(),
            last_episodes(steps),
            jnp.bincount(steps.choices.reshape(-1), length=self.policy.outputs),
        )
        return TrainState(state.key, state.updates + 1, weights, adam, scene), report

    def _samples(self, steps: Steps, advantages: Array) -> Minibatch:
        """Return all samples of a rollout in one row."""
        values = steps.outcomes.values
        parts = Minibatch(
            steps.observations, steps.masks, steps.choices, steps.log_probs, values, advantages, advantages + values
        )
        return jax.tree.map(lambda part: part.reshape(self.batch, *part.shape[2:]), parts)  # type: ignore[no-any-return]

    def _learn(
        self, weights: Array, adam: AdamState, samples: Minibatch, pace: Pace, key: Array
    ) -> tuple[Array, AdamState, tuple[Means, Array], Array]:
        """Pass over the samples; return the weights, Adam's state, means of what was seen, and the passes made."""
        config = self.config
        terms = Terms(config.clip, config.value_clip, config.value_coef, pace.entropy_coef)
        if config.normalise_advantages == "batch":
            terms = _scaled(terms, samples.advantages)

        def learn(carried: tuple[Array, AdamState], rows: Array) -> tuple[tuple[Array, AdamState], Any]:
            weights, adam = carried
            part = jax.tree.map(lambda values: values[rows], samples)
            here = _scaled(terms, part.advantages) if config.normalise_advantages == "minibatch" else terms
            slopes, means = gradient(self.policy, self.policy.split(weights), part, here)
            weights, adam, norm = adam_step(weights, slopes, adam, pace.learning_rate, config)
            return (weights, adam), (means, norm)

        def one_pass(carried: tuple[Array, AdamState, Array], key: Array) -> tuple[Any, Any]:
            weights, adam, goes_on = carried
            rows = shuffled(key, self.batch).reshape(config.minibatches, -1)
            (next_weights, next_adam), seen = lax.scan(learn, (weights, adam), rows)
            if config.target_kl:
                learned = jax.tree.map(
                    lambda new, old: jnp.where(goes_on, new, old), (next_weights, next_adam), (weights, adam)
                )
                within = seen[0].approx_kl.mean() <= config.target_kl
                return (*learned, goes_on & within), (seen, goes_on)
            return (next_weights, next_adam, goes_on), (seen, goes_on)

        keys = jax.random.split(key, config.epochs)
        (weights, adam, _), (seen, made) = lax.scan(one_pass, (weights, adam, jnp.bool_(True)), keys)
        epochs = made.sum()
        share = made[:, None] / (epochs * config.minibatches)
        means = jax.tree.map(lambda values: jnp.where(made[:, None], values * share, 0.0).sum(), seen)
        return weights, adam, means, epochs


def key_of(seed: int) -> Any:
    """Return an agent's key: its seed as two words."""
    return np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32)


def _drawing_from(key: Array) -> Array:
    return jax.random.wrap_key_data(key, impl="threefry2x32")


def _scaled(terms: Terms, advantages: Array) -> Terms:
    mean, scale = scale_of(advantages)
    return terms._replace(advantage_mean=mean, advantage_scale=scale)


def shuffled(key: Array, size: int) -> Array:
    """Return the numbers below `size` at random.

    Random numbers whose low bits are a row's number are sorted, which takes a quarter of the time of sorting pairs. Two
    rows whose upper bits are equal stay in order; that shows only where they lie on both sides of a minibatch's border.
    """
    bits = max(1, (size - 1).bit_length())
    upper = jax.random.bits(key, (size,), jnp.uint32) << bits
    low = jnp.sort(upper | jnp.arange(size, dtype=jnp.uint32), stable=False) & jnp.uint32(2**bits - 1)
    return low.astype(jnp.int32)
