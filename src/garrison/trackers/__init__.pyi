# The public names, listed once: `__init__.py` loads them from here on first use.
from .tracker import TrackedRun as TrackedRun
from .tracker import Tracker as Tracker
