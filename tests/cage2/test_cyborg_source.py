"""`source="cyborg"`: a seed gives CybORG's episode of that seed, in a batch as alone, saved as played."""

import copy
import pickle
import random
from typing import Any

import gymnasium
import numpy as np
import pytest

import garrison.vector
from garrison.cage2 import RedAgent, RedView, VectorEnv
from garrison.cage2.details import SERVICE_PID, STRAY_ADDRESS, is_running
from garrison.cage2.layout import DETAILED_STATE, MAX_DETAILED_LENGTH
from garrison.cage2.names import HOSTS, NUM_ACTIONS, Host, RedKind, Subnet
from garrison.cage2.scenario import DEFAULT_FILE
from garrison.errors import UserError
from garrison.jit import records
from tests.helpers.generator_digest import IDS, RECORDED, SECOND_RESET, digest_of


def made(n: int = 1, **options: Any) -> VectorEnv:
    return VectorEnv(n, source="cyborg", **{"autoreset_mode": "Disabled", **options})


def digest(envs: VectorEnv, env_id: int = 0) -> str:
    state = envs.get_state([env_id])[0]
    return digest_of(state["generator"].tolist(), int(state["position"]))


def rollout(envs: VectorEnv, steps: int, seed: int = 0) -> list[Any]:
    """Step with actions that depend on the environment's place only, so that batches of other sizes can be compared."""
    actions = np.random.default_rng(seed).integers(0, NUM_ACTIONS, (steps, 64))
    found = []
    for row in actions:
        obs, rewards, _, truncations, _ = envs.step(row[: envs.num_envs])
        found.append((obs.copy(), rewards.copy(), truncations.copy()))
    return found


def same(mine: list[Any], other: list[Any]) -> bool:
    return all(np.array_equal(a, b) for x, y in zip(mine, other, strict=True) for a, b in zip(x, y, strict=True))


# --- CybORG's episodes


@pytest.mark.parametrize("recorded", RECORDED, ids=IDS)
def test_a_seed_and_two_more_resets_are_a_script_that_seeds_before_it_constructs(recorded: Any) -> None:
    envs = made(red=recorded["red"], rules=recorded["rules"], length=200)
    envs.reset(seed=recorded["seed"])
    assert digest(envs) == recorded["built"]
    envs.reset()
    assert digest(envs) == recorded["wrapped"]
    states = iter(recorded["states"])
    for t, (action, reward) in enumerate(zip(recorded["actions"], recorded["rewards"], strict=True)):
        if t in (0, SECOND_RESET):
            envs.reset()
            assert digest(envs) == next(states)
        _, rewards, *_ = envs.step([action])
        assert (t, digest(envs), rewards[0]) == (t, next(states), reward)


def test_a_host_with_the_address_of_an_image_socket_comes_first_in_meanders_list() -> None:
    """Quirk Q18, with the actions that CybORG's Meander took."""
    envs = made(red="meander")
    envs.reset(seed=3082)
    assert envs.get_state()["addresses"][0, Host.USER1] == STRAY_ADDRESS
    scans = []
    for _ in range(6):
        envs.step([0])
        if envs.truth.red_kind[0] == RedKind.SCAN:
            scans.append(HOSTS[envs.truth.red_target[0]])
    assert scans == ["User1", "User0", "User3", "User4", "User2"]


def test_the_process_id_of_the_service_is_free_while_it_is_down() -> None:
    envs = made()
    envs.reset(seed=1)
    env, details = records(envs._envs)[0], records(envs._details)[0]
    assert is_running(env, details, Host.OP_SERVER0, SERVICE_PID)
    assert not is_running(env, details, Host.OP_HOST0, SERVICE_PID)
    envs._envs["ot_running"] = 0
    assert not is_running(records(envs._envs)[0], details, Host.OP_SERVER0, SERVICE_PID)


@pytest.mark.slow
def test_every_process_id_of_a_host_is_different_and_none_is_zero() -> None:
    envs = made(20, red="meander", length=300)
    envs.reset(seed=0)
    rollout(envs, 300)
    state = envs.get_state()
    assert state["process_count"].max() > 15
    for own in state:
        count = own["process_count"]
        pids = list(zip(own["process_host"][:count].tolist(), own["process_pid"][:count].tolist(), strict=True))
        assert len(set(pids)) == count
        assert all(0 < pid < 32768 for _, pid in pids)


# --- batches


