"""Garrison: an exact, compiled, batched CAGE Challenge 2, and what trains defenders on it.

Importing this package registers its environments with Gymnasium and does nothing else: the names below, the compiler
and torch load on first use.
"""

import lazy_loader

from garrison.registration import register
from garrison.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

register()
