"""Plays a network that `garrison export` has written, without Garrison: this file needs NumPy, and for .onnx files
onnxruntime, for .pt files torch.

    from record_player import Player

    player = Player("record.onnx")
    player.begin(1)                                  # episodes begin, in one environment
    actions = player.act(observations)               # (1, 52) bits of CAGE-2, or what the environment shows
    player.reset([True])                             # a new episode begins
"""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np


class Player:
    """A network from a file, and what it has to remember of the episodes that it plays.

    Args:
        path: an .onnx, .pt or .npz file that `garrison export` has written.
    """

    def __init__(self, path: str | Path) -> None:
        load = {".onnx": _load_onnx, ".pt": _load_torch, ".npz": _load_numpy}[Path(path).suffix]
        self.about, self._compute = load(path)
        cage2 = self.about["cage2"]
        self.name, self.rules = self.about["name"], cage2 and cage2["rules"]
        self.encoder = cage2 and cage2["encoder"]

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Start new episodes in this many environments."""
        self._starts = np.ones(num_envs, bool)
        self._state = np.zeros((num_envs, self.about["recurrent_size"]), np.float32)
        self._memories = [CageMemory(self.about["cage2"]) for _ in range(num_envs) if self.about["cage2"]]

    def reset(self, mask: Any) -> None:
        """Forget the environments where new episodes begin."""
        self._starts |= np.asarray(mask, bool)

    def act(self, observations: Any, masks: Any = None) -> Any:
        """Return the likeliest action of each row; `masks`, (n, actions), are False where an action is forbidden.

        In CAGE-2, observations are (n, 52) and actions numbers from 0 to 144; memory and masks are made here.
        """
        self._state[self._starts] = 0
        if self._memories:
            shown = zip(self._memories, observations, self._starts, strict=True)
            observations = np.array([memory.see(bits, starts) for memory, bits, starts in shown])
            masks = np.array([memory.allowed() for memory in self._memories])
        given = {}
        for port in self.about["inputs"]:
            value = {"state": self._state, "mask": masks}.get(port["name"], observations)
            for key in port["path"]:
                value = value[key]
            given[port["name"]] = np.asarray(value, port["dtype"]).reshape(len(self._starts), *port["shape"])
        found = self._compute(given)
        self._state = found.get("next_state", self._state)
        self._starts[:] = False
        parts = {tuple(port["path"]): found[port["name"]] for port in self.about["outputs"] if port["is_action"]}
        for memory, action in zip(self._memories, parts.get((), ()), strict=False):
            memory.last = int(action)
        return _nested(parts)


class CageMemory:
    """What a defender of CAGE-2 can remember of one episode: made of the 52 bits and of its own actions."""

    def __init__(self, tables):
        self.tables, self.hosts, self.last = tables, range(len(tables["image_ports"])), 0

    def see(self, bits, starts):
        """Take the bits that are shown after the last action; return the network's inputs."""
        if starts:
            self.clock = self.since_event = self.last_was_exploit = 0
            self.scanned, self.exploited, self.restored, self.decoys = set(), set(), set(), set()
            self.first_scan = self.last_event = -1
            self.suspect = "nobody"
            self.ports = list(self.tables["image_ports"])
            self.events, self.actions = [], []  # the latest first
        else:
            self.clock, self.since_event = self.clock + 1, self.since_event + 1
            self.actions.insert(0, divmod(self.last - self.tables["first_block"], len(self.hosts)))
            self._remember_action()
            self._remember_event(bits)
        memory = [] if self.tables["observation"] == "bits" else self._remembered()
        history = self._history() if self.tables["observation"] == "history" else []
        return [*bits, *memory, *history]

    def allowed(self):
        """Return which of the network's choices are not known to be refused."""
        tables = self.tables
        allowed = np.ones(tables["num_actions"], bool)
        allowed[1] = False
        for host in self.hosts:
            for decoy in range(len(tables["opens"])):
                action = tables["first_block"] + (tables["decoy_block"] + decoy) * len(self.hosts) + host
                allowed[action] = self._fits(host, decoy)
        return allowed[tables["action_ids"]]

    def _fits(self, host, decoy):
        only_on = self.tables["only_on"][decoy]
        runs_here = only_on < 0 or only_on == self.tables["windows"][host]
        return runs_here and not self.ports[host] & self.tables["checks"][decoy]

    def _remember_action(self):
        block, host = divmod(self.last - self.tables["first_block"], len(self.hosts))
        if self.last < self.tables["first_block"]:
            return
        if block == self.tables["restore_block"]:
            self.restored.add(host)
            self.exploited.discard(host)
            self.ports[host] = self.tables["image_ports"][host]
            self.decoys = {slot for slot in self.decoys if slot[0] != host}
        elif block >= self.tables["decoy_block"] and self._fits(host, block - self.tables["decoy_block"]):
            self.ports[host] |= self.tables["opens"][block - self.tables["decoy_block"]]
            self.decoys.add((host, block - self.tables["decoy_block"]))

    def _remember_event(self, bits):
        host = max((h for h in self.hosts if bits[4 * h]), default=-1)
        is_exploit = host >= 0 and bool(bits[4 * host + 1])
        self.events.insert(0, (host, is_exploit))
        if self.suspect == "somebody":
            self.suspect = "meander" if host >= 0 and not is_exploit and host != self.first_scan else "bline"
        if host < 0:
            return
        (self.exploited if is_exploit else self.scanned).add(host)
        if not is_exploit and self.first_scan < 0:
            self.first_scan = host
            self.suspect = "meander" if host == self.tables["user0"] else "somebody"
        self.last_event, self.last_was_exploit, self.since_event = host, int(is_exploit), 0

    def _remembered(self):
        hosts, is_since = self.hosts, self.last_event >= 0
        yield from (host in self.scanned for host in hosts)
        yield from (host in self.exploited for host in hosts)
        yield from (host == self.first_scan for host in hosts)
        yield from (host == self.last_event for host in hosts)
        yield self.last_was_exploit
        yield from (is_since and self.since_event >= steps for steps in self.tables["since"])
        yield from (host in self.restored for host in hosts)
        yield from ((host, decoy) in self.decoys for host, decoy in self.tables["decoy_slots"])
        yield from (self.suspect == who for who in ("bline", "meander"))
        yield from (self.clock >= steps for steps in self.tables["clock"])

    def _history(self):
        tables = self.tables
        analyse, remove, restore = 0, tables["remove_block"], tables["restore_block"]
        for host in tables["watched"]:
            seen = [h == host for h, _ in self.events]
            yield from (any(seen[:age]) for age in tables["event_ages"])
            yield from ((restore, host) in self.actions[:age] for age in tables["restore_ages"])
            yield from ((remove, host) in self.actions[:age] for age in tables["remove_ages"])
            yield from (self.events.count((host, True)) >= count for count in tables["exploit_counts"])
        block, host = self.actions[0] if self.actions else (-1, -1)  # Sleep and Monitor come before the first block
        yield from (block >= 0 and host == watched for watched in tables["watched"])
        is_decoy = block >= tables["decoy_block"] and block != restore
        yield from (block < 0, block == analyse, block == remove, is_decoy, block == restore)
        for past in range(1, tables["past_events"]):
            host, is_exploit = self.events[past] if past < len(self.events) else (-1, False)
            yield from (host == watched for watched in tables["watched"])
            yield from (host >= 0 and not is_exploit, host >= 0 and is_exploit)


