"""Ours beside each library: its quickest way counts, and where ours is slower the table says so."""

from pathlib import Path
from typing import Any

import pytest

from garrison.bench.publish import peer_tables, stored
from tests.helpers.bench_rows import WILD, row, store


@pytest.fixture(autouse=True)
def the_machine_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_tables, "source", lambda *_: "")


def cell(who: str, backend: str, rate: float, **more: Any) -> dict[str, Any]:
    return row({"who": who, "backend": backend, "envs": 20, "cost": "free"}, rate, **more)


def test_each_library_is_met_with_its_quickest(tmp_path: Path) -> None:
    ours = [cell("garrison", "serial", 1000.0), cell("garrison", "async", 3000.0)]
    theirs = [
        cell("TorchRL", "ParallelEnv", 100.0),
        cell("TorchRL", "AsyncEnvPool", 300.0),
        cell("SB3", "Dummy", 1500.0),
    ]
    store(tmp_path, "vector-synthetic", [*ours, *theirs])
    text = peer_tables.each_peer_table(tmp_path)
    assert text.splitlines()[0] == "| cell | TorchRL | SB3 |"
    assert text.splitlines()[2] == "| 20 x free | 10 ± 0.0% | 2 ± 0.0% |"
    assert "TorchRL (AsyncEnvPool), SB3 (Dummy)" in text


def test_a_wide_ratio_stands_apart(tmp_path: Path) -> None:
    store(tmp_path, "vector-synthetic", [cell("garrison", "serial", 1e3), cell("SB3", "Dummy", 1e3, factors=WILD)])
    assert peer_tables.each_peer_table(tmp_path).startswith("Not steady, so not to be quoted")


def test_envpool_wins_where_it_is_quicker(tmp_path: Path) -> None:
    place = {"env": "CartPole-v1", "envs": 64}
    rows = [
        row({"who": "garrison", "backend": "auto", **place}, 100.0),
        row({"who": "EnvPool", "backend": "sync", **place}, 1000.0),
    ]
    store(tmp_path, "vector-classic", rows)
    lines = peer_tables.classic_lines(stored.load(tmp_path, "vector-classic"))
    assert lines[0].cells[0] == "garrison auto, CartPole-v1, 64 environments"
    assert lines[0].cells[2] == "0.1 ± 0.0%"
    assert lines[1].cells[2] == "1"
    assert "in C++" in peer_tables.classic_table(tmp_path)
