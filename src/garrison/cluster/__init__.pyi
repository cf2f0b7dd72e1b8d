# The public names, listed once: `__init__.py` loads them from here on first use.
from .connection import Session as Session
from .connection import connect as connect
from .connection import disconnect as disconnect
from .ray_transport import Remote as Remote
from .rllib import register as register
