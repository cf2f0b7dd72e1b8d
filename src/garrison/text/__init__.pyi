# The public names, listed once: `__init__.py` loads them from here on first use.
from .action_words import ActionRefused as ActionRefused
from .action_words import read_action as read_action
from .notebook import Notebook as Notebook
from .notebook import Telling as Telling
from .notebook import action_name as action_name
from .renaming import Names as Names
from .renaming import names_of as names_of
from .text_env import TextEnv as TextEnv
