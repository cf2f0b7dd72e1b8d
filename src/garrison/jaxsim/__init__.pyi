# The public names, listed once: `__init__.py` loads them from here on first use.
from .cage2_env import Cage2 as Cage2
from .gymnax_wrappers import SixValues as SixValues
from .gymnax_wrappers import TimeLeft as TimeLeft
from .jax_vector_env import JaxVectorEnv as JaxVectorEnv
from .params import Params as Params
from .params import params_of as params_of
from .price import thousandths as thousandths
from .state import State as State
from .stream import Odds as Odds
from .stream import odds as odds
from .true_state import TrueState as TrueState
from .true_state import true_state as true_state
