"""The score of any agent, from Python and from the command: CAGE-2's protocol, or whole episodes elsewhere."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from garrison.challenge import evaluation, leaderboard
from garrison.errors import UserError

if TYPE_CHECKING:
    from garrison.agents import Agent
    from garrison.agents.spaces import SpaceAgent
    from garrison.challenge.evaluation import OneRed
    from garrison.tasks.episode_score import EpisodeScore

EPISODES = 100
FILMED_EPISODES = 3


@overload
def evaluate(
    agent: "SpaceAgent",
    *,
    episodes: int | None = None,
    seed: int = 0,
    say: Callable[[str], None] = ...,
    video: str | Path | None = None,
) -> "EpisodeScore": ...


@overload
def evaluate(
    agent: "Agent",
    rules: str | None = None,
    episodes: int | None = None,
    seed: int = 0,
    reds: "Sequence[OneRed]" = ...,
    lengths: Sequence[int] = ...,
    say: Callable[[str], None] = ...,
    video: str | Path | None = None,
) -> evaluation.Evaluation: ...


def evaluate(
    agent: Any,
    rules: str | None = None,
    episodes: int | None = None,
    seed: int = 0,
    reds: "Sequence[OneRed]" = leaderboard.EVALUATED_REDS,
    lengths: Sequence[int] = leaderboard.LENGTHS,
    say: Callable[[str], None] = lambda text: None,
    video: str | Path | None = None,
) -> "evaluation.Evaluation | EpisodeScore":
    """Score an agent.

    An agent of CAGE-2 plays the challenge's protocol, see `garrison.challenge.evaluation`. That of a run on any other
    environment plays whole episodes there.

    Args:
        agent: what `garrison.load_agent` returns, or one of your own for CAGE-2.
        rules: CAGE-2: `head` or `leaderboard`; by default those that the agent was trained under.
        episodes: CAGE-2: in each cell, by default 1000; else in all, by default 100, or 3 with `video`.
        seed: decides every draw.
        reds: CAGE-2: names of attackers; one of your own is a `garrison.cage2.RedAgent` or `"module:Class"`.
        lengths: CAGE-2: steps per episode.
        say: is told what is being played.
        video: other environments: a folder for films of the episodes, by `gymnasium.wrappers.RecordVideo`.
    """
    if not hasattr(agent, "env_settings"):
        if video:
            raise UserError("video is for other environments than CAGE-2.")
        count = evaluation.CELL_EPISODES if episodes is None else episodes
        return evaluation.evaluate(agent, rules, count, seed, reds, lengths, say)
    given = {
        "rules": rules is not None,
        "red": tuple(reds) != leaderboard.EVALUATED_REDS,
        "length": tuple(lengths) != leaderboard.LENGTHS,
    }
    for name in filter(given.get, given):
        raise UserError(f"{name} is for CAGE-2; {agent.name} was trained on {agent.env_settings['env']}.")
    from garrison.runs import yaml_settings
    from garrison.tasks.episode_score import play_episodes
    from garrison.tasks.registry import EnvConfig, task_of

    task = task_of(yaml_settings.read(EnvConfig, agent.env_settings, EnvConfig(), "env"))
    if episodes is None:
        episodes = FILMED_EPISODES if video else EPISODES
    return play_episodes(agent, task, episodes, seed, say, Path(video) if video else None)
