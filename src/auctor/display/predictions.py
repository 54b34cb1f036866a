"""Labelled scores for the displays: given ones, an estimator's, or those of cross-validation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import _safe_indexing

from auctor._typing import Bools, Floats, Indices, Ints
from auctor.data import read_labels, read_scores, read_vector, read_weights
from auctor.estimators.cross_validation import CrossValidation
from auctor.models import Model


@dataclass(frozen=True, eq=False)
class Predictions:
    """Checked labels, one or more scores of the same rows, weights and folds."""

    positive: Bools
    scores: dict[str | None, Floats]  # by name; None where there is one without a name
    weight: Floats | None
    folds: Ints | None
    pos_label: Any

    def parts(self) -> Iterator["Predictions"]:
        """The rows of each fold; all of them where there are no folds."""
        if self.folds is None:
            yield self
            return
        for fold in np.unique(self.folds):
            rows = self.folds == fold
            scores = {name: score[rows] for name, score in self.scores.items()}
            weight = None if self.weight is None else self.weight[rows]
            yield replace(
                self, positive=self.positive[rows], scores=scores, weight=weight, folds=None
            )

    @property
    def one(self) -> tuple[str | None, Floats]:
        """The name and the values of the only score."""
        if len(self.scores) != 1:
            names = ", ".join(map(str, self.scores))
            raise ValueError(f"y_score has {len(self.scores)} scores ({names}); give one")
        return next(iter(self.scores.items()))

    @property
    def told(self) -> dict[str, Any]:
        """The keyword arguments of every metric; rows are true where positive."""
        return {"sample_weight": self.weight}


def read_predictions(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    name: str | None = None,
    folds: Any = None,
) -> Predictions:
    """Check what the caller gave; scores are one vector or several by name."""
    labels = read_labels(y_true, pos_label=pos_label, name="y_true")
    n_rows = len(labels.positive)
    scores = {
        key: read_scores(values, n_rows, name="y_score" if key == name else f"y_score[{key!r}]")
        for key, values in _by_name(y_score, name).items()
    }
    weight = read_weights(sample_weight, n_rows)
    codes = None if folds is None else _read_folds(folds, n_rows)
    positive_label = labels.classes[1:].tolist()[0]
    return Predictions(labels.positive, scores, weight, codes, positive_label)


def _by_name(y_score: Any, name: str | None) -> dict[str | None, Any]:
    """The scores by name: those of a dict, or the only one by the name that it was given."""
    if not isinstance(y_score, Mapping):
        return {name: y_score}
    if name is not None:
        raise ValueError(f"y_score has names of its own; leave out name={name!r}")
    if not y_score:
        raise ValueError("y_score is empty; give one score or more")
    return {str(key): values for key, values in y_score.items()}


def _read_folds(folds: Any, n_rows: int) -> Ints:
    array = read_vector(folds, "folds")
    if len(array) != n_rows:
        raise ValueError(f"folds has {len(array)} values for {n_rows} rows")
    distinct, codes = np.unique(array, return_inverse=True)
    if len(distinct) < 2:
        raise ValueError("folds has only one fold; give two or more, or leave folds out")
    return codes.astype(np.int64)


class PredictionDisplay:
    """The ways to a display that all end in ``from_predictions``."""

    _response: ClassVar[Literal["score", "probability"]] = "score"
    _counts_training: ClassVar[bool] = False  # whether its interval takes ``instability``

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """The display of a fitted estimator on labelled rows, drawn at once.

        Parameters
        ----------
        estimator : fitted classifier of auctor or scikit-learn, or a model of auctor
            Its ``decision_function`` is used, else ``predict_proba`` of the positive class.
        X, y, sample_weight
            Labelled rows; on those of the fit every number is too good.
        pos_label : label, optional
            By default the estimator's ``pos_label_``, else the larger label.
        name : str, optional
            By default the name of the estimator's class.
        ax : Axes, optional
        **options
            As in ``from_predictions``.
        """
        found, positive = read_response(estimator, X, pos_label, cls._response)
        made: Any = cls
        return made.from_predictions(
            y, found, sample_weight=sample_weight, pos_label=positive,
            name=type(estimator).__name__ if name is None else name, ax=ax, **options,
        )  # fmt: skip

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """The display of scikit-learn's cross-validation, drawn at once.

        Parameters
        ----------
        cv_results : dict
            What scikit-learn's ``cross_validate`` returned, called with ``return_estimator=True``
            and ``return_indices=True``.
        X, y, sample_weight
            The rows it was called with.
        pos_label, name, ax, **options
            As in ``from_estimator``. Curves are those of each fold, thin, and their mean.
        """
        estimators, tests = _read_cv_results(cv_results)
        labels, weight = read_vector(y, "y"), read_weights(sample_weight, len(read_vector(y, "y")))
        parts = [
            read_response(estimator, _safe_indexing(X, rows), pos_label, cls._response)
            for estimator, rows in zip(estimators, tests, strict=True)
        ]
        rows = np.concatenate(tests)
        made: Any = cls
        return made.from_predictions(
            labels[rows], np.concatenate([found for found, _ in parts]),
            sample_weight=None if weight is None else weight[rows], pos_label=parts[0][1],
            name=type(estimators[0]).__name__ if name is None else name,
            folds=np.repeat(np.arange(len(tests)), [len(test) for test in tests]), ax=ax, **options,
        )  # fmt: skip

    @classmethod
    def from_cross_validation(
        cls,
        found: CrossValidation,
        y: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """The display of auctor's own cross-validation, drawn at once.

        Parameters
        ----------
        found : CrossValidation
            What :func:`auctor.estimators.cross_validate` returned.
        y, sample_weight
            The labels and weights it was called with.
        pos_label : label, optional
            The ``pos_label`` of the estimator; by default the larger label.
        name, ax, **options
            As in ``from_estimator``. Curves are those of each fold, thin, and their mean.
        """
        if cls._response == "probability":
            raise ValueError(
                "CrossValidation holds scores and no probabilities; use from_cv_results with "
                "scikit-learn's cross_validate"
            )
        if cls._counts_training:
            options.setdefault("instability", found.instability)
        made: Any = cls
        return made.from_predictions(
            y, found.scores, sample_weight=sample_weight, pos_label=pos_label, name=name,
            folds=found.folds, ax=ax, **options,
        )  # fmt: skip


def read_response(
    estimator: Any, X: Any, pos_label: Any, response: str = "score"
) -> tuple[Floats, Any]:
    """Scores (or probabilities) of the positive class, and the label of that class."""
    classes, towards = _classes(estimator)
    positive = towards if pos_label is None else pos_label
    if positive not in classes:
        found = ", ".join(map(str, classes))
        raise ValueError(f"pos_label={pos_label!r} is not among the estimator's classes: {found}")
    if response == "score" and hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        return scores if positive == towards else -scores, positive
    if not hasattr(estimator, "predict_proba"):
        wanted = "decision_function or predict_proba" if response == "score" else "predict_proba"
        raise ValueError(f"{type(estimator).__name__} has no {wanted}; give a fitted classifier")
    probability = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    return probability[:, classes.index(positive)], positive


def _classes(estimator: Any) -> tuple[list[Any], Any]:
    """The two classes in the order of predict_proba, and the one that the score grows towards."""
    if isinstance(estimator, Model):
        return list(estimator.classes), estimator.classes[1]
    if not hasattr(estimator, "classes_"):
        raise ValueError(
            f"{type(estimator).__name__} has no classes_; give a classifier that is fitted"
        )
    classes = list(np.asarray(estimator.classes_).tolist())
    if len(classes) != 2:
        raise ValueError(f"the estimator has {len(classes)} classes; auctor ranks two")
    return classes, _grows_towards(estimator, classes[1])


def _grows_towards(estimator: Any, usual: Any) -> Any:
    """``pos_label_`` of an estimator of auctor, also inside of a search or a pipeline."""
    if hasattr(estimator, "pos_label_"):
        return np.asarray(estimator.pos_label_).tolist()
    if hasattr(estimator, "best_estimator_"):
        return _grows_towards(estimator.best_estimator_, usual)
    if hasattr(estimator, "steps"):
        return _grows_towards(estimator.steps[-1][1], usual)
    return usual


def _read_cv_results(cv_results: Any) -> tuple[list[Any], list[Indices]]:
    """The fitted estimators and the rows that each was tested on."""
    for needed in ("estimator", "indices"):
        if not isinstance(cv_results, Mapping) or needed not in cv_results:
            raise ValueError(
                f"cv_results has no {needed!r}; call scikit-learn's cross_validate with "
                "return_estimator=True and return_indices=True"
            )
    return list(cv_results["estimator"]), [np.asarray(t) for t in cv_results["indices"]["test"]]
