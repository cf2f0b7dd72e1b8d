"""The folder of a contest: settings, transcript, results, and a page with the worst, median and best episode."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from garrison.agents.learned_red import find_red
from garrison.challenge.evaluation import code_of, episode_seeds, name_of
from garrison.episodes.choosing import worst_median_best
from garrison.episodes.episode import Episode
from garrison.episodes.game import Game
from garrison.episodes.recording import Totals, record
from garrison.episodes.watching import Watched
from garrison.errors import UserError, foreign
from garrison.storage.atomic import write_json
from garrison.text.contest import Contest
from garrison.text.dialogue import note
from garrison.text.llm_agent import LLMAgent
from garrison.text.standings import ContestCell, Entry, Standings
from garrison.text.transcripts import Transcript, Turns

SETTINGS, TRANSCRIPT, RESULTS, PAGE = "settings.json", "transcript.jsonl", "results.json", "watch.html"


class ContestFolder:
    """Where a contest is kept."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.transcript = Transcript(path / TRANSCRIPT)

    def prepare(self) -> None:
        """Make the folder; raise if it is something else."""
        found = {path.name for path in self.path.iterdir()} if self.path.is_dir() else set()
        if SETTINGS not in found and any(not name.startswith(".") for name in found):  # a lock may be left of a crash
            raise UserError(f"{self.path} holds something else than a contest: name another folder with --out.")
        self.path.mkdir(parents=True, exist_ok=True)

    def claim(self, settings: dict[str, Any]) -> None:
        """Write the settings, or raise if the folder holds a contest with others."""
        file = self.path / SETTINGS
        if not file.exists():
            write_json(file, settings)
            return
        found = _object(file)
        for name in sorted(settings.keys() - {"endpoint"}):  # a server may move
            if found.get(name) != settings[name]:
                raise UserError(
                    f"{self.path} holds a contest with another {name}: {_shown(found.get(name))}, not "
                    f"{_shown(settings[name])}.",
                    hint="Name another folder with --out, or the same settings to go on.",
                )

    def keep(self, contest: Contest, standings: Standings, turns: Turns) -> None:
        """Write the results and the page."""
        write_json(self.path / RESULTS, standings.to_dict())
        episodes = [one for cell in standings.cells for one in _recorded(contest, standings, turns, cell)]
        Watched(episodes, f"{contest.endpoint.model}, {contest.rules}").save(self.path / PAGE)

    def standings(self) -> Standings:
        """Return what the folder's results say of the model, without the agents beside it."""
        file = self.path / RESULTS
        if not file.exists():
            raise UserError(f"{self.path} holds no contest that has ended: there is no {RESULTS}.")
        values = _object(file)
        with foreign(str(file)):
            name = values["agent"]
            totals = {
                ContestCell(str(cell["red"]), int(cell["length"])): [
                    float(one) for one in cell["agents"][name]["totals"]
                ]
                for cell in values["cells"]
            }
            if not totals or any(len(one) != values["episodes"] for one in totals.values()):
                raise ValueError("the totals are not whole")
            return Standings(
                (Entry(name, totals),),
                tuple(totals),
                str(values["rules"]),
                int(values["episodes"]),
                int(values["seed"]),
            )


def _recorded(contest: Contest, standings: Standings, turns: Turns, cell: ContestCell) -> list[Episode]:
    """Return the worst, the median and the best episode of a cell, with the model's words."""
    red = next(red for red in contest.reds if ContestCell(name_of(red), cell.length) == cell)
    game = Game(find_red(red), cell.length, contest.rules)
    played = [turns[cell.red, cell.length, k] for k in range(contest.episodes)]
    totals = Totals(
        np.array(episode_seeds(contest.seed, cell.length, code_of(cell.red), contest.episodes), np.uint64),
        np.array(standings.entries[0].totals[cell]),
        np.array([[turn.number for turn in one] for one in played], np.int16),
        [[note(turn.refusals, turn.fell_back, turn.said, turn.action) for turn in one] for one in played],
    )
    chosen = worst_median_best(totals.totals)
    renamed = ", hosts renamed" if standings.renamed else ""
    agent = LLMAgent(contest.endpoint, contest.telling, contest.rules)
    return record(agent, game, totals.only([*chosen]), labels=[f"{why}{renamed}" for why in chosen.values()])


def _object(file: Path) -> dict[str, Any]:
    with foreign(str(file)):
        values = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(values, dict):
            raise TypeError("it is no JSON object")
    return values


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
