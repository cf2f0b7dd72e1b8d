"""The code of docs/cluster.md runs."""

from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed")

from garrison import cluster
from tests.helpers.doc_blocks import ROOT, run_blocks


def test_the_code_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        run_blocks(ROOT / "docs" / "cluster.md")
    finally:
        cluster.disconnect()
