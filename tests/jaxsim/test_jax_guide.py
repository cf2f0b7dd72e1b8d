"""The code of docs/jax.md runs."""

from pathlib import Path

import pytest

pytest.importorskip("jax", reason="JAX is not installed")

from tests.helpers.doc_blocks import ROOT, run_blocks


def test_the_code_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_blocks(ROOT / "docs" / "jax.md")
