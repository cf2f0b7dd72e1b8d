"""Attackers that were trained for a moment."""

from pathlib import Path

from garrison import cli

TINY = "--envs 8 --rollout 16 --minibatches 2 --hidden 8 --no-tensorboard --no-page --quiet --evaluate-episodes 4"


def train_red(out: Path, *more: str) -> Path:
    """Train an attacker against react-restore for four updates."""
    assert cli.main(f"train red-vs-react-restore --steps 512 --out {out} {TINY}".split() + list(more)) == 0
    return out
