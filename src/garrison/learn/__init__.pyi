# The public names, listed once: `__init__.py` loads them from here on first use.
from .config import A3CConfig as A3CConfig
from .config import ImpalaConfig as ImpalaConfig
from .config import JaxPPOConfig as JaxPPOConfig
from .config import PolicyConfig as PolicyConfig
from .config import PPOConfig as PPOConfig
from .nn.policy import Policy as Policy
from .registry import LEARNERS as LEARNERS
from .registry import train as train
from .result import Diverged as Diverged
from .result import Result as Result
from .returns import gae as gae
from .run import RunLog as RunLog
from .vtrace import vtrace as vtrace
