"""Let pages link to what lies outside docs/ as they do on a forge: what they link to comes into the site.

README.md is the home page, CHANGELOG.md and CONTRIBUTING.md are pages. Of the rest, texts and code become pages below
source/, and everything else (pictures, results, HTML) is copied as it is. `<!-- embed FILE: TITLE -->` shows a page
in a frame, which a forge leaves out.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
PAGES = {"README.md": "index.md", "CHANGELOG.md": "CHANGELOG.md", "CONTRIBUTING.md": "CONTRIBUTING.md"}
"""Texts at the top of the repository, and where they are in the site."""
LANGUAGES = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".txt": "text", ".cff": "yaml", "Dockerfile": "docker"}
"""Files that become pages, by suffix or, without one, by name."""
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", flags=re.M | re.S)
EMBED = re.compile(r"^<!-- embed ([^#\s]+)(#\S+)?: (.+) -->$", flags=re.M)


def language(path: str) -> str | None:
    """Return what a file's code is highlighted as, if it becomes a page."""
    return LANGUAGES.get(Path(path).suffix or Path(path).name)


def place(path: str) -> str:
    """Return the page or file of the site that a file of the repository becomes."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.endswith(".md"):
        return f"source/{path}"
    if language(path):
        return f"source/{path}.md"
    return path


def origin(uri: str) -> str:
    """Return the file of the repository that a page of the site was, where it was text."""
    named = {there: here for here, there in PAGES.items()}
    return named.get(uri) or (uri.removeprefix("source/") if uri.startswith("source/") else f"docs/{uri}")


def replace_links(text: str, new: Callable[[str], str]) -> str:
    """Change what the links of a text point at, except in code and where they leave the repository."""
    parts = CODE.split(text)
    for index in range(0, len(parts), 2):
        parts[index] = LINK.sub(
            lambda found: found[0] if "://" in found[2] else f"{found[1]}{new(found[2])}{found[3]}", parts[index]
        )
    return "".join(parts)


def linked(path: str) -> Iterator[str]:
    """Yield the files of the repository that a text of it links to or shows in a frame."""
    found: list[str] = []
    text = (ROOT / path).read_text()
    replace_links(text, lambda link: found.append(link) or link)
    found += [name for name, _, _ in EMBED.findall(text)]
    folder = posixpath.dirname(path)
    yield from (posixpath.normpath(posixpath.join(folder, link)) for link in found)


def outside() -> list[str]:
    """Return the files outside docs/ that the site needs: its pages from there, and all that texts link to."""
    waiting = [*PAGES, *(str(file.relative_to(ROOT)) for file in sorted((ROOT / "docs").rglob("*.md")))]
    seen = set(waiting)
    for path in waiting:  # which grows while it is walked
        new = sorted({link for link in linked(path) if link not in seen and (ROOT / link).is_file()})
        seen.update(new)
        waiting += [link for link in new if link.endswith(".md")]
    return sorted(path for path in seen if not path.startswith("docs/"))


def as_page(path: str) -> str:
    """Return a file as the text of a page: as it is, or as code under its name."""
    text = (ROOT / path).read_text()
    if path.endswith(".md"):
        return text
    return f"# {path}\n\n````{language(path)}\n{text}````\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what lies outside docs/."""
    for path in outside():
        uri = place(path)
        level = InclusionLevel.INCLUDED if path in PAGES else InclusionLevel.NOT_IN_NAV
        if uri.endswith(".md"):
            files.append(File.generated(config, uri, content=as_page(path), inclusion=level))
        else:
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / path), inclusion=level))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at the site's places, and show embedded pages."""
    uri = page.file.src_uri
    if not (ROOT / origin(uri)).exists():
        return markdown  # code: nothing in it is a link
    here = posixpath.dirname(origin(uri))

    def target(link: str) -> str:
        return place(posixpath.normpath(posixpath.join(here, link)))

    def frame(found: re.Match[str]) -> str:
        file = files.get_file_from_path(target(found[1]))
        assert file is not None, f"{origin(uri)} embeds {found[1]}, which does not exist"
        url = file.url_relative_to(page.file) + (found[2] or "")
        return f'<iframe class="page" src="{url}" title="{found[3]}" loading="lazy"></iframe>'

    markdown = replace_links(markdown, lambda link: posixpath.relpath(target(link), posixpath.dirname(uri) or "."))
    return EMBED.sub(frame, markdown)
