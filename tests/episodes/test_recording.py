"""What is recorded is what happened: every column beside an environment that is stepped by hand."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from garrison.agents import load_agent
from garrison.agents.load import SHIPPED
from garrison.cage2 import VectorEnv
from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.names import ACTIONS
from garrison.episodes.game import Game, judged_by
from garrison.episodes.half_turns import after_blue
from garrison.episodes.players import find_player
from garrison.episodes.recording import play, record
from garrison.errors import GarrisonError, UserError
from garrison.learn.nn.description import build_policy
from garrison.storage import checkpoint
from garrison.workflow.defenders import scripted
from garrison.workflow.play import play as play_order
from garrison.workflow.settings import TRAIN
from tests.helpers.scripts import by_the_book, episode_of

GAME = Game("meander", 40, "leaderboard")


def test_every_column_is_what_the_environment_shows() -> None:
    episode = episode_of(load_agent("record"), GAME, seed=7)
    envs = VectorEnv(1, red="meander", rules="leaderboard", length=40)
    bits, _ = envs.reset(seed=[7])
    agent = load_agent("record")
    agent.begin(1)
    for t in range(41):
        truth, state = envs.truth, {name: column[t] for name, column in episode.state.items()}
        assert state["access"] == truth.access[0].tolist()
        assert state["sessions"] == truth.sessions[0].tolist()
        assert state["hidden"] == truth.hidden[0].tolist()
        assert state["malware"] == truth.malware[0].tolist()
        assert [[mask >> d & 1 for d in range(8)] for mask in state["decoys"]] == (truth.decoys[0] > 0).tolist()
        assert [known > 0 for known in state["known"]] == (
            (truth.known_address[0] != 0) | (truth.known_host[0] != 0)
        ).tolist()
        assert [known == 2 for known in state["known"]] == (truth.known_host[0] != 0).tolist()
        assert state["service"] == truth.ot_running[0]
        assert state["shielded"] == 1 - truth.ot_stoppable[0]
        seen = bits[0].reshape(13, 4)
        assert state["belief"] == (seen[:, 2] + 2 * seen[:, 3]).tolist()
        assert state["activity"] == (seen[:, 0] + 2 * seen[:, 1]).tolist()
        if t == 40:
            break
        bits, rewards, *_ = envs.step(agent.act(bits))
        turn = {name: column[t] for name, column in episode.turn.items()}
        for name in ("blue_action", "blue_success", "red_kind", "red_target", "red_exploit", "red_success"):
            assert turn[name] == getattr(envs.truth, name)[0], name
        assert turn["reward"] == rewards[0]
        assert turn["terms"] == envs.truth.reward_terms[0].tolist()
        assert sum(turn["terms"]) == pytest.approx(turn["reward"])
        assert episode.state["total"][t + 1] == pytest.approx(episode.state["total"][t] + turn["reward"])
    assert episode.total == episode.state["total"][-1]


def test_an_episode_depends_on_its_seed_not_on_its_batch() -> None:
    agent = load_agent("record")
    together = record(agent, GAME, play(agent, GAME, [3, 7, 5]))
    assert [episode.seed for episode in together] == [3, 7, 5]
    assert together[1] == episode_of(agent, GAME, 7)


def test_a_draw_is_recorded_as_it_was_drawn() -> None:
    agent = load_agent("record", sample=True)
    played = play(agent, GAME, range(20))
    again = record(agent, GAME, played.only([4, 11]))
    for row, episode in zip((4, 11), again, strict=True):
        assert episode.turn["blue_action"] == played.actions[row].tolist()
        assert episode.total == played.totals[row]
        assert episode.policy is not None
        assert any(a != top[0][0] for a, top in zip(episode.turn["blue_action"], episode.policy["top"], strict=True))


def test_another_total_than_before_is_noticed() -> None:
    agent = load_agent("sleep")
    played = play(agent, GAME, [0])
    with pytest.raises(GarrisonError, match="ended differently"):
        record(agent, GAME, played._replace(totals=played.totals - 0.1))


@pytest.mark.parametrize("sample", [False, True])
def test_the_policy_is_the_network_of_the_checkpoint(sample: bool) -> None:
    values = checkpoint.load(SHIPPED["record-1"])
    network = build_policy(values["policy"], values["state"]["weights"])
    episode = episode_of(load_agent("record-1", sample), GAME, seed=7)
    assert episode.policy is not None
    told = VectorEnv(1, red="meander", rules="leaderboard", length=40, observation="memory", actions="compact")
    seen, _ = told.reset(seed=[7])
    ids = ACTION_IDS["compact"]
    for t, action in enumerate(episode.turn["blue_action"]):
        with torch.inference_mode():
            logits, value, _ = network((torch.from_numpy(seen.astype(np.float32)),))
        row, mask = logits.numpy()[0].astype(np.float64), told.action_masks()[0]
        row[~mask] = -np.inf
        odds = np.exp(row - row.max())
        odds /= odds.sum()
        top = episode.policy["top"][t]
        assert [a for a, _ in top] == ids[np.argsort(-odds, kind="stable")[: len(top)]].tolist()
        assert [p for _, p in top] == pytest.approx(np.sort(odds)[::-1][: len(top)].tolist(), abs=1e-4)
        assert episode.policy["masked"][t] == ids[~mask].tolist()
        # It was trained on half of the rewards.
        assert episode.policy["value"][t] == pytest.approx(2 * float(value[0]), abs=2e-3)
        seen, *_ = told.step(np.searchsorted(ids, [action]))


def test_a_scripted_agent_has_no_policy() -> None:
    assert episode_of(load_agent("alert-restore"), GAME).policy is None


SENTENCES: list[tuple[list[str], list[str], str, str]] = [
    (["Sleep"], ["sleep"], "Blue sleeps.", "Red sleeps."),
    (["Monitor"], ["sweep User"], "Blue monitors, which every step does by itself.", "learns 4 addresses."),
    (["Sleep"], ["sweep Operational"], "Blue sleeps.", "Red names something that it does not know"),
    (["Sleep"], ["scan User1"], "Blue sleeps.", "Red names something that it does not know"),
    (["Restore User1"], ["sleep"], "Blue restores User1, which Red does not hold.", "Red sleeps."),
    (["Restore Op_Server0"], ["sleep"], "Impact can no longer stop the service.", "Red sleeps."),
    (["Restore User0"], ["sleep"], "Red's foothold there cannot be removed.", "Red sleeps."),
    (["Remove User1"], ["sleep"], "Blue tries Remove on User1; there is nothing to remove.", "Red sleeps."),
    (["DecoyApache User3"], ["sleep"], "Blue tries a decoy (Apache) on User3; it is refused", "Red sleeps."),
    (["Analyse User1"], ["escalate User0"], "finds nothing.", "privileged already."),
    (
        ["DecoyTomcat User2", "DecoyTomcat User2"],
        ["sweep User", "scan User2"],
        "it is refused",
        "Red scans User2.",
    ),
    (
        ["DecoyTomcat User2", "Sleep", "Restore User2"],
        ["sweep User", "scan User2", "sleep"],
        "which Red does not hold; lost with it: Tomcat.",
        "Red sleeps.",
    ),
    (
        ["DecoyFemitter User2", "Sleep", "Sleep"],
        ["sweep User", "scan User2", "exploit User2"],
        "Blue sleeps.",
        "Red exploits User2 with FTPDirectoryTraversal: a decoy (Femitter) takes the hit.",
    ),
    (
        ["Sleep", "Sleep", "Sleep", "Analyse User1"],
        ["sweep User", "scan User1", "exploit User1", "escalate User1"],
        "Blue analyses User1 and finds malware.",
        "Red escalates on User1, where it is privileged already and learns the address of Enterprise1.",
    ),
    (
        ["Sleep", "Sleep", "Sleep", "Restore User1"],
        ["sweep User", "scan User1", "exploit User1", "escalate User1"],
        "Blue restores User1: 1 session gone.",
        "Red tries to escalate on User1, but has no session there any more.",
    ),
    (
        ["Sleep", "Sleep", "Sleep", "Remove User1"],
        ["sweep User", "scan User1", "exploit User1", "escalate User1"],
        "Blue tries Remove on User1; 1 session there cannot be removed so.",
        "learns the address of Enterprise1.",
    ),
    (
        ["DecoyFemitter User2", "Sleep", "Restore User2"],
        ["sweep User", "scan User2", "exploit User2"],
        "lost with it: Femitter.",
        "Red exploits User2 with FTPDirectoryTraversal and fails: nothing listens there.",
    ),
    (["Sleep"] * 2, ["sweep User", "exploit User1"], "Blue sleeps.", "knows of no port there that it could use."),
]


@pytest.mark.parametrize(("blue", "red", "blue_text", "red_text"), SENTENCES)
def test_sentences_say_what_happened_in_the_last_turn(
    blue: list[str], red: list[str], blue_text: str, red_text: str
) -> None:
    # With seed 2 Red takes FTPDirectoryTraversal on User1 and User2, and is seen.
    episode = by_the_book(blue, red, seed=2)
    assert blue_text in episode.turn["blue_text"][-1]
    assert red_text in episode.turn["red_text"][-1]


def test_impact_is_told_as_what_it_did() -> None:
    way = ["sweep User", "scan User1", "exploit User1", "escalate User1", "scan Enterprise1", "exploit Enterprise1"]
    way += ["escalate Enterprise1", "sweep Enterprise", "scan Enterprise2", "exploit Enterprise2"]
    way += ["escalate Enterprise2", "scan Op_Server0", "exploit Op_Server0", "escalate Op_Server0"]
    way += ["impact Op_Server0", "impact Op_Server0"]
    down = by_the_book([], way)
    assert down.turn["red_success"].count(0) == 0
    assert down.turn["red_text"][-2:] == [
        "Red stops the service of Op_Server0 with Impact.",
        "Red uses Impact on Op_Server0 again; the service is down already.",
    ]
    assert down.metrics["service_down"] == 2
    back = by_the_book(["Sleep"] * 15 + ["Restore Op_Server0"], way)
    assert "the service runs again" in back.turn["blue_text"][-1]
    assert back.turn["red_text"][-1] == "Red tries Impact on Op_Server0, but has no session there."
    shielded = by_the_book(["Restore Op_Server0"], way)
    assert (
        shielded.turn["red_text"][-2] == "Red uses Impact on Op_Server0; the service, restored before, keeps running."
    )


def test_what_blue_saw_is_told_with_the_change_of_its_table() -> None:
    episode = by_the_book(["Sleep"] * 3 + ["Restore User1"], ["sweep User", "scan User1", "exploit User1"], seed=2)
    assert episode.turn["seen_text"] == [
        "Blue sees nothing.",
        "Blue sees a scan of User1.",
        "Blue sees an exploit on User1; its table: User1 No → User.",
        "Blue sees nothing; its table: User1 User → No.",
    ]


@pytest.mark.parametrize(
    ("blue", "rules", "effect"),
    [
        ("Sleep", "head", 0),
        ("Monitor", "head", 0),
        ("Analyse User1", "head", 0),
        ("Remove User1", "head", 0),
        ("Restore User1", "head", 0),
        ("Restore User0", "head", 0),
        ("Restore Op_Server0", "head", 1),  # Impact can no longer stop the service
        ("Restore User3", "head", 0),
        ("Restore User3", "leaderboard", 1),  # closes HarakaRCE
        ("Restore User1", "leaderboard", 0),  # has nothing to close
        ("DecoyTomcat User1", "head", 1),
        ("DecoyApache User3", "head", 0),
    ],
)
def test_an_action_had_an_effect_if_it_changed_something(blue: str, rules: str, effect: int) -> None:
    assert by_the_book([blue], [], rules=rules).turn["effect"] == [effect]


def test_analyse_and_remove_have_an_effect_where_they_find_something() -> None:
    red = ["sweep User", "scan User2", "exploit User2"]
    seed = next(s for s in range(50) if "user session" in by_the_book([], red, s).turn["red_text"][-1])
    found = by_the_book(["Sleep"] * 3 + ["Analyse User2", "Remove User2", "Remove User2"], red, seed)
    assert found.turn["effect"] == [0, 0, 0, 1, 1, 0]
    assert found.turn["blue_text"][4] == "Blue removes 1 session from User2."


def test_blues_half_of_a_turn_is_the_turn_against_a_sleeping_red() -> None:
    game = Game("sleep", 30, "leaderboard")
    played = play(load_agent("random"), game, [5])
    envs = game.envs(1)
    envs.reset(seed=[5])
    for action in played.actions[0]:
        before = envs.get_state()
        envs.step(np.array([int(action)]))
        half = after_blue(game, before, np.array([int(action)]))
        for name in half.dtype.names:
            if name != "red":
                assert np.array_equal(half[name], envs.get_state()[name]), (ACTIONS[action].name, name)


def test_fixes_are_judged_as_in_an_evaluation_of_the_workflow() -> None:
    agent, workflow = find_player("greedy-remove", order=6)
    game = Game("bline", 50, workflow=workflow)
    seeds = np.random.SeedSequence((0, 50)).generate_state(5, np.uint64).tolist()
    found = record(agent, game, play(agent, game, seeds))
    env = dataclasses.replace(TRAIN.env, red="bline", length=50)
    score = play_order(scripted("greedy-remove"), env, TRAIN.workflow, 6, 5, 0)
    compliances = [episode.workflow for episode in found if episode.workflow is not None]
    assert np.mean([one["rate"] for one in compliances]) == pytest.approx(score.compliance, abs=1e-4)
    assert np.mean([episode.total for episode in found]) == pytest.approx(score.reward)
    for one in compliances:
        assert one["order"] == ["defender", "op_server", "enterprise", "op_host", "user"]
        complied = [good for _, _, good in one["fixes"]]
        assert one["rate"] == pytest.approx(np.mean(complied), abs=1e-4)


def test_an_order_is_no_part_of_the_rewards() -> None:
    bare = episode_of(load_agent("react-restore"), Game("bline", 30))
    game = Game("bline", 30, workflow=judged_by(3))
    judged = episode_of(load_agent("react-restore"), game)
    assert judged.turn["reward"] == bare.turn["reward"]
    envs = game.envs(1)
    envs.reset(seed=[0])
    assert [envs.step(np.array([a]))[1][0] for a in bare.turn["blue_action"]] == bare.turn["reward"]
    assert bare.workflow is None
    assert judged.workflow is not None


@pytest.mark.parametrize("seeds", [[], [-1], [2**64]])
def test_seeds_that_cannot_be_are_refused(seeds: Any) -> None:
    with pytest.raises(UserError, match="seeds must lie"):
        play(load_agent("sleep"), GAME, seeds)
