"""Alternating self-play: Red learns against the defenders so far, then Blue against the attackers so far, and again.

A generation is two ordinary run folders, `red-1` and `blue-1`, `red-2` and `blue-2`, ..., in one folder. Opponents are
frozen and play inside the batch, all with equal shares: those that the settings name, and the newest that were trained.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from garrison.agents.defender_team import find_defenders
from garrison.agents.shares import parse_shares
from garrison.cage2.names import RULES
from garrison.challenge.payoffs import Payoffs, payoffs
from garrison.errors import UserError, choose
from garrison.runs import session, yaml_settings
from garrison.runs.experiment import Experiment
from garrison.runs.experiment_file import load_config
from garrison.runs.folder import RunFolder
from garrison.runs.interrupts import Interrupts
from garrison.runs.presets import preset
from garrison.runs.resume import resume_values
from garrison.runs.start import open_view
from garrison.storage import checkpoint
from garrison.storage.atomic import write_json, write_text
from garrison.tasks.cage2 import parse_odds

SETTINGS, MATRIX = "selfplay.yaml", "payoffs.json"
PRESET = {"red": "red-vs-react-restore", "blue": "ppo-mixed"}
"""What each side's trainings begin from."""
FINISHED = "finished"


@dataclass(frozen=True)
class SelfPlayConfig:
    """What can be set about self-play."""

    generations: int = 3
    """How often each side is trained."""
    steps: int = 4_000_000
    """Environment steps of each training."""
    blue: str = "react-restore"
    """Who defends before there is anybody trained, and beside them: agents with commas between them."""
    red: str = "bline,meander"
    """Who attacks before there is anybody trained, and beside them."""
    population: int = 3
    """How many trained opponents play: the newest."""
    warm_start: bool = True
    """Whether a training starts from the weights of the generation before."""
    rules: str = "leaderboard"
    """The rules of the game: head or leaderboard."""
    length: int = 100
    """Steps after which an episode is cut."""
    envs: int = 1024
    """How many environments."""
    seed: int = 0
    """Decides every draw: generation g is trained with this plus g."""
    episodes: int = 200
    """Episodes per pair in the matrix, and of the score of each training."""

    def __post_init__(self) -> None:
        for name in ("generations", "steps", "population", "length", "envs"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 1; got {getattr(self, name)}.")
        if self.episodes < 2:
            raise UserError(f"episodes must be at least 2; got {self.episodes}.")
        choose("rules", self.rules, RULES)
        parse_shares("blue", self.blue)
        parse_odds(self.red)


@dataclass(frozen=True)
class GenerationRun:
    """One training: a side, and the generation from 1 on."""

    side: str
    generation: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.side}-{self.generation}"


class WarmStart(session.Hooks):
    """Lets a training start from the weights of another one."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def start(self, about: dict[str, Any], values: dict[str, Any] | None) -> session.Start:
        """Return the other one's weights, unless this one is continued."""
        if self._folder is None or values is not None:
            return session.Start()
        weights = checkpoint.tensors(checkpoint.load(self._folder)["state"])["weights"]
        return session.Start(weights=weights, says=f"starting from {self._folder.name}")


def trainings(config: SelfPlayConfig) -> list[GenerationRun]:
    """Return all trainings in their order."""
    return [GenerationRun(side, g) for g in range(1, config.generations + 1) for side in ("red", "blue")]


def opponents(config: SelfPlayConfig, folder: Path, training: GenerationRun) -> list[str]:
    """Return who plays against a training: those that the settings name, and the newest of the other side.

    >>> opponents(SelfPlayConfig(population=1), Path("runs/x"), GenerationRun("blue", 2))
    ['bline', 'meander', 'runs/x/red-2']
    """
    other = "blue" if training.side == "red" else "red"
    last = training.generation - (1 if training.side == "red" else 0)
    trained = range(max(1, last - config.population + 1), last + 1)
    first = config.blue if other == "blue" else config.red
    return [*parse_shares(other, first), *(str(folder / f"{other}-{g}") for g in trained)]


def experiment_of(config: SelfPlayConfig, folder: Path, training: GenerationRun) -> Experiment:
    """Return the settings of a training."""
    other = {"red": "blue", "blue": "red"}[training.side]
    return preset(PRESET[training.side]).changed(
        **{other: ",".join(opponents(config, folder, training))},
        steps=config.steps,
        rules=config.rules,
        length=config.length,
        envs=config.envs,
        seed=config.seed + training.generation,
        evaluate_episodes=config.episodes,
        out=str(folder / training.name),
    )


def begin(folder: Path, config: SelfPlayConfig) -> None:
    """Make a new folder, or fail where something is."""
    if "," in str(folder):
        raise UserError(f"a comma separates opponents, so the folder's name must have none; got {folder}.")
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty: continue it with --resume {folder}, or choose another with --out.")
    experiment_of(config, folder, GenerationRun("red", 1))  # says what is wrong before anything is written
    find_defenders(config.blue)
    folder.mkdir(parents=True, exist_ok=True)


def write_settings(folder: Path, config: SelfPlayConfig) -> None:
    """Keep the settings in the folder."""
    write_text(folder / SETTINGS, yaml_settings.to_yaml(asdict(config)))


def read_settings(folder: Path) -> SelfPlayConfig:
    """Return the settings of a folder that is continued."""
    if not (folder / SETTINGS).is_file():
        raise UserError(f"{folder} is no folder of self-play: it has no {SETTINGS}.")
    values = yaml_settings.from_yaml(yaml_settings.read_text(folder / SETTINGS))
    return yaml_settings.read(SelfPlayConfig, values, SelfPlayConfig(), SETTINGS)


def play(
    config: SelfPlayConfig,
    folder: Path,
    interrupts: Interrupts,
    quiet: bool = False,
) -> bool:
    """Train what is not trained yet; return whether everything is now, and not if a signal came in between."""
    for training in trainings(config):
        if interrupts.signal is not None or not _train(config, folder, training, interrupts, quiet):
            return False
    return True


def _train(
    config: SelfPlayConfig,
    folder: Path,
    training: GenerationRun,
    interrupts: Interrupts,
    quiet: bool,
) -> bool:
    """Begin or continue one training, if it has not ended; return whether it has now."""
    place = folder / training.name
    run = RunFolder(place)
    if run.summary.exists() and run.read_summary().get("status") == FINISHED:
        return True
    is_new = not run.checkpoint.exists()
    if is_new and run.config.exists():
        run.discard()  # it was stopped before its first checkpoint
    experiment = experiment_of(config, folder, training) if is_new else load_config(run.config)
    before = folder / f"{training.side}-{training.generation - 1}"
    hooks = WarmStart(before if config.warm_start and training.generation > 1 else None)
    with run.held(is_new=is_new):
        values = None if is_new else resume_values(run)
        view = open_view(training.name, experiment, run, quiet)
        outcome = session.run(experiment, training.name, run, view, interrupts, values, hooks)
        session.score(outcome)
    return outcome.status == FINISHED


def matrix(config: SelfPlayConfig, folder: Path, say: Callable[[str], None]) -> Payoffs:
    """Play everybody against everybody, and keep the result in the folder."""
    trained = {side: [str(folder / t.name) for t in trainings(config) if t.side == side] for side in ("blue", "red")}
    found = payoffs(
        [*parse_shares("blue", config.blue), *trained["blue"]],
        [*parse_shares("red", config.red), *trained["red"]],
        config.rules,
        config.length,
        config.episodes,
        config.seed,
        say,
    )
    write_json(folder / MATRIX, found.to_dict())
    return found
