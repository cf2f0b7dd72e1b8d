"""Learning: PPO, IMPALA, A3C, their pure parts, and policies as torch modules.

Importing this package loads nothing; its names load on first use.
"""

import lazy_loader

from garrison.system import let_idle_threads_sleep

let_idle_threads_sleep()
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
