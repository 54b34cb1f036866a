"""SMartiRank (paper 000, section 5): MartiRank from an oracle of noisy draws.

Layer after layer, fresh draws go down the layers that are finished, are counted at the node
where they end, and are dropped: what is kept of them is one class histogram (class, feature,
node, code), so that memory does not grow with the number of draws. With p features and
n_codes codes the histogram of layer t takes 16 p (t + 1) n_codes bytes; a draw in layer t
costs t - 1 steps down the program and p counts.

Labels are wrong with chance eta. C_b is the number of draws of the true class b as estimated
from those of both labels (``learners/noise.py``). From it follow

- p_{i,t}^b = C_b at the node / draws of the layer, and D[c(x) = b] = C_b of all draws / draws;
- when a node has enough rows: C_b is as well known as ``min_class`` rows without noise would
  make it, C_b^2 >= min_class variance, for both classes. Without noise that is N_b >= min_class;
- when a node is frozen: p_{i,t}^b <= epsilon / (4 T (T + 1)) D[c(x) = b] for a class b. The
  paper's 4 leaves room for errors of estimates, and p_{i,t}^b + 2 standard errors must keep
  within that room: a node that few draws have reached is not given up too soon;
- the coin of Lemma 4, which is to make the error rates of the true classes equal.

A layer ends when every node has enough or is frozen, or with its last draw. That is at
2 min_class / (epsilon / (4 T (T + 1)) p (1 - 2 eta)^2) draws, where p is the share of the
scarcer class: a node that ought to live has had 2 min_class rows of each class by then, and
less than min_class only with chance exp(-min_class / 4). ``max_draws`` may end it earlier. A
node with less than min_class rows of a class then is frozen too, unless noise may be what
hides them (2 standard errors); the certificate says how much of each class ends that way.
"""

from dataclasses import dataclass, field, replace
from math import ceil, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.data import Partition, RankingData, Workers
from auctor.kernels.program import OUT, count_nodes, route
from auctor.learners.calibration import calibrate
from auctor.learners.certificate import Certificate
from auctor.learners.finish import training_order
from auctor.learners.noise import (
    Counts,
    Floats,
    auc_error,
    clean_two_sided,
    corrected,
    draws_for_rate,
    has_enough,
    noise_error,
    variance,
)
from auctor.learners.oracle import OracleError, Stopped, Stream
from auctor.learners.program import (
    BestFeatures,
    Gates,
    Node,
    build_program,
    frozen_node,
    gates_of,
    live_node,
    program_values,
    recode,
    split_range,
)
from auctor.learners.progress import Progress
from auctor.models import ProgramModel
from auctor.weak import RANKINGS

# Guesses of the noise rate as parts of the largest one possible, the scarcer label's share.
_GUESSES = (0.0, 0.25, 0.5, 0.75)

# A guess is given up where the data contradict it by so many standard errors.
_REFUTED = 4.0

# Standard errors that an estimate must keep from a limit before a node is frozen.
_SURE = 2.0

# Standard errors of a 95 % interval.
_Z = 1.959964

# What one layer may draw where neither the user nor the data set a bound.
_MOST_DRAWS = 10**9


@dataclass(frozen=True)
class Settings:
    """What a fit can be told."""

    weak: str = "feature"
    n_estimators: int = 40
    epsilon: float = 0.1
    noise_rate: float | None = None
    positive_rate: float | None = None
    output: str = "position"
    min_class: float = 10.0
    max_draws: int | None = 100_000
    sample_size: int = 20_000
    batch_size: int = 10_000
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool | int = False

    @property
    def share(self) -> float:
        """The share of a class below which a node is frozen: epsilon / (4 T (T + 1))."""
        T = self.n_estimators
        return self.epsilon / (4 * T * (T + 1))


class Frozen(NamedTuple):
    """A node that was frozen: which class was scarce at it, and why it was given up."""

    layer: int
    node: int
    label: int  # 1, -1, or 0 where no ranker had an edge
    share_neg: float  # of all negatives that reach it, estimated
    share_pos: float
    why: Literal["rare", "short", "no edge"]


@dataclass
class History:
    """The nodes of each layer, the draws it took, and the nodes that were frozen."""

    layers: list[list[Node]] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)  # of each layer
    frozen: list[Frozen] = field(default_factory=list)
    n_draws: int = 0  # in all, with those for threshold, calibration and certificate
    noise_rate: float = 0.0
    positive_rate: float = 0.5
    guesses: dict[float, float | None] = field(default_factory=dict)
    """AUC of each guessed noise rate on fresh noisy draws; None where the data refuted it."""

    @property
    def n_frozen(self) -> int:
        return len(self.frozen)


