"""Several agents of one run, each with a folder of its own inside the run's.

`RUN/seed-3` has settings, metrics, checkpoints, summary and score of the agent with the seed 3, as if it had been
trained alone: it is evaluated, drawn, compared and continued like any run. `RUN` has the means over all agents, and a
checkpoint of all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from garrison.runs.experiment import Experiment
from garrison.runs.experiment_file import to_text
from garrison.runs.folder import RunFolder
from garrison.runs.follower import Limits
from garrison.runs.page_rhythm import PageRhythm
from garrison.runs.recorder import Recorder
from garrison.runs.starvation import StarvationWatch, no_watch
from garrison.runs.summary import summarise, write_summary
from garrison.runs.tracked import events_of
from garrison.runs.view import NoView, View
from garrison.storage.saved_run import agents_of
from garrison.tasks.confidence import mean95
from garrison.tasks.task import FinalScore
from garrison.trackers.together import Trackers

if TYPE_CHECKING:
    from garrison.learn.result import Result

Score = tuple[float, dict[str, float]]
Evaluate = Callable[[dict[str, Any]], Score | None]


def has_several_agents(experiment: Experiment) -> bool:
    """Return whether a run trains more than one agent."""
    return len(experiment.learner.agents) > 1


def each_agent(experiment: Experiment) -> list[Experiment]:
    """Return the settings of each agent, as if it was trained alone."""
    return [replace(experiment, learner=experiment.learner.alone(seed)) for seed in experiment.learner.agents]


@contextmanager
def agent_folders(folder: RunFolder, experiment: Experiment, resumed: dict[str, Any] | None) -> Iterator[None]:
    """Begin the agents' folders, or get them ready to be continued, and be their only writer."""
    with ExitStack() as stack:
        for agent in each_agent(experiment):
            own = folder.of_agent(agent.learner.seed)
            stack.enter_context(own.held(is_new=resumed is None))
            if resumed is not None:
                own.trim_metrics(resumed["state"]["steps"])
            own.write_settings(to_text(agent))
        yield


class SeedsRecorder(Recorder):
    """Writes a run's folder and those of its agents.

    Args:
        experiment: the settings of all agents.
        name: what results call the run.
        folder: the run's own; the other arguments are those of `Recorder` as well.
    """

    def __init__(
        self,
        experiment: Experiment,
        name: str,
        folder: RunFolder,
        limits: Limits,
        about: dict[str, Any],
        view: View,
        interrupted: Callable[[], bool],
        evaluate: Evaluate,
        resumed: dict[str, Any] | None,
        trackers: Trackers,
        starvation: StarvationWatch | None,
        action_kinds: Sequence[str] | None,
        pages: PageRhythm,
    ) -> None:
        """Open the folders; `pages` writes the agents' too."""
        super().__init__(
            folder,
            limits,
            about,
            view,
            interrupted,
            self._mean_score,
            resumed,
            trackers,
            starvation,
            action_kinds,
            pages,
        )
        self._scores: list[Score] = []
        quiet = AgentView(view)

        def score(values: dict[str, Any]) -> Score | None:
            if (found := evaluate(values)) is not None:
                self._scores.append(found)
            return found

        self.agents = []
        for agent in each_agent(experiment):
            own = {**about, "experiment": agent.to_dict()}
            place = folder.of_agent(agent.learner.seed)
            events = events_of(agent, name_of_agent(name, agent), place, resumed)
            self.agents.append(Recorder(place, limits, own, quiet, interrupted, score, resumed, events, no_watch()))

    def started(self) -> None:
        """Start the clocks."""
        super().started()
        for agent in self.agents:
            agent.started()

    def log_agent(self, number: int, step: int, metrics: dict[str, float]) -> None:
        """Write the metrics of one agent."""
        self.agents[number].log(step, metrics)

    def checkpoint(self, state: dict[str, Any]) -> None:
        """Save each agent, and score it if that is due; then all of them together, with the mean score."""
        self._scores.clear()
        for agent, own in zip(self.agents, agents_of(state), strict=True):
            agent.checkpoint(own)
        super().checkpoint(state)
        self.unsaved = next((each.unsaved for each in (self, *self.agents) if each.unsaved), None)

    def summarise_agents(
        self, experiment: Experiment, name: str, status: str, message: str, result: "Result | None"
    ) -> None:
        """Write how each agent's training ended."""
        for agent, settings in zip(self.agents, each_agent(experiment), strict=True):
            own = summarise(name_of_agent(name, settings), settings, status, message, agent, result)
            write_summary(agent.folder, own)
            agent.finish_trackers(own)

    def discard(self) -> None:
        """Remove what has been written, so that the folders can be used again."""
        for agent in self.agents:
            agent.discard()
        super().discard()

    def close(self) -> None:
        """Close all files."""
        for agent in self.agents:
            agent.close()
        super().close()

    def _mean_score(self, values: dict[str, Any]) -> Score | None:
        if not self._scores:
            return None
        means = {name: float(np.mean([each[name] for _, each in self._scores])) for name in self._scores[0][1]}
        return float(np.mean([total for total, _ in self._scores])), means


def name_of_agent(name: str, agent: Experiment) -> str:
    """Return what results call one of the agents of a run."""
    return f"{name}, seed {agent.learner.seed}"


class AgentView(NoView):
    """What an agent's recorder is given for a view: it shows nothing, and passes on what must not be missed."""

    def __init__(self, view: View) -> None:
        self._view = view

    def say(self, text: str) -> None:
        """Say it where the run is shown."""
        self._view.say(text)


def score_agents(experiment: Experiment, values: dict[str, Any], folder: RunFolder, episodes: int) -> FinalScore:
    """Score each agent of a finished run as its task does it, into its own summary; return their mean.

    Args:
        experiment: the run's settings.
        values: its last checkpoint.
        folder: its folder.
        episodes: as `Task.final_score` takes them.
    """
    scores: dict[int, dict[str, Any]] = {}
    for agent, state in zip(each_agent(experiment), agents_of(values["state"]), strict=True):
        own = folder.of_agent(agent.learner.seed)
        saved = {**values, "experiment": agent.to_dict(), "state": state}
        found = agent.task.final_score(saved, str(own.path), episodes)
        write_summary(own, own.read_summary() | found.summary)
        scores[agent.learner.seed] = found.summary["evaluation"]
    totals = {str(seed): float(score["total"]) for seed, score in scores.items()}
    mean, ci95 = mean95([*totals.values()])
    same = {key: scores[experiment.learner.seed][key] for key in ("rules", "episodes", "seed")}
    rows = [f"{seed:>12}  {score['total']:.2f} ± {score['ci95']:.2f}" for seed, score in scores.items()]
    end = f"mean of {len(totals)} agents {mean:.2f} ± {ci95:.2f}   (95 % confidence over agents)"
    return FinalScore(
        {"evaluation": {**same, "total": round(mean, 6), "ci95": round(ci95, 6), "agents": totals}},
        "\n".join(["", f"{'seed':>12}  total", *rows, "", end]),
    )
