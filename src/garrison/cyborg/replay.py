"""Play in the original CybORG what was played here, and compare what it shows: `python -P replay.py FILE RULES`.

It runs in a process of its own, which imports the original `CybORG` and nothing of Garrison, perhaps with another
interpreter. Before every call the generator is put where it was here; what the original shows after it, and where the
generator is then, must be equal. Agents that CybORG itself has choose again; what the user's own agents chose is given.
The last line that is printed is a JSON object: what was compared, and the first difference.
"""

import hashlib
import inspect
import json
import random
import sys
from ipaddress import IPv4Address, IPv4Network
from numbers import Integral
from typing import Any

AGENTS = ("Blue", "Red")
PLAIN = (str, int, float, type(None))


def spell(action: Any) -> list[Any]:
    """Return an action as values for a file: its class, and what its constructor was given."""
    parameters = []
    for name in inspect.signature(type(action)).parameters:
        value = getattr(action, name, None)
        value = int(value) if isinstance(value, Integral) else value  # NumPy has whole numbers of its own
        kind = "" if isinstance(value, PLAIN) else type(value).__name__
        parameters.append([name, kind, str(value) if kind else value])
    return [type(action).__name__, parameters]


def rebuild(spelled: list[Any]) -> Any:
    """Return the original's action for a spelled one; a class that CybORG does not have stays unknown to it."""
    from CybORG.Shared import Actions

    kinds = {"": lambda value: value, "IPv4Address": IPv4Address, "IPv4Network": IPv4Network}
    name, parameters = spelled
    action = getattr(Actions, name, None) or type(name, (Actions.Action,), {"__init__": vars_from})
    return action(**{each: kinds.get(kind, str)(value) for each, kind, value in parameters if value is not None})


def vars_from(self: Any, **values: Any) -> None:
    """Keep what a constructor was given."""
    vars(self).update(values)


def shows(cyborg: Any, result: Any = None) -> dict[str, str]:
    """Return what is compared: both agents' observations, the last actions, and what a step returned."""
    shown = {f"{agent}'s observation": repr(cyborg.get_observation(agent)) for agent in AGENTS}
    if result is not None:
        shown |= {f"{agent}'s action": str(cyborg.get_last_action(agent)) for agent in AGENTS}
        shown |= {"rewards": repr(cyborg.get_rewards()), "reward": repr(result.reward), "done": repr(result.done)}
    return shown


def digest(state: Any) -> str:
    """Return a short text that stands for a state of Python's generator."""
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]


def state_of(saved: list[Any]) -> Any:
    """Return a state of Python's generator as `random.setstate` wants it."""
    version, words, gauss = saved
    return version, tuple(words), gauss


class Difference(Exception):
    """The original showed something else."""


class Given:
    """An agent that does what the user's own agent did."""

    def __init__(self) -> None:
        self.turns: list[dict[str, Any]] = []

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Return the next action, with the generator where that agent left it."""
        turn = self.turns.pop(0)
        compare("the generator before the user's agent chose", turn["before"], digest(random.getstate()))
        random.setstate(state_of(turn["after"]))
        return rebuild(turn["action"])

    def train(self, results: Any) -> None:
        """Learn nothing."""

    def end_episode(self) -> None:
        """Remember nothing."""

    def set_initial_values(self, action_space: Any, observation: Any) -> None:
        """Need nothing."""


def compare(what: str, here: str, original: str) -> None:
    """Raise if two texts differ."""
    if here != original:
        raise Difference(what, here, original)


class Replay:
    """The original's CybORG objects, each following one of those that were recorded."""

    def __init__(self) -> None:
        self.cyborgs: dict[int, Any] = {}
        self.given: dict[int, dict[str, Given]] = {}
        self.steps: dict[int, int] = {}
        """of the present episode"""
        self.played = {"episodes": 0, "steps": 0}

    def follow(self, event: dict[str, Any]) -> None:
        """Do what was done, and compare."""
        number = event["cyborg"]
        random.setstate(state_of(event["before"]))
        result = getattr(self, event["do"])(number, event)
        for what, shown in shows(self.cyborgs[number], result if event["do"] == "step" else None).items():
            compare(what, event["shows"][what], shown)
        if event["after"]:
            compare("the generator", event["after"], digest(random.getstate()))

    def construct(self, number: int, event: dict[str, Any]) -> None:
        """Make a CybORG with the original's agents, and stand-ins for the user's own."""
        import CybORG.Agents
        from CybORG import CybORG as Original

        scenario = str(inspect.getfile(Original))[: -len("CybORG.py")] + "Shared/Scenarios/Scenario2.yaml"
        self.given[number] = {}
        agents = {}
        for side, name in event["agents"].items():
            if name:
                agents[side] = getattr(CybORG.Agents, name)
            else:
                given = self.given[number][side] = Given()
                agents[side] = lambda given=given: given
        self.cyborgs[number] = Original(scenario, "sim", agents=agents or None)
        self.steps[number] = 0

    def reset(self, number: int, event: dict[str, Any]) -> Any:
        """Begin an episode."""
        self.steps[number] = 0
        return self.cyborgs[number].reset(event["agent"])

    def step(self, number: int, event: dict[str, Any]) -> Any:
        """Play a step with the actions that were given."""
        for side, given in self.given[number].items():
            given.turns = [turn for turn in event["turns"] if turn["agent"] == side]
        action = rebuild(event["action"]) if event["action"] else None
        self.played["episodes"] += self.steps[number] == 0
        self.played["steps"] += 1
        self.steps[number] += 1
        return self.cyborgs[number].step(event["agent"], action, event["skips_check"])


def rules_of() -> str | None:
    """Return the rules that this CybORG plays; None if it cannot be told."""
    try:
        from CybORG.Simulator.Session import RedAbstractSession
    except ImportError:
        return None
    # Since the final leaderboard, a scan replaces what Red knew of a host's ports.
    return "head" if hasattr(RedAbstractSession, "clearports") else "leaderboard"


def replay(file: str, rules: str) -> dict[str, Any]:
    """Follow all that was recorded, up to the first difference."""
    found = rules_of()
    if found not in (None, rules):
        return {"rules": found}
    following = Replay()
    with open(file) as lines:
        for line in lines:
            event = json.loads(line)
            try:
                following.follow(event)
            except Difference as difference:
                what, here, original = difference.args
                place = f"CybORG object {event['cyborg'] + 1}, {event['do']}"
                if event["do"] == "step":
                    place += f" {following.steps[event['cyborg']]} of episode {following.played['episodes']}"
                return {**following.played, "where": place, "what": what, "here": here, "original": original}
    return following.played


if __name__ == "__main__":
    print(json.dumps(replay(sys.argv[1], sys.argv[2])))
