"""What Blue can conclude from what it was shown: a particle filter over the true states of an episode."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
