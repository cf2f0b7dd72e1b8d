"""Replay recorded CybORG episodes, on their own random draws or from their seeds, and compare every value."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import ACTIONS, HOSTS, PORTS, RED_ACTIONS, SUBNETS, RedKind
from garrison.cage2.traces import Trace
from garrison.cage2.vector_env import VectorEnv

Values = dict[str, NDArray[Any]]

RECORDINGS = Path(__file__).with_name("recordings")
"""A small selection of recorded episodes that comes with the package; tests/golden has more"""

# Encoder and the recorded observations that it must reproduce.
ENCODINGS = {"challenge": "obs", "wrapper2": "obs_cw2"}


@dataclass(frozen=True)
class Mismatch:
    """The first value that differs, with what led to it."""

    file: Path
    episode: int
    step: int
    """0 is the state after the reset, t the one after the t-th step"""
    field: str
    expected: NDArray[Any]
    got: NDArray[Any]
    actions: list[str]
    """The last turns up to this step"""

    def __str__(self) -> str:
        where = np.argwhere(np.atleast_1d(self.expected != self.got))
        lines = [f"first mismatch: {self.file}, episode {self.episode}, step {self.step}, {self.field}"]
        for place in where[:6]:
            at = tuple(int(p) for p in place)
            expected, got = np.atleast_1d(self.expected)[at], np.atleast_1d(self.got)[at]
            lines.append(f"  {_place(self.field, at):<28} expected {expected}, got {got}")
        if len(where) > 6:
            lines.append(f"  ... and {len(where) - 6} more places")
        return "\n".join([*lines, "  the turns before:", *(f"    {turn}" for turn in self.actions)])


@dataclass
class ReplayResult:
    """What a replay found."""

    episodes: int = 0
    steps: int = 0
    mismatches: dict[str, int] = field(default_factory=dict)
    """How many (episode, step) differ, by field"""
    first: Mismatch | None = None

    @property
    def total(self) -> int:
        """All mismatches."""
        return sum(self.mismatches.values())

    def add(self, other: "ReplayResult") -> None:
        """Count what another replay found as well; the first mismatch stays the first."""
        self.episodes += other.episodes
        self.steps += other.steps
        for name, count in other.mismatches.items():
            self.mismatches[name] = self.mismatches.get(name, 0) + count
        self.first = self.first or other.first


def compiled_envs(trace: Trace, encoder: str) -> VectorEnv:
    """Return a batch of the compiled engine that plays the episodes of a trace on their recorded draws."""
    envs = _batch(trace, encoder, "stream")
    envs.play_tapes(trace.tapes())
    return envs


def seeded_envs(trace: Trace, encoder: str) -> VectorEnv:
    """Return a batch of the compiled engine that draws as CybORG does, for the seeds of a trace."""
    return _batch(trace, encoder, "cyborg")


def _batch(trace: Trace, encoder: str, source: str) -> VectorEnv:
    return VectorEnv(
        trace.episodes,
        red="external" if trace.red == "random" else trace.red,
        rules=trace.rules,
        length=trace.length,
        encoder=encoder,
        autoreset_mode="Disabled",
        copy=False,
        source=source,
    )


def replay(
    trace: Trace, make_envs: Callable[[Trace, str], Any] = compiled_envs, seeds: int | list[int] = 0
) -> ReplayResult:
    """Replay every episode of a trace under both encoders and compare every value at every step.

    Args:
        trace: the recording.
        make_envs: makes, from a trace and an encoder's name, the batch to replay it on; that of another engine needs
            `reset`, `step`, `truth` and `get_state` with the names that this module reads.
        seeds: what the batch is reset with; it decides nothing where all draws come from a tape.
    """
    found = ReplayResult(trace.episodes, trace.episodes * trace.length)
    for encoder, observations in ENCODINGS.items():
        envs = make_envs(trace, encoder)
        for step, got in enumerate(_play(envs, trace, seeds)):
            got[observations] = got.pop("obs")
            for name, values in got.items():
                _compare(found, trace, step, name, values)
    return found


def _play(envs: Any, trace: Trace, seeds: int | list[int]) -> Iterator[Values]:
    """Yield what the simulator shows after the reset and after each step, under the trace's names."""
    obs, _ = envs.reset(seed=seeds)
    yield {"obs": obs, **_state(envs, trace.red)}
    for t in range(trace.length):
        actions: Any = trace.arrays["action"][:, t]
        if trace.red == "random":
            red = np.stack([trace.arrays["red_type"][:, t], np.maximum(trace.arrays["red_target"][:, t], 0)], axis=1)
            actions = {"blue": actions, "red": red}
        obs, rewards, terminations, truncations, _ = envs.step(actions)
        truth = envs.truth
        yield {
            "obs": obs,
            "reward": rewards,
            "done": terminations | truncations,
            "blue_success": truth.blue_success,
            "red_type": truth.red_kind,
            "red_target": truth.red_target,
            "red_success": truth.red_success,
            "red_exploit": truth.red_exploit,
            **_state(envs, trace.red),
        }


