"""A profile as text: the table of parts, the distribution of steps, what the barrier costs, and the advice."""

import shlex
import textwrap
from typing import Any

import numpy as np

from garrison.formatting import duration, microseconds, plural
from garrison.profile.advice import Measured, distribution, load_of
from garrison.vector.timing.cost_model import slowest_group
from garrison.vector.timing.parts import PARTS, edges

LABELS = {
    "compute": "environment compute",
    "reset": "reset",
    "extras": "extras, true state",
    "copy": "copying",
    "ipc": "IPC and wake-up",
    "wait": "waiting for the slowest",
}
WIDTH = 79
BAR = 40
ROWS = 12


def to_text(result: dict[str, Any], width: int = 120) -> str:
    """Return the whole report; a table too wide for `width` is printed in pieces."""
    rows = result["backends"]
    parts = [
        _heading(result),
        *_tables(rows, (result["look"]["inference"] or {}).get("seconds"), width),
        *_notes(result),
        "",
        *_inference(result),
        *_steps(rows),
        *_findings(rows, result["crowded"]),
        *_advice(result),
    ]
    return "\n".join(parts)


def _tables(rows: dict[str, Measured], inference: float | None, width: int) -> list[str]:
    whole = table(rows, inference)
    if len(rows) == 1 or max(map(len, whole.splitlines())) <= width:
        return [whole]
    first = "serial" if "serial" in rows else next(iter(rows))
    others = [name for name in rows if name != first]
    half = len(others) // 2
    pieces: list[str] = []
    for names in filter(None, (others[:half], others[half:])):
        pieces += ["", table({name: rows[name] for name in (first, *names)}, inference)]
    return pieces[1:]


def table(rows: dict[str, Measured], inference: float | None) -> str:
    """Return the parts of a step, one backend per column: microseconds and shares of the whole."""
    names = list(rows)
    lines = [["µs per step of the batch", *names]]
    workers = [str(row["workers"]) if name not in ("serial", "native") else "-" for name, row in rows.items()]
    lines.append(["  workers", *workers])
    for part in PARTS:
        if part == "extras" and not any(row["parts"][part] > 0.0 for row in rows.values()):
            continue
        cells = [_cell(row["parts"][part], row["step_seconds"]) for row in rows.values()]
        lines.append([f"  {LABELS[part]}", *cells])
    lines.append(["  whole step", *[f"{microseconds(row['step_seconds'])} 100 %" for row in rows.values()]])
    if inference is not None:
        lines.append(["  policy inference beside", *[_cell(inference, row["step_seconds"]) for row in rows.values()]])
    lines.append(["environment steps/s", *[f"{row['steps_per_second']:,.0f}" for row in rows.values()]])
    base = "serial" if "serial" in rows else names[0]
    first = rows[base]["steps_per_second"]
    lines.append([f"  against {base}", *[f"{row['steps_per_second'] / first:.2f} x" for row in rows.values()]])
    widths = [max(len(line[k]) for line in lines) for k in range(len(names) + 1)]
    texts = ["  ".join((line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:]))) for line in lines]
    rule = "-" * len(texts[0])
    last = 3 if inference is None else 4
    return "\n".join([texts[0], rule, *texts[1:-last], rule, *texts[-last:]])


def overhead_text(result: dict[str, Any]) -> str:
    """Return what the timing itself costs, beside how much two equal sets without it differ."""
    lines = [
        f"{result['environment']}, {result['envs']} environments: what timing=True costs",
        "",
        f"{'backend':<10}"
        + "  ".join(f"{what + ' off':>12}{'on':>12}{'timing':>9}{'noise':>9}" for what in ("CPU", "wall")),
    ]
    for name, row in result["backends"].items():
        line = f"{name:<10}"
        for seconds in (row["cpu_seconds"], row["step_seconds"]):
            on, noise = (seconds[each] / seconds["off"] - 1.0 for each in ("on", "off again"))
            line += f"{duration(seconds['off']):>12}{duration(seconds['on']):>12}{on:>+9.1%}{noise:>+9.1%}  "
        lines.append(line.rstrip())
    lines += [
        "",
        "per step of the batch, in turns; noise is a second set without timing against the first",
        *_skipped(result),
    ]
    return "\n".join(lines)


def _heading(result: dict[str, Any]) -> str:
    count, seen = result["envs"], result["look"]
    one = f"{result['environment']}: one environment takes {duration(seen['step_seconds'])} per step, resets included"
    load = f", load {result['load_before']:.1f} before" if result["load_before"] is not None else ""
    return f"{one}\n{plural(count, 'environment')}, {plural(result['cores'], 'core')}{load}\n"


def _notes(result: dict[str, Any]) -> list[str]:
    rows = result["backends"]
    notes = []
    if "native" in rows:
        notes.append("native is one compiled call: its resets are inside compute.")
    if "async" in rows:
        notes.append(f"async: recv of {rows['async']['batch_size']}, per {result['envs']} transitions.")
    return [*notes, *_skipped(result)]


def _skipped(result: dict[str, Any]) -> list[str]:
    return [f"{name} not measured: {why}" for name, why in result["skipped"].items()]


def _inference(result: dict[str, Any]) -> list[str]:
    found = result["look"]["inference"]
    if found is None:
        return []
    if "skipped" in found:
        return [*_wrapped(f"Policy inference not measured: {found['skipped']}"), ""]
    return [f"Policy: {found['network']}; {duration(found['seconds'])} for {result['envs']} observations.", ""]


