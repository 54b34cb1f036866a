"""The program of SamplingMartiRank for one noise rate, trained layer by layer from counts."""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats
from auctor.data import Partition, RankingData, Workers
from auctor.kernels.program import OUT, count_nodes, route
from auctor.learners.martirank.noise import (
    Counts,
    clean_two_sided,
    corrected,
    has_enough,
    noise_error,
    variance,
)
from auctor.learners.martirank.program import (
    BestFeatures,
    Gates,
    Node,
    frozen_node,
    gates_of,
    live_node,
    program_values,
    split_range,
)
from auctor.learners.martirank.sampling_settings import Frozen, SamplingMartiRankSettings, Why
from auctor.weak.feature import RANKINGS

Positions = npt.NDArray[np.uint16]  # the node of each draw; OUT if it ended at a frozen node

# A node is frozen only if an estimate is this many standard errors below the limit.
_SURE = 2.0


class Verdict(NamedTuple):
    """Which nodes of a layer can be trained, and which are to be frozen."""

    enough: Bools  # enough rows of both classes
    rare: Bools  # to be frozen: too small a fraction of a class
    short: Bools  # to be frozen if no more draws are made
    fractions: Floats  # (class, node): of all rows of the class

    def why_frozen(self, i: int, has_edge: bool) -> Why | None:
        """Why node i is frozen; None if it is not."""
        if self.rare[i]:
            return "rare"
        if self.short[i]:
            return "short"
        return None if has_edge else "no edge"


class SamplingProgram:
    """The finished layers, and the histogram of the layer that is being trained (the open one)."""

    def __init__(
        self, data: RankingData, settings: SamplingMartiRankSettings, noise_rate: float
    ) -> None:
        self.noise_rate = noise_rate
        self.layers: list[list[Node]] = []
        self.frozen: list[Frozen] = []
        self.reached = np.ones(1, dtype=np.bool_)  # nodes of the open layer that rows can reach
        self._data, self._settings = data, settings
        self._ranking = RANKINGS[settings.estimator](data.features)
        self._gates: list[Gates] = []
        self._open_layer()

    def fork(self, noise_rate: float) -> Self:
        """A program with the same layers that continues with another noise rate.

        Its open layer has no counts, so that this is to be called between two layers.
        """
        other = type(self)(self._data, self._settings, noise_rate)
        other.layers, other.frozen = list(self.layers), list(self.frozen)
        other._gates, other.reached = list(self._gates), self.reached.copy()
        other._open_layer()
        return other

    @property
    def t(self) -> int:
        """Number of the open layer."""
        return len(self.layers) + 1

    @property
    def totals(self) -> Counts:
        """Draws of each label at each node of the open layer: (class, node)."""
        return self._histogram[:, 0].reshape(2, self.t + 1, -1)[:, :-1].sum(axis=2)

    def count(self, part: Partition, workers: Workers) -> None:
        """Send new draws down the finished layers and count them where they end."""
        *_, position = self._walk(part, workers)

        def add(features: tuple[int, int]) -> None:
            for label, rows in ((1, (0, part.n_pos)), (0, (part.n_pos, part.n_rows))):
                own = self._histogram[label, features[0] : features[1]]
                count_nodes(part.codes, position, part.weight, rows, features, self.t, own)

        workers.map(add, split_range(0, self._data.n_features, workers.count))

    def votes(self, part: Partition, workers: Workers) -> tuple[Floats, Bools]:
        """Probability that the vote of each draw is positive, and whether it ends at a frozen node.

        A frozen node votes by its label, or like fair coin tosses for the remaining steps.
        """
        value, final = program_values(self.layers, "majority")
        nodes = [node for layer in self.layers for node in layer]
        is_frozen = np.array([node.feature < 0 for node in nodes])
        chance, ended = np.zeros(part.n_rows), np.zeros(part.n_rows, dtype=np.bool_)
        first = 0  # number of the first node of the layer
        for t, position in enumerate(self._walk(part, workers), start=1):
            inside = np.flatnonzero(position != OUT)
            if t == self.t:
                chance[inside] = final[position[inside]]
                break
            node = first + position[inside].astype(np.int64)
            here = is_frozen[node]
            chance[inside[here]], ended[inside[here]] = value[node[here]], True
            first += t
        return chance, ended

    def _walk(self, part: Partition, workers: Workers) -> Iterator[Positions]:
        """Yield the positions of the draws in layer 1, 2, ... and in the open one.

        It is always the same array, with new values.
        """
        position = np.zeros(part.n_rows, dtype=np.uint16)
        yield position
        for t, gates in enumerate(self._gates, start=1):
            coins = (self._settings.seed, t)

            def send(
                rows: tuple[int, int], gates: Gates = gates, coins: tuple[int, int] = coins
            ) -> None:
                route(part.codes, part.rows, rows, *gates, coins, position)

            workers.map(send, split_range(0, part.n_rows, workers.count))
            yield position

    def judge(self, n_draws: int, rates: Floats) -> Verdict:
        """Which nodes have enough rows, and which are to be frozen."""
        totals, limit, noise = self.totals, self._settings.least_fraction, self.noise_rate
        estimate, of_class = corrected(totals, noise), n_draws * rates[:, None]
        fractions, error = estimate / of_class, np.sqrt(variance(totals, noise)) / of_class
        is_rare = (fractions <= limit) & (fractions + _SURE * error <= 4.0 * limit)
        is_short = estimate + _SURE * noise_error(totals, noise) < self._settings.min_samples_leaf
        enough = has_enough(totals, noise, self._settings.min_samples_leaf)
        return Verdict(enough, is_rare[0] | is_rare[1], is_short[0] | is_short[1], fractions)

    def close_layer(self, verdict: Verdict) -> None:
        """Make the nodes of the open layer, and open the next one."""
        t, n_codes = self.t, self._data.n_codes
        best = BestFeatures(self._ranking, t, n_codes)
        best.offer(0, self._histogram.reshape(2, self._data.n_features, t + 1, n_codes))
        nodes = [self._make_node(i, best, verdict) for i in range(t)]
        self.layers.append(nodes)
        self._gates.append(gates_of(nodes, n_codes))
        live = np.array([node.feature >= 0 for node in nodes])
        self.reached = np.append(live, False) | np.append(False, live)
        self._open_layer()

    def _open_layer(self) -> None:
        shape = (2, self._data.n_features, (self.t + 1) * self._data.n_codes)
        self._histogram = np.zeros(shape, dtype=np.int64)

    def _make_node(self, i: int, best: BestFeatures, verdict: Verdict) -> Node:
        neg, pos = (float(total) for total in best.totals[:, i])
        why = verdict.why_frozen(i, bool(best.feature[i] >= 0))
        if why is None:
            ranker, counts = best.ranker(i), best.counts[:, i]
            side = clean_two_sided(ranker, counts, self.noise_rate)
            return live_node(self.t, i, ranker, counts, side, self._data)
        fraction_neg, fraction_pos = verdict.fractions[:, i].tolist()
        # The class with the larger fraction, 1 - b of Long & Servedio.
        label = 0 if why == "no edge" else int(np.sign(fraction_pos - fraction_neg))
        if self.reached[i]:
            self.frozen.append(Frozen(self.t, i, label, fraction_neg, fraction_pos, why))
        return frozen_node(self.t, i, neg, pos, label, float(label))
