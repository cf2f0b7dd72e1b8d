"""The page itself: a document that is built from top to bottom and written as one file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from garrison.formatting import short
from garrison.report.page.charts import Chart
from garrison.report.page.live import live_attributes, live_script, old_note
from garrison.report.page.style import CSS
from garrison.report.page.svg import escape
from garrison.storage.atomic import write_bytes

# A number, with its mark, unit and spread or range: ~12.3 k, -45.2 ± 0.5, 1,500 to 2,000, 2 k to 3 k in 3 rounds, 97 %.
_NUMBER = re.compile(
    r"[~<>±+-]? ?\d[\d,.:]*( ?[%a-zA-Zµ]{1,2})?( (±|to) [\d,.]+( ?[%a-zA-Zµ]{1,2})?)?( in \d+ rounds?)?"
)

# Surrogates that stand for no byte of a file's name, so that no name has them.
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


@dataclass(frozen=True)
class Cell:
    """A table's cell with more than its text: what it says under the pointer, and whether to trust it."""

    text: str
    tip: str = ""
    doubtful: bool = False
    link: str = ""
    """A file that the text leads to: a path from the page's own folder, as the system writes it."""
    svg: str = ""
    """A small picture behind the text."""
    badge: str = ""
    """The text is a state, see `STATES`."""
    whole: bool = False
    """The text is not broken into lines."""


STATES = ("good", "alive", "bad", "plain")
"""What a badge can mean; each has its colour, and its text says it too."""


@dataclass(frozen=True)
class Tile:
    """A number that is seen first, and what it is."""

    value: str
    name: str
    tip: str = ""


@dataclass(frozen=True)
class Figure:
    """A chart with its texts; `narrow` is the same chart for a phone, where it differs."""

    chart: Chart
    title: str = ""
    caption: str = ""
    narrow: Chart | None = None


class Page:
    """A self-contained HTML page; every method adds something below what is there and returns the page.

    Text is escaped; only `code in backticks` means something in it.
    """

    def __init__(self, title: str, lead: str = "", *, kind: str = "") -> None:
        """`kind` says what sort of page it is, in the header that the pages of runs share; they are wide."""
        self.title = title
        self._lead, self._kind = lead, kind
        self._sections: list[str] = []
        self._body: list[str] = []
        self._badge = ""
        self._root = self._script = self._old = ""

    def badge(self, text: str, state: str = "plain") -> "Page":
        """Put a state beside the title."""
        self._badge = _badge(text, state)
        return self

    def live(self, written: float, every: float, patience: float, old: str) -> "Page":
        """Let the page load itself anew after `every` seconds; `old` is shown when there was no news for `patience`.

        `written` is when that was done, in seconds since 1970.
        """
        self._root, self._script = live_attributes(written, every, patience), live_script()
        self._old = old_note(f"<p>{_inline(old)}</p>")
        return self

    def tiles(self, tiles: Sequence[Tile]) -> "Page":
        """Add numbers that are seen first."""
        shown = "".join(
            f"<div{_title(tile.tip)}><dt>{escape(tile.name)}</dt><dd>{escape(tile.value)}</dd></div>" for tile in tiles
        )
        self._body.append(f'<dl class="tiles">{shown}</dl>')
        return self

    def progress(self, share: float) -> "Page":
        """Add a bar of which this share is full."""
        percent = f"{100 * min(1.0, max(0.0, share)):.1f}"
        self._body.append(f'<progress max="100" value="{percent}" aria-label="{percent} % done">{percent} %</progress>')
        return self

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
        """Add names with their values, which may be a `Cell`."""
        rows = "".join(
            f"<dt>{escape(name)}</dt><dd>{_content(value) if isinstance(value, Cell) else escape(value)}</dd>"
            for name, value in facts.items()
        )
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

    def chart(self, chart: Chart, title: str = "", caption: str = "", narrow: Chart | None = None) -> "Page":
        """Add a chart with its legend; `narrow` stands in its place on a phone."""
        self._body.append(_figure(Figure(chart, title, caption, narrow)))
        return self

    def grid(self, figures: Sequence[Figure]) -> "Page":
        """Add small charts beside one another, as many in a row as there is room for."""
        if figures:
            self._body.append(f'<div class="grid">{"".join(map(_figure, figures))}</div>')
        return self

    def html(self) -> str:
        """Return the whole document."""
        links = "".join(f'<a href="#part-{k}">{escape(name)}</a>' for k, name in enumerate(self._sections, 1))
        nav = f"<nav>{links}</nav>" if len(self._sections) > 2 else ""
        lead = f'<p class="lead">{_inline(self._lead)}</p>' if self._lead else ""
        body = "\n".join(self._body)
        heading = f"<h1>{escape(self.title)}{self._badge}</h1>\n{lead}"
        if self._kind:
            heading = f'<header><p class="kind"><b>Garrison</b> {escape(self._kind)}</p>\n{heading}</header>'
        return (
            f'<!DOCTYPE html>\n<html lang="en"{self._root}>\n<head>\n<meta charset="utf-8"/>\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
            f"<title>{escape(self.title)}</title>\n"
            f"<style>{CSS}</style>\n</head>\n<body{_class('wide' if self._kind else '')}>\n{heading}\n"
            f"{self._old}{nav}\n{body}\n{self._script}</body>\n</html>\n"
        )

    def write(self, path: Path) -> Path:
        """Write the page, whole or not at all, and return its path."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, [self.html().encode()])
        return path


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text.strip()))


def _figure(figure: Figure) -> str:
    chart, narrow = figure.chart, figure.narrow
    strong = f"<strong>{escape(figure.title)}</strong>" if figure.title else ""
    above = f"<figcaption>{strong}{_inline(figure.caption)}</figcaption>" if figure.title or figure.caption else ""
    names = "".join(f'<span class="{kind}">{escape(name)}</span>' for kind, name in chart.legend)
    legend = f'<div class="legend">{names}</div>' if names else ""
    svg = chart.svg
    if narrow is not None:
        svg = f'<div class="broad">{svg}</div><div class="narrow">{narrow.svg}</div>'
    return f"<figure>{above}{legend}{svg}</figure>"


def _badge(text: str, state: str) -> str:
    assert state in STATES
    return f' <span class="badge {state}">{escape(text)}</span>'


def _title(text: str) -> str:
    return f' title="{escape(text)}"' if text else ""


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def _side(right: bool) -> str:
    return _class("right" if right else "")


def _is_numeric(contents: Sequence[object]) -> bool:
    texts = [_written(c) for c in contents]
    return any(texts) and all(not t or _NUMBER.fullmatch(t) or t in ("-", "–", "failed") for t in texts)


def _written(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, Cell):
        return content.text
    return short(content) if isinstance(content, (int, float)) else str(content)


def _content(cell: Cell) -> str:
    """Return what stands in a cell."""
    text = _badge(cell.text, cell.badge).lstrip() if cell.badge else _inline(cell.text)
    if cell.link:
        # "./" before it, so that no name of a folder can be taken for the scheme of an address.
        path = _NO_BYTE.sub("\ufffd", cell.link)
        text = f'<a href="./{quote(path, errors="surrogateescape")}">{text}</a>'
    return text + cell.svg


def _cell(content: object, right: bool) -> str:
    if not isinstance(content, Cell):
        return f"<td{_side(right)}>{_inline(_written(content))}</td>"
    kinds = {"right": right, "doubtful": content.doubtful, "whole": content.whole}
    return f"<td{_class(' '.join(filter(kinds.get, kinds)))}{_title(content.tip)}>{_content(content)}</td>"