def test_an_environment_plays_alone_as_in_a_batch_and_on_threads() -> None:
    options: dict[str, Any] = {"length": 20, "autoreset_mode": "SameStep"}
    reds = ["meander", "bline", "sleep", "meander", "bline"]
    runs = []
    for threads in (1, 3):
        envs = made(5, red=reds, threads=threads, **options)
        envs.reset(seed=9)
        runs.append(rollout(envs, 50))
    assert same(*runs)
    alone = made(1, red="meander", **options)
    alone.reset(seed=9)
    assert same(rollout(alone, 50), [[part[:1] for part in step] for step in runs[0]])


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_the_generator_goes_on_from_episode_to_episode(mode: str) -> None:
    by_itself, by_hand = made(red="meander", length=10, autoreset_mode=mode), made(red="meander", length=10)
    for envs in (by_itself, by_hand):
        envs.reset(seed=4)
    for _ in range(3):
        for _ in range(10):
            mine, theirs = by_itself.step([30]), by_hand.step([30])
            assert mine[1] == theirs[1]
        by_hand.reset()
        if mode == "NextStep":
            by_itself.step([0])
        assert digest(by_itself) == digest(by_hand)


def test_pythons_own_generator_is_left_alone() -> None:
    before = random.getstate()
    envs = made(3, red="meander")
    envs.reset(seed=1)
    rollout(envs, 10)
    assert random.getstate() == before


def test_unseeded_environments_differ() -> None:
    envs = made(3)
    envs.reset()
    assert len({digest(envs, i) for i in range(3)}) == 3
    assert digest(made()) != digest(made())


def test_a_seed_for_some_leaves_the_others_generators() -> None:
    envs = made(2)
    envs.reset(seed=[1, 2])
    twin = envs.clone()
    envs.reset(seed=[5, None])
    twin.reset()
    other = made()
    other.reset(seed=5)
    assert (digest(envs), digest(envs, 1)) == (digest(other), digest(twin, 1))


class Sweeper(RedAgent):
    """Sweeps or scans, as a draw says."""

    def act(self, view: RedView) -> Any:
        scans = view.uniform() < 0.5
        return np.where(scans, RedKind.SCAN, RedKind.SWEEP), np.where(scans, Host.USER0, Subnet.USER)


def test_attackers_from_outside_and_of_the_users_own_play_too() -> None:
    envs = made(2, red="external")
    envs.reset(seed=3)
    before = digest(envs)
    envs.step({"blue": [0, 0], "red": [[RedKind.SWEEP, Subnet.USER], [RedKind.SCAN, Host.USER4]]})
    assert envs.truth.red_kind.tolist() == [RedKind.SWEEP, RedKind.INVALID]
    assert digest(envs) == before  # neither draws
    envs.step({"blue": [0, 0], "red": [[RedKind.SCAN, Host.USER4]] * 2})
    assert digest(envs) != before
    runs = []
    for _ in range(2):
        own = made(3, red=Sweeper)
        own.reset(seed=3)
        runs.append(rollout(own, 20))
    assert same(*runs)


def test_it_is_reached_by_gymnasium_and_by_the_vector_backends() -> None:
    batch = made(red="meander", length=30)
    expected = [batch.reset(seed=6)[0][0], *[batch.step([15 + k])[0][0] for k in range(12)]]
    single = gymnasium.make("garrison/CAGE2-v0", red="meander", length=30, source="cyborg")
    many = garrison.vector.make("garrison/CAGE2-v0", 2, "native", red="meander", length=30, source="cyborg")
    found = [single.reset(seed=6)[0]], [many.reset(seed=6)[0][0]]
    for k in range(12):
        found[0].append(single.step(15 + k)[0])
        found[1].append(many.step(np.array([15 + k, 0]))[0][0])
    assert np.array_equal(found[0], expected)
    assert np.array_equal(found[1], expected)
    many.close()


# --- what is saved


@pytest.mark.parametrize("red", ["bline", "meander"])
def test_saved_states_pickles_copies_and_clones_go_on_alike(red: str) -> None:
    envs = made(4, red=red, length=60)
    envs.reset(seed=2)
    rollout(envs, 30)
    state = envs.get_state()
    assert state.dtype == DETAILED_STATE
    fresh = made(4, red=red, length=60)
    fresh.set_state(state)
    others = [fresh, pickle.loads(pickle.dumps(envs)), copy.deepcopy(envs), envs.clone()]
    expected = rollout(envs, 25, seed=1)
    for other in others:
        assert same(rollout(other, 25, seed=1), expected)
        assert other.get_state().tobytes() == envs.get_state().tobytes()
    assert state.tobytes() != envs.get_state().tobytes()  # a copy


def test_one_of_several_goes_on_in_another_place() -> None:
    envs = made(3, red="meander")
    envs.reset(seed=2)
    rollout(envs, 30)
    other = made(2, red="meander")
    other.reset(seed=0)
    other.set_state(envs.get_state([2]), [0])
    assert digest(other) == digest(envs, 2)
    assert other.step([7, 7])[1][0] == envs.step([7, 7, 7])[1][2]
    assert digest(other) == digest(envs, 2)


