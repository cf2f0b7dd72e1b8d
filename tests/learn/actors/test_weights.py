"""Weights in shared memory: never torn, whatever the writer does while a reader copies."""

import threading

import numpy as np
import pytest

from garrison.learn.actors.weights import NOTHING, SharedWeights


def make(size: int) -> SharedWeights:
    weights = SharedWeights(np.zeros, size)
    weights.clear()
    return weights


def test_the_newest_version_is_read_once() -> None:
    weights = make(3)
    out = np.zeros(3, np.float32)
    assert weights.read(out, NOTHING) == NOTHING
    for version in (5, 6, 7):
        weights.write(np.full(3, version, np.float32), version)
        assert weights.read(out, version - 1) == version
        assert out.tolist() == [version] * 3
        out[:] = 0
        assert weights.read(out, version) == version
        assert out.tolist() == [0, 0, 0]  # known: not copied again


def test_a_reader_that_was_overtaken_reads_again(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = make(4)
    weights.write(np.full(4, 1, np.float32), 1)
    copies: list[float] = []

    real = np.copyto

    def copyto(out: np.ndarray, source: np.ndarray) -> None:
        real(out, source)
        copies.append(float(source[0]))
        if len(copies) == 1:
            weights.write(np.full(4, 2, np.float32), 2)
            weights.write(np.full(4, 3, np.float32), 3)

    monkeypatch.setattr(np, "copyto", copyto)
    out = np.zeros(4, np.float32)
    assert weights.read(out, NOTHING) == 3
    assert copies == [1, 3]
    assert out.tolist() == [3, 3, 3, 3]


def test_readers_beside_a_busy_writer_see_whole_versions_only() -> None:
    weights = make(20_000)
    weights.write(np.zeros(20_000, np.float32), 0)
    done = threading.Event()

    def write() -> None:
        version = 0
        while not done.is_set():
            version += 1
            weights.write(np.full(20_000, version, np.float32), version)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        out, known = np.zeros(20_000, np.float32), 0
        for _ in range(300):
            version = weights.read(out, known)
            assert version >= known
            assert np.all(out == version)
            known = version
    finally:
        done.set()
        writer.join()
