"""The scenario file: a changed copy changes the game without a compile; mistakes are named."""

from pathlib import Path

import numpy as np
import pytest

from garrison.cage2 import VectorEnv, load_scenario, step
from garrison.cage2.names import HOSTS
from garrison.cage2.scenario import DEFAULT_FILE
from garrison.errors import UserError
from garrison.jit import COMPILED

TEXT = DEFAULT_FILE.read_text()


def changed(tmp_path: Path, old: str, new: str) -> Path:
    assert old in TEXT
    file = tmp_path / "mine.toml"
    file.write_text(TEXT.replace(old, new, 1))
    return file


def test_a_changed_number_changes_the_game_and_compiles_nothing(tmp_path: Path) -> None:
    kernels = len(step.step_batch.signatures) if COMPILED else 0
    envs = VectorEnv(1, scenario=changed(tmp_path, "restore = 1.0", "restore = 0.25"))
    envs.reset(seed=0)
    assert envs.step([132])[1].tolist() == [-0.25]
    if COMPILED:
        assert len(step.step_batch.signatures) == max(kernels, 1)


def test_a_changed_rate_changes_what_blue_sees(tmp_path: Path) -> None:
    file = changed(tmp_path, "reverse_shell_detection = 0.95", "reverse_shell_detection = 0.0")
    hidden = []
    for scenario in (None, file):
        envs = VectorEnv(200, red="bline", length=10, scenario=scenario)
        envs.reset(seed=0)
        for _ in range(4):
            envs.step(np.zeros(200, int))
        hidden.append(int((envs.get_state()["event_shell"] == 0).sum()))
    assert hidden[0] < hidden[1]


def test_entries_may_come_in_any_order(tmp_path: Path) -> None:
    head, *hosts = TEXT.split("[[host]]")
    last, rest = hosts[-1].split("# --- Exploits", 1)
    hosts = [*hosts[:-1], last]
    file = tmp_path / "mine.toml"
    file.write_text("[[host]]".join([head, *reversed(hosts)]) + "# --- Exploits" + rest)
    assert load_scenario(file).tobytes() == load_scenario().tobytes()


def test_values_match_the_specification() -> None:
    sc = load_scenario()[0]
    assert (sc["confidentiality"] * 10).round().tolist() == [1, 10, 10, 10, 1, 1, 1, 10, 0, 1, 1, 1, 1]
    assert sc["reveals"].tolist() == [-1, -1, -1, 7, -1, -1, -1, -1, -1, 2, 2, 1, 1]
    assert sc["gateways"].tolist() == [0, 0b1110, 0]
    assert load_scenario(rules="leaderboard")[0]["ports_accumulate"] == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "User4"', 'name = "User5"', r"the \[\[host\]\] entries must be Defender"),
        ("exploit_top_odds = 0.75", "exploit_top_odds = 1.75", "red.exploit_top_odds must lie between 0 and 1"),
        ("service = 10.0 ", "service = 10.00005 ", r"costs.service must be a multiple of 0\.001"),
        ("ports = [22, 53, 53, 68]", "ports = [22, 53, 53, 69]", "port 69 is not modelled"),
        ('foothold = "User0"', 'foothold = "User9"', "unknown host 'User9'"),
        ('foothold = "User0"', "", "'foothold' is missing"),
        ('os = "linux"', 'os = "beos"', "unknown os of Defender 'beos'"),
        ('blocks = "HTTPRFI"', 'blocks = "HTTP"', "unknown exploit 'HTTP'"),
        ('"noisy failure" }', '"loud" }', "unknown outcome of SSHBruteForce on Defender"),
        ("process_ids = 32767", "process_ids = 5", "must be a whole number from 1000"),
        ("weight = 0.1", 'weight = "heavy"', "wrong type"),
        ('reveals = "Enterprise1"', "", "User1 must reveal a host"),
        ("[red]", "[red", "is not a TOML file"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        load_scenario(changed(tmp_path, old, new))
    assert "mine.toml" in str(caught.value)


WILD = ("99", "-1", "-1e300", "nan", "true", '"x"', "[]", "[99]", "{}", "2026-01-01")
SETTINGS = [i for i, line in enumerate(TEXT.splitlines()) if "=" in line.split("#")[0]]
TABLES = [i for i, line in enumerate(TEXT.splitlines()) if line.startswith("[")]


@pytest.mark.parametrize("wild", [*WILD, "missing"])
def test_one_wild_or_missing_entry_is_one_sentence_or_plays(tmp_path: Path, wild: str) -> None:
    refused = 0
    for at in SETTINGS + (TABLES if wild == "missing" else []):
        lines = TEXT.splitlines()
        lines[at] = "" if wild == "missing" else f"{lines[at].split('=')[0]}= {wild}"
        file = tmp_path / "wild.toml"
        file.write_text("\n".join(lines))
        complaint = ""
        try:
            scenario = load_scenario(file)
        except UserError as error:
            complaint = str(error)
        if complaint:
            assert "wild.toml" in complaint
            assert "\n" not in complaint
            refused += 1
            continue
        if scenario.tobytes() == load_scenario().tobytes():
            continue
        for red in ("bline", "meander"):
            envs = VectorEnv(2, red=red, scenario=file)
            envs.reset(seed=1)
            for action in (0, 132, 20, 40, 99, 15, 141, 60, 139, 28):
                envs.step([action, 0])
    assert refused > 5


def test_hosts_are_thirteen() -> None:
    assert len(HOSTS) == 13
