"""What if Blue had done something else: the return of other actions, from copies of the true state.

For a step, the state before it is copied once for each action and continuation. Each copy takes its action, then the
same agent plays on to the end, with fresh randomness. Continuation k of a step has the same random stream whatever the
action was, so that actions are compared on equal luck.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import NUM_ACTIONS
from garrison.cage2.rng import seed_streams
from garrison.episodes.episode import Episode
from garrison.episodes.game import Game
from garrison.errors import UserError

if TYPE_CHECKING:
    from garrison.agents import Agent

CONTINUATIONS = 200
CHUNK = 1 << 15
"""Copies that play at the same time, at most: some 30 MB, and large enough that Python costs nothing"""


def what_if(
    agent: "Agent",
    game: Game,
    episode: Episode,
    steps: Iterable[int] | None = None,
    top: int = 0,
    continuations: int = CONTINUATIONS,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Return what each action would have brought from each step to the end, as an episode's `what_if` holds it.

    Args:
        agent: who plays on after the first action.
        game: what the episode was played in.
        episode: which one.
        steps: which of its steps, counted from 0; by default all.
        top: only the likeliest so many actions of the policy, and what was played; 0 for all 145.
        continuations: how often each action is tried.
        seed: decides all draws of the continuations.
        say: is told how far it is.
    """
    chosen = sorted(set(range(episode.length) if steps is None else steps))
    if not chosen or chosen[0] < 0 or chosen[-1] >= episode.length:
        got = ", ".join(map(str, chosen[:5])) or "none"
        raise UserError(f"the steps of this episode are numbered 0 to {episode.length - 1}; got {got}.")
    if continuations < 2:
        raise UserError(f"an action needs at least 2 continuations to estimate its error; got {continuations}.")
    if top and episode.policy is None:
        raise UserError(
            f"{episode.agent['name']} has no probabilities, so there is no top {top}.", hint="Leave out top: all 145."
        )
    played = np.array(episode.turn["blue_action"], np.int64)
    states, observations = _replay(game, episode.seed, played)
    memory = Memory(agent, observations, played)
    found = {}
    for number, t in enumerate(chosen):
        say(f"what if: step {t}, {number} of {len(chosen)} done")
        actions = _actions(episode, t, top)
        returns = np.concatenate(
            [
                _returns(memory, game, states[t : t + 1], t, clones, streams, (seed, t, chunk))
                for chunk, (clones, streams) in enumerate(_chunks(actions, _streams(seed, t, continuations)))
            ]
        ).reshape(len(actions), continuations)
        found[str(t)] = _summary(actions, returns, int(played[t]))
    return {"continuations": continuations, "seed": seed, "steps": found}


def _actions(episode: Episode, t: int, top: int) -> NDArray[np.int64]:
    if not top or episode.policy is None:
        return np.arange(NUM_ACTIONS)
    likeliest = [action for action, _ in episode.policy["top"][t][:top]]
    return np.array(list(dict.fromkeys([*likeliest, episode.turn["blue_action"][t]])))


def _replay(game: Game, seed: int, actions: NDArray[np.int64]) -> tuple[NDArray[np.void], NDArray[np.int8]]:
    """Return the state before each step, (T,), and what Blue was shown there, (T, 52)."""
    envs = game.envs(1)
    observation, _ = envs.reset(seed=[seed])
    states, observations = [], []
    for action in actions:
        states.append(envs.get_state()[0])
        observations.append(observation[0].copy())
        observation = envs.step(np.array([action]))[0]
    envs.close()
    return np.array(states), np.array(observations)


def _streams(seed: int, t: int, continuations: int) -> NDArray[np.uint32]:
    seeds = np.random.SeedSequence((seed, t)).generate_state(continuations, np.uint64)
    return seed_streams(seeds.tolist())


def _chunks(
    actions: NDArray[np.int64], streams: NDArray[np.uint32]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint32]]]:
    """Yield the action and the random stream of every copy, so many at a time; the sizes decide nothing else."""
    count = len(actions) * len(streams)
    for begin in range(0, count, CHUNK):
        number = np.arange(begin, min(begin + CHUNK, count))
        yield actions[number // len(streams)], streams[number % len(streams)]


def _returns(
    memory: "Memory",
    game: Game,
    state: NDArray[np.void],
    t: int,
    actions: NDArray[np.int64],
    streams: NDArray[np.uint32],
    seed: Sequence[int],
) -> NDArray[np.float64]:
    """Return what each copy of one state collects from its action to the end."""
    copies = np.repeat(state, len(actions))
    copies["stream"] = streams
    envs = game.envs(len(actions))
    envs.set_state(copies)
    agent = memory.agent_at(t, actions, int(np.random.SeedSequence(seed).generate_state(1)[0]))
    observations = envs.step(actions)[0]
    for _ in range(t + 1, game.length):
        observations = envs.step(agent.act(observations))[0]
    totals = envs.get_state()["total"]
    envs.close()
    returns: NDArray[np.float64] = totals - state["total"]
    return returns


class Memory:
    """What an agent remembers at each step of an episode, for any number of copies of it.

    An agent that can be cloned follows the episode once. Any other is shown the episode from its beginning, in as many
    environments as there are copies.
    """

    def __init__(self, agent: "Agent", observations: NDArray[np.int8], actions: NDArray[np.int64]) -> None:
        self._agent, self._observations, self._actions = agent, observations, actions
        self._clone = getattr(agent, "clone", None)
        self._at = -1
        agent.begin(1)

    def agent_at(self, t: int, actions: NDArray[np.int64], seed: int) -> "Agent":
        """Return an agent for as many copies as there are actions, which it took at step `t` instead of its own."""
        if self._clone is not None:
            self._follow(t, 1)
            agent: Agent = self._clone(np.zeros(len(actions), np.intp), seed)
        else:
            agent, self._at = self._agent, -1
            agent.begin(len(actions), seed)
            self._follow(t, len(actions))
        _tell(agent, actions)
        return agent

    def _follow(self, t: int, copies: int) -> None:
        """Let the agent see the episode up to step `t`, whose observation it has acted on."""
        for step in range(self._at + 1, t + 1):
            if step:
                _tell(self._agent, np.full(copies, self._actions[step - 1]))
            self._agent.act(np.repeat(self._observations[step : step + 1], copies, axis=0))
            self._at = step


def _tell(agent: "Agent", actions: NDArray[np.int64]) -> None:
    took = getattr(agent, "took", None)
    if took is not None:
        took(actions)


def _summary(actions: NDArray[np.int64], returns: NDArray[np.float64], played: int) -> dict[str, Any]:
    """Return the means of the actions, the best first, their 95 % confidence, and what the one that was played lost."""
    means, count = returns.mean(axis=1), returns.shape[1]
    order = np.argsort(-means, kind="stable")
    mine, best = int(np.flatnonzero(actions == played)[0]), int(order[0])
    lost = returns[best] - returns[mine]
    return {
        "actions": actions[order].tolist(),
        "mean": _rounded(means[order]),
        "ci95": _rounded(_ci95(returns)[order]),
        "played": played,
        "regret": _rounded(lost.mean()),
        "regret_ci95": _rounded(1.96 * lost.std(ddof=1) / math.sqrt(count)),
    }


def _ci95(returns: NDArray[np.float64]) -> NDArray[np.float64]:
    half: NDArray[np.float64] = 1.96 * returns.std(axis=1, ddof=1) / math.sqrt(returns.shape[1])
    return half


def _rounded(values: Any) -> Any:
    return (np.round(values, 3) + 0.0).tolist()
