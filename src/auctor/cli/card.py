"""`--card NAME=TEXT`, or a table [card] of the config file: what the user says in a model card."""

import json
from collections.abc import Sequence

from auctor.cli.errors import UsageError, nearest


def read_card(entries: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Paragraphs by the name of the entry; the last one of a name counts.

    A list in the config file is a list of paragraphs.

    Examples
    --------
    >>> read_card([("owner", "Credit risk"), ("limits", '["No firms.", "No loans above 1m."]')])
    {'owner': ['Credit risk'], 'limits': ['No firms.', 'No loans above 1m.']}
    """
    if not entries:
        return {}
    # Imported here: a fit without a card does not need the report.
    from auctor.report.card import STATED

    card = {}
    for key, value in entries:
        name = key.replace("-", "_")
        if name not in STATED:
            raise UsageError(
                f"--card {key!r} is not an entry of a model card{nearest(name, STATED)}"
            )
        card[name] = _paragraphs(value)
    return card


def _paragraphs(value: str) -> list[str]:
    """The text, or the texts of a JSON list, which is how a list of the config file arrives."""
    parts = None
    if value.startswith("["):
        try:
            parts = json.loads(value)
        except ValueError:
            parts = None
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        parts = [value]
    return [part for part in parts if part.strip()]
