"""Agents on equal episodes: their means, and by how much the first differs from each other, episode by episode."""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from garrison.errors import UserError
from garrison.formatting import plural
from garrison.tasks.confidence import Interval, mean95
from garrison.text.endpoint import Tokens


class ContestCell(NamedTuple):
    """An attacker and a length of episodes."""

    red: str
    length: int


@dataclass(frozen=True)
class Entry:
    """An agent's totals, episode by episode."""

    name: str
    totals: dict[ContestCell, list[float]]


@dataclass(frozen=True)
class Standings:
    """How agents did on the same episodes. The first entry is the one that the others are compared with."""

    entries: tuple[Entry, ...]
    cells: tuple[ContestCell, ...]
    rules: str
    episodes: int
    """In each cell"""
    seed: int
    renamed: bool = False
    turns: int = 0
    refused_turns: int = 0
    """Turns in which an answer was refused"""
    refusals: int = 0
    fallbacks: int = 0
    """Turns in which every answer was refused, and the fallback was played"""
    fallback: str = ""
    usage: Tokens = field(default_factory=Tokens)
    cost: float | None = None
    """In the currency of the price; None without one"""
    seconds: float = 0.0
    """Spent in waiting for answers, of all episodes together"""

    def mean(self, entry: Entry, cell: ContestCell) -> Interval:
        """Return an agent's mean, and how far its 95 % interval reaches."""
        return mean95(entry.totals[cell])

    def lead(self, entry: Entry, cell: ContestCell) -> Interval:
        """Return by how much the first entry is better than another, paired on equal episodes."""
        pairs = zip(self.entries[0].totals[cell], entry.totals[cell], strict=True)
        return mean95([ours - theirs for ours, theirs in pairs])

    def total(self, entry: Entry) -> Interval:
        """Return the sum of the cells' means, as the challenge scores, and its reach."""
        return _sum([self.mean(entry, cell) for cell in self.cells])

    def total_lead(self, entry: Entry) -> Interval:
        """Return the sum of the leads."""
        return _sum([self.lead(entry, cell) for cell in self.cells])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON."""
        return {
            "agent": self.entries[0].name,
            "rules": self.rules,
            "episodes": self.episodes,
            "seed": self.seed,
            "renamed": self.renamed,
            "cells": [
                {
                    "red": cell.red,
                    "length": cell.length,
                    "agents": {
                        f"{entry.name}": {
                            **_values("mean", self.mean(entry, cell)),
                            **(_values("lead", self.lead(entry, cell)) if k else {}),
                            "totals": entry.totals[cell],
                        }
                        for k, entry in enumerate(self.entries)
                    },
                }
                for cell in self.cells
            ],
            "totals": {entry.name: _values("total", self.total(entry)) for entry in self.entries},
            "turns": self.turns,
            "refused_turns": self.refused_turns,
            "refusals": self.refusals,
            "fallbacks": self.fallbacks,
            "usage": self.usage._asdict(),
            "cost": None if self.cost is None else round(self.cost, 6),
            "seconds": round(self.seconds, 1),
        }

    def to_text(self) -> str:
        """Return everything as tables."""
        names = ", hosts renamed" if self.renamed else ""
        lines = [
            f"{self.entries[0].name}, rules {self.rules}, {plural(self.episodes, 'episode')} per cell, "
            f"seed {self.seed}{names}"
        ]
        for cell in self.cells:
            rows = [(entry.name, self.mean(entry, cell), self.lead(entry, cell)) for entry in self.entries]
            lines += ["", f"{cell.red}, {cell.length} steps", *self._table(rows)]
        if len(self.cells) > 1:
            rows = [(entry.name, self.total(entry), self.total_lead(entry)) for entry in self.entries]
            lines += ["", f"total of {len(self.cells)} cells", *self._table(rows)]
        lines += ["", "± is 95 % confidence; differences are paired on equal episodes.", *self._effort()]
        return "\n".join(lines)

    def _table(self, rows: list[tuple[str, Interval, Interval]]) -> list[str]:
        width = max(len(name) for name, *_ in rows)
        means = [written(mean) for _, mean, _ in rows]
        wide = max(map(len, means))
        lines = [f"  {rows[0][0]:<{width}}  {means[0]:>{wide}}"]
        for (name, _, lead), mean in zip(rows[1:], means[1:], strict=True):
            lines.append(f"  {name:<{width}}  {mean:>{wide}}   {rows[0][0]} is {verdict(lead)}")
        return lines

    def _effort(self) -> list[str]:
        if not self.turns:
            return []
        used = self.usage
        return [
            f"{plural(self.turns, 'turn')}: {self.refused_turns:,} with {plural(self.refusals, 'refusal')}, "
            f"{plural(self.fallbacks, 'fallback')} to {self.fallback}",
            f"{plural(used.prompt, 'token')} in, {used.completion:,} out, {plural(used.requests, 'request')}"
            + (f" and {used.retries:,} sent again" if used.retries else "")
            + (f", cost {self.cost:.4g}" if self.cost is not None else "")
            + f", {self.seconds / self.turns:.2f} s per turn",
        ]


def joined(standings: list[Standings], names: list[str]) -> Standings:
    """Return the first entries of several contests beside each other; raise if they did not play the same episodes."""
    first = standings[0]
    for other, name in zip(standings[1:], names[1:], strict=True):
        for what in ("rules", "seed", "episodes", "cells"):
            ours, theirs = getattr(first, what), getattr(other, what)
            if ours != theirs:
                raise UserError(
                    f"{names[0]} and {name} did not play the same episodes: their {what} are {_shown(ours)} and "
                    f"{_shown(theirs)}."
                )
    entries = tuple(Entry(name, one.entries[0].totals) for one, name in zip(standings, names, strict=True))
    return Standings(entries, first.cells, first.rules, first.episodes, first.seed)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(f"{cell.red}/{cell.length}" for cell in value)
    return str(value)


def _sum(parts: list[Interval]) -> Interval:
    return Interval(sum(part.mean for part in parts), math.sqrt(sum(part.reach**2 for part in parts)))


def _values(name: str, interval: Interval) -> dict[str, float | None]:
    reach = round(interval.reach, 6) if math.isfinite(interval.reach) else None
    return {name: round(interval.mean, 6), f"{name}_ci95": reach}


def written(interval: Interval) -> str:
    """Return an interval as text; of a single episode, the value alone."""
    return f"{interval.mean:.2f}" + (f" ± {interval.reach:.2f}" if math.isfinite(interval.reach) else "")


def verdict(lead: Interval) -> str:
    """Say how a paired difference is to be read.

    >>> verdict(Interval(3.0, 1.0)), verdict(Interval(-3.0, 1.0)), verdict(Interval(0.5, 1.0))
    ('better by 3.00 ± 1.00', 'worse by 3.00 ± 1.00', 'not shown to differ: +0.50 ± 1.00')
    """
    if not math.isfinite(lead.reach):
        return f"at {lead.mean:+.2f}, in a single episode"
    if abs(lead.mean) <= lead.reach:
        return f"not shown to differ: {lead.mean:+.2f} ± {lead.reach:.2f}" if lead.reach else "equal"
    return f"{'better' if lead.mean > 0 else 'worse'} by {abs(lead.mean):.2f} ± {lead.reach:.2f}"
