"""Wrong calls for which Gymnasium has an exception of its own: ours are both, so that either `except` finds them."""

from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, NoAsyncCallError, ResetNeeded

from garrison.errors import UserError


class Closed(UserError, ClosedEnvironmentError):
    """The environments were closed before."""


class NotReset(UserError, ResetNeeded):
    """A step came before the reset that it needs."""


class Pending(UserError, AlreadyPendingCallError):
    """Something was asked of environments that are still at work."""

    name = "step"


class NothingPending(UserError, NoAsyncCallError):
    """Something was waited for that nobody has asked for."""

    name = "step"


class WrongType(UserError, TypeError):
    """A value has the wrong type, and no number is wrong."""


class Unlike(UserError, RuntimeError):
    """The environments of one batch have different spaces."""
