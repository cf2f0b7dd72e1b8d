"""Tests of games that need not be installed."""

from importlib.util import find_spec

import pytest

needs_procgen = pytest.mark.skipif(find_spec("procgen") is None, reason="Procgen is not installed")
needs_atari = pytest.mark.skipif(find_spec("ale_py") is None, reason="ale-py is not installed")
needs_mujoco = pytest.mark.skipif(find_spec("mujoco") is None, reason="MuJoCo is not installed")
