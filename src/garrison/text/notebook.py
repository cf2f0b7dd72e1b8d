"""An episode as Blue knows it, told in words: what it saw, what it did, what came of that, what it can do next."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.agent_memory import allow_batch, remember_batch
from garrison.cage2.layout import MEMORY
from garrison.cage2.names import (
    ACTIONS,
    DECOY_BLOCK,
    DEFAULT_RULES,
    FIRST_BLOCK,
    HOSTS,
    NUM_ACTIONS,
    NUM_DECOYS,
    NUM_HOSTS,
    RULES,
    Belief,
    BlueKind,
)
from garrison.cage2.observe import NUM_BITS
from garrison.cage2.scenario import load_scenario
from garrison.episodes.sentences import decoy_name, seen_sentence
from garrison.errors import UserError, choose
from garrison.jit import records
from garrison.text.blue_sight import Sight, as_mapping, as_sentences, as_table
from garrison.text.renaming import Names, names_of

VIEWS = ("table", "json", "sentences")
DEFAULT_VIEW = VIEWS[0]
DEFAULT_HISTORY = 5
MOST_HISTORY = 10_000


@dataclass(frozen=True)
class Telling:
    """How an episode is told."""

    view: str = DEFAULT_VIEW
    """`table`: the challenge's table; `json`: one JSON object with everything; `sentences`: only what is not quiet"""
    history: int = DEFAULT_HISTORY
    """How many of the last turns are told: the action, whether it worked, what was seen"""
    legal: bool = True
    """Say which decoys each host would accept now; Sleep, Monitor, Analyse, Remove and Restore are always possible"""
    rename: "str | Path | Mapping[str, Any] | Names | None" = None
    """Other names for hosts and subnets, see `garrison.text.names_of`"""
    names: Names = field(init=False)

    def __post_init__(self) -> None:
        choose("view", self.view, VIEWS)
        if isinstance(self.history, bool) or not isinstance(self.history, int) or not 0 <= self.history <= MOST_HISTORY:
            raise UserError(f"history is a number of turns from 0 to {MOST_HISTORY}; got {self.history!r}.")
        object.__setattr__(self, "names", names_of(self.rename))


class ToldTurn(NamedTuple):
    """A turn that was played, as Blue knows it."""

    action: str
    result: str
    seen: str


