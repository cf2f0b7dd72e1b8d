"""CAGE-2 in JAX as workloads: the simulator inside a scan, our PPO on the device, and PPO in PureJaxRL's manner.

Compiling belongs to no rate: it is over before the clock starts. Its seconds, and programs that were compiled while the
clock ran, which there should be none of, are facts of the row.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from garrison.bench.method.fresh import Work
from garrison.bench.suites.simulators import LENGTH, RED_MIX
from garrison.bench.suites.training_envs import CAGE2_OPTIONS, Job

_SCANNED = 2**17  # steps of all environments in a call, about
_COMPILING = "/jax/core/compile/backend_compile_duration"


class _Compilations:
    """Counts the programs that JAX compiles in this process, and the seconds that it takes."""

    def __init__(self) -> None:
        import jax

        self._seconds: list[float] = []
        self._before = 0
        jax.monitoring.register_event_duration_secs_listener(self._note)

    def _note(self, event: str, seconds: float, **_: Any) -> None:
        if event == _COMPILING:
            self._seconds.append(seconds)

    def expected_until_now(self) -> None:
        """From now on nothing should be compiled."""
        self._before = len(self._seconds)

    def facts(self) -> dict[str, float]:
        """Return the seconds of compiling before that, and how many programs were compiled after it."""
        return {
            "compile_seconds": sum(self._seconds[: self._before]),
            "recompiled": float(len(self._seconds) - self._before),
        }


@contextmanager
def simulator(num_envs: int) -> Iterator[Work]:
    """Step CAGE-2 with random actions inside a scan, which adds up what it is shown: else nobody would compute it."""
    import jax
    from jax import lax

    from garrison.jaxsim import Cage2

    compilations = _Compilations()
    env = Cage2(red=RED_MIX, length=LENGTH)
    params, rounds = env.default_params, int(np.clip(_SCANNED // num_envs, 4, 2048))
    drawn = np.random.default_rng(0).integers(0, env.num_actions, (rounds, num_envs), np.int32)
    actions = jax.device_put(drawn)
    step = jax.vmap(lambda state, action: env.step(None, state, action, params))

    def one(carried: Any, actions: Any) -> Any:
        state, seen = carried
        observations, state, rewards, done, _ = step(state, actions)
        return (state, seen + observations.sum(axis=1) + rewards + done), None

    seen = np.zeros(num_envs, np.float32)
    several = jax.jit(lambda state, actions: lax.scan(one, (state, seen), actions)[0])
    streams = env.streams(range(num_envs))
    _, state = jax.jit(jax.vmap(lambda stream: env.reset_seeded(stream, params)))(streams)
    jax.block_until_ready(several(state, actions))
    compilations.expected_until_now()

    def advance() -> int:
        nonlocal state
        state, seen = several(state, actions)
        seen.block_until_ready()
        return rounds * num_envs

    state_mb = sum(leaf.nbytes for leaf in jax.tree.leaves(state)) / 1e6
    yield Work(advance, lambda: compilations.facts() | {"batch_mb": state_mb})


@contextmanager
def ppo_on_device(job: Job, hidden: int, seeds: int = 1) -> Iterator[Work]:
    """Our PPO on the device, call by call; with several seeds, the steps of all of them."""
    from garrison.bench.suites.our_trainers import ENDLESS
    from garrison.bench.suites.stepwise import stepwise
    from garrison.jaxsim import Cage2
    from garrison.learn import PolicyConfig
    from garrison.learn.config import JaxPPOConfig
    from garrison.learn.jax_ppo.learner import train

    compilations = _Compilations()
    config = JaxPPOConfig(
        steps=ENDLESS,
        rollout=job["rollout"],
        minibatches=job["minibatches"],
        epochs=job["epochs"],
        seeds=seeds,
        policy=PolicyConfig(hidden=(hidden, hidden)),
    )
    env = Cage2(**CAGE2_OPTIONS)

    def work(run: Any) -> object:
        return train(config, env, job["num_envs"], run=run)

    with stepwise(work, lambda metrics: None, compilations.facts) as found:
        found.advance()
        compilations.expected_until_now()
        yield Work(lambda: seeds * found.advance(), found.facts)


@contextmanager
def purejaxrl_style(job: Job, hidden: int) -> Iterator[Work]:
    """PPO in PureJaxRL's manner: one update after the other in a scan, Optax, Gumbel draws, permuted minibatches."""
    import jax
    import jax.numpy as jnp
    import optax
    from jax import lax

    from garrison.jaxsim import Cage2

    compilations = _Compilations()
    env = Cage2(**CAGE2_OPTIONS)
    params = env.default_params
    num_envs, length, minibatches = job["num_envs"], job["rollout"], job["minibatches"]
    batch = num_envs * length
    updates = max(1, _SCANNED // batch)
    optimiser = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3, eps=1e-5))
    orthogonal = jax.nn.initializers.orthogonal

    def tower(key: Any, outputs: int, gain: float) -> Any:
        widths = (52, hidden, hidden, outputs)
        gains = (2**0.5, 2**0.5, gain)
        keys = jax.random.split(key, 3)
        return [
            (orthogonal(gain)(key, shape), jnp.zeros(shape[1]))
            for key, gain, shape in zip(keys, gains, pairwise(widths), strict=True)
        ]

    def forward(layers: Any, x: Any) -> Any:
        for weights, bias in layers[:-1]:
            x = jnp.tanh(x @ weights + bias)
        return x @ layers[-1][0] + layers[-1][1]

    def act(carried: Any, _: Any) -> Any:
        networks, state, shown, key = carried
        key, drawing, stepping = jax.random.split(key, 3)
        logits, values = forward(networks[0], shown), forward(networks[1], shown)[:, 0]
        actions = jax.random.categorical(drawing, logits)
        log_probs = jnp.take_along_axis(jax.nn.log_softmax(logits), actions[:, None], axis=1)[:, 0]
        keys = jax.random.split(stepping, num_envs)
        following, state, rewards, done, _ = jax.vmap(env.step, (0, 0, 0, None))(keys, state, actions, params)
        return (networks, state, following, key), (shown, actions, log_probs, values, rewards, done)

    def backwards(carried: Any, step: Any) -> Any:
        advantage, following = carried
        value, reward, done = step
        delta = reward + 0.99 * following * (1 - done) - value
        advantage = delta + 0.99 * 0.95 * (1 - done) * advantage
        return (advantage, value), advantage

    def loss(networks: Any, part: Any) -> Any:
        shown, actions, log_probs, advantages, returns = part
        every = jax.nn.log_softmax(forward(networks[0], shown))
        ratio = jnp.exp(jnp.take_along_axis(every, actions[:, None], axis=1)[:, 0] - log_probs)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        gain = jnp.minimum(ratio * advantages, jnp.clip(ratio, 0.8, 1.2) * advantages).mean()
        errors = jnp.square(forward(networks[1], shown)[:, 0] - returns).mean()
        return -gain + 0.25 * errors + 0.01 * (jnp.exp(every) * every).sum(-1).mean()

    def learn(carried: Any, part: Any) -> Any:
        networks, moments = carried
        slopes = jax.grad(loss)(networks, part)
        changes, moments = optimiser.update(slopes, moments)
        return (optax.apply_updates(networks, changes), moments), None

    def update(carried: Any, _: Any) -> Any:
        networks, moments, state, shown, key = carried
        (_, state, shown, key), steps = lax.scan(act, (networks, state, shown, key), None, length)
        seen, actions, log_probs, values, rewards, done = steps
        start = (jnp.zeros(num_envs), forward(networks[1], shown)[:, 0])
        _, advantages = lax.scan(backwards, start, (values, rewards, done.astype(jnp.float32)), reverse=True)
        samples = (seen, actions, log_probs, advantages, advantages + values)
        samples = jax.tree.map(lambda x: x.reshape(batch, *x.shape[2:]), samples)

        def epoch(carried: Any, key: Any) -> Any:
            order = jax.random.permutation(key, batch)
            parts = jax.tree.map(lambda x: x[order].reshape(minibatches, -1, *x.shape[1:]), samples)
            return lax.scan(learn, carried, parts)

        key, shuffling = jax.random.split(key)
        keys = jax.random.split(shuffling, job["epochs"])
        (networks, moments), _ = lax.scan(epoch, (networks, moments), keys)
        return (networks, moments, state, shown, key), None

    several = jax.jit(lambda carried: lax.scan(update, carried, None, updates)[0])
    key, *keys = jax.random.split(jax.random.key(0), 4)
    networks = (tower(keys[0], env.num_actions, 0.01), tower(keys[1], 1, 1.0))
    shown, state = jax.vmap(env.reset, (0, None))(jax.random.split(keys[2], num_envs), params)
    carried = jax.block_until_ready(several((networks, optimiser.init(networks), state, shown, key)))
    compilations.expected_until_now()

    def advance() -> int:
        nonlocal carried
        carried = jax.block_until_ready(several(carried))
        return updates * batch

    yield Work(advance, compilations.facts)
