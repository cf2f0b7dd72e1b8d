"""The modules of the front end as one script: each a function with its own scope, called once, after those it imports.

What the front end uses of the language of modules is `import { name, name } from "./file.js";` on one line at the top,
and `export` before a declaration; anything else is refused.
"""

import re
from functools import cache
from pathlib import Path

FRONT = Path(__file__).parent / "front"
ENTRY = "main"
STYLES = ("base.css", "layout.css", "dock.css", "map.css", "charts.css", "panels.css", "print.css")
"""In this order: later ones win."""

_IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./(\w+)\.js";$', flags=re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (\w+))", flags=re.M)


@cache
def script() -> str:
    """Return the whole front end as one script."""
    return joined({file.stem: file.read_text(encoding="utf-8") for file in FRONT.glob("*.js")}, ENTRY)


@cache
def style() -> str:
    """Return all style sheets as one."""
    return "\n".join((FRONT / name).read_text(encoding="utf-8") for name in STYLES)


def joined(sources: dict[str, str], entry: str) -> str:
    """Return the modules that `entry` needs, each after those that it imports; names are without `.js`.

    Raises:
        ValueError: a module that is missing or imports in a circle, or a name that is not exported.
    """
    parts: list[str] = []
    under_way: list[str] = []
    done: set[str] = set()

    def add(name: str) -> None:
        if name in done:
            return
        if name in under_way:
            raise ValueError(f"modules import one another in a circle: {' -> '.join([*under_way, name])}")
        under_way.append(name)
        for names, needed in _IMPORT.findall(sources[name]):
            if needed not in sources:
                raise ValueError(f"{name}.js imports {needed}.js, which does not exist")
            missing = set(names.split(", ")) - set(_EXPORT.findall(sources[needed]))
            if missing:
                raise ValueError(f"{name}.js imports {', '.join(sorted(missing))}, which {needed}.js does not export")
            add(needed)
        parts.append(_wrapped(name, sources[name]))
        done.add(under_way.pop())

    add(entry)
    return "\n".join(parts)


def _wrapped(name: str, source: str) -> str:
    exported = ", ".join(_EXPORT.findall(source))
    plain = _EXPORT.sub("", _IMPORT.sub(r"const { \1 } = module_\2;", source))
    if re.search(r"^(import|export)\b", plain, flags=re.M):
        raise ValueError(f"{name}.js imports or exports in a way that is not understood")
    return f"const module_{name} = (() => {{\n{plain.strip()}\nreturn {{ {exported} }};\n}})();"
