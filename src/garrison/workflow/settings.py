"""What decides a training on workflows, and a search among them: frozen dataclasses, YAML files in and out."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import tyro

from garrison.cage2.workflow import DEFINITIONS, FOOTHOLDS, Workflow
from garrison.errors import UserError, choose
from garrison.formatting import short
from garrison.learn.config import LearnerConfig, PPOConfig
from garrison.learn.registry import LEARNERS
from garrison.registration import CAGE2
from garrison.runs import yaml_settings
from garrison.runs.experiment import Experiment
from garrison.tasks.cage2 import NATIVE
from garrison.tasks.registry import EnvConfig
from garrison.workflow.decisions import EXHAUSTIVE, GP, METHODS
from garrison.workflow.orders import ORDERS, label
from garrison.workflow.stopping import StopRules
from garrison.workflow.workflow_task import WorkflowTask

DEFAULT_STEPS = PPOConfig().steps
DEFAULT_BUDGET = 100_000  # episodes of a search
RENAMED = {"total_episodes": "budget_episodes"}
"""Settings of a search that had another name."""


@dataclass(frozen=True)
class WorkflowConfig:
    """What following the workflow means and is worth, and when training is over."""

    definition: str = "state"
    """When a fix complies: state (nothing is compromised, or its unit is the first compromised one in the order) or
    history (every more urgent unit was fixed before in this episode)."""
    foothold: str = "ignore"
    """Whether User0, which Red never loses, counts as compromised and as a target of fixes: ignore or count."""
    alignment_lambda: float = 30.0
    """Weight of the alignment reward: what an episode of compliance 1 earns."""
    step_bonus: float = 0.0
    """Times alignment_lambda, earned by each compliant fix."""
    step_penalty: float = 0.0
    """Times alignment_lambda, paid for each fix that does not comply."""
    no_fix_penalty: float = 0.2
    """Times alignment_lambda, paid at the end of an episode without a fix."""
    compliance_threshold: float = 0.95
    """Training is over when the compliance of the last episodes reaches this; over all orders that are trained."""
    patience: int = 30
    """Training is over after this many updates without a gain of 0.01 in compliance; 0 means never."""
    min_episodes: int = 0
    """Episodes, over all environments, before compliance or patience may end the training; all of them if `episodes`
    are fewer."""
    episodes: int = 100_000
    """Episodes per training, at most, over all environments."""
    inherited_learning_rate: float = 5e-4
    """Adam's learning rate where training starts from inherited weights; `learning_rate` is for fresh ones."""
    orders: Annotated[tuple[int, ...], tyro.conf.Suppress] = ()
    """Numbers of the orders that are trained."""

    def __post_init__(self) -> None:
        choose("definition", self.definition, DEFINITIONS)
        choose("foothold", self.foothold, FOOTHOLDS)
        for name in ("alignment_lambda", "step_bonus", "step_penalty", "no_fix_penalty"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise UserError(f"{name} must be 0 or a positive number; got {getattr(self, name):g}.")
        if not 0 < self.compliance_threshold <= 1:
            raise UserError(
                f"compliance_threshold is a share of the fixes, more than 0 and at most 1; "
                f"got {self.compliance_threshold:g}."
            )
        if not 0 < self.inherited_learning_rate < float("inf"):
            raise UserError(f"inherited_learning_rate must be positive; got {self.inherited_learning_rate:g}.")
        for name in ("patience", "min_episodes"):
            if getattr(self, name) < 0:
                raise UserError(f"{name} must be 0 or more; got {getattr(self, name)}.")
        if self.episodes < 1:
            raise UserError(f"episodes must be at least 1; got {self.episodes}.")
        if any(not 0 <= order < len(ORDERS) for order in self.orders):
            raise UserError(f"orders are numbered 0 to {len(ORDERS) - 1}; got {self.orders}.")

    def workflow(self, orders: list[int]) -> Workflow:
        """Return the simulator's settings for environments with these orders, one each."""
        return Workflow(
            orders=orders,
            definition=self.definition,
            foothold=self.foothold,
            weight=self.alignment_lambda,
            step_bonus=self.step_bonus,
            step_penalty=self.step_penalty,
            no_fix_penalty=self.no_fix_penalty,
        )

    def rules(self, timed: bool = False) -> StopRules:
        """Return when to stop; if `timed`, the clock stands in for the number of episodes."""
        return StopRules(self.compliance_threshold, self.patience, self.min_episodes, None if timed else self.episodes)

    @property
    def needed_episodes(self) -> int:
        """What a training must be able to get to be worth beginning."""
        return max(1, min(self.min_episodes, self.episodes))


@dataclass(frozen=True)
class WorkflowExperiment(Experiment):
    """One training on one or more orders. Its length is a number of episodes; the learner's steps follow from it."""

    workflow: WorkflowConfig = field(default_factory=WorkflowConfig)

    what: ClassVar[str] = "training on workflows"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.env.env != CAGE2 or self.env.backend not in NATIVE:
            raise UserError("workflows are followed in the native CAGE-2 only: leave out --env and --backend.")
        if self.env.reward != "score" or self.env.belief:
            raise UserError("workflows are judged beside the score, without beliefs: leave out --reward and --belief.")
        learner = LEARNERS[self.algorithm]
        if learner.has_actors or learner.on_device:
            raise UserError(f"{self.algorithm} has environments of its own, which cannot follow workflows: use ppo.")
        if self.learner.steps != DEFAULT_STEPS:
            raise UserError("training on workflows is measured in episodes: say --episodes N instead of --steps.")
        if self.run.evaluate_every:
            raise UserError("evaluate_every scores without an order: training on workflows has no use for it.")

    @property
    def task(self) -> WorkflowTask:
        """CAGE-2 with the orders to follow."""
        extras = self.learner.policy.critic_extras
        return WorkflowTask(self.env, self.workflow, self.learner.seed, extras=extras)

    def describe(self) -> str:
        """Return one line about the training."""
        env, workflow, run = self.env, self.workflow, self.run
        orders = f"{len(workflow.orders)} orders" if len(workflow.orders) != 1 else label(workflow.orders[0])
        until = f"for {run.duration}" if run.duration else f"{short(workflow.episodes)} episodes at most"
        return (
            f"{orders}; against {env.red}, rules {env.rules}, {env.envs} envs, lambda {workflow.alignment_lambda:g}, "
            f"{until}, seed {self.learner.seed}"
        )

    def settings(self, inherits: bool) -> LearnerConfig:
        """Return the learner's settings, with the steps that the episodes make and the learning rate for the start."""
        rate = self.workflow.inherited_learning_rate if inherits else self.learner.learning_rate
        return dataclasses.replace(self.learner, steps=self.workflow.episodes * self.env.length, learning_rate=rate)

    def of_orders(self, orders: Sequence[int]) -> Self:
        """Return the same for other orders."""
        return dataclasses.replace(self, workflow=dataclasses.replace(self.workflow, orders=tuple(orders)))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as nested plain values, without the steps, which follow from the episodes."""
        values = super().to_dict()
        del values["preset"]  # there are none for workflows
        del values[self.algorithm]["steps"]
        return values

    @classmethod
    def of_checkpoint(cls, values: dict[str, Any]) -> Self:
        """Read the settings of a network from its checkpoint, also if it comes from a search."""
        settings = {key: value for key, value in values["experiment"].items() if key != "search"}
        found = cls.from_dict(settings, cls())
        assert isinstance(found, cls)
        return found

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the settings of a run."""
        text = yaml_settings.read_text(path)
        try:
            found = cls.from_yaml(text, cls())
        except UserError as error:
            raise UserError(f"{path} does not hold the settings of a {cls.what}: {error}") from None
        assert isinstance(found, cls)
        return found


@dataclass(frozen=True)
class SearchConfig:
    """How orders are searched."""

    method: str = GP
    """Who chooses: gp (upper confidence bound of a Gaussian process), random or exhaustive."""
    budget_episodes: int = 0
    """Episodes to spend in all, over all environments and with those of the base; evaluations are not counted. 0 means
    100,000 for gp and random, and as many as all orders need for exhaustive."""
    beta: float = 2.0
    """Standard deviations that the upper confidence bound adds to the mean."""
    initial: int = 3
    """Rewards to observe at random orders before the Gaussian process decides."""
    revisit: bool = False
    """Whether gp may choose an order again: its training then goes on."""
    fixed_episodes: bool = False
    """Train every order for exactly `episodes`, and let its reward count whatever its compliance."""
    base_episodes: int = 50_000
    """Episodes of one network on all orders at once, from which every order starts; 0 means that an order starts from
    the nearest one trained, by Kendall's distance, and the first from nothing."""

    def __post_init__(self) -> None:
        choose("method", self.method, METHODS)
        for name in ("budget_episodes", "base_episodes", "beta"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise UserError(f"{name} must be 0 or more; got {getattr(self, name)}.")
        if self.initial < 1:
            raise UserError(f"initial must be at least 1; got {self.initial}.")
        if self.revisit and self.method != GP:
            raise UserError(f"revisit is for the method gp; {self.method} tries every order once.")
        if self.budget is not None and self.budget <= self.base_episodes:
            raise UserError(
                f"budget_episodes ({self.budget}) must leave some for the orders after base_episodes "
                f"({self.base_episodes})."
            )

    @property
    def budget(self) -> int | None:
        """The episodes to spend in all, None if there is no limit."""
        return self.budget_episodes or (None if self.method == EXHAUSTIVE else DEFAULT_BUDGET)


@dataclass(frozen=True)
class SearchExperiment(WorkflowExperiment):
    """A search: the training of each order, and who chooses the orders."""

    search: SearchConfig = field(default_factory=SearchConfig)

    what: ClassVar[str] = "search"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.run.evaluate_episodes == 0:
            raise UserError("a search measures every order after its training: evaluate_episodes must be at least 2.")
        if self.search.method == EXHAUSTIVE and self.run.duration:
            raise UserError("exhaustive tries every order, so it takes no --duration.")

    def describe(self) -> str:
        """Return one line about the search."""
        env, workflow, search = self.env, self.workflow, self.search
        total = f"{short(search.budget)} episodes in all" if search.budget else "until every order is tried"
        start = "the nearest trained order"
        if search.base_episodes:
            start = f"a base of {short(search.base_episodes)} episodes"
        goal = "whatever its compliance" if search.fixed_episodes else f"compliance {workflow.compliance_threshold:g}"
        return (
            f"search by {search.method} over {len(ORDERS)} orders: against {env.red}, rules {env.rules}, {goal}, at "
            f"most {short(workflow.episodes)} episodes per order starting from {start}, {total}, "
            f"seed {self.learner.seed}"
        )

    @classmethod
    def from_dict(cls, values: Any, base: Self) -> Self:
        """Read nested plain values, those of searches before `budget_episodes` had its name included."""
        if isinstance(values, dict) and isinstance(values.get("search"), dict):
            search = {RENAMED.get(key, key): value for key, value in values["search"].items()}
            values = {**values, "search": search}
        return super().from_dict(values, base)

    def rules(self, spent: int) -> StopRules:
        """Return when the training of one order is over, after this many episodes of the whole search."""
        workflow, budget = self.workflow, self.search.budget
        most = workflow.episodes if budget is None else min(workflow.episodes, budget - spent)
        if self.search.fixed_episodes:
            return StopRules(None, 0, 0, most)
        return dataclasses.replace(workflow.rules(), max_episodes=most)


_ENV = EnvConfig(envs=240, red="bline", rules="head", observation="memory", actions="compact")
_PPO = PPOConfig(
    rollout=100,
    epochs=4,
    minibatches=8,
    learning_rate=2e-3,
    entropy_coef=0.01,
    entropy_schedule="linear",
    reward_scale=0.1,
    action_masks=True,
)
TRAIN = WorkflowExperiment(env=_ENV, learner=_PPO)
SEARCH = SearchExperiment(env=_ENV, learner=_PPO, workflow=WorkflowConfig(episodes=2_400, min_episodes=2_400))
