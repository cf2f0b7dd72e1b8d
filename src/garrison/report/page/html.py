"""The page itself: a document that is built from top to bottom and written as one file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from garrison.report.page.charts import Chart
from garrison.report.page.style import CSS
from garrison.report.page.svg import escape
from garrison.storage.atomic import write_bytes
from garrison.text import short

# A number, with its mark, unit and spread or range: ~12.3 k, -45.2 ± 0.5, 1,500 to 2,000, 97 %.
_NUMBER = re.compile(r"[~<>±+-]? ?\d[\d,.:]*( ?[%a-zA-Zµ]{1,2})?( (±|to) [\d,.]+( ?[%a-zA-Zµ]{1,2})?)?")


@dataclass(frozen=True)
class Cell:
    """A table's cell with more than its text: what it says under the pointer, and whether to trust it."""

    text: str
    tip: str = ""
    doubtful: bool = False


class Page:
    """A self-contained HTML page; every method adds something below what is there and returns the page.

    Text is escaped; only `code in backticks` means something in it.
    """

    def __init__(self, title: str, lead: str = "") -> None:
        self.title = title
        self._lead = lead
        self._sections: list[str] = []
        self._body: list[str] = []

    def section(self, title: str, text: str = "") -> "Page":
        """Begin a section, which the list at the page's top names."""
        self._sections.append(title)
        self._body.append(f'<h2 id="part-{len(self._sections)}">{escape(title)}</h2>')
        return self.text(text)

    def heading(self, title: str, text: str = "") -> "Page":
        """Begin a part of a section."""
        self._body.append(f"<h3>{escape(title)}</h3>")
        return self.text(text)

    def text(self, text: str) -> "Page":
        """Add paragraphs, which empty lines separate."""
        self._body += [f"<p>{_inline(part)}</p>" for part in re.split(r"\n\s*\n", text) if part.strip()]
        return self

    def note(self, text: str) -> "Page":
        """Add a paragraph that is set apart: a warning, or what a reader must know first."""
        self._body.append(f'<div class="note"><p>{_inline(text)}</p></div>')
        return self

    def remark(self, text: str) -> "Page":
        """Add a small paragraph: a source, or what a table's row leaves unsaid."""
        self._body.append(f'<p class="small">{_inline(text)}</p>')
        return self

    def code(self, text: str) -> "Page":
        """Add lines as they are: commands, or what a program printed."""
        self._body.append(f"<pre>{escape(text)}</pre>")
        return self

    def facts(self, facts: Mapping[str, object]) -> "Page":
        """Add names with their values."""
        rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
        self._body.append(f"<dl>{rows}</dl>")
        return self

    def table(
        self, header: Sequence[str], rows: Sequence[Sequence[object]], *, caption: str = "", folded: str = ""
    ) -> "Page":
        """Add a table of text, numbers, `Cell` and None; number columns stand right, `folded` hides it at first."""
        right = [_is_numeric([row[k] for row in rows if k < len(row)]) for k in range(len(header))]
        head = "".join(f"<th{_side(right[k])}>{escape(name)}</th>" for k, name in enumerate(header))
        body = "".join(
            "<tr>" + "".join(_cell(content, right[k]) for k, content in enumerate(row)) + "</tr>\n" for row in rows
        )
        title = f"<caption>{_inline(caption)}</caption>" if caption else ""
        table = f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'
        self._body.append(f"<details><summary>{escape(folded)}</summary>{table}</details>" if folded else table)
        return self

    def chart(self, chart: Chart, title: str = "", caption: str = "") -> "Page":
        """Add a chart with its legend."""
        strong = f"<strong>{escape(title)}</strong>" if title else ""
        above = f"<figcaption>{strong}{_inline(caption)}</figcaption>" if title or caption else ""
        names = "".join(f'<span class="{kind}">{escape(name)}</span>' for kind, name in chart.legend)
        legend = f'<div class="legend">{names}</div>' if names else ""
        self._body.append(f"<figure>{above}{legend}{chart.svg}</figure>")
        return self

    def html(self) -> str:
        """Return the whole document."""
        links = "".join(f'<a href="#part-{k}">{escape(name)}</a>' for k, name in enumerate(self._sections, 1))
        nav = f"<nav>{links}</nav>" if len(self._sections) > 2 else ""
        lead = f'<p class="lead">{_inline(self._lead)}</p>' if self._lead else ""
        body = "\n".join(self._body)
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
            f"<title>{escape(self.title)}</title>\n"
            f"<style>{CSS}</style>\n</head>\n<body>\n<h1>{escape(self.title)}</h1>\n"
            f"{lead}\n{nav}\n{body}\n</body>\n</html>\n"
        )

    def write(self, path: Path) -> Path:
        """Write the page, whole or not at all, and return its path."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, [self.html().encode()])
        return path


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text.strip()))


def _side(right: bool) -> str:
    return ' class="right"' if right else ""


def _is_numeric(contents: Sequence[object]) -> bool:
    texts = [_written(c) for c in contents]
    return any(texts) and all(not t or _NUMBER.fullmatch(t) or t in ("-", "–", "failed", "unsteady") for t in texts)


def _written(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, Cell):
        return content.text
    return short(content) if isinstance(content, (int, float)) else str(content)


def _cell(content: object, right: bool) -> str:
    classes = ["right"] if right else []
    title = ""
    if isinstance(content, Cell):
        classes += ["doubtful"] if content.doubtful else []
        title = f' title="{escape(content.tip)}"' if content.tip else ""
    kind = f' class="{" ".join(classes)}"' if classes else ""
    return f"<td{kind}{title}>{_inline(_written(content))}</td>"
