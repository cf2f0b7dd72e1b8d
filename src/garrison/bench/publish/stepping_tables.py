"""Tables on stepping: the simulator, backends beside their peers, and scaling with workers."""

from pathlib import Path

from garrison.bench.method.labels import BARRIER, GARRISON, LIMIT, LOOP, is_peer
from garrison.bench.publish.apart import Line, line, markdown_apart, times_line
from garrison.bench.publish.markdown import source
from garrison.bench.publish.stored import (
    StoredRow,
    best,
    by,
    compared,
    facts,
    find,
    groups,
    load,
    measured,
    need,
    over,
    rate,
    rate_alone,
    select,
    step_time,
)
from garrison.formatting import plural

BACKENDS_HEADER = ("cell", "limit with a barrier", "shared", "joint", "async", "auto", "auto / our best")
WINNERS = ("cell", "our best / best peer", "auto / best peer", "auto / serial", "async / shared", "best of the limit")


def sim_table(folder: Path) -> str:
    """Return the simulator's table: rates, and each beside CybORG in the same run."""
    result = load(folder, "sim")
    rows = measured(result)
    base = find(rows, who="CybORG", red="meander")
    start = result["startup"]
    single = need(rows, who=GARRISON, interface="gymnasium.Env")
    one, two = (need(rows, who=GARRISON, envs=10_000, threads=n) for n in (1, 2))
    largest = need(rows, who=GARRISON, envs=100_000, threads=1)
    rolled = find(rows, who=GARRISON, method="rollout", envs=10_000)  # older files have none
    rollouts = [f"`rollout` in the place of `step`, 10,000 environments: {over(rolled, one)} times."] if rolled else []
    return markdown_apart(
        ("", "steps/s", "times CybORG"),
        [times_line(row, base) for row in rows],
        result,
        "Random actions, automatic resets, observations, rewards and the true state included.",
        f"A step of one environment through Gymnasium's single interface: {step_time(single)}; in a batch of 10,000:",
        f"{step_time(one)}. Times as fast with two threads as with one: {over(two, one)}. 100,000 environments hold",
        f"{facts(largest)['batch_mb']:.0f} MB.",
        *rollouts,
        f"`import garrison` takes {start['import_seconds']:.2f} s, the first step",
        f"{start['warm_first_step_seconds']:.1f} s, and once per version {start['cold_first_step_seconds']:.0f} s to",
        f"compile. {source(result, 'sim')}",
    )


def scaling_table(folder: Path) -> str:
    """Return throughput and efficiency of the worker backends by number of workers."""
    result = load(folder, "vector-scaling")
    cores, rows = result["machine"]["cores"], measured(result)
    one = need(rows, who=LOOP)
    ways = groups((row for row in rows if "workers" in row["labels"]), "who", "backend")
    counts = sorted({row["labels"]["workers"] for some in ways.values() for row in some})
    lines = []
    for way, some in ways.items():
        found = by(some, "workers")
        shares = {n: compared(row, one, min(n, cores)) for n, row in found.items()}
        written = {n: f"{rate(row)} ({shares[n].share()})" for n, row in found.items()}
        lines.append(line((way, *(written.get(n, "") for n in counts)), *shares.values()))
    return markdown_apart(
        ("", *(plural(n, "worker") for n in counts)),
        lines,
        result,
        "Steps/s of 32 environments of 500 µs, and in brackets the share of the ideal: workers, at most the",
        f"{cores} cores, times one bare loop (steps/s: {rate_alone(one)}).",
        "The limit is loops that never wait for each other.",
        source(result, "vector-scaling"),
    )


def limit_table(folder: Path) -> str:
    """Return, for each cost and number of environments, our backends as shares of the limit."""
    result = load(folder, "vector-limit")
    return markdown_apart(
        BACKENDS_HEADER,
        shares_of_limit(measured(result)),
        result,
        "Shares of the limit: bare loops, one per core, that never speak to each other. With a barrier they wait",
        "for each other after every batch, for nothing, as any `step()` must. Our best is the quickest there, by luck",
        "too.",
        source(result, "vector-limit"),
    )


def shares_of_limit(rows: list[StoredRow]) -> list[Line]:
    """Return the columns of `BACKENDS_HEADER` for every cell that has all of them."""
    lines = []
    for envs, cost in sorted(by(rows, "envs", "cost"), key=lambda cell: int(cell[0])):  # costs as they were measured
        here = select(rows, envs=envs, cost=cost)
        mine = by(select(here, who=GARRISON), "backend")
        limit, barrier = (find(here, who=who, envs=envs, cost=cost) for who in (LIMIT, BARRIER))
        top = best(mine.values())
        if top and limit and barrier and {"shared", "joint", "async", "auto"} <= set(mine):
            shown = (barrier, mine["shared"], mine["joint"], mine["async"], mine["auto"])
            shares = [compared(row, limit) for row in shown]
            times = compared(mine["auto"], top)
            written = "1 (auto)" if top is mine["auto"] else f"{times.times()} ({top['labels']['backend']})"
            lines.append(line((f"{envs} x {cost}", *(share.share() for share in shares), written), *shares))
    return lines


def peers_table(folder: Path) -> str:
    """Return, for each cost and number of environments, our backends beside the best peer."""
    result = load(folder, "vector-synthetic")
    rows = measured(result)
    return markdown_apart(
        WINNERS,
        winners(rows),
        result,
        "Ratios of steps/s in the same run.",
        "The limit is bare loops, one per core, that never speak to each other.",
        _held(rows),
        source(result, "vector-synthetic"),
    )


def winners(rows: list[StoredRow]) -> list[Line]:
    """Return the columns of `WINNERS` for every cell that has a peer and all of ours."""
    lines = []
    for envs, cost in sorted(by(rows, "envs", "cost"), key=lambda cell: int(cell[0])):  # costs as they were measured
        here = select(rows, envs=envs, cost=cost)
        mine = by(select(here, who=GARRISON), "backend")
        top, peer = best(mine.values()), best(row for row in here if is_peer(row["labels"]))
        limit = find(here, who=LIMIT, envs=envs, cost=cost)
        if top and peer and limit and {"auto", "serial", "async", "shared"} <= set(mine):
            pairs = ((top, peer), (mine["auto"], peer), (mine["auto"], mine["serial"]), (mine["async"], mine["shared"]))
            first, *others = (compared(one, other) for one, other in pairs)
            part = compared(top, limit)
            winner = f"{first.times()} ({top['labels']['backend']})"
            cells = (f"{envs} x {cost}", winner, *(other.times() for other in others), part.share())
            lines.append(line(cells, first, *others, part))
    return lines


def _held(rows: list[StoredRow]) -> str:
    envs = max(row["labels"]["envs"] for row in rows)
    place = {"envs": envs, "cost": rows[0]["labels"]["cost"]}
    mine = need(rows, who=GARRISON, backend="shared", **place)
    theirs = need(rows, who="Gymnasium", backend="Async, shared memory", **place)
    said = [f"{row['peak_mb']:,.0f} MB in {row['samples'][0]['processes']} processes" for row in (mine, theirs)]
    return f"At {envs} environments `shared` holds {said[0]} at its peak, Gymnasium's Async {said[1]}."
