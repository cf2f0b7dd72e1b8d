"""A new suite is one module and one line in `SUITES`."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from garrison import cli
from garrison.bench.method.arguments import CommonArguments
from garrison.bench.method.fresh import Configuration
from garrison.bench.method.measure import measure
from garrison.bench.publish.keep import keep
from garrison.bench.suites import SUITES


@dataclass(frozen=True)
class Arguments(CommonArguments):
    """Measure naps."""

    milliseconds: int = 1
    """How long each is."""


def run(arguments: Arguments) -> int:
    given = {"milliseconds": arguments.milliseconds}
    rows = [
        Configuration({"who": "garrison", "ms": arguments.milliseconds}, "tests.helpers.bench_workloads:nap", given)
    ]
    result = measure(rows, repeats=1, seconds=0.02, warm_up=0.0)
    result.print("naps")
    keep(arguments.out, "naps", result.record())
    return 0


def test_it_is_a_command_with_its_own_and_the_common_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = ModuleType("naps")
    monkeypatch.setattr(module, "Arguments", Arguments, raising=False)
    monkeypatch.setattr(module, "run", run, raising=False)
    monkeypatch.setitem(sys.modules, "naps", module)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    monkeypatch.setitem(SUITES, "naps", ("naps", "naps of several lengths"))
    assert cli.main(["bench"]) == 0
    assert "naps of several lengths" in capsys.readouterr().out
    assert cli.main(["bench", "naps", "--milliseconds", "2", "--out", str(tmp_path)]) == 0
    (row,) = json.loads((tmp_path / "naps.json").read_text())["results"]
    assert (row["labels"], row["error"]) == ({"who": "garrison", "ms": 2}, None)
    assert "Naps" in (tmp_path / "index.html").read_text()
