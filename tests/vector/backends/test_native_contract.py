"""The compiled batch keeps what every batch of CAGE-2 promises."""

import pytest

from tests.helpers.cage2_contract import *  # noqa: F403 - its tests become tests of this file


@pytest.fixture
def backend() -> str:
    return "native"
