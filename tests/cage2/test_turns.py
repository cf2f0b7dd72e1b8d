"""One environment turn by turn on Python's generator: CybORG's draws, in the order of CybORG's program."""

import copy
import pickle
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from garrison.cage2.layout import MAX_DRAWN, MAX_PROCESSES, MAX_REPORTS
from garrison.cage2.names import EXPLOITS, FIRST_BLOCK, NUM_HOSTS, Access, Host, RedKind, Subnet, Success
from garrison.cage2.turns import Turns
from garrison.contract.misuse import NotReset
from garrison.errors import GarrisonError, UserError
from tests.helpers.generator_digest import IDS, RECORDED, SECOND_RESET, python_digest

REMOVE, TOMCAT, VSFTPD, RESTORE = (FIRST_BLOCK + block * NUM_HOSTS for block in (1, 8, 9, 10))
BLUEKEEP = EXPLOITS.index("BlueKeep")


@pytest.fixture(autouse=True)
def others() -> Iterator[None]:
    """Leave Python's generator as it was for whoever comes next."""
    state = random.getstate()
    yield
    random.setstate(state)


def drawn(turns: Turns) -> list[int]:
    return list(turns.details.drawn[: turns.details.drawn_count].tolist())


def processes(turns: Turns, host: int) -> list[tuple[int, int, int]]:
    """Return decoy, level and process id of what runs on a host beyond its image."""
    own = turns.details
    return [
        (int(own.process_decoy[i]), int(own.process_level[i]), int(own.process_pid[i]))
        for i in range(own.process_count)
        if own.process_host[i] == host
    ]


@pytest.mark.parametrize("recorded", RECORDED, ids=IDS)
@pytest.mark.parametrize("whole", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["play", "parts"])
def test_the_generator_is_where_cyborg_leaves_it_after_every_step(recorded: Any, whole: bool) -> None:
    turns = Turns(recorded["rules"], recorded["red"])
    random.seed(recorded["seed"])
    turns.reset()
    assert python_digest() == recorded["built"]  # constructing CybORG takes the draws of a reset
    turns.reset()
    assert python_digest() == recorded["wrapped"]  # and ChallengeWrapper those of one more
    states = iter(recorded["states"])
    for t, (action, reward) in enumerate(zip(recorded["actions"], recorded["rewards"], strict=True)):
        if t in (0, SECOND_RESET):
            turns.reset()
            assert python_digest() == next(states)
        if whole:
            got = turns.play(action)
        else:
            turns.blue(action)
            turns.red()
            got = turns.end()
        assert (t, python_digest(), got) == (t, next(states), reward)


def test_draws_of_the_users_own_come_between() -> None:
    turns = Turns("head", "external")
    random.seed(3)
    turns.reset()
    before = python_digest()
    turns.blue(REMOVE)  # one choice of one
    assert python_digest() != before
    between = random.random()
    turns.red(RedKind.SLEEP)
    turns.end()
    random.seed(3)
    turns.reset()
    turns.blue(REMOVE)
    assert random.random() == between


def test_decoys_with_a_reported_process_id_are_started_again_once() -> None:
    """Quirk Q14, with the process ids and the generator that CybORG had."""
    turns = Turns("head", "sleep")
    random.seed(11)
    turns.reset()
    host = Host.ENTERPRISE0
    for action in (VSFTPD, VSFTPD, TOMCAT):
        turns.play(action + host)
    vsftpd, tomcat = 7, 6
    assert [(decoy, pid) for decoy, _, pid in processes(turns, host)] == [
        (vsftpd, 15051),
        (vsftpd, 4602),
        (tomcat, 7064),
    ]
    report(turns, host, 15051, 4602, 7064)
    turns.play(REMOVE + host)
    assert processes(turns, host) == [(vsftpd, 0, 25330), (tomcat, 0, 4379)]  # the stacked one was not registered
    assert drawn(turns) == [25330, 4379]
    assert python_digest() == "8fd2f0ca"
    assert turns.env.decoys[host, vsftpd] == 1
    is_open = int(turns.env.ports[host])
    report(turns, host, 4379)
    turns.play(REMOVE + host)
    assert processes(turns, host) == [(vsftpd, 0, 25330)]  # stopped for good: the registry still has its first id
    assert python_digest() == "25db3841"
    assert int(turns.env.ports[host]) < is_open
    assert turns.env.sockets[host] == 2
    turns.play(REMOVE + host)
    assert python_digest() == "b80c00f8"
    turns.play(TOMCAT + host)
    assert processes(turns, host) == [(vsftpd, 0, 25330), (tomcat, 0, 3429)]
    assert python_digest() == "e06f10ae"


