"""`garrison workflow evaluate RUN|AGENT`: reward and compliance under every order, scripted defenders beside it."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from garrison.agents import load_agent
from garrison.agents.workflow import BASELINES, GreedyByOrder
from garrison.errors import UserError
from garrison.report.workflow_tables import write_scores
from garrison.runs.experiment import EnvConfig
from garrison.storage import checkpoint
from garrison.workflow.inherit import BASE, order_files
from garrison.workflow.orders import ALL, NAMES, label, name_of, parse_orders
from garrison.workflow.play import AgentPlayer, NetworkPlayer, Player, play
from garrison.workflow.scores import Score
from garrison.workflow.settings import TRAIN, WorkflowConfig, WorkflowExperiment

STATE_FILE = "search.json"
BY_TRUTH = "greedy-by-truth"
BESIDE = ("greedy-restore", BY_TRUTH, "fixed-restore", "random-fix")


@dataclass(frozen=True)
class Arguments:
    """Play a defender under orders; report its environment reward and its compliance with each."""

    agent: Annotated[str, tyro.conf.arg(metavar="RUN|AGENT")]
    """A run of garrison workflow train, a search, a checkpoint, any agent that garrison evaluate knows, or a scripted
    one: greedy-restore, greedy-remove, greedy-by-truth, fixed-restore, fixed-remove or random-fix."""
    orders: tuple[str, ...] = ()
    """Numbers, names, units with commas between them, or all; by default those that the run was trained on."""
    episodes: int = 200
    """Episodes with each order."""
    seed: int = 0
    """Decides every draw: the same seed gives the same result, and every order the same attackers."""
    red: str = ""
    """Who attacks, as in garrison train; by default as in training, or bline."""
    rules: Annotated[str, tyro.conf.arg(metavar="head|leaderboard")] = ""
    """By default those of the training, or head."""
    length: int = 0
    """Steps of an episode; by default as in training, or 100."""
    definition: Annotated[str, tyro.conf.arg(metavar="state|history")] = ""
    """When a fix complies; by default as in training, or state."""
    foothold: Annotated[str, tyro.conf.arg(metavar="ignore|count")] = ""
    """Whether User0 counts; by default as in training, or ignore."""
    baselines: bool = True
    """Show the scripted defenders beside it."""
    sample: bool = False
    """Draw a network's actions instead of taking the likeliest."""
    csv: str = ""
    """Write the table to this file too."""
    json: bool = False
    """Print one line of JSON."""


def main(arguments: list[str]) -> int:
    """Run `garrison workflow evaluate`."""
    args = tyro.cli(
        Arguments, prog="garrison workflow evaluate", args=arguments, config=(tyro.conf.PositionalRequiredArgs,)
    )
    if args.episodes < 2:
        raise UserError(f"an order needs at least 2 episodes to estimate its error; got {args.episodes}.")
    wanted = parse_orders(args.orders) if args.orders else None
    player, experiment = find_player(args.agent, args.sample)
    env, workflow = _settings(args, experiment)
    orders = wanted or list(workflow.orders) or parse_orders([ALL])
    players: dict[str, Player] = {player.name: player}
    if args.baselines:
        players |= {name: scripted(name) for name in BESIDE if name != player.name}
    tables = {name: score_orders(one, env, workflow, orders, args.episodes, args.seed) for name, one in players.items()}
    if args.csv:
        write_scores(Path(args.csv), [score.to_dict() for score in tables[player.name]], NAMES)
    if args.json:
        rows = {name: [score.to_dict() for score in scores] for name, scores in tables.items()}
        about = {"agent": player.name, "episodes": args.episodes, "seed": args.seed, "env": dataclasses.asdict(env)}
        print(json.dumps({**about, "scores": rows}))
    else:
        print(to_text(tables, env, args.episodes, args.seed))
    return 0


def score_orders(
    player: Player, env: EnvConfig, workflow: WorkflowConfig, orders: Sequence[int], episodes: int, seed: int
) -> list[Score]:
    """Play every order."""
    return [play(player, env, workflow, order, episodes, seed) for order in orders]


