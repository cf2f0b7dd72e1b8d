"""A sweep as a job array of SLURM: the scripts, which nobody but the user submits."""

import shlex
import sys
from pathlib import Path

from garrison.storage.atomic import write_text
from garrison.sweeps.sweep_plan import SweepPlan
from garrison.sweeps.sweep_runs import SweepFolder

ARRAY, MERGE, LOGS = "array.sbatch", "merge.sbatch", "slurm-logs"
VARIABLE = "SLURM_ARRAY_TASK_ID"
TIME = "04:00:00"
MEMORY = "4G"


def write_scripts(plan: SweepPlan, folder: SweepFolder, cores: int) -> tuple[Path, Path]:
    """Write the script of the array and that of the merge step; return their paths."""
    tasks = plan.config.trials if plan.is_search else plan.runs
    here, where = shlex.quote(str(Path.cwd())), shlex.quote(str(folder.path.resolve()))
    command = f"{shlex.quote(sys.executable)} -m garrison sweep {where}"
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in plan.name)
    logs = folder.path.resolve() / LOGS
    logs.mkdir(parents=True, exist_ok=True)
    what = "trial" if plan.is_search else "run"
    shared = [
        "# Change what your cluster asks for: time, memory, partition, account.",
        f"#SBATCH --time={TIME}",
        f"#SBATCH --mem={MEMORY}",
    ]
    array = [
        "#!/bin/bash",
        f"#SBATCH --job-name={name}",
        f"#SBATCH --array=0-{tasks - 1}",
        f"#SBATCH --cpus-per-task={cores}",
        f"#SBATCH --output={_sbatch(logs)}/%a.txt",
        "#SBATCH --open-mode=append",
        "#SBATCH --signal=B:TERM@120",
        *shared,
        "",
        f"# Task N trains {what} N of the sweep. Submitted again, it goes on with what is not finished.",
        "set -eu",
        f"cd {here}",
        f'exec {command} --task "${VARIABLE}"',
    ]
    merge = [
        "#!/bin/bash",
        f"#SBATCH --job-name={name}-merge",
        f"#SBATCH --output={_sbatch(logs)}/merge.txt",
        *shared,
        "",
        "# Table, page and best settings of all that is there; it trains nothing.",
        "set -eu",
        f"cd {here}",
        f"exec {command} --merge",
    ]
    paths = folder.path / ARRAY, folder.path / MERGE
    for path, lines in zip(paths, (array, merge), strict=True):
        write_text(path, "\n".join(lines) + "\n")
    return paths


def how_to_submit(array: Path, merge: Path) -> str:
    """Return the commands that submit both, the merge step after the array."""
    first, second = (shlex.quote(str(path)) for path in (array, merge))
    return f"sbatch --dependency=afterany:$(sbatch --parsable {first}) {second}"


def _sbatch(path: Path) -> str:
    """Return a path as sbatch reads it in a file name pattern: % begins a replacement, and a space ends a word."""
    text = str(path).replace("%", "%%")
    return f'"{text}"' if " " in text else text
