"""Run a program that seeds nothing by itself: `seeded.py SEED GENERATORS NAMES PROGRAM [ARGUMENTS]`.

Seeds Python's generator, and those of GENERATORS (`numpy`, `torch`; comma separated, `-` for none), runs the program
as if it had been started directly, and prints the global variables NAMES (likewise): what it kept but did not print.
"""

import os
import random
import runpy
import sys


def main() -> None:
    """Seed, run, and print what was asked for."""
    seed, generators, names, program = int(sys.argv[1]), listed(sys.argv[2]), listed(sys.argv[3]), sys.argv[4]
    random.seed(seed)
    if "numpy" in generators:
        import numpy

        numpy.random.seed(seed)  # noqa: NPY002 - the generator that such programs draw from
    if "torch" in generators:
        import torch

        torch.manual_seed(seed)
        torch.set_num_threads(1)
    sys.argv = sys.argv[4:]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    left = runpy.run_path(program, run_name="__main__")
    for name in names:
        print(f"{name} = {left[name]!r}")


def listed(argument: str) -> list[str]:
    """Return the words of an argument."""
    return [] if argument == "-" else argument.split(",")


if __name__ == "__main__":
    main()
