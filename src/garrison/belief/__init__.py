"""What Blue can conclude from what it was shown: every possible true state of an episode, with its probability."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
