"""Atari games by their usual ids, with the preprocessing of the literature (`garrison.games.atari`)."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import gymnasium

from garrison.tasks.gymnasium_envs import GymnasiumTask
from garrison.tasks.task import Task
from garrison.vector.naming import resolve_env

FROM_THE_ID = ("game", "repeat_action_probability", "full_action_space")
"""What an id says; how many frames are skipped is part of the preprocessing."""

FOR_TRAINING = {"episodic_life": True, "reward_clipping": True}
"""What the literature changes about the games while it trains; scores are those of the games themselves."""


@dataclass(frozen=True)
class AtariTask(GymnasiumTask):
    """One game; `env_args` change its preprocessing."""

    def as_scored(self) -> Task:
        """Return the whole game with its own points."""
        kept = {name: value for name, value in self.config.env_args.items() if name not in FOR_TRAINING}
        return replace(self, config=replace(self.config, env_args=kept))

    def _make_one(self, **more: Any) -> Any:
        from garrison.games.atari import AtariGame

        return AtariGame(**self._settings(), **more)

    def _settings(self) -> dict[str, Any]:
        told = gymnasium.spec(str(resolve_env(self.config.env))).kwargs
        return {name: told[name] for name in FROM_THE_ID if name in told} | self.config.env_args

    def _make(self, num_envs: int) -> Any:
        from garrison.games.atari import AtariBatch, AtariGame

        config, settings = self.config, self._settings()
        if config.backend in ("auto", "native"):
            return AtariBatch(num_envs=num_envs, threads=config.workers, **settings)
        return self._make_on(config.backend, [partial(AtariGame, **settings)] * num_envs, num_envs)
