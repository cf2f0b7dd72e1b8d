"""KEEP's graph wrapper, which reads every dict that Blue sees; actions are drawn, because its weights are not there."""

import hashlib
import inspect
import random
from typing import Any

SEED = 5
EPISODES = 10
STEPS = 50


def main() -> None:
    """Print what the graphs are like after every step."""
    from CybORG import CybORG
    from CybORG.Agents import B_lineAgent, RedMeanderAgent
    from graph_wrapper.wrapper import InductiveGraphWrapper  # type: ignore[import-not-found]

    scenario = str(inspect.getfile(CybORG))[:-10] + "/Shared/Scenarios/Scenario2.yaml"
    random.seed(SEED)
    chance = random.Random(SEED)
    for episode in range(EPISODES):
        cyborg = CybORG(scenario, "sim", agents={"Red": (B_lineAgent, RedMeanderAgent)[episode % 2]})
        env = InductiveGraphWrapper("Blue", cyborg)
        print(episode, shown(env.reset()))
        for _ in range(STEPS):
            action = chance.randrange(13 * len(env.ACTIONS))
            observation, reward, _, _ = env.step(action)
            print(action, str(cyborg.get_last_action("Blue")), reward, shown(observation))


def shown(observation: Any) -> str:
    """Return the shapes and a digest of a graph: tensors, or lists of them."""
    return hashlib.sha256(
        repr([getattr(part, "tolist", lambda p=part: p)() for part in observation]).encode()
    ).hexdigest()


if __name__ == "__main__":
    main()
