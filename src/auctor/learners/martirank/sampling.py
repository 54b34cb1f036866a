"""SMartiRank (paper 000, section 5): MartiRank from an oracle of noisy draws.

Layer after layer, fresh draws go down the layers that are finished, are counted at the node
where they end, and are dropped: what is kept of them is one class histogram (class, feature,
node, code), so that memory does not grow with the number of draws. With p features and
n_codes codes the histogram of layer t takes 16 p (t + 1) n_codes bytes; a draw in layer t
costs t - 1 steps down the program and p counts.

Labels are wrong with chance eta. C_b is the number of draws of the true class b as estimated
from those of both labels (``learners/martirank/noise.py``); an eta that is not known is guessed
(``learners/martirank/noise_guesses.py``). From it follow

- p_{i,t}^b = C_b at the node / draws of the layer, and D[c(x) = b] = C_b of all draws / draws;
- when a node has enough rows: C_b is as well known as ``min_samples_leaf`` rows without noise would
  make it, C_b^2 >= min_samples_leaf variance, for both classes. Without noise that is N_b >= min_samples_leaf;
- when a node is frozen: p_{i,t}^b <= epsilon / (4 T (T + 1)) D[c(x) = b] for a class b. The
  paper's 4 leaves room for errors of estimates, and p_{i,t}^b + 2 standard errors must keep
  within that room: a node that few draws have reached is not given up too soon;
- the coin of Lemma 4, which is to make the error rates of the true classes equal.

A layer ends when every node has enough or is frozen, or with its last draw. That is at
2 min_samples_leaf / (epsilon / (4 T (T + 1)) p (1 - 2 eta)^2) draws, where p is the share of the
scarcer class: a node that ought to live has had 2 min_samples_leaf rows of each class by then, and
less than min_samples_leaf only with chance exp(-min_samples_leaf / 4). ``max_draws`` may end it earlier. A
node with less than min_samples_leaf rows of a class then is frozen too, unless noise may be what
hides them (2 standard errors); the certificate says how much of each class ends that way.
"""

from dataclasses import replace
from functools import partial
from math import ceil

import numpy as np

from auctor._progress import Progress
from auctor._typing import Floats
from auctor.data import Partition, RankingData, Workers
from auctor.exceptions import OracleError
from auctor.learners.certificate import Certificate
from auctor.learners.common.calibration import calibrate
from auctor.learners.common.finish import training_order
from auctor.learners.martirank.noise import LabelCounts, auc_error, draws_for_rate
from auctor.learners.martirank.noise_guesses import NoiseGuesses
from auctor.learners.martirank.oracle import OracleExhausted, Stopped, Stream
from auctor.learners.martirank.program import build_program, program_values, recode
from auctor.learners.martirank.sampling_certificate import certify
from auctor.learners.martirank.sampling_program import SamplingProgram
from auctor.learners.martirank.sampling_settings import (
    SamplingMartiRankHistory,
    SamplingMartiRankSettings,
)
from auctor.models import ProgramModel

# What one layer may draw where neither the user nor the data set a bound.
_MOST_DRAWS = 10**9

# Of a program that is cut short there are no draws left to judge it by.
_FIRST = "the first draws, which layer 1 was trained on,"

# Draws that are made to see both classes: at least so many, whatever max_draws says, and so
# many, or samples, where it says nothing. A table is known to have both, and its draws cost
# little: it has the largest of these limits.
_LEAST_WAIT = 1000
_WAIT, _WAIT_SAMPLES = 10**6, 50


def fit_sampling_martirank(
    stream: Stream, settings: SamplingMartiRankSettings
) -> tuple[ProgramModel, SamplingMartiRankHistory, Certificate]:
    """Train the program from draws; an OracleError carries what was learned until it failed."""
    with Workers(settings.n_jobs) as workers:
        run = _Run(stream, settings, workers)
        try:
            run.train()
            return run.finish()
        except Stopped as stopped:
            raise run.failure(stopped) from stopped.__cause__


