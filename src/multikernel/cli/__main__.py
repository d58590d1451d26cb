"""``python -m multikernel.cli``: the command line where the script is not installed."""

import sys

from . import main

if __name__ == "__main__":
    sys.exit(main())
