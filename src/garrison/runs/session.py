"""The life of a run, told once: settings, environments, learner, recorder, checkpoints, summary, score.

`garrison train`, `garrison workflow train` and every training of `garrison workflow search` are such runs. What the
workflows add to the story is in their `Hooks`.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from garrison.errors import GarrisonError, UserError
from garrison.formatting import short
from garrison.learn.config import LearnerConfig
from garrison.learn.envs import extras_space
from garrison.learn.nn.description import describe_policy
from garrison.learn.registry import LEARNERS, train
from garrison.learn.result import Diverged
from garrison.learn.run import RunLog
from garrison.learn.spaces.registry import action_distribution, doubts_about, observation_form
from garrison.runs.callbacks import Callback, CallbackLog, Training, find_callbacks
from garrison.runs.experiment import Experiment
from garrison.runs.experiment_file import to_text
from garrison.runs.folder import RunFolder
from garrison.runs.follower import Follower, Limits
from garrison.runs.interrupts import Interrupts
from garrison.runs.page_rhythm import NoPages, PageRhythm
from garrison.runs.recorder import Recorder
from garrison.runs.resume import check_fits, check_unfinished, layout, prepare_resume
from garrison.runs.seed_folders import SeedsRecorder, agent_folders, has_several_agents, score_agents
from garrison.runs.starvation import no_watch
from garrison.runs.summary import summarise, write_summary
from garrison.runs.tracked import trackers_of
from garrison.runs.view import NoView, View
from garrison.tasks.task import FinalScore, NotScored
from garrison.trackers.together import Trackers
from garrison.trackers.tracker import Tracker

if TYPE_CHECKING:
    import torch

    from garrison.learn.result import Result

FOREVER = 2**62  # steps, when the time decides
NOTICE = "finishing this update; Ctrl-C again ends at once"


@dataclass(frozen=True)
class Start:
    """What the learner starts with."""

    config: LearnerConfig | None = None
    """Its settings, if they are not simply those of the experiment."""
    weights: "torch.Tensor | None" = None
    """Those of another policy; None for fresh ones."""
    says: str = ""
    """A sentence about it for the view."""


class Hooks:
    """What a kind of run adds to the story; this one adds nothing."""

    def start(self, about: dict[str, Any], values: dict[str, Any] | None) -> Start:
        """Return what to start with; may add to `about`, which every checkpoint keeps.

        `values` are those of the checkpoint that the run continues from.
        """
        return Start()

    def follow(self, envs: Any, log: RunLog, values: dict[str, Any] | None) -> RunLog:
        """Return what follows the learner in the place of `log`, which it should pass everything on to."""
        return log

    def has_stopped(self) -> bool:
        """Return whether the training ended because of these hooks."""
        return False

    def summary(self, status: str, message: str) -> dict[str, Any]:
        """Return what else the summary should say."""
        return {}


@dataclass
class Outcome:
    """How a run ended."""

    experiment: Experiment
    folder: RunFolder | None
    """Where it is; None for a training that only returns its values."""
    status: str
    """finished, interrupted or diverged"""
    message: str
    """Why it diverged."""
    signal_code: int
    """What a shell expects of a program that was interrupted like this."""
    values: dict[str, Any]
    """The last checkpoint's values: the experiment, the policy and the learner's state."""
    summary: dict[str, Any]
    """What `summary.json` says."""
    result: "Result | None" = None
    """What the learner returned; None if it diverged."""
    unsaved: str | None = None
    """Why the last checkpoint could not be written, if it could not."""
    is_written: bool = True
    """Whether the summary could be written."""
    pages: PageRhythm = field(default_factory=NoPages, repr=False)
    """Writes the run's page; `score` does it for the last time."""
    log: Follower | None = field(default=None, repr=False)
    """Followed the training; `score` tells its trackers how the run ended."""

    @property
    def exit_code(self) -> int:
        """What the command should return."""
        if self.unsaved or not self.is_written:
            return 1
        return {"finished": 0, "interrupted": self.signal_code, "diverged": 1}[self.status]


