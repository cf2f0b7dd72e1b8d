"""What a user names as `module:name`, found also in the folder that the command runs in."""

import inspect
import os
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from garrison.errors import UserError


def import_for(text: str, module: str) -> ModuleType:
    """Return the module that `text` begins with."""
    here = os.getcwd()
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # An installed command does not look in the working directory, as `python` and `python -m` do.
        if error.name != module.partition(".")[0] or here in sys.path:
            raise UserError(f"{text!r} begins with a module that cannot be imported: {error}") from None
    except (ImportError, ValueError) as error:
        raise UserError(f"{text!r} begins with a module that cannot be imported: {error}") from None
    sys.path.insert(0, here)
    try:
        return import_for(text, module)
    except UserError:
        sys.path.remove(here)
        raise


def import_named(text: str) -> Any:
    """Return what `module:name` names."""
    module, _, name = text.partition(":")
    try:
        return getattr(import_for(text, module), name)
    except AttributeError:
        raise UserError(f"there is no {name!r} in the module {module!r}; write module:name.") from None


def made_by_name(text: str) -> Callable[[], Any]:
    """Return what makes the object that `module:name` names: a class or a function is called, anything else is it."""
    named = import_named(text)
    return named if inspect.isclass(named) or inspect.isroutine(named) else lambda: named
