"""What a user names as `module:name`, found also in the folder that the command runs in."""

import os
import sys
from importlib import import_module
from typing import Any

from garrison.errors import UserError


def import_named(text: str) -> Any:
    """Return what `module:name` names."""
    module, _, name = text.partition(":")
    folder = os.getcwd()
    if folder not in sys.path and "" not in sys.path:
        sys.path.append(folder)  # a command does not look there by itself, as `python -m` does
    try:
        return getattr(import_module(module), name)
    except ImportError as error:
        raise UserError(f"{text!r} begins with a module that cannot be imported: {error}.") from None
    except (AttributeError, ValueError):  # an empty name on either side
        raise UserError(f"there is no {name!r} in the module {module!r}; write module:name.") from None