def _nested(parts):
    """Return an action as its space has it: an array, a dict or a tuple."""
    if () in parts:
        return parts[()]
    keys = dict.fromkeys(path[0] for path in parts)
    inner = {key: _nested({path[1:]: part for path, part in parts.items() if path[0] == key}) for key in keys}
    return tuple(inner.values()) if all(isinstance(key, int) for key in keys) else inner


def _load_onnx(path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    about = json.loads(session.get_modelmeta().custom_metadata_map["about"])
    return about, lambda given: dict(zip(names, session.run(names, given), strict=True))


def _load_torch(path):
    import torch

    files = {"about.json": ""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch says so of the whole format
        module = torch.jit.load(str(path), map_location="cpu", _extra_files=files)
    about = json.loads(files["about.json"])
    names = [port["name"] for port in about["outputs"]]

    def compute(given):
        with torch.inference_mode():
            found = module(*(torch.from_numpy(given[port["name"]]) for port in about["inputs"]))
        return {name: value.numpy() for name, value in zip(names, found, strict=True)}

    return about, compute


def _load_numpy(path):
    with np.load(path) as file:
        values = dict(file)
    about, operations = (json.loads(str(values.pop(name))) for name in ("about", "operations"))

    def compute(given):
        found = {**values, **given}
        for op, inputs, output, attributes in operations["nodes"]:
            found[output] = OPERATIONS[op](*(found[name] for name in inputs), **attributes)
        return {name: found[name] for name in operations["outputs"]}

    return about, compute


def _windows(x, size, strides):
    """Return a view (batch, channels, rows, columns, height, width) of what a kernel of this size sees."""
    return np.lib.stride_tricks.sliding_window_view(x, size, axis=(2, 3))[:, :, :: strides[0], :: strides[1]]


def _conv(x, weight, bias, strides, pads):
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    seen = _windows(x, weight.shape[2:], strides).transpose(0, 2, 3, 1, 4, 5)
    flat = seen.reshape(*seen.shape[:3], -1) @ weight.reshape(len(weight), -1).T + bias
    return np.ascontiguousarray(flat.transpose(0, 3, 1, 2))


def _max_pool(x, kernel_shape, strides, pads):
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=-np.inf)
    return _windows(x, tuple(kernel_shape), strides).max(axis=(4, 5))


def _sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


OPERATIONS = {
    "Identity": lambda x: x,
    "Reshape": lambda x, shape: x.reshape(shape),
    "Flatten": lambda x, axis: x.reshape(*x.shape[:axis], -1),
    "Transpose": lambda x, perm: x.transpose(perm),
    "Cast": lambda x, to: x.astype(to),
    "Slice": lambda x, begin, end, axis: x[:, begin[0] : end[0]],
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Gather": lambda table, rows: table[rows],
    "ReduceSum": lambda x, axes, keepdims: x.sum(axis=tuple(axes), keepdims=bool(keepdims)),
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Max": np.maximum,
    "Min": np.minimum,
    "Clip": np.clip,
    "Gemm": lambda x, weight, bias, transB: x @ weight.T + bias,
    "Tanh": np.tanh,
    "Relu": lambda x: np.maximum(x, 0),
    "Sigmoid": _sigmoid,
    "Conv": _conv,
    "MaxPool": _max_pool,
    "Where": np.where,
    "ArgMax": lambda x, axis, keepdims: x.argmax(axis=axis, keepdims=bool(keepdims)),
}