def test_of_stacked_decoys_only_the_first_is_registered() -> None:
    turns = Turns("head", "sleep")
    random.seed(11)
    turns.reset()
    host = Host.ENTERPRISE0
    turns.play(VSFTPD + host)
    turns.play(VSFTPD + host)
    report(turns, host, 4602)
    turns.play(REMOVE + host)
    assert [pid for _, _, pid in processes(turns, host)] == [15051]
    assert python_digest() == "1044e80f"


def report(turns: Turns, host: int, *pids: int) -> None:
    for pid in pids:
        turns.details.report_host[turns.details.report_count] = host
        turns.details.report_pid[turns.details.report_count] = pid
        turns.details.report_count += 1


def test_a_femitter_decoy_is_never_stopped() -> None:
    turns = Turns("head", "sleep")
    random.seed(1)
    turns.reset()
    turns.play(FIRST_BLOCK + 3 * NUM_HOSTS + Host.USER2)
    ((_, _, pid),) = processes(turns, Host.USER2)
    report(turns, Host.USER2, pid)
    turns.play(REMOVE + Host.USER2)
    assert processes(turns, Host.USER2) == [(1, 0, pid)]


def test_an_exploit_that_red_names_needs_no_scan_and_draws_no_choice() -> None:
    turns = Turns("head", "external")
    random.seed(2)
    turns.reset()
    turns.play(0, RedKind.SWEEP, Subnet.USER)
    turns.play(0, RedKind.EXPLOIT, Host.USER2)
    assert (turns.env.red_success, drawn(turns)) == (Success.NO, [])  # without a scan there is nothing to choose from
    turns.play(0, RedKind.EXPLOIT, Host.USER2, BLUEKEEP)
    assert (turns.env.red_success, turns.env.red_exploit) == (Success.YES, BLUEKEEP)
    first, second, pid = drawn(turns)
    assert 49152 <= min(first, second) <= max(first, second) < 60000
    assert processes(turns, Host.USER2) == [(-1, Access.USER, pid)]


def test_escalating_says_which_session_it_lifted() -> None:
    turns = Turns("head", "external")
    lifted = set()
    for seed in range(20):
        random.seed(seed)
        turns.reset()
        turns.play(0, RedKind.SWEEP, Subnet.USER)
        for _ in range(3):
            turns.play(0, RedKind.EXPLOIT, Host.USER2, BLUEKEEP)
        assert turns.details.lifted == -1
        turns.play(0, RedKind.ESCALATE, Host.USER2)
        place = int(turns.details.lifted)
        levels = [level for _, level, _ in processes(turns, Host.USER2)]
        assert [i for i, level in enumerate(levels) if level == Access.PRIVILEGED] == [place]
        assert turns.env.access_oldest[Host.USER2] == levels[0]
        lifted.add(place)
    assert lifted == {0, 1, 2}


def test_a_lifted_session_counts_as_what_it_was() -> None:
    """The lists decide: with a hidden session before removable ones, the counts alone would not know."""
    turns = Turns("head", "external")
    kinds = set()
    for seed in range(30):
        random.seed(seed)
        turns.reset()
        turns.play(0, RedKind.SWEEP, Subnet.USER)
        for exploit in ("SSHBruteForce", "HTTPRFI", "HTTPRFI", "HTTPRFI"):
            turns.play(0, RedKind.EXPLOIT, Host.USER4, EXPLOITS.index(exploit))
        turns.play(0, RedKind.ESCALATE, Host.USER4)
        own = turns.details
        told = set(own.report_pid[: own.report_count].tolist())
        levels = [(level, pid in told) for _, level, pid in processes(turns, Host.USER4)]
        counts = [levels.count(kind) for kind in ((Access.USER, True), (Access.USER, False), (Access.PRIVILEGED, True))]
        assert [int(turns.env[name][Host.USER4]) for name in ("removable", "hidden", "reported")] == counts
        kinds.add((int(own.lifted) > 0, counts[2]))
    assert kinds == {(False, 0), (True, 0), (True, 1)}


