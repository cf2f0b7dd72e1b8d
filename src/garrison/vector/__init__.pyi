# The public names, listed once: `__init__.py` loads them from here on first use.
from .api import AutoresetMode as AutoresetMode
from .api import EnvFailed as EnvFailed
from .api import EnvTimeout as EnvTimeout
from .api import WorkerDied as WorkerDied
from .api import make as make
from .sb3_adapter import sb3 as sb3
