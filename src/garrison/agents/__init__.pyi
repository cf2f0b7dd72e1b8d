# The public names, listed once: `__init__.py` loads them from here on first use.
from .guarded_agent import GuardedAgent as GuardedAgent
from .learned_red import LearnedRed as LearnedRed
from .learned_red import load_red as load_red
from .load import load_agent as load_agent
from .network_agent import NetworkAgent as NetworkAgent
from .protocol import Agent as Agent
from .protocol import Explanation as Explanation
from .protocol import TabledAgent as TabledAgent
from .protocol import WatchableAgent as WatchableAgent
from .red_side import RedEnv as RedEnv
from .red_side import RedVectorEnv as RedVectorEnv
from .sb3 import Sb3Agent as Sb3Agent
from .scripted import SCRIPTED as SCRIPTED
from .search_agent import SearchAgent as SearchAgent
from .search_settings import Round as Round
from .search_settings import SearchSettings as SearchSettings
from .value_agent import ValueAgent as ValueAgent
