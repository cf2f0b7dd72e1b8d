"""Trained networks for programs that know nothing of Garrison: ONNX, TorchScript, NumPy; model cards; the hub.

Importing this package loads nothing; its names load on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
