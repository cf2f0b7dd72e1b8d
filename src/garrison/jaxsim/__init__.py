"""CAGE-2 in JAX: the same game, bit for bit, as pure functions for `jit`, `vmap` and accelerators.

`Cage2` is the environment, with Gymnax's methods. The rules are those of `garrison.cage2`, whose names, tables and
scenario this package reads; nothing else in Garrison imports it.
"""

import lazy_loader

from garrison.system import require

require("jax")
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
