"""`python -m garrison` is the `garrison` command."""

import sys

from garrison.cli import main

sys.exit(main())
