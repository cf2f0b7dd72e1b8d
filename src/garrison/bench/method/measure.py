"""How every published number is measured: in rounds, until the ratios that are claimed are steady.

In a round every row is measured once, in a fresh process (`fresh`): set up (timed apart), warm up (thrown away), then
work for a while, in turns with the row that it is compared with (`in_turns`). Steps, wall time, CPU time and memory are
those of its whole tree of processes. A row's ratio to its partner is taken over the same turns, so that a slow moment
of the machine hits both; the rounds together give the ratio's 95 % interval (`estimate`). A row whose ratio is narrow
is done; the row that it was compared with goes on beside the others.
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
from garrison.bench.method.fresh import Configuration, Sample, merged
from garrison.bench.method.go_on import measured_before
from garrison.bench.method.in_turns import TRIES, run_in_turns
from garrison.bench.method.measurement import BenchResult, Measurement, is_settled
from garrison.bench.method.partners import heats, host_of
from garrison.bench.method.round_bar import RoundBar
from garrison.bench.method.rounds import Rounds
from garrison.bench.method.why_wide import BUDGET_USED, REPEATED, STEADY

RunHeat = Callable[[Sequence[Configuration]], tuple[list[Sample | str], int]]
"""Lets rows take turns: what each did, or what went wrong, and how many passes were repeated."""


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

    A configuration that fails or outlasts `timeout` is reported with its error and not tried again. Rounds whose number
    was asked for are made once, whoever disturbs them.
    """
    if any(one.labels == other.labels for k, one in enumerate(configurations) for other in configurations[:k]):
        raise ValueError(f"rows must have different labels; got {sorted(c.name for c in configurations)}")
    rounds = rounds or Rounds()
    facts = system.facts()
    rows = [Measurement(configuration, ()) for configuration in configurations]
    before: dict[str, Any] = {"rounds": 0, "again": 0}
    if earlier := rounds.earlier:
        rows = measured_before(configurations, earlier, facts, {"seconds": seconds, "warm_up": warm_up})
        before = earlier["method"]
    done, again, begun, ended_by = 0, 0, monotonic(), BUDGET_USED

    def run(heat: Sequence[Configuration]) -> tuple[list[Sample | str], int]:
        return run_in_turns(heat, seconds, warm_up, timeout, 1 if rounds.repeats else TRIES)

    with RoundBar(quiet) as bar:
        while rounds.may_begin(done, monotonic() - begun):
            wide = [k for k, row in enumerate(rows) if not is_settled(rows, row)]
            going = [k for k, row in enumerate(rows) if not row.error] if rounds.repeats else wide
            if not going:
                ended_by = STEADY
                break
            together = heats(rows, going)
            bar.begin(before["rounds"] + done + 1, len(together), len(wide))
            again += measure_once(rows, together, run, bar)
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
        "in_turns": True,
        "fresh_process": True,
        **provenance(),
    }
    if earlier:
        method["command"] = before["command"]  # what a reader runs; the budget tells that it went on
    return BenchResult(tuple(rows), facts, method)


def measure_once(rows: list[Measurement], together: list[list[int]], run: RunHeat, bar: RoundBar) -> int:
    """Let heat after heat take turns; add a sample or an error to each row; return how many passes were made again."""
    found: dict[int, list[Sample]] = {}
    again = 0
    for host, *guests in together:
        heat = guests if rows[host].error else [host, *guests]
        bar.show(", ".join(rows[k].configuration.name for k in heat))
        outcomes, repeated = run([rows[k].configuration for k in heat])
        again += repeated
        done = dict(zip(heat, outcomes, strict=True))
        met = done.get(host)
        for k, outcome in done.items():
            if isinstance(outcome, str):
                rows[k] = replace(rows[k], error=outcome)
            elif k != host:
                found[k] = [replace(outcome, beside=met.rate if isinstance(met, Sample) else 0.0)]
            elif host_of(rows, host) == host:  # else it has turns of its own, with the row that it is compared with
                found.setdefault(host, []).append(outcome)
        bar.advance()
    for k, each in found.items():
        rows[k] = replace(rows[k], samples=(*rows[k].samples, each[0] if len(each) == 1 else merged(each)))
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
