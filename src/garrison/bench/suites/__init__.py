"""What is measured: one module per suite, with a dataclass `Arguments` and `run(arguments) -> int`, the exit code.

A new suite is one module and one line in `SUITES`: that makes it `garrison bench NAME` and part of `bench all`. It
describes rows as `Configuration`s, calls `measure` and hands the result to `keep`, which writes the JSON and the page.
"""

SUITES: dict[str, tuple[str, str]] = {
    "sim": ("garrison.bench.suites.simulator_speed", "the simulator alone, beside CybORG and MiniCAGE"),
    "vector": ("garrison.bench.suites.backend_speed", "our vector backends and every installed peer"),
    "train": ("garrison.bench.suites.training_speed", "training end to end, beside every installed peer"),
    "learning": ("garrison.bench.suites.learning_curves", "learning curves beside Stable-Baselines3's"),
    "users": ("garrison.bench.suites.user_tables", "the tables that our users measured, run again on this code"),
    "cluster": ("garrison.bench.suites.cluster_speed", "IMPALA on Ray, node by node; what 1000 nodes would do"),
    "scaling": ("garrison.bench.suites.scaling_speed", "how cost grows, and what more cores should give"),
    "record": ("garrison.bench.suites.record_runs", "the record presets from scratch: official total over time"),
    "limit": ("garrison.bench.suites.limit_cells", "how good a defender can be: scores and upper bounds, cell by cell"),
}
"""Name to (module, what it measures); modules are imported when they run."""
