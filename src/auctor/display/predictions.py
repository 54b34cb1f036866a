"""Displays of labelled scores: given ones, those of an estimator, or those of cross-validation."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import _safe_indexing

from auctor._pos_label import grows_towards
from auctor._typing import Bools, Floats, Indices, Ints
from auctor.data import read_labels, read_scores, read_vector, read_weights
from auctor.display.look import ShortRepr
from auctor.estimators.cross_validation import CrossValidation
from auctor.models import Model


@dataclass(frozen=True, eq=False)
class Predictions:
    """Validated labels, weights and folds with one or more scores of the same rows."""

    positive: Bools
    scores: dict[str | None, Floats]  # by name; the name of a single score may be None
    weight: Floats | None
    folds: Ints | None
    pos_label: Any

    def parts(self) -> Iterator["Predictions"]:
        """The rows of each fold; all rows if there are no folds."""
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
    def only(self) -> tuple[str | None, Floats]:
        """The name and the values of the only set of scores."""
        if len(self.scores) != 1:
            names = ", ".join(map(str, self.scores))
            raise ValueError(
                f"y_score has {len(self.scores)} sets of scores ({names}); give one of them"
            )
        return next(iter(self.scores.items()))

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments for the metrics, whose labels are ``positive``."""
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
    """Validate labels, weights, folds, and one score or a dict of scores by name."""
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
    """The scores by name: those of a dict, or a single one with its name."""
    if not isinstance(y_score, Mapping):
        return {name: y_score}
    if name is not None:
        raise ValueError(
            f"name is {name!r}, but y_score is a dict with names of its own; leave name out"
        )
    if not y_score:
        raise ValueError("y_score is empty; give at least one array of scores")
    return {str(key): values for key, values in y_score.items()}


def _read_folds(folds: Any, n_rows: int) -> Ints:
    array = read_vector(folds, "folds")
    if len(array) != n_rows:
        raise ValueError(f"folds has {len(array)} values for {n_rows} rows; give one per row")
    distinct, codes = np.unique(array, return_inverse=True)
    if len(distinct) < 2:
        raise ValueError("folds has only one fold; give two or more, or leave folds out")
    return codes.astype(np.int64)


