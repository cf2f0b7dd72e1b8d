"""Things that choose Blue's actions for many environments at once.

An agent sees what an entry to the challenge may see: the 52 observations, its own actions and its memory.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
