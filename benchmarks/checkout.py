"""Importing this module makes `papers` and `tests.reference` of the checkout importable.

A benchmark is run as a script, and Python then puts only the folder of the script on its path.
"""

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))