def _steps(rows: dict[str, Measured]) -> list[str]:
    name, row = next(((n, r) for n, r in rows.items() if n != "native"), next(iter(rows.items())))
    steps = distribution(row)
    if not steps.total:
        return []
    marks = [f"p{round(100 * q)} {duration(steps.quantile(q))}" for q in (0.5, 0.9, 0.99)]
    lines = [f"Single steps ({steps.total:,} of {name}): {', '.join(marks)}, max {duration(steps.longest)}"]
    lines += _histogram(steps.counts)
    if row["resets"] and row["reset_seconds"]:
        per = row["transitions"] / row["resets"]
        lines.append(f"Resets: {duration(row['reset_seconds'])} each, one in {per:,.0f} steps")
    return [*lines, *_barrier(rows), ""]


def _barrier(rows: dict[str, Measured]) -> list[str]:
    name = next((n for n in ("shared", "pipes", "threads") if n in rows), None)
    if name is None or rows[name]["workers"] < 2:
        return []
    row = rows[name]
    load, count, workers = load_of(row), row["envs"], row["workers"]
    mean = load.step * count / workers
    expected = slowest_group(load, count, workers)
    working = sum(row["parts"][part] for part in ("compute", "reset", "extras", "copy"))
    text = (
        f"The barrier: {count} environments on {workers} workers are {duration(mean)} of steps each; the slowest of "
        f"{workers} is expected at {duration(expected)}, {expected / mean - 1.0:+.0%} "
        f"({name} measured {row['parts']['wait'] / working:+.0%})."
    )
    if count > workers:
        alone = slowest_group(load, count, count)
        text += f" With a worker for each it would be {alone / load.step - 1.0:+.0%} over the mean step."
    return _wrapped(text)


def _histogram(counts: Any) -> list[str]:
    used = np.flatnonzero(counts)
    first, last = int(used[0]), int(used[-1])
    width = next(w for w in (1, 2, 4, 8, 16, 32, 64, 128, 512) if last // w - first // w < ROWS)
    borders = edges()
    lines = []
    largest = max(int(counts[k * width : (k + 1) * width].sum()) for k in range(first // width, last // width + 1))
    for k in range(first // width, last // width + 1):
        number = int(counts[k * width : (k + 1) * width].sum())
        bar = "#" * round(BAR * number / largest) or "." * bool(number)
        low, high = borders[k * width], borders[(k + 1) * width]
        lines.append(f"  {duration(low):>8} to {duration(high):<8} {number:>9,}  {bar}")
    return lines


def _findings(rows: dict[str, Measured], crowded: str) -> list[str]:
    lines = ["Cores:"]
    grouped: dict[str, list[str]] = {}
    for name, row in rows.items():
        for sentence in row["findings"]:
            grouped.setdefault(sentence, []).append(name)
    for sentence, names in grouped.items():
        lines += _wrapped(f"{', '.join(names)}: {sentence}", "  ")
    if crowded:
        lines += _wrapped(crowded[0].upper() + crowded[1:], "  ")
    elif not grouped:
        lines.append("  no backend runs more busy threads than there are cores.")
    return [*lines, ""]


def _advice(result: dict[str, Any]) -> list[str]:
    advice, base = result["advice"], result["advice"]["baseline"]
    options = [repr(advice["backend"])]
    if advice["backend"] not in ("serial", "native"):
        options.append(f"workers={advice['workers']}")
    if advice["batch_size"]:
        options.append(f"batch_size={advice['batch_size']}")
    lines = [f"Advice: {advice['words']}"]
    lines.append(f"  garrison.vector.make(..., {result['envs']}, {', '.join(options)})")
    can_train = "seconds" in (result["look"]["inference"] or {})
    if can_train and result["look"]["is_id"]:
        command = ["garrison", "train", "--env", result["environment"], "--envs", str(result["envs"])]
        command += ["--backend", advice["backend"]]
        command += ["--workers", str(advice["workers"])] if len(options) > 1 else []
        lines.append(f"  {shlex.join(command)}")
    basis = "from the table" if advice["basis"] == "measured" else "by the model"
    rate, gain = advice["expected_steps_per_second"], advice["expected_gain"]
    lines.append(f"  expected {basis + ':':<16}{rate:>12,.0f} steps/s, {gain:.2f} x {base}")
    if advice["error"]:
        return [*lines, f"  checking it failed: {advice['error']}"]
    rate, again = advice["measured_steps_per_second"], advice["measured_gain"]
    lines.append(f"  checked by running it:   {rate:>12,.0f} steps/s, {again:.2f} x {base} ({again / gain - 1.0:+.0%})")
    if abs(again / gain - 1.0) > 0.2:
        is_measured = advice["basis"] == "measured" or result["crowded"]
        why = "the machine is unsteady" if is_measured else "the model misjudges it"
        lines.append(f"  The two differ by more than a fifth: {why}. What was checked counts.")
    for other in result["rejected"]:
        came = "failed" if other["error"] else f"{other['measured_gain']:.2f} x"
        lines.append(f"  tried as well: {other['words']}, expected {other['expected_gain']:.2f} x, measured {came}")
    if result["crowded"]:
        lines.append("  The cores were not free: this holds for the machine as it is now.")
    if advice["backend"] == "async":
        lines += _wrapped("async gains by send and recv: garrison train uses them, so should your own loop.", "  ")
    return lines


def _cell(seconds: float, whole: float) -> str:
    return f"{microseconds(seconds)} {f'{100 * seconds / whole:.0f} %':>5}"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")
