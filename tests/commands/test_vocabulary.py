"""A flag means the same in every command: one name, one type, one first sentence of help."""

import ast
import dataclasses
import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType, NoneType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest

from garrison import cli, commands

MOVING = {"bench"}  # until merged
UNNAMED = {"garrison.commands.demo"}  # until merged: its class is not called Arguments yet

TYPES: dict[str, tuple[type, ...]] = {
    "json": (bool,),
    "quiet": (bool,),
    "quick": (bool,),
    "sample": (bool,),
    "out": (Path, str),
    "resume": (Path, str),
    "csv": (Path, str),
    "episodes": (int,),
    "budget_episodes": (int,),
    "seed": (int,),
    "smooth": (int,),
    "length": (int,),
    "red": (str,),
    "rules": (str,),
    "duration": (str,),
    "env": (str,),
    "envs": (int,),
}
SENTENCES = {
    "json": "Print JSON instead of text.",
    "quiet": "Show nothing but warnings.",
    "sample": "Draw a network's actions instead of taking the likeliest.",
    "episodes": "Episodes per ",
    "duration": "How long ",
    "envs": "How many environments",
    "red": "Who attacks",
}


def modules() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(commands.__path__, f"{commands.__name__}."):
        yield import_module(info.name)


def flags(arguments: type) -> Iterator[tuple[str, Any, str]]:
    """Yield the name, type and help of every flag, also of the groups of settings within."""
    hints = get_type_hints(arguments, include_extras=True)
    help_of = {name: text for base in reversed(arguments.__mro__[:-1]) for name, text in docstrings(base).items()}
    for field in dataclasses.fields(arguments):
        kind = hints[field.name]
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        groups = [part for part in get_args(kind) or (kind,) if dataclasses.is_dataclass(part)]
        for group in groups:
            yield from flags(group)  # type: ignore[arg-type]
        if not groups:
            yield field.name, kind, " ".join(help_of.get(field.name, "").split())


def docstrings(of: type) -> dict[str, str]:
    """Return the strings below the fields of a dataclass."""
    body = ast.parse(inspect.cleandoc(inspect.getsource(of))).body[0].body  # type: ignore[attr-defined]
    return {
        field.target.id: text.value.value
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }


def elements(kind: Any) -> set[Any]:
    """Return a type without what makes it optional or several: tuple[int, ...] and int | None are int."""
    inner = [part for part in get_args(kind) if part not in (NoneType, Ellipsis)]
    if get_origin(kind) is tuple or get_origin(kind) is Union or type(kind).__name__ == "UnionType":
        return {element for part in inner for element in elements(part)}
    return {kind}


EVERY = [
    pytest.param(module, flag, id=f"{module.__name__.rpartition('.')[2]} {flag[0]}")
    for module in modules()
    if hasattr(module, "Arguments")
    for flag in flags(module.Arguments)
    if flag[0] in TYPES
]


def test_every_command_is_a_module_of_commands_with_main_and_arguments() -> None:
    assert {name for name, (module, _) in cli.COMMANDS.items() if not module.startswith(commands.__name__)} <= MOVING
    for module in modules():
        if not hasattr(module, "main"):
            continue  # a table of commands
        assert list(inspect.signature(module.main).parameters) == ["arguments"], module
        found = [name for name, value in vars(module).items() if dataclasses.is_dataclass(value)]
        assert "Options" not in found, module


@pytest.mark.parametrize(("module", "flag"), EVERY)
def test_a_flag_has_one_type(module: ModuleType, flag: tuple[str, Any, str]) -> None:
    name, kind, _ = flag
    assert elements(kind) <= set(TYPES[name])


@pytest.mark.parametrize(("module", "flag"), [p for p in EVERY if p.values[1][0] in SENTENCES])  # type: ignore[index]
def test_a_flag_has_one_meaning(module: ModuleType, flag: tuple[str, Any, str]) -> None:
    name, _, text = flag
    assert text.startswith(SENTENCES[name])


def test_help_of_every_command_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for name in cli.COMMANDS:
        try:
            assert cli.main([name, "--help"]) == 0
        except SystemExit as ended:
            assert not ended.code  # noqa: PT017 - tyro leaves this way, tables of commands do not
        assert f"garrison {name}" in capsys.readouterr().out
