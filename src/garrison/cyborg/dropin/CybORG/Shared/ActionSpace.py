"""Where the original has `ActionSpace`."""

from garrison.cyborg.action_space import MAX_ADDRESSES as MAX_ADDRESSES
from garrison.cyborg.action_space import MAX_PASSWORDS as MAX_PASSWORDS
from garrison.cyborg.action_space import MAX_PORTS as MAX_PORTS
from garrison.cyborg.action_space import MAX_PROCESSES as MAX_PROCESSES
from garrison.cyborg.action_space import MAX_SESSIONS as MAX_SESSIONS
from garrison.cyborg.action_space import MAX_SUBNETS as MAX_SUBNETS
from garrison.cyborg.action_space import MAX_USERNAMES as MAX_USERNAMES
from garrison.cyborg.action_space import ActionSpace as ActionSpace
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
