"""The rules of rules §6 to §10, one behaviour per test."""

import pytest

from garrison.cage2.names import Access, RedKind, Success
from tests.helpers.duel import Duel


def at_enterprise(**settings: object) -> Duel:
    """Return a duel in which Red is privileged on User1 and knows the Enterprise subnet."""
    duel = Duel(**settings)
    duel.red("sweep User")
    duel.own("User1")
    duel.own("Enterprise1")
    duel.red("sweep Enterprise")
    return duel


def at_server(**settings: object) -> Duel:
    """Return a duel in which Red is privileged on Op_Server0 and knows the OTService."""
    duel = at_enterprise(**settings)
    duel.own("Enterprise2")
    duel.own("Op_Server0")
    return duel


def test_the_first_observation_is_zero_and_red_holds_user0() -> None:
    duel = Duel()
    assert not duel.envs.observations.any()
    assert duel.truth("access").tolist() == [0] * 8 + [2] + [0] * 4
    assert duel.envs.truth.known_subnet.tolist() == [[0, 0, 1]]


def test_restore_costs_one_whatever_it_finds() -> None:
    duel = Duel()
    duel.turn("Restore Defender")
    assert duel.reward == -1.0
    duel.turn("Remove Defender")
    assert duel.reward == 0.0


def test_privileged_sessions_cost_and_user_sessions_do_not() -> None:
    duel = Duel()
    duel.red("sweep User", "scan User1")
    while not duel.turn(red="exploit User1"):
        pass
    assert duel.reward == (-0.1 if duel.truth("access", "User1") == Access.PRIVILEGED else 0.0)
    duel.red("escalate User1")
    assert duel.reward == -0.1


def test_restore_ends_all_sessions_but_the_foothold_and_clears_the_belief() -> None:
    duel = at_enterprise()
    duel.turn("Restore Enterprise1")
    assert duel.truth("sessions", "Enterprise1") == 0
    assert duel.sees("Enterprise1") == ("None", "No")
    duel.turn("Restore User0")
    assert duel.truth("access", "User0") == Access.PRIVILEGED


def test_an_exploit_in_the_step_of_a_restore_survives_it() -> None:
    duel = Duel()
    duel.red("sweep User", "scan User2")
    while not duel.turn("Restore User2", "exploit User2"):
        pass
    assert duel.truth("sessions", "User2") == 1


def test_an_escalation_in_the_step_of_a_restore_fails() -> None:
    duel = at_enterprise()
    assert not duel.turn("Restore Enterprise1", "escalate Enterprise1")


def test_remove_kills_a_detected_user_session_only_from_the_next_step_on() -> None:
    for seed in range(40):
        duel = Duel(seed)
        duel.red("sweep User", "scan User2")
        won = duel.turn("Remove User2", "exploit User2")
        if won and duel.truth("access", "User2") == Access.USER and duel.sees("User2") == ("Exploit", "User"):
            break
    assert duel.truth("sessions", "User2") == 1
    duel.turn("Remove User2")
    assert duel.truth("sessions", "User2") == 0
    assert duel.sees("User2") == ("None", "Unknown")
    assert duel.truth("malware", "User2") == 1


def test_remove_spares_ssh_sessions() -> None:
    duel = at_enterprise()
    duel.red("scan Enterprise0", "exploit Enterprise0")
    assert duel.sees("Enterprise0") == ("Exploit", "User")
    duel.turn("Remove Enterprise0")
    assert duel.truth("sessions", "Enterprise0") == 1
    assert duel.truth("hidden", "Enterprise0") == 1


def test_analyse_finds_files_but_not_ssh_sessions() -> None:
    duel = at_enterprise()
    duel.red("scan Enterprise0", "exploit Enterprise0")
    duel.turn("Analyse Enterprise0")
    assert duel.sees("Enterprise0") == ("None", "User")
    duel.red("escalate Enterprise0")
    duel.turn("Analyse Enterprise0")
    assert duel.sees("Enterprise0") == ("None", "Privileged")