def _state(envs: Any, red: str) -> Values:
    truth = envs.truth
    values: Values = {
        "access_any": truth.access,
        "access_first": truth.access_oldest,
        "n_sessions": truth.sessions,
        "n_hidden": truth.hidden,
        "malware": truth.malware,
        "decoys": truth.decoys,
        "ports": truth.ports,
        "red_ports": truth.red_ports,
        "red_known_ip": truth.known_address,
        "red_known_host": truth.known_host,
        "red_known_subnet": truth.known_subnet,
        "ot": np.stack([truth.ot_running, truth.ot_stoppable, truth.ot_active, truth.ot_known], axis=1),
    }
    if red in _INTERNALS:
        state = envs.get_state()
        values["red_internal"] = np.stack([state[name] for name in _INTERNALS[red]], axis=1)
    return values


_INTERNALS = {
    "bline": ("bline_state", "bline_seen"),
    "meander": ("swept", "scanned", "exploited", "escalated", "mapped"),
}


def _compare(found: ReplayResult, trace: Trace, step: int, name: str, got: NDArray[Any]) -> None:
    recorded = trace.arrays[name]
    expected = recorded[:, step if recorded.shape[1] > trace.length else step - 1]
    if name == "red_internal":
        expected = expected[:, : got.shape[1]]
    differs = expected != got
    bad = np.flatnonzero(differs.reshape(len(got), -1).any(axis=1))
    if len(bad) == 0:
        return
    found.mismatches[name] = found.mismatches.get(name, 0) + len(bad)
    if found.first is None or step < found.first.step:
        e = int(bad[0])
        turns = [_turn(trace, e, t) for t in range(max(0, step - 6), step)]
        found.first = Mismatch(trace.file, e, step, name, np.copy(expected[e]), np.copy(got[e]), turns)


def _turn(trace: Trace, episode: int, t: int) -> str:
    a = trace.arrays
    kind, target = int(a["red_type"][episode, t]), int(a["red_target"][episode, t])
    place = "" if target < 0 else SUBNETS[target] if kind == RedKind.SWEEP else HOSTS[target]
    outcome = {1: "succeeded", 0: "failed"}.get(int(a["red_success"][episode, t]), "")
    red = " ".join(filter(None, [RED_ACTIONS[kind], place, outcome]))
    return f"step {t + 1}: Blue {ACTIONS[int(a['action'][episode, t])].name}; Red {red}"


def _place(name: str, at: tuple[int, ...]) -> str:
    """Name the element of an array that differs."""
    if name in ENCODINGS.values():
        return f"{HOSTS[at[0] // 4]} bit {at[0] % 4}"
    if name in ("ot", "red_internal", "red_known_subnet"):
        return f"{name}[{at[0]}]"
    if name in ("ports", "red_ports"):
        return f"{HOSTS[at[0]]} (bit i is {'/'.join(map(str, PORTS))})"
    if name in _PER_HOST:
        return " ".join([HOSTS[at[0]], *map(str, at[1:])])
    return name


_PER_HOST = (
    "access_any",
    "access_first",
    "n_sessions",
    "n_hidden",
    "malware",
    "decoys",
    "red_known_ip",
    "red_known_host",
)
