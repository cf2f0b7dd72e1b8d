"""One recorded episode: exactly what its JSON holds (docs/watch.md has every key)."""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from garrison.cage2.inputs import HIGHEST_SEED
from garrison.cage2.layout import NUM_TERMS
from garrison.cage2.names import NUM_ACTIONS, NUM_HOSTS
from garrison.errors import UserError
from garrison.storage.schema import (
    COUNT,
    HIGHEST,
    MAPPING,
    NUMBER,
    SETTINGS,
    TEXT,
    Kind,
    Missing,
    Wrong,
    check,
    is_count,
    is_number,
)
from garrison.version import __version__

FORMAT = "garrison-episode"
VERSION = 1
LONGEST = 2**15 - 1

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Episode:
    """An episode as columns over time.

    With T steps, a column of `state` has T+1 rows (row 0 is after the reset) and a column of `turn` T rows: row t leads
    from state t to state t+1. Codes are numbered as in `names`.
    """

    agent: dict[str, str]
    """`name`: what results call it; `reference`: what loads it again"""
    red: str
    rules: str
    encoder: str
    seed: int
    length: int
    total: float
    names: dict[str, list[str]]
    network: dict[str, Any]
    state: Columns
    turn: Columns
    metrics: dict[str, Any]
    policy: Columns | None = None
    notes: list[str] | None = None
    """What the agent said in each turn, if it has words"""
    workflow: dict[str, Any] | None = None
    what_if: dict[str, Any] | None = None
    label: str = ""
    """Why this one is shown, such as `worst of 1,000`; empty if there is nothing to say"""
    garrison: str = __version__
    """The version that recorded it"""
    format: str = field(default=FORMAT, init=False)
    version: int = field(default=VERSION, init=False)

    @property
    def title(self) -> str:
        """The episode in a few words."""
        why = f", {self.label}" if self.label else ""
        return f"{self.agent['name']} against {self.red}, seed {self.seed}{why}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object; it shares the columns."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        values["seed"] = self.seed if self.seed < HIGHEST else str(self.seed)
        first = ("format", "version", "garrison")
        return {**{name: values[name] for name in first}, **{k: v for k, v in values.items() if k not in first}}

    @classmethod
    def of(cls, values: Any) -> Self:
        """Return the episode of a JSON object; raise a UserError that says what is wrong with it."""
        check_episode(values)
        known = {f.name for f in dataclasses.fields(cls) if f.init}
        found = {name: value for name, value in values.items() if name in known}
        return cls(**found | {"seed": int(values["seed"])})

    def save(self, path: str | Path) -> Path:
        """Write the episode as `.json` or `.json.gz`."""
        from garrison.episodes.episode_files import write_json_file

        return write_json_file(Path(path), self.to_dict())


