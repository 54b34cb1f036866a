"""`auctor score CARD.json TABLE`: points, probability and reasons by a saved scorecard."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from auctor.cli.errors import UsageError
from auctor.cli.model_rows import read_features
from auctor.cli.tables import TableFile
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


def card_columns(card: Scorecard, source: TableFile, n_reasons: int) -> dict[str, list[Any]]:
    """The columns points and probability, and the reasons that cost a row most points."""
    rows: pa.Table = read_features(card, source)
    points = card.score(rows)
    plain = points.astype(int) if card.digits == 0 and (abs(points) < 2**53).all() else points
    columns = {"points": plain.tolist(), "probability": card.probability(points).tolist()}
    reasons = card.reasons(rows, n_reasons) if n_reasons else []
    return columns | {f"reason_{k}": texts for k, texts in enumerate(reasons, start=1)}
