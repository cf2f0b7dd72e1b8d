# The public names, listed once: `__init__.py` loads them from here on first use.
from .alternatives import what_if as what_if
from .choosing import choose_episodes as choose_episodes
from .episode import Episode as Episode
from .episode_files import read_episodes as read_episodes
from .game import Game as Game
from .recording import play as play
from .recording import record as record
from .watching import Watched as Watched
from .watching import watch as watch
