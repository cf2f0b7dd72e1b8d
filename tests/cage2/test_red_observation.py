"""What a learned attacker sees: all that Red knows, and nothing else."""

from typing import Any

import numpy as np
import pytest

from garrison.cage2 import RedView, VectorEnv
from garrison.cage2.names import NUM_HOSTS, PORTS, Access, RedKind, Success
from garrison.cage2.red_moves import RED_MOVES
from garrison.cage2.red_observation import NUM_RED_BITS, RED_GROUPS, red_masks, red_observations
from tests.helpers.red_players import AnyMove


@pytest.fixture(scope="module")
def played() -> VectorEnv:
    """Many environments in the middle of episodes in which Red did whatever it could, and Blue a little."""
    envs = VectorEnv(400, red=AnyMove, length=200)
    envs.reset(seed=0)
    for t in range(170):
        envs.step(np.full(400, 132 + t % 13 if t % 20 == 0 else 0))
    return envs


def groups(envs: Any) -> dict[str, np.ndarray]:
    bits = red_observations(envs)
    parts = np.split(bits, np.cumsum(list(RED_GROUPS.values()))[:-1], axis=1)
    return dict(zip(RED_GROUPS, parts, strict=True))


@pytest.mark.slow
def test_the_bits_are_what_the_view_says(played: VectorEnv) -> None:
    view, seen = played.red_view, groups(played.get_state())
    assert (seen["address known"] == view.known_address).all()
    assert (seen["hostname known"] == view.known_host).all()
    assert (seen["user session"] == (view.access == Access.USER)).all()
    assert (seen["privileged session"] == (view.access == Access.PRIVILEGED)).all()
    assert (seen["a scan was answered"] == (view.ports >= 0)).all()
    assert (seen["exploit tried"] == view.tried(RedKind.EXPLOIT)).all()
    assert (seen["escalation tried"] == view.tried(RedKind.ESCALATE)).all()
    assert (seen["subnet known"] == view.known_subnet).all()
    assert (seen["subnet swept"] == view.tried(RedKind.SWEEP)).all()
    assert (seen["the service is known"][:, 0] == view.service_known).all()
    assert (seen["kind of the last action"].argmax(axis=1) == view.last_kind).all()
    assert (seen["the last action succeeded"][:, 0] == (view.last_success == Success.YES)).all()
    ports = seen["port open at the last answered scan"].reshape(-1, NUM_HOSTS, len(PORTS))
    masks = (ports.astype(int) << np.arange(len(PORTS))).sum(axis=2)
    assert (masks == np.maximum(view.ports, 0)).all()
    for name, part in seen.items():
        if name != "steps taken":
            assert 0 < part.mean() < 1, name  # every group has something to say


@pytest.mark.slow
def test_it_remembers_how_the_last_exploit_of_each_host_went() -> None:
    envs = VectorEnv(64, red=AnyMove, length=100)
    envs.reset(seed=1)
    worked = np.zeros((64, NUM_HOSTS), bool)
    seen_both = set()
    for _ in range(90):
        envs.step(np.zeros(64, int))
        view = envs.red_view
        rows = np.flatnonzero(view.last_kind == RedKind.EXPLOIT)
        worked[rows, view.last_target[rows]] = view.last_success[rows] == Success.YES
        seen_both |= set((view.last_success[rows]).tolist())
        assert (groups(envs.get_state())["the last exploit there succeeded"] == worked).all()
    assert seen_both == {Success.YES, Success.NO}


@pytest.mark.slow
def test_nothing_that_red_cannot_know_changes_a_bit(played: VectorEnv) -> None:
    state = played.get_state()
    bits, masks = red_observations(state), red_masks(state)
    secret = state.copy()
    for name in ("ports", "decoys", "sockets", "malware", "belief", "ot_running", "ot_stoppable", "patched", "total"):
        secret[name] = 1
    secret["blue_action"] = 140
    assert (red_observations(secret) == bits).all()
    assert (red_masks(secret) == masks).all()


@pytest.mark.slow
def test_a_forbidden_move_fails_and_an_allowed_one_is_never_invalid(played: VectorEnv) -> None:
    masks = played.red_view.action_masks()
    assert masks[:, 0].all()
    for move in RED_MOVES[1:]:
        forbidden, allowed = np.flatnonzero(~masks[:, move.id]), np.flatnonzero(masks[:, move.id])
        for rows, may in ((forbidden, False), (allowed, True)):
            twin = VectorEnv(max(1, len(rows)), red="external", length=200)
            if not len(rows):
                continue
            twin.set_state(played.get_state(rows))
            red = np.full((len(rows), 2), (move.kind, move.target))
            twin.step({"blue": np.zeros(len(rows), int), "red": red})
            if may:
                assert (twin.truth.red_kind == move.kind).all()
            elif move.kind != RedKind.SCAN:  # quirk Q9: a scan succeeds without an answer
                assert (twin.truth.red_success == Success.NO).all()


def test_it_has_the_width_that_its_groups_say() -> None:
    envs = VectorEnv(2)
    envs.reset(seed=0)
    assert envs.red_view.observations().shape == (2, NUM_RED_BITS)
    assert isinstance(envs.red_view, RedView)
