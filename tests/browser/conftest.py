"""One browser for all tests; every test's pages must stay without an error and ask for nothing but themselves."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.browser import NO_CHROMIUM, Pages, chromium, find_chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    if find_chromium() is None:
        pytest.skip(NO_CHROMIUM)
    with chromium() as running:
        yield running


@pytest.fixture
def pages(browser: Any) -> Iterator[Pages]:
    """Opens files; afterwards none of them may have had a problem."""
    opened = Pages(browser)
    yield opened
    opened.close()
    assert opened.problems == []
