"""CybORG's CAGE-2 on Garrison's simulator: the package that scripts written for the original import."""

from pathlib import Path

from garrison.cyborg.fall_through import open_package
from garrison.cyborg.own_trees import tell_of_changes
from garrison.cyborg.refusal import refuses
from garrison.cyborg.script_settings import is_profiled, is_verified

tell_of_changes(open_package(__file__))
__getattr__ = refuses(__name__)

from CybORG.CybORG import CybORG as CybORG

path = str(Path(__file__).with_name("version.txt"))
CYBORG_VERSION = Path(path).read_text().rstrip("\n")

if is_verified():
    from garrison.cyborg.noting import note_games

    note_games(CybORG)

if is_profiled():
    from CybORG.Agents import Wrappers
    from garrison.cyborg.script_profile import watch

    watch([CybORG, *(kind for kind in vars(Wrappers).values() if isinstance(kind, type))])
