"""Games played through a package named CybORG, told as lines: the same lines from the original and from Garrison's.

As a script, `cyborg_plays.py RULES FILE` keeps digests of what the CybORG on the path shows, whose rules these are;
with `-` for the file it prints the lines. It imports nothing of ours, so it runs where only the original is installed.
"""

import hashlib
import inspect
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

STEPS = 40


def digests(lines: list[str]) -> list[str]:
    """Return a short digest of every line."""
    return [hashlib.sha256(line.encode()).hexdigest()[:8] for line in lines]


def made(**agents: type) -> Any:
    """Return a CybORG with these agents inside, made as scripts make it."""
    from CybORG import CybORG

    return CybORG(str(inspect.getfile(CybORG))[:-10] + "/Shared/Scenarios/Scenario2.yaml", "sim", agents=agents)


def told(*values: Any) -> str:
    """Return values as a line, with the state of Python's generator."""
    state = hashlib.sha256(repr(random.getstate()).encode()).hexdigest()[:8]
    return " | ".join([*map(str, values), state])


def reds() -> list[type]:
    """Return the stock attackers."""
    from CybORG.Agents import B_lineAgent, RedMeanderAgent, SleepAgent

    return [B_lineAgent, RedMeanderAgent, SleepAgent]


def challenge() -> Iterator[str]:
    """Play Blue by numbers."""
    from CybORG.Agents.Wrappers import ChallengeWrapper

    chosen = random.Random(1)
    for red in reds():
        random.seed(7)
        env = ChallengeWrapper("Blue", made(Red=red), max_steps=STEPS)
        yield told(env.action_space, env.observation_space, env.get_action_space("Blue"))
        for _ in range(2):
            first = env.reset()
            yield told(first.dtype, first.tolist())
            for _ in range(STEPS):
                seen, reward, done, info = env.step(chosen.randrange(145))
                yield told(seen.dtype, seen.tolist(), type(reward), reward, done, sorted(info), info["action"])
                yield told(info["observation"], info["action_space"], env.get_last_action("Red"), env.get_rewards())
            yield told(env.get_reward_breakdown("Blue"), env.get_ip_map(), list(env.get_observation("Blue")))
            yield told(list(env.get_agent_state("True")), list(map(str, env.get_attr("possible_actions"))))
        yield told(env.env.env.env.get_table(), env.env.env.env.get_table("true_table"), env.env.env.env.blue_info)
        for _ in range(3):  # after somebody looked below
            seen, reward, *_ = env.step(chosen.randrange(145))
            yield told(seen.tolist(), reward, env.env.env.env.info)


def two_players() -> Iterator[str]:
    """Play Blue by numbers while somebody else plays and resets the same game below."""
    from CybORG.Agents.Wrappers import ChallengeWrapper
    from CybORG.Shared.Actions import Monitor, Remove, Restore

    chosen = random.Random(5)
    for red in reds()[:2]:
        random.seed(31)
        core = made(Red=red)
        env = ChallengeWrapper(env=core, agent_name="Blue")
        others = [Restore(0, "Blue", "User1"), Remove(0, "Blue", "Enterprise1"), Monitor(0, "Blue")] * 4
        for _ in range(3):
            yield told(env.reset().tolist())
            for other in others:
                for _ in range(chosen.randrange(4)):
                    seen, reward, *_ = env.step(chosen.randrange(145))
                    yield told(seen.tolist(), reward)
                result = core.step("Blue", other)
                yield told(result.observation, result.reward)
            seen, reward, *_ = env.step(-1)
            yield told(seen.tolist(), reward, env.get_last_action("Blue"))
            seen, reward, *_ = env.step()
            yield told(seen.tolist(), reward, env.get_last_action("Blue"))
            core.reset()
            for _ in range(5):
                seen, reward, *_ = env.step(chosen.randrange(145))
                yield told(seen.tolist(), reward)


