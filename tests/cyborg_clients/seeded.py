"""Run a program that seeds nothing by itself: `seeded.py SEED NAMES PROGRAM [ARGUMENTS]`.

Seeds Python's, NumPy's and torch's generators, runs the program as if it had been started directly, and prints the
global variables NAMES (comma separated, `-` for none): what it kept but did not print.
"""

import os
import random
import runpy
import sys


def main() -> None:
    """Seed, run, and print what was asked for."""
    seed, names, program = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    random.seed(seed)
    try:
        import numpy
        import torch
    except ModuleNotFoundError:
        pass  # a program without them needs no seed for them
    else:
        numpy.random.seed(seed)  # noqa: NPY002 - the generator that such programs draw from
        torch.manual_seed(seed)
        torch.set_num_threads(1)
    sys.argv = sys.argv[3:]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    left = runpy.run_path(program, run_name="__main__")
    for name in [] if names == "-" else names.split(","):
        print(f"{name} = {left[name]!r}")


if __name__ == "__main__":
    main()
