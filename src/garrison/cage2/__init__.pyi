# The public names, listed once: `__init__.py` loads them from here on first use.
from .env import Env as Env
from .names import ACTIONS as ACTIONS
from .names import HOSTS as HOSTS
from .pettingzoo_adapter import parallel_env as parallel_env
from .policies import Cycle as Cycle
from .policies import Reactions as Reactions
from .red_agent import RedAgent as RedAgent
from .red_agent import RedView as RedView
from .rolled_out import RolloutResult as RolloutResult
from .scenario import load_scenario as load_scenario
from .step import warm_up as warm_up
from .truth import Truth as Truth
from .vector_env import VectorEnv as VectorEnv
