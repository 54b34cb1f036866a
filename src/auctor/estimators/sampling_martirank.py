"""SamplingMartiRank as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from auctor.data import Table
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.estimators.importance import fractions_of_gain
from auctor.exceptions import OracleError
from auctor.learners.certificate import Certificate
from auctor.learners.martirank.oracle_stream import OracleStream
from auctor.learners.martirank.sampling import fit_sampling_martirank
from auctor.learners.martirank.sampling_settings import (
    SamplingMartiRankHistory,
    SamplingMartiRankSettings,
)
from auctor.learners.martirank.table_stream import TableStream
from auctor.models import Model
from auctor.weak.feature import RANKINGS


class SamplingMartiRank(RankingEstimator):
    """MartiRank from a stream of noisy draws, in constant memory (Long & Servedio 2007, section 5).

    ``fit_oracle`` learns from an oracle, which is anything that supplies random labelled rows
    ("draws"). Each layer of the program is trained on new draws, as many as its nodes need; they
    are counted and not kept. The rate of wrong labels is corrected for; if it is not given, it is
    guessed. ``fit`` uses a table as the oracle: its rows are drawn with replacement.

    Parameters
    ----------
    estimator : {"feature", "stump"}, default="feature"
        The weak ranker of a node: the best single feature, or the best stump.
    n_layers : int, default=40
        Number of layers T of the program. Layer t has t nodes, and a draw in it takes t - 1 steps.
    target_error : float, default=0.1
        The error rate of the vote on each class that is aimed at. A node that is reached by less
        than target_error / (4 T (T + 1)) of a class is frozen: rows end there.
    noise_rate : float, default=None
        Fraction of the labels that are wrong, below 1/2. If it is None, up to four guesses are
        trained side by side on the same draws, at first 0, 1/4, 1/2 and 3/4 of the fraction of the
        rarer label. A guess is dropped when some nodes have a smaller fraction of a label than it
        allows, and a new guess below that fraction takes its place. In the end the AUC on new draws
        decides between the guesses. See the notes.
    positive_rate : float, default=None
        Fraction of the rows whose true class is positive. None estimates it from the draws.
    output : {"position", "majority"}, default="position"
        "position" is the expected fraction of the steps that go to the right. "majority" is the
        classifier of Long & Servedio: the probability of ending in the right half.
    min_samples_leaf : float, default=10.0
        Number of rows of each class that a node needs, m_A in Long & Servedio. With label noise a
        node needs more, so that it knows as much as from this number of rows with right labels.
    max_draws : int, default=100_000
        Maximum number of draws of a layer; nodes that still have too few rows are then frozen. None
        draws up to the bound of Long & Servedio, of the order of
        min_samples_leaf T^2 / (target_error p) where p is the fraction of the rarer class; this can
        be millions for each layer. Before the first layer, draws are made until both classes have
        occurred: at most ``max_draws``, or 1,000 if that is more. If ``max_draws`` is None, and for
        a table, which is known to have both classes, the limit is 1,000,000, or 50 times
        ``sample_size`` if that is more.
    sample_size : int, default=20_000
        Size of the first sample, which determines the bins, and of each of the two last samples:
        one for threshold and calibration, and one for the certificate.
    batch_size : int, default=10_000
        Number of draws that the oracle is asked for at a time.
    max_bins : int, default=255
        Maximum number of bins per feature. Missing values have one more bin of their own.
    categorical_features : "from_dtype" or array-like of str, int or bool, default="from_dtype"
        Names, positions or mask of additional columns to treat as categorical. Columns of strings
        and columns of a categorical dtype are always categorical.
    pos_label : label, default=None
        The positive class. None takes the larger of the two labels.
    threshold : "youden" or float, default="youden"
        ``predict`` returns the positive class where the score is at or above this value. Scores are
        shifted so that TPR - FPR (Youden's index) on the training rows is largest at 0, and
        "youden" is that 0.
        Here, the training rows are those of the calibration sample.
    random_state : int, RandomState instance or None, default=0
        Seed of the random choices. None makes different choices in every call.
        It seeds the coin tosses of the training rows and the generator that is passed to a callable
        oracle.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : ProgramModel
        The fitted program. ``model_.save(path)`` writes it to a file.
    certificate_ : Certificate
        The error rates of the vote on each class, measured on new draws, with 95 % confidence
        intervals, and the fraction of each class that ends at frozen nodes. NaN for a class that
        does not occur in these draws.
    history_ : SamplingMartiRankHistory
        The nodes and the number of draws of each layer, the frozen nodes, and the guesses of the
        noise rate.
    n_draws_ : int
        Total number of draws.
    n_iter_ : int
        Number of layers in the model. It is smaller than ``n_layers`` if all rows end at frozen
        nodes before, or if the oracle failed.
    feature_importances_ : ndarray of shape (n_features,)
        Contribution of each feature to the edges (AUC - 1/2) of the nodes, weighted by the draws
        that pass them; the sum is 1.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.

    Notes
    -----
    Memory: one batch, the first sample as bin numbers, and for each of up to four guesses of the
    noise rate a histogram of 16 p (T + 1) (max_bins + 1) bytes for p features.

    The noise rate can be estimated only if the true classes are separated somewhere. Classes that
    overlap everywhere look like noise, and the guess is then too large. The certificate assumes
    that the guess is right, and says so. ``benchmarks/noise_rate.py`` measured three distributions
    of ``make_r_of_k``, and no others, with 25 layers of at most 25,000 draws, noise rates of 0,
    0.1, 0.2, 0.3 and 0.4 and five seeds each. The guesses were 0 where there was no noise, and
    otherwise off by at most 0.026. With 20 layers of at most 20,000 draws, one guess of 0.019
    occurred without noise. The ranking depends little on the guess: on average over the seeds, the
    AUC on clean labels was at most 0.004 below that with the true rate given, and at most 0.016
    below it with a rate of 0 given.

    If the labels of a rare class are known to be right, give ``noise_rate=0``. A few rows hardly
    distinguish the guesses, and a guess above 0 freezes more nodes. Example: two of four normal
    features are shifted by 1.2 for 0.5 % of the rows, there is no noise, and there are 20 layers of
    at most 20,000 draws. The average AUC of five seeds was 0.838 with guessed rates, 0.002 on
    average, and 0.862 with ``noise_rate=0``.

    A given rate that is too large ends the fit with an error if new draws show nodes with too small
    a fraction of a label. A rate that is only a little too large is not detected, and the error
    rates in the certificate are then too small: they hold for exactly the given rate. The rows of a
    table are drawn again and again and nodes can memorise them, so that for ``fit`` only the
    fraction of the label in the whole table can contradict a rate.

    Probabilities are those of the labels as they are drawn, noise included.

    Examples
    --------
    >>> from auctor.datasets import make_r_of_k
    >>> from auctor import SamplingMartiRank
    >>> def draw(n, rng):
    ...     return make_r_of_k(n, n_features=9, k=5, r=3, noise=0.2, random_state=rng)
    >>> ranker = SamplingMartiRank(n_layers=15, max_draws=5000, sample_size=5000)
    >>> ranker = ranker.fit_oracle(draw)
    >>> clean = make_r_of_k(5000, n_features=9, k=5, r=3, random_state=1)
    >>> round(ranker.score(clean.X, clean.y), 2)
    1.0
    >>> len(ranker.history_.draws), ranker.n_draws_
    (15, 85000)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "estimator": [StrOptions(set(RANKINGS))],
        "n_layers": [Interval(Integral, 1, 65_534, closed="both")],
        "target_error": [Interval(Real, 0, 1, closed="neither")],
        "noise_rate": [Interval(Real, 0, 0.5, closed="left"), None],
        "positive_rate": [Interval(Real, 0, 1, closed="neither"), None],
        "output": [StrOptions({"position", "majority"})],
        "min_samples_leaf": [Interval(Real, 0, None, closed="neither")],
        "max_draws": [Interval(Integral, 1, None, closed="left"), None],
        "sample_size": [Interval(Integral, 2, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
    }

    n_draws_: int
    n_iter_: int

    def __init__(
        self,
        estimator: str = "feature",
        *,
        n_layers: int = 40,
        target_error: float = 0.1,
        noise_rate: float | None = None,
        positive_rate: float | None = None,
        output: str = "position",
        min_samples_leaf: float = 10.0,
        max_draws: int | None = 100_000,
        sample_size: int = 20_000,
        batch_size: int = 10_000,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.estimator = estimator
        self.n_layers = n_layers
        self.target_error = target_error
        self.noise_rate = noise_rate
        self.positive_rate = positive_rate
        self.output = output
        self.min_samples_leaf = min_samples_leaf
        self.max_draws = max_draws
        self.sample_size = sample_size
        self.batch_size = batch_size
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_oracle(self, oracle: Any, *, target: str | None = None) -> Self:
        """Fit to the draws of an oracle.

        Parameters
        ----------
        oracle : callable, iterable of batches, or path
            A callable ``draw(n, rng)`` returns n new rows as (X, y) and uses the generator
            ``rng`` for its random part. An iterable gives pairs (X, y) of any size. A path names a
            Parquet file, which is read once, in batches.
        target : str, default=None
            The column of a Parquet file that has the labels.

        Returns
        -------
        self

        Raises
        ------
        OracleError
            If the oracle runs out of rows or fails; if it gives only one class, from the start or
            from some draw on; if its columns or labels change; or if its labels contradict
            ``noise_rate``. The message says how many draws were made. ``model_`` keeps the program
            of the finished layers, which can be used.
        """
        self._forget()  # after an error no attribute of an earlier fit may remain
        seed = self._seed()
        stream = OracleStream(
            oracle,
            np.random.default_rng(seed),
            target=target,
            pos_label=self.pos_label,
            max_bins=self.max_bins,
            categorical_features=self.categorical_features,
            batch_size=self.batch_size,
            n_jobs=self.n_jobs,
        )
        try:
            result = fit_sampling_martirank(stream, self._settings(seed))
        except OracleError as error:
            self._keep_error(error, stream.table, stream.classes)
            raise
        assert stream.table is not None
        self._set_fitted(self._result(*result, stream.classes, stream.table), stream.table)
        return self

    def _fit(self, given: FitInput) -> FitResult:
        data, seed = self._prepare(given), self._seed()
        stream = TableStream(data, np.random.default_rng(seed))
        try:
            result = fit_sampling_martirank(stream, self._settings(seed))
        except OracleError as error:  # the table contradicts noise_rate, or a class is too rare
            self._keep_error(error, given.table, data.classes)
            raise
        return self._result(*result, data.classes, given.table)

    def _keep_error(
        self, error: OracleError, table: Table | None, classes: npt.NDArray[Any]
    ) -> None:
        """Keep the program of the finished layers, if there are any, and no earlier fit."""
        self._forget()
        self.n_draws_ = error.n_draws
        if error.model is not None:
            assert table is not None, "layers are made of draws"
            finished = error.model, error.history, error.certificate
            self._set_fitted(self._result(*finished, classes, table), table)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")  # after an error there may be n_draws_ without a model

    @staticmethod
    def _result(
        model: Model,
        history: SamplingMartiRankHistory,
        certificate: Certificate,
        classes: npt.NDArray[Any],
        table: Table,
    ) -> FitResult:
        live = [node for layer in history.layers for node in layer if node.feature >= 0]
        edges = [(node.feature, node.edge * (node.weight_neg + node.weight_pos)) for node in live]
        attributes = {
            "n_draws_": history.n_draws,
            "n_iter_": len(history.layers),
            "feature_importances_": fractions_of_gain(edges, table.n_columns),
        }
        return FitResult(model, history, certificate, classes, attributes)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _settings(self, seed: int) -> SamplingMartiRankSettings:
        return SamplingMartiRankSettings(
            estimator=self.estimator,
            n_layers=self.n_layers,
            target_error=self.target_error,
            noise_rate=self.noise_rate,
            positive_rate=self.positive_rate,
            output=self.output,
            min_samples_leaf=self.min_samples_leaf,
            max_draws=self.max_draws,
            sample_size=self.sample_size,
            batch_size=self.batch_size,
            seed=seed,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