def test_a_batch_is_pickled_before_its_first_reset() -> None:
    envs = pickle.loads(pickle.dumps(made(2)))
    envs.reset(seed=1)
    other = made(2)
    other.reset(seed=1)
    assert envs.get_state().tobytes() == other.get_state().tobytes()


def changed(field: str, value: Any, place: Any = ...) -> Any:
    def change(state: Any) -> None:
        state[field][place] = value

    return change


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (changed("generator", 0), "its generator has a bit that is set"),
        (changed("position", 625), "position of details 0 is 625; it must be from 0 to 624"),
        (changed("process_count", -1), "process_count of details 0 is -1"),
        (changed("process_host", 13), "process_host of details 0 is 13"),
        (changed("process_pid", 0), "each process is a session with a level or a decoy"),
        (changed("process_decoy", 0, (0, 0)), "Red's first session is the first process"),
        (changed("process_decoy", -1), "each process is a session with a level or a decoy"),
        (changed("process_level", 1, (0, 0)), "Red's first session is the first process"),
        (changed("process_count", 1), "its processes are the sessions and decoys that its state counts"),
        (changed("report_count", 0), "its processes are the sessions and decoys that its state counts"),
        (changed("report_count", 2048), "leave room for more"),
        (changed("process_count", 4090), "leave room for more"),
        (changed("length", 3000), "its processes and reports leave room for more"),
        (changed("source", 0), "the state names another source of random draws than the batch has"),
        (changed("sessions", 9), "it must hold that"),
    ],
)
def test_a_state_that_no_game_can_reach_is_refused(change: Any, complaint: str) -> None:
    envs = made(1, red="meander", length=100)
    for seed in range(30):
        envs.reset(seed=seed)
        rollout(envs, 60, seed)
        if envs.get_state()["removable"].any() and envs.get_state()["decoys"].any():
            break
    state = envs.get_state()
    envs.set_state(state.copy())
    change(state)
    with pytest.raises(UserError, match=complaint):
        envs.set_state(state)


def test_a_pickle_with_other_details_is_refused() -> None:
    envs = made(2)
    envs.reset(seed=0)
    envs._details = envs._details[:1]  # type: ignore[index]
    with pytest.raises(UserError, match="the array of its details does not fit"):
        pickle.loads(pickle.dumps(envs))


def test_states_of_the_other_source_are_refused() -> None:
    mine, other = made(2), VectorEnv(2)
    mine.reset(seed=0)
    other.reset(seed=0)
    with pytest.raises(UserError, match="comes from a batch with source='stream', and this one has source='cyborg'"):
        mine.set_state(other.get_state())
    with pytest.raises(UserError, match="comes from a batch with source='cyborg', and this one has source='stream'"):
        other.set_state(mine.get_state())
    state = other.get_state()
    state["source"] = 2
    with pytest.raises(UserError, match="names another source of random draws"):
        other.set_state(state)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"source": "cybrog"}, "did you mean 'cyborg'"),
        ({"red": {"bline": 0.5, "meander": 0.5}}, "CybORG draws no attacker from a mixture"),
        ({"scenario": DEFAULT_FILE}, "CybORG plays no changed scenario"),
        ({"length": MAX_DETAILED_LENGTH + 1}, "length must lie between 1 and 2048; got 2049"),
    ],
)
def test_what_cyborg_has_not_is_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        VectorEnv(2, **{"source": "cyborg", **options})


def test_tapes_are_refused() -> None:
    with pytest.raises(UserError, match="make it with source='stream' to play tapes"):
        made().play_tapes(np.zeros((1, 100)))


@pytest.mark.slow
def test_the_longest_episode_has_room_for_all_that_can_happen() -> None:
    """A decoy and a session in nearly every step, for as long as an episode may be."""
    envs = made(1, red="external", length=MAX_DETAILED_LENGTH)
    envs.reset(seed=0)
    vsftpd = 119 + Host.USER4

    def step(kind: int, target: int) -> None:
        envs.step({"blue": np.array([vsftpd]), "red": np.array([[kind, target]])})

    step(RedKind.SWEEP, Subnet.USER)
    step(RedKind.SCAN, Host.USER4)
    for _ in range(MAX_DETAILED_LENGTH - 2):
        step(RedKind.EXPLOIT, Host.USER4)
    state = envs.get_state()[0]
    assert state["done"]
    assert state["decoys"][Host.USER4, 7] == MAX_DETAILED_LENGTH
    assert state["process_count"] == 1 + MAX_DETAILED_LENGTH + state["sessions"][Host.USER4] > 3900
    envs.set_state(envs.get_state())
