"""The class CybORG as scripts meet it: where it lies, how it is made, what it answers."""

import inspect
import random
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from garrison.cyborg.refusal import MissingName, NotInGarrison
from garrison.cyborg.script_settings import RULES_VARIABLE
from tests.helpers.cyborg_games import kept_generator
from tests.helpers.dropin_package import DROPIN, SCENARIO, dropped_in

pytestmark = pytest.mark.slow


@pytest.fixture
def package() -> Iterator[Any]:
    with kept_generator(), dropped_in() as package:
        yield package


def test_it_lies_where_scripts_look_for_it(package: Any) -> None:
    folder = str(inspect.getfile(package.CybORG))[:-10]
    assert Path(folder) == DROPIN / "CybORG"
    assert Path(folder + "/Shared/Scenarios/Scenario2.yaml").is_file()
    assert (Path(folder) / "version.txt").read_text() == "2.1\n"
    assert package.CYBORG_VERSION == "2.1"


def test_its_methods_have_the_originals_parameters(package: Any) -> None:
    expected = {
        "__init__": "scenario_file environment env_config agents",
        "step": "agent action skip_valid_action_check",
        "start": "steps log_file",
        "get_true_state": "info",
        "get_agent_state": "agent_name",
        "reset": "agent",
        "shutdown": "kwargs",
        "pause": "",
        "save": "filepath",
        "restore": "filepath",
        "get_observation": "agent",
        "get_action_space": "agent",
        "get_observation_space": "agent",
        "get_last_action": "agent",
        "set_seed": "seed",
        "get_ip_map": "",
        "get_rewards": "",
        "get_reward_breakdown": "agent",
        "get_attr": "attribute",
    }
    for name, parameters in expected.items():
        found = list(inspect.signature(getattr(package.CybORG, name)).parameters)
        assert found == ["self", *parameters.split()], name


def test_a_seed_gives_the_originals_addresses(package: Any) -> None:
    random.seed(153)
    cyborg = package.CybORG(str(SCENARIO), "sim")
    first = cyborg.get_ip_map()
    cyborg.set_seed(153)
    cyborg.reset()
    assert cyborg.get_ip_map() == first
    assert str(first["User0"]) == "10.0.19.43"


def test_rules_are_chosen_by_the_environment(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RULES_VARIABLE, "leaderboard")
    cyborg = package.CybORG(str(SCENARIO), "sim")
    assert cyborg.environment_controller._rules == "leaderboard"


def test_stock_attackers_are_compiled_and_subclasses_are_asked(package: Any) -> None:
    agents = import_module("CybORG.Agents")
    mine = type("Mine", (agents.B_lineAgent,), {})
    for red, is_fast in ((agents.B_lineAgent, True), (agents.RedMeanderAgent, True), (mine, False)):
        cyborg = package.CybORG(str(SCENARIO), "sim", agents={"Red": red})
        assert (cyborg._fast_blue is not None) is is_fast


def test_attributes_are_given_by_name(package: Any) -> None:
    cyborg = package.CybORG(str(SCENARIO))
    assert (cyborg.env, cyborg.scenario_file) == ("sim", str(SCENARIO))
    assert cyborg.get_attr("get_rewards")() == {}
    assert cyborg.get_attr("nothing of that name") is None


def test_what_is_missing_is_refused(package: Any) -> None:
    with pytest.raises(NotInGarrison, match="the environment aws"):
        package.CybORG(str(SCENARIO), "aws")
    with pytest.raises(NotImplementedError, match="'emu'"):
        package.CybORG(str(SCENARIO), "emu")
    with pytest.raises(NotInGarrison, match=r"Scenario1b\.yaml"):
        package.CybORG("Scenario1b.yaml", "sim")
    with pytest.raises(NotInGarrison, match=r"environment_controller\.state"):
        package.CybORG(str(SCENARIO)).environment_controller.state  # noqa: B018
    with pytest.raises(MissingName, match=r"CybORG\.Shared\.Scenario"):
        import_module("CybORG.Shared.Scenario")
    with pytest.raises(MissingName, match=r"Shared\.Actions\.MSFEternalBlue"):
        import_module("CybORG.Shared.Actions").MSFEternalBlue  # noqa: B018
    with pytest.raises(NotInGarrison, match=r"Observation\.add_process"):
        import_module("CybORG.Shared").Observation().add_process()


def test_modules_lie_where_the_original_has_them(package: Any) -> None:
    actions = import_module("CybORG.Shared.Actions")
    for name in ("AbstractActions.Analyse", "ConcreteActions.DecoyApache", "ConcreteActions.SSHBruteForce"):
        module = import_module(f"CybORG.Shared.Actions.{name}")
        assert getattr(module, name.split(".")[1]) is getattr(actions, name.split(".")[1])
    assert import_module("CybORG.Shared.Results").Results is import_module("CybORG.Shared").Results
