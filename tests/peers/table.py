"""What came out of the peers' suites, as the table of docs/vector.md."""

import fnmatch
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "vector.md"
BEGIN, END = "<!-- peer tests: `make test-peers` -->\n", "<!-- end peer tests -->\n"
KNOWN: dict[str, dict[str, str]] = tomllib.loads((Path(__file__).parent / "differences.toml").read_text())
"""By suite: patterns of "backend test" that pass with the peer's own and not with ours, and why that is meant."""


@dataclass(frozen=True)
class Outcome:
    """One suite on one backend."""

    suite: str
    version: str
    backend: str
    own: frozenset[str]
    ours: frozenset[str]

    def patterns(self) -> dict[str, str | None]:
        """Return for every test that differs the pattern of `differences.toml` that expects it, or None."""
        return {test: self._pattern(test) for test in sorted(self.own - self.ours)}

    def _pattern(self, test: str) -> str | None:
        named = f"{self.backend} {test}"
        return next((pattern for pattern in KNOWN[self.suite] if fnmatch.fnmatchcase(named, pattern)), None)


def table(outcomes: list[Outcome]) -> str:
    """Return the counts and, below them, every reason with the number of tests on each backend that differ for it."""
    lines = ["| suite | version | backend | passes with its own | with ours | differs by design |"]
    lines.append("|---|---|---|---:|---:|---:|")
    for each in outcomes:
        by_design = sum(pattern is not None for pattern in each.patterns().values())
        cells = each.suite, each.version, f"`{each.backend}`", len(each.own), len(each.ours), by_design
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "| suite | why they differ | tests |", "|---|---|---:|"]
    for suite, known in KNOWN.items():
        counts = [Counter(each.patterns().values()) for each in outcomes if each.suite == suite]
        for reason in dict.fromkeys(known.values()):
            each_backend = [sum(found[pattern] for pattern in known if known[pattern] == reason) for found in counts]
            lines.append(f"| {suite} | {reason} | {span(each_backend)} |")
    return "\n".join(lines) + "\n"


def span(counts: list[int]) -> str:
    """Return a count that may differ between backends: "8", or "0 to 8"."""
    low, high = min(counts, default=0), max(counts, default=0)
    return str(low) if low == high else f"{low} to {high}"


def surprises(outcomes: list[Outcome]) -> list[str]:
    """Return the tests that differ without a reason, and the reasons without a test."""
    found = [
        f"{each.suite}, {each.backend}: {test}"
        for each in outcomes
        for test, pattern in each.patterns().items()
        if pattern is None
    ]
    used = {(each.suite, pattern) for each in outcomes for pattern in each.patterns().values()}
    stale = [(suite, pattern) for suite, known in KNOWN.items() for pattern in known if (suite, pattern) not in used]
    return found + [f"{suite}: nothing differs any more for {pattern!r}" for suite, pattern in stale]


def published() -> str:
    """Return the part of docs/vector.md that `publish` writes."""
    match = re.search(f"{re.escape(BEGIN)}(.*?){re.escape(END)}", PAGE.read_text(), re.DOTALL)
    return match[1] if match else ""


def publish(text: str) -> None:
    """Put a table into docs/vector.md in the place of the old one."""
    PAGE.write_text(PAGE.read_text().replace(BEGIN + published() + END, BEGIN + text + END))
