"""`garrison bench NAME`: the measurements behind every published number; a bench's module is imported when it runs."""

from importlib import import_module

from garrison.errors import choose

BENCHES: dict[str, tuple[str, str]] = {
    "sim": ("garrison.bench.sim", "the simulator alone: speed, start-up and memory, beside CybORG and MiniCAGE"),
    "vector": ("garrison.bench.vector", "our vector backends and every installed peer, on the same environments"),
    "train": (
        "garrison.bench.train",
        "training end to end, acting, stepping and learning, beside every installed peer",
    ),
    "cluster": ("garrison.bench.cluster", "IMPALA on Ray, node by node, beside processes; what 1000 nodes would do"),
    "record": ("garrison.bench.record", "the record presets from scratch, several seeds: official total over time"),
}


def main(arguments: list[str]) -> int:
    """Run the bench named first in `arguments` with the rest as its options, and return the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, BENCHES))
        rows = [f"  {name:<{width}}  {what}" for name, (_, what) in BENCHES.items()]
        print("\n".join(["usage: garrison bench NAME [options]      (garrison bench NAME --help)", "", *rows]))
        return 0
    name, *rest = arguments
    choose("bench", name, list(BENCHES))
    code: int = import_module(BENCHES[name][0]).main(rest)
    return code
