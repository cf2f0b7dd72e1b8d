"""`garrison bench publish`: README, docs and page from the published results in `benchmarks/`.

It rewrites what stands between `<!-- NAME -->` and `<!-- end NAME -->`, and `benchmarks/index.html`; a test fails while
they disagree with the results.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import tyro

from garrison.bench.publish import (
    ablation_tables,
    cluster_tables,
    coinrun_pages,
    headline,
    jax_tables,
    learning_pages,
    limit_tables,
    peer_tables,
    scaling_tables,
    stepping_tables,
    training_tables,
    unmet_tables,
)
from garrison.bench.publish.bench_page import write_page
from garrison.errors import UserError, foreign
from garrison.storage.atomic import write_text

FOLDER = "benchmarks"


class Table(NamedTuple):
    """A table that documents can have."""

    results: tuple[str, ...]
    """What it is made from."""
    make: Callable[[Path], str]


TABLES: dict[str, Table] = {
    "headline": Table(headline.RESULTS, headline.headline_table),
    "sim": Table(("sim",), stepping_tables.sim_table),
    "sim-jax": Table(("sim-jax",), jax_tables.sim_jax_table),
    "train": Table(("train",), training_tables.train_table),
    "train-jax": Table(("train-jax",), jax_tables.train_jax_table),
    "users": Table(("users",), training_tables.users_table),
    "coinrun": Table(("users-coinrun",), coinrun_pages.coinrun_table),
    "learning": Table(("learning",), learning_pages.learning_table),
    "scaling": Table(("vector-scaling",), stepping_tables.scaling_table),
    "of-limit": Table(("vector-limit",), stepping_tables.limit_table),
    "peers": Table(("vector-synthetic",), stepping_tables.peers_table),
    "each-peer": Table(("vector-synthetic",), peer_tables.each_peer_table),
    "classic": Table(("vector-classic",), peer_tables.classic_table),
    "cluster": Table(("cluster",), cluster_tables.cluster_table),
    "cluster-model": Table(("cluster",), cluster_tables.cluster_model_table),
    "scaling-batch": Table(("scaling",), scaling_tables.batch_table),
    "scaling-parts": Table(("scaling",), scaling_tables.parts_table),
    "scaling-cores": Table(("scaling",), scaling_tables.cores_table),
    "scaling-check": Table(("scaling",), scaling_tables.check_table),
    "scaling-nodes": Table(("cluster",), scaling_tables.nodes_table),
    "record": Table(("record",), training_tables.record_table),
    "ablation": Table((ablation_tables.RESULT,), ablation_tables.ablation_table),
    "unmet": Table((unmet_tables.RESULT,), unmet_tables.unmet_table),
    "limit": Table(("limit",), limit_tables.limit_table),
    "async": Table(("train-async",), training_tables.async_table),
    "learners": Table((training_tables.LEARNERS,), training_tables.learners_table),
    "orders": Table((training_tables.ORDERS,), training_tables.orders_table),
    "workflow-cost": Table((training_tables.WORKFLOW_COST,), training_tables.workflow_cost_table),
}
PLACES: dict[str, tuple[str, ...]] = {
    "README.md": ("headline",),
    "docs/performance.md": ("sim", "train", "learning", "users", "coinrun", "scaling"),
    "docs/vector.md": ("of-limit", "peers", "each-peer", "classic"),
    "docs/impala.md": ("async", "learners"),
    "docs/workflow.md": ("orders", "workflow-cost"),
    "docs/cluster.md": ("cluster", "cluster-model"),
    "docs/scaling.md": ("scaling-batch", "scaling-parts", "scaling-cores", "scaling-check", "scaling-nodes"),
    "docs/record.md": ("record", "ablation", "unmet"),
    "docs/limit.md": ("limit",),
    "docs/jax.md": ("sim-jax", "train-jax"),
}
"""The tables that each text must have; any other table is filled too where its marks stand."""


@dataclass(frozen=True)
class Arguments:
    """Make README, docs and page from the results in `benchmarks/`."""

    root: Annotated[Path, tyro.conf.Positional] = Path()
    """The repository."""


def run(arguments: Arguments) -> int:
    """Rewrite the tables and the page, and say what changed."""
    folder = arguments.root / FOLDER
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}.", hint="Run this in a clone, or name the clone.")
    before = {place: _read(arguments.root / place) for place in PLACES}
    after = {place: fill(text, folder, place) for place, text in before.items()}  # all of them, before any is written
    for place, text in after.items():
        write_text(arguments.root / place, text)
        print(f"{place}: {'unchanged' if text == before[place] else 'rewritten'}")
    print(f"wrote {write_page(folder)}")
    return 0


def fill(text: str, folder: Path, place: str) -> str:
    """Return the text of the file `place` with every table made again from the results in `folder`."""
    for name, table in TABLES.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", flags=re.S)
        if pattern.search(text):
            made = _make(table, folder).replace("](benchmarks/", f"]({'../' * place.count('/')}benchmarks/")
            text = pattern.sub(lambda found, made=made: f"{found[1]}{made}\n{found[2]}", text)  # type: ignore[misc]
        elif name in PLACES[place]:
            raise UserError(f"{place} has no place for the table {name!r}: add <!-- {name} --> and <!-- end {name} -->")
    return text


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {file}, which has tables to fill: {error}.", hint="Name a whole clone.") from None


def _make(table: Table, folder: Path) -> str:
    if all((folder / f"{name}.json").exists() for name in table.results):
        with foreign(f"a result in {folder} ({', '.join(table.results)})"):
            return table.make(folder)
    return "Not measured for publication yet."
