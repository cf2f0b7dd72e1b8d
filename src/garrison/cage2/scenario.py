"""The scenario's facts: from a readable file to the one record that the kernels read."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import SCENARIO
from garrison.cage2.names import (
    DECOYS,
    DEFAULT_ENCODER,
    DEFAULT_RULES,
    ENCODERS,
    EXPLOITS,
    HOSTS,
    PORTS,
    RULES,
    SUBNETS,
    Genuine,
    Host,
)
from garrison.cage2.reward import RESOLUTION
from garrison.cage2.soundness import HIGHEST_COST, check_scenario
from garrison.errors import UserError, choose

DEFAULT_FILE = Path(__file__).with_name("scenario2.toml")

_OUTCOMES = {"noisy failure": Genuine.NOISY_FAILURE, "user": Genuine.USER, "privileged": Genuine.PRIVILEGED}
_SYSTEMS = {"any": -1, "linux": 0, "windows": 1}


def load_scenario(
    file: str | Path | None = None, rules: str = DEFAULT_RULES, encoder: str = DEFAULT_ENCODER
) -> NDArray[np.void]:
    """Read a scenario file into an array of one `SCENARIO` record.

    Args:
        file: a copy of `scenario2.toml` with changes; by default that file itself.
        rules: `head`, CybORG 2.1 as published, or `leaderboard`, the version behind the challenge's final table.
        encoder: `challenge`, the challenge's own wrapper, or `wrapper2`, the winning team's.

    Raises:
        UserError: naming the file, the entry and what was expected.
    """
    path = Path(file) if file is not None else DEFAULT_FILE
    choose("rules", rules, RULES)
    choose("encoder", encoder, ENCODERS)
    try:
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read the scenario {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not a TOML file: {error}.") from error
    try:
        return _record(facts, rules, encoder)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except KeyError as error:
        raise UserError(f"{path}: the entry {error} is missing; {DEFAULT_FILE.name} shows where it stands.") from error
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise UserError(f"{path}: a value has the wrong type: {error}.") from error


def _record(facts: Mapping[str, Any], rules: str, encoder: str) -> NDArray[np.void]:
    scenario = np.zeros(1, dtype=SCENARIO)
    sc = scenario[0]
    _read_hosts(sc, _in_order("host", facts["host"], HOSTS))
    _read_exploits(sc, _in_order("exploit", facts["exploit"], EXPLOITS))
    _read_decoys(sc, _in_order("decoy", facts["decoy"], DECOYS))
    sc["foothold"] = _index("host", facts["red"]["foothold"], HOSTS)
    sc["top_odds"] = _odds("red.exploit_top_odds", facts["red"]["exploit_top_odds"])
    sc["detect_rate"] = _odds("red.reverse_shell_detection", facts["red"]["reverse_shell_detection"])
    sc["brute_force_tries"] = _count("red.brute_force_tries", facts["red"]["brute_force_tries"], 0, 100)
    sc["restore_cost"] = _cost("costs.restore", facts["costs"]["restore"])
    sc["service_cost"] = _cost("costs.service", facts["costs"]["service"])
    sc["service_host"] = _index("host", facts["service"]["host"], HOSTS)
    sc["process_ids"] = _count("simulation.process_ids", facts["simulation"]["process_ids"], 1000, 2**31 - 1)
    for subnet, gateways in facts["routes"].items():
        sc["gateways"][_index("subnet", subnet, SUBNETS)] = sum(1 << _index("host", g, HOSTS) for g in set(gateways))
    chosen = facts["rules"][rules]
    sc["ports_accumulate"] = bool(chosen["ports_accumulate"])
    for exploit in chosen["restore_patches"]:
        sc["restore_patches"][_index("exploit", exploit, EXPLOITS)] = 1
    sc["fix_unit"] = -1  # no action is a fix until there is a workflow
    sc["decoy_hides"] = bool(facts["encoders"][encoder]["decoy_hides_activity"])
    check_scenario(scenario)
    return scenario


def _read_hosts(sc: np.void, hosts: list[dict[str, Any]]) -> None:
    for h, host in enumerate(hosts):
        sc["subnet"][h] = _index("subnet", host["subnet"], SUBNETS)
        sc["windows"][h] = _SYSTEMS[choose(f"os of {host['name']}", host["os"], ["linux", "windows"])]
        sc["confidentiality"][h] = _cost(f"confidentiality of {host['name']}", host["confidentiality"])
        sc["image_ports"][h] = _port_mask(host["ports"])
        sc["image_sockets"][h] = len(host["ports"])
        sc["genuine"][h] = Genuine.ABSENT
        for exploit, outcome in host["exploits"].items():
            choose(f"outcome of {exploit} on {host['name']}", outcome, list(_OUTCOMES))
            sc["genuine"][h, _index("exploit", exploit, EXPLOITS)] = _OUTCOMES[outcome]
        sc["reveals"][h] = _index("host", host["reveals"], HOSTS) if "reveals" in host else -1
        if Host.USER1 <= h <= Host.USER4 and "reveals" not in host:
            raise UserError(f"{host['name']} must reveal a host: B_line goes there next.")


def _read_exploits(sc: np.void, exploits: list[dict[str, Any]]) -> None:
    for e, exploit in enumerate(exploits):
        sc["needs"][e] = _port_mask(exploit["ports"])
        sc["needs_any"][e] = _port_mask(exploit.get("any_port", []))
        sc["weight"][e] = float(exploit["weight"])
        sc["brute_force"][e] = bool(exploit.get("brute_force", False))


def _read_decoys(sc: np.void, decoys: list[dict[str, Any]]) -> None:
    for d, decoy in enumerate(decoys):
        sc["opens"][d] = _port_mask([decoy["opens"]])
        sc["checks"][d] = _port_mask([decoy["checks"]])
        sc["only_on"][d] = _SYSTEMS[choose(f"os of {decoy['name']}", decoy.get("os", "any"), list(_SYSTEMS))]
        sc["blocks"][d] = _index("exploit", decoy["blocks"], EXPLOITS)


def _in_order(what: str, entries: list[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the entries in the order of `names`; the file may list them in any order."""
    by_name = {entry["name"]: entry for entry in entries}
    if sorted(by_name) != sorted(names) or len(entries) != len(names):
        raise UserError(f"the [[{what}]] entries must be {', '.join(names)}, each once; got {', '.join(by_name)}.")
    return [by_name[name] for name in names]


def _index(what: str, name: str, names: tuple[str, ...]) -> int:
    return names.index(choose(what, name, names))


def _port_mask(ports: Iterable[int]) -> int:
    mask = 0
    for port in ports:
        if port not in PORTS:
            raise UserError(f"port {port} is not modelled; the ports are {', '.join(map(str, PORTS))}.")
        mask |= 1 << PORTS.index(port)
    return mask


def _odds(what: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise UserError(f"{what} must lie between 0 and 1; got {value}.")
    return float(value)


def _count(what: str, value: int, low: int, high: int) -> int:
    if not isinstance(value, int) or not low <= value <= high:
        raise UserError(f"{what} must be a whole number from {low} to {high}; got {value}.")
    return value


def _cost(what: str, value: float) -> float:
    if not abs(value) <= HIGHEST_COST:
        raise UserError(f"{what} must lie between -{HIGHEST_COST:,.0f} and {HIGHEST_COST:,.0f}; got {value}.")
    if abs(value * RESOLUTION - round(value * RESOLUTION)) > 1e-6:
        raise UserError(f"{what} must be a multiple of {1 / RESOLUTION}; got {value}.")
    return float(value)
