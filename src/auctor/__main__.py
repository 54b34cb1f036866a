"""``python -m auctor`` is the ``auctor`` command."""

import sys

from auctor.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
