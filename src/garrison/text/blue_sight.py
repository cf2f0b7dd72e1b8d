"""What Blue is shown, read from its 52 bits: the activity on each host in this turn, and what is believed of it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import ACTIVITIES, BELIEFS, NUM_HOSTS, Activity, Belief
from garrison.cage2.observe import BITS_PER_HOST
from garrison.cage2.truth import format_table
from garrison.text.renaming import Names

COLUMNS = ("Subnet", "IP Address", "Hostname", "Activity", "Compromised")
"""Of the challenge's table"""


@dataclass(frozen=True)
class Sight:
    """One observation of Blue."""

    activity: NDArray[np.int64]
    """(13,) a code of `Activity`"""
    belief: NDArray[np.int64]
    """(13,) a code of `Belief`"""

    @classmethod
    def of(cls, bits: NDArray[Any]) -> Self:
        """Read the challenge's 52 bits."""
        columns = np.asarray(bits, np.int64).reshape(NUM_HOSTS, BITS_PER_HOST).T
        return cls(columns[0] + 2 * columns[1], columns[2] + 2 * columns[3])

    def record(self) -> dict[str, Any]:
        """Return the fields of a state that Blue sees, under their names there."""
        active = np.flatnonzero(self.activity)
        host = int(active[0]) if len(active) else -1
        return {
            "active_host": host,
            "activity": int(self.activity[host]) if host >= 0 else Activity.NONE,
            "belief": self.belief,
        }


def addresses(names: Names, subnet_of: NDArray[Any]) -> dict[int, str]:
    """Return an address for each host, which only stands for its name: CybORG draws new ones for every episode."""
    place = {subnet: k for k, subnet in enumerate(sorted(names.subnets))}
    return {h: f"10.0.{place[names.subnets[subnet_of[h]]]}.{k + 1}" for k, h in enumerate(names.order)}


def as_table(sight: Sight, names: Names, subnet_of: NDArray[Any]) -> str:
    """Return the challenge's table."""
    rows = [
        (names.subnets[subnet_of[h]], address, names.hosts[h], ACTIVITIES[sight.activity[h]], BELIEFS[sight.belief[h]])
        for h, address in addresses(names, subnet_of).items()
    ]
    return format_table(rows, COLUMNS)


def as_mapping(sight: Sight, names: Names, subnet_of: NDArray[Any]) -> dict[str, dict[str, str]]:
    """Return the table as a mapping for JSON, by host."""
    return {
        names.hosts[h]: {
            "subnet": names.subnets[subnet_of[h]],
            "activity": ACTIVITIES[sight.activity[h]],
            "compromised": BELIEFS[sight.belief[h]],
        }
        for h in names.order
    }


def as_sentences(sight: Sight, names: Names) -> str:
    """Return only what is not quiet, in two sentences."""
    seen = [f"{ACTIVITIES[sight.activity[h]]} on {names.hosts[h]}" for h in names.order if sight.activity[h]]
    believed = [f"{names.hosts[h]} ({BELIEFS[sight.belief[h]]})" for h in names.order if sight.belief[h] != Belief.NO]
    return (f"Activity: {', '.join(seen)}." if seen else "No activity.") + (
        f" Compromised: {', '.join(believed)}; no other host." if believed else " No host is believed compromised."
    )
