"""A run is a folder: its settings, metrics, checkpoints and summary. Writing, reading and checking it.

Importing this package loads nothing; its names load on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
