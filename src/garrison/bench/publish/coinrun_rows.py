"""The users' CoinRun job: trainers beside Stable-Baselines3, and beside the arithmetic that none can avoid."""

from collections.abc import Sequence

from garrison.bench.method.labels import ROOFLINE
from garrison.bench.publish.apart import Line, line, row_line
from garrison.bench.publish.stored import StoredRow, compared, find, rate, short_name

HEADER = ("", "frames/s", "times Stable-Baselines3", "share of the arithmetic")
SB3 = {"who": "Stable-Baselines3", "learner": "PPO", "backend": "Dummy"}


def beside_roofline(rows: Sequence[StoredRow]) -> list[Line]:
    """Return the columns of `HEADER`."""
    base, bound = find(rows, **SB3), find(rows, who=ROOFLINE)
    lines = []
    for row in rows:
        times = compared(row, base) if base and row not in (base, bound) else None
        part = compared(row, bound) if bound and row is not bound else None
        beside = ("1" if row is base else times.times() if times else "", part.share() if part else "")
        rests = [number for number in (times, part) if number]
        cells = (short_name(row), rate(row), *beside)
        lines.append(line(cells, *rests) if rests else row_line(cells, row))
    return lines
