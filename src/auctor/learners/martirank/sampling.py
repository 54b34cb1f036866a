"""SMartiRank (Long & Servedio 2007, section 5): MartiRank from an oracle of noisy draws.

For each layer, new draws go down the finished layers, are counted at the node where they end, and
are not kept. Only a class histogram (class, feature, node, code) remains, so that memory does not
grow with the number of draws. With p features and n_codes codes the histogram of layer t needs
16 p (t + 1) n_codes bytes; a draw in layer t costs t - 1 steps down the program and p counts.

Labels are wrong with probability eta. C_b is the number of draws of the true class b, estimated
from the counts of both labels (``learners/martirank/noise.py``); an unknown eta is guessed
(``learners/martirank/noise_guesses.py``). The following rules depend on C_b; m is
``min_samples_leaf`` and epsilon is ``target_error``.

- Frequencies: p_{i,t}^b = C_b at the node / draws of the layer, and
  D[c(x) = b] = C_b of all draws / draws.
- A node has enough rows if C_b of both classes is known as well as from m rows without noise:
  C_b^2 >= m * variance. Without noise that is N_b >= m.
- A node is frozen if p_{i,t}^b <= epsilon / (4 T (T + 1)) D[c(x) = b] for a class b. The factor 4
  of Long & Servedio allows for errors of estimates; in addition p_{i,t}^b + 2 standard errors must
  be at most 4 times that limit, so that a node that few draws have reached is not frozen too soon.
- The coin of Lemma 4 makes the error rates of the true classes equal.

A layer ends when each node has enough rows or is frozen, or after 2 m / (epsilon / (4 T (T + 1)) p
(1 - 2 eta)^2) draws, where p is the fraction of the rarer class. By then the expected number of
rows of each class at a node that should live is 2 m, and the probability of less than m is exp(-m /
4). ``max_draws`` may end the layer earlier. A node with less than m rows of a class is then frozen
too, unless noise may hide them (2 standard errors); the certificate states how much of each class
ends that way.
"""

from dataclasses import replace
from functools import partial
from math import ceil

import numpy as np

from auctor._progress import Progress
from auctor._text import count
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

# Maximum number of draws of a layer if neither the user nor the data set a smaller one.
_MOST_DRAWS = 10**9

# Origin of the draws of the certificate if the oracle failed: there are no new draws then.
_FIRST = "the first draws, which layer 1 was trained on"

# Draws until both classes have occurred: at most max_draws, or _LEAST_WAIT if that is more. Without
# max_draws the limit is _WAIT, or _WAIT_SAMPLES samples if that is more. A table is known to have
# both classes and its draws are cheap: it has the largest of these limits.
_LEAST_WAIT = 1000
_WAIT, _WAIT_SAMPLES = 10**6, 50


def fit_sampling_martirank(
    stream: Stream, settings: SamplingMartiRankSettings
) -> tuple[ProgramModel, SamplingMartiRankHistory, Certificate]:
    """Train the program from a stream of draws.

    If the stream fails, it raises an OracleError that holds the model of the finished layers.
    """
    with Workers(settings.n_jobs) as workers:
        run = _Run(stream, settings, workers)
        try:
            run.train()
            return run.finish()
        except Stopped as stopped:
            raise run.failure(stopped) from stopped.__cause__


