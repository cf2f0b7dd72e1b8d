"""Episodes of CAGE-2 that people can look at: played, recorded, questioned, stored and shown.

An episode depends on its seed and Blue's actions only. So whatever is shown is played first, and then played again with
the same seed and actions while everything is written down.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
