"""Values of options as the parser reads them: whole numbers, NAME=VALUE, delimiters."""

import argparse
from collections.abc import Callable


def read_number(wanted: str, is_valid: Callable[[int], bool]) -> Callable[[str], int]:
    """A type for argparse: whole numbers for which ``is_valid`` is true."""

    def parse(text: str) -> int:
        if not text.removeprefix("-").isdecimal() or not is_valid(int(text)):
            raise argparse.ArgumentTypeError(f"give a whole number {wanted}, not {text!r}")
        return int(text)

    return parse


def read_parameter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"give NAME=VALUE, not {text!r}")
    return name.strip(), value


def read_delimiter(text: str) -> str:
    char = "\t" if text in ("tab", "\\t") else text
    if len(char) != 1 or not char.isascii() or char in '"\r\n':
        raise argparse.ArgumentTypeError(f"give one character or 'tab', not {text!r}")
    return char
