# The public names, listed once: `__init__.py` loads them from here on first use.
from .exporting import Exported as Exported
from .exporting import export_agent as export_agent