def test_a_new_exploit_lowers_the_belief_from_privileged_to_user() -> None:
    duel = at_enterprise()
    duel.own("Enterprise0")
    duel.turn("Analyse Enterprise0")
    assert duel.sees("Enterprise0") == ("None", "Privileged")
    duel.red("exploit Enterprise0")
    assert duel.sees("Enterprise0") == ("Exploit", "User")


def test_impact_stops_the_service_until_a_restore_and_never_after_one() -> None:
    duel = at_server()
    before = duel.reward
    duel.red("impact Op_Server0")
    assert duel.reward == pytest.approx(before - 10)
    duel.turn("Remove Op_Server0")
    assert duel.reward == pytest.approx(before - 10)
    duel.turn("Restore Op_Server0")
    duel.own("Op_Server0")
    duel.red("impact Op_Server0")
    assert duel.truth("ot_running") == 1
    assert duel.truth("ot_active") == 0
    assert duel.reward == pytest.approx(before)


def test_operational_needs_a_session_in_enterprise() -> None:
    duel = at_server()
    for host in ("Enterprise0", "Enterprise1", "Enterprise2"):
        duel.turn(f"Restore {host}")
    assert duel.turn(red="scan Op_Server0")  # quirk Q9: succeeds without an answer
    assert duel.sees("Op_Server0") == ("None", "User")
    assert not duel.turn(red="exploit Op_Server0")
    assert duel.sees("Op_Server0")[0] == "None"
    assert duel.turn(red="escalate Op_Server0")


@pytest.mark.parametrize(
    ("host", "accepted"),
    [
        ("Defender", "Apache HarakaSMPT Tomcat Vsftpd"),
        ("Enterprise0", "Apache HarakaSMPT Tomcat Vsftpd"),
        ("Op_Server0", "Apache HarakaSMPT Tomcat Vsftpd"),
        ("Enterprise1", "Femitter"),
        ("Enterprise2", "Femitter"),
        ("User0", "Apache Smss Svchost Tomcat"),
        ("User1", "Apache Smss Svchost Tomcat"),
        ("User2", "Apache Femitter SSHD Tomcat"),
        ("User3", "SSHD Vsftpd"),
        ("User4", "Vsftpd"),
    ],
)
def test_a_pristine_host_accepts_these_decoys(host: str, accepted: str) -> None:
    taken = []
    for decoy in ("Apache", "Femitter", "HarakaSMPT", "Smss", "SSHD", "Svchost", "Tomcat", "Vsftpd"):
        duel = Duel()
        duel.turn(f"Decoy{decoy} {host}")
        if duel.truth("blue_success") == Success.YES:
            taken.append(decoy)
    assert " ".join(taken) == accepted


def test_vsftpd_stacks_and_keeps_apache_out() -> None:
    duel = Duel()
    for count in (1, 2, 3):
        duel.turn("DecoyVsftpd Enterprise0")
        assert duel.truth("decoys", "Enterprise0").tolist() == [0, 0, 0, 0, 0, 0, 0, count]
    duel.turn("DecoyApache Enterprise0")
    assert duel.truth("blue_success") == Success.NO


def test_a_decoy_that_red_scanned_catches_the_exploit_and_shows_as_a_scan() -> None:
    duel = at_enterprise()
    duel.turn("DecoyFemitter Enterprise2", "scan Enterprise2")
    hits = 0
    for _ in range(20):
        if not duel.turn(red="exploit Enterprise2") and duel.truth("red_exploit") == 7:
            hits += 1
            assert duel.sees("Enterprise2")[0] == "Scan"
    assert hits >= 8  # three in four choices


def test_a_decoy_of_the_same_step_hides_a_single_event_only_from_the_challenge_encoder() -> None:
    for encoder, seen in (("challenge", "None"), ("wrapper2", "Scan")):
        duel = at_enterprise(encoder=encoder)
        duel.turn("DecoyTomcat Enterprise0", "scan Enterprise0")
        assert duel.sees("Enterprise0")[0] == seen


