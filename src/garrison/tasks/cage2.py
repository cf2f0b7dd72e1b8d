"""CAGE-2: its settings, how they reach the simulator, and the challenge's protocol as the score of a training."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from garrison.agents.learned_red import check_red, find_red
from garrison.agents.shares import parse_shares
from garrison.cage2.attackers import EXTERNAL
from garrison.cage2.names import (
    ACTION_SETS,
    ACTIONS,
    DEFAULT_RULES,
    ENCODERS,
    OBSERVATIONS,
    RULES,
    SCRIPTED_REDS,
    BlueKind,
)
from garrison.challenge import leaderboard
from garrison.challenge.evaluation import CellScore, evaluate
from garrison.errors import UserError, choose
from garrison.learn.config import LearnerConfig
from garrison.learn.registry import LEARNERS, algorithm_of
from garrison.system import cores, require
from garrison.tasks.task import MANY, EnvSettings, FinalScore, QuickScore, Task

NATIVE = ("auto", "native")
"""The backends that are the compiled batch itself."""
MASKED = (*NATIVE, "jax")
"""Those that have action masks"""
REWARDS = ("score", "regret")
QUICK_CELL_EPISODES = 100
WATCH = "watch.html"
"""Episodes of a finished run, in its folder"""
KINDS = tuple(name.capitalize() for name in BlueKind._fields)
"""Kinds of Blue's actions, by their codes."""
_KIND_OF = {action.name: KINDS[action.kind] for action in ACTIONS}


