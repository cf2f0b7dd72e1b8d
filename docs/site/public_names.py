"""Tell the API pages which names of a package are public: those that its stub lists, and that load on first use."""

import ast

from griffe import Extension, Module, Object


class PublicNames(Extension):
    """Reads `__init__.pyi` in the place of `__all__`, which exists only when the package runs."""

    def on_package(self, *, pkg: Module, **_: object) -> None:
        """Note the names of every package that has a stub."""
        self._note(pkg)

    def _note(self, module: Object) -> None:
        for member in module.modules.values():
            if not member.is_alias:
                self._note(member)
        if not isinstance(module.filepath, list) and module.filepath.name.startswith("__init__."):
            stub = module.filepath.with_suffix(".pyi")
            if stub.exists():
                names = [
                    name.asname
                    for node in ast.parse(stub.read_text()).body
                    if isinstance(node, ast.ImportFrom) and node.module
                    for name in node.names
                    if name.asname
                ]
                module.exports = list(names)