def test_ssh_on_defender_fails_and_looks_like_an_exploit() -> None:
    duel = at_enterprise()
    duel.red("scan Defender")
    assert duel.sees("Defender")[0] == "Scan"
    assert not duel.turn(red="exploit Defender")
    assert duel.sees("Defender") == ("Exploit", "User")
    assert duel.truth("sessions", "Defender") == 0


def test_red_may_not_name_what_it_does_not_know() -> None:
    duel = Duel()
    for red in ("sweep Operational", "scan Enterprise0", "exploit User1", "escalate User1", "impact Op_Server0"):
        assert not duel.turn(red=red)
        assert duel.truth("red_kind") == RedKind.INVALID
    duel.red("sweep User", "scan User1")


@pytest.mark.parametrize(("rules", "port_stays"), [("head", False), ("leaderboard", True)])
def test_a_rescan_forgets_old_ports_only_under_head_rules(rules: str, port_stays: bool) -> None:
    duel = Duel(rules=rules)
    duel.red("sweep User")
    duel.turn("DecoySSHD User3")
    duel.red("scan User3")
    with_decoy = int(duel.truth("red_ports", "User3"))
    duel.turn("Restore User3")
    duel.red("scan User3")
    assert bool(duel.truth("red_ports", "User3") == with_decoy) is port_stays


@pytest.mark.parametrize(("rules", "works"), [("head", True), ("leaderboard", False)])
def test_a_restore_breaks_haraka_only_under_leaderboard_rules(rules: str, works: bool) -> None:
    duel = Duel(rules=rules)
    duel.red("sweep User", "scan User3")
    haraka = []
    while len(haraka) < 20:
        won = duel.turn("Restore User3", "exploit User3")
        if duel.truth("red_exploit") == 6:
            haraka.append(won)
            assert duel.sees("User3")[0] != "None"  # never silent
    assert set(haraka) == {works}


def test_the_true_table_shows_the_oldest_session_while_the_reward_sees_the_best() -> None:
    for seed in range(60):
        duel = Duel(seed)
        duel.red("sweep User", "scan User2")
        levels = []
        while len(levels) < 2:
            if duel.turn(red="exploit User2"):
                levels.append(duel.truth("access", "User2"))
        if levels == [Access.USER, Access.PRIVILEGED]:
            break
    assert duel.truth("access_oldest", "User2") == Access.USER
    assert duel.reward == -0.1
    row = next(line for line in duel.envs.true_table().splitlines() if "User2" in line)
    assert row.split()[-1] == "User"


def test_a_reused_process_id_makes_an_unreported_session_removable() -> None:
    duel = at_enterprise()
    state = duel.envs.get_state()
    state["stale"][0, 1] = 30000  # most process ids were reported on Enterprise0 once
    duel.envs.set_state(state)
    duel.red("scan Enterprise0", "exploit Enterprise0")
    assert duel.truth("hidden", "Enterprise0") == 0
    duel.turn("Remove Enterprise0")
    assert duel.truth("sessions", "Enterprise0") == 0


def test_the_true_state_dict_lists_sessions_by_agent_and_privilege() -> None:
    duel = at_enterprise()
    state = duel.envs.true_state()
    assert list(state)[:2] == ["success", "Defender"]
    held = {
        host: [s["Privilege"] for s in facts["Sessions"] if s["Agent"] == "Red"]
        for host, facts in state.items()
        if host != "success"
    }
    assert held["User0"] == ["privileged"]
    assert held["Enterprise1"] == ["privileged"]
    assert held["Enterprise0"] == []
    assert [s["Agent"] for s in state["Op_Host0"]["Sessions"]] == ["Blue", "Green"]


def test_reward_terms_name_their_cause() -> None:
    duel = at_server()
    duel.turn("Restore User4", "impact Op_Server0")
    terms = duel.truth("reward_terms").tolist()
    assert terms[7] == -1.0  # Op_Server0 is held
    assert terms[13] == -10.0  # the service is down
    assert terms[14] == -1.0  # Blue restored
    assert duel.reward == pytest.approx(sum(terms))
