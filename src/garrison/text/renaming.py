"""Other names for hosts and subnets, everywhere in the text and nowhere in the game.

The simulator knows hosts by their numbers, so a renamed game has the same attacker, draws and rewards. What changes is
what a model can recall instead of read.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from garrison.cage2.names import BLOCKS, HOSTS, SUBNETS
from garrison.errors import UserError, choose

LONGEST_NAME = 40
_ALLOWED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_ROLES = {
    "Defender": "secops-console",
    "Enterprise0": "auth-gateway",
    "Enterprise1": "app-server-a",
    "Enterprise2": "app-server-b",
    "Op_Host0": "plant-node-1",
    "Op_Host1": "plant-node-2",
    "Op_Host2": "plant-node-3",
    "Op_Server0": "plant-control",
    "User0": "desk-sales-1",
    "User1": "desk-sales-2",
    "User2": "desk-sales-3",
    "User3": "desk-design-1",
    "User4": "desk-design-2",
}
_ROLE_SUBNETS = {"Enterprise": "datacentre", "Operational": "plant", "User": "office"}


@dataclass(frozen=True)
class Names:
    """What hosts and subnets are called, in the order of `garrison.cage2.names`."""

    hosts: tuple[str, ...] = HOSTS
    subnets: tuple[str, ...] = SUBNETS

    def __post_init__(self) -> None:
        for what, names in (("host", self.hosts), ("subnet", self.subnets)):
            for name in names:
                if not isinstance(name, str) or not _ALLOWED.fullmatch(name) or len(name) > LONGEST_NAME:
                    raise UserError(
                        f"a {what} cannot be called {name!r}: use up to {LONGEST_NAME} letters, digits, '_', '.', '-'."
                    )
            _check_distinct(what, names)
        for name in self.hosts:
            if name.isdigit() or spelled(name) in _TAKEN:
                raise UserError(f"a host cannot be called {name!r}: an action could be meant.")

    @property
    def order(self) -> list[int]:
        """The hosts' numbers by their names: lists of hosts are in this order, so that it tells nothing."""
        return sorted(range(len(self.hosts)), key=lambda h: self.hosts[h])

    @property
    def are_original(self) -> bool:
        """Whether these are the challenge's own names."""
        return self.hosts == HOSTS and self.subnets == SUBNETS


def spelled(text: str) -> str:
    """Return a name without what people write differently: case, separators, zeros before a number.

    >>> spelled("Op_Server0"), spelled("host-01")
    ('opserver0', 'host1')
    """
    parts = re.findall(r"[a-z]+|\d+", text.lower())
    return "".join(part if part.isalpha() else part.lstrip("0") or "0" for part in parts)


def _neutral(seed: int | None) -> Names:
    hosts, subnets = list(range(1, len(HOSTS) + 1)), list(range(1, len(SUBNETS) + 1))
    if seed is not None:
        random = Random(seed)
        random.shuffle(hosts)
        random.shuffle(subnets)
    return Names(tuple(f"host-{number:02}" for number in hosts), tuple(f"net-{number}" for number in subnets))


def _roles(seed: int | None) -> Names:
    if seed is not None:
        raise UserError("the scheme 'roles' draws nothing: write --rename roles, without a seed.")
    return Names(tuple(_ROLES[host] for host in HOSTS), tuple(_ROLE_SUBNETS[subnet] for subnet in SUBNETS))


def _shuffled(seed: int | None) -> Names:
    hosts = list(HOSTS)
    Random(seed or 0).shuffle(hosts)
    return Names(tuple(hosts))


SCHEMES = {"neutral": _neutral, "roles": _roles, "shuffled": _shuffled}
"""`neutral`: host-01, net-1, in order or dealt out by a seed. `roles`: the same meaning in words that no text about the
challenge has. `shuffled`: the challenge's own names on other hosts."""


def names_of(rename: "str | Path | Mapping[str, Any] | Names | None") -> Names:
    """Return the names that a user asks for.

    Args:
        rename: nothing or `""` for the challenge's own; a scheme, such as `neutral`, with a seed if it is to draw
            (`neutral:7`, `shuffled:7`); a JSON file; or a mapping such as `{"hosts": {"User0": "alice"}}`, where who is
            not named keeps its name. A mapping may also have `subnets`.

    >>> names_of("neutral").hosts[:2]
    ('host-01', 'host-02')
    """
    if not rename:
        return Names()
    if isinstance(rename, Names):
        return rename
    if isinstance(rename, Mapping):
        return _mapped(rename, "the mapping of names")
    scheme, colon, seed = str(rename).partition(":")
    if scheme in SCHEMES:
        if colon and not (seed.isdecimal() and len(seed) < 20):
            raise UserError(f"a scheme's seed is a whole number, as in {scheme}:7; got {rename!r}.")
        return SCHEMES[scheme](int(seed) if colon else None)
    path = Path(rename)
    if path.suffix != ".json" and not path.is_file():
        choose("scheme of names", scheme, [*SCHEMES, "FILE.json"])
    try:
        return _mapped(json.loads(path.read_text(encoding="utf-8")), str(path))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} is no JSON file: {str(error)[:80]}.") from error


def _mapped(values: Any, source: str) -> Names:
    hint = 'Write {"hosts": {"User0": "alice"}, "subnets": {"User": "office"}}.'
    if not isinstance(values, Mapping) or not values or not set(values) <= {"hosts", "subnets"}:
        raise UserError(f"{source} must have 'hosts', 'subnets' or both.", hint=hint)
    found = []
    for key, originals in (("hosts", HOSTS), ("subnets", SUBNETS)):
        given = values.get(key, {})
        if not isinstance(given, Mapping):
            raise UserError(f"{key} in {source} must be a mapping.", hint=hint)
        for name in given:
            choose(f"name among the {key} of {source}", name, originals)
        found.append(tuple(given.get(name, name) for name in originals))
    return Names(*found)


def _check_distinct(what: str, names: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.setdefault(spelled(name), name)) is not name or names.count(name) > 1:
            raise UserError(f"two {what}s cannot be told apart: {other!r} and {name!r}.")


_TAKEN = {spelled(word) for word in ("Sleep", "Monitor", *BLOCKS, *(block.removeprefix("Decoy") for block in BLOCKS))}