def fit_sampling_martirank(
    stream: Stream, settings: Settings
) -> tuple[ProgramModel, History, Certificate]:
    """Train the program from draws; an OracleError carries what was learned until it failed."""
    with Workers(settings.n_jobs) as workers:
        run = _Run(stream, settings, workers)
        try:
            run.train()
            return run.finish()
        except Stopped as stopped:
            raise run.failure(stopped) from stopped.__cause__


def _either(held: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    return held[0] | held[1]


class _Verdict(NamedTuple):
    """What the counts of a layer say of its nodes."""

    enough: npt.NDArray[np.bool_]
    rare: npt.NDArray[np.bool_]  # frozen by the paper's rule
    short: npt.NDArray[np.bool_]  # frozen if no more draws are made
    shares: Floats  # (class, node): of all rows of the class, how many reach the node


class _Program:
    """The program under one guess of the noise rate, and the histogram of its open layer."""

    def __init__(self, data: RankingData, settings: Settings, noise_rate: float) -> None:
        self.noise_rate = noise_rate
        self.layers: list[list[Node]] = []
        self.frozen: list[Frozen] = []
        self.reached = np.ones(1, dtype=np.bool_)  # nodes of the open layer with a way to them
        self._data, self._settings = data, settings
        self._ranking = RANKINGS[settings.weak](data.features)
        self._gates: list[Gates] = []
        self._open_layer()

    @property
    def t(self) -> int:
        """The open layer."""
        return len(self.layers) + 1

    @property
    def totals(self) -> Counts:
        """Draws of each label at each node of the open layer: (class, node)."""
        return self._histogram[:, 0].reshape(2, self.t + 1, -1)[:, :-1].sum(axis=2)

    def count(self, part: Partition, workers: Workers) -> None:
        """Send fresh draws down the finished layers and count them where they end."""
        place = self.follow(part, workers)

        def add(features: tuple[int, int]) -> None:
            for label, rows in ((1, (0, part.n_pos)), (0, (part.n_pos, part.n_rows))):
                own = self._histogram[label, features[0] : features[1]]
                count_nodes(part.codes, place, part.weight, rows, features, self.t, own)

        workers.map(add, split_range(0, self._data.n_features, workers.count))

    def follow(
        self, part: Partition, workers: Workers, votes: Counts | None = None
    ) -> npt.NDArray[np.uint16]:
        """The node of each draw in the open layer; OUT where it met a frozen node.

        ``votes`` (class, label + 1), where given, takes up the draws that end at frozen nodes.
        """
        place = np.zeros(part.n_rows, dtype=np.uint16)
        for t, (gates, nodes) in enumerate(zip(self._gates, self.layers, strict=True), start=1):
            if votes is not None:
                _add_votes(votes, part, place, nodes)

            def send(
                rows: tuple[int, int], gates: Gates = gates, coins: Any = (self._settings.seed, t)
            ) -> None:
                route(part.codes, part.rows, rows, *gates, coins, place)

            workers.map(send, split_range(0, part.n_rows, workers.count))
        return place

    def judge(self, n_draws: int, rates: Floats) -> _Verdict:
        """Which nodes have enough rows, and which are frozen by the rule."""
        totals, limit, noise = self.totals, self._settings.share, self.noise_rate
        found, of_class = corrected(totals, noise), n_draws * rates[:, None]
        shares, error = found / of_class, np.sqrt(variance(totals, noise)) / of_class
        is_rare = (shares <= limit) & (shares + _SURE * error <= 4.0 * limit)
        is_short = found + _SURE * noise_error(totals, noise) < self._settings.min_class
        enough = has_enough(totals, noise, self._settings.min_class)
        return _Verdict(enough, _either(is_rare), _either(is_short), shares)

    def close_layer(self, verdict: _Verdict) -> None:
        """Make the nodes of the open layer, and open the next one."""
        t, n_codes = self.t, self._data.n_codes
        best = BestFeatures(self._ranking, t, n_codes)
        shaped = self._histogram.reshape(2, self._data.n_features, t + 1, n_codes)
        for j in range(self._data.n_features):
            best.offer(j, shaped[:, j, :t])
        nodes = [self._make_node(i, best, verdict) for i in range(t)]
        self.layers.append(nodes)
        self._gates.append(gates_of(nodes, n_codes))
        live = np.array([node.feature >= 0 for node in nodes])
        self.reached = np.append(live, False) | np.append(False, live)
        self._open_layer()

    def _open_layer(self) -> None:
        shape = (2, self._data.n_features, (self.t + 1) * self._data.n_codes)
        self._histogram = np.zeros(shape, dtype=np.int64)

    def _make_node(self, i: int, best: BestFeatures, verdict: _Verdict) -> Node:
        neg, pos = (float(total) for total in best.totals[:, i])
        why = _why_frozen(verdict, i, bool(best.feature[i] >= 0))
        if why is None:
            ranker, lines = best.ranker(i), best.lines[:, i]
            side = clean_two_sided(ranker, lines, self.noise_rate)
            return live_node(self.t, i, ranker, lines, side, 1.0)
        share_neg, share_pos = verdict.shares[:, i].tolist()
        # The class that is less scarce; the paper's 1 - b.
        label = 0 if why == "no edge" else int(np.sign(share_pos - share_neg))
        if self.reached[i]:
            self.frozen.append(Frozen(self.t, i, label, share_neg, share_pos, why))
        return frozen_node(self.t, i, self._data.n_codes, neg, pos, label)


def _why_frozen(
    verdict: _Verdict, i: int, has_edge: bool
) -> Literal["rare", "short", "no edge"] | None:
    if verdict.rare[i]:
        return "rare"
    if verdict.short[i]:
        return "short"
    return None if has_edge else "no edge"


def _add_votes(
    votes: Counts, part: Partition, place: npt.NDArray[np.uint16], nodes: list[Node]
) -> None:
    """Count the draws that stand at frozen nodes under the nodes' labels."""
    label = np.array([node.label + 1 if node.feature < 0 else 3 for node in nodes] + [3])
    found = label[np.minimum(place, len(nodes)).astype(np.int64)]
    votes[1] += np.bincount(found[: part.n_pos], minlength=4)[:3]
    votes[0] += np.bincount(found[part.n_pos :], minlength=4)[:3]


class _Run:
    """One fit: draws, the programs of all guesses side by side on the same draws."""

    def __init__(self, stream: Stream, settings: Settings, workers: Workers) -> None:
        self._stream, self._settings, self._workers = stream, settings, workers
        self._programs: list[_Program] = []
        self._seen = np.zeros(2, dtype=np.int64)  # labels of all draws
        self._draws: list[int] = []
        self._guesses: dict[float, float | None] = {}
        self._doing = "in the first draws"

    def train(self) -> None:
        """Build the layers."""
        T = self._settings.n_estimators
        progress = Progress(T, "SamplingMartiRank", self._settings.verbose)
        limit = self._settings.max_draws or _MOST_DRAWS
        size = min(self._settings.sample_size, limit)
        self._data = self._stream.start(size, max(limit, size))
        self._seen += self._stream.skipped
        self._add_seen(self._data.partitions[0])
        self._programs = [
            _Program(self._data, self._settings, guess) for guess in self._guess_noise()
        ]
        for t in range(1, T + 1):
            self._doing = f"in layer {t} of {T}"
            if not any(program.reached.any() for program in self._programs):
                break  # every way ends at a frozen node
            self._train_layer(t)
            progress.step(f"{self._stream.n_draws:,} draws")
        progress.close()

    def _train_layer(self, t: int) -> None:
        n_draws = 0
        # Bins do not depend on labels, so that the first draws are as good as any for layer 1.
        part = (
            self._data.partitions[0] if t == 1 else self._draw(self._batch(0, self._most_draws()))
        )
        while True:
            for program in self._programs:
                program.count(part, self._workers)
            n_draws += part.n_rows
            self._check_noise()
            most = self._most_draws()
            if n_draws >= most or not self._is_undecided(t, n_draws):
                break
            part = self._draw(self._batch(n_draws, most))
        self._draws.append(n_draws + (int(self._stream.skipped.sum()) if t == 1 else 0))
        for program in self._programs:
            program.close_layer(program.judge(n_draws, self._rates(program.noise_rate)))

    def _batch(self, n_draws: int, most: int) -> int:
        return min(self._settings.batch_size, most - n_draws)

    def _is_undecided(self, t: int, n_draws: int) -> bool:
        """Whether more draws could decide a node, or the rate of the scarcer class."""
        for program in self._programs:
            noise = program.noise_rate
            verdict = program.judge(n_draws, self._rates(noise))
            if (program.reached & ~verdict.enough & ~verdict.rare).any():
                return True
            is_open = t == 1 and self._settings.positive_rate is None
            if is_open and self._seen.sum() < draws_for_rate(self._seen, noise):
                return True
        return False

    def _most_draws(self) -> int:
        """Draws after which a layer ends: see the head of the file."""
        settings = self._settings
        most = 1
        for program in self._programs:
            reach = (1.0 - 2.0 * program.noise_rate) ** 2
            scarce = float(self._rates(program.noise_rate).min()) * reach
            most = max(most, ceil(min(2 * settings.min_class / (settings.share * scarce), 1e12)))
        return min(most, settings.max_draws or _MOST_DRAWS)

    def _rates(self, noise_rate: float) -> Floats:
        """D[c(x) = b], given or from all draws so far, and never nothing."""
        if self._settings.positive_rate is not None:
            positive = self._settings.positive_rate
            return np.array([1.0 - positive, positive])
        shares = corrected(self._seen, noise_rate) / self._seen.sum()
        return np.clip(shares, 1.0 / self._seen.sum(), 1.0)

    def _guess_noise(self) -> list[float]:
        """The noise rate, or guesses of it below the share of the scarcer label.

        A label has a share of at least eta, in the whole and at every node: a guess above it
        is refuted, see ``_check_noise``.
        """
        if self._settings.noise_rate is not None:
            return [self._settings.noise_rate]
        most = float(self._seen.min()) / float(self._seen.sum())
        return [part * most for part in _GUESSES]

    def _check_noise(self) -> None:
        """Drop the guesses that some node contradicts; a rate that was given is only checked."""
        counts = np.concatenate(
            [self._seen[:, None]] + [program.totals for program in self._programs], axis=1
        )
        fewest, size = counts.min(axis=0), counts.sum(axis=0)
        most = fewest + _REFUTED * np.sqrt(fewest + _REFUTED)
        if self._settings.noise_rate is not None:
            if most[0] < self._settings.noise_rate * size[0]:
                raise ValueError(
                    f"noise_rate={self._settings.noise_rate:g} is more than the share of the "
                    f"scarcer label, {fewest[0] / size[0]:.4g} in {size[0]:,} draws; a smaller "
                    "rate, or None to have it guessed, will do"
                )
            return
        for program in list(self._programs):
            if (most < program.noise_rate * size).any():
                self._guesses[program.noise_rate] = None
                self._programs.remove(program)

    def _draw(self, n_rows: int) -> Partition:
        part = self._stream.draw(n_rows)
        self._add_seen(part)
        return part

    def _add_seen(self, part: Partition) -> None:
        self._seen += [part.n_rows - part.n_pos, part.n_pos]

    def finish(self) -> tuple[ProgramModel, History, Certificate]:
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
        message = f"the oracle {stopped} after {n_draws:,} draws {self._doing}; "
        if n_layers == 0:
            return OracleError(f"{message}no layer was finished", n_draws)
        message += f"the program of {n_layers} layer(s) so far is kept in model_"
        first = self._data.partitions[0]
        model, program = self._choose(first)
        certificate = self._certify(program, first, "the first draws")
        return OracleError(message, n_draws, model, self._history(program), certificate)

    def _choose(self, part: Partition) -> tuple[ProgramModel, _Program]:
        """The check of the guesses: their AUC on fresh noisy labels.

        Noise shrinks AUC - 1/2 by a factor that all rankers share, so that noisy labels order
        the guesses as clean ones would. Of those that one standard error cannot tell from the
        best, the largest is taken: noise that is allowed for does no harm, and a guess that
        is too large has been refuted by a node.
        """
        has_both = 0 < part.n_pos < part.n_rows
        parts = (part,) if has_both else (self._data.partitions[0], part)
        sample = replace(self._data, partitions=parts)
        built = [self._score(program, sample) for program in self._programs]
        orders = [training_order(sample, scores) for _, scores in built]
        aucs = [order.auc for order in orders]
        self._guesses.update(zip([p.noise_rate for p in self._programs], aucs, strict=True))
        least = max(aucs) - auc_error(max(aucs), sample.n_neg, sample.n_pos)
        k = max(k for k, auc in enumerate(aucs) if auc >= least)
        (model, scores), cut = built[k], orders[k].cut
        finished = model.finished(calibrate(sample, scores, cut), 0.0 - cut)
        return finished, self._programs[k]

    def _score(self, program: _Program, sample: RankingData) -> tuple[ProgramModel, list[Floats]]:
        values = program_values(program.layers, self._settings.output)
        model, luts = build_program(self._data, program.layers, *values)
        return model, [model.score_codes(recode(rows, luts)) for rows in sample.partitions]

    def _history(self, program: _Program) -> History:
        rates = self._rates(program.noise_rate)
        return History(
            program.layers,
            self._draws,
            program.frozen,
            self._stream.n_draws,
            program.noise_rate,
            float(rates[1]),
            dict(sorted(self._guesses.items())),
        )

    def _certify(self, program: _Program, part: Partition, origin: str) -> Certificate:
        """Errors of the vote on the true classes, from draws that the program has not seen."""
        T = len(program.layers)
        votes = np.zeros((2, 3), dtype=np.int64)
        place = program.follow(part, self._workers, votes)
        stopped = votes.sum(axis=1)
        says_pos = (place != OUT) & (place >= T / 2)
        says_neg = (place != OUT) & (place < T / 2)
        for label, rows in ((1, slice(0, part.n_pos)), (0, slice(part.n_pos, None))):
            votes[label, 2] += int(says_pos[rows].sum())
            votes[label, 0] += int(says_neg[rows].sum())
        totals = np.maximum(corrected(votes.sum(axis=1), program.noise_rate), 1.0)
        values = {
            "epsilon": self._settings.epsilon,
            "noise_rate": program.noise_rate,
            "noise_rate_guessed": self._settings.noise_rate is None,
            "positive_rate": float(self._rates(program.noise_rate)[1]),
            **_errors(votes, totals, program.noise_rate),
            **_frozen_shares(stopped, totals, program.noise_rate),
            "n_layers": T,
            "n_frozen": len(program.frozen),
            "n_rare": sum(node.why == "rare" for node in program.frozen),
            "n_short": sum(node.why == "short" for node in program.frozen),
            "n_draws": self._stream.n_draws,
        }
        return Certificate(_statement(values, origin), values)


def _errors(votes: Counts, totals: Floats, noise_rate: float) -> dict[str, float]:
    """Error rates of both classes with 95 % intervals; a vote without a label errs by half."""
    values: dict[str, float] = {}
    for label, name in ((0, "neg"), (1, "pos")):
        wrong = votes[:, 2 - 2 * label] + votes[:, 1] / 2.0
        rate = float(corrected(wrong, noise_rate)[label] / totals[label])
        reach = _Z * sqrt(float(variance(wrong, noise_rate)[label])) / float(totals[label])
        values[f"error_{name}"] = min(max(rate, 0.0), 1.0)
        values[f"error_{name}_low"] = min(max(rate - reach, 0.0), 1.0)
        values[f"error_{name}_high"] = min(max(rate + reach, 0.0), 1.0)
    values["auc"] = 1.0 - (values["error_neg"] + values["error_pos"]) / 2.0  # Lemma 5
    return values


def _frozen_shares(stopped: Counts, totals: Floats, noise_rate: float) -> dict[str, float]:
    shares = np.clip(corrected(stopped, noise_rate) / totals, 0.0, 1.0).tolist()
    return {"frozen_neg": shares[0], "frozen_pos": shares[1]}


def _statement(values: dict[str, Any], origin: str) -> str:
    parts = [
        f"{values[f'error_{name}']:.4g} (95% CI {values[f'error_{name}_low']:.4g} to "
        f"{values[f'error_{name}_high']:.4g}) of the {word}"
        for name, word in (("pos", "positives"), ("neg", "negatives"))
    ]
    within = max(values["error_pos_high"], values["error_neg_high"]) <= values["epsilon"]
    said = f"{'within' if within else 'not shown to be within'} epsilon = {values['epsilon']:g}"
    rate = f"a rate of {values['noise_rate']:.4g}"
    if values["noise_rate_guessed"]:
        # The intervals take the rate for known; a guess that is off moves them as a whole.
        rate += ", which is a guess that the intervals do not account for"
        said = f"and nothing is said of epsilon = {values['epsilon']:g}"
    return (
        f"With labels wrong at {rate}, the vote errs on "
        f"{' and '.join(parts)} by {origin}, {said}; frozen "
        f"nodes hold {values['frozen_pos']:.4g} of the positives and {values['frozen_neg']:.4g} of "
        f"the negatives ({values['n_layers']} layers of SamplingMartiRank from "
        f"{values['n_draws']:,} draws, {values['n_frozen']} nodes frozen, {values['n_short']} of "
        "them for want of draws)."
    )
