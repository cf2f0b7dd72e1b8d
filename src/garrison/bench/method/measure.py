"""How every published number is measured: in rounds, until the ratios that are claimed are steady.

In a round every row is measured once, in a fresh process (`fresh`): set up (timed apart), warm up (thrown away), then
work for a while; the child reports steps, wall time, CPU time and memory of its whole tree of processes. A row's ratio
to its partner is taken inside each round, so that a slow minute of the machine hits both; the rounds together give the
ratio's 95 % interval (`estimate`).

A repeat during which others on the host took the cores says little about a row. Such rows are measured again at the
end of their round, and the repeat counts that was disturbed least: chosen by what others took, never by its speed.

Rows that are linked by partners are done together, when the last ratio among them is narrow. A steady row whose partner
goes on has to go on too: otherwise the rounds of the two would no longer be the same minutes.
"""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from statistics import median
from time import monotonic
from typing import Any

from garrison import system
from garrison.bench.method.estimate import CONFIDENCE, NARROW
from garrison.bench.method.fresh import Configuration, Sample, run_fresh
from garrison.bench.method.go_on import measured_before
from garrison.bench.method.measurement import BenchResult, Measurement, is_settled
from garrison.bench.method.partners import circles
from garrison.bench.method.round_bar import RoundBar
from garrison.bench.method.rounds import Rounds
from garrison.bench.method.why_wide import BUDGET_USED, REPEATED, STEADY

DISTURBED = 0.05
"""The share of the cores' time that others may take from a repeat before it is made again."""
TRIES = 3
"""How often a row is measured in a round at most; rounds whose number was asked for are made once."""


def measure(
    configurations: Sequence[Configuration],
    rounds: Rounds | None = None,
    *,
    seconds: float = 1.0,
    warm_up: float = 0.3,
    timeout: float = 120.0,
    quiet: bool = False,
) -> BenchResult:
    """Measure every configuration in rounds, each time in a fresh process, until all are steady or `rounds` end.

    A configuration that fails or outlasts `timeout` is reported with its error and not tried again.
    """
    if any(one.labels == other.labels for k, one in enumerate(configurations) for other in configurations[:k]):
        raise ValueError(f"rows must have different labels; got {sorted(c.name for c in configurations)}")
    rounds = rounds or Rounds()
    linked = circles(configurations)
    facts = system.facts()
    rows = [Measurement(configuration, ()) for configuration in configurations]
    before: dict[str, Any] = {"rounds": 0, "again": 0}
    if earlier := rounds.earlier:
        rows = measured_before(configurations, earlier, facts, {"seconds": seconds, "warm_up": warm_up})
        before = earlier["method"]
    done, again, begun, ended_by = 0, 0, monotonic(), BUDGET_USED

    def run(configuration: Configuration) -> Sample | str:
        return run_fresh(configuration, seconds, warm_up, timeout)

    with RoundBar(quiet) as bar:
        while rounds.may_begin(done, monotonic() - begun):
            wide = {k for k, row in enumerate(rows) if not is_settled(rows, row)}
            going = [k for circle in linked if rounds.repeats or wide & set(circle) for k in circle]
            going = [k for k in sorted(going) if not rows[k].error]
            if not going:
                ended_by = STEADY
                break
            bar.begin(before["rounds"] + done + 1, len(going), len(wide))
            again += measure_once(rows, going, run, 1 if rounds.repeats else TRIES, bar)
            done += 1
    if rounds.repeats == done:
        ended_by = REPEATED
    method = {
        "rounds": before["rounds"] + done,
        "ended_by": ended_by,
        "repeats": rounds.repeats,
        "budget": f"{before['budget']} + {rounds.budget}" if earlier else rounds.budget,
        "confidence": CONFIDENCE,
        "narrow": NARROW,
        "seconds": seconds,
        "warm_up": warm_up,
        "stolen": stolen(rows),
        "again": before["again"] + again,
        "interleaved": True,
        "fresh_process": True,
        **provenance(),
    }
    if earlier:
        method["command"] = before["command"]  # what a reader runs; the budget tells that it went on
    return BenchResult(tuple(rows), facts, method)


def measure_once(
    rows: list[Measurement],
    going: list[int],
    run: Callable[[Configuration], Sample | str],
    tries: int,
    bar: RoundBar,
) -> int:
    """Add a sample or an error to each of the rows that go on; return how many repeats were made again."""
    found: dict[int, Sample] = {}
    again = 0
    for left in reversed(range(tries)):
        for k in going:
            bar.show(rows[k].configuration.name)
            outcome = run(rows[k].configuration)
            if isinstance(outcome, Sample):
                found[k] = min(found.get(k, outcome), outcome, key=lambda sample: sample.stolen)
            elif k not in found:
                rows[k] = replace(rows[k], error=outcome)
            bar.advance()
        going = [k for k in going if k in found and found[k].stolen > DISTURBED]
        if not (going and left):
            break
        bar.repeat(len(going))
        again += len(going)
    for k, sample in found.items():
        rows[k] = replace(rows[k], samples=(*rows[k].samples, sample))
    return again


def stolen(rows: Sequence[Measurement]) -> list[float]:
    """Return the median and the highest share of the cores' time that others on the host took, over all samples."""
    shares = [sample.stolen for row in rows for sample in row.samples] or [0.0]
    return [round(median(shares), 4), round(max(shares), 4)]


def provenance() -> dict[str, str]:
    """Return when and by which command a result is made."""
    return {"date": datetime.now(UTC).isoformat(timespec="seconds"), "command": command_line()}


PLACES = {"--keep": "RUNS"}


def command_line() -> str:
    """Return the command that runs, without the place of its results, which means nothing elsewhere."""
    words = sys.argv[1:]
    kept = [word for k, word in enumerate(words) if "--out" not in (word, *words[max(0, k - 1) : k])]
    kept = [_anywhere(flag) or word for flag, word in zip(["", *kept], kept, strict=False)]
    return shlex.join(["garrison", *(word for word in kept if not word.startswith("--out="))])


def _anywhere(flag: str) -> str:
    """Return what stands for the value of a flag that names a place on this machine."""
    return "PYTHON" if flag.endswith("-python") else "CLONE" if flag.endswith("-code") else PLACES.get(flag, "")


def doubling(most: int) -> list[int]:
    """Return 1, 2, 4, ... below `most`, and `most`."""
    return [*(2**k for k in range(most.bit_length()) if 2**k < most), most]
