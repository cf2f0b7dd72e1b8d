"""One table over all backends of this machine: what every one promises, and what only some can."""

import pickle
from functools import partial
from typing import Any

import pytest

import garrison.vector
from garrison.errors import UserError
from garrison.vector import EnvFailed
from tests.helpers.backend_contract import *  # noqa: F403 - its tests become tests of this file
from tests.helpers.backend_contract import make, play
from tests.helpers.vector_samples import Sampler, assert_same

BACKENDS = ["serial", "threads", "pipes", "shared", "joint", "async"]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# One number of workers is enough for the slow start methods.
@pytest.mark.parametrize(
    ("method", "workers"), [("fork", 1), ("fork", 3), ("fork", 5), ("forkserver", 3), ("spawn", 3)]
)
@pytest.mark.parametrize("backend", ["pipes", "shared", "joint", "async"])
def test_trajectories_do_not_depend_on_workers_or_start_method(backend: str, workers: int, method: str) -> None:
    expected = play(make("serial"))
    envs = make(backend, workers=workers, start_method=method)
    assert envs.workers == workers
    assert_same(expected, play(envs))
    envs.close()


def test_environments_must_be_alike() -> None:
    for backend in BACKENDS:
        different = [partial(Sampler, 3), partial(Sampler, 3), partial(Sampler, 3, "image")]
        with pytest.raises(UserError, match="environment 2 has the observation space"):
            garrison.vector.make(different, backend=backend, workers=2)


def test_what_cannot_be_pickled_is_named() -> None:
    lock = __import__("threading").Lock()

    def broken() -> Sampler:
        with lock:
            return Sampler()

    with pytest.raises(UserError, match=r"environment 1, .*broken.* cannot be sent"):
        garrison.vector.make([Sampler, broken], backend="shared", start_method="spawn")
    envs = garrison.vector.make([Sampler, broken], backend="shared", start_method="fork")  # needs no pickling
    envs.close()
    envs = garrison.vector.make([lambda: Sampler(2)] * 2, backend="shared", start_method="spawn")  # lambdas are fine
    assert envs.get_attr("length") == (2, 2)
    envs.close()


def test_results_that_cannot_be_pickled_are_told() -> None:
    envs = make("shared")
    with pytest.raises(EnvFailed, match="cannot be sent from a worker"):
        envs.call("lock")
    envs.close()


def test_options_are_checked_once_with_a_hint() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"backend": "share"}, "did you mean 'shared'"),
        ({"num_envs": 0}, "at least 1"),
        ({"workers": 0, "backend": "shared"}, "workers must be at least 1"),
        ({"batch_size": 3, "backend": "shared"}, "is for backend='async'"),
        ({"batch_size": 9, "backend": "async"}, "between 1 and num_envs=2"),
        ({"autoreset_mode": "nextstep"}, "unknown autoreset_mode"),
        ({"start_method": "clone", "backend": "shared"}, "unknown start_method"),
        ({"timeout": -1.0}, "positive number of seconds"),
        ({"on_worker_death": "ignore"}, "'raise' or 'restart'"),
        ({"extras": "hidden"}, r"Use \['hidden'\]"),
        ({"extras": {"hidden": 0}}, "'step', a number of steps or 'episode'"),
        ({"backend": "native"}, "compiled batch"),
    ]
    for options, message in cases:
        with pytest.raises(UserError, match=message):
            garrison.vector.make(Sampler, **{"num_envs": 2, **options})
    with pytest.raises(UserError, match="3 callables"):
        garrison.vector.make([Sampler] * 3, num_envs=2)
    with pytest.raises(UserError, match="Gymnasium id, a callable"):
        garrison.vector.make(42, num_envs=2)  # type: ignore[arg-type]


def test_env_kwargs_reach_the_environment() -> None:
    envs = garrison.vector.make(Sampler, 2, "shared", length=9, talkative=False)
    assert envs.get_attr("length") == (9, 9)
    envs.close()


def test_public_names() -> None:
    assert set(garrison.vector.__all__) == {"AutoresetMode", "EnvFailed", "EnvTimeout", "WorkerDied", "make", "sb3"}
    for name in garrison.vector.__all__:
        assert getattr(garrison.vector, name) is not None


def test_a_fault_can_itself_be_pickled() -> None:
    from garrison.workers.faults import Failure

    failure = Failure.of(EnvFailed("environment 3 raised", index=3))
    with pytest.raises(EnvFailed, match="environment 3"):
        pickle.loads(pickle.dumps(failure)).raise_()
