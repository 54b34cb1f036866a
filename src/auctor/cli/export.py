"""`auctor export`: a model in another format."""

import argparse
from importlib import import_module

# Name of a format -> the module that writes it.
_FORMATS = {"scorecard": "auctor.cli.export_scorecard"}


def run(args: argparse.Namespace) -> None:
    """Write the model in the format of ``--to``."""
    import_module(_FORMATS[args.to]).run(args)
