"""CAGE Challenge 2 (CybORG, Scenario2), re-created step for step, compiled and batched.

`VectorEnv` is the batch and `Env` one environment; `garrison.cage2.names` has the action table and every code. The code
follows docs/rules.md and cites its paragraphs, draws and quirks (quirks.md lists those).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
