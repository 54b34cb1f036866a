"""argparse with errors on one line, suggestions for misspelt options, and help that wraps well."""

import argparse
import sys
import textwrap
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

WRONG_USAGE = 2


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help that does not break names such as smooth-aucboost-cv at their hyphens."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """A parser that prints errors on one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"auctor: error: {message} (see {self.prog} --help)\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a message; unlike argparse, raise an error if help cannot be printed."""
        if file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; the error about an unknown option suggests the most similar known one."""
        words = sys.argv[1:] if args is None else args
        parsed, unknown = self.parse_known_args(_joined(words), namespace)
        if unknown:
            parser = _subparser(self, getattr(parsed, "command", None))
            flags = [flag for action in parser._actions for flag in action.option_strings]
            near = get_close_matches(unknown[0].partition("=")[0], flags, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed


def _joined(words: Sequence[str]) -> list[str]:
    """Words in which ``--missing -9,-8`` is one, since argparse would take -9,-8 for an option."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "--missing" and word[:1] == "-" and word[1:2].isdigit():
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _subparser(parser: argparse.ArgumentParser, command: str | None) -> argparse.ArgumentParser:
    """The parser of the command that was typed."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) and command in action.choices:
            subparser: argparse.ArgumentParser = action.choices[command]
            return subparser
    return parser