def _is_code(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -1 <= value < 2**15


def _is_large(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 20 and HIGHEST <= int(text) <= HIGHEST_SEED


def _rows(words: str, width: int, holds: Any) -> Kind:
    return Kind(
        f"a list of rows of {width} {words}",
        lambda rows: (
            isinstance(rows, list)
            and all(isinstance(row, list) and len(row) == width and all(map(holds, row)) for row in rows)
        ),
    )


def _names(count: int) -> Kind:
    return Kind(
        f"a list of {count} names",
        lambda names: isinstance(names, list) and len(names) == count and all(isinstance(name, str) for name in names),
    )


CODES = Kind("a list of codes", lambda value: isinstance(value, list) and all(map(_is_code, value)))
ACTIONS_TAKEN = Kind(
    "a list of actions",
    lambda value: isinstance(value, list) and all(_is_code(a) and 0 <= a < NUM_ACTIONS for a in value),
)
NUMBERS = Kind("a list of numbers", lambda value: isinstance(value, list) and all(map(is_number, value)))
TEXTS = Kind("a list of texts", lambda value: isinstance(value, list) and all(isinstance(v, str) for v in value))
HOST_CODES = _rows("codes", NUM_HOSTS, _is_code)
SUBNETS_OF_HOSTS = Kind(
    "a list of 13 subnets",
    lambda value: isinstance(value, list) and len(value) == NUM_HOSTS and all(v in (0, 1, 2) for v in value),
)

NAMED = Kind(
    "a mapping with the agent's name and reference",
    lambda value: isinstance(value, dict) and all(isinstance(value.get(k), str) for k in ("name", "reference")),
)

SEED = Kind(
    f"a whole number from 0 to {HIGHEST_SEED}, from 2^53 on as text, because readers of JSON take it for a float",
    lambda value: is_count(value) or (isinstance(value, str) and _is_large(value)),
)

HEAD: dict[str, Kind] = {
    "agent": NAMED,
    "red": TEXT,
    "rules": TEXT,
    "encoder": TEXT,
    "seed": SEED,
    "length": COUNT,
    "total": NUMBER,
    "names": MAPPING,
    "names.hosts": _names(NUM_HOSTS),
    "names.subnets": _names(3),
    "names.actions": _names(NUM_ACTIONS),
    "names.red_actions": _names(7),
    "names.exploits": _names(8),
    "names.decoys": _names(8),
    "names.beliefs": _names(4),
    "names.accesses": _names(3),
    "names.terms": _names(NUM_TERMS),
    "network": SETTINGS,
    "network.subnet": SUBNETS_OF_HOSTS,
    "metrics": SETTINGS,
}
STATE_COLUMNS: dict[str, Kind] = {
    "access": HOST_CODES,
    "sessions": HOST_CODES,
    "hidden": HOST_CODES,
    "malware": HOST_CODES,
    "decoys": HOST_CODES,
    "known": HOST_CODES,
    "service": CODES,
    "shielded": CODES,
    "belief": HOST_CODES,
    "activity": HOST_CODES,
    "total": NUMBERS,
}
TURN_COLUMNS: dict[str, Kind] = {
    "blue_action": ACTIONS_TAKEN,
    "blue_success": CODES,
    "effect": CODES,
    "red_kind": CODES,
    "red_target": CODES,
    "red_exploit": CODES,
    "red_success": CODES,
    "caught": CODES,
    "reward": NUMBERS,
    "terms": _rows("numbers", NUM_TERMS, is_number),
    "blue_text": TEXTS,
    "red_text": TEXTS,
    "seen_text": TEXTS,
}


def check_episode(values: Any) -> None:
    """Raise a UserError unless a JSON object is an episode of this version, whole, with columns of one length."""
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise UserError(f"this is no episode: its format is not {FORMAT!r}.")
    if values.get("version") != VERSION:
        raise UserError(
            f"the episode has the format's version {values.get('version')!r}; this Garrison reads version {VERSION}."
        )
    table = {
        **HEAD,
        **{f"state.{name}": kind for name, kind in STATE_COLUMNS.items()},
        **{f"turn.{name}": kind for name, kind in TURN_COLUMNS.items()},
    }
    try:
        check(values, table)
    except Missing as missing:
        raise UserError(f"the episode is not whole: it has no {missing}.") from None
    except Wrong as wrong:
        raise UserError(f"the episode cannot be used: {wrong}.") from None
    steps = len(values["turn"]["blue_action"])
    if not 1 <= steps <= LONGEST:
        raise UserError(f"an episode has from 1 to {LONGEST} steps; this one has {steps}.")
    wanted = {f"turn.{name}": (column, steps) for name, column in values["turn"].items()}
    wanted |= {f"state.{name}": (column, steps + 1) for name, column in values["state"].items()}
    if values.get("notes") is not None:
        if not TEXTS.holds(values["notes"]):
            raise UserError(f"the episode cannot be used: its notes must be {TEXTS.words}.")
        wanted["notes"] = (values["notes"], steps)
    wanted |= {f"policy.{name}": (column, steps) for name, column in (values.get("policy") or {}).items()}
    for name, (column, rows) in wanted.items():
        if not isinstance(column, list) or len(column) != rows:
            found = f"{len(column)} rows" if isinstance(column, list) else "no rows"
            raise UserError(f"the episode is not whole: its {name} has {found}, not {rows}.")