def run(
    experiment: Experiment,
    name: str,
    folder: RunFolder | None = None,
    view: View | None = None,
    interrupts: Interrupts | None = None,
    values: dict[str, Any] | None = None,
    hooks: Hooks | None = None,
    trackers: Sequence[Tracker] = (),
    callbacks: Sequence[Callback] = (),
) -> Outcome:
    """Train as the settings say, record it, and return what came of it.

    Args:
        experiment: the settings.
        name: what results call the run.
        folder: where to record it; without one nothing is written.
        view: shows it; without one nothing is shown. The run's page is written if `experiment.run.page` is set.
        interrupts: those of a caller that has more to stop than this run; by default the run takes the signals itself.
        values: the checkpoint to continue from.
        hooks: what this kind of run adds.
        trackers: are told of it besides those that the settings name.
        callbacks: take part in it besides those that the settings name.
    """
    view, hooks = view or NoView(), hooks or Hooks()
    task, learner = experiment.task, LEARNERS[experiment.algorithm]
    task.check(experiment.learner)
    told = trackers_of(experiment, name, folder, values, trackers)
    taking_part = find_callbacks(experiment.run.callbacks, callbacks)
    with ExitStack() as stack:
        stack.enter_context(_connected(experiment.run.cluster))
        made: Any = task.make_envs if learner.has_actors else task.make_jax_env() if learner.on_device else None
        # Actors and devices have environments of their own; then this one only tells what they are like.
        envs = stack.enter_context(closing(task.make_envs(experiment.env.envs if made is None else 1)))
        about = describe(experiment, envs)
        doubts = doubts_about(envs.single_observation_space, experiment.learner.policy)
        if learner.on_device:
            about["layout"] = _jax_layout(made)
        if made is not None:
            envs.close()
        if values is not None:
            check_fits(values, about, task.fixed, len(experiment.learner.agents))
        start = hooks.start(about, values)
        config = start.config or experiment.learner
        if folder is not None:
            if values is not None:
                check_unfinished(folder, values, config.steps, experiment.run.seconds)
                folder.trim_metrics(values["state"]["steps"])
            folder.write_settings(to_text(experiment))
            if has_several_agents(experiment):
                stack.enter_context(agent_folders(folder, experiment, values))
        pages = _pages(experiment, folder, view)

        stack.enter_context(view)
        interrupts = interrupts or stack.enter_context(Interrupts(lambda: view.say(NOTICE)))
        log = _open_log(experiment, name, config.steps, folder, about, view, interrupts, values, pages, told)
        if experiment.run.seconds:
            config = dataclasses.replace(config, steps=FOREVER)
        connect = _remote_actors() if experiment.has_remote_actors else None
        result: Result | None = None
        status, message = "finished", ""
        saved = values["state"].pop("callbacks", None) if values is not None else None
        called: CallbackLog | None = None
        try:
            pages.write()
            if taking_part or saved is not None:
                place, own_envs = None if folder is None else folder.path, envs if made is None else None
                called = CallbackLog(taking_part, Training(experiment, place, log, own_envs), log)
                called.begin(saved)
            run_log = hooks.follow(envs, called or log, values)
            state = prepare_resume(values, about, envs, view) if values is not None else None
            for sentence in (start.says, doubts):
                if sentence:
                    view.say(sentence)
            made = envs if made is None else made
            result = train(config, made, experiment.env.envs, run_log, state, start.weights, connect)
            state = result.state
        except Diverged as diverged:
            status, message, state = "diverged", str(diverged), diverged.state
        except Exception as error:
            _fail(experiment, name, log, error, is_new=values is None)
            if folder is not None and folder.config.exists():  # else nothing was left behind
                pages.write(is_over=True)
            raise
        except BaseException:  # a second Ctrl-C: there is no summary, and the page should not wait for one
            pages.write(is_over=True)
            raise
        finally:
            log.close()
            envs.close()
    stopped_by = called.stopped_by if called is not None else ""
    if status == "finished" and interrupts.signal is not None and not hooks.has_stopped() and not stopped_by:
        status = "interrupted"
    summary = summarise(name, experiment, status, message, log, result) | hooks.summary(status, message)
    summary |= {"stopped_by": stopped_by} if stopped_by else {}
    values = {**about, "state": state}
    outcome = Outcome(
        experiment, folder, status, message, interrupts.exit_code, values, summary, result, pages=pages, log=log
    )
    if isinstance(log, Recorder):
        outcome.is_written = write_summary(log.folder, outcome.summary)
        if isinstance(log, SeedsRecorder):
            log.summarise_agents(experiment, name, status, message, result)
        outcome.unsaved = log.unsaved
    if not _to_be_scored(outcome):
        _finish_trackers(outcome)
    pages.write(is_over=not _to_be_scored(outcome))
    return outcome


def describe(experiment: Experiment, envs: Any) -> dict[str, Any]:
    """Return what a checkpoint says besides the learner's state; refuse spaces that no policy is for."""
    spaces, policy = (envs.single_observation_space, envs.single_action_space), experiment.learner.policy
    observation_form(spaces[0])
    action_distribution(spaces[1], experiment.learner.policy)
    return {
        "experiment": experiment.to_dict(),
        "policy": describe_policy(policy, *spaces, extras_space(envs, policy.critic_extras)),
        "layout": layout(envs),
    }