class _Run:
    """One fit: the programs of all guesses of the noise rate, trained on the same draws."""

    def __init__(
        self, stream: Stream, settings: SamplingMartiRankSettings, workers: Workers
    ) -> None:
        self._stream, self._settings, self._workers = stream, settings, workers
        self._draws: list[int] = []
        self._aucs: dict[float, float] = {}  # of each guess that was checked
        self._doing = "before layer 1"

    def train(self) -> None:
        """Train the layers."""
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
                break  # all rows end at frozen nodes
            self._train_layer(t)
            progress.step(f"{self._stream.n_draws:,} draws")
        progress.close()

    def _patience(self) -> int:
        """Maximum number of draws until both classes must have occurred."""
        most = self._settings.max_draws
        long = max(_WAIT, _WAIT_SAMPLES * self._settings.sample_size)
        if self._stream.is_fresh and most is not None:
            return max(most, _LEAST_WAIT)
        return max(long, most or 0)

    def _train_layer(self, t: int) -> None:
        n_draws = 0
        # The bins do not depend on the labels, so that layer 1 can be trained on the first draws.
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
        """The next batch of a layer that has had ``n_draws`` draws."""
        return self._draw(min(self._settings.batch_size, self._most_draws() - n_draws))

    def _draw(self, n_rows: int) -> Partition:
        part = self._stream.draw(n_rows)
        self._labels.add(part)
        return part

    def _is_undecided(self, t: int, n_draws: int) -> bool:
        """Whether a node, or the rate of the rarer class, needs more draws."""
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
        """Maximum number of draws of a layer; see the docstring of the module."""
        settings = self._settings
        most = 1
        for program in self._guesses.programs:
            reach = (1.0 - 2.0 * program.noise_rate) ** 2
            rarer = float(self._rates(program).min()) * reach
            most = max(
                most,
                ceil(min(2 * settings.min_samples_leaf / (settings.least_fraction * rarer), 1e12)),
            )
        return min(most, settings.max_draws or _MOST_DRAWS)

    def _rates(self, program: SamplingProgram) -> Floats:
        """D[c(x) = b], given or estimated from all draws so far."""
        positive = self._settings.positive_rate
        if positive is None:
            return self._labels.rates(program.noise_rate)
        return np.array([1.0 - positive, positive])

    def finish(self) -> tuple[ProgramModel, SamplingMartiRankHistory, Certificate]:
        """The model, with threshold and calibration from one sample and certificate from another.

        The first sample also decides between the guesses.
        """
        self._doing = f"in the last samples, after {len(self._draws)} layers"
        size = self._settings.sample_size
        model, program = self._choose(self._draw(size))
        certificate = self._certify(program, self._draw(size), self._stream.origin)
        return model, self._history(program), certificate

    def failure(self, stopped: Stopped) -> OracleError:
        """The error, with the model of the finished layers.

        Threshold, calibration and certificate are computed from the first draws.
        """
        n_draws, n_layers = self._stream.n_draws, len(self._draws)
        message = f"{stopped} (after {n_draws:,} draws, {self._doing}); "
        advice = self._wanted() if isinstance(stopped, OracleExhausted) else stopped.advice
        advice = f"; {advice}" if advice else ""
        if n_layers == 0:
            return OracleError(f"{message}no layer was finished{advice}", n_draws)
        message += f"model_ keeps the program of {count(n_layers, 'finished layer')}{advice}"
        first = self._data.partitions[0]
        model, program = self._choose(first)
        certificate = self._certify(program, first, _FIRST)
        return OracleError(message, n_draws, model, self._history(program), certificate)

    def _wanted(self) -> str:
        """How many draws the settings may need, and how to need fewer."""
        T, size = self._settings.n_layers, self._settings.sample_size
        most, what = self._settings.max_draws, "a smaller max_draws"
        if most is None:
            what = "a max_draws"
            if not self._draws:  # the bound of a layer is not known before the first layer
                return f"give a smaller n_layers or {what} to need fewer draws"
            most = max(self._most_draws(), size)
        needed = T * most + 2 * size + int(self._stream.skipped.sum())
        return (
            f"the settings may need up to {needed:,} draws ({T} layers of at most {most:,}, two "
            f"samples of {size:,}); give a smaller n_layers, {what} or a smaller sample_size to "
            "need fewer"
        )

    def _choose(self, part: Partition) -> tuple[ProgramModel, SamplingProgram]:
        """Choose between the guesses by their AUC on new noisy labels.

        Noise shrinks AUC - 1/2 by the same factor for all rankers, so that noisy labels order the
        guesses as clean labels would. The largest guess within one standard error of the best is
        taken: the ranking depends so little on the guess that the smallest would always be 0, and
        guesses that are too large have been refuted by a node. If guesses have exactly the same
        AUC, the smallest is taken, because nothing indicates noise.
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
