"""Recorded CybORG episodes: reading a trace file, and turning its draws into tapes that the kernels can play."""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import MAX_LENGTH, TAPE
from garrison.cage2.names import NUM_ACTIONS, NUM_DECOYS, NUM_HOSTS, NUM_SUBNETS, RULES, RedKind, Success
from garrison.cage2.observe import NUM_BITS
from garrison.cage2.soundness import HOST_OR_NONE, TAPE_RANGES, Range
from garrison.errors import UserError

_PROCESS_ID = 3  # the code of a process id in `tape_site`

# The arrays of a trace beyond (episodes, steps); states have one more step, for the reset.
_STEP_NUMBERS = (
    "action",
    "reward",
    "done",
    "blue_success",
    "red_type",
    "red_target",
    "red_success",
    "red_exploit",
    "d_bline_target",
    "d_exploit_other",
    "d_exploit_top",
    "d_detect",
    "d_esc_idx",
    "d_esc_removable",
)
_STATE_PER_HOST = (
    "access_any",
    "access_first",
    "n_sessions",
    "n_hidden",
    "malware",
    "ports",
    "red_ports",
    "red_known_ip",
    "red_known_host",
)
_PER_STEP: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(_STEP_NUMBERS, ()),
    "d_addr_order": (NUM_HOSTS,),
    "d_host_order": (NUM_HOSTS,),
}
_PER_STATE: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(_STATE_PER_HOST, (NUM_HOSTS,)),
    "obs": (NUM_BITS,),
    "obs_cw2": (NUM_BITS,),
    "decoys": (NUM_HOSTS, NUM_DECOYS),
    "red_known_subnet": (NUM_SUBNETS,),
    "ot": (4,),
    "red_internal": (6,),
}

# Where a tape's draws stand in a trace.
_DRAWS = {
    "bline_target": "d_bline_target",
    "address_order": "d_addr_order",
    "host_order": "d_host_order",
    "exploit_other": "d_exploit_other",
    "exploit_top": "d_exploit_top",
    "detected": "d_detect",
    "session_index": "d_esc_idx",
    "session_removable": "d_esc_removable",
}
# The arrays that a replay acts on, and does not only compare with.
_RANGES: dict[str, Range] = {
    "action": (0, NUM_ACTIONS - 1),
    "red_type": (RedKind.SLEEP, RedKind.INVALID),
    "red_target": HOST_OR_NONE,
    **{recorded: TAPE_RANGES[name] for name, recorded in _DRAWS.items()},
}


@dataclass(frozen=True)
class Trace:
    """Episodes of one attacker and one length, recorded from CybORG."""

    file: Path
    rules: str
    red: str
    """`bline`, `meander`, `sleep`, or `random`: an attacker whose recorded actions are given from outside"""
    length: int
    arrays: dict[str, NDArray[Any]]

    @property
    def episodes(self) -> int:
        """How many episodes the file holds."""
        return len(self.arrays["action"])

    def seeds(self) -> list[int]:
        """Return what Python's generator was seeded with right before each episode's reset."""
        seeds = self.arrays.get("seed")
        if seeds is None or seeds.shape != (self.episodes,) or seeds.dtype.kind not in "iu" or seeds.min() < 0:
            raise UserError(f"{self.file} has no seeds to play from: `seed` must be one whole number an episode.")
        return [int(seed) for seed in seeds]

    def tapes(self) -> NDArray[np.void]:
        """Return the draws that decide something, (episodes, length) records of `TAPE`."""
        tapes = np.zeros((self.episodes, self.length), TAPE)
        for name, recorded in _DRAWS.items():
            tapes[name] = self.arrays[recorded]
        for e in range(self.episodes):
            tapes["process_id_reused"][e] = self._reused_process_ids(e)
        return tapes

    def _reused_process_ids(self, episode: int) -> list[bool]:
        """Return for each step whether the session that Red won got a process id that was reported before (Q14)."""
        a = self.arrays
        reported: list[set[int]] = [set() for _ in range(NUM_HOSTS)]
        reused = []
        for t in range(self.length):
            wins = a["red_type"][episode, t] == RedKind.EXPLOIT and a["red_success"][episode, t] == Success.YES
            process_id = self._last_process_id(episode, t) if wins else None
            host = int(a["red_target"][episode, t])
            reused.append(process_id is not None and process_id in reported[host])
            if process_id is not None and a["d_detect"][episode, t] == 1:
                reported[host].add(process_id)
        return reused

    def _last_process_id(self, episode: int, t: int) -> int:
        """Return the last process id drawn in step `t`; earlier ones were rejected or are a decoy's."""
        start, stop = self.arrays["tape_off"][episode, t + 1 : t + 3]
        rows = np.flatnonzero(self.arrays["tape_site"][start:stop] == _PROCESS_ID)
        return int(self.arrays["tape_out"][start + rows[-1]]) if len(rows) else -1


