"""Play episodes, and play them again while everything is written down."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.inputs import HIGHEST_SEED
from garrison.cage2.layout import Record
from garrison.cage2.names import (
    ACCESSES,
    ACTIONS,
    BELIEFS,
    DECOYS,
    EXPLOITS,
    HOSTS,
    NUM_DECOYS,
    NUM_HOSTS,
    RED_ACTIONS,
    SUBNETS,
)
from garrison.cage2.workflow import UNIT_OF_HOST, UNITS
from garrison.challenge.evaluation import check_agent
from garrison.episodes.episode import Columns, Episode
from garrison.episodes.game import Game
from garrison.episodes.half_turns import after_blue, had_effect
from garrison.episodes.measures import measure
from garrison.episodes.sentences import blue_sentence, is_caught, red_sentence, seen_sentence
from garrison.errors import GarrisonError, UserError

if TYPE_CHECKING:
    from garrison.agents import Agent, Explanation

TOP = 10
"""How many of the likeliest actions are kept for a step"""


class Totals(NamedTuple):
    """What is left of episodes that nobody has looked at yet."""

    seeds: NDArray[np.uint64]
    totals: NDArray[np.float64]
    actions: NDArray[np.int16]
    """(n, length) what Blue did"""
    notes: list[list[str]] | None = None
    """Of each episode what the agent said in each turn, if it has words"""

    def only(self, rows: Sequence[int]) -> "Totals":
        """Return some of the episodes."""
        chosen = list(rows)
        notes = None if self.notes is None else [self.notes[row] for row in chosen]
        return Totals(self.seeds[chosen], self.totals[chosen], self.actions[chosen], notes)


def play(agent: "Agent", game: Game, seeds: Sequence[int]) -> Totals:
    """Play one episode for each seed, all in one batch, and keep the totals and Blue's actions.

    What an agent draws follows from the first seed and the number of episodes.
    """
    check_agent(agent)
    if not seeds or min(seeds) < 0 or max(seeds) > HIGHEST_SEED:
        raise UserError(f"seeds must lie in 0..{HIGHEST_SEED}, and there must be one; got {list(seeds)[:3]}.")
    envs = game.envs(len(seeds))
    observations, _ = envs.reset(seed=list(seeds))
    agent.begin(len(seeds), seed=int(np.random.SeedSequence((seeds[0], len(seeds))).generate_state(1)[0]))
    actions = np.empty((len(seeds), game.length), np.int16)
    said, words = getattr(agent, "said", None), []
    for t in range(game.length):
        actions[:, t] = chosen = agent.act(observations)
        if said is not None:
            words.append(said())
        observations = envs.step(chosen)[0]
    totals = envs.get_state()["total"]
    envs.close()
    notes = [list(turns) for turns in zip(*words, strict=True)] if words else None
    return Totals(np.array(seeds, np.uint64), totals, actions, notes)


def record(
    agent: "Agent", game: Game, played: Totals, reference: str = "", labels: Sequence[str] = ()
) -> list[Episode]:
    """Play episodes again with the same seeds and actions, and write everything down.

    Args:
        agent: who played them; it is asked for its probabilities where it has any.
        game: what was played.
        played: what `play` returned, or some of its rows.
        reference: what loads the agent again; by default its name.
        labels: why each is shown.
    """
    count, length = played.actions.shape
    envs = game.envs(count)
    observations, _ = envs.reset(seed=played.seeds.tolist())
    agent.begin(count)
    states, explanations = [envs.get_state()], []
    explain, took = getattr(agent, "explain", None), getattr(agent, "took", None)
    for t in range(length):
        actions = played.actions[:, t].astype(np.int64)
        if explain is not None:
            agent.act(observations)
            explanations += [said] if (said := explain()) is not None else []
            if took is not None:
                took(actions)
        observations = envs.step(actions)[0]
        states.append(envs.get_state())
    envs.close()
    whole = np.stack(states)  # (T+1, n)
    if not np.array_equal(whole[-1]["total"], played.totals):
        raise GarrisonError("an episode that was played again ended differently: a bug, please report it.")
    about = {
        "agent": {"name": agent.name, "reference": reference or agent.name},
        "red": game.red_name,
        "rules": game.rules,
        "encoder": game.encoder,
    }
    return [
        _episode(
            game,
            whole[:, i],
            about | {"seed": int(played.seeds[i]), "label": labels[i] if labels else ""},
            _policy(explanations, i),
            None if played.notes is None else played.notes[i],
        )
        for i in range(count)
    ]


def _episode(
    game: Game, states: NDArray[np.void], about: dict[str, Any], policy: Columns | None, notes: list[str] | None
) -> Episode:
    before, after = states[:-1], states[1:]
    sc = game.scenario[0]
    actions = after["blue_action"].astype(np.int64)
    middle = after_blue(game, before, actions)
    caught = is_caught(after, sc)
    effect = had_effect(game, before, middle)
    turn: Columns = {
        "blue_action": actions.tolist(),
        "blue_success": after["blue_success"].tolist(),
        "effect": effect.astype(int).tolist(),
        "red_kind": after["red_kind"].tolist(),
        "red_target": after["red_target"].tolist(),
        "red_exploit": after["red_exploit"].tolist(),
        "red_success": after["red_success"].tolist(),
        "caught": caught.astype(int).tolist(),
        "reward": _thousandths(np.diff(states["total"])),
        "terms": [_thousandths(row) for row in after["reward_terms"]],
        "blue_text": [blue_sentence(b, m, sc) for b, m in zip(before, middle, strict=True)],
        "red_text": [red_sentence(m, a, sc, bool(c)) for m, a, c in zip(middle, after, caught, strict=True)],
        "seen_text": [seen_sentence(b, a) for b, a in zip(before, after, strict=True)],
    }
    return Episode(
        **about,
        length=len(after),
        total=_thousandths(states["total"][-1:])[0],
        names=_names(),
        network=_network(sc),
        state=_state_columns(states),
        turn=turn,
        metrics=measure(states, middle, effect, caught, int(sc["foothold"])),
        policy=policy,
        notes=notes,
        workflow=_compliance(game, states, actions),
    )


def _state_columns(states: NDArray[np.void]) -> Columns:
    """Return the columns of the states, each with a row more than there are turns."""
    masks = ((states["decoys"] > 0) << np.arange(NUM_DECOYS)).sum(axis=2)
    is_active = np.arange(NUM_HOSTS) == states["active_host"][:, None]
    return {
        "access": states["access"].tolist(),
        "sessions": states["sessions"].tolist(),
        "hidden": states["hidden"].tolist(),
        "malware": states["malware"].tolist(),
        "decoys": masks.tolist(),
        "known": np.where(states["known_host"] != 0, 2, states["known_address"]).tolist(),
        "service": states["ot_running"].tolist(),
        "shielded": (states["ot_stoppable"] == 0).astype(int).tolist(),
        "belief": states["belief"].tolist(),
        "activity": np.where(is_active, states["activity"][:, None], 0).tolist(),
        "total": _thousandths(states["total"]),
    }


def _policy(explanations: "list[Explanation]", i: int) -> Columns | None:
    if not explanations:
        return None
    top, values, masked = [], [], []
    for explanation in explanations:
        odds = explanation.probabilities[i]
        likeliest = np.argsort(-odds, kind="stable")[:TOP].tolist()
        top.append([[a, round(float(odds[a]), 4)] for a in likeliest if odds[a] > 0])
        values.append(None if explanation.values is None else round(float(explanation.values[i]), 3))
        masked.append(np.flatnonzero(explanation.masked[i]).tolist())
    return {"top": top, "value": values, "masked": masked}


def _compliance(game: Game, states: NDArray[np.void], actions: NDArray[np.int64]) -> dict[str, Any] | None:
    if game.workflow is None:
        return None
    fixes, complied = np.flatnonzero(np.diff(states["fixes"])).tolist(), np.diff(states["compliant"]) > 0
    return {
        "order": [UNITS[unit] for unit in states["order"][0].tolist()],
        "fixes": [[t, UNITS[UNIT_OF_HOST[ACTIONS[actions[t]].host]], bool(complied[t])] for t in fixes],
        "rate": round(float(states["rate"][-1]), 4),
        "definition": game.workflow.definition,
        "foothold": game.workflow.foothold,
    }


def _names() -> dict[str, list[str]]:
    return {
        "hosts": [*HOSTS],
        "subnets": [*SUBNETS],
        "actions": [action.name for action in ACTIONS],
        "red_actions": [*RED_ACTIONS],
        "exploits": [*EXPLOITS],
        "decoys": [*DECOYS],
        "beliefs": [*BELIEFS],
        "accesses": [*ACCESSES],
        "terms": [*HOSTS, "OTService", "action"],
    }


def _network(sc: Record) -> dict[str, Any]:
    return {
        "subnet": sc["subnet"].tolist(),
        "windows": (sc["windows"] != 0).tolist(),
        "value": _thousandths(sc["confidentiality"]),
        "service_host": int(sc["service_host"]),
        "foothold": int(sc["foothold"]),
        "links": [["Enterprise", "Operational"], ["User", "Enterprise"]],
    }


def _thousandths(values: NDArray[np.float64]) -> list[float]:
    return [round(value, 3) + 0.0 for value in values.tolist()]