class Notebook:
    """What Blue saw and did in one episode.

    Args:
        telling: how it is told.
        rules: `head` or `leaderboard`.
    """

    def __init__(self, telling: Telling, rules: str = DEFAULT_RULES) -> None:
        self.telling, self.names = telling, telling.names
        scenario = load_scenario(None, choose("rules", rules, RULES))
        self._subnet_of = scenario[0]["subnet"]
        self._scenario, self._memory = records(scenario), records(np.zeros(1, MEMORY))
        self._row, self._masks = np.zeros((1, NUM_BITS), np.int8), np.ones((1, NUM_ACTIONS), np.bool_)

    def begin(self, bits: NDArray[Any]) -> None:
        """Start an episode with its first observation."""
        self.turns: list[ToldTurn] = []
        self._take(True, 0, bits)
        self.sight = Sight.of(bits)

    def add(self, action: int, bits: NDArray[Any]) -> None:
        """Take in an action and what Blue was shown after it."""
        fitted = bool(self._masks[0, action])
        self._take(False, action, bits)
        before, self.sight = self.sight, Sight.of(bits)
        seen = seen_sentence(before.record(), self.sight.record(), self.names.hosts)
        self.turns.append(ToldTurn(action_name(action, self.names), _result(action, fitted, before, self.sight), seen))

    def _take(self, starts: bool, action: int, bits: NDArray[Any]) -> None:
        shown = np.ascontiguousarray(np.asarray(bits)[None], np.int8)
        remember_batch(self._memory, self._scenario, np.array([starts]), np.array([action]), shown, self._row)
        allow_batch(self._memory, self._scenario, self._masks)

    def decoys(self) -> dict[str, list[str]]:
        """Return the decoys that Blue has placed and not lost, by host."""
        own = np.asarray(self._memory["own_decoys"])[0]
        placed = {h: [decoy_name(d) for d in range(NUM_DECOYS) if int(own[h]) >> d & 1] for h in self.names.order}
        return {self.names.hosts[h]: found for h, found in placed.items() if found}

    def fitting_decoys(self) -> list[dict[str, list[str]]]:
        """Return groups of `hosts` and the `decoys` that each of them would accept now."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for h in self.names.order:
            first = FIRST_BLOCK + DECOY_BLOCK * NUM_HOSTS + h
            fits = self._masks[0, first : first + NUM_DECOYS * NUM_HOSTS : NUM_HOSTS]
            decoys = tuple(decoy_name(d) for d in np.flatnonzero(fits).tolist())
            groups.setdefault(decoys, []).append(self.names.hosts[h])
        return [{"hosts": hosts, "decoys": [*decoys]} for decoys, hosts in groups.items() if decoys]

    def text(self, refusal: str = "") -> str:
        """Tell it, with the refusal of an action if the last one was refused."""
        told = self.turns[-self.telling.history :] if self.telling.history else []
        first = len(self.turns) - len(told) + 1
        if self.telling.view == "json":
            return self._json(told, first, refusal)
        parts = [f"Your action was refused: {refusal}"] if refusal else []
        if told:
            lines = [f"{first + k}. {turn.action}: {turn.result} {turn.seen}" for k, turn in enumerate(told)]
            parts.append("\n".join([f"Last {'turn' if len(told) == 1 else 'turns'}:", *lines]))
        is_table = self.telling.view == "table"
        now = as_table(self.sight, self.names, self._subnet_of) if is_table else as_sentences(self.sight, self.names)
        parts.append(f"Turn {len(self.turns) + 1}.{chr(10) if is_table else ' '}{now}")
        if placed := self.decoys():
            parts.append("Your decoys: " + "; ".join(f"{host}: {', '.join(some)}" for host, some in placed.items()))
        if self.telling.legal:
            fitting = [f"{', '.join(one['hosts'])}: {', '.join(one['decoys'])}" for one in self.fitting_decoys()]
            parts.append("Decoys that fit now: " + ("; ".join(fitting) or "none"))
        return "\n\n".join(parts)

    def _json(self, told: list[ToldTurn], first: int, refusal: str) -> str:
        values: dict[str, Any] = {"refused": refusal} if refusal else {}
        values["turn"] = len(self.turns) + 1
        values["hosts"] = as_mapping(self.sight, self.names, self._subnet_of)
        values["decoys"] = self.decoys()
        if self.telling.history:
            values["history"] = [{"turn": first + k, **turn._asdict()} for k, turn in enumerate(told)]
        if self.telling.legal:
            values["fitting_decoys"] = self.fitting_decoys()
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def action_name(action: int, names: Names) -> str:
    """Return an action's name with the hosts' names in use, such as `Restore host-08`.

    >>> action_name(132, Names())
    'Restore Defender'
    """
    row = ACTIONS[action]
    return row.name if row.host < 0 else f"{row.name.removesuffix(HOSTS[row.host])}{names.hosts[row.host]}"


def _result(action: int, fitted: bool, before: Sight, after: Sight) -> str:
    """Say what Blue can know of what its action did."""
    row = ACTIONS[action]
    if row.kind == BlueKind.DECOY:
        return "placed." if fitted else "refused, its port is taken or the system is another."
    if row.kind == BlueKind.ANALYSE:
        if after.belief[row.host] != Belief.PRIVILEGED:
            return "found nothing."
        was_known = before.belief[row.host] == Belief.PRIVILEGED
        return "nothing new, it was believed privileged before." if was_known else "found malware."
    return "done."
