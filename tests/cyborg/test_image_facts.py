"""What hosts look like agrees with what the rules know about them."""

from garrison.cage2 import details
from garrison.cage2.names import HOSTS, PORTS
from garrison.cyborg.image_facts import (
    DECOY_PROGRAMS,
    EXPLOITED,
    FIRST_SESSIONS,
    IMAGES,
    SUBNET_OF,
    exploit_ports,
    reveals,
    scenario,
)


def sockets(h: int) -> list[int]:
    return [port for program in IMAGES[h].programs for port in program.ports]


def mask(ports: list[int]) -> int:
    return sum(1 << PORTS.index(port) for port in set(ports))


def test_images_listen_where_the_rules_say() -> None:
    rules = scenario()
    assert [len(sockets(h)) for h in range(len(HOSTS))] == rules["image_sockets"].tolist()
    assert [mask(sockets(h)) for h in range(len(HOSTS))] == rules["image_ports"].tolist()
    assert [image.windows for image in IMAGES] == rules["windows"].tolist()
    assert list(SUBNET_OF) == rules["subnet"].tolist()


def test_processes_have_the_ids_that_draws_avoid() -> None:
    for h, image in enumerate(IMAGES):
        assert {program.pid for program in image.programs} == set(details.IMAGE_PIDS[h].tolist()) - {0}


def test_decoys_open_what_the_rules_say() -> None:
    assert [mask([decoy.port]) for decoy in DECOY_PROGRAMS] == scenario()["opens"].tolist()


def test_exploits_attack_their_ports() -> None:
    assert dict(zip(exploit_ports(), EXPLOITED, strict=True)) == {
        22: "ssh",
        3389: "rdp",
        139: "smb",
        80: "webserver",
        443: "webserver",
        3390: "mysql",
        25: "smtp",
        21: "femitter",
    }


def test_every_weak_account_is_one_that_the_rules_can_guess() -> None:
    guessable = [any(account.password for account in image.accounts) for image in IMAGES]
    assert guessable == [name != "Defender" for name in HOSTS]


def test_first_sessions_and_what_hosts_tell() -> None:
    assert [session.agent for session in FIRST_SESSIONS] == ["Blue"] * 14 + ["Green"] * 8 + ["Red"]
    as_system = [HOSTS[session.host] for session in FIRST_SESSIONS if session.user == "SYSTEM"]
    assert as_system == ["Enterprise1", "Enterprise2", "User0"]
    assert HOSTS[reveals()[HOSTS.index("Enterprise2")]] == "Op_Server0"
