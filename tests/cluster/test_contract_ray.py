"""The contract of all vector backends, for `ray`: the same table of tests, with another backend in it."""

import pytest
import test_contract
from shared_table import table

pytestmark = pytest.mark.usefixtures("local_ray")

globals().update(table(test_contract))
