"""What enters a batch from outside: refused with a sentence, or played without harm."""

import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from garrison.cage2 import soundness
from garrison.cage2.layout import DETAILS, SCENARIO, STATE, TAPE
from garrison.cage2.names import NUM_ACTIONS, SCRIPTED_REDS
from garrison.cage2.vector_env import VectorEnv
from garrison.cage2.workflow import Workflow
from garrison.errors import UserError

STEPS = 20


def played(red: Any = "bline", steps: int = 8, n: int = 4, **options: Any) -> VectorEnv:
    envs = VectorEnv(n, red=red, length=30, **options)
    envs.reset(seed=3)
    actions = np.random.default_rng(5)
    for _ in range(steps):
        envs.step(actions.integers(0, NUM_ACTIONS, n))
    return envs


def refused_or_played(envs: VectorEnv, state: Any) -> bool:
    """Set the state; if it is taken, play on and look at everything. Return whether it was taken."""
    complaint = ""
    try:
        envs.set_state(state)
    except UserError as error:
        complaint = str(error)
    if complaint:
        assert len(complaint) < 300  # a sentence, not a dump
        return False
    actions = np.random.default_rng(1)
    for _ in range(STEPS):
        obs, rewards, *_ = envs.step(actions.integers(0, NUM_ACTIONS, envs.num_envs))
        assert envs.observation_space.contains(obs)
        assert np.isfinite(rewards).all()
    envs.action_masks(by_truth=True)
    for i in range(envs.num_envs):
        envs.true_table(i), envs.blue_table(i), envs.true_state(i)
    envs.set_state(envs.get_state())
    return True


@pytest.mark.parametrize(
    ("dtype", "ranges"),
    [
        (STATE, soundness.STATE_RANGES),
        (SCENARIO, soundness.SCENARIO_RANGES),
        (TAPE, soundness.TAPE_RANGES),
        (DETAILS, soundness.DETAILS_RANGES),
    ],
)
def test_every_field_has_a_range(dtype: np.dtype[np.void], ranges: Mapping[str, Any]) -> None:
    assert set(dtype.names or ()) == set(ranges)


def test_a_state_that_points_behind_its_tape_is_refused() -> None:
    envs = VectorEnv(4)
    envs.reset(seed=0)
    state = envs.get_state()
    state["source"], state["t"], state["length"] = 1, 2**30, 2**31 - 1
    with pytest.raises(UserError, match=r"t of state 0 is 1073741824; it must be from 0 to 32767"):
        envs.set_state(state)
    state["t"], state["length"] = 0, 100
    with pytest.raises(UserError, match="a recorded tape is attached, as long as the episode"):
        envs.set_state(state)


@pytest.mark.parametrize("observation", ["bits", "memory"])
@pytest.mark.parametrize("red", [*SCRIPTED_REDS, {"bline": 0.5, "meander": 0.5}])
def test_every_state_of_a_game_is_taken_back(red: Any, observation: str) -> None:
    workflow = Workflow(orders=7) if observation == "memory" else None
    envs = VectorEnv(5, red=red, length=30, rules="leaderboard", observation=observation, workflow=workflow)
    envs.set_state(envs.get_state())  # also before the first reset
    envs.reset(seed=0)
    actions = np.random.default_rng(2)
    for _ in range(70):
        envs.step(actions.integers(0, NUM_ACTIONS, 5))
        envs.set_state(envs.get_state())


@settings(max_examples=60)
@given(
    field=st.sampled_from([name for name in STATE.names or () if name not in ("stream", "unused")]),
    red=st.sampled_from(SCRIPTED_REDS),
    mode=st.sampled_from(["NextStep", "SameStep"]),
    data=st.data(),
)
def test_one_wild_field_does_no_harm(field: str, red: str, mode: str, data: Any) -> None:
    envs = played(red, autoreset_mode=mode, observation="memory")
    state = envs.get_state()
    number = STATE[field].base
    if number.kind == "f":
        value = data.draw(st.floats(width=64))
    else:
        info = np.iinfo(number)
        value = data.draw(st.one_of(st.integers(-2, 20), st.integers(info.min, info.max)))
    flat = state[field].reshape(4, -1)
    flat[data.draw(st.integers(0, 3)), data.draw(st.integers(0, flat.shape[1] - 1))] = value
    state[field] = flat.reshape(state[field].shape)
    refused_or_played(envs, state)


@settings(max_examples=40)
@given(bytes_=st.binary(min_size=STATE.itemsize, max_size=STATE.itemsize), row=st.integers(0, 3))
def test_random_bytes_do_no_harm(bytes_: bytes, row: int) -> None:
    envs = played("meander")
    before = envs.get_state()
    state = before.copy()
    state[row] = np.frombuffer(bytes_, STATE)[0]
    if not refused_or_played(envs, state):
        assert envs.get_state().tobytes() == before.tobytes()  # nothing of it was taken


