"""The model of how cost grows: plain sums whose parts can be put in and found again."""

from dataclasses import replace

import pytest

from garrison.bench.scaling_model import (
    Forecast,
    NativeParts,
    TrainingParts,
    WorkerParts,
    forecast,
    memory_seconds,
    native_seconds,
    serial_share,
    training_seconds,
    worker_seconds,
)

US, NS = 1e-6, 1e-9
NATIVE = NativeParts(
    call=5 * US,
    near=100 * NS,
    costs={10_000: 110 * NS, 1_000_000: 200 * NS},
    wake=20 * US,
    each=10 * US,
    in_step=0.9,
    bytes_least=700.0,
    bytes_most=1400.0,
    copy_one=10e9,
    copy_pair=16e9,
)
WORKERS = WorkerParts(
    steps={"free": 0.2 * US, "50 µs": 50 * US},
    fixed=60 * US,
    second=20 * US,
    each=10 * US,
    caller=0.5 * US,
    inside=1 * US,
    together=0.8,
)


def test_one_thread_pays_for_the_call_and_for_every_environment() -> None:
    for hopeful in (False, True):
        assert native_seconds(NATIVE, 10_000, 1, hopeful) == pytest.approx(5 * US + 10_000 * 110 * NS)


def test_threads_divide_the_work_and_pay_for_the_hand_over() -> None:
    cautious = 5 * US + 20 * US + 6 * 10 * US + 10_000 * 110 * NS / (8 * 0.9)
    assert native_seconds(NATIVE, 10_000, 8, hopeful=False) == pytest.approx(cautious)
    hopeful = 5 * US + 20 * US + 10_000 * 100 * NS / 8
    assert native_seconds(NATIVE, 10_000, 8, hopeful=True) == pytest.approx(hopeful)


def test_memory_bounds_batches_that_no_cache_holds_and_no_others() -> None:
    assert memory_seconds(NATIVE, 10_000, 8, hopeful=False) == 0.0
    many = 1_000_000
    hand_over = 5 * US + 20 * US + 94 * 10 * US
    cautious = native_seconds(NATIVE, many, 96, hopeful=False)
    assert cautious == pytest.approx(hand_over + many * 1400 / 16e9), "no more bandwidth than two cores have"
    hopeful = native_seconds(NATIVE, many, 96, hopeful=True)
    assert hopeful == pytest.approx(25 * US + many * 100 * NS / 96), "each core brings its own"
    starved = replace(NATIVE, copy_one=1e9)
    assert native_seconds(starved, many, 96, hopeful=True) == pytest.approx(25 * US + many * 700 / 96e9)


def test_workers_share_the_steps_and_nobody_shares_the_caller() -> None:
    one = worker_seconds(WORKERS, 8, 1, "50 µs", hopeful=False)
    assert one == pytest.approx(60 * US + 8 * 0.5 * US + 8 * 51 * US)
    cautious = worker_seconds(WORKERS, 768, 96, "50 µs", hopeful=False)
    assert cautious == pytest.approx(60 * US + 20 * US + 94 * 10 * US + 768 * 0.5 * US + 8 * 51 * US / 0.8)
    hopeful = worker_seconds(WORKERS, 768, 96, "50 µs", hopeful=True)
    assert hopeful == pytest.approx(60 * US + 20 * US + 768 * 0.5 * US + 8 * 51 * US)


def test_a_step_waits_for_the_worker_with_the_most_environments() -> None:
    even, uneven = (worker_seconds(WORKERS, n, 4, "50 µs", hopeful=True) for n in (8, 9))
    assert uneven - even == pytest.approx(51.5 * US)


def test_training_follows_amdahl() -> None:
    parts = TrainingParts(one=1.0, two=0.6, together=1.0)
    assert serial_share(parts, hopeful=False) == pytest.approx(0.2)
    assert training_seconds(parts, 2, hopeful=False) == pytest.approx(0.6), "it gives back what it was taken from"
    assert training_seconds(parts, 96, hopeful=False) == pytest.approx(0.2 + 0.8 / 96)


def test_the_hopeful_line_does_not_take_slow_neighbours_for_serial_work() -> None:
    parts = TrainingParts(one=1.0, two=0.625, together=0.8)
    assert serial_share(parts, hopeful=True) == pytest.approx(0.0)
    assert serial_share(parts, hopeful=False) == pytest.approx(0.25)
    assert serial_share(TrainingParts(1.0, 1.3, 0.8), hopeful=False) == 1.0
    assert serial_share(TrainingParts(1.0, 0.4, 0.5), hopeful=True) == 0.0


def test_the_cautious_line_is_never_above_the_hopeful_one() -> None:
    for n in NATIVE.costs:
        for k in (2, 8, 32, 96):
            assert native_seconds(NATIVE, n, k, hopeful=False) >= native_seconds(NATIVE, n, k, hopeful=True)
    for k in (2, 8, 32, 96):
        slow, quick = (worker_seconds(WORKERS, 8 * k, k, "50 µs", hopeful) for hopeful in (False, True))
        assert slow >= quick


def test_a_forecast_reaches_over_both_lines_and_all_rounds() -> None:
    rounds = [replace(NATIVE, call=call * US) for call in (4, 5, 6)]
    found = forecast(rounds, lambda each, hopeful: 1e3 * each.call * (2 if hopeful else 1))
    assert (found.low, found.high) == pytest.approx((4e-3, 12e-3))
    assert found.middle == pytest.approx([call * 1e-3 * 2**0.5 for call in (4, 5, 6)])


@pytest.mark.parametrize(
    ("times", "verdict"),
    [(0.8, "below"), (0.99, "in the range"), (1.5, "in the range"), (2.02, "in the range"), (2.2, "above")],
)
def test_a_verdict_needs_the_whole_interval_outside(times: float, verdict: str) -> None:
    slow_minutes = (1.0, 0.5, 1.0, 2.0, 0.7, 1.0)  # of the whole round, so they say nothing about the ratio
    ahead = Forecast(tuple(10 * f for f in slow_minutes), tuple(20 * f for f in slow_minutes))
    noise = (1.0, 1.02, 0.98) * 2
    seen = ahead.compare([10 * times * f * own for f, own in zip(slow_minutes, noise, strict=True)])
    assert seen.verdict == verdict
    assert seen.times.value == pytest.approx(times / 2**0.5, rel=0.01)
