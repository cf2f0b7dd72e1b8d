"""Play other people's programs on the original CybORG and on ours: `make test-cyborg-clients CLIENTS=... CYBORG=...`.

`CLIENTS` is a folder of clones (`git clone REPOSITORY` there, at the commits of `programs.py`), `CYBORG` the folder or
folders that hold an original `CybORG` package; which rules one plays is found out. `CYBORG_PYTHON` names an
interpreter with CybORG's dependencies if this one has not all of them; packages that the programs need themselves
(PrettyTable, tqdm, scikit-learn, torch) must be importable in both. What they print and write must be equal, but for
dates and places. What is absent is left out, with a sentence.

`ROUNDS=5` plays each program so often on both, in turns, and prints how many times as fast ours was in each round:
whole programs, their start and their own networks included. `ONLY=WORD` takes the programs whose names have it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from statistics import median

from garrison.cage2.names import RULES
from tests.cyborg_clients.programs import PROGRAMS, Program

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "migration.md"
CLOCK = re.compile(r"\d{8}_\d{6}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
RESULT_FILE = re.compile(r"^Saving evaluation results to (.+)$", re.M)
PLACES = re.compile(r"\S*(?=/Evaluation/|/Shared/Scenarios/)")
SIDES = ("original", "garrison")
SHOWN = 20
"""lines of a difference"""


@dataclass
class Played:
    """What a program printed and wrote, and how long it took."""

    texts: dict[str, str]
    files: dict[str, bytes]
    seconds: float


def main() -> int:
    """Run all that is there, or the programs whose names have a given word; publish if nothing was left out."""
    words, rounds = sys.argv[1:], int(os.environ.get("ROUNDS", "1"))
    clients = Path(os.environ.get("CLIENTS", ""))
    originals = find_originals(os.environ.get("CYBORG", ""))
    if not originals:
        print("Left out: everything, because CYBORG names no folder with the original CybORG package.")
        return 0
    rows = []
    for program in PROGRAMS:
        if words and not any(word in program.name for word in words):
            continue
        if not (clients / program.folder).is_dir():
            print(f"Left out: {program.name}, because CLIENTS has no folder {program.folder!r}.")
            continue
        for rules, original in originals.items():
            rows.append(compare(program, rules, original, clients))
            if rows[-1] and rounds > 1:
                print(speed(program, rules, original, clients, rounds), flush=True)
    if len(rows) == len(PROGRAMS) * len(RULES) and None not in rows:
        publish([row for row in rows if row])
    return None in rows


def find_originals(paths: str) -> dict[str, Path]:
    """Return the folders to put on a path, by the rules that the CybORG there plays."""
    found = {}
    for folder in map(Path, filter(None, paths.split(os.pathsep))):
        sessions = folder / "CybORG" / "Simulator" / "Session.py"
        if sessions.is_file():
            found["head" if "def clearports" in sessions.read_text() else "leaderboard"] = folder
    return found


def compare(program: Program, rules: str, original: Path, clients: Path) -> str | None:
    """Run one program on both and print whether they agree; return a row for the table if they do."""
    theirs, ours = (play(program, rules, original, clients, side) for side in SIDES)
    for side, done in zip(SIDES, (theirs, ours), strict=True):
        if isinstance(done, str):
            print(f"{program.name} ({rules}): does not run on {side}: {done}")
    if isinstance(theirs, str) or isinstance(ours, str):
        return None
    unlike = difference(theirs, ours)
    if unlike:
        print(f"{program.name} ({rules}): {unlike}")
        return None
    lines = sum(len(text.splitlines()) for text in theirs.texts.values())
    row = f"| {program.name} | {rules} | {program.episodes} | {lines:,} | {len(theirs.files) or ''} |"
    print(row, flush=True)
    return row


def speed(program: Program, rules: str, original: Path, clients: Path, rounds: int) -> str:
    """Return how many times as fast ours is: the ratio of each round, and their median."""
    ratios = []
    for _ in range(rounds):
        theirs, ours = (play(program, rules, original, clients, side) for side in SIDES)
        if isinstance(theirs, str) or isinstance(ours, str):
            return f"{program.name} ({rules}): a round failed: {theirs if isinstance(theirs, str) else ours}"
        ratios.append(theirs.seconds / ours.seconds)
    shown = " ".join(f"{ratio:.1f}" for ratio in sorted(ratios))
    return f"{program.name} ({rules}): {median(ratios):.1f} times as fast (rounds: {shown})"


def difference(theirs: Played, ours: Played) -> str:
    """Return what differs between two runs, in a few lines; nothing if they are equal."""
    for name in theirs.texts | ours.texts:
        one, other = (side.texts.get(name, "").splitlines() for side in (theirs, ours))
        if one != other:
            lines = unified_diff(one, other, "original", "garrison", lineterm="", n=0)
            return "\n".join([f"{name} differs:", *islice(lines, SHOWN)])
    unlike = sorted(name for name in theirs.files | ours.files if theirs.files.get(name) != ours.files.get(name))
    return f"these files differ: {', '.join(unlike)}" if unlike else ""


def publish(rows: list[str]) -> None:
    """Put the table into docs/migration.md in the place of the old one."""
    lines = [
        "| program | rules | episodes | equal lines | equal files of weights |",
        "|---|---|---:|---:|---:|",
        *rows,
    ]
    begin, end = "<!-- cyborg-clients: `make test-cyborg-clients` -->\n", "<!-- end cyborg-clients -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), flags=re.S)
    text = begin + "\n".join(lines) + "\n" + end
    PAGE.write_text(pattern.sub(lambda _: text, PAGE.read_text()))


def play(program: Program, rules: str, original: Path, clients: Path, side: str) -> Played | str:
    """Run a program in a copy of its folder, with a copy of CybORG; return what it did, or why it could not."""
    with tempfile.TemporaryDirectory() as folder:
        return play_in(Path(folder), program, rules, original, clients, side)


def play_in(folder: Path, program: Program, rules: str, original: Path, clients: Path, side: str) -> Played | str:
    """Do so in this folder."""
    package = folder / "original"
    shutil.copytree(original, package, ignore=shutil.ignore_patterns("__pycache__", ".git"))
    home = folder / "client"
    if program.folder:
        shutil.copytree(clients / program.folder, home, ignore=shutil.ignore_patterns("__pycache__", ".git", "runs"))
    else:
        home.mkdir()
    script = home / (program.script if program.folder else Path(program.script).name)
    for name in program.beside:
        shutil.copy(HERE / name, script.parent)
    text = (script if program.folder else package / program.script).read_text()
    for old, new in program.edits:
        if old not in text:
            return f"{program.script} has no text {old!r}: is the clone at {program.commit}?"
        text = text.replace(old, new)
    script.write_text(text)
    started = time.perf_counter()
    done = subprocess.run(
        command(program, rules, script, package, side),
        cwd=home,
        env=variables(home, package, side),
        input=program.typed,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    if done.returncode:
        return f"it ended with code {done.returncode}:\n{done.stderr[-2000:]}"
    texts = {"what it prints": plain(done.stdout, program, folder)}
    for file in RESULT_FILE.findall(done.stdout):
        texts["its result file"] = plain(Path(file).read_text(), program, folder)
    files = {}
    for file in sorted(file for pattern in program.leaves for file in home.glob(pattern)):
        name = CLOCK.sub("DATE", str(file.relative_to(home)))
        if file.suffix in (".csv", ".txt"):
            texts[name] = plain(file.read_text(), program, folder)
        else:
            files[name] = file.read_bytes()
    return Played(texts, files, seconds)


def command(program: Program, rules: str, script: Path, package: Path, side: str) -> list[str]:
    """Return how the program is started."""
    arguments = [argument.format(package=package / "CybORG") for argument in program.arguments]
    started = [str(script), *arguments]
    if program.seed is not None:
        started = [str(HERE / "seeded.py"), str(program.seed), program.generators, program.shows, *started]
    if side == "original":
        return [os.environ.get("CYBORG_PYTHON", sys.executable), *started]
    return [sys.executable, "-m", "garrison", "cyborg", "run", "--rules", rules, *started]


def variables(home: Path, package: Path, side: str) -> dict[str, str]:
    """Return the environment: the program's own folder on the path and, for the original, CybORG's."""
    paths = [str(home), *([str(package)] if side == "original" else []), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        # The challenge's script asks git for a commit: both times this project's.
        "GIT_DIR": os.environ.get("GIT_DIR", str(ROOT / ".git")),
    }


def plain(text: str, program: Program, folder: Path) -> str:
    """Return a text without dates, places, and what the program says of its own speed."""
    text = PLACES.sub("PACKAGE", CLOCK.sub("DATE", text).replace(str(folder), "FOLDER"))
    for pattern in program.varies:
        text = re.sub(pattern, "VARIES", text)
    return text


if __name__ == "__main__":
    sys.exit(main())
