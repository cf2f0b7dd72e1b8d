"""Many runs of one experiment: seeds, grids of settings, and searches by Optuna.

A sweep is a folder with a plan and ordinary runs; how far it is follows from these, so it can be killed at any moment.
Importing this package loads nothing; its names load on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
