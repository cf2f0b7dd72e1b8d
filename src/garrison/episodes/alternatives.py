"""What if Blue had done something else: the return of other actions, from copies of the true state.

For a step, the state before it is copied once for each action and continuation. Each copy takes its action, then the
same agent plays on to the end, with fresh randomness. Continuation k of a step has the same random stream whatever the
action was, so that actions are compared on equal luck. Copies play in batches, as many at a time as there are cores.

Many actions change nothing that lasts: a refused decoy, a Remove where Red is not. With equal luck such copies become
the same game, which is then played once for all of them (`equal_games.py`).
"""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from garrison.agents.equal_games import first_of_equal
from garrison.cage2.names import NUM_ACTIONS, SCRIPTED_REDS
from garrison.cage2.rng import seed_streams
from garrison.cage2.vector_env import VectorEnv
from garrison.episodes.episode import Episode
from garrison.episodes.game import Game
from garrison.errors import UserError
from garrison.system import cores

if TYPE_CHECKING:
    from garrison.agents import Agent

CONTINUATIONS = 200
CHUNK = 1 << 14
"""Copies that begin in one batch, at most: large enough that Python costs little, small enough for a core's cache"""


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
    tried = {t: _actions(episode, t, top) for t in chosen}
    chunks = [chunk for t in chosen for chunk in _chunks(t, tried[t], _streams(seed, t, continuations))]
    returns: dict[int, list[NDArray[np.float64]]] = {t: [] for t in chosen}
    # An agent without clones, or an attacker with a memory of its own, plays one batch after the other.
    ahead = cores() if memory.has_clones and game.red in SCRIPTED_REDS else 0
    playing: deque[tuple[Chunk, Future[NDArray[np.float64]]]] = deque()
    # Products this small gain nothing from threads of their own, and lose much where others want the cores.
    with ThreadPoolExecutor(max(1, ahead)) as pool, threadpool_limits(1):
        for number, chunk in enumerate(chunks):
            say(f"what if: step {chunk.t}, {number / len(chunks):.0%} done")
            playing.append((chunk, pool.submit(_finish, _begin(memory, game, states, chunk, seed))))
            while len(playing) > (ahead if number < len(chunks) - 1 else 0):
                done, found = playing.popleft()
                returns[done.t].append(found.result() - states["total"][done.t])
    answers = {str(t): _summary(tried[t], _by_action(returns[t], continuations), int(played[t])) for t in chosen}
    return {"continuations": continuations, "seed": seed, "steps": answers}


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


class Chunk(NamedTuple):
    """Some copies of the state before a step."""

    t: int
    number: int
    """Among the chunks of this step"""
    actions: NDArray[np.int64]
    streams: NDArray[np.uint32]


def _chunks(t: int, actions: NDArray[np.int64], streams: NDArray[np.uint32]) -> Iterator[Chunk]:
    """Yield the action and the random stream of every copy, so many at a time; those of a stream side by side."""
    count = len(actions) * len(streams)
    for number, begin in enumerate(range(0, count, CHUNK)):
        copies = np.arange(begin, min(begin + CHUNK, count))
        yield Chunk(t, number, actions[copies % len(actions)], streams[copies // len(actions)])


def _begin(memory: "Memory", game: Game, states: NDArray[np.void], chunk: Chunk, seed: int) -> "Continuations":
    """Let every copy take its action."""
    copies = np.repeat(states[chunk.t], len(chunk.actions))
    copies["stream"] = chunk.streams
    envs = game.envs(len(copies))
    envs.set_state(copies)
    draws = np.random.SeedSequence((seed, chunk.t, chunk.number)).generate_state(1)
    agent = memory.agent_at(chunk.t, chunk.actions, int(draws[0]))
    envs.step(chunk.actions)
    return Continuations(game, envs, agent, game.length - chunk.t - 1)


class Continuations(NamedTuple):
    """Copies that have taken their action, and who goes on."""

    game: Game
    envs: VectorEnv
    agent: "Agent"
    steps: int


def _finish(games: Continuations) -> NDArray[np.float64]:
    """Play on to the end and return the totals of the episodes."""
    game, envs, agent, steps = games
    place = np.arange(envs.num_envs)  # of each copy among the games that are played
    for step in range(steps):
        actions = agent.act(envs.observations)
        # Once is enough: looking again in later steps found 15 % more equal games and cost as much.
        memory = _memory(agent) if step == 0 else None
        if memory is not None:
            states = envs.get_state()
            kept, place = first_of_equal(states, memory)
            envs.close()
            envs = game.envs(len(kept))
            envs.set_state(states[kept])
            agent, actions = agent.clone(kept, 0), actions[kept]  # type: ignore[attr-defined]
        envs.step(actions)
    totals: NDArray[np.float64] = envs.get_state()["total"]
    envs.close()
    return totals[place]


def _memory(agent: "Agent") -> NDArray[np.uint8] | None:
    """Return all that decides what the agent will do, as bytes; None if it draws, or does not say."""
    memory = getattr(agent, "memory", None)
    return memory() if memory is not None and hasattr(agent, "clone") else None


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

    @property
    def has_clones(self) -> bool:
        """Whether the agents that `agent_at` returns are apart from one another."""
        return self._clone is not None

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


def _by_action(chunks: list[NDArray[np.float64]], continuations: int) -> NDArray[np.float64]:
    """Return a row for each action: chunks hold the actions of one stream side by side."""
    return np.ascontiguousarray(np.concatenate(chunks).reshape(continuations, -1).T)


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
