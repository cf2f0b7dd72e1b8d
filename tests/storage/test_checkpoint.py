"""The checkpoint file: exact, safe to read, and recognised when damaged or foreign."""

import errno
import hashlib
import os
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from garrison.errors import UserError
from garrison.storage import checkpoint
from garrison.storage.saved_run import require_agent

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text()
    | arrays.arrays(st.sampled_from(checkpoint.DTYPES), arrays.array_shapes(min_dims=0, min_side=0))
)
KEYS = st.text().filter(lambda key: key != checkpoint.ARRAY)
TREES = st.dictionaries(KEYS, st.recursive(LEAVES, lambda x: st.lists(x) | st.dictionaries(KEYS, x), max_leaves=8))


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


@settings(max_examples=40)
@given(TREES)
def test_what_is_written_is_read_back_bit_for_bit(values: dict[str, Any]) -> None:
    assert same(checkpoint.decode(b"".join(checkpoint.encode(values)), "x"), values)


def test_tensors_come_back_as_tensors(tmp_path: Path) -> None:
    weights = torch.randn(5, 3)
    checkpoint.save(tmp_path / "c", {"weights": weights, "list": [torch.arange(3)]})
    values = checkpoint.tensors(checkpoint.load(tmp_path / "c"))
    assert torch.equal(values["weights"], weights)
    assert torch.equal(values["list"][0], torch.arange(3))


def test_every_cut_and_every_changed_byte_is_noticed() -> None:
    content = b"".join(checkpoint.encode({"weights": np.arange(20.0), "steps": 7}))
    for end in range(len(content)):
        with pytest.raises(UserError, match=r"x is (damaged|not a Garrison checkpoint)"):
            checkpoint.decode(content[:end], "x")
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << random.Random(place).randrange(8)
        with pytest.raises(UserError, match=r"x is (damaged|not a Garrison checkpoint)"):
            checkpoint.decode(bytes(changed), "x")


class Trap:
    def __reduce__(self) -> Any:
        return os.mkdir, (str(Trap.target),)

    target = Path()


@pytest.mark.parametrize(
    "write", [lambda path: torch.save(Trap(), path), lambda path: path.write_bytes(pickle.dumps(Trap()))]
)
def test_a_foreign_file_is_refused_and_none_of_its_code_runs(tmp_path: Path, write: Any) -> None:
    Trap.target = tmp_path / "executed"
    write(tmp_path / "model.pt")
    with pytest.raises(UserError, match="not a Garrison checkpoint"):
        checkpoint.load(tmp_path / "model.pt")
    assert not Trap.target.exists()


def test_object_arrays_cannot_be_written_and_a_header_that_claims_one_is_refused() -> None:
    with pytest.raises(TypeError, match=r"cannot hold \.a"):
        checkpoint.encode({"a": np.array([object()])})
    pieces = checkpoint.encode({"a": np.zeros(2)})
    pieces[2] = pieces[2].replace(b'"float64"', b'"object"')
    pieces[1] = len(pieces[2]).to_bytes(8, "little")
    with pytest.raises(UserError, match="type 'object'"):
        checkpoint.decode(sign(pieces), "x")


@pytest.mark.parametrize(
    "header",
    [
        b"[]",
        b"{}",
        b"not JSON",
        b'{"format": 1, "producer": "x", "arrays": [], "tree": {"a": {"$array": 5}}}',
        b'{"format": 1, "producer": "x", "arrays": [{"dtype": "float64", "shape": [99]}], "tree": {}}',
        b'{"format": 1, "producer": "x", "arrays": [{"dtype": "float64", "shape": [-1]}], "tree": {}}',
        b"[" * 100_000,
    ],
)
def test_a_forged_header_is_refused(header: bytes) -> None:
    pieces = [checkpoint.MAGIC, len(header).to_bytes(8, "little"), header, b"\0" * 16, b""]
    with pytest.raises(UserError, match="x is not a valid checkpoint"):
        checkpoint.decode(sign(pieces), "x")


def test_a_newer_format_says_who_wrote_it() -> None:
    pieces = checkpoint.encode({})
    pieces[2] = pieces[2].replace(b'"format": 1', b'"format": 9').replace(b"garrison 0", b"garrison 7")
    with pytest.raises(UserError, match=r"x has checkpoint format 9 \(written by garrison 7"):
        checkpoint.decode(sign(pieces), "x")


def test_other_values_are_not_taken_for_an_agent(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "c", {"experiment": {"env": {"env": "x"}}, "state": 3})
    with pytest.raises(UserError, match="without 'policy'"):
        require_agent(checkpoint.load(tmp_path / "c"), "c")


def sign(pieces: list[bytes]) -> bytes:
    content = b"".join(pieces[:-1])
    return content + hashlib.sha256(content).digest()


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint.save(tmp_path / "c", {"steps": 1})

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            checkpoint.save(tmp_path / "c", {"steps": 2})
    assert checkpoint.load(tmp_path / "c") == {"steps": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


@pytest.mark.parametrize(
    ("make", "message"), [(Path.mkdir, "there is no checkpoint in"), (lambda path: None, "cannot read")]
)
def test_missing_files_are_named(tmp_path: Path, make: Any, message: str) -> None:
    make(tmp_path / "run")
    with pytest.raises(UserError, match=message):
        checkpoint.load(tmp_path / "run")
