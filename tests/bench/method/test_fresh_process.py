"""A function in a process of its own: what it reports comes back, and so does what went wrong."""

import os
from pathlib import Path

import pytest

from garrison.bench.method.fresh_process import FreshProcess

HERE = "tests.helpers.bench_workloads"


@pytest.fixture(autouse=True)
def children_find_this_file(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[3]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(root), str(root / "src")]))


def test_what_is_reported_comes_back_even_if_the_function_then_fails() -> None:
    with FreshProcess(f"{HERE}:answer_and_fail", {"number": 42}) as process:
        assert process.outcome(60) == {"number": 42}
        assert process.has_ended


def test_a_failure_comes_back_as_text() -> None:
    with FreshProcess(f"{HERE}:no_such_function", {}) as process:
        assert "no_such_function" in str(process.outcome(60))


def test_a_folder_of_modules_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "only_here.py").write_text("def tell(report):\n    report({'from': 'only_here'})\n")
    with FreshProcess("only_here:tell", {}, path=str(tmp_path)) as process:
        assert process.outcome(60) == {"from": "only_here"}
