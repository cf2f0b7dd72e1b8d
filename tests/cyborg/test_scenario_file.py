"""Only Scenario2, under any path, and only as it was published."""

from pathlib import Path

import pytest

from garrison.cyborg import scenario_file
from garrison.cyborg.refusal import NotInGarrison
from garrison.cyborg.scenario_file import check_scenario, digest

OURS = Path(scenario_file.__file__).parent / "dropin" / "CybORG" / "Shared" / "Scenarios" / "Scenario2.yaml"


def test_our_file_and_paths_of_other_computers_are_accepted() -> None:
    check_scenario(str(OURS))
    check_scenario("/home/somebody/CybORG/Shared/Scenarios/Scenario2.yaml")


def test_other_scenarios_are_refused_by_name() -> None:
    with pytest.raises(NotInGarrison, match=r"the scenario Scenario1b\.yaml; here is only Scenario2\.yaml"):
        check_scenario("somewhere/Scenario1b.yaml")


def test_a_changed_scenario_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "Scenario2.yaml"
    file.write_text("Agents:\n  Blue:\n")
    with pytest.raises(NotInGarrison, match="differs from the published"):
        check_scenario(file)
    monkeypatch.setattr(scenario_file, "_PUBLISHED", digest("Agents:\n  Blue:\n"))
    check_scenario(file)
    file.write_text("# a comment\nAgents:   \n\n  Blue: # another\n")
    check_scenario(file)
