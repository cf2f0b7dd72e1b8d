"""Whether an exported file acts as the agent that it was made of: both are shown the same observations."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from garrison.agents.network_agent import NetworkAgent
from garrison.agents.spaces import SpaceAgent
from garrison.cage2 import VectorEnv
from garrison.cage2.names import DEFAULT_RULES
from garrison.errors import GarrisonError
from garrison.export.player import Player
from garrison.learn.nn.description import build_space
from garrison.learn.spaces.registry import action_distribution, observation_form

ENVS, STEPS = 20, 50
OBSERVATIONS = ENVS * STEPS
LENGTH = 30  # of CAGE-2 episodes: they begin anew in between
TOLERANCE = 1e-4  # of continuous actions: formats round in another order


@dataclass(frozen=True)
class Shown:
    """What both were shown, and what the agent did."""

    observations: Any
    starts: Any
    masks: Any
    actions: Any


def check_same_actions(agent: NetworkAgent | SpaceAgent, values: dict[str, Any], player: Player) -> None:
    """Raise if the player takes another action than the agent in one of a thousand observations."""
    shown = _cage2(agent) if isinstance(agent, NetworkAgent) else _sampled(agent, values)
    player.begin(ENVS)
    for number, step in enumerate(shown):
        player.reset(step.starts)
        found = player.act(step.observations, step.masks)
        if not _are_same(step.actions, found):
            raise GarrisonError(
                f"the exported file does not act as {agent.name}: step {number + 1} differs, so it was not kept.",
                hint="Please report this with the agent.",
            )


def _are_same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, dict):
        return all(_are_same(wanted[key], found[key]) for key in wanted)
    if isinstance(wanted, tuple):
        return all(_are_same(*pair) for pair in zip(wanted, found, strict=True))
    wanted, found = np.asarray(wanted), np.asarray(found)
    if wanted.dtype.kind in "iub":
        return bool(np.array_equal(wanted, found))
    return wanted.shape == found.shape and bool(np.allclose(wanted, found, rtol=TOLERANCE, atol=TOLERANCE))


def _cage2(agent: NetworkAgent) -> Iterator[Shown]:
    """Yield episodes of the challenge as the agent plays them."""
    envs = VectorEnv(
        ENVS,
        red={"bline": 0.5, "meander": 0.5},
        rules=agent.rules or DEFAULT_RULES,
        length=LENGTH,
        encoder=agent.encoder,
        autoreset_mode="SameStep",
    )
    observations, _ = envs.reset(seed=0)
    agent.begin(ENVS)
    starts = np.ones(ENVS, np.bool_)
    for _ in range(STEPS):
        agent.reset(starts)
        actions = agent.act(observations).copy()
        yield Shown(observations, starts, None, actions)
        observations, _, _, starts, _ = envs.step(actions)
    envs.close()


def _sampled(agent: SpaceAgent, values: dict[str, Any]) -> Iterator[Shown]:
    """Yield random observations: the environment itself may not be installed here."""
    policy = values["policy"]
    space = build_space(policy["observation_space"])
    space.seed(0)
    form, random = observation_form(space), np.random.default_rng(0)
    actions = action_distribution(build_space(policy["action_space"]), agent._config)
    agent.begin(ENVS)
    for step in range(STEPS):
        starts = random.random(ENVS) < (1.0 if step == 0 else 0.05)
        masks = None
        if agent.masked:
            masks = random.random((ENVS, actions.mask_size)) < 0.7
            masks[:, _first_choices(actions.space)] = True
        observations = form.batch([space.sample() for _ in range(ENVS)])
        agent.reset(starts)
        yield Shown(observations, starts, masks, agent.act(observations, masks))


def _first_choices(space: spaces.Space[Any]) -> slice:
    """Return flags that leave something allowed whatever the others are; where there are several heads, all of them."""
    return slice(0, 1) if isinstance(space, spaces.Discrete) else slice(None)
