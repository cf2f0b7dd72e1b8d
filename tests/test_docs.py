"""What the texts say exists: commands and their flags, files, and what links point at."""

import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tyro

import garrison
from garrison import cli
from garrison.errors import UserError
from garrison.runs import chosen, yaml_settings
from garrison.runs.chosen import EnvKind
from garrison.runs.experiment_file import read_experiment
from garrison.runs.presets import preset
from tests.helpers.doc_blocks import blocks

ROOT = Path(__file__).parents[1]
SOURCE = Path(garrison.__file__).parent
TEXTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINKING = sorted([*TEXTS, *(ROOT / "examples").glob("*.md"), *(ROOT / "tests").rglob("*.md"), *SOURCE.rglob("*.md")])
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
BLOCK = re.compile(r"^```(?:sh|bash|text)\n(.*?)^```", flags=re.M | re.S)
INLINE = re.compile(r"`(garrison [^`]*?--[^`]*)`")
PACKAGES = (
    "agents",
    "cage2",
    "challenge",
    "cluster",
    "cyborg",
    "episodes",
    "export",
    "games",
    "jaxsim",
    "learn",
    "runs",
    "storage",
    "sweeps",
    "tasks",
    "text",
    "trackers",
    "vector",
    "workers",
)
"""Those whose every module docs/architecture.md names."""
NO_COMMAND = re.compile(r"[A-Z]{3,}|\.\.\.|\||--help|--version")
"""What stands for something else, such as PRESET or 90s|10m, or needs no parser."""


def commands_of(text: str) -> Iterator[str]:
    """Yield the garrison commands in the blocks of a text, and those with flags in its sentences."""
    for block in BLOCK.findall(text):
        lines = (line.partition(" #")[0].strip().removeprefix("$ ") for line in block.splitlines())
        yield from (line for line in lines if re.match(r"garrison [a-z]", line))
    whole = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    yield from (" ".join(found.split()) for found in INLINE.findall(whole))


def shell_lines(text: Path) -> Iterator[str]:
    """Yield the commands in a text's shell blocks, whole where they go over several lines."""
    for block in blocks(text.read_text()):
        if block.kind == "sh":
            whole = block.code.replace("\\\n", " ")
            yield from filter(None, (f" {line}".partition(" #")[0].strip() for line in whole.splitlines()))


COMMANDS = sorted(
    {
        command
        for text in TEXTS
        for command in commands_of(text.read_text())
        if text.name != "CHANGELOG.md" and not NO_COMMAND.search(command)
    }
)


class Parsed(Exception):
    """Raised in the place of what a command does after it has read its arguments."""


@pytest.fixture
def parse_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every command end when it has read its arguments, in a folder with the files that the texts name."""
    real = tyro.cli

    def read(*args: Any, **kwargs: Any) -> None:
        real(*args, **kwargs)
        raise Parsed

    monkeypatch.setattr(tyro, "cli", read)
    # Environments that the texts make up cannot be made.
    monkeypatch.setattr(chosen, "kind_of", lambda *named: EnvKind("Box(3,)", "Discrete(2)", False, False))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("{}")
    for run in (tmp_path / "runs" / "mine", tmp_path / "runs" / "first"):
        run.mkdir(parents=True)
        (run / "config.yaml").write_text(preset("ppo-mixed").to_yaml())
        (run / "selfplay.yaml").write_text("{}")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("parse_only")
def test_a_command_in_the_texts_is_understood(command: str) -> None:
    with pytest.raises(Parsed):
        cli.main(shlex.split(command)[1:])


@pytest.mark.parametrize("command", ["garrison trian record", "garrison train record --stepz 3", "garrison bench simm"])
@pytest.mark.usefixtures("parse_only")
def test_a_command_that_does_not_exist_is_noticed(command: str) -> None:
    try:
        code = cli.main(shlex.split(command)[1:])
    except SystemExit as exit:
        code = int(exit.code or 0)
    assert code == 2


def test_the_texts_have_commands() -> None:
    assert len(COMMANDS) > 40


def prose(text: Path) -> str:
    """Return a text without its blocks."""
    return re.sub(r"^```.*?^```", "", text.read_text(), flags=re.M | re.S)


def anchors(text: Path) -> set[str]:
    """Return the anchors that forges make of a text's headings; the strict build checks those of the site."""
    found = Counter[str]()
    for heading in re.findall(r"^#+ (.+)$", prose(text), flags=re.M):
        said = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        found[re.sub(r"[^\w\- ]", "", said).strip().replace(" ", "-")] += 1
    return {f"{slug}-{n}" if n else slug for slug, times in found.items() for n in range(times)}