@settings(max_examples=40)
@given(
    places=st.lists(st.tuples(st.integers(0, STATE.itemsize - 1), st.integers(0, 255)), min_size=1, max_size=3),
    red=st.sampled_from(SCRIPTED_REDS),
)
def test_a_few_flipped_bytes_do_no_harm(places: list[tuple[int, int]], red: str) -> None:
    envs = played(red, steps=15)
    state = envs.get_state()
    raw = state.view(np.uint8).reshape(4, -1)
    for place, value in places:
        raw[2, place] = value
    refused_or_played(envs, state)


@pytest.mark.slow
@settings(max_examples=100)
@given(
    field=st.sampled_from([name for name in DETAILS.names or () if name not in ("used_ports", "unused")]),
    red=st.sampled_from(["bline", "meander"]),
    data=st.data(),
)
def test_one_wild_field_of_the_details_does_no_harm(field: str, red: str, data: Any) -> None:
    envs = played(red, steps=15, n=2, source="cyborg")
    state = envs.get_state()
    number = DETAILS[field].base
    limits = np.iinfo(number)
    wild = data.draw(st.integers(limits.min, limits.max) | st.sampled_from([0, 1, -1 % (limits.max + 1), 8, 12]))
    numbers = state[field].reshape(2, -1)
    numbers[data.draw(st.integers(0, 1)), data.draw(st.integers(0, min(40, numbers.shape[1] - 1)))] = wild
    state[field] = numbers.reshape(state[field].shape)
    refused_or_played(envs, state)


def test_numbers_that_are_in_range_but_do_not_fit_together_are_refused() -> None:
    envs = played("bline", steps=8, workflow=Workflow())
    for field, value, message in [
        ("stream", 0, "random stream has a bit that is set"),
        ("sessions", 30, "sessions on each host add up"),
        ("access", 2, "access levels"),
        ("decoys", 32767, "decoys and sockets"),
        ("bline_user", 0, "B_line has drawn a user host"),
        ("activity", 2, "a scan or an exploit"),
        ("clock", 32767, "steps that Blue remembers"),
        ("compliant", 8, "no more fixes comply"),
        ("next_order", 3, "each unit once"),
        ("t", 30, "steps left"),
    ]:
        state = envs.get_state()
        state[field] = value
        with pytest.raises(UserError, match=message):
            envs.set_state(state)


def test_a_foreign_pickle_is_checked() -> None:
    envs = played()
    good = pickle.loads(pickle.dumps(envs))
    assert good.get_state().tobytes() == envs.get_state().tobytes()

    def change(**changes: Any) -> bytes:
        parts = {**envs.__getstate__(), **changes}
        return pickle.dumps(_Forged(parts))

    wild = envs.get_state()
    wild["bline_state"] = 100
    with pytest.raises(UserError, match="bline_state of state 0 is 100"):
        pickle.loads(change(_envs=wild))
    scenario = envs._scenario.copy()
    scenario["foothold"] = 99
    with pytest.raises(UserError, match="foothold of scenario 0 is 99"):
        pickle.loads(change(_scenario=scenario))
    with pytest.raises(UserError, match="the array of its observations does not fit"):
        pickle.loads(change(_obs=np.zeros((2, 52), np.int8)))
    parts = envs.__getstate__()
    del parts["_tapes"]
    with pytest.raises(UserError, match="no saved batch"):
        pickle.loads(pickle.dumps(_Forged(parts)))


def _blank() -> VectorEnv:
    return VectorEnv.__new__(VectorEnv)


class _Forged:
    """Pickles as a batch with these attributes."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self.parts = parts

    def __reduce__(self) -> Any:
        return _blank, (), self.parts


@settings(max_examples=40)
@given(data=st.data(), red=st.sampled_from(["bline", "meander"]))
def test_any_tape_in_range_does_no_harm(data: Any, red: str) -> None:
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    tapes = np.zeros((3, 30), TAPE)
    for name, (low, high) in soundness.TAPE_RANGES.items():
        tapes[name] = generator.integers(int(low), int(min(high, 20)) + 1, tapes[name].shape)
    envs = VectorEnv(3, red=red, length=30)
    envs.play_tapes(tapes)
    envs.reset(seed=0)
    for _ in range(30):
        envs.step(generator.integers(0, NUM_ACTIONS, 3))
        envs.set_state(envs.get_state())
    tapes["bline_target"][1, 2] = 99
    with pytest.raises(UserError, match="bline_target of tape 32 is 99"):
        envs.play_tapes(tapes)