def blue_tables() -> Iterator[str]:
    """Play Blue with every form of its table."""
    from CybORG.Agents.Wrappers import BlueTableWrapper, EnumActionWrapper

    chosen = random.Random(2)
    for red in reds():
        for mode in ("table", "vector", "anomaly", "raw"):
            random.seed(11)
            env = EnumActionWrapper(BlueTableWrapper(made(Red=red), output_mode=mode))
            yield told(env.get_action_space("Blue"), list(map(str, env.possible_actions)))
            yield told(env.get_action_space("Red"), list(map(str, env.possible_actions)))
            yield told(env.reset("Blue").observation)
            for _ in range(STEPS // 2):
                result = env.step("Blue", chosen.randrange(145))
                yield told(result.observation, result.reward, result.action_space, result.action)
            yield told(env.env.get_table(), env.env.get_table("true_table"), env.env.get_agent_state("Blue"))


def red_tables() -> Iterator[str]:
    """Play Red by the heuristic attacker, with every form of its table."""
    from CybORG.Agents import BlueReactRemoveAgent, HeuristicRed
    from CybORG.Agents.Wrappers import ChallengeWrapper, EnumActionWrapper, RedTableWrapper

    random.seed(3)
    for mode in ("table", "vector", "raw"):
        env = EnumActionWrapper(RedTableWrapper(made(Blue=BlueReactRemoveAgent), output_mode=mode))
        result = env.reset("Red")
        yield told(result.observation, result.action_space)
        attacker, core = HeuristicRed(), env.env.env.env
        seen = core.get_observation("Red")
        for _ in range(STEPS // 2):
            action = attacker.get_action(seen)
            result = env.env.step("Red", action)
            seen = core.get_observation("Red")
            if type(action).__name__ == "DiscoverNetworkServices":  # the table took the answer out of the dict
                seen = {"success": env.env.success}
            yield told(action, result.observation, result.reward, env.env.red_info, env.get_action_space("Red"))
        yield told(env.env.get_table(), env.env.get_table("true_table"), list(map(str, env.possible_actions)))
    env = ChallengeWrapper("Red", made(Blue=BlueReactRemoveAgent))
    yield told(env.reset().tolist(), env.action_space, env.observation_space)
    for name in ("DiscoverRemoteSystems", "DiscoverNetworkServices", "ExploitRemoteService", "PrivilegeEscalate") * 2:
        number = next(k for k, action in enumerate(env.get_attr("possible_actions")) if type(action).__name__ == name)
        seen, reward, done, info = env.step(number)
        yield told(seen.tolist(), reward, done, info["action"])


def agents_inside() -> Iterator[str]:
    """Let agents inside play both sides, stock ones and subclasses of them."""
    from CybORG.Agents import (
        B_lineAgent,
        BlueMonitorAgent,
        BlueReactRemoveAgent,
        BlueReactRestoreAgent,
        RedMeanderAgent,
        SleepAgent,
    )

    blues = [BlueReactRemoveAgent, BlueReactRestoreAgent, BlueMonitorAgent, SleepAgent]
    own_blues = [type("Own", (blue,), {}) for blue in blues[:2]]
    own_reds = [type("Own", (red,), {}) for red in (B_lineAgent, RedMeanderAgent)]
    for blue in [*blues, *own_blues]:
        for red in [B_lineAgent, RedMeanderAgent, *own_reds]:
            random.seed(13)
            core = made(Blue=blue, Red=red)
            for _ in range(2):
                core.reset()
                for _ in range(STEPS // 2):
                    core.step()
                    yield told(core.get_last_action("Blue"), core.get_last_action("Red"), core.get_rewards())


def agents_outside() -> Iterator[str]:
    """Ask stock agents from outside, as scripts for Red do."""
    from CybORG.Agents import B_lineAgent, BlueMonitorAgent, BlueReactRestoreAgent, DebuggingAgent, RedMeanderAgent

    for red in (B_lineAgent, RedMeanderAgent):
        random.seed(17)
        core, agent = made(Blue=BlueReactRestoreAgent), red()
        for _ in range(2):
            result = core.reset("Red")
            agent.end_episode()
            for _ in range(STEPS):
                action = agent.get_action(result.observation, core.get_action_space("Red"))
                result = core.step("Red", action)
                yield told(action, result.reward, result.observation["success"])
    random.seed(23)
    core = made(Blue=BlueMonitorAgent)
    seen = core.reset("Red").observation
    agent = DebuggingAgent([address for host, address in core.get_ip_map().items() if host in ("User1", "User3")])
    for _ in range(10):
        action = agent.get_action(seen)
        seen = core.step("Red", action).observation
        yield told(action, seen["success"])


def flat_lists() -> Iterator[str]:
    """Play with flat observations, reduced action spaces and lists as actions."""
    from CybORG.Agents import B_lineAgent, BlueMonitorAgent, TestAgent
    from CybORG.Agents.Wrappers import EnumActionWrapper, FixedFlatWrapper, OpenAIGymWrapper, ReduceActionSpaceWrapper
    from CybORG.Agents.Wrappers.IntListToAction import IntListToActionWrapper
    from CybORG.Agents.Wrappers.RewardShape import RewardShape

    chosen = random.Random(4)
    random.seed(29)
    blue = EnumActionWrapper(ReduceActionSpaceWrapper(FixedFlatWrapper(made(Red=B_lineAgent))))
    yield told(FixedFlatWrapper(made(Red=B_lineAgent)).reset("Blue").observation)
    for _ in range(2):
        blue.reset("Blue")
        for _ in range(5):
            result = blue.step("Blue", chosen.randrange(145))
            yield told(len(result.observation), result.observation, result.reward, result.action_space)
    red = OpenAIGymWrapper("Red", IntListToActionWrapper(FixedFlatWrapper(made(Blue=BlueMonitorAgent))))
    yield told(red.action_space.nvec.tolist(), red.observation_space.shape, red.reset().tolist())
    agent = TestAgent()
    for _ in range(10):
        action = agent.get_action(None, red.get_action_space("Red"))
        try:
            seen, reward, _, info = red.step(action)
        except (UnboundLocalError, IndexError):  # a number beyond what the list has by now
            yield told("beyond")
            continue
        yield told(action, seen.tolist(), reward, info["action"], info["action_name"], info["selection_masks"])
    shaped = RewardShape(EnumActionWrapper(made(Red=B_lineAgent)))
    shaped.reset("Blue")
    for _ in range(20):
        yield told(shaped.step("Blue", chosen.randrange(40)).reward)


PLAYS: dict[str, Callable[[], Iterator[str]]] = {
    play.__name__: play
    for play in (challenge, two_players, blue_tables, red_tables, agents_inside, agents_outside, flat_lists)
}


if __name__ == "__main__":
    rules, file = sys.argv[1:]
    lines = {name: list(play()) for name, play in PLAYS.items()}
    if file == "-":
        print(json.dumps(lines))
    else:
        kept = json.loads(Path(file).read_text()) if Path(file).exists() else {}
        kept[rules] = {name: digests(of_play) for name, of_play in lines.items()}
        Path(file).write_text(json.dumps(kept, separators=(",", ":")).replace("],", "],\n") + "\n")