class PredictionDisplay(ShortRepr):
    """The constructors that all displays of labelled scores have.

    A subclass computes its numbers in ``_from_rows``; the keyword arguments of that method are the
    options of all constructors, and the class docstring describes them.
    """

    _response: ClassVar[Literal["score", "probability"]] = "score"
    _has_instability: ClassVar[bool] = False  # whether ``instability`` is one of the options

    # Class method (rows: Predictions, *, ...) -> display: computes the display without drawing it.
    _from_rows: ClassVar[Callable[..., Any]]

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        folds: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the display from labels and scores, and draw it.

        Parameters
        ----------
        y_true, sample_weight, pos_label
            As in :func:`auctor.metrics.auc`.
        y_score : array-like of shape (n_rows,), or dict of such arrays by name
            The scores; for a :class:`CalibrationDisplay` the predicted probabilities of the
            positive class. Displays of a single score do not accept a dict.
        name : str, optional
            The name of the score, for the legend or the title.
        folds : array-like of shape (n_rows,), optional
            The fold of each row, for out-of-fold scores. Displays of curves draw a thin curve for
            every fold and the mean of these curves; the others pool the rows of all folds.
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.
        **options
            The options of the display, which the docstring of its class describes.

        Returns
        -------
        The display.
        """
        rows = read_predictions(
            y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, name=name,
            folds=folds,
        )  # fmt: skip
        cls._check_options(options)
        made: Any = cls._from_rows(rows, **options)
        drawn: Self = made.plot(ax=ax)
        return drawn

    @classmethod
    def _check_options(cls, options: dict[str, Any]) -> None:
        """Refuse options that the display does not have."""
        known = [name for name in signature(cls._from_rows).parameters if name != "rows"]
        for name in options:
            if name not in known:
                choices = f"give {', '.join(known)}" if known else "it has no options"
                raise TypeError(f"{name} is not an option of {cls.__name__}; {choices}")

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
        """Compute the display of a fitted estimator on labelled rows, and draw it.

        Parameters
        ----------
        estimator : fitted classifier of auctor or scikit-learn, or a model of auctor
            Its ``decision_function`` is used, or if it has none, ``predict_proba``.
        X, y, sample_weight
            Labelled rows. They should not be the training rows, on which every number is too
            optimistic.
        pos_label : label, optional
            By default the estimator's ``pos_label_``, or if it has none, the larger label.
        name : str, optional
            By default the name of the estimator's class.
        ax, **options
            As in ``from_predictions``.

        Returns
        -------
        The display.
        """
        scores, positive = read_response(estimator, X, pos_label, cls._response)
        return cls.from_predictions(
            y, scores, sample_weight=sample_weight, pos_label=positive,
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
        """Compute the display of a cross-validation by scikit-learn, and draw it.

        Parameters
        ----------
        cv_results : dict
            The result of scikit-learn's ``cross_validate``, called with ``return_estimator=True``
            and ``return_indices=True``.
        X, y, sample_weight
            The rows that ``cross_validate`` was called with.
        pos_label, name, ax, **options
            As in ``from_estimator``.

        Returns
        -------
        The display.
        """
        estimators, tests = _read_cv_results(cv_results)
        labels, weight = read_vector(y, "y"), read_weights(sample_weight, len(read_vector(y, "y")))
        parts = [
            read_response(estimator, _safe_indexing(X, rows), pos_label, cls._response)
            for estimator, rows in zip(estimators, tests, strict=True)
        ]
        rows = np.concatenate(tests)
        return cls.from_predictions(
            labels[rows], np.concatenate([scores for scores, _ in parts]),
            sample_weight=None if weight is None else weight[rows], pos_label=parts[0][1],
            name=type(estimators[0]).__name__ if name is None else name,
            folds=np.repeat(np.arange(len(tests)), [len(test) for test in tests]), ax=ax, **options,
        )  # fmt: skip

    @classmethod
    def from_cross_validation(
        cls,
        cross_validation: CrossValidation,
        y: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the display of a cross-validation by auctor, and draw it.

        Parameters
        ----------
        cross_validation : CrossValidation
            The result of auctor's own cross-validation function.
        y, sample_weight
            The labels and weights that the function was called with.
        pos_label : label, optional
            The ``pos_label`` of the estimator. By default the larger label.
        name, ax, **options
            As in ``from_estimator``.

        Returns
        -------
        The display.
        """
        if cls._response == "probability":
            raise ValueError(
                "cross_validation has scores and no probabilities; give the result of "
                "scikit-learn's cross_validate to from_cv_results instead"
            )
        if cls._has_instability:
            options.setdefault("instability", cross_validation.instability)
        return cls.from_predictions(
            y, cross_validation.scores, sample_weight=sample_weight, pos_label=pos_label, name=name,
            folds=cross_validation.folds, ax=ax, **options,
        )  # fmt: skip


def read_response(
    estimator: Any, X: Any, pos_label: Any, response: str = "score"
) -> tuple[Floats, Any]:
    """Scores (or probabilities) of the positive class, and the label of that class."""
    classes, towards = _classes(estimator)
    positive = towards if pos_label is None else pos_label
    if positive not in classes:
        raise ValueError(
            f"pos_label is {pos_label!r}; give one of the estimator's classes: "
            f"{', '.join(map(str, classes))}"
        )
    if response == "score" and hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        return scores if positive == towards else -scores, positive
    if not hasattr(estimator, "predict_proba"):
        wanted = "decision_function or predict_proba" if response == "score" else "predict_proba"
        raise ValueError(f"{type(estimator).__name__} has no {wanted}; give a fitted classifier")
    probability = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    return probability[:, classes.index(positive)], positive


def _classes(estimator: Any) -> tuple[list[Any], Any]:
    """The two classes in the order of predict_proba, and the one with the higher scores."""
    if isinstance(estimator, Model):
        return list(estimator.classes), estimator.classes[1]
    if not hasattr(estimator, "classes_"):
        raise ValueError(f"{type(estimator).__name__} has no classes_; give a fitted classifier")
    classes = list(np.asarray(estimator.classes_).tolist())
    if len(classes) != 2:
        raise ValueError(
            f"the estimator has {len(classes)} classes; give a classifier of two classes"
        )
    return classes, np.asarray(grows_towards(estimator)).tolist()


def _read_cv_results(cv_results: Any) -> tuple[list[Any], list[Indices]]:
    """The fitted estimators and the rows that each was tested on."""
    for needed in ("estimator", "indices"):
        if not isinstance(cv_results, Mapping) or needed not in cv_results:
            raise ValueError(
                f"cv_results has no {needed!r}; call scikit-learn's cross_validate with "
                "return_estimator=True and return_indices=True"
            )
    return list(cv_results["estimator"]), [np.asarray(t) for t in cv_results["indices"]["test"]]
