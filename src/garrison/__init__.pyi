# The public names, listed once: `__init__.py` loads them from here on first use.
from . import agents as agents
from . import cage2 as cage2
from . import cluster as cluster
from . import episodes as episodes
from . import learn as learn
from . import runs as runs
from . import sweeps as sweeps
from . import text as text
from . import vector as vector
from .agents.learned_red import load_red as load_red
from .agents.load import load_agent as load_agent
from .episodes.watching import watch as watch
from .runs.scoring import evaluate as evaluate
from .sweeps.sweeping import sweep as sweep

__version__: str
