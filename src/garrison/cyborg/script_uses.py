"""What a script uses of CybORG, found by reading it: imports, classes, their attributes, scenario files."""

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from garrison.cyborg.availability import (
    MISSING,
    THERE,
    UNKNOWN,
    attribute,
    known_methods,
    member,
    module,
)
from garrison.cyborg.controller import Controller
from garrison.cyborg.script_files import ScriptFile, absolute_name, assigned_to_self

PACKAGE = "CybORG"
SCENARIO = "Scenario2.yaml"


class Use(NamedTuple):
    """Something of CybORG that is used at a place."""

    name: str
    mark: str
    file: Path
    line: int


class Instance(NamedTuple):
    """A value that is an object of one of our classes."""

    kind: type


def uses_of(file: ScriptFile) -> list[Use]:
    """Return every use in one file, in the order of its lines."""
    reader = _Reader(file)
    reader.visit(file.tree)
    return sorted(reader.uses, key=lambda use: use.line)


class _Reader(ast.NodeVisitor):
    """Follows names that imports and assignments bind; what is passed to functions it does not know."""

    def __init__(self, file: ScriptFile) -> None:
        self.file = file
        self.uses: list[Use] = []
        self.bound: dict[str, Any] = {}
        self.own: list[tuple[type | None, set[str]]] = []
        """For each enclosing class the class of ours that it derives from, and what it defines itself."""

    def note(self, name: str, mark: str, node: ast.AST) -> None:
        """Keep a use."""
        self.uses.append(Use(name, mark, self.file.path, getattr(node, "lineno", 0)))

    def visit_Import(self, node: ast.Import) -> None:
        """Note modules of CybORG and bind their names."""
        for alias in node.names:
            if alias.name.partition(".")[0] == PACKAGE:
                found = module(alias.name, self.file.root)
                self.note(alias.name, found.mark, node)
                bound = found.value if alias.asname else module(PACKAGE, self.file.root).value
                self.bound[alias.asname or PACKAGE] = bound

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Note what is imported from modules of CybORG and bind it."""
        source = absolute_name(node, self.file)
        if source.partition(".")[0] != PACKAGE:
            return
        for alias in node.names:
            if alias.name == "*":
                found = module(source, self.file.root)
                if isinstance(found.value, ModuleType):
                    self.bound.update({k: v for k, v in vars(found.value).items() if not k.startswith("_")})
            else:
                found = member(source, alias.name, self.file.root)
                self.bound[alias.asname or alias.name] = found.value
            self.note(f"{source}.{alias.name}", found.mark, node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Remember from which class of ours a class derives, and what it defines itself."""
        parents = [self.value(base) for base in node.bases]
        parent = next((base for base in parents if inspect.isclass(base)), None)
        own = {part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.ClassDef)}
        own |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        self.own.append((parent, own | assigned_to_self(node)))
        self.generic_visit(node)
        self.own.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        """Bind names to what is known of their value, and forget the others."""
        self.generic_visit(node)
        for target in node.targets:
            if (name := _dotted(target)) is not None:
                self.bound[name] = self.value(node.value)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Note an attribute of something of ours, or one whose name is CybORG's."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Store) and not isinstance(self.value(node.value), Instance):
            return
        holder, name = self.value(node.value), node.attr
        if name.startswith("__"):
            return
        if isinstance(holder, ModuleType):
            if holder.__name__.partition(".")[0] == PACKAGE:
                found = member(holder.__name__, name, self.file.root)
                self.note(f"{holder.__name__}.{name}", found.mark, node)
        elif isinstance(holder, Instance) or inspect.isclass(holder):
            kind = holder.kind if isinstance(holder, Instance) else holder
            if not self.is_own(node.value, name):
                shown = "environment_controller" if kind is Controller else kind.__name__
                self.note(f"{shown}.{name}", attribute(kind, name), node)
        elif name in known_methods() and not self.is_own(node.value, name):
            self.note(f".{name}", THERE, node)

    def visit_Call(self, node: ast.Call) -> None:
        """Note what is only known while the script runs."""
        self.generic_visit(node)
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        words = [argument.value if isinstance(argument, ast.Constant) else None for argument in node.args]
        if called == "get_attr" and words:
            if words[0] is None:
                self.note(".get_attr(...)", UNKNOWN, node)
            else:
                mark = THERE if words[0] in known_methods() else UNKNOWN
                self.note(f".get_attr({words[0]!r})", mark, node)
        elif called in ("getattr", "setattr") and len(words) > 1:
            holder = self.value(node.args[0])
            if isinstance(holder, Instance):
                holder = holder.kind
            if isinstance(holder, ModuleType | type):
                self.note(f"{called} of {holder.__name__}", UNKNOWN, node)
        elif called in ("import_module", "__import__") and words:
            if words[0] is None:
                self.note(f"{called}(...)", UNKNOWN, node)
            elif str(words[0]).partition(".")[0] == PACKAGE:
                self.note(str(words[0]), module(str(words[0]), self.file.root).mark, node)
        elif called == PACKAGE and "aws" in words[1:2]:
            self.note("the environment 'aws'", MISSING, node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Note scenario files by name."""
        if isinstance(node.value, str):
            for name in re.findall(r"Scenario\w*\.yaml", node.value):
                self.note(f"scenario file {name}", THERE if name == SCENARIO else MISSING, node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Note a scenario file whose name is put together."""
        self.generic_visit(node)
        texts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        if any(str(text).startswith(".yaml") for text in texts):
            names = [self.value(part.value) for part in node.values if isinstance(part, ast.FormattedValue)]
            mark = UNKNOWN
            if names and all(isinstance(name, str) for name in names):
                mark = THERE if f"{names[-1]}.yaml" == SCENARIO else MISSING
            self.note(f"scenario file {names[-1] if mark != UNKNOWN else '...'}.yaml", mark, node)

    def value(self, node: ast.AST) -> Any:
        """Return what an expression is, as far as that is known: a module, a class, an `Instance`, a text."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Name) and node.id == "self" and self.own and self.own[-1][0] is not None:
            return Instance(self.own[-1][0])
        if (name := _dotted(node)) is not None and name in self.bound:
            return self.bound[name]
        if isinstance(node, ast.Attribute):
            if node.attr == "environment_controller":
                return Instance(Controller)
            holder = self.value(node.value)
            if isinstance(holder, ModuleType):
                return vars(holder).get(node.attr)
        if isinstance(node, ast.Call) and inspect.isclass(kind := self.value(node.func)):
            return Instance(kind)
        return None

    def is_own(self, holder: ast.AST, name: str) -> bool:
        """Say whether `self.name` is what the script's own class defines."""
        is_self = isinstance(holder, ast.Name) and holder.id == "self"
        return is_self and any(name in own for _, own in self.own)


def _dotted(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (holder := _dotted(node.value)) is not None:
        return f"{holder}.{node.attr}"
    return None
