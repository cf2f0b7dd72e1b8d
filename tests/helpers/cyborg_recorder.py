"""Play CybORG at random and write down everything it shows: whichever `CybORG` package is first on the path.

The original, to record again what the tests compare with (once for each of the two rule sets):

    PYTHONPATH=FOLDER_OF_THE_ORIGINAL python tests/helpers/cyborg_recorder.py tests/golden/dicts_head.json.gz

Ours, as the tests do: `garrison cyborg run tests/helpers/cyborg_recorder.py - [EPISODES]` prints the same as JSON. It
imports nothing of Garrison or of the tests, so that it runs where only CybORG is installed.
"""

import gzip
import hashlib
import inspect
import json
import random
import sys
from functools import cache
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

GAMES = (
    # who plays at random, who is inside as Blue and as Red ("-": CybORG's default), seed, episodes, steps of each.
    # Red plays either the exploits by name or PrivilegeEscalate: after the former CybORG fails in the latter.
    ("Blue", "-", "B_lineAgent", 1, 8, 100),
    ("Blue", "-", "RedMeanderAgent", 2, 10, 100),
    ("Blue", "-", "SleepAgent", 3, 2, 60),
    ("Blue", "-", "-", 4, 2, 60),
    ("Red", "-", "-", 5, 5, 100),
    ("Red by name", "-", "-", 6, 3, 100),
    ("Red", "BlueReactRestoreAgent", "-", 7, 5, 100),
    ("Red", "BlueReactRemoveAgent", "-", 8, 4, 100),
    ("Red by name", "BlueReactRemoveAgent", "-", 11, 2, 100),
    ("Red", "BlueMonitorAgent", "-", 12, 2, 60),
    ("-", "BlueReactRemoveAgent", "B_lineAgent", 9, 2, 100),
    ("-", "BlueReactRestoreAgent", "RedMeanderAgent", 10, 2, 100),
)
WRITTEN_OUT = {"Blue": 7, "Red": 7, "actions": 7, "result": 97, "spaces": 97, "addresses": 97, "true": 293}
"""of so many looks one is kept word for word, of the others a digest: primes, so that they meet every kind of step"""
DIGITS = 6
AGENTS = ("Blue", "Red")


def play(episodes: int | None = None) -> list[dict[str, Any]]:
    """Play all games, or the first `episodes` of each, and return what was seen in each of them."""
    return [
        {"game": list(game), "looks": look_on(*game[:4], min(game[4], episodes or game[4]), game[5])} for game in GAMES
    ]


def look_on(player: str, blue: str, red: str, seed: int, episodes: int, steps: int) -> list[dict[str, str]]:
    """Play one game: construct, then reset and step; look after each of these."""
    import CybORG.Agents
    from CybORG import CybORG as Simulator

    inside = {
        name: getattr(CybORG.Agents, agent) for name, agent in zip(AGENTS, (blue, red), strict=True) if agent != "-"
    }
    scenario = str(inspect.getfile(Simulator))[:-10] + "/Shared/Scenarios/Scenario2.yaml"
    chance = random.Random(seed)  # for our own choices: CybORG draws from the global generator
    random.seed(seed)
    cyborg = Simulator(scenario, "sim", agents=inside or None)
    looks = [look(cyborg, None, seed)]
    agent = None if player == "-" else player.split()[0]
    for _ in range(episodes):
        looks.append(look(cyborg, cyborg.reset(agent), len(looks) + seed))
        quiet = chance.choice((0.0, 0.3, 0.7))
        for _ in range(steps):
            result = cyborg.step(agent, choose(cyborg, player, chance, quiet)) if agent else cyborg.step()
            looks.append(look(cyborg, result, len(looks) + seed))
    return looks


def choose(cyborg: Any, player: str, chance: random.Random, quiet: float) -> Any:
    """Choose one of the agent's actions, with parameters that it may use; now and then with others."""
    space = cyborg.get_action_space(player.split()[0])
    classes = list(space["action"])
    if player.startswith("Red"):
        is_named = player.endswith("by name")
        classes = [each for each in classes if is_named or "target_session" not in parameters(each)]
        classes = [each for each in classes if not (is_named and each.__name__ == "PrivilegeEscalate")]
    kind = classes[0] if chance.random() < quiet else chance.choice(classes)
    is_wild = chance.random() < 0.05
    values: dict[str, Any] = {}
    for name in parameters(kind):
        if name == "priority":
            continue
        known = space[name]
        # A client session is never known; the exploits that ask for one do not use it.
        usable = list(known) if is_wild or name == "target_session" else [value for value in known if known[value]]
        if not usable:
            return classes[0]()
        values[name] = chance.choice(usable)
    return kind(**values)


@cache
def parameters(kind: Any) -> tuple[str, ...]:
    """Return what the constructor of an action takes."""
    return tuple(inspect.signature(kind).parameters)


def look(cyborg: Any, result: Any, number: int) -> dict[str, str]:
    """Return all that CybORG shows, each as one line of text or as the digest of it."""
    shown = {agent: repr(cyborg.get_observation(agent)) for agent in AGENTS}
    if result is not None:
        shown["result"] = repr({name: spelled(value) for name, value in vars(result).items()})
    shown["spaces"] = repr([spelled(cyborg.get_action_space(agent)) for agent in AGENTS])
    shown["actions"] = repr([spelled(cyborg.get_last_action(agent)) for agent in AGENTS])
    shown["rewards"] = repr(cyborg.get_rewards())
    if cyborg.get_rewards():  # before the first step there is none to take apart
        shown["breakdown"] = repr([cyborg.get_reward_breakdown(agent) for agent in AGENTS])
    shown["addresses"] = repr(cyborg.get_ip_map())
    shown["generator"] = repr(random.getstate())
    if number % 5 == 0 or number % WRITTEN_OUT["true"] == 0:
        shown["true"] = repr([cyborg.get_agent_state(name) for name in ("True", *AGENTS)])
    return {
        name: text if name in WRITTEN_OUT and number % WRITTEN_OUT[name] == 0 else digest(text)
        for name, text in shown.items()
    }


def digest(text: str) -> str:
    """Return a few digits that stand for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def spelled(value: Any) -> Any:
    """Return a value in which classes and actions are plain text: their own has places in memory."""
    if isinstance(value, dict) and "action" in value:  # an action space
        return {**value, "action": {f"class {kind.__name__}": usable for kind, usable in value["action"].items()}}
    if hasattr(value, "get_params"):
        kinds = (str, int, float, type(None), IPv4Address, IPv4Network)
        return (str(value), {name: each for name, each in value.get_params().items() if isinstance(each, kinds)})
    return value


def main() -> None:
    """Play, and write a file or print."""
    games = play(int(sys.argv[2]) if len(sys.argv) > 2 else None)
    if sys.argv[1] == "-":
        print(json.dumps(games))
        return
    Path(sys.argv[1]).write_bytes(gzip.compress(json.dumps(games, indent=0).encode(), mtime=0))
    print(f"{sum(len(game['looks']) for game in games)} looks")


if __name__ == "__main__":
    main()
