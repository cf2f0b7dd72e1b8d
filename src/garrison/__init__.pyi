# The public names, listed once: `__init__.py` loads them from here on first use.
from . import agents as agents
from . import cage2 as cage2
from . import cluster as cluster
from . import learn as learn
from . import runs as runs
from . import vector as vector

__version__: str
