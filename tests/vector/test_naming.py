"""One way to name an environment in text, in `vector.make` and in `garrison train`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from garrison import cli, vector
from garrison.errors import UserError
from garrison.runs.experiment_file import load_experiment

HERE = "tests.helpers.named_envs"
SHORT = "--envs 2 --steps 40 --rollout 10 --minibatches 2 --hidden 8 --backend serial --no-tensorboard --quiet"


def train(out: Path, flags: str) -> int:
    return cli.main(f"train {SHORT} {flags} --out {out}".split())


@pytest.mark.filterwarnings("ignore:.*Using the latest versioned environment")
@pytest.mark.parametrize(
    ("name", "arguments", "shape"),
    [
        ("CartPole-v1", {}, (4,)),
        ("CartPole", {}, (4,)),  # Gymnasium takes the newest version
        (f"{HERE}:Pixels-v0", {"size": 8}, (8, 8, 3)),
        (f"{HERE}:Pixels", {"size": 8}, (8, 8, 3)),
        (f"{HERE}:flat", {}, (7,)),
    ],
)
def test_make_takes_every_kind_of_name(name: str, arguments: dict[str, Any], shape: tuple[int, ...]) -> None:
    envs = vector.make(name, 2, "serial", **arguments)
    assert envs.single_observation_space.shape == shape
    envs.close()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("CartPol-v1", "no environment 'CartPol-v1'"),
        ("nowhere.at_all:Env", "begins with a module that cannot be imported"),
        (f"{HERE}:nothing", "no environment"),
        (":Pixels", "begins with a module that cannot be imported"),
    ],
)
def test_a_wrong_name_is_one_sentence(name: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        vector.make(name, 2, "serial")


@pytest.mark.parametrize("name", ["Pixels-v0", "Pixels"])  # an id, and the class
def test_training_takes_the_same_names_with_arguments(tmp_path: Path, name: str) -> None:
    assert train(tmp_path / "run", f"--env {HERE}:{name} --env-args size=3 timeout=2.5") == 0
    settings = load_experiment(tmp_path / "run" / "config.yaml")
    assert settings.env.env_args == {"size": 3, "timeout": 2.5}
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["status"] == "finished"


def test_an_argument_of_the_environment_is_not_taken_for_one_of_the_backend(tmp_path: Path) -> None:
    """`timeout` is an argument of `vector.make` too, where 0 would be refused."""
    assert train(tmp_path / "run", f"--env {HERE}:Pixels --env-args timeout=0") == 0


@pytest.mark.parametrize("backend", ["serial", "shared", "auto"])
def test_arguments_that_the_environment_refuses_are_one_sentence(
    tmp_path: Path, backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path / "run", f"--env {HERE}:Pixels --env-args colour=red --backend {backend}") != 0
    error = capsys.readouterr().err
    assert "unexpected keyword argument 'colour'" in error
    assert "Traceback" not in error


def test_a_pair_without_a_value_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(f"train --env {HERE}:Pixels {SHORT} --env-args colour".split())
    assert "key=value" in capsys.readouterr().err


def test_a_module_in_the_working_directory_is_found_by_an_installed_command(tmp_path: Path) -> None:
    """The command's own folder is the first place that Python looks in then, not the working directory."""
    (tmp_path / "pix.py").write_text(
        "import gymnasium\ngymnasium.register('Pix-v0', 'tests.helpers.named_envs:Pixels')\n"
    )
    code = "import sys; sys.path.remove(''); sys.path.append(sys.argv[1]); from garrison import vector; "
    code += "print(vector.make('pix:Pix-v0', 2, 'serial', size=5).single_observation_space.shape)"
    root = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", code, root], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(5, 5, 3)"


def test_an_unknown_backend_is_refused_before_anything_else(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", "ppo-mixed", "--backend", "foo"])
    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert "unknown backend 'foo'" in error
    assert "masks" not in error


def test_training_against_an_external_attacker_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["train", "--red", "external"])
    error = " ".join(capsys.readouterr().err.split())
    assert "moved by your own program" in error


def test_images_are_trained_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path / "run", f"--env {HERE}:Pixels-v0") == 0
    error = capsys.readouterr().err
    assert error.count("the observations are images (4, 4, 3)") == 1
    assert "48 plain numbers from 0 to 255" in error


def test_other_spaces_are_refused_with_a_recommendation_that_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path / "run", f"--env {HERE}:Parts-v0") == 2
    assert "FlattenObservation(gymnasium.make(ID)) as --env module:function" in capsys.readouterr().err
    assert train(tmp_path / "run", f"--env {HERE}:flat") == 0  # with truncated episodes, under SAME_STEP
