"""Run the peers' own tests of vector environments with our backends in the place of theirs: `make test-peers`.

Each suite runs once as it is, to learn what passes on this machine, and once for each backend. What passes there and
not here must stand in `differences.toml`, with the reason. The suites are fetched, never committed: that of
Stable-Baselines3 from its source distribution on PyPI, that of Gymnasium, whose distribution has next to none, from its
repository. `PEER_GYMNASIUM` and `PEER_STABLE_BASELINES3` may name folders that hold a `tests` folder instead. Names of
backends as arguments run only those. A run of all backends that found no surprise writes its table to docs/vector.md.
"""

import sys
import tempfile
from pathlib import Path

from tests.peers.suites import SUITES
from tests.peers.table import Outcome, publish, surprises, table

BACKENDS = ("serial", "threads", "pipes", "shared", "async")


def main(backends: list[str]) -> int:
    """Run all suites on the given backends, or on all; print the table and what differs unexpectedly."""
    outcomes = []
    for suite in SUITES:
        with tempfile.TemporaryDirectory(prefix="garrison-peers-") as name:
            folder = Path(name)
            suite.fetch(folder)
            own = suite.passed(folder)
            for backend in backends or BACKENDS:
                print(f"{suite.name} {suite.version} on {backend} ...", file=sys.stderr, flush=True)
                ours = suite.passed(folder, backend) & own
                outcomes.append(Outcome(suite.name, suite.version, backend, frozenset(own), frozenset(ours)))
    print(table(outcomes))
    unexpected = surprises(outcomes)
    if backends:  # a reason may be that of another backend
        unexpected = [line for line in unexpected if "nothing differs" not in line]
    for line in unexpected:
        print(f"unexpected: {line}")
    if not backends and not unexpected:
        publish(table(outcomes))
    return bool(unexpected)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
