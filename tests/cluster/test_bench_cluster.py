"""`garrison bench cluster`: both transports can be measured, and the report has what the cost model needs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from garrison import cli
from garrison.bench.method import measure as measuring
from garrison.bench.method.fresh import Configuration, Sample
from garrison.bench.suites import cluster_speed as bench


@pytest.mark.parametrize("where", ["ray", "local"])
def test_a_row_can_be_measured(where: str) -> None:
    with bench.impala(where, nodes=2, actors=2, envs=4, rollout=5, batch=2, pace=0.001, compute="autograd") as work:
        assert work.advance() == 4 * 5 * 2
        facts = work.facts()
    assert 0 < facts["actor_rate"] <= 4 / 0.001
    assert 0 <= facts["learner_waits"] <= 1
    assert 0 <= facts["actors_wait"] <= 1
    if where == "ray":
        assert facts["bytes_per_step"] > 13  # fifty-two bits, a reward, a value, a probability
        assert facts["board_ms"] > 0
        assert facts["fetch_ms"] > 0


def test_the_command_prints_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("handle_ms", "learn_ms", "publish_ms", "fetch_ms", "board_ms", "lag", "learner_waits", "actors_wait")
    facts = dict.fromkeys(names, 0.5) | {"actor_rate": 1e5, "bytes_per_step": 30.0, "weights_bytes": 1e5}

    def instead(heat: Sequence[Configuration], *_: Any) -> tuple[list[Sample | str], int]:
        return [Sample(1000 * each.arguments["nodes"], 1.0, 1.0, 1.0, 1.0, 1.0, 1, facts) for each in heat], 0

    monkeypatch.setattr(measuring, "run_in_turns", instead)
    assert cli.main(["bench", "cluster", "--quick", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "paced, Ray, 4 nodes" in printed
    assert "another node brings nothing from" in printed
    saved = json.loads((tmp_path / "cluster.json").read_text())
    assert [p["nodes"] for p in saved["models"]["compiled"]["predictions"]] == [1, 10, 100, 1000]
    assert len(saved["results"]) == 8
    assert (tmp_path / "index.html").exists()
