"""Many environments behind one interface, each backend a `gymnasium.vector.VectorEnv`.

    envs = garrison.vector.make("CartPole-v1", num_envs=64)

The docstring of `make` lists the backends and what they promise.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
