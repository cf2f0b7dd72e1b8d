"""The `garrison` command: a table of commands, each in a module that is imported only when it runs.

A command's module has `main(arguments) -> int`, the exit code. A `GarrisonError` that leaves it is printed as one or
two sentences, without a traceback; what else it has to tell goes to a file that the message names.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

from garrison.errors import GarrisonError
from garrison.version import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("garrison.commands.train", "train an agent: a preset, or settings in a YAML file"),
    "evaluate": ("garrison.commands.evaluate", "score a defender by the challenge's protocol"),
    "watch": ("garrison.commands.watch", "look at episodes of a defender, step by step, in one HTML file"),
    "runs": ("garrison.commands.runs", "list the runs in a folder: state, score, learning curve; also as a page"),
    "export": ("garrison.commands.export", "write a trained network as ONNX, TorchScript or NumPy, for other programs"),
    "compare": ("garrison.commands.compare", "put runs side by side"),
    "race": ("garrison.commands.race", "train presets for equal times, then put them side by side"),
    "sweep": ("garrison.commands.sweep", "train many runs: seeds, grids of settings, searches by Optuna"),
    "plot": ("garrison.commands.plot", "draw figures of a run or a search, for papers: PNG, PDF or SVG"),
    "selfplay": ("garrison.commands.selfplay", "train attackers and defenders in turns, against each other"),
    "workflow": ("garrison.commands.workflow", "train, search and evaluate defenders that fix hosts in a given order"),
    "text": ("garrison.commands.text", "let language models defend: observations and actions in words"),
    "conformance": ("garrison.commands.conformance", "replay recorded CybORG episodes and compare every value"),
    "cyborg": ("garrison.commands.cyborg", "run scripts that were written for CybORG, unchanged, on this simulator"),
    "bench": ("garrison.commands.bench", "measure the simulator and the backends, beside every installed peer"),
    "profile": ("garrison.commands.profile", "where the time of a step goes, for any environment and backend"),
    "doctor": ("garrison.commands.doctor", "versions, cores, compiled kernels and a two-second speed check"),
    "demo": ("garrison.commands.demo", "play the scripted attackers against simple defenders"),
}

BUG = "this is a bug in Garrison. Please report it, with the traceback above, as an issue of its repository."


def usage() -> str:
    """Return the overview that `garrison --help` prints."""
    width = max(map(len, COMMANDS))
    rows = [f"  {name:<{width}}  {what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join(
        [
            f"garrison {__version__}: cyber-defence agents at the speed of the machine",
            "",
            "usage: garrison COMMAND [options]      (garrison COMMAND --help lists a command's options)",
            "",
            *rows,
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0
    if arguments[0] == "--version":
        print(__version__)
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        from difflib import get_close_matches

        near = get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(COMMANDS)}."
        print(f"garrison: no command {name!r}; {hint}", file=sys.stderr)
        return 2
    from garrison.system import let_idle_threads_sleep

    let_idle_threads_sleep()  # also in all processes that the command starts
    try:
        code: int = import_module(COMMANDS[name][0]).main(rest)
        return code
    except GarrisonError as error:
        return report(name, error)
    except BrokenPipeError:  # somebody read as much as they wanted: garrison evaluate record | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a full disk, a folder that may not be written: the machine's failure, not ours
        if error.filename is None:
            error.add_note(f"garrison {name}: {BUG}")
            raise
        return report(name, of_the_machine(error))
    except MemoryError as error:
        what = f": {error}" if str(error) else ""
        return report(name, GarrisonError(f"there is not enough memory{what}.", hint="Choose smaller sizes."))
    except KeyboardInterrupt:
        print(f"garrison {name}: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        error.add_note(f"garrison {name}: {BUG}")
        raise


def report(command: str, error: GarrisonError) -> int:
    """Print a failure for people, keep its details in a file, and return the exit code."""
    lines = [f"garrison {command}: {error.summary} {error.hint}".rstrip()]  # str() may also have the details
    if error.details or error.details_file:
        try:
            lines.append(f"The details are in {error.details_file or keep(command, error.details)}")
        except OSError:  # nowhere to write: then the screen has to do
            lines.append(error.details)
    print("\n".join(wrapped(line) for line in "\n".join(lines).splitlines()), file=sys.stderr)
    return error.exit_code


def of_the_machine(error: OSError) -> GarrisonError:
    """Describe a file that cannot be read or written."""
    import traceback

    details = "".join(traceback.format_exception(error))
    return GarrisonError(f"{error.strerror or type(error).__name__}: {error.filename}", details=details)


def keep(command: str, details: str) -> Path:
    """Write the details of a failure that has no run's folder; return the new file."""
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile("w", prefix=f"garrison-{command}-", suffix=".txt", delete=False, encoding="utf-8") as file:
        file.write(details.rstrip() + "\n")
    return Path(file.name)


def wrapped(line: str) -> str:
    """Break a line between words where a terminal would break it within one; files and pipes get it whole."""
    from shutil import get_terminal_size
    from textwrap import fill

    if not sys.stderr.isatty():
        return line
    return fill(line, get_terminal_size().columns - 1, break_long_words=False, break_on_hyphens=False)
