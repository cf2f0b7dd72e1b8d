"""The contract of all vector backends, for `ray`."""

import pytest

from tests.helpers.backend_contract import *  # noqa: F403 - its tests become tests of this file

pytestmark = pytest.mark.usefixtures("local_ray")


@pytest.fixture
def backend() -> str:
    return "ray"
