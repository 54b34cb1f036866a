"""SamplingMartiRank as a scikit-learn classifier."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from auctor.data import RankingData
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.importance import shares_of_fall
from auctor.exceptions import OracleError
from auctor.learners.certificate import Certificate
from auctor.learners.martirank.oracle_stream import OracleStream
from auctor.learners.martirank.sampling import fit_sampling_martirank
from auctor.learners.martirank.sampling_settings import (
    SamplingMartiRankHistory,
    SamplingMartiRankSettings,
)
from auctor.learners.martirank.table_stream import TableStream
from auctor.models import Model, ProgramModel
from auctor.weak.feature import RANKINGS


class SamplingMartiRank(RankingEstimator):
    """MartiRank from a stream of noisy draws, in memory that does not grow (Long & Servedio 2007).

    ``fit_oracle`` learns from an oracle of draws. Each layer of the program is trained on
    fresh draws, as many as its nodes need; they are counted and dropped. The noise rate of
    the labels is allowed for, or guessed. ``fit`` takes a table as the oracle: its rows are
    drawn with replacement.

    Parameters
    ----------
    weak : {"feature", "stump"}, default="feature"
        The weak ranker of a node: the best single feature, or the best stump.
    n_estimators : int, default=40
        Layers T of the program. Layer t has t nodes, and a draw in it takes t - 1 steps.
    epsilon : float, default=0.1
        The error of the vote on each class that is aimed at. A node that less than
        epsilon / (4 T (T + 1)) of a class reaches is frozen: rows end there.
    noise_rate : float, optional
        Share of the labels that are wrong, below 1/2. Unless given, up to four guesses run
        side by side on the same draws, at first 0, 1/4, 1/2 and 3/4 of the share of the
        scarcer label. A guess is dropped when some nodes have a smaller share of a label than
        it allows; new ones between those left and that share take its place. In the end the
        guesses are checked on fresh draws by their AUC. See the notes.
    positive_rate : float, optional
        Share of the rows that are truly positive; unless given, it is estimated from the
        draws ("guess and halve").
    output : {"position", "majority"}, default="position"
        "position" scores the expected share of steps to the right; "majority" is the paper's
        classifier, the chance of ending in the right half.
    min_class : float, default=10
        Rows of each class that a node needs, m_A in the paper. With noise, as many are drawn
        as tell what so many rows would tell without it.
    max_draws : int or None, default=100_000
        Draws of a layer at most; nodes still short of rows are frozen then. None draws up to
        the paper's bound, of the order of min_class T^2 / (epsilon p) for a scarcer class of
        share p, which may be millions for each layer. Before the first layer a class that does
        not show up is waited for: until ``max_draws``, or 1,000 if that is more. With None, and
        in a table, which is known to have both classes, until 1,000,000, or 50 times
        ``sample_size`` if that is more.
    sample_size : int, default=20_000
        Size of the first sample, which fixes the bins, and of the two last ones: for threshold
        and calibration, and for the certificate.
    batch_size : int, default=10_000
        Draws asked for at a time.
    max_bins : int, default=255
        Bins of a feature at most; one more is kept for missing values.
    categorical_features : "from_dtype" or array-like of names, positions or bool
        Columns of categories beside those whose type says so.
    pos_label : label, optional
        The positive class; the larger label unless given.
    threshold : "youden" or float, default="youden"
        The score above which ``predict`` says positive. Scores are shifted so that Youden's
        point of the draws for calibration is 0.
    random_state : int, RandomState or None, default=0
        Seed of the coins that rows toss in training, and of the generator that a callable
        oracle is handed.
    n_jobs : int, optional
        Threads; None is 1, -1 all cores. The model is the same, bit for bit, for any number.
    verbose : bool or int, default=False
        A progress bar on stderr.

    Attributes
    ----------
    model_ : ProgramModel
        The fitted program. ``model_.save(path)`` writes it.
    certificate_ : Certificate
        The errors of the vote on each class by fresh draws, with 95 % intervals, and how much
        of each class ends at frozen nodes; NaN for a class that is not among those draws.
    history_ : SamplingMartiRankHistory
        The nodes of each layer, the draws of each layer, the frozen nodes, and the guesses of
        the noise rate.
    n_draws_ : int
        Draws made in all.
    n_iter_ : int
        Layers in the model; fewer than ``n_estimators`` where all ways ended at frozen nodes,
        or where the oracle failed.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the edges of the nodes, weighted by the draws that pass them.
    classes_ : ndarray of shape (2,)
        The labels in order.
    pos_label_ : label
        The positive one.

    Notes
    -----
    Memory: one batch, the first sample as codes, and for each of up to four guesses of the
    noise rate a histogram of 16 p (T + 1) (max_bins + 1) bytes for p features.

    A noise rate can be told from labels only where the true classes are told apart somewhere:
    classes that overlap everywhere look like noise, and the guess is then too large. The
    certificate takes a guess for granted and says so. Measured on three majority laws of
    make_r_of_k, and on no others, with 25 layers of at most 25,000 draws, rates of 0, 0.1, 0.2,
    0.3 and 0.4 and five seeds each (``benchmarks/noise_rate.py``): guesses were 0 where there
    was no noise, and else at most 0.026 off; with 20 layers of at most 20,000 draws, one of 0.019
    was seen without noise. The ranking depends little on the guess: on average over the seeds
    the AUC on clean labels was at most 0.004 below that with the true rate given, and with 0
    given at most 0.016 below it.

    Where a rare class is known to have clean labels, give ``noise_rate=0``. A few rows hardly
    tell guesses apart, and one above 0 has fewer nodes that live: with two of four normal
    features shifted by 1.2 for 0.5 % of the rows, no noise, and 20 layers of at most 20,000
    draws, the average AUC of five seeds was 0.838 guessed, at rates of 0.002 on average, and
    0.862 with 0 given.

    A rate that was given and is too large is refuted, and ends the fit, where fresh draws show
    nodes with too small a share of a label. One that is a little too large is not, and the
    errors in the certificate are too small then: they hold for exactly that rate. Rows of a
    table come again and again, nodes learn them by heart, and only the share of the label in
    the whole table can refute a rate.

    Probabilities are those of the labels as they are drawn, noise included.

    Examples
    --------
    >>> from auctor.datasets import make_r_of_k
    >>> from auctor import SamplingMartiRank
    >>> def draw(n, rng):
    ...     return make_r_of_k(n, n_features=9, k=5, r=3, noise=0.2, random_state=rng)
    >>> ranker = SamplingMartiRank(n_estimators=15, max_draws=5000, sample_size=5000)
    >>> ranker = ranker.fit_oracle(draw)
    >>> clean = make_r_of_k(5000, n_features=9, k=5, r=3, random_state=1)
    >>> ranker.score(clean.X, clean.y) > 0.98
    True
    >>> ranker.n_draws_ == sum(ranker.history_.draws) + 2 * 5000
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "weak": [StrOptions(set(RANKINGS))],
        "n_estimators": [Interval(Integral, 1, 65_534, closed="both")],
        "epsilon": [Interval(Real, 0, 1, closed="neither")],
        "noise_rate": [Interval(Real, 0, 0.5, closed="left"), None],
        "positive_rate": [Interval(Real, 0, 1, closed="neither"), None],
        "output": [StrOptions({"position", "majority"})],
        "min_class": [Interval(Real, 0, None, closed="neither")],
        "max_draws": [Interval(Integral, 1, None, closed="left"), None],
        "sample_size": [Interval(Integral, 2, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
    }

    n_draws_: int
    n_iter_: int

    def __init__(
        self,
        weak: str = "feature",
        n_estimators: int = 40,
        *,
        epsilon: float = 0.1,
        noise_rate: float | None = None,
        positive_rate: float | None = None,
        output: str = "position",
        min_class: float = 10.0,
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
        self.weak = weak
        self.n_estimators = n_estimators
        self.epsilon = epsilon
        self.noise_rate = noise_rate
        self.positive_rate = positive_rate
        self.output = output
        self.min_class = min_class
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
        """Fit to draws of an oracle.

        Parameters
        ----------
        oracle : callable, iterable of batches, or path
            ``draw(n, rng)`` returns n fresh rows as (X, y), with the generator ``rng`` for its
            random part; an iterable gives pairs (X, y) of any size; a path names a Parquet
            file, which is read once, a part at a time.
        target : str, optional
            The column of the labels in a file.

        Returns
        -------
        self

        Raises
        ------
        OracleError
            Where the oracle runs dry, fails, gives one class only - from the start, or from
            some draw on in a way that chance does not explain - or other columns or labels
            than before, or where its labels refute ``noise_rate``. The message says how many
            draws were made; the program of the layers that were finished is kept in ``model_``
            and can be used.
        """
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # after an error nothing of an earlier fit may stay
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
            model, history, certificate = fit_sampling_martirank(stream, self._settings(seed))
        except OracleError as error:
            if error.model is not None:
                self._keep_stream(stream)
            self._keep_error(error)
            raise
        self._keep_stream(stream)
        self._keep(model, history, certificate)
        return self

    def _keep_stream(self, stream: OracleStream) -> None:
        """What the first draws told of columns and classes."""
        assert stream.table is not None
        self._keep_names(stream.table)
        self.classes_ = np.unique(stream.classes)
        self.pos_label_ = stream.classes[1]

    def _keep_error(self, error: OracleError) -> None:
        """The program of the layers that were finished, if there are any."""
        self.n_draws_ = error.n_draws
        if error.model is not None:
            self._keep(error.model, error.history, error.certificate)

    def _keep(
        self, model: Model, history: SamplingMartiRankHistory, certificate: Certificate
    ) -> None:
        self.history_, self.certificate_ = history, certificate
        self._count(history, self.n_features_in_)
        self.threshold_ = 0.0 if self.threshold == "youden" else float(self.threshold)
        self.model_ = replace(model, threshold=self.threshold_)

    def _learn(
        self, data: RankingData
    ) -> tuple[ProgramModel, SamplingMartiRankHistory, Certificate]:
        seed = self._seed()
        stream = TableStream(data, np.random.default_rng(seed))
        try:
            model, history, certificate = fit_sampling_martirank(stream, self._settings(seed))
        except OracleError as error:  # a noise_rate that cannot be
            self._forget()
            self._keep_error(error)
            raise
        self._count(history, data.n_features)
        return model, history, certificate

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")  # n_draws_ stays after an error even without one

    def _forget(self) -> None:
        """Drop the model of an earlier fit: after an error none of it may stay."""
        for name in ("model_", "history_", "certificate_", "threshold_", "n_iter_"):
            self.__dict__.pop(name, None)

    def _count(self, history: SamplingMartiRankHistory, n_features: int) -> None:
        """The attributes that follow from the history."""
        self.n_draws_ = history.n_draws
        self.n_iter_ = len(history.layers)
        live = [node for layer in history.layers for node in layer if node.feature >= 0]
        edges = [(node.feature, node.edge * (node.weight_neg + node.weight_pos)) for node in live]
        self.feature_importances_ = shares_of_fall(edges, n_features)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _settings(self, seed: int) -> SamplingMartiRankSettings:
        return SamplingMartiRankSettings(
            weak=self.weak,
            n_estimators=self.n_estimators,
            epsilon=self.epsilon,
            noise_rate=self.noise_rate,
            positive_rate=self.positive_rate,
            output=self.output,
            min_class=self.min_class,
            max_draws=self.max_draws,
            sample_size=self.sample_size,
            batch_size=self.batch_size,
            seed=seed,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
