"""Episodes as the challenge's own evaluation writes them: a text file, a line of actions for each episode.

Red's targets are addresses there, drawn anew by CybORG for every episode. Here names stand in their places.
"""

from collections.abc import Sequence
from statistics import mean, stdev

from garrison.episodes.episode import Episode

ADVERSARIES = {"bline": "B_lineAgent", "meander": "RedMeanderAgent", "sleep": "SleepAgent"}
"""The challenge's names of the scripted attackers"""


def to_challenge_text(episodes: Sequence[Episode]) -> str:
    """Return the episodes as text, those of one length and attacker together."""
    names = ", ".join(dict.fromkeys(episode.agent["name"] for episode in episodes))
    lines = [
        f"Garrison v{episodes[0].garrison}, Scenario2, rules: {', '.join({e.rules: 0 for e in episodes})}",
        f"author: , team: , technique: {' '.join(names.split())}",
        "wrappers: ChallengeWrapper(env=env, agent_name='Blue')",
    ]
    cells: dict[tuple[int, str], list[Episode]] = {}
    for episode in episodes:
        cells.setdefault((episode.length, episode.red), []).append(episode)
    for (length, red), some in cells.items():
        totals = [episode.total for episode in some]
        spread = stdev(totals) if len(totals) > 1 else 0.0
        adversary = ADVERSARIES.get(red, red)
        lines.append(f"steps: {length}, adversary: {adversary}, mean: {mean(totals)}, standard deviation {spread}")
        lines += [f"actions: {_actions(episode)}, total reward: {episode.total}" for episode in some]
    return "\n".join(lines) + "\n"


def _actions(episode: Episode) -> list[tuple[str, str]]:
    names, turn = episode.names, episode.turn
    pairs = []
    for blue, kind, target in zip(turn["blue_action"], turn["red_kind"], turn["red_target"], strict=True):
        red = names["red_actions"][kind]
        if target >= 0:
            places = names["subnets" if red == "DiscoverRemoteSystems" else "hosts"]
            red = f"{red} {places[target]}"
        pairs.append((names["actions"][blue], red))
    return pairs
