"""Garrison: an exact, compiled, batched CAGE Challenge 2, and what trains defenders on it.

Importing this package registers its environments with Gymnasium and Ray as a vector backend, and does nothing else: the
names below, the compiler, torch and Ray load on first use.
"""

import lazy_loader

from garrison.registration import register
from garrison.runs.page_rhythm import register_page_writer
from garrison.vector.registry import Backend
from garrison.vector.registry import register as register_backend
from garrison.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

register()
# From here, because `runs` lies below `report` and does not know it.
register_page_writer("garrison.report.run_page:write_run_page")
# From here, because `vector` lies below `cluster` and does not know it.
register_backend(
    Backend(
        "ray",
        "garrison.cluster.backend:RayEnvs",
        untimed_hint="envs.traffic has its calls and bytes",
        has_processes=True,
        is_ready_first=True,
        rank=6,
    )
)
