"""Tables on a cluster: what was measured, and what the cost model predicts; on the terminal and in the docs."""

from pathlib import Path
from typing import Any

from garrison.bench.method.labels import GARRISON
from garrison.bench.publish.apart import Line, markdown_apart, row_line
from garrison.bench.publish.markdown import link, markdown
from garrison.bench.publish.stored import StoredRow, compared, facts, find, load, measured, rate, short_name
from garrison.formatting import short

MEASURED = ("", "steps/s", "efficiency", "bytes per step", "publish", "fetch", "lag", "waits for")
SIMULATORS = {"compiled": "compiled CAGE-2", "paced": "a slow simulator"}
"""What the keys of `models` mean."""


def measured_rows(rows: list[StoredRow]) -> list[Line]:
    """Return the columns of `MEASURED`; the efficiency is that of paced rows, whose speed does not depend on cores."""
    one = find(rows, who=GARRISON, work="paced", transport="Ray", nodes=1)
    lines: list[Line] = []
    for row in rows:
        told, labels = facts(row), row["labels"]
        efficiency = compared(row, one, labels.get("nodes", 1)).share() if one and labels["work"] == "paced" else ""
        size = f"{told['bytes_per_step']:.0f}" if "bytes_per_step" in told else ""
        times = (f"{told['publish_ms']:.1f} ms", f"{told['fetch_ms']:.0f} ms", f"{told['lag']:.1f}")
        name = short_name(row, "work", "transport", "nodes", "actors")
        lines.append(row_line((name, rate(row), efficiency, size, *times, _bottleneck(told)), row))
    return lines


def _bottleneck(told: dict[str, float]) -> str:
    waits = {"learner": told["actors_wait"], "actors": told["learner_waits"]}
    slower = max(waits, key=lambda name: waits[name])
    return f"{slower}, {waits[slower]:.0%}"


def predicted_header(models: dict[str, Any]) -> tuple[str, ...]:
    """Return the header of `predicted_rows`."""
    rates = {name: short(model["costs"]["actor_rate"]) for name, model in models.items()}
    return ("nodes, one actor each", *(f"{SIMULATORS[name]}, {rates[name]} steps/s per actor" for name in models))


def predicted_rows(models: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return one row per number of nodes: steps/s, the efficiency and the limit, for each simulator."""
    by_size = zip(*(model["predictions"] for model in models.values()), strict=True)
    return [
        (
            f"{some[0]['nodes']:,}",
            *(f"{short(p['rate'])} ({p['efficiency']:.1%}, limit: {p['limit']})" for p in some),
        )
        for some in by_size
    ]


def cluster_table(folder: Path) -> str:
    """Return what was measured."""
    result = load(folder, "cluster")
    return markdown_apart(
        MEASURED,
        measured_rows(measured(result)),
        result,
        "Waits for: the slower side, and the share of the other's time that is spent waiting for it.",
        f"The load before the run was {result['machine']['load_before']:.0f} on {result['machine']['cores']} cores.",
        f"`{result['method']['command']}` ({link('cluster')}).",
    )


def cluster_model_table(folder: Path) -> str:
    """Return what the cost model predicts for more nodes."""
    models = load(folder, "cluster")["models"]
    ceilings = models["compiled"]["predictions"][0]["ceilings"]
    return markdown(
        predicted_header(models),
        predicted_rows(models),
        "Steps/s, and in brackets the share of what the actors alone could do, and what limits it.",
        "Ceilings of one node with the compiled CAGE-2, in steps/s:",
        f"{', '.join(f'{name} {short(most)}' for name, most in ceilings.items())} ({link('cluster')}).",
    )