def load_trace(file: str | Path) -> Trace:
    """Read a trace file and check that it is whole.

    Raises:
        UserError: if the file cannot be read, is cut off, or is something else.
    """
    path = Path(file)
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except OSError as error:
        raise UserError(f"cannot read the trace {path}: {error.strerror or error}.") from error
    except (ValueError, zipfile.BadZipFile, EOFError, AttributeError, zipfile.LargeZipFile) as error:
        raise UserError(f"{path} is not a trace, or it is cut off: {error}.") from error
    meta = dict(str(entry).split("=", 1) for entry in np.ravel(arrays.get("meta", [])) if "=" in str(entry))
    missing = sorted(({"rules", "red", "length"} - set(meta)) | (set(_required()) - set(arrays)))
    if missing:
        raise UserError(f"{path} is not a trace of CAGE-2: it has no {', '.join(missing[:5])}.")
    if meta["rules"] not in RULES or meta["red"] not in ("bline", "meander", "sleep", "random"):
        raise UserError(f"{path} has unknown rules {meta['rules']!r} or an unknown attacker {meta['red']!r}.")
    if not meta["length"].isdigit() or not 1 <= int(meta["length"]) <= MAX_LENGTH:
        raise UserError(f"{path} has the length {meta['length']!r}; it must be a whole number from 1 to {MAX_LENGTH}.")
    trace = Trace(path, meta["rules"], meta["red"], int(meta["length"]), arrays)
    _check_shapes(trace)
    return trace


def _required() -> tuple[str, ...]:
    return (*_PER_STEP, *_PER_STATE, "tape_off", "tape_site", "tape_out")


def _check_shapes(trace: Trace) -> None:
    if trace.arrays["action"].ndim != 2 or trace.episodes == 0:
        raise UserError(f"{trace.file} holds no episodes.")
    expected = {name: (trace.episodes, trace.length, *rest) for name, rest in _PER_STEP.items()}
    expected |= {name: (trace.episodes, trace.length + 1, *rest) for name, rest in _PER_STATE.items()}
    expected["tape_off"] = (trace.episodes, trace.length + 2)
    for name, shape in expected.items():
        got = trace.arrays[name]
        if got.shape != shape or got.dtype.kind not in "iufb":
            raise UserError(
                f"{trace.file}: {name} is {got.dtype} {got.shape}, but a trace has numbers of shape {shape}."
            )
    for name, (low, high) in _RANGES.items():
        values = trace.arrays[name]
        if values.dtype.kind == "f" or values.min() < low or values.max() > high:
            raise UserError(
                f"{trace.file}: {name} must be whole numbers in {low:g}..{high:g}; got {values.min()}..{values.max()}."
            )
    _check_tape(trace)


def _check_tape(trace: Trace) -> None:
    """Raise unless `tape_off` cuts the list of all draws into steps."""
    offsets, sites, outcomes = (trace.arrays[name] for name in ("tape_off", "tape_site", "tape_out"))
    if sites.ndim != 1 or outcomes.shape != sites.shape or {sites.dtype.kind, outcomes.dtype.kind} - set("iu"):
        raise UserError(
            f"{trace.file}: tape_site and tape_out must be two lists of whole numbers of one length; "
            f"got {sites.dtype} {sites.shape} and {outcomes.dtype} {outcomes.shape}."
        )
    rows = len(sites)
    is_cut = offsets.dtype.kind in "iu" and offsets.min() >= 0 and offsets.max() <= rows
    if not is_cut or (np.diff(offsets.astype(np.int64), axis=1) < 0).any():
        raise UserError(f"{trace.file}: the tape has {rows} rows, but tape_off points elsewhere.")
