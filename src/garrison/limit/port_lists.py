"""Which lists of a host's ports Red can ever have, and which of them make no difference to what an exploit does."""

from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import NUM_DECOYS, NUM_EXPLOITS, NUM_HOSTS, PORTS, Genuine

MAX_CHOICES = 8
TABLES = np.dtype(
    [
        ("choices", np.int16, (NUM_HOSTS, MAX_CHOICES)),  # lists that differ in what an exploit does
        ("count", np.int8, NUM_HOSTS),  # of these
        ("index", np.int8, (NUM_HOSTS, 2 ** len(PORTS))),  # which of them is as good as a list, -1: none can be this
        ("listed", np.int8),  # how many user hosts, from User1 on, have their lists in Meander's positions
        ("reportable", np.int8, NUM_HOSTS),  # a session here can be a reverse shell, which Blue may be told of
    ]
)


def make_tables(scenario: NDArray[np.void], listed: int = 0) -> NDArray[np.void]:
    """Return one record of `TABLES` for a scenario; `listed` is a field of it."""
    tables = np.zeros(1, TABLES)
    tables["listed"] = listed
    sc, table = scenario[0], tables[0]
    for host in range(NUM_HOSTS):
        table["index"][host] = -1
        found: dict[tuple[float, ...], int] = {}
        for ports in possible_lists(sc, host):
            i = found.setdefault(exploit_odds(sc, host, ports), len(found))
            table["index"][host, ports] = i
            if i == table["count"][host]:
                table["choices"][host, i] = ports
                table["count"][host] += 1
        table["reportable"][host] = any(
            sc["genuine"][host, e] > Genuine.NOISY_FAILURE and not sc["brute_force"][e] for e in range(NUM_EXPLOITS)
        )
    return tables


def possible_lists(sc: np.void, host: int) -> list[int]:
    """Return the host's own ports with every set of ports that decoys can open on its system, fewest first."""
    own = int(sc["image_ports"][host])
    runs = [d for d in range(NUM_DECOYS) if sc["only_on"][d] in (-1, sc["windows"][host])]
    extra = sorted({int(sc["opens"][d]) for d in runs if not own & int(sc["opens"][d])})
    sets = chain.from_iterable(combinations(extra, n) for n in range(len(extra) + 1))
    return [own | sum(ports) for ports in sets]


def exploit_odds(sc: np.void, host: int, ports: int) -> tuple[float, ...]:
    """Return the odds of each genuine exploit of the host, given Red's list; all others fail, decoy or not."""
    fits = [
        e
        for e in range(NUM_EXPLOITS)
        if ports & sc["needs"][e] == sc["needs"][e] and (not sc["needs_any"][e] or ports & sc["needs_any"][e])
    ]
    top = max(fits, key=lambda e: float(sc["weight"][e]), default=-1)
    odds = [0.0] * NUM_EXPLOITS
    for e in fits:
        if sc["genuine"][host, e] > Genuine.NOISY_FAILURE:
            rest = 1.0 - float(sc["top_odds"])
            odds[e] = 1.0 if len(fits) == 1 else float(sc["top_odds"]) if e == top else rest / (len(fits) - 1)
    return tuple(odds)