def broken_links(text: Path) -> Iterator[str]:
    for link, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", prose(text)):
        if "://" in link:
            continue
        target = text.parent / link if link else text
        # A folder is a page on a forge only.
        if not target.is_file() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            yield f"{link}#{anchor}" if anchor else link


@pytest.mark.parametrize("text", LINKING, ids=lambda text: str(text.relative_to(ROOT)))
def test_links_point_at_something(text: Path) -> None:
    assert list(broken_links(text)) == []


def test_links_that_lead_nowhere_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A `b` c\n\n## [Two](x), three\n")
    (tmp_path / "b.md").write_text("[1](a.md#a-b-c) [2](a.md#two-three) [3](a.md#no) [4](no.md) [5](#no) [6](.)\n")
    assert list(broken_links(tmp_path / "b.md")) == ["a.md#no", "no.md", "#no", "."]


SHELL = sorted({(text, line) for text in TEXTS for line in shell_lines(text)})


def knows(line: str) -> bool:
    """Say whether what a line of a shell block names is there: a target, an extra, a file."""
    program, *words = shlex.split(line)
    match program:
        case "garrison":
            return bool(words)  # parsed above
        case "make":
            return bool(re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(), flags=re.M))
        case "pip":
            return all(extra in EXTRAS for word in words for extra in re.findall(r"\w+", word.partition("[")[2]))
        case "python":
            return (ROOT / words[0]).exists()
        case "uv" | "uvx" | "docker" | "sbatch" | "chromium" | "python3" | ".":
            return True
    return False


@pytest.mark.parametrize(("text", "line"), SHELL, ids=lambda part: part if isinstance(part, str) else part.name)
def test_a_line_for_the_shell_names_what_is_there(text: Path, line: str) -> None:
    assert knows(line)


@pytest.mark.parametrize("line", ["make tset", "pip install '.[trian]'", "python examples/no.py", "garison train"])
def test_a_line_that_names_what_is_not_there_is_noticed(line: str) -> None:
    assert not knows(line)


def test_the_architecture_names_files_that_exist() -> None:
    files = [f"/{file.relative_to(SOURCE)}" for file in SOURCE.rglob("*.*")]
    text = (ROOT / "docs" / "architecture.md").read_text()
    named = re.findall(r"`([\w/]+\.py)`", text)
    assert len(named) > 100
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []


def test_every_module_has_its_place_in_the_architecture() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    rooms = text.partition("## Room by room")[2].partition("## Decisions")[0]
    folders = set(re.findall(r"`([\w/]+)/`", rooms))
    for package in PACKAGES:
        for file in (SOURCE / package).rglob("*.py"):
            place = str(file.relative_to(SOURCE).parent)
            is_covered = any(place == folder or place.startswith(f"{folder}/") for folder in folders if "/" in folder)
            is_named = re.search(rf"`(?:[\w/]+/)?{file.name}`", rooms)
            assert file.name.startswith("__") or is_covered or is_named, file


def test_files_of_settings_in_the_texts_are_read() -> None:
    found = 0
    for text in TEXTS:
        for block in re.findall(r"^```yaml\n(.*?)^```", text.read_text(), flags=re.M | re.S):
            if block.startswith(("preset:", "env:", "run:", "ppo:")) and "climb:" not in block:
                read_experiment(yaml_settings.from_yaml(block))
                found += 1
    assert found
    with pytest.raises(UserError):
        read_experiment({"ppo": {"learning_rat": 1}})