@dataclass(frozen=True)
class Cage2Settings(EnvSettings):
    """What can be set about CAGE-2."""

    red: str = "bline:0.5,meander:0.5"
    """Who attacks in CAGE-2: a name (bline, meander, sleep), several with equal odds (bline,meander), or with odds
    (bline:0.7,meander:0.3), drawn at each reset. A trained attacker is its run folder or checkpoint, one of your own
    module:Class."""
    rules: str = DEFAULT_RULES
    """CAGE-2: head (CybORG as it is) or leaderboard (as it was when the challenge was scored)."""
    length: int = 100
    """CAGE-2: steps after which an episode is cut."""
    challenge_encoder: str = "challenge"
    """CAGE-2: which 52 observations Blue sees: challenge or wrapper2."""
    observation: str = "bits"
    """CAGE-2: what the policy sees: bits (the 52), memory (also what it can remember of them and of its actions) or
    history (also when that was)."""
    belief: bool = False
    """CAGE-2: show the policy also what can be concluded from all that it did and was shown: how likely each of some
    facts about the true state is (`garrison.belief`). A step then takes several times as long."""
    actions: str = "all"
    """CAGE-2: what the policy chooses from: all (the 145) or compact (the 67 that can pay)."""
    reward: str = "score"
    """CAGE-2: what is learned from: score (the challenge's reward) or regret (what each step loses against the best
    that a defender could do who sees everything, over all of the protocol's lengths; solving the game takes a quarter
    of a minute at the start). Reported returns are scores."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.length < MANY:
            raise UserError(f"length must be at least 1, and less than {MANY:,}; got {self.length}.")
        choose("rules", self.rules, RULES)
        choose("challenge_encoder", self.challenge_encoder, ENCODERS)
        choose("observation", self.observation, OBSERVATIONS)
        choose("actions", self.actions, ACTION_SETS)
        choose("reward", self.reward, REWARDS)
        if self.reward == "regret":
            from garrison.limit.solved_games import check_game

            check_game(self.red_odds, self.length)
        _ = self.red_odds

    @property
    def red_odds(self) -> dict[str, float]:
        """The odds of each attacker."""
        return parse_odds(self.red)


def env_arguments(config: Cage2Settings) -> dict[str, Any]:
    """Return the settings as keyword arguments of `garrison.cage2.Env` and `VectorEnv`."""
    reds = {find_red(name): share for name, share in config.red_odds.items()}
    return {
        "red": reds if len(reds) > 1 else next(iter(reds)),
        "rules": config.rules,
        "length": config.length,
        "encoder": config.challenge_encoder,
        "observation": config.observation,
        "actions": config.actions,
    }


@dataclass(frozen=True)
class Cage2Task(Task):
    """The challenge, scored by its protocol."""

    config: Cage2Settings
    final_episodes: ClassVar[int] = 1000

    def make_envs(self, num_envs: int) -> Any:
        """Make the compiled batch, or on another backend that many Python environments."""
        config, arguments = self.config, env_arguments(self.config)
        if config.backend in NATIVE:
            return self._make_batch(num_envs)
        from garrison import vector

        return vector.make(
            config.env,
            num_envs,
            config.backend,
            workers=config.workers or None,
            autoreset_mode=self.autoreset_mode,
            extras=self.extras,
            copy=False,
            timing="workers",
            **arguments,
        )

    def _make_batch(self, num_envs: int) -> Any:
        """Make the compiled batch, with what is to be learned from and shown beside it."""
        config = self.config
        arguments = env_arguments(config) | {"autoreset_mode": self.autoreset_mode, "copy": False}
        if config.reward == "regret":
            from garrison.limit.regret import Regret
            from garrison.limit.regret_env import RegretEnv

            regret = Regret(config.rules, config.red_odds, config.length, threads=cores())
            envs: Any = RegretEnv(regret, num_envs, **arguments)
        else:
            from garrison.cage2 import VectorEnv

            envs = VectorEnv(num_envs, **arguments)
        if not config.belief:
            return envs
        from garrison.belief.belief_env import BeliefEnv

        return BeliefEnv(envs, threads=cores())

    def make_jax_env(self) -> Any:
        """Make the simulator's twin in JAX."""
        require("jax")
        self._check_on_device()
        from garrison.jaxsim import Cage2

        return Cage2(**env_arguments(self.config))

    def check(self, learner: LearnerConfig) -> None:
        """Refuse what the learner asks for and the environments do not have."""
        if self.config.backend not in NATIVE:
            for what in ["reward=regret"] * (self.config.reward == "regret") + ["beliefs"] * self.config.belief:
                raise UserError(f"the backend {self.config.backend!r} has no {what}: use native.")
        if LEARNERS[algorithm_of(learner)].on_device:
            self._check_on_device()
        elif self.config.backend not in MASKED and learner.action_masks:
            raise UserError(
                f"the backend {self.config.backend!r} has no action masks: say --no-action-masks, or use native."
            )

    def _check_on_device(self) -> None:
        if self.config.backend not in NATIVE:
            raise UserError(f"ppo-jax steps CAGE-2 on the device, not by {self.config.backend!r}: leave out --backend.")
        if self.config.reward != "score":
            raise UserError(f"ppo-jax learns from the score, not from {self.config.reward}: say --reward score.")
        if self.config.belief:
            raise UserError("ppo-jax keeps no beliefs: say --no-belief, or use ppo.")
        others = [name for name in self.config.red_odds if name not in SCRIPTED_REDS]
        if others:
            raise UserError(
                f"an attacker that is not scripted ({', '.join(others)}) cannot play on the device: use ppo."
            )

    def describe(self) -> str:
        """Return the attackers and the rules."""
        return f"against {self.config.red}, rules {self.config.rules}"

    def facts(self) -> dict[str, Any]:
        """Return what decides the difficulty."""
        config = self.config
        return {
            "backend": config.backend,
            "red": config.red,
            "red_odds": config.red_odds,
            "rules": config.rules,
            "length": config.length,
        }

    def action_kinds(self) -> tuple[str, ...]:
        """Return the kind of each action that the policy chooses from."""
        from garrison.cage2.action_sets import ACTION_IDS

        return tuple(KINDS[ACTIONS[action].kind] for action in ACTION_IDS[self.config.actions])

    def known_scores(self) -> dict[str, float]:
        """Return what defenders of the leaderboard score against these attackers, if the rules are the same."""
        return leaderboard.marks(self.config.red_odds, self.config.length, self.config.rules)

    def quick_score(self, values: dict[str, Any]) -> QuickScore:
        """Play the protocol with fewer episodes."""
        from garrison.agents.network_agent import NetworkAgent

        result = evaluate(NetworkAgent.of(values, "checkpoint"), episodes=QUICK_CELL_EPISODES)
        cells = {f"evaluation/{cell.red}_{cell.length}": cell.mean for cell in result.cells}
        return QuickScore(
            result.total,
            {"evaluation/total": result.total, "evaluation/ci95": result.ci95, **cells},
            f"official total {result.total:.2f} ± {result.ci95:.2f}",
        )

    def final_score(self, values: dict[str, Any], name: str, episodes: int) -> FinalScore:
        """Play the protocol, greedy; also count the share of each action against each attacker."""
        from garrison.agents.counting import CountingAgent
        from garrison.agents.network_agent import NetworkAgent

        cells: list[CellScore] = []
        mix: dict[str, dict[str, float]] = {}
        seconds = 0.0
        for red in leaderboard.EVALUATED_REDS:
            agent = CountingAgent(NetworkAgent.of(values, name))
            part = evaluate(agent, episodes=episodes, reds=[red])
            cells += part.cells
            seconds += part.seconds
            mix[red] = agent.shares()
        cells.sort(key=lambda cell: (cell.length, leaderboard.EVALUATED_REDS.index(cell.red)))
        evaluation = dataclasses.replace(part, cells=tuple(cells), seconds=seconds)
        return FinalScore({"evaluation": evaluation.to_dict(), "action_mix": mix}, f"\n{evaluation.to_text()}")

    def record_episodes(self, run: Path, episodes: int) -> None:
        """Write the worst, the median and the best of the episodes against the likeliest attacker as a page."""
        from garrison.episodes.watching import watch

        config = self.config
        red = attacker_of(config)
        watch(str(run), red=red, length=config.length, rules=config.rules, worst=1, episodes=episodes).save(run / WATCH)


def attacker_of(config: Cage2Settings) -> str:
    """Return who attacks when only one can: the likeliest."""
    odds = config.red_odds
    return max(odds, key=lambda red: odds[red])


def kind_of(action: str) -> str:
    """Return the kind of one of Blue's actions by its name; an unknown one is its own kind.

    >>> kind_of("Restore User1")
    'Restore'
    """
    return _KIND_OF.get(action, action)


def parse_odds(text: str) -> dict[str, float]:
    """Read `bline`, `bline,meander` or `bline:0.7,meander:0.3`; trained attackers and one's own are not loaded yet.

    >>> parse_odds("bline,meander")
    {'bline': 0.5, 'meander': 0.5}
    """
    odds = parse_shares("red", text)
    for name in odds:
        if name == EXTERNAL:
            raise UserError(
                "red 'external' waits for Red's actions, which a learner does not give: write your attacker as a class "
                "and name it, as in --red my_module:MyRed (docs/extend/red_agent.md)."
            )
        check_red(name)
    return odds
