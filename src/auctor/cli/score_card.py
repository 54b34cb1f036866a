"""`auctor score CARD.json TABLE`: a saved scorecard in place of a model."""

from pathlib import Path
from typing import Any

from auctor.cli.errors import UsageError
from auctor.models import Scorecard, load_scorecard
from auctor.models.serialization import CARD_FORMAT

_HEAD = 200  # characters of a file in which its format stands


def is_scorecard(path: str) -> bool:
    """Whether a file is a scorecard, by the format at its beginning."""
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return f'"{CARD_FORMAT}"' in file.read(_HEAD)
    except OSError:
        return False  # loading it as a model says what is wrong


def load_card(path: str, given: dict[str, Any]) -> Scorecard:
    """The card of a file; an error names the first option that works with models only."""
    for option, value in given.items():
        if value is not None and value is not False:
            raise UsageError(f"{option} works with a model, and {path} is a scorecard")
    return load_scorecard(path)
