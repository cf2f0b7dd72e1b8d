"""CAGE-2 for two players, as PettingZoo names such modules: `parallel_env` for both at once, `env` in turns.

from garrison.cage2 import parallel_env

env = parallel_env(max_cycles=100)
observations, infos = env.reset(seed=0)
while env.agents:
    actions = {agent: env.action_space(agent).sample(infos[agent]["action_mask"]) for agent in env.agents}
    observations, rewards, terminations, truncations, infos = env.step(actions)
"""

from typing import TYPE_CHECKING, Any

from garrison.system import require

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from garrison.cage2.pettingzoo_env import Cage2ParallelEnv, Observation


def parallel_env(**settings: Any) -> "Cage2ParallelEnv":
    """Make the environment in which `blue` and `red` act at once.

    The settings are those of `garrison.cage2.pettingzoo_env.Cage2ParallelEnv`: `max_cycles`, `rules`, `encoder`,
    `observation`, `actions`, `scenario`, `render_mode`.
    """
    require("pettingzoo")
    from garrison.cage2.pettingzoo_env import Cage2ParallelEnv

    return Cage2ParallelEnv(**settings)


def env(**settings: Any) -> "AECEnv[str, Observation, int]":
    """Make the same for PettingZoo's agent-by-agent interface: Blue chooses first, and Red does not see it."""
    made = parallel_env(**settings)
    from pettingzoo.utils import OrderEnforcingWrapper, parallel_to_aec

    return OrderEnforcingWrapper(parallel_to_aec(made))
