"""A model as an agent of the challenge: what `garrison.evaluate` and `garrison.watch` take."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from garrison.agents.border import observed_bits
from garrison.agents.protocol import Bits, Choices, Flags
from garrison.cage2.names import DEFAULT_ENCODER, DEFAULT_RULES
from garrison.contract import resets
from garrison.text.dialogue import DEFAULT_CHANCES, DEFAULT_FALLBACK, Dialogue, ModelChoice, note
from garrison.text.endpoint import Endpoint, Tokens
from garrison.text.notebook import Notebook, Telling
from garrison.text.prompts import DEFAULT_ANSWER

DEFAULT_PARALLEL = 4


class LLMAgent:
    """Asks a model for every action. It sees what every entry to the challenge sees.

    Args:
        endpoint: where the model answers.
        telling: how a turn is told.
        rules: `head` or `leaderboard`; it is evaluated under these.
        answer: how it is to answer, see `garrison.text.Dialogue`.
        chances: how often it is asked in a turn before the fallback is played.
        fallback: the action that is played then.
        template: instructions of your own.
        parallel: how many requests are under way at once.
    """

    encoder = DEFAULT_ENCODER

    def __init__(
        self,
        endpoint: Endpoint,
        telling: Telling | None = None,
        rules: str = DEFAULT_RULES,
        answer: str = DEFAULT_ANSWER,
        chances: int = DEFAULT_CHANCES,
        fallback: str = DEFAULT_FALLBACK,
        template: str = "",
        parallel: int = DEFAULT_PARALLEL,
    ) -> None:
        self.telling = telling or Telling()
        self.name, self.rules = endpoint.model, rules
        self.parallel = resets.whole("parallel", parallel, 1, 1024)
        self._dialogue = Dialogue(endpoint, self.telling.names, rules, answer, chances, fallback, template)

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Open a notebook for each environment; a model's draws are its server's."""
        self._notebooks = [Notebook(self.telling, self.rules) for _ in range(num_envs)]
        self._starts = np.ones(num_envs, np.bool_)
        self._last = np.zeros(num_envs, np.int64)
        self.decisions: list[list[ModelChoice]] = [[] for _ in range(num_envs)]
        """What was chosen in each environment's episode so far, with the model's words"""

    def reset(self, mask: Flags) -> None:
        """Turn to a new page where episodes begin."""
        self._starts |= mask

    def act(self, observations: Bits) -> Choices:
        """Ask the model once for each environment, or more often where it is refused."""
        bits = observed_bits(observations, len(self._notebooks))
        for i, notebook in enumerate(self._notebooks):
            if self._starts[i]:
                notebook.begin(bits[i])
                self.decisions[i] = []
            else:
                notebook.add(int(self._last[i]), bits[i])
        self._starts[:] = False
        with ThreadPoolExecutor(min(self.parallel, len(bits))) as team:
            chosen = list(team.map(lambda notebook: self._dialogue.decide(notebook.text()), self._notebooks))
        for decisions, decision in zip(self.decisions, chosen, strict=True):
            decisions.append(decision)
        self._last = np.array([decision.action for decision in chosen], np.int64)
        return self._last.copy()

    def said(self) -> list[str]:
        """Return what the model said about its last choice in each environment."""
        last = [decisions[-1] for decisions in self.decisions]
        return [note(choice.refusals, choice.fell_back, choice.said, choice.name) for choice in last]

    def took(self, actions: Choices) -> None:
        """Note other actions than those that were chosen."""
        self._last = np.array(actions, np.int64)

    @property
    def usage(self) -> Tokens:
        """The tokens of the episodes that `decisions` holds."""
        total = Tokens()
        for decisions in self.decisions:
            for decision in decisions:
                total = total.plus(decision.usage)
        return total
