"""Model files: JSON with a format version and a checksum. Loading runs no code."""

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from auctor._files import write_text_file
from auctor.models.base import Calibration, Model, Shared
from auctor.models.fields import Fields

FORMAT = "auctor-model"
VERSION = 1

_MOST_DIGITS = 400  # of a whole number; the largest float has 309

# Form name -> class. A new form registers itself; files name it by ``form``.
FORMS: dict[str, type[Model]] = {}


def register(form: type[Model]) -> type[Model]:
    """Class decorator: files of this form can be loaded."""
    FORMS[form.form] = form
    return form


def to_json(model: Model) -> str:
    """The text of a model's file."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "form": model.form,
        "classes": [_plain_label(label) for label in model.classes],
        "threshold": float(model.threshold),
        "calibration": {name: float(x) for name, x in model.calibration._asdict().items()},
        "body": model.body(),
    }
    try:
        content["sha256"] = _checksum(content)
        return json.dumps(content, allow_nan=False, indent=1) + "\n"
    except (TypeError, ValueError) as error:
        raise ValueError(f"this model cannot be written as JSON: {error}") from None


def _plain_label(label: Any) -> Any:
    """A class label as JSON has it."""
    plain = label.item() if isinstance(label, np.generic) else label
    if not isinstance(plain, (str, int, float, bool)):
        raise ValueError(
            f"classes holds {label!r} of type {type(label).__name__}, which JSON cannot hold; "
            "fit with labels that are text, numbers or truth values"
        )
    return plain


def from_json(text: str) -> Model:
    """The model of a file's text; a ValueError names the field that is wrong."""
    try:
        return _read(_parse(text))
    except RecursionError:  # from the parser, or later from the checksum
        raise ValueError("model file: nested too deeply") from None


def _read(content: Any) -> Model:
    fields = Fields(content)
    if fields.take("format") != FORMAT:
        raise fields.fail("format", f"'{FORMAT}'")
    version = fields.integer("version")
    if not 1 <= version <= VERSION:
        raise ValueError(
            f"model file: version {version} is unknown; this release reads 1 to {VERSION}"
        )
    form = FORMS[fields.choice("form", tuple(FORMS))]
    shared = _read_shared(fields)
    body = fields.child("body")
    _verify(fields.text("sha256"), content)
    fields.end()
    model = form.from_body(body, shared)
    body.end()
    return model


def save(model: Model, path: str | Path) -> None:
    """Write a model's file, complete or not at all; a link is followed."""
    write_text_file(path, to_json(model))


def load(path: str | Path) -> Model:
    """Read a saved model.

    Raises
    ------
    ValueError
        If the file is damaged, truncated, of an unknown version, or no model file at all;
        the message names the field.
    """
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder, not a model file")
    try:
        return from_json(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # UnicodeDecodeError is one, too
        raise ValueError(f"{path}: {error}") from None


def _parse(text: str) -> Any:
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_int=_parse_int,
            parse_float=_parse_float,
            object_pairs_hook=_once,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"model file: no valid JSON ({error})") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"model file: {name} is not a number that a model holds")


def _parse_int(literal: str) -> int:
    if len(literal) > _MOST_DIGITS:
        raise ValueError(f"model file: a number of {len(literal)} digits is none of a model's")
    return int(literal)


def _parse_float(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError(f"model file: {literal[:20]} is larger than any number of a model")
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("model file: a field occurs twice")
    return content


def _checksum(content: dict[str, Any]) -> str:
    """Of the canonical text without the checksum itself, so that layout does not matter."""
    rest = {name: value for name, value in content.items() if name != "sha256"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _verify(checksum: str, content: dict[str, Any]) -> None:
    if _checksum(content) != checksum:
        raise ValueError("model file: field 'sha256' does not fit the content: it was changed")


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
