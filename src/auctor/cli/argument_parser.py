"""argparse with errors on one line, suggestions for misspelt options, and help that wraps well."""

import argparse
import sys
import textwrap
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

WRONG_USAGE = 2
# What other programs call a command -> its name here.
_OTHER_NAMES = {"predict": "score", "train": "fit", "test": "evaluate", "eval": "evaluate"}


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
        if words and words[0] in _OTHER_NAMES:
            meant = _OTHER_NAMES[words[0]]
            self.error(f"there is no command {words[0]!r}; did you mean auctor {meant}?")
        parsed, unknown = self.parse_known_args(_joined(words), namespace)
        if unknown:
            parser = _commands(self).get(getattr(parsed, "command", None) or "", self)
            hint = _hint(self, parser, unknown[0].partition("=")[0])
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed


def _hint(whole: argparse.ArgumentParser, parser: argparse.ArgumentParser, unknown: str) -> str:
    """The end of an error about an unknown option: the command that has it, or a similar one."""
    if unknown.startswith("--"):
        commands = _commands(whole)
        homes = [name for name, other in commands.items() if unknown in _flags(other)]
        if homes:
            return f"; {unknown} is an option of auctor {' and '.join(homes)}"
    near = get_close_matches(unknown, _flags(parser), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _flags(parser: argparse.ArgumentParser) -> list[str]:
    return [flag for action in parser._actions for flag in action.option_strings]


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _joined(words: Sequence[str]) -> list[str]:
    """Words in which ``--missing -9,-8`` is one, since argparse would take -9,-8 for an option."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "--missing" and word[:1] == "-" and word[1:2].isdigit():
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined
