"""`--verify`: a script's episodes again in the original CybORG; here mostly in copies of ours, some of them changed."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from garrison import cli
from garrison.cage2.cyborg import check_rules
from garrison.cyborg import on_path, staging
from garrison.cyborg.script_settings import verify_variable
from garrison.cyborg.verify import Verification, checked_episodes, find_original
from garrison.errors import GarrisonError, UserError

HAVE = importlib.util.find_spec("CybORG") is not None
needs_cyborg = pytest.mark.skipif(not HAVE, reason="the original CybORG is not importable")
pytestmark = pytest.mark.slow

SCRIPT = """
import random

from CybORG import CybORG
from CybORG.Agents import B_lineAgent, RedMeanderAgent, BlueReactRestoreAgent
from CybORG.Agents.Wrappers import ChallengeWrapper
from CybORG.Shared.Actions import DiscoverRemoteSystems, Restore


class Gambler(B_lineAgent):
    def get_action(self, observation, action_space):
        random.random()
        return super().get_action(observation, action_space)


random.seed(7)
for red in (RedMeanderAgent, Gambler):
    env = ChallengeWrapper(env=CybORG("Scenario2.yaml", "sim", agents={"Red": red}), agent_name="Blue")
    for _ in range(3):
        env.reset()
        for _ in range(8):
            env.step(random.randrange(145))
attacked = CybORG("Scenario2.yaml", "sim", agents={"Blue": BlueReactRestoreAgent})
subnet = next(iter(attacked.reset("Red").action_space["subnet"]))
attacked.step("Red", DiscoverRemoteSystems(session=0, agent="Red", subnet=subnet))
attacked.step("Red", Restore(session=0, agent="Red", hostname="User0"))  # not one of Red's: an invalid action
"""
EPISODES, STEPS = 2 * 2 + 1, 2 * 2 * 8 + 2
"""of those, with two of each object compared"""

ONE_STEP = """
from CybORG import CybORG
CybORG("Scenario2.yaml").step()
print("played")
raise SystemExit(3)
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play the script once; every test compares what it noted with a CybORG of its own."""
    folder = tmp_path_factory.mktemp("played")
    script = tmp_path_factory.mktemp("script") / "script.py"
    script.write_text(SCRIPT)
    variables = {**os.environ, **on_path.variables(staging.staged(), "head"), **verify_variable(2, folder)}
    done = subprocess.run([sys.executable, str(script)], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def compared(played: Path, original: Path) -> str:
    return Verification(played, "head", original, staging.staged()).compare()


def copied(folder: Path, tampering: str = "") -> Path:
    """Return a folder with a copy of our package, which takes the original's place, and code added to it."""
    shutil.copytree(staging.SOURCE / "CybORG", folder / "CybORG")
    with (folder / "CybORG" / "CybORG.py").open("a") as file:
        file.write(tampering)
    return folder


def test_what_is_equal_is_said_to_be(played: Path, tmp_path: Path) -> None:
    said = compared(played, copied(tmp_path))
    assert said == f"{EPISODES} episodes, {STEPS} steps: every observation and reward equal"


SHOWS_LESS = """

class CybORG(CybORG):
    def get_observation(self, agent):
        shown = super().get_observation(agent)
        return {"success": None} if agent == "Red" and self.get_last_action("Blue") else shown
"""
DRAWS_MORE = """

class CybORG(CybORG):
    def reset(self, agent=None):
        import random
        random.random()
        return super().reset(agent)
"""
PAYS_LESS = """

class CybORG(CybORG):
    def step(self, *arguments):
        result = super().step(*arguments)
        result.reward = result.reward - 1
        return result
"""


@pytest.mark.parametrize(
    ("tampering", "named"),
    [
        (SHOWS_LESS, "object 1, step 1 of episode 1, Red's observation.\nhere: "),
        (DRAWS_MORE, "object 1, reset, Blue's observation.\nhere: "),
        (PAYS_LESS, "object 1, step 1 of episode 1, reward.\nhere:     0.0\noriginal: -1.0"),
    ],
    ids=["observation", "draw", "reward"],
)
def test_the_first_difference_is_shown(played: Path, tmp_path: Path, tampering: str, named: str) -> None:
    with pytest.raises(GarrisonError) as raised:
        compared(played, copied(tmp_path, tampering))
    assert named in raised.value.summary
    assert raised.value.exit_code == 1


def test_an_original_with_other_rules_is_refused(played: Path, tmp_path: Path) -> None:
    original = copied(tmp_path)
    simulator = original / "CybORG" / "Simulator"
    simulator.mkdir()
    (simulator / "__init__.py").touch()
    (simulator / "Session.py").write_text("class RedAbstractSession: ...\n")
    with pytest.raises(UserError, match="plays by the rules 'leaderboard', the script by 'head'"):
        compared(played, original)


def test_an_original_that_cannot_be_imported_says_what_it_lacks(played: Path, tmp_path: Path) -> None:
    (tmp_path / "CybORG").mkdir()
    (tmp_path / "CybORG" / "__init__.py").write_text("import a_package_that_is_missing\n")
    with pytest.raises(GarrisonError, match="No module named 'a_package_that_is_missing'") as raised:
        compared(played, tmp_path)
    assert "--original-python" in raised.value.hint


def test_without_the_original_a_sentence_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(UserError, match=r"cannot be imported.* git clone"):
        find_original("", tmp_path, ["script.py"])
    with pytest.raises(UserError, match="holds no package CybORG"):
        find_original(str(tmp_path), tmp_path, ["script.py"])


def test_at_least_one_episode_is_compared() -> None:
    with pytest.raises(UserError, match="at least 1; got -2"):
        checked_episodes(-2)


def test_the_original_beside_the_script_is_found(tmp_path: Path) -> None:
    copied(tmp_path)
    assert find_original("", staging.staged(), [str(tmp_path / "script.py")]) == tmp_path


def test_the_command_runs_the_script_and_then_compares(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from CybORG import CybORG\nCybORG('Scenario2.yaml').step()\nprint('played')\nraise SystemExit(3)"
    )
    original = copied(tmp_path / "original")
    assert cli.main(["cyborg", "run", "--verify", "1", "--original", str(original), str(script)]) == 3
    shown = capfd.readouterr()
    assert shown.out == "played\n"
    assert "1 episodes, 1 steps: every observation and reward equal" in shown.err


@needs_cyborg
def test_the_original_itself_agrees(played: Path) -> None:
    rules = check_rules(None)
    if rules != "head":
        pytest.skip("the installed CybORG plays by the leaderboard's rules")
    original = importlib.util.find_spec("CybORG")
    assert original is not None
    assert original.origin is not None
    assert "equal" in compared(played, Path(original.origin).parents[1])
