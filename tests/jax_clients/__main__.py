"""Run other people's JAX programs on our environment, unmodified but for its name: `make test-jax-clients`.

PureJaxRL's `ppo.py`, rejax's PPO and the wrappers of Gymnax 1.x, each in a process of its own, the trainers with both
versions of Gymnax. PureJaxRL is no package: it is cloned, at one commit, into the environment of the clients;
`PUREJAXRL` may name a folder that holds it instead. A run in which everything went well writes docs/jax.md's table.
"""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "jax.md"
REPOSITORY = "https://github.com/luchris429/purejaxrl"
COMMIT = "31756b197773a52db763fdbe6d635e4b46522a73"
NEWER_GYMNAX = Path(sys.prefix) / "gymnax-1"
"""Where the Makefile puts Gymnax 1.x; the environment itself has the last 0.x."""
RUNS = (
    ("purejaxrl_ppo", False),
    ("purejaxrl_ppo", True),
    ("rejax_ppo", False),
    ("rejax_ppo", True),
    ("gymnax_one", True),
)
"""Which program, and whether with the newer Gymnax"""


def main() -> int:
    """Run all clients; print what they say, and publish it if each of them learned."""
    purejaxrl = fetch()
    said = [run(name, is_newer, purejaxrl) for name, is_newer in RUNS]
    text = table(said)
    print(text)
    wrong = [f"{each['client']} with Gymnax {each['gymnax']}: {each['wrong']}" for each in said if each["wrong"]]
    for one, other in pairwise(said):
        if one["client"] == other["client"] and one["returns"] != other["returns"]:
            wrong.append(f"{one['client']}: the versions of Gymnax make a difference")
    for line in wrong:
        print(f"unexpected: {line}")
    if not wrong:
        publish(text)
    return bool(wrong)


def fetch() -> Path:
    """Return the folder of PureJaxRL's programs; say in one sentence if it cannot be had."""
    given = os.environ.get("PUREJAXRL")
    folder = Path(given) if given else Path(sys.prefix) / "purejaxrl"
    commands = [] if folder.exists() else [["clone", "--quiet", REPOSITORY, str(folder)]]
    commands += [["-C", str(folder), "checkout", "--quiet", COMMIT]]
    for command in [] if given else commands:
        if subprocess.run(["git", *command], stderr=subprocess.DEVNULL, check=False).returncode:
            sys.exit(
                f"PureJaxRL could not be fetched from {REPOSITORY}: set PUREJAXRL to a folder that holds a clone at "
                f"commit {COMMIT[:7]}, or try again with a network."
            )
    if not (folder / "purejaxrl" / "ppo.py").is_file():
        sys.exit(f"{folder} holds no purejaxrl/ppo.py: PUREJAXRL must name a clone of {REPOSITORY}.")
    return folder / "purejaxrl"


def run(name: str, is_newer: bool, purejaxrl: Path) -> dict[str, Any]:
    """Run one program and return what it says: its last line, as JSON."""
    print(f"{name}{' with the newer Gymnax' if is_newer else ''} ...", file=sys.stderr, flush=True)
    paths = [str(NEWER_GYMNAX)] if is_newer else []
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(purejaxrl)])}
    done = subprocess.run(
        [sys.executable, "-m", f"tests.jax_clients.{name}"],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{name} ended with code {done.returncode}:\n{done.stderr}")
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def table(said: list[dict[str, Any]]) -> str:
    """Return the runs as a table for the page."""
    lines = [
        "| client | version | Gymnax | what it did | return of an episode: first, last |",
        "|---|---|---|---|---:|",
    ]
    for each in said:
        cells = [each[key] for key in ("client", "version", "gymnax", "did")]
        lines.append(f"| {' | '.join(cells)} | {', '.join(f'{value:.1f}' for value in each['returns'])} |")
    return "\n".join(lines) + "\n"


def publish(text: str) -> None:
    """Put the table into docs/jax.md in the place of the old one."""
    begin, end = "<!-- clients: `make test-jax-clients` -->\n", "<!-- end clients -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), flags=re.S)
    PAGE.write_text(pattern.sub(lambda _: begin + text + end, PAGE.read_text()))


if __name__ == "__main__":
    sys.exit(main())
