"""The contract of all vector backends, for `ray`: the same table of tests, with another backend in it."""

import pytest

from tests.helpers.shared_table import table
from tests.vector import test_contract

pytestmark = pytest.mark.usefixtures("local_ray")

globals().update(table(test_contract))
