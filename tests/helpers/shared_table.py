"""Turns the tests that other backends share into tests of `ray`."""

import inspect
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

Test = Callable[..., None]


def with_ray(test: Test) -> Test:
    """Return a test with all its marks but the backends', which are replaced by ray."""
    signature = inspect.signature(test)
    if "backend" not in signature.parameters:
        return test

    @wraps(test)
    def wrapped(**arguments: Any) -> None:
        test(**arguments, backend="ray")

    others = [p for name, p in signature.parameters.items() if name != "backend"]
    wrapped.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
    marks = [m for m in test.pytestmark if m.args[0] != "backend"]  # type: ignore[attr-defined]
    wrapped.pytestmark = marks  # type: ignore[attr-defined]
    return wrapped


def table(module: ModuleType) -> dict[str, Test]:
    """Return a module's tests that are made for every backend; start methods mean nothing to Ray."""
    tests = {name: test for name, test in vars(module).items() if name.startswith("test_")}
    asks = {name: inspect.signature(test).parameters for name, test in tests.items()}
    return {name: with_ray(tests[name]) for name in tests if "backend" in asks[name] and "method" not in asks[name]}
