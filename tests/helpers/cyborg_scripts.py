"""Small scripts that import CybORG, run as people run theirs."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

MADE = """
import inspect, random
from CybORG import CybORG
from CybORG.Agents import *
from CybORG.Agents.Wrappers import *

def made(**agents):
    return CybORG(str(inspect.getfile(CybORG))[:-10] + "/Shared/Scenarios/Scenario2.yaml", "sim", agents=agents)
"""
"""The lines that most of them begin with."""


def garrison_cyborg(*arguments: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run `python -m garrison.cyborg` with these arguments."""
    command = [sys.executable, "-m", "garrison.cyborg", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def run_script(folder: Path, text: str, *options: str, name: str = "script.py") -> "subprocess.CompletedProcess[str]":
    """Write a script into a folder and run it; `options` are those of `garrison cyborg run`."""
    script = folder / name
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(dedent(text))
    return garrison_cyborg("run", *options, str(script))


def lines_of(folder: Path, text: str, *options: str) -> list[str]:
    """Run a script that is to succeed; return what it printed."""
    done = run_script(folder, text, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
