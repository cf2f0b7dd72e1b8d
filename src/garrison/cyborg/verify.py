"""`garrison cyborg run --verify N`: a script's first episodes, played again in the original CybORG and compared."""

import functools
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from garrison.cage2.cyborg import INSTALL
from garrison.cyborg import replay
from garrison.errors import GarrisonError, UserError

DROPIN = Path(__file__).parent / "dropin"


def find_original(given: Path | None) -> Path:
    """Return the folder that holds the original's package: the one given, or where Python finds it without ours."""
    if given is not None:
        if not (given / "CybORG" / "__init__.py").is_file():
            raise UserError(
                f"{given} holds no package CybORG: --original is the folder in which CybORG/__init__.py lies."
            )
        return given.absolute()
    spec = PathFinder.find_spec("CybORG", [place for place in sys.path if Path(place).absolute() != DROPIN])
    if spec is None or spec.origin is None:
        raise UserError("--verify compares with the original CybORG, which cannot be imported.", hint=INSTALL)
    return Path(spec.origin).absolute().parents[1]


class Verification:
    """Watches every CybORG of this process while a script runs, then compares it with the original."""

    def __init__(self, episodes: int, rules: str, original: Path | None = None, python: str = sys.executable) -> None:
        if episodes < 1:
            raise UserError(f"--verify takes the number of episodes to compare, at least 1; got {episodes}")
        self._episodes = episodes
        self._rules = rules
        self._python = python
        self._original = find_original(original)
        self._events: list[dict[str, Any]] = []
        self._count = 0

    def watch(self, cyborg_class: Any) -> None:
        """Record what the objects of our class CybORG do and show, from now on."""
        watch(cyborg_class, self._episodes, self._events, self._next_number)

    def _next_number(self) -> int:
        self._count += 1
        return self._count - 1

    def compare(self) -> str:
        """Play everything again in the original; return what agrees, raise at the first difference."""
        if not any(event["do"] == "step" for event in self._events):
            return "--verify: the script played no step in this process, so nothing was compared."
        found = self._replay()
        if "rules" in found:
            raise UserError(
                f"the CybORG in {self._original} plays by the rules {found['rules']!r}, the script by {self._rules!r}.",
                hint="Choose the other with --rules, or another CybORG with --original.",
            )
        played = f"{found['episodes']} episodes, {found['steps']} steps"
        if "what" not in found:
            return f"{played}: every observation and reward equal"
        raise GarrisonError(
            f"the original CybORG shows something else after {played}: {found['where']}, {found['what']}.\n"
            f"here:     {found['here']}\noriginal: {found['original']}"
        )

    def _replay(self) -> dict[str, Any]:
        """Start the other process and return what it found."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "played.jsonl"
            file.write_text("".join(json.dumps(event) + "\n" for event in self._events))
            paths = [str(self._original)]
            paths += [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and Path(p) != DROPIN]
            done = subprocess.run(
                [self._python, "-P", "-W", "ignore", replay.__file__, str(file), self._rules],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise GarrisonError(
                f"the original CybORG in {self._original} could not play this: {last[0]}",
                hint="If it lacks a package, install that, or name an interpreter that has it with --original-python.",
                details=done.stderr,
            )
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found


class Watched:
    """What one CybORG object did: events for `replay`, until enough episodes were played."""

    def __init__(self, number: int, episodes: int, events: list[dict[str, Any]]) -> None:
        self.number = number
        self.is_open = True
        self.turns: list[dict[str, Any]] = []
        """of the step that is being played: what the user's agents chose"""
        self._episodes = episodes
        self._events = events
        self._has_stepped = False
        self._played = 0
        self._has_users_agent = False

    def agents(self, given: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the agents to play with: the user's own are watched while they choose."""
        if given is None:
            return None
        own = {side: agent for side, agent in given.items() if not _is_cyborgs(agent)}
        self._has_users_agent = bool(own)
        return {**given, **{side: self._watched(side, agent) for side, agent in own.items()}}

    def _watched(self, side: str, agent_class: Any) -> Any:
        """Return a class like the user's that notes what it chooses, and the generator before and after."""

        def get_action(agent: Any, observation: Any, action_space: Any) -> Any:
            before = replay.digest(random.getstate())
            action = agent_class.get_action(agent, observation, action_space)
            if self.is_open:
                after = random.getstate()
                self.turns.append({"agent": side, "before": before, "after": after, "action": replay.spell(action)})
            return action

        return type(agent_class.__name__, (agent_class,), {"get_action": get_action})

    def begins(self) -> None:
        """Stop watching when an episode begins after enough of them."""
        if self._has_stepped:
            self._played += 1
            self._has_stepped = False
        self.is_open = self.is_open and self._played < self._episodes

    def note(self, do: str, before: Any, cyborg: Any, result: Any = None, **more: Any) -> None:
        """Add an event: what was done, from where, and what is shown now."""
        self._has_stepped |= do == "step"
        # A user's agent may draw whenever it is called: where the generator is then is no business of CybORG's.
        after = None if self._has_users_agent else replay.digest(random.getstate())
        shown = replay.shows(cyborg, result if do == "step" else None)
        self._events.append({"do": do, "cyborg": self.number, "before": before, "after": after, "shows": shown, **more})


def _is_cyborgs(agent: Any) -> bool:
    """Say whether an agent's class is one that the original has too, and can play itself."""
    agents = sys.modules["CybORG.Agents"]
    return isinstance(agent, type) and getattr(agents, agent.__name__, None) is agent


def watch(cyborg_class: Any, episodes: int, events: list[dict[str, Any]], next_number: Callable[[], int]) -> None:
    """Put recording methods in the place of the class's own."""
    construct, reset, step = cyborg_class.__init__, cyborg_class.reset, cyborg_class.step
    watched: WeakKeyDictionary[Any, Watched] = WeakKeyDictionary()

    @functools.wraps(construct)
    def recorded_construct(
        cyborg: Any, scenario_file: Any, environment: str = "sim", env_config: Any = None, agents: Any = None
    ) -> None:
        watching = watched[cyborg] = Watched(next_number(), episodes, events)
        before = random.getstate()
        construct(cyborg, scenario_file, environment, env_config, watching.agents(agents))
        named = {side: agent.__name__ if _is_cyborgs(agent) else "" for side, agent in (agents or {}).items()}
        watching.note("construct", before, cyborg, agents=named)

    @functools.wraps(reset)
    def recorded_reset(cyborg: Any, agent: Any = None) -> Any:
        watching = watched.get(cyborg)
        if watching is None:  # a copy of one that is
            return reset(cyborg, agent)
        watching.begins()
        before = random.getstate()
        result = reset(cyborg, agent)
        if watching.is_open:
            watching.note("reset", before, cyborg, agent=agent)
        return result

    @functools.wraps(step)
    def recorded_step(cyborg: Any, agent: Any = None, action: Any = None, skip_valid_action_check: bool = False) -> Any:
        watching = watched.get(cyborg)
        if watching is None or not watching.is_open:
            return step(cyborg, agent, action, skip_valid_action_check)
        watching.turns = []
        before = random.getstate()
        result = step(cyborg, agent, action, skip_valid_action_check)
        watching.note(
            "step",
            before,
            cyborg,
            result,
            agent=agent,
            action=None if action is None else replay.spell(action),
            skips_check=skip_valid_action_check,
            turns=watching.turns,
        )
        return result

    cyborg_class.__init__ = recorded_construct
    cyborg_class.reset = recorded_reset
    cyborg_class.step = recorded_step