class _Run:
    """One fit: draws, the programs of all guesses side by side on the same draws."""

    def __init__(
        self, stream: Stream, settings: SamplingMartiRankSettings, workers: Workers
    ) -> None:
        self._stream, self._settings, self._workers = stream, settings, workers
        self._draws: list[int] = []
        self._aucs: dict[float, float] = {}  # of each guess that was checked
        self._doing = "in the first draws"

    def train(self) -> None:
        """Build the layers."""
        T = self._settings.n_layers
        progress = Progress(T, "SamplingMartiRank", self._settings.verbose)
        most, size = self._settings.max_draws, self._settings.sample_size
        self._data = self._stream.start(min(size, most or size), self._patience())
        self._labels = LabelCounts(self._data.classes, self._stream.skipped)
        self._labels.add(self._data.partitions[0])
        make = partial(SamplingProgram, self._data, self._settings)
        self._guesses = NoiseGuesses(
            make, self._settings.noise_rate, self._labels.seen, self._stream.is_fresh
        )
        for t in range(1, T + 1):
            self._doing = f"in layer {t} of {T}"
            if not any(program.reached.any() for program in self._guesses.programs):
                break  # every way ends at a frozen node
            self._train_layer(t)
            progress.step(f"{self._stream.n_draws:,} draws")
        progress.close()

    def _patience(self) -> int:
        """Draws after which a class that does not show up is given up."""
        most = self._settings.max_draws
        long = max(_WAIT, _WAIT_SAMPLES * self._settings.sample_size)
        if self._stream.is_fresh and most is not None:
            return max(most, _LEAST_WAIT)
        return max(long, most or 0)

    def _train_layer(self, t: int) -> None:
        n_draws = 0
        # Bins do not depend on labels, so that the first draws are as good as any for layer 1.
        part = self._data.partitions[0] if t == 1 else self._next(0)
        while True:
            for program in self._guesses.programs:
                program.count(part, self._workers)
            n_draws += part.n_rows
            self._guesses.check(self._labels.seen)
            if n_draws >= self._most_draws() or not self._is_undecided(t, n_draws):
                break
            part = self._next(n_draws)
        self._draws.append(n_draws + (int(self._stream.skipped.sum()) if t == 1 else 0))
        for program in self._guesses.programs:
            program.close_layer(program.judge(n_draws, self._rates(program)))
        self._guesses.refine(is_late=2 * t >= self._settings.n_layers)

    def _next(self, n_draws: int) -> Partition:
        """The next batch of a layer that has had so many draws."""
        return self._draw(min(self._settings.batch_size, self._most_draws() - n_draws))

    def _draw(self, n_rows: int) -> Partition:
        part = self._stream.draw(n_rows)
        self._labels.add(part)
        return part

    def _is_undecided(self, t: int, n_draws: int) -> bool:
        """Whether more draws could decide a node, or the rate of the scarcer class."""
        is_open = t == 1 and self._settings.positive_rate is None
        for program in self._guesses.programs:
            verdict = program.judge(n_draws, self._rates(program))
            if (program.reached & ~verdict.enough & ~verdict.rare).any():
                return True
            needed = draws_for_rate(self._labels.seen, program.noise_rate)
            if is_open and self._labels.n_draws < needed:
                return True
        return False

    def _most_draws(self) -> int:
        """Draws after which a layer ends: see the head of the file."""
        settings = self._settings
        most = 1
        for program in self._guesses.programs:
            reach = (1.0 - 2.0 * program.noise_rate) ** 2
            scarce = float(self._rates(program).min()) * reach
            most = max(
                most, ceil(min(2 * settings.min_samples_leaf / (settings.share * scarce), 1e12))
            )
        return min(most, settings.max_draws or _MOST_DRAWS)

    def _rates(self, program: SamplingProgram) -> Floats:
        """D[c(x) = b], given or from all draws so far."""
        positive = self._settings.positive_rate
        if positive is None:
            return self._labels.rates(program.noise_rate)
        return np.array([1.0 - positive, positive])

    def finish(self) -> tuple[ProgramModel, SamplingMartiRankHistory, Certificate]:
        """Threshold, calibration and the choice among guesses from one sample, then the
        certificate from another one."""
        self._doing = f"in the last samples, after {len(self._draws)} layers"
        size = self._settings.sample_size
        model, program = self._choose(self._draw(size))
        certificate = self._certify(program, self._draw(size), self._stream.origin)
        return model, self._history(program), certificate

    def failure(self, stopped: Stopped) -> OracleError:
        """The error, with the program so far: the first draws stand in for the last ones."""
        n_draws, n_layers = self._stream.n_draws, len(self._draws)
        message = f"{stopped} after {n_draws:,} draws {self._doing}; "
        advice = self._wanted() if isinstance(stopped, OracleExhausted) else stopped.advice
        advice = f"; {advice}" if advice else ""
        if n_layers == 0:
            return OracleError(f"{message}no layer was finished{advice}", n_draws)
        message += f"the program of {n_layers} layer(s) so far is kept in model_{advice}"
        first = self._data.partitions[0]
        model, program = self._choose(first)
        certificate = self._certify(program, first, _FIRST)
        return OracleError(message, n_draws, model, self._history(program), certificate)

    def _wanted(self) -> str:
        """How many draws the settings may want, and what would do with fewer."""
        T, size = self._settings.n_layers, self._settings.sample_size
        most, what = self._settings.max_draws, "a smaller max_draws"
        if most is None:
            what = "a max_draws"
            if not self._draws:  # the paper's bound is not known before the first layer
                return f"fewer layers (n_layers) or {what} would do with fewer draws"
            most = max(self._most_draws(), size)
        wanted = T * most + 2 * size + int(self._stream.skipped.sum())
        return (
            f"the settings may want up to {wanted:,} draws ({T} layers of {most:,} at most, two "
            f"samples of {size:,}): fewer layers (n_layers), {what} or a smaller sample_size "
            "would do with fewer"
        )

    def _choose(self, part: Partition) -> tuple[ProgramModel, SamplingProgram]:
        """The check of the guesses: their AUC on fresh noisy labels.

        Noise shrinks AUC - 1/2 by a factor that all rankers share, so that noisy labels order
        the guesses as clean ones would. Of those that one standard error cannot tell from the
        best, the largest is taken: the ranking depends so little on the guess that the smallest
        would be 0 whatever the noise, and a guess that is too large has been refuted by a node.
        Of guesses that rank alike to the last pair, the smallest: nothing speaks for noise.
        """
        has_both = 0 < part.n_pos < part.n_rows
        parts = (part,) if has_both else (self._data.partitions[0], part)
        sample = replace(self._data, partitions=parts)
        programs = self._guesses.programs
        built = [self._score(program, sample) for program in programs]
        orders = [training_order(sample, scores) for _, scores in built]
        aucs = [order.auc for order in orders]
        self._aucs = dict(zip([p.noise_rate for p in programs], aucs, strict=True))
        least = max(aucs) - auc_error(max(aucs), sample.n_neg, sample.n_pos)
        k = aucs.index(aucs[max(k for k, auc in enumerate(aucs) if auc >= least)])
        (model, scores), cut = built[k], orders[k].cut
        return model.finished(calibrate(sample, scores, cut), 0.0 - cut), programs[k]

    def _score(
        self, program: SamplingProgram, sample: RankingData
    ) -> tuple[ProgramModel, list[Floats]]:
        values = program_values(program.layers, self._settings.output)
        model, luts = build_program(self._data, program.layers, *values)
        return model, [model.score_codes(recode(rows, luts)) for rows in sample.partitions]

    def _history(self, program: SamplingProgram) -> SamplingMartiRankHistory:
        guesses = {**dict.fromkeys(self._guesses.refuted), **self._aucs}
        return SamplingMartiRankHistory(
            program.layers,
            self._draws,
            program.frozen,
            self._stream.n_draws,
            program.noise_rate,
            float(self._rates(program)[1]),
            dict(sorted(guesses.items())),
        )

    def _certify(self, program: SamplingProgram, part: Partition, origin: str) -> Certificate:
        facts = {
            "positive_rate": float(self._rates(program)[1]),
            "n_draws": self._stream.n_draws,
        }
        return certify(program, part, self._workers, self._settings, facts, origin)