class SearchPlayer:
    """The networks of a search: each order's own, the base for an order that was not tried."""

    def __init__(self, folder: Path, sample: bool) -> None:
        self.name, self._sample = str(folder), sample
        self._files = {order: file for file, (order, _) in order_files(folder).items()}  # an order's latest trial
        self._base = folder / BASE / checkpoint.NAME
        if not self._files:
            raise UserError(f"the search in {folder} has not finished an order yet.")
        first = checkpoint.load(next(iter(self._files.values())))
        self.experiment = WorkflowExperiment.of_checkpoint(first)
        self.orders = tuple(sorted(self._files))
        env = self.experiment.env
        self.interface: dict[str, Any] = {
            "encoder": env.encoder,
            "observation": env.observation,
            "actions": env.actions,
        }

    def begin(self, envs: Any, order: int, seed: int) -> None:
        """Take the order's network."""
        file = self._files.get(order, self._base)
        if not file.exists():
            raise UserError(f"the search has not tried the order {label(order)}, and it has no base network.")
        self._player = NetworkPlayer(checkpoint.load(file), self.name, self._sample)
        self._player.begin(envs, order, seed)

    def act(self, envs: Any) -> Any:
        """Ask the order's network."""
        return self._player.act(envs)


def find_player(name: str, sample: bool = False) -> tuple[Player, WorkflowExperiment]:
    """Return a defender by its name or path, and the settings that it was trained with."""
    if name in BASELINES or name == BY_TRUTH:
        return scripted(name), TRAIN
    path = Path(name)
    if (path / STATE_FILE).exists():
        search = SearchPlayer(path, sample)
        return search, search.experiment.of_orders(search.orders)
    if path.is_dir() or path.suffix == ".garrison":
        values = checkpoint.load(path)
        checkpoint.require(values, name)
        if "workflow" in values["experiment"]:
            return NetworkPlayer(values, name, sample), WorkflowExperiment.of_checkpoint(values)
    agent = load_agent(name, sample)
    rules = agent.rules or TRAIN.env.rules
    settings = dataclasses.replace(TRAIN, env=dataclasses.replace(TRAIN.env, rules=rules))
    return AgentPlayer(lambda order, envs: agent, name, agent.encoder), settings


def scripted(name: str) -> AgentPlayer:
    """Return a scripted defender that follows the order, or does not."""
    if name == BY_TRUTH:
        return AgentPlayer(lambda order, envs: GreedyByOrder(order, truth=envs.truth), name)
    return AgentPlayer(lambda order, envs: BASELINES[name](order), name)


def to_text(tables: dict[str, list[Score]], env: EnvConfig, episodes: int, seed: int) -> str:
    """Return the scores as a table, a row for each order, the best reward of the first defender on top."""
    first, *others = tables
    widths = [max(16, len(name) + 2) for name in others]
    lines = [
        f"{first}, against {env.red}, rules {env.rules}, {env.length} steps, {episodes} episodes an order, seed {seed}",
        "",
        f"{'':4} {'':50} {'reward':>16} {'compliance':>14} {'fixes':>6}"
        + "".join(f"{name:>{width}}" for name, width in zip(others, widths, strict=True)),
    ]
    for row in sorted(range(len(tables[first])), key=lambda k: -tables[first][k].reward):
        score = tables[first][row]
        beside = (tables[name][row] for name in others)
        lines.append(
            f"{score.order:4} {label(score.order):50} {f'{score.reward:.2f} ± {score.reward_ci95:.2f}':>16} "
            f"{f'{score.compliance:.3f} ± {score.compliance_ci95:.3f}':>14} {score.fixes:6.1f}"
            + "".join(
                f"{f'{b.reward:.1f} | {b.compliance:.2f}':>{width}}" for b, width in zip(beside, widths, strict=True)
            )
        )
    lines += ["", "mean over the orders:"]
    for name, scores in tables.items():
        reward = sum(s.reward for s in scores) / len(scores)
        compliance = sum(s.compliance for s in scores) / len(scores)
        lines.append(f"  {name:<24} reward {reward:9.2f}   compliance {compliance:.3f}")
    best = max(tables[first], key=lambda score: score.reward)
    lines += ["", f"best reward: {name_of(best.order)} ({best.order})   (± is a 95 % interval)"]
    return "\n".join(lines)


def _settings(args: Arguments, experiment: WorkflowExperiment) -> tuple[EnvConfig, WorkflowConfig]:
    env = {name: getattr(args, name) for name in ("red", "rules", "length") if getattr(args, name)}
    workflow = {name: getattr(args, name) for name in ("definition", "foothold") if getattr(args, name)}
    return dataclasses.replace(experiment.env, **env), dataclasses.replace(experiment.workflow, **workflow)
