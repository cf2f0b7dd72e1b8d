"""Trackers: where a run is told to besides its folder. TensorBoard, Weights & Biases, MLflow, or a class of one's own.

Importing this package loads nothing; its names load on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
