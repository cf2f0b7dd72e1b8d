"""What a model plays: against whom, how long, how often, how it is asked, and who plays the same beside it.

The episodes of a cell are those of `garrison evaluate` with the same seed: the first few of its thousand. Baselines
play the same ones, so differences are taken episode by episode.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from garrison.agents.learned_red import check_red
from garrison.cage2.layout import MAX_LENGTH
from garrison.cage2.names import DEFAULT_RULES, RULES
from garrison.challenge.evaluation import name_of
from garrison.contract import resets
from garrison.episodes.game import DEFAULT_WATCHED_RED
from garrison.errors import UserError, choose
from garrison.text.dialogue import DEFAULT_CHANCES, DEFAULT_FALLBACK, Dialogue
from garrison.text.endpoint import Endpoint
from garrison.text.llm_agent import DEFAULT_PARALLEL
from garrison.text.notebook import Telling
from garrison.text.prompts import DEFAULT_ANSWER

if TYPE_CHECKING:
    from garrison.challenge.evaluation import OneRed

DEFAULT_EPISODES = 10
DEFAULT_CONTEST_LENGTH = 30
RECORDS = {"head": "record-head", "leaderboard": "record"}
"""The shipped agent that was trained under each rules"""


def default_baselines(rules: str) -> tuple[str, ...]:
    """Return the agents that are played beside a model: nothing, chance, a script, and the best that is shipped."""
    return ("sleep", "random", "react-restore", RECORDS[rules])


@dataclass(frozen=True)
class Contest:
    """What is played."""

    endpoint: Endpoint
    telling: Telling = field(default_factory=Telling)
    reds: "Sequence[OneRed]" = (DEFAULT_WATCHED_RED,)
    lengths: Sequence[int] = (DEFAULT_CONTEST_LENGTH,)
    episodes: int = DEFAULT_EPISODES
    """In each cell of an attacker and a length"""
    rules: str = DEFAULT_RULES
    seed: int = 0
    answer: str = DEFAULT_ANSWER
    chances: int = DEFAULT_CHANCES
    fallback: str = DEFAULT_FALLBACK
    template: str = ""
    parallel: int = DEFAULT_PARALLEL
    """Episodes that are under way at once"""
    baselines: Sequence[str] | None = None
    """Agents beside it, by name or path; None for the usual ones"""

    def __post_init__(self) -> None:
        choose("rules", self.rules, RULES)
        resets.whole("episodes", self.episodes, 1, 10**6)
        resets.whole("parallel", self.parallel, 1, 1024)
        resets.whole("seed", self.seed, 0, 2**64 - 1)
        for red in self.reds:
            if isinstance(red, str):
                check_red(red)
        names = [name_of(red) for red in self.reds]
        for what, values in (("red", names), ("length", self.lengths)):
            if not values or len(set(values)) != len(values):
                raise UserError(f"name each {what} once, and at least one; got {' '.join(map(str, values)) or 'none'}.")
        for length in self.lengths:
            resets.whole("length", length, 1, MAX_LENGTH)
        _ = self.dialogue  # which checks its settings

    @property
    def dialogue(self) -> Dialogue:
        """How the model is asked."""
        names = self.telling.names
        return Dialogue(self.endpoint, names, self.rules, self.answer, self.chances, self.fallback, self.template)

    def settings(self) -> dict[str, Any]:
        """Return what decides the games, as JSON: two folders with equal settings hold parts of one contest."""
        return {
            "model": self.endpoint.model,
            "endpoint": self.endpoint.url,
            "body": self.endpoint.body,
            "rules": self.rules,
            "seed": self.seed,
            "view": self.telling.view,
            "history": self.telling.history,
            "legal": self.telling.legal,
            "hosts": list(self.telling.names.hosts),
            "subnets": list(self.telling.names.subnets),
            "answer": self.answer,
            "chances": self.chances,
            "fallback": self.fallback,
            "instructions": self.dialogue.system,
        }
