"""CAGE-2 in words, for agents that read and write text: observations, actions by name, prompts, and games with a model.

Nothing here decides anything: what is told follows from the 52 bits that Blue is shown and from the actions that it
took, so an agent of words knows as much as any other entry to the challenge.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
