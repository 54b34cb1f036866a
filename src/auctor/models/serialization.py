"""The text of a model file, and the part of a model that every form has.

A model file is JSON with a format version and a checksum. This module knows the text alone;
``auctor.models.file`` turns it into a model of its form. Every form of model has classes, a
threshold and a calibration (``Shared``).
"""

import hashlib
import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from auctor.data.features import Category
from auctor.data.missing_codes import MissingCodes
from auctor.models.fields import Fields
from auctor.models.training_record import TrainingRecord


class Calibration(NamedTuple):
    """The probability of the positive class for a score: 1 / (1 + exp(-(slope * score + offset))).

    ``slope`` is positive, so that a larger score never has a smaller probability.

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> calibration = RankBoost(n_estimators=3).fit(X, y).model_.calibration
    >>> round(calibration.slope, 3), round(calibration.offset, 3)
    (3.083, -1.323)
    """

    slope: float
    offset: float


class Shared(NamedTuple):
    """The fields of a model file that do not depend on the form of the model."""

    classes: tuple[Category, Category]  # (negative, positive)
    threshold: float
    calibration: Calibration


FORMAT = "auctor-model"
CARD_FORMAT = "auctor-scorecard"
VERSION = 1

_MAX_DIGITS = 400  # of a whole number; the largest float has 309


class ParsedFile(NamedTuple):
    """The checked content of a model file; ``body`` and ``training`` are still to be read."""

    form: str
    shared: Shared
    body: Fields
    training: Fields | None  # None in files without a training record
    missing_codes: dict[str, tuple[Category, ...]]


def write_model_text(
    form: str,
    shared: Shared,
    body: dict[str, Any],
    training: TrainingRecord | None = None,
    missing_codes: MissingCodes | None = None,
) -> str:
    """The text of a model's file; ``body`` is the part that depends on the form."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "form": form,
        "classes": [plain_label(label) for label in shared.classes],
        "threshold": float(shared.threshold),
        "calibration": {name: float(x) for name, x in shared.calibration._asdict().items()},
        "body": body,
    }
    if missing_codes:
        content["missing_codes"] = {name: list(codes) for name, codes in missing_codes.items()}
    if training is not None:
        content["training"] = training.body()
    try:
        content["sha256"] = checksum(content)
        return json.dumps(content, allow_nan=False, indent=1) + "\n"
    except (TypeError, ValueError) as error:
        raise ValueError(f"this model cannot be written as JSON: {error}") from None


def plain_label(label: Any) -> Any:
    """A class label as JSON has it."""
    plain = label.item() if isinstance(label, np.generic) else label
    if not isinstance(plain, (str, int, float, bool)):
        raise ValueError(
            f"classes holds {label!r} of type {type(label).__name__}, which JSON cannot hold; "
            "fit with labels that are text, numbers or booleans"
        )
    return plain


def parse_model_text(text: str, forms: Iterable[str]) -> ParsedFile:
    """The content of a model file of one of ``forms``; a ValueError names the field at fault."""
    content = parse_json(text)
    fields = Fields(content)
    given = fields.take("format")
    if given == CARD_FORMAT:
        raise ValueError(
            "this is a scorecard and not a model; auctor.load_scorecard and `auctor score` read it"
        )
    if given != FORMAT:
        raise fields.fail("format", f"'{FORMAT}'")
    version = fields.integer("version")
    if not 1 <= version <= VERSION:
        raise ValueError(
            f"model file: field 'version' is {version}; this release of auctor reads 1 to {VERSION}"
        )
    form = fields.choice("form", tuple(forms))
    shared = _read_shared(fields)
    body = fields.child("body")
    training = fields.child("training") if fields.has("training") else None
    codes = fields.child("missing_codes") if fields.has("missing_codes") else Fields({})
    missing_codes = {name: codes.scalars(name) for name in codes.names()}
    verify_checksum(fields.text("sha256"), content)
    fields.end()
    return ParsedFile(form, shared, body, training, missing_codes)


def _read_shared(fields: Fields) -> Shared:
    classes = fields.scalars("classes")
    if len(classes) != 2:
        raise fields.fail("classes", "two labels of one type")
    calibration = fields.child("calibration")
    slope, offset = calibration.number("slope"), calibration.number("offset")
    if not slope > 0:
        raise calibration.fail("slope", "positive")
    calibration.end()
    return Shared((classes[0], classes[1]), fields.number("threshold"), Calibration(slope, offset))


def checksum(content: dict[str, Any]) -> str:
    """The SHA-256 of a model file's content, without the field that holds it.

    It is that of the canonical JSON text, so that spaces and the order of fields do not matter.
    """
    rest = {name: value for name, value in content.items() if name != "sha256"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def verify_checksum(expected: str, content: dict[str, Any]) -> None:
    """Raise an error if a file's content is not what was written."""
    if checksum(content) != expected:
        raise ValueError(
            "model file: field 'sha256' does not match the content; the file was changed after "
            "it was written"
        )


def parse_json(text: str) -> Any:
    """The content of a JSON text, without what hides in some: NaN, huge numbers, fields twice."""
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_int=_parse_int,
            parse_float=_parse_float,
            object_pairs_hook=_refuse_duplicates,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"model file: it is not valid JSON ({error})") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"model file: it holds {name}, which cannot occur in a model")


def _parse_int(literal: str) -> int:
    if len(literal) > _MAX_DIGITS:
        raise ValueError(
            f"model file: it holds a number of {len(literal)} digits, which cannot occur in a model"
        )
    return int(literal)


def _parse_float(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError(f"model file: the number {literal[:20]} is too large for a model")
    return number


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"model file: field '{twice}' occurs twice")
    return content
