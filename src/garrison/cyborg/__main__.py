"""`python -m garrison.cyborg` is `garrison cyborg`."""

import sys

from garrison.cli import main

sys.exit(main(["cyborg", *sys.argv[1:]]))
