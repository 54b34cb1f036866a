"""Scorecard files: JSON with a format version and a checksum. Loading one runs no code of it."""

import json
from typing import TYPE_CHECKING, Any

from auctor.data.missing_codes import MissingCodes
from auctor.models.fields import Fields
from auctor.models.scorecard.points import CardTerm, read_term
from auctor.models.scorecard.quality import read_quality
from auctor.models.scorecard.scale import DIRECTIONS, PointScale
from auctor.models.serialization import (
    CARD_FORMAT,
    checksum,
    parse_json,
    plain_label,
    verify_checksum,
)

if TYPE_CHECKING:
    from auctor.models.scorecard.card import Scorecard

VERSION = 1
_MOST_DIGITS = 9


def card_text(card: "Scorecard") -> str:
    """The text of a scorecard's file."""
    content: dict[str, Any] = {
        "format": CARD_FORMAT,
        "version": VERSION,
        "classes": [plain_label(label) for label in card.classes],
        "scale": dict(vars(card.scale)),
        "base_points": card.base_points,
        "digits": card.digits,
        "terms": [term._body() for term in card.terms],
        "feature_names": list(card.feature_names),
        "missing_codes": {name: list(codes) for name, codes in card.missing_codes.items()},
        "model_sha256": card.model_sha256,
    }
    if card.quality is not None:
        content["quality"] = dict(vars(card.quality))
    try:
        content["sha256"] = checksum(content)
        return json.dumps(content, allow_nan=False, indent=1) + "\n"
    except (TypeError, ValueError) as error:
        raise ValueError(f"this scorecard cannot be written as JSON: {error}") from None


def parse_card_text(text: str) -> dict[str, Any]:
    """The fields of the scorecard in the text of a file; a ValueError names the one at fault."""
    try:
        content = parse_json(text)
        parts = _read(Fields(content))
        verify_checksum(parts.pop("sha256"), content)
    except RecursionError:
        raise ValueError("scorecard file: it is nested too deeply") from None
    except ValueError as error:
        # The checks of fields are those of model files.
        raise ValueError(str(error).replace("model file:", "scorecard file:", 1)) from None
    return parts


def _read(fields: Fields) -> dict[str, Any]:
    if fields.take("format") != CARD_FORMAT:
        raise fields.fail("format", f"'{CARD_FORMAT}'")
    version = fields.integer("version")
    if not 1 <= version <= VERSION:
        raise ValueError(
            f"model file: field 'version' is {version}; this release of auctor reads 1 to {VERSION}"
        )
    classes = fields.scalars("classes")
    if len(classes) != 2:
        raise fields.fail("classes", "two labels of one type")
    parts: dict[str, Any] = {
        "classes": classes,
        "scale": _read_scale(fields.child("scale")),
        "base_points": fields.number("base_points"),
        "digits": _read_digits(fields),
        "feature_names": _read_names(fields),
        "model_sha256": fields.text("model_sha256"),
        "sha256": fields.text("sha256"),
    }
    parts["terms"] = _read_terms(fields, parts["feature_names"])
    parts["missing_codes"] = _read_codes(fields, parts["feature_names"])
    if fields.has("quality"):
        parts["quality"] = read_quality(fields.child("quality"))
    fields.end()
    return parts


def _read_scale(fields: Fields) -> PointScale:
    pdo, odds = fields.number("pdo"), fields.number("odds")
    for name, number in (("pdo", pdo), ("odds", odds)):
        if not number > 0:
            raise fields.fail(name, "a number above 0")
    direction = DIRECTIONS[DIRECTIONS.index(fields.choice("direction", DIRECTIONS))]
    base_score = fields.number("base_score")
    fields.end()
    return PointScale(pdo, odds, base_score, direction)


def _read_digits(fields: Fields) -> int | None:
    value = fields.take("digits")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_DIGITS:
        raise fields.fail("digits", f"null or a whole number from 0 to {_MOST_DIGITS}")
    return value


def _read_names(fields: Fields) -> tuple[str, ...]:
    names = fields.scalars("feature_names")
    texts = tuple(name for name in names if isinstance(name, str))
    if len(texts) < len(names) or not names:
        raise fields.fail("feature_names", "a list of one or more different names")
    return texts


def _read_terms(fields: Fields, names: tuple[str, ...]) -> tuple[CardTerm, ...]:
    terms = tuple(read_term(child) for child in fields.children("terms"))
    if len({term.name for term in terms}) < len(terms):
        raise fields.fail("terms", "a list of terms with different names")
    known: dict[str, str] = {}
    for feature in (feature for term in terms for feature in term.features):
        if feature.name not in names:
            raise fields.fail("terms", f"terms of features; {feature.name[:40]!r} is none")
        if known.setdefault(feature.name, feature.kind) != feature.kind:
            raise fields.fail("terms", f"of one kind for {feature.name[:40]!r}")
    return terms


def _read_codes(fields: Fields, names: tuple[str, ...]) -> MissingCodes:
    codes = fields.child("missing_codes")
    for name in codes.names():
        if name not in names:
            raise fields.fail(f"missing_codes.{name[:40]}", "the name of a feature")
    return {name: codes.scalars(name) for name in codes.names()}
