"""The contract of all vector backends, for `ray`: the same table of tests, with another backend in it."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
import test_async
import test_contract

import garrison.vector

pytestmark = pytest.mark.usefixtures("local_ray")


def with_ray(test: Callable[..., None]) -> Callable[..., None]:
    """Return a test of the table with all its marks but the backends', which are replaced by ray."""
    signature = inspect.signature(test)

    @wraps(test)
    def wrapped(**arguments: Any) -> None:
        test(**arguments, backend="ray")

    others = [p for name, p in signature.parameters.items() if name != "backend"]
    wrapped.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
    marks = [m for m in test.pytestmark if m.args[0] != "backend"]  # type: ignore[attr-defined]
    wrapped.pytestmark = marks  # type: ignore[attr-defined]
    return wrapped


def table() -> dict[str, Callable[..., None]]:
    """Return the tests that are made for every backend; start methods mean nothing to Ray."""
    tests = {name: test for name, test in vars(test_contract).items() if name.startswith("test_")}
    asks = {name: inspect.signature(test).parameters for name, test in tests.items()}
    return {name: with_ray(tests[name]) for name in tests if "backend" in asks[name] and "method" not in asks[name]}


globals().update(table())
