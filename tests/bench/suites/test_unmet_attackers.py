"""Attackers that no defender has met: unchanged they choose as the simulator's own do, and changed they do not."""

import numpy as np
import pytest
from numpy.typing import NDArray

from garrison.bench.suites.unmet_attackers import EAGER, UNMET, BLinePlan, LatePlan, MeanderPlan
from garrison.cage2 import RedAgent, VectorEnv
from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.names import ACTIONS, REDS, BlueKind, Host, RedKind
from garrison.cage2.red_agent import RedView

ENVS, STEPS = 200, 100
NUM_COMPACT = len(ACTION_IDS["compact"])
RESTORES = [a.id for a in ACTIONS if a.kind == BlueKind.RESTORE and a.host in (1, 2, 9, 10, 11, 12)]


@pytest.mark.parametrize("rules", ["leaderboard", "head"])
@pytest.mark.parametrize(("red", "plan"), [("bline", BLinePlan()), ("meander", MeanderPlan())])
def test_a_plan_without_changes_chooses_as_the_simulators_attacker_does(red: str, plan: RedAgent, rules: str) -> None:
    envs = VectorEnv(ENVS, red=red, rules=rules, length=STEPS, autoreset_mode="Disabled", actions="compact")
    envs.reset(seed=3)
    random = np.random.default_rng(4)
    quiet = np.arange(ENVS) < ENVS // 2  # where Blue only sleeps Red gets far, elsewhere it often fails
    kinds = set()
    for step in range(STEPS):
        if step == 0:
            plan.reset(np.ones(ENVS, np.bool_))
        # A copy of the state has the same stream, so the plan draws what the simulator draws.
        chosen = plan.act(RedView(envs.get_state()))
        envs.step(np.where(quiet, 0, random.integers(NUM_COMPACT, size=ENVS)))
        np.testing.assert_array_equal(chosen[0], envs.truth.red_kind)
        np.testing.assert_array_equal(chosen[1], envs.truth.red_target)
        kinds |= set(envs.truth.red_kind.tolist())
    assert kinds == {RedKind.SWEEP, RedKind.SCAN, RedKind.EXPLOIT, RedKind.ESCALATE, RedKind.IMPACT}


def played(red: str | RedAgent, steps: int = 40) -> NDArray[np.int64]:
    """Return Red's kinds and targets, (steps, 2, environments), while Blue restores hosts on its way."""
    envs = VectorEnv(64, red=red, length=steps, autoreset_mode="Disabled", actions="all")
    envs.reset(seed=9)
    rows = []
    for step in range(steps):
        envs.step(np.full(64, RESTORES[step % len(RESTORES)]))
        rows.append([envs.truth.red_kind.copy(), envs.truth.red_target.copy()])
    return np.array(rows)


def test_a_late_plan_sleeps_first_and_then_begins() -> None:
    late = played(LatePlan(BLinePlan(), 7))
    assert (late[:7, 0] == RedKind.SLEEP).all()
    np.testing.assert_array_equal(late[7, 0], played(BLinePlan())[0, 0])
    assert (late[8:, 0] != RedKind.SLEEP).all()


def test_another_entry_is_another_user_host_and_another_order_is_another_order() -> None:
    def entries(red: RedAgent) -> int:
        kinds, targets = played(red).transpose(1, 2, 0)
        is_entry = (kinds == RedKind.SCAN) & (targets > Host.USER0)
        return max(len(set(row[scans])) for row, scans in zip(targets, is_entry, strict=True))

    assert entries(BLinePlan()) == 1
    assert entries(BLinePlan(new_entry=True)) > 1
    own, eager = played(MeanderPlan()), played(MeanderPlan(EAGER))
    assert (own[1:6, 0] == RedKind.SCAN).all()
    assert (eager[2, 0] == RedKind.EXPLOIT).all()


def test_every_one_of_them_plays() -> None:
    for name, make in UNMET.items():
        red = make()
        assert (red in REDS) == name.endswith("as in training")
        assert np.isin(played(red, 30)[:, 0], RedKind).all()
