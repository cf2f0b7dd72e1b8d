# The public names, listed once: `__init__.py` loads them from here on first use.
from .sweep_plan import SweepConfig as SweepConfig
from .sweep_plan import SweepPlan as SweepPlan
from .sweeping import Swept as Swept
from .sweeping import sweep as sweep
