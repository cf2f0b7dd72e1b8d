"""The command, run as a user would on an environment of his own."""

import json
from pathlib import Path
from typing import Any

import pytest
from gymnasium import spaces

from garrison import cli, system
from garrison.profile import profiler
from garrison.profile.child import measure_backend
from garrison.profile.findings import findings
from garrison.profile.inference import infer
from garrison.profile.profiler import ProfileSettings, checked_advice, fitting
from garrison.profile.tables import table, to_text
from garrison.system import install
from garrison.vector.registry import BACKENDS
from garrison.vector.timing.parts import PARTS
from tests.helpers.profile_rows import measured

HERE = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _beside_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)  # as in a project, where python -m finds its modules


@pytest.mark.alone
def test_the_command_tells_where_the_time_goes_and_checks_its_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["tests.helpers.known_costs:quick_env", "--backend", "serial", "shared", "--envs", "4"]
    arguments += ["--workers", "2", "--seconds", "0.2", "--extras", "hidden"]
    arguments += ["--env-args", "extra=0.0005", "--no-policy"]
    assert cli.main(["profile", *arguments, "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert text == (tmp_path / "profile.txt").read_text()
    for words in (
        "tests.helpers.known_costs:quick_env: one environment takes",
        "environment compute",
        "extras, true state",
        "waiting for the slowest",
        "Single steps (",
        "Resets: ",
        "The barrier: 4 environments on 2 workers",
        "Cores:",
        "Advice: ",
        "checked by running it:",
    ):
        assert words in text
    assert max(map(len, text.splitlines())) <= 120
    result = json.loads((tmp_path / "profile.json").read_text())
    for row in result["backends"].values():
        assert set(row["parts"]) == set(PARTS)
        assert sum(row["parts"].values()) == pytest.approx(row["step_seconds"], rel=1e-6)
        # It sleeps 0.5 ms a step and as long for its extra: nothing else comes near.
        assert row["parts"]["compute"] + row["parts"]["extras"] > 0.4 * row["step_seconds"]
        assert row["resets"] > 0
    assert result["backends"]["serial"]["step_seconds"] > 4 * 1e-3
    assert len(result["backends"]["shared"]["worker_processes"]) == 2
    advice = result["advice"]
    assert advice["measured_gain"] > 0.0
    assert advice["expected_gain"] >= 1.0


def test_the_default_policy_is_timed_for_the_spaces() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    found = infer(spaces.Box(-1.0, 1.0, (4,)), spaces.MultiDiscrete([3, 5]), 8, seconds=0.01)
    assert 0.0 < found["seconds"] < 1.0
    assert found["network"].startswith("two towers 64-64 tanh")
    assert "skipped" in infer(spaces.Text(5), spaces.Discrete(2), 8, seconds=0.01)


def test_a_missing_torch_is_said_and_nothing_else_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "find_spec", lambda name: None)
    found = infer(spaces.Box(-1.0, 1.0, (4,)), spaces.Discrete(2), 8, seconds=0.01)
    assert found == {"skipped": f"PyTorch is not installed: {install('train')}"}


@pytest.mark.alone
def test_overhead_is_measured_beside_its_own_noise(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["profile", "CartPole-v1", "--overhead", "--backend", "serial", "--seconds", "0.2", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["backends"]["serial"]
    assert row["rounds"] >= 3
    assert set(row["step_seconds"]) == {"off", "off again", "on"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CartPol-v1"], "did you mean CartPole"),
        (["CartPole-v1", "--backend", "sharde"], "did you mean 'shared'"),
        (["CartPole-v1", "--envs", "0"], "--envs must be at least 1"),
        (["CartPole-v1", "--seconds", "0"], "--seconds must be between"),
        (
            ["tests.helpers.known_costs:quick_env", "--backend", "serial", "--extras", "nothing", "--no-policy"],
            "no extra named 'nothing'",
        ),
        (["tests.helpers.known_costs:quick_env", "--env-args", "speed=3"], "unexpected keyword argument 'speed'"),
    ],
)
def test_nonsense_is_refused_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["profile", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.alone
def test_threads_that_an_environment_starts_in_its_workers_are_found() -> None:
    request = {
        "env": "tests.helpers.known_costs:Threaded",
        "env_args": {"threads": 3},
        "envs": 2,
        "backend": "shared",
        "workers": 2,
    }
    row = {**measure_backend({**request, "extras": None, "seconds": 0.4, "warm_up": 0.1}), "envs": 2}
    (sentence,) = findings(row, cores=2)
    assert sentence.startswith("oversubscribed: each of 2 workers runs ")
    assert int(sentence.split("runs ")[1].split()[0]) >= 3


def test_what_would_take_too_long_is_left_out_unless_asked_for() -> None:
    options = ProfileSettings("x", envs=100, workers=4, seconds=1.0)
    assert "--backend serial measures it" in profiler._too_slow("serial", 0.5, options)
    assert profiler._too_slow("serial", 0.001, options) == ""
    assert profiler._too_slow("serial", 0.5, ProfileSettings("x", backend=("serial",), envs=100)) == ""
    assert fitting(has_batch=True)[:2] == ["native", "serial"]
    assert "native" not in fitting(has_batch=False)
    assert set(fitting(has_batch=False)) == set(BACKENDS) - {"ray"}


def advice_run(rates: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """Let serial do 100 steps/s, shared 190; then check the advice with these rates."""
    rows = measured(1e-3)
    monkeypatch.setattr(profiler, "cores", lambda: 2)
    monkeypatch.setattr(
        profiler, "measure_in_process", lambda request, seconds: {"steps_per_second": rates[request["backend"]]}
    )
    return checked_advice(rows, {"seconds": 1.0}, lambda words: None)


def test_the_gain_is_measured_beside_the_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    best, rejected = advice_run({"serial": 50.0, "shared": 95.0}, monkeypatch)  # everything at half the pace
    assert best["backend"] == "shared"
    assert best["measured_gain"] == pytest.approx(1.9)
    assert rejected == []


def test_advice_that_disappoints_is_replaced_by_what_does_better(monkeypatch: pytest.MonkeyPatch) -> None:
    best, rejected = advice_run({"serial": 100.0, "shared": 60.0}, monkeypatch)
    assert best["backend"] == "serial"
    assert [each["backend"] for each in rejected] == ["shared"]


def test_the_report_reads_the_same_in_a_narrow_case() -> None:
    rows = measured(1e-3)
    rows["shared"]["findings"] = ["oversubscribed: too many."]
    for row in rows.values():
        row.update(resets=0, reset_seconds=None)
    result: dict[str, Any] = {
        "environment": "x",
        "envs": 16,
        "cores": 2,
        "load_before": 0.1,
        "look": {
            "step_seconds": 1e-3,
            "is_id": True,
            "inference": {"skipped": "PyTorch is not installed: pip install"},
        },
        "backends": rows,
        "skipped": {"pipes": "it failed"},
        "crowded": "",
        "advice": {
            "backend": "shared",
            "workers": 2,
            "batch_size": None,
            "words": "shared with 2 workers",
            "basis": "model",
            "baseline": "serial",
            "expected_steps_per_second": 1900.0,
            "expected_gain": 1.9,
            "measured_steps_per_second": 1000.0,
            "measured_gain": 1.0,
            "error": None,
        },
        "rejected": [],
    }
    text = to_text(result)
    assert "Policy inference not measured: PyTorch is not installed" in text
    assert "pipes not measured: it failed" in text
    assert "shared: oversubscribed: too many." in text
    assert "garrison train" not in text  # whether a policy fits is not known
    seen = {**result["look"], "inference": {"seconds": 1e-5, "network": "two towers"}}
    trained = to_text({**result, "look": seen})
    assert "garrison train --env x --envs 16 --backend shared --workers 2" in trained
    assert "policy inference beside" in trained
    ready = to_text({**result, "look": seen, "advice": {**result["advice"], "backend": "async", "batch_size": 8}})
    assert "garrison train --env x --envs 16 --backend async --workers 2" in ready
    assert "garrison train uses them" in ready
    assert "checked by running it:          1,000 steps/s, 1.00 x serial (-47%)" in text
    assert "the model misjudges it. What was checked counts." in text
    wide = {**rows, "pipes": rows["shared"], "threads": rows["shared"]}
    narrow = to_text({**result, "backends": wide}, width=70)
    assert narrow.count("µs per step of the batch") == 2
    assert narrow.count("serial") > text.count("serial")
    assert max(map(len, narrow.split("Policy")[0].splitlines())) <= 70
    whole = next(line for line in table(rows, None).splitlines() if "whole step" in line)
    assert whole.split()[2:] == ["16,001", "100", "%", "8,081", "100", "%"]