def test_an_invalid_action_of_blue_fails_and_draws_nothing() -> None:
    turns = Turns("head", "sleep")
    random.seed(1)
    turns.reset()
    turns.blue(VSFTPD + 1)
    assert len(drawn(turns)) == 1
    turns.red()
    turns.end()
    state = python_digest()
    turns.blue(-1)
    assert (turns.env.blue_success, drawn(turns), python_digest()) == (Success.NO, [], state)
    turns.red()
    assert turns.end() == 0.0


def test_the_restored_host_forgets_its_ports_and_processes_but_not_reports() -> None:
    turns = Turns("head", "external")
    random.seed(2)
    turns.reset()
    turns.play(0, RedKind.SWEEP, Subnet.USER)
    turns.play(0, RedKind.EXPLOIT, Host.USER2, BLUEKEEP)
    assert turns.details.used_ports[Host.USER2].any()
    report(turns, Host.USER2, processes(turns, Host.USER2)[0][2])
    reports = int(turns.details.report_count)
    turns.play(RESTORE + Host.USER2, RedKind.SLEEP)
    assert processes(turns, Host.USER2) == []
    assert not turns.details.used_ports[Host.USER2].any()
    assert turns.details.report_count == reports
    turns.play(RESTORE + Host.USER0, RedKind.SLEEP)
    assert processes(turns, Host.USER0) == [(-1, Access.PRIVILEGED, int(turns.details.session_pids[-1]))]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda turns: pickle.loads(pickle.dumps(turns))])
def test_copies_go_on_alike_and_share_nothing(copied: Any) -> None:
    turns = Turns("head", "meander")
    random.seed(4)
    turns.reset()
    for action in (0, 30, 15):
        turns.play(action)
    twin = copied(turns)
    state = random.getstate()
    rewards = [turns.play(0) for _ in range(20)]
    assert twin.env.t == 3
    random.setstate(state)
    assert [twin.play(0) for _ in range(20)] == rewards
    assert np.array_equal(twin.bits, turns.bits)
    assert twin.env.t == turns.env.t == 23


def test_wrong_calls_are_refused() -> None:
    turns = Turns("head", "external")
    with pytest.raises(NotReset, match="reset"):
        turns.blue(0)
    turns.reset()
    with pytest.raises(UserError, match="action must lie between -1 and 144; got 145"):
        turns.blue(145)
    with pytest.raises(UserError, match="kind must lie between 0 and 6; got 7"):
        turns.red(7, 0)
    with pytest.raises(UserError, match="target must lie between 0 and 12; got 13"):
        turns.red(RedKind.SCAN, 13)
    with pytest.raises(UserError, match="exploit must lie between -1 and 7; got 8"):
        turns.red(RedKind.EXPLOIT, 0, 8)
    with pytest.raises(UserError, match="red"):
        Turns("head", "nobody")


def test_what_there_is_no_room_for_is_an_error() -> None:
    turns = Turns("head", "sleep")
    random.seed(1)
    turns.reset()
    turns.details.report_count = MAX_REPORTS
    with pytest.raises(GarrisonError, match=f"more sessions, decoys or reports than Garrison keeps .{MAX_PROCESSES}"):
        turns.blue(0)
    turns = Turns("head", "external")
    random.seed(1)
    turns.reset()
    turns.env.sockets[Host.USER0] = MAX_DRAWN + 1
    with pytest.raises(GarrisonError, match="drew more process ids and ports than Garrison keeps, 1024"):
        turns.play(0, RedKind.SCAN, Host.USER0)
