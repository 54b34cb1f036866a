"""Model files: a model to JSON text and back. Loading a file runs no code of it."""

from dataclasses import replace
from pathlib import Path

from auctor.models.base import Model
from auctor.models.read_record import read_record
from auctor.models.serialization import parse_model_text

# Name of a form, as in the field ``form`` of a file -> its class.
FORMS: dict[str, type[Model]] = {}


def register(form: type[Model]) -> type[Model]:
    """Class decorator that lets :func:`load` read the files of a form of model.

    Examples
    --------
    The forms that have been registered are the values of ``"form"`` in model files:

    >>> import json
    >>> from auctor import RankBoost
    >>> from auctor.models import AdditiveModel, register
    >>> register(AdditiveModel) is AdditiveModel
    True
    >>> model = RankBoost(n_estimators=3).fit([[1.0], [2.0]], [0, 1]).model_
    >>> AdditiveModel.form, json.loads(model.to_json())["form"]
    ('additive', 'additive')
    """
    FORMS[form.form] = form
    return form


def to_json(model: Model) -> str:
    """The text of a model's file.

    Examples
    --------
    >>> from auctor.models import to_json
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> text = to_json(RankBoost(n_estimators=3).fit(X, y).model_)
    >>> text[:1], text.count('"Age"') + text.count('"x0"')
    ('{', 1)
    """
    return model.to_json()


def from_json(text: str) -> Model:
    """The model in the text of a model file; a ValueError names the field that is wrong.

    Examples
    --------
    >>> from auctor.models import from_json, to_json
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = RankBoost(n_estimators=3).fit(X, y).model_
    >>> copy = from_json(to_json(model))
    >>> bool((copy.decision_function(X) == model.decision_function(X)).all())
    True
    """
    try:
        parsed = parse_model_text(text, FORMS)
        model = FORMS[parsed.form].from_body(parsed.body, parsed.shared)
        parsed.body.end()
        if parsed.missing_codes:
            unknown = set(parsed.missing_codes) - set(model.feature_names)
            if unknown:
                name = sorted(unknown)[0]
                raise ValueError(f"model file: field 'missing_codes.{name}' is not a feature")
            model = replace(model, missing_codes=parsed.missing_codes)
        if parsed.training is not None:
            model = replace(model, training=read_record(parsed.training, model.feature_names))
    except RecursionError:  # from the parser, or later from the checksum
        raise ValueError("model file: it is nested too deeply") from None
    return model


def load(path: str | Path) -> Model:
    """Load a model that ``estimator.save``, ``model.save`` or ``auctor fit`` wrote.

    Parameters
    ----------
    path : str or Path
        A model file.

    Returns
    -------
    Model
        The model, with ``decision_function``, ``predict_proba``, ``predict``, ``explain`` and
        ``score`` (the AUC). It needs neither the estimator nor the rows that it was fitted with.

    Raises
    ------
    ValueError
        If the file is damaged, truncated, of an unknown version, or not a model file at all;
        the message names the field that is wrong.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import auctor
    >>> learner = auctor.RankBoost().fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     learner.save(f"{folder}/model.json")
    ...     model = auctor.load(f"{folder}/model.json")
    >>> model.predict([[1.5], [3.5]]).tolist()
    [0, 1]
    """
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder; give the name of a model file")
    try:
        return from_json(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # UnicodeDecodeError is one, too
        raise ValueError(f"{path}: {error}") from None
