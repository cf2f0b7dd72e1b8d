"""Noting what every CybORG of a process does and shows, for `garrison cyborg run --verify N`.

The first episodes of each object are written down as they are played, a line for each call, into a folder that the
command reads when the script has ended. A process that the script starts has a file of its own there.
"""

import functools
import json
import os
import random
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

from garrison.cyborg.replay import digest, shows, spell
from garrison.cyborg.script_settings import verified

_objects = 0
"""how many were made in this process"""


class Noted:
    """One CybORG object: its calls, until enough episodes were played."""

    def __init__(self, episodes: int, folder: Path) -> None:
        global _objects
        self.number = _objects
        _objects += 1
        self.turns: list[dict[str, Any]] = []
        """of the step that is being played: what the user's agents chose"""
        self._file = folder / f"{os.getpid()}.jsonl"
        self._process = os.getpid()
        self._left = episodes
        self._has_stepped = False
        self._has_users_agent = False

    @property
    def is_open(self) -> bool:
        """Whether calls are still noted; never in a process that inherited the object."""
        return self._left > 0 and self._process == os.getpid()

    def agents(self, given: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the agents to play with: the user's own are watched while they choose."""
        if given is None:
            return None
        own = {side: agent for side, agent in given.items() if not is_cyborgs(agent)}
        self._has_users_agent = bool(own)
        return {**given, **{side: self._watched(side, agent) for side, agent in own.items()}}

    def _watched(self, side: str, agent_class: Any) -> Any:
        """Return a class like the user's that notes what it chooses, and the generator before and after."""

        def get_action(agent: Any, observation: Any, action_space: Any) -> Any:
            before = digest(random.getstate())
            action = agent_class.get_action(agent, observation, action_space)
            if self.is_open:
                self.turns.append(
                    {"agent": side, "before": before, "after": random.getstate(), "action": spell(action)}
                )
            return action

        return type(agent_class.__name__, (agent_class,), {"get_action": get_action})

    def begin(self) -> None:
        """Count an episode that is over."""
        self._left -= self._has_stepped
        self._has_stepped = False

    def note(self, do: str, before: Any, cyborg: Any, result: Any = None, **more: Any) -> None:
        """Write a line: what was done, from where, and what is shown now."""
        self._has_stepped |= do == "step"
        # A user's agent may draw whenever it is called: where the generator is then is no business of CybORG's.
        after = None if self._has_users_agent else digest(random.getstate())
        line = {"do": do, "cyborg": self.number, "before": before, "after": after, "shows": shows(cyborg, result)}
        with self._file.open("a") as file:
            file.write(json.dumps({**line, **more}) + "\n")


def is_cyborgs(agent: Any) -> bool:
    """Say whether an agent's class is one that the original has too, and can play itself."""
    agents = import_module("CybORG.Agents")
    return isinstance(agent, type) and getattr(agents, agent.__name__, None) is agent


class NotedDoor:
    """Blue's way without dicts, noted as if every call had been one of CybORG's own."""

    def __init__(self, cyborg: Any, door: Any, watching: Noted) -> None:
        self._cyborg = cyborg
        self._door = door
        self._watching = watching

    def __getattr__(self, name: str) -> Any:
        return getattr(self._door, name)

    def reset(self) -> Any:
        """Begin an episode."""
        self._watching.begin()
        before = random.getstate()
        bits = self._door.reset()
        if self._watching.is_open:
            self._watching.note("reset", before, self._cyborg, agent="Blue")
        return bits

    def step(self, action: int) -> Any:
        """Play a step."""
        before = random.getstate()
        bits, reward, done = self._door.step(action)
        if self._watching.is_open:
            result = SimpleNamespace(reward=reward, done=done)
            more = {"agent": "Blue", "action": spell(self._cyborg.get_last_action("Blue")), "turns": []}
            self._watching.note("step", before, self._cyborg, result, skips_check=False, **more)
        return bits, reward, done


def note_games(cyborg_class: Any) -> None:
    """Put noting methods in the place of those of our class CybORG."""
    episodes, folder = verified()
    construct, reset, step = cyborg_class.__init__, cyborg_class.reset, cyborg_class.step
    fast_blue = cyborg_class._fast_blue.fget
    watched: WeakKeyDictionary[Any, Noted] = WeakKeyDictionary()

    def noted_door(cyborg: Any) -> Any:
        door, watching = fast_blue(cyborg), watched.get(cyborg)
        return door if door is None or watching is None else NotedDoor(cyborg, door, watching)

    @functools.wraps(construct)
    def noted_construct(
        cyborg: Any, scenario_file: Any, environment: str = "sim", env_config: Any = None, agents: Any = None
    ) -> None:
        watching = watched[cyborg] = Noted(episodes, folder)
        before = random.getstate()
        construct(cyborg, scenario_file, environment, env_config, watching.agents(agents))
        named = {side: agent.__name__ if is_cyborgs(agent) else "" for side, agent in (agents or {}).items()}
        watching.note("construct", before, cyborg, agents=named)

    @functools.wraps(reset)
    def noted_reset(cyborg: Any, agent: Any = None) -> Any:
        watching = watched.get(cyborg)  # none for a copy of one that is watched
        if watching is not None:
            watching.begin()
        before = random.getstate()
        result = reset(cyborg, agent)
        if watching is not None and watching.is_open:
            watching.note("reset", before, cyborg, agent=agent)
        return result

    @functools.wraps(step)
    def noted_step(cyborg: Any, agent: Any = None, action: Any = None, skip_valid_action_check: bool = False) -> Any:
        watching = watched.get(cyborg)
        if watching is None or not watching.is_open:
            return step(cyborg, agent, action, skip_valid_action_check)
        watching.turns = []
        before = random.getstate()
        # Spelled before it is played: a step may add to an action what is not its caller's.
        given = None if action is None else spell(action)
        result = step(cyborg, agent, action, skip_valid_action_check)
        more = {"agent": agent, "action": given, "skips_check": skip_valid_action_check, "turns": watching.turns}
        watching.note("step", before, cyborg, result, **more)
        return result

    cyborg_class.__init__ = noted_construct
    cyborg_class.reset = noted_reset
    cyborg_class.step = noted_step
    cyborg_class._fast_blue = property(noted_door)
