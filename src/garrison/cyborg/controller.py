"""The order of a step in CybORG, around the compiled simulator that decides it.

Agents are asked, actions are judged, the simulator plays, agents learn, everybody is told. What nobody asks for is not
made: the world's books are brought up to date only when somebody looks.
"""

import random
from collections.abc import Iterable, Mapping
from copy import deepcopy
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import HOSTS, Access, RedKind, Success
from garrison.cage2.turns import Turns
from garrison.cyborg.action_base import Action, InvalidAction, Sleep
from garrison.cyborg.blue_actions import blue_action, blue_index
from garrison.cyborg.blue_answers import blue_answer, monitor
from garrison.cyborg.cyborg_enums import TrinaryEnum
from garrison.cyborg.episode_addresses import EpisodeAddresses
from garrison.cyborg.fast_door import FastBlue
from garrison.cyborg.image_facts import BLUE, GREEN, RED
from garrison.cyborg.journal import KeptStep, keep_step
from garrison.cyborg.observation_data import Observation
from garrison.cyborg.red_actions import (
    INVALID,
    SLEEP,
    ExploitRemoteService,
    RedMove,
    note_exploit,
    red_move,
    scripted_action,
)
from garrison.cyborg.red_answers import red_answer
from garrison.cyborg.refusal import NotInGarrison
from garrison.cyborg.rewards import GREEN_REWARD, HostReward, breakdown, losses
from garrison.cyborg.sides import Side, make_sides
from garrison.cyborg.step_results import Results
from garrison.cyborg.true_view import INFO, true_state, within_network
from garrison.cyborg.world import World
from garrison.errors import GarrisonError

MAX_UNREAD = 1000
"""Steps that are kept unread before the world catches up by itself."""
_SLEEP_NUMBER = 0


