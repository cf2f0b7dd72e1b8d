# The public names, listed once: `__init__.py` loads them from here on first use.
from .ray_transport import Remote as Remote
from .rllib import register as register
from .session import Session as Session
from .session import connect as connect
from .session import disconnect as disconnect
