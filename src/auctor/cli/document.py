"""The options that make a report a document: title, author, what a label means; date and hashes."""

import argparse
import shlex
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from typing import Any, Self

from auctor._text import file_name
from auctor.cli.breakdown import Compare, read_compare
from auctor.cli.card import read_card
from auctor.cli.errors import UsageError

# Option -> the attribute of the parsed arguments, of options that only a report uses.
_OPTIONS = {
    "--title": "title",
    "--author": "author",
    "--positive-name": "positive_name",
    "--no-example-rows": "no_example_rows",
    "--card": "card",
    "--by": "by",
    "--compare": "compare",
}

# Attributes of the parsed arguments that are paths.
_FILES = ("table", "model", "out", "report", "config", "holdout", "card", "facts")


@dataclass(frozen=True)
class Document:
    """What the user says about a report."""

    title: str | None = None
    author: str | None = None
    positive_name: str | None = None
    example_rows: bool = True
    card: dict[str, list[str]] = field(default_factory=dict)
    by: tuple[str, ...] = ()  # columns of subgroups
    compare: Compare = "rest"  # with the other subgroups together, or every two of them

    @classmethod
    def from_args(cls, args: argparse.Namespace) -> Self:
        """The options of ``report``, and of ``fit --report``."""
        return cls(
            title=args.title,
            author=args.author,
            positive_name=args.positive_name,
            example_rows=not args.no_example_rows,
            card=read_card(args.card),
            by=tuple(args.by),
            compare=read_compare(args),
        )

    def about(self, model: bytes) -> dict[str, Any]:
        """Entries of ``about`` of ``summarize``; ``model`` is the content of the model file."""
        return {
            "title": self.title,
            "author": self.author,
            "made": date.today().isoformat(),
            "positive_name": self.positive_name,
            "model_hash": sha256(model).hexdigest(),
        }


def shown_command(args: argparse.Namespace) -> str:
    """The command line as a page shows it: files without their folders, which may be private."""
    values = {value for name in _FILES if isinstance(value := getattr(args, name, None), str)}
    words = []
    for word in args.typed:
        option, equals, value = word.rpartition("=") if word.startswith("--") else ("", "", word)
        words.append(option + equals + (file_name(value) if value in values else value))
    return shlex.join(["auctor", *words])


def check_document(args: argparse.Namespace) -> None:
    """The options of a report need one."""
    for option, name in _OPTIONS.items():
        if getattr(args, name) and args.report is None:
            raise UsageError(f"{option} is an option of the report; add --report")