def score(outcome: Outcome) -> FinalScore | None:
    """Score the policy of a finished run as its task does it, and add that to the summary; None without a score."""
    task, episodes = outcome.experiment.task, _to_be_scored(outcome)
    if outcome.folder is None or not episodes:
        return None
    try:
        if has_several_agents(outcome.experiment):
            found = score_agents(outcome.experiment, outcome.values, outcome.folder, episodes)
        else:
            found = task.final_score(outcome.values, str(outcome.folder.path), episodes)
    except NotScored as error:
        found = FinalScore({"unscored": str(error)}, str(error))
    except BaseException:  # page and trackers wait for a score that will not come
        outcome.pages.write(is_over=True)
        _finish_trackers(outcome)
        raise
    outcome.summary |= found.summary
    outcome.is_written = write_summary(outcome.folder, outcome.summary) and outcome.is_written
    for folder in _policies(outcome):
        outcome.pages.attempt(partial(task.record_episodes, folder, episodes))
    outcome.pages.write(is_over=True)
    _finish_trackers(outcome)
    return found


def _finish_trackers(outcome: Outcome) -> None:
    """Tell the trackers how a run ended and what it scored."""
    has_file = outcome.folder is not None and outcome.experiment.run.track_checkpoint
    if outcome.log is not None:
        outcome.log.finish_trackers(outcome.summary, outcome.folder.checkpoint if has_file and outcome.folder else None)


def _policies(outcome: Outcome) -> list[Path]:
    """Return the folders that hold one policy each: the run's, or those of its agents."""
    assert outcome.folder is not None
    if not has_several_agents(outcome.experiment):
        return [outcome.folder.path]
    return [outcome.folder.of_agent(seed).path for seed in outcome.experiment.learner.agents]


def _to_be_scored(outcome: Outcome) -> int:
    """Return how many episodes a run's score takes; 0 if it gets none."""
    wanted = outcome.experiment.run.evaluate_episodes
    if outcome.folder is None or outcome.status != "finished":
        return 0
    return outcome.experiment.task.final_episodes if wanted is None else wanted


def _pages(experiment: Experiment, folder: RunFolder | None, view: View) -> PageRhythm:
    if folder is None or not experiment.run.page:
        return NoPages()
    agents = experiment.learner.agents if has_several_agents(experiment) else ()
    return PageRhythm([folder.path, *(folder.of_agent(seed).path for seed in agents)], view.say)


def _open_log(
    experiment: Experiment,
    name: str,
    steps: int,
    folder: RunFolder | None,
    about: dict[str, Any],
    view: View,
    interrupts: Interrupts,
    values: dict[str, Any] | None,
    pages: PageRhythm,
    told: Trackers,
) -> Follower:
    """Return what follows the learner: the folder's recorder, if there is a folder."""
    task, settings, seconds = experiment.task, experiment.run, experiment.run.seconds
    limits = Limits(None if seconds else steps, seconds, settings.checkpoint_every, settings.evaluate_every)

    def interrupted() -> bool:
        return interrupts.signal is not None

    watch = no_watch() if LEARNERS[experiment.algorithm].on_device else None
    if folder is None:
        kinds = task.action_kinds()
        return Follower(limits, view, interrupted, values, starvation=watch, action_kinds=kinds, trackers=told)

    def quick_score(saved: dict[str, Any]) -> tuple[float, dict[str, float]] | None:
        step = f"step {short(saved['state']['steps'])}"
        if has_several_agents(experiment):
            step += f", seed {saved['experiment'][experiment.algorithm]['seed']}"
        try:
            found = task.quick_score(saved)
        except NotScored as error:
            view.say(f"{step}: {error}")
            return None
        view.say(f"{step}: {found.text}")
        return found.total, found.metrics

    arguments = (
        limits,
        about,
        view,
        interrupted,
        quick_score,
        values,
        told,
        watch,
        task.action_kinds(),
        pages,
    )
    if has_several_agents(experiment):
        return SeedsRecorder(experiment, name, folder, *arguments)
    return Recorder(folder, *arguments)


def _fail(experiment: Experiment, name: str, log: Follower, error: Exception, is_new: bool) -> None:
    """Leave behind what a failed run should: nothing, if it was refused at once; else a summary and the traceback."""
    log.close()
    what = error.summary if isinstance(error, GarrisonError) else str(error)
    summary = summarise(name, experiment, "failed", f"{type(error).__name__}: {what}", log, None)
    log.finish_trackers(summary)
    if not isinstance(log, Recorder):
        return
    if isinstance(error, UserError):
        if is_new and not log.last:
            log.discard()
        return
    write_summary(log.folder, summary)
    if isinstance(error, GarrisonError):
        error.details_file = log.folder.write_error(error)


@contextmanager
def _connected(address: str) -> Iterator[None]:
    """Stay connected to a cluster inside, if an address is given; who was connected before stays so afterwards."""
    if not address:
        yield
        return
    from garrison.cluster import connection

    was_connected = connection.load().is_initialized()
    connection.connect(address)
    try:
        yield
    finally:
        if not was_connected:
            connection.disconnect()


def _jax_layout(env: Any) -> str:
    from garrison.learn.jax_ppo.saved_scene import layout_of

    return layout_of(env)


def _remote_actors() -> Any:
    from garrison.cluster import Remote

    return Remote
