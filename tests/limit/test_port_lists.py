"""Lists of ports that make no difference stay without a difference whatever decoy comes next."""

import pytest

from garrison.cage2.names import EXPLOITS, HOSTS, NUM_DECOYS, NUM_HOSTS, RULES
from garrison.cage2.scenario import load_scenario
from garrison.limit.port_lists import exploit_odds, make_tables, possible_lists


@pytest.mark.parametrize(
    ("host", "odds"),
    [  # rules §2.3: what is left out fails
        ("Enterprise0", {"SSHBruteForce": 1.0}),
        ("Enterprise1", {"HTTPSRFI": 0.75, "HTTPRFI": 0.0625, "BlueKeep": 0.0625, "SSHBruteForce": 0.0625}),
        ("User2", {"EternalBlue": 0.75, "BlueKeep": 0.25}),
        ("User3", {"HarakaRCE": 0.75, "HTTPRFI": 0.25 / 3, "HTTPSRFI": 0.25 / 3}),
        ("Defender", {}),
    ],
)
def test_odds_on_a_host_without_decoys_are_those_of_the_rules(host: str, odds: dict[str, float]) -> None:
    sc = load_scenario()[0]
    found = exploit_odds(sc, HOSTS.index(host), int(sc["image_ports"][HOSTS.index(host)]))
    assert found == pytest.approx([odds.get(name, 0.0) for name in EXPLOITS])


@pytest.mark.parametrize("rules", RULES)
def test_lists_that_are_as_good_as_each_other_stay_so_with_one_more_decoy(rules: str) -> None:
    scenario = load_scenario(rules=rules)
    sc, table = scenario[0], make_tables(scenario)[0]
    for host in range(NUM_HOSTS):
        after: dict[int, set[int]] = {}
        runs = [d for d in range(NUM_DECOYS) if sc["only_on"][d] in (-1, sc["windows"][host])]
        for ports in possible_lists(sc, host):
            opened = {0, *(int(sc["opens"][d]) for d in runs if not ports & int(sc["checks"][d]))}
            following = {int(table["index"][host, ports | port]) for port in opened}
            assert after.setdefault(int(table["index"][host, ports]), following) == following, (HOSTS[host], ports)
        assert sorted(after) == list(range(table["count"][host]))
