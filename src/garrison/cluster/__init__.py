"""When one machine is not enough: Garrison on Ray.

`connect()` reaches a cluster, or starts a Ray of our own that only this machine can reach. Then
`garrison.vector.make(..., backend="ray")` steps environments in Ray actors, `garrison.learn.impala.train(...,
connect=Remote)` trains with actors all over the cluster, and `register()` gives RLlib the compiled batch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
