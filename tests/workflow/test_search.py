import json
import sys

import numpy as np
import pytest

from garrison.errors import UserError
from garrison.workflow import surrogate
from garrison.workflow.decisions import Decision, Trial, best_of, decide, nearest_of
from garrison.workflow.orders import ORDERS, kendall_matrix, one_hot
from garrison.workflow.scores import Score

WEIGHTS = np.random.default_rng(7).normal(size=25)
REWARDS = np.array([one_hot(order) @ WEIGHTS for order in ORDERS])


def trial(decision: Decision, reward: float, observed: bool = True) -> Trial:
    score = Score(decision.order, reward, 0.1, 0.97, 0.01, 29.1, 5.0, 1.0, reward - 9, reward + 9, 100)
    return Trial(decision, score, "fresh weights", 1000, 1, "compliant", observed, 1.0)


def play(method: str, seed: int, count: int, trials: list[Trial] | None = None, **settings: float) -> list[Trial]:
    """Try orders whose rewards are a sum over their places, a little noisy."""
    trials = list(trials or [])
    while len(trials) < count:
        decision = decide(method, trials, seed, **settings)  # type: ignore[arg-type]
        assert decision is not None
        noise = np.random.default_rng((seed, decision.order)).normal(scale=0.05)
        trials.append(trial(decision, float(REWARDS[decision.order] + noise)))
    return trials


@pytest.mark.parametrize("length", [0.1, 0.5, 3.0])
def test_the_kernel_is_positive_definite_over_all_orders(length: float) -> None:
    matrix = surrogate.mallows(kendall_matrix(), length)
    assert np.allclose(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > 0
    # The same numbers reach scikit-learn, and the gradient is that of the logarithm of the length.
    column = np.arange(120.0).reshape(-1, 1)
    values, gradient = surrogate.mallows_kernel(length)(column, eval_gradient=True)
    assert np.array_equal(values, matrix)
    step = 1e-6
    up, down = (surrogate.mallows(kendall_matrix(), length * np.exp(s)) for s in (step, -step))
    assert np.allclose(gradient[:, :, 0], (up - down) / (2 * step), atol=1e-7)


def test_the_posterior_is_that_of_the_textbook() -> None:
    known = np.array([3, 40, 41, 77, 100, 3])
    rewards = np.array([-30.0, -12.0, -15.0, -20.0, -41.0, -28.0])
    found = surrogate.fit(known.tolist(), rewards.tolist())
    # Rasmussen and Williams, equations 2.25 and 2.26, around the observations' mean.
    covariance = found.signal * surrogate.mallows(kendall_matrix(), found.length)
    inverse = np.linalg.inv(covariance[np.ix_(known, known)] + found.noise * np.eye(len(known)))
    cross = covariance[:, known]
    mean = rewards.mean() + cross @ inverse @ (rewards - rewards.mean())
    variance = found.signal - np.einsum("ij,jk,ik->i", cross, inverse, cross)
    assert np.allclose(found.mean, mean, rtol=1e-6)
    assert np.allclose(found.deviation, np.sqrt(variance), rtol=1e-4, atol=1e-4)


def test_fitting_finds_more_likely_parameters_than_the_start() -> None:
    trials = play("random", 0, 30)
    known, rewards = [t.order for t in trials], np.array([t.reward for t in trials])
    found = surrogate.fit(known, rewards.tolist())

    def log_likelihood(signal: float, length: float, noise: float) -> float:
        distances = kendall_matrix()[np.ix_(known, known)]
        covariance = signal * surrogate.mallows(distances, length) + noise * np.eye(len(known))
        centred = rewards - rewards.mean()
        return float(-0.5 * centred @ np.linalg.solve(covariance, centred) - 0.5 * np.linalg.slogdet(covariance)[1])

    fitted = log_likelihood(found.signal, found.length, found.noise)
    variance = rewards.var()
    assert fitted > log_likelihood(variance, 0.5, 0.1 * variance)
    for factor in (0.7, 1.4):
        assert fitted >= log_likelihood(found.signal, found.length * factor, found.noise) - 1e-6


def test_equal_rewards_do_not_divide_by_zero() -> None:
    found = surrogate.fit([1, 2, 3], [-5.0, -5.0, -5.0])
    assert np.isfinite(found.mean).all()
    assert np.allclose(found.mean, -5.0)


def test_the_process_finds_good_orders_sooner_than_chance() -> None:
    best = np.sort(REWARDS)[::-1]
    regret = {
        method: np.mean([best[0] - max(REWARDS[t.order] for t in play(method, seed, 20)) for seed in range(4)])
        for method in ("gp", "random")
    }
    assert regret["gp"] < 0.5 * regret["random"]


def test_decisions_are_those_of_the_whole_search_after_any_interruption() -> None:
    whole = play("gp", 5, 10)
    for cut in (1, 4, 8):
        saved = json.loads(json.dumps([t.to_dict() for t in whole[:cut]]))
        assert play("gp", 5, 10, [Trial.from_dict(values) for values in saved]) == whole


def test_every_decision_tells_what_it_was_made_of() -> None:
    trials = play("gp", 1, 8, beta=1.5, initial=4)
    assert [t.decision.how for t in trials] == ["random"] * 4 + ["gp"] * 4
    for t in trials[4:]:
        chosen = t.decision.chosen
        assert chosen is not None
        assert chosen.ucb == pytest.approx(chosen.mean + 1.5 * chosen.deviation)
        assert [c.ucb for c in t.decision.top] == sorted((c.ucb for c in t.decision.top), reverse=True)
        assert len(t.decision.top) == 3
        assert t.decision.top[0] == chosen
        before = [other.order for other in trials[: t.decision.iteration]]
        assert t.decision.nearest in before
        assert t.decision.distance == kendall_matrix()[t.order, before].min()
    assert trials[0].decision.nearest is None


def test_no_order_is_tried_twice_unless_wanted() -> None:
    assert len({t.order for t in play("random", 3, 120)}) == 120
    assert [t.order for t in play("exhaustive", 3, 120)] == list(range(120))
    assert decide("exhaustive", play("exhaustive", 3, 120)) is None
    repeated = play("random", 3, 120, revisit=True)
    assert len({t.order for t in repeated}) < 120


def test_an_order_that_fails_gives_the_process_nothing_and_is_not_the_best() -> None:
    failed = [
        trial(Decision(k, k, "random", None, (), None, None, None, None), 100.0, observed=False) for k in range(5)
    ]
    decision = decide("gp", failed, seed=0)
    assert decision is not None
    assert decision.how == "random"
    assert decision.order >= 5
    assert best_of(failed) is None
    good = play("gp", 0, 4, failed[:1])
    assert best_of(good) == max(good[1:], key=lambda t: t.reward)


def test_nearest_prefers_the_latest_of_equals() -> None:
    neighbours = np.flatnonzero(np.isclose(kendall_matrix()[0], 0.1)).tolist()
    assert nearest_of(0, [119, *neighbours]) == (neighbours[-1], pytest.approx(0.1))
    assert nearest_of(0, [119, 0, *neighbours]) == (0, 0.0)
    assert nearest_of(0, []) == (None, None)


def test_missing_sklearn_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setattr(surrogate, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"scikit-learn is not installed: pip install .*\[workflow\]"):
        surrogate.fit([0, 1], [1.0, 2.0])
