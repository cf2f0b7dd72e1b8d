"""Play a contest: keep every word, go on where it was left, and put the baselines beside it."""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from garrison.agents.learned_red import find_red
from garrison.challenge import evaluation
from garrison.challenge.evaluation import code_of, episode_seeds, name_of
from garrison.errors import GarrisonError, UserError
from garrison.storage.lock import only_writer
from garrison.text.contest import Contest, default_baselines
from garrison.text.contest_folder import ContestFolder
from garrison.text.dialogue import Dialogue
from garrison.text.spending import Spending
from garrison.text.standings import ContestCell, Entry, Standings
from garrison.text.text_env import TextEnv
from garrison.text.transcripts import PlayedTurn, Transcript, Turns, usage_of

if TYPE_CHECKING:
    from garrison.challenge.evaluation import OneRed


@dataclass(frozen=True)
class _Job:
    red: "OneRed"
    length: int
    episode: int
    seed: int

    @property
    def key(self) -> tuple[str, int, int]:
        return name_of(self.red), self.length, self.episode


def play_contest(
    contest: Contest,
    folder: Path,
    spending: Spending | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Standings:
    """Play what is still to be played, and return how the model and the baselines stand.

    Args:
        contest: what is played.
        folder: where the transcript, the results and a page are kept. What it holds of the same contest is not played
            again, an episode that was cut short goes on at its next turn.
        spending: the price of tokens and what may be spent.
        say: is told how far it is.
    """
    from garrison.cage2 import warm_up

    warm_up()
    spending = spending or Spending()
    beside = _baselines(contest)  # before anything is paid for
    store = ContestFolder(folder)
    store.prepare()
    with only_writer(folder, "Let it end, or name another folder with --out."):
        store.claim(contest.settings())
        turns = store.transcript.open()
        jobs = _jobs(contest)
        wanted = {job.key: turns.get(job.key, []) for job in jobs}
        spending.add(usage_of(wanted))
        _play_all(contest, jobs, wanted, store.transcript, spending, say)
        say("baselines")
        standings = _standings(contest, beside, wanted, spending)
        store.keep(contest, standings, wanted)
    return standings


def _jobs(contest: Contest) -> list[_Job]:
    return [
        _Job(red, length, k, seed)
        for length in contest.lengths
        for red in contest.reds
        for k, seed in enumerate(episode_seeds(contest.seed, length, code_of(name_of(red)), contest.episodes))
    ]


def _play_all(
    contest: Contest,
    jobs: list[_Job],
    turns: Turns,
    transcript: Transcript,
    spending: Spending,
    say: Callable[[str], None],
) -> None:
    """Play the jobs in threads that end with the process: whoever interrupts does not wait for a slow answer."""
    waiting: queue.SimpleQueue[_Job] = queue.SimpleQueue()
    ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    stop, dialogue = threading.Event(), contest.dialogue
    open_jobs = [job for job in jobs if len(turns[job.key]) < job.length]
    for job in open_jobs:
        waiting.put(job)

    def work() -> None:
        while not stop.is_set():
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                _play_one(contest, dialogue, job, turns[job.key], transcript, spending, stop, tell)
            except BaseException as error:
                ended.put(error)
                return
            ended.put(None)

    def tell() -> None:
        played = sum(map(len, turns.values()))
        cost = "" if spending.cost is None else f", cost {spending.cost:.4g}"
        used = f"{spending.usage.prompt + spending.usage.completion:,} tokens{cost}"
        say(f"{played} of {sum(job.length for job in jobs)} turns, {used}")

    team = [threading.Thread(target=work, daemon=True) for _ in range(min(contest.parallel, len(open_jobs)))]
    for thread in team:
        thread.start()
    try:
        for _ in open_jobs:
            if (error := ended.get()) is not None:
                raise error
    finally:
        stop.set()
        transcript.close()


def _play_one(
    contest: Contest,
    dialogue: Dialogue,
    job: _Job,
    turns: list[PlayedTurn],
    transcript: Transcript,
    spending: Spending,
    stop: threading.Event,
    tell: Callable[[], None],
) -> None:
    """Play an episode from where it was left; `turns` and the transcript get what is new."""
    telling = contest.telling
    env = TextEnv(job.red, contest.rules, job.length, telling.view, telling.history, telling.legal, telling.names)
    observation, _ = env.reset(seed=job.seed)
    for turn in turns:
        observation, reward, *_ = env.step(turn.action)
        if round(reward - turn.reward, 6):
            raise GarrisonError(
                f"turn {turn.turn} of episode {job.episode} against {turn.red} was worth {turn.reward:g} when it was "
                f"played and is worth {reward:g} now.",
                hint="The folder was written by another version, or its attacker has changed: play in a new folder.",
            )
    red, length, episode = job.key
    while len(turns) < job.length and not stop.is_set():
        spending.check()
        began = perf_counter()
        decision = dialogue.decide(observation)
        seconds = perf_counter() - began
        observation, reward, *_ = env.step(decision.name)
        turn = PlayedTurn(
            red,
            length,
            episode,
            len(turns) + 1,
            decision.action,
            decision.name,
            reward,
            decision.said,
            [*decision.refusals],
            decision.fell_back,
            decision.messages,
            [*decision.usage],
            round(seconds, 3),
        )
        transcript.add(turn)
        turns.append(turn)
        spending.add(decision.usage)
        tell()


def _baselines(contest: Contest) -> list[Any]:
    """Return the agents beside the model, checked."""
    from garrison.agents import load_agent

    names = default_baselines(contest.rules) if contest.baselines is None else contest.baselines
    agents = [load_agent(name) for name in names]
    seen = {contest.endpoint.model}
    for agent in agents:
        evaluation.check_agent(agent)
        if agent.name in seen:
            raise UserError(f"two agents are called {agent.name!r}: name each baseline once, and none like the model.")
        seen.add(agent.name)
    return agents


def _standings(contest: Contest, beside: list[Any], turns: Turns, spending: Spending) -> Standings:
    reds = {ContestCell(name_of(red), int(length)): red for length in contest.lengths for red in contest.reds}
    cells = tuple(reds)
    model = Entry(contest.endpoint.model, {cell: _totals(turns, cell, contest.episodes) for cell in cells})
    others = [Entry(a.name, {cell: _played_by(a, reds[cell], cell, contest) for cell in cells}) for a in beside]
    every = [turn for some in turns.values() for turn in some]
    return Standings(
        entries=(model, *others),
        cells=cells,
        rules=contest.rules,
        episodes=contest.episodes,
        seed=contest.seed,
        renamed=not contest.telling.names.are_original,
        turns=len(every),
        refused_turns=sum(bool(turn.refusals) for turn in every),
        refusals=sum(len(turn.refusals) for turn in every),
        fallbacks=sum(turn.fell_back for turn in every),
        fallback=contest.fallback,
        usage=usage_of(turns),
        cost=spending.cost,
        seconds=sum(turn.seconds for turn in every),
    )


def _played_by(agent: Any, red: "OneRed", cell: ContestCell, contest: Contest) -> list[float]:
    returns = evaluation.play(
        agent, find_red(red), [code_of(cell.red)], contest.rules, cell.length, contest.episodes, contest.seed
    )
    found: list[float] = returns[0].round(3).tolist()
    return found


def _totals(turns: Turns, cell: ContestCell, episodes: int) -> list[float]:
    return [round(sum(turn.reward for turn in turns[cell.red, cell.length, k]), 3) for k in range(episodes)]