class Controller:
    """A running CybORG: what the original calls its environment controller, as far as it is here.

    Args:
        rules: `head` or `leaderboard`.
        agents: the classes that play, by side; Scenario2's where none is given.
        sleeper: the stock class that only sleeps.
        scripts: the stock classes that the simulator plays as Red, with their names there.
    """

    def __init__(
        self, rules: str, agents: Mapping[str, type] | None, sleeper: type, scripts: Mapping[type, str]
    ) -> None:
        script = scripts.get((agents or {}).get(RED, sleeper))
        self._rules = rules
        self._turns = Turns(rules, script or "external")
        self._turns.reset()
        self._sides = make_sides(agents, sleeper, script)
        self.INFO_DICT = deepcopy(INFO)
        self.done = False
        self._actions: dict[str, Action | int | tuple[KeptStep, EpisodeAddresses]] = {}
        """Last actions: perhaps only by number, and of a Red that is not asked by the step that tells it"""
        self._scores: tuple[list[int], bool] | None = None
        """Red's access to each host after the last step, and whether the OTService ran, if the records have moved on"""
        self._is_scored = False  # the records show the last step
        self._forget()

    def _forget(self) -> None:
        """Forget all that was true only in the last episode."""
        self._world: World | None = None
        self._network: EpisodeAddresses | None = None
        self._unread: list[KeptStep] = []
        self._reward: dict[str, float] | None = {}
        self._os_known: set[int] = set()  # hosts whose system Red learnt from ExploitRemoteService
        self._is_over = False  # start() has ended the episode
        self._is_watched = False  # somebody holds dicts that have to follow every step

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotInGarrison(f"environment_controller.{name}")

    # --- episodes and steps

    def reset(self, agent: str | None = None) -> Results:
        """Begin an episode and return the first observation of an agent; without one, the true state."""
        self.begin()
        if agent is None:
            return Results(observation=self._filtered_truth())
        side = self._seen(agent)
        return Results(observation=side.told, action_space=self._hand_out(side))

    def begin(self) -> None:
        """Begin an episode."""
        self._put_scores_aside()
        self._turns.reset()
        self._forget()
        for side in self._sides.values():
            side.end_episode()

    def step(self, agent: str | None = None, action: Any = None, skip_valid_action_check: bool = False) -> Results:
        """Play a step: the agent that is named does `action`; all others, and it too if that is None, are asked."""
        if agent is not None and agent not in self._sides:
            raise KeyError(agent)
        if self._is_over:
            raise GarrisonError("start() has ended this episode.", hint="Call reset().")
        self._look()
        given = {} if agent is None or action is None else {agent: action}
        self._play(given, skip_valid_action_check)
        self._follow(self._unread.pop(), learners=[name for name in self._sides if name != agent])
        if agent is None:
            return Results(observation=self._filtered_truth(), done=self.done)
        side = self._sides[agent]
        return Results(
            observation=side.told,
            done=self.done,
            reward=round(self.reward[agent], 1),
            action_space=self._hand_out(side),
            action=self.get_last_action(agent),
        )

    def start(self, steps: int, log_file: Any = None) -> bool:
        """Let the agents inside play, then end the episode."""
        for _ in range(steps):
            self.step()
        sides = self._sides
        for side in sides.values():
            side.end_episode()
            side.action_space.reset(side.name)
            side.end_episode()
        self._is_over = True
        if log_file is not None:
            red = sides[RED].agent
            rewards = f"{self.reward[RED]},{self.reward[BLUE]}"
            log_file.write(f"{steps},{rewards},{red.epsilon},{red.gamma}\n")
        return self.done

    def _play(self, given: Mapping[str, Any], unchecked: bool) -> None:
        """Ask who is to be asked, and let the simulator play what they chose."""
        sides, turns = self._sides, self._turns
        if RED in given and sides[RED].script is not None:
            raise NotInGarrison(
                f"an action for Red while {type(sides[RED].agent).__name__} plays it: leave that agent out"
            )
        blue = self._judged(sides[BLUE], given, unchecked)
        green = self._judged(sides[GREEN], given, unchecked)
        if not isinstance(green, Sleep | InvalidAction):
            raise NotInGarrison(f"Green's action {type(green).__name__}")
        number = -1 if isinstance(blue, InvalidAction) else blue_index(blue)
        self._actions[BLUE], self._actions[GREEN] = blue, green
        if RED not in given and sides[RED].is_silent:
            turns.play(number, *SLEEP)
            step = keep_step(turns)
            self._actions[RED] = Sleep() if sides[RED].sleeps else (step, self.network)
        else:
            self._put_scores_aside()
            turns.blue(number)
            try:
                self._play_red(self._judged(sides[RED], given, unchecked))
            except BaseException:  # Red's agent failed: what Blue did remains done
                self._unread.append(keep_step(turns)._replace(is_torn=True))
                raise
            turns.end()
            step = keep_step(turns)
        self._unread.append(step)
        self._reward, self._is_scored = None, True

    def _judged(self, side: Side, given: Mapping[str, Any], unchecked: bool) -> Action:
        """Return a side's action, as an InvalidAction if its action space does not have it."""
        if side.sleeps and side.name not in given:
            return Sleep()
        action: Action = given[side.name] if side.name in given else side.choose()
        if side.action_space.allows(action):
            return action
        if unchecked:
            raise NotInGarrison(f"skip_valid_action_check with {action}, which is not in the action space")
        return InvalidAction(action)

    def _play_red(self, action: Action) -> None:
        turns, env = self._turns, self._turns.arrays[0]
        seen = env["red_ports"][0]
        self._actions[RED] = action
        move = INVALID
        if not isinstance(action, InvalidAction):
            move = red_move(action, self.network, seen)
        if move.kind == RedKind.ESCALATE:
            self._check_escalation(move, action)
        turns.red(*move)
        if env["red_kind"] != move.kind:
            raise GarrisonError(f"Garrison's rules and its action space disagree about {action}: please report this.")
        if move.kind == RedKind.EXPLOIT:
            note_exploit(action, env["red_exploit"].item(), bool(seen[move.target] >= 0))
            if type(action) is ExploitRemoteService and env["red_success"] == Success.YES:
                self._os_known.add(move.target)

    def _check_escalation(self, move: RedMove, action: Any) -> None:
        """Fail as the original does where Red's only sessions come from concrete exploits, which tell it no system."""
        env, h = self._turns.arrays[0][0], move.target
        if env["access"][h] == Access.USER and h not in self._os_known:
            random.choice(range(env["sessions"][h]))  # the session that it would have lifted
            raise KeyError(action.hostname)

    # --- what the fast door needs

    @property
    def fast_blue(self) -> FastBlue | None:
        """The door for whoever plays Blue from outside by numbers; None if agents inside have to be asked."""
        sides = self._sides
        return FastBlue(self) if sides[BLUE].sleeps and sides[RED].is_silent else None

    @property
    def bits(self) -> NDArray[np.int8]:
        """Blue's 52 bits, overwritten by every step."""
        return self._turns.bits

    @property
    def steps(self) -> int:
        """Steps of this episode."""
        return int(self._turns.arrays[0]["t"].item())

    @property
    def scanned_hosts(self) -> list[str]:
        """Hosts that have answered a scan of Red's in this episode."""
        return [HOSTS[h] for h in np.flatnonzero(self._turns.arrays[0]["red_ports"][0] >= 0)]

    def play_number(self, action: int) -> float:
        """Play a step in which Blue does one of the 145 actions and nobody is asked; return its reward."""
        if self._is_over:
            raise GarrisonError("start() has ended this episode.", hint="Call reset().")
        reward = self._turns.play(action, *SLEEP)
        step = keep_step(self._turns)
        self._unread.append(step)
        self._actions = {BLUE: action, GREEN: _SLEEP_NUMBER, RED: (step, self.network)}
        self._reward, self._is_scored = None, True
        if self._is_watched or len(self._unread) > MAX_UNREAD:
            self._look()
        return reward

    # --- bringing the books up to date

    @property
    def network(self) -> EpisodeAddresses:
        """The episode's addresses."""
        if self._network is None:
            details = self._turns.arrays[1][0]
            self._network = EpisodeAddresses(details["addresses"].tolist(), details["subnets"].tolist())
        return self._network

    def _look(self) -> World:
        """Bring the books up to date."""
        if self._world is None:
            self._world = World(self.network, self._turns.arrays[1]["session_pids"][0].tolist(), self._rules)
            truth = self._filtered_truth()
            for name, side in self._sides.items():
                side.begin(truth, within_network(self._world, true_state(self._world, self.INFO_DICT[name])))
        unread, self._unread = self._unread, []
        for step in unread:
            self._follow(step)
        return self._world

    def _follow(self, step: KeptStep, learners: Iterable[str] = ()) -> None:
        """Enter a step into the books and tell every agent of it."""
        assert self._world is not None  # it was looked at before
        world, turn = self._world, step.read()
        blue = blue_answer(world, turn.blue_action, turn.blue_success, turn.accepted, turn.drawn)
        if step.is_torn:
            return
        red, events = red_answer(world, turn.red, turn.drawn)
        is_invalid = isinstance(self._actions.get(GREEN), InvalidAction)
        told = {BLUE: blue, GREEN: {"success": TrinaryEnum.FALSE if is_invalid else TrinaryEnum.UNKNOWN}, RED: red}
        learning = [name for name in learners if not self._sides[name].is_silent]
        worth = self._worth() if learning else {}
        for name in learning:
            self._sides[name].train(worth[name], told[name])
        monitor(world.hosts[turn.red.target], events, blue)
        for name, side in self._sides.items():
            side.tell(told[name])

    def _seen(self, agent: str) -> Side:
        self._look()
        return self._sides[agent]

    def _hand_out(self, side: Side) -> dict[str, dict[Any, bool]]:
        self._is_watched = True
        return side.action_space.get_action_space()

    def _filtered_truth(self) -> dict[str, Any]:
        world = self._world or self._look()
        return within_network(world, true_state(world, self.INFO_DICT["True"]))

    # --- what agents and scripts may ask

    def get_true_state(self, info: Mapping[str, Any]) -> Observation:
        """Return the parts of the world that `info` names."""
        if info is None:
            raise ValueError("get_true_state needs a dict of hosts and what to show of them, not None")
        return Observation.of(true_state(self._look(), info))

    def get_agent_state(self, agent_name: str) -> Observation:
        """Return what an agent may see at the start, as it is now; `True` may see everything."""
        return self.get_true_state(self.INFO_DICT[agent_name])

    def _filter_obs(self, obs: Observation, agent_name: str | None = None) -> Observation:
        """Drop from an observation, in place, what concerns addresses outside the network: the same for every agent."""
        within_network(self._look(), obs.data)
        return obs

    def get_last_observation(self, agent: str) -> Observation:
        """Return what an agent was told last."""
        return Observation.of(self._seen(agent).told)

    def get_action_space(self, agent: str) -> dict[str, dict[Any, bool]]:
        """Return an agent's action space; the dicts in it grow with the episode."""
        self._check_agent(agent)
        return self._hand_out(self._seen(agent))

    def get_observation_space(self, agent: str) -> Any:
        """Fail, as in the original."""
        self._check_agent(agent)
        raise NotImplementedError("CybORG has no observation space; its wrappers have")

    def _check_agent(self, agent: str) -> None:
        if agent not in self._sides:
            raise ValueError(f"Agent {agent} not in agent list {list(self._sides)}")

    def get_last_action(self, agent: str) -> Action | None:
        """Return an agent's last action, even if that was before a reset."""
        action = self._actions.get(agent)
        if isinstance(action, int):
            action = self._actions[agent] = blue_action(action)
        elif isinstance(action, tuple):
            step, network = action
            action = self._actions[agent] = scripted_action(*step.red_codes(), network)
        return action

    @property
    def reward(self) -> dict[str, float]:
        """Every agent's reward of the last step, with the price of its action; empty after a reset."""
        if self._reward is None:
            worth = self._worth()
            self._reward = {name: worth[name] + self._cost(name) for name in self._sides}
        return self._reward

    def _cost(self, agent: str) -> float:
        if self._sides[agent].script is not None:
            return 0  # a script knows what is valid
        action = self.get_last_action(agent)
        return action.cost if action is not None else 0

    def _worth(self) -> dict[str, float]:
        """Return what the last step was worth to everybody, without the price of their actions."""
        lost = losses(*self._scores_now())
        return {BLUE: lost.blue, GREEN: GREEN_REWARD, RED: lost.red}

    def _scores_now(self) -> tuple[list[int], bool]:
        env = self._turns.arrays[0]
        return env["access"][0].tolist(), bool(env["ot_running"][0])

    def _put_scores_aside(self) -> None:
        """Keep what the last step was worth, before the records show something else."""
        if self._is_scored:
            self._reward, self._scores, self._is_scored = self.reward, self._scores_now(), False

    def get_reward_breakdown(self, agent: str) -> dict[str, HostReward]:
        """Return each host's part of the last step's reward."""
        scores = self._scores_now() if self._is_scored else self._scores
        if agent == RED:
            return breakdown(*scores, sign=1) if scores else {}
        if self._sides[agent].name == GREEN or scores is None:
            raise AttributeError(f"{agent} has no host_scores: they come with the first step, for Blue and Red")
        return breakdown(*scores, sign=-1)

    @property
    def agent_interfaces(self) -> dict[str, Side]:
        """The agents' places in the game, with their action spaces."""
        self._look()
        self._is_watched = True
        return self._sides

    @property
    def hostname_ip_map(self) -> dict[str, IPv4Address]:
        """Every host's address."""
        return self.network.by_hostname

    @property
    def subnet_cidr_map(self) -> dict[str, IPv4Network]:
        """Every subnet."""
        return self.network.by_subnet_name

    def save(self, filepath: str) -> None:
        """Do nothing, as in the original."""

    def restore(self, filepath: str) -> None:
        """Do nothing, as in the original."""

    def pause(self) -> None:
        """Do nothing, as in the original."""

    def shutdown(self, **kwargs: Any) -> None:
        """Do nothing, as in the original."""
