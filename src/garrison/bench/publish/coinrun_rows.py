"""The users' CoinRun job: trainers beside Stable-Baselines3, and beside the arithmetic that none can avoid."""

from collections.abc import Sequence

from garrison.bench.method.labels import ROOFLINE
from garrison.bench.publish.stored import StoredRow, find, over, rate, share, short_name

HEADER = ("", "frames/s", "times Stable-Baselines3", "share of the arithmetic")
SB3 = {"who": "Stable-Baselines3", "learner": "PPO", "backend": "Dummy"}


def beside_roofline(rows: Sequence[StoredRow]) -> list[tuple[str, ...]]:
    """Return the columns of `HEADER`."""
    base, bound = find(rows, **SB3), find(rows, who=ROOFLINE)
    return [
        (
            short_name(row),
            rate(row),
            over(row, base) if base and row is not bound else "",
            share(row, bound) if bound and row is not bound else "",
        )
        for row in rows
    ]
