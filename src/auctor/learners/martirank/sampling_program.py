"""The program of SamplingMartiRank under one noise rate, built layer by layer from counts."""

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

Places = npt.NDArray[np.uint16]  # the node of each draw; OUT where it met a frozen one

# Standard errors that an estimate must keep from a limit before a node is frozen.
_SURE = 2.0


class Verdict(NamedTuple):
    """What the counts of a layer say of its nodes."""

    enough: Bools
    rare: Bools  # frozen by the paper's rule
    short: Bools  # frozen if no more draws are made
    shares: Floats  # (class, node): of all rows of the class, how many reach the node

    def why_frozen(self, i: int, has_edge: bool) -> Why | None:
        """Why node i is given up; None where it lives."""
        if self.rare[i]:
            return "rare"
        if self.short[i]:
            return "short"
        return None if has_edge else "no edge"


class SamplingProgram:
    """The finished layers, and the histogram of the open one."""

    def __init__(
        self, data: RankingData, settings: SamplingMartiRankSettings, noise_rate: float
    ) -> None:
        self.noise_rate = noise_rate
        self.layers: list[list[Node]] = []
        self.frozen: list[Frozen] = []
        self.reached = np.ones(1, dtype=np.bool_)  # nodes of the open layer with a way to them
        self._data, self._settings = data, settings
        self._ranking = RANKINGS[settings.estimator](data.features)
        self._gates: list[Gates] = []
        self._open_layer()

    def fork(self, noise_rate: float) -> Self:
        """A program with the same layers that goes on under another noise rate.

        The open layer starts without counts: it is for the time between two layers.
        """
        other = type(self)(self._data, self._settings, noise_rate)
        other.layers, other.frozen = list(self.layers), list(self.frozen)
        other._gates, other.reached = list(self._gates), self.reached.copy()
        other._open_layer()
        return other

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
        *_, place = self._walk(part, workers)

        def add(features: tuple[int, int]) -> None:
            for label, rows in ((1, (0, part.n_pos)), (0, (part.n_pos, part.n_rows))):
                own = self._histogram[label, features[0] : features[1]]
                count_nodes(part.codes, place, part.weight, rows, features, self.t, own)

        workers.map(add, split_range(0, self._data.n_features, workers.count))

    def votes(self, part: Partition, workers: Workers) -> tuple[Floats, Bools]:
        """Chance that the vote of each draw is positive, and whether a frozen node cast it.

        A frozen node votes by its label, or as the fair coins still to come would.
        """
        value, final = program_values(self.layers, "majority")
        nodes = [node for layer in self.layers for node in layer]
        is_frozen = np.array([node.feature < 0 for node in nodes])
        chance, ended = np.zeros(part.n_rows), np.zeros(part.n_rows, dtype=np.bool_)
        first = 0  # number of the first node of the layer
        for t, place in enumerate(self._walk(part, workers), start=1):
            inside = np.flatnonzero(place != OUT)
            if t == self.t:
                chance[inside] = final[place[inside]]
                break
            node = first + place[inside].astype(np.int64)
            here = is_frozen[node]
            chance[inside[here]], ended[inside[here]] = value[node[here]], True
            first += t
        return chance, ended

    def _walk(self, part: Partition, workers: Workers) -> Iterator[Places]:
        """Where the draws stand in layer 1, 2, ... and in the open one: one array, rewritten."""
        place = np.zeros(part.n_rows, dtype=np.uint16)
        yield place
        for t, gates in enumerate(self._gates, start=1):
            coins = (self._settings.seed, t)

            def send(
                rows: tuple[int, int], gates: Gates = gates, coins: tuple[int, int] = coins
            ) -> None:
                route(part.codes, part.rows, rows, *gates, coins, place)

            workers.map(send, split_range(0, part.n_rows, workers.count))
            yield place

    def judge(self, n_draws: int, rates: Floats) -> Verdict:
        """Which nodes have enough rows, and which are frozen by the rule."""
        totals, limit, noise = self.totals, self._settings.share, self.noise_rate
        found, of_class = corrected(totals, noise), n_draws * rates[:, None]
        shares, error = found / of_class, np.sqrt(variance(totals, noise)) / of_class
        is_rare = (shares <= limit) & (shares + _SURE * error <= 4.0 * limit)
        is_short = found + _SURE * noise_error(totals, noise) < self._settings.min_samples_leaf
        enough = has_enough(totals, noise, self._settings.min_samples_leaf)
        return Verdict(enough, is_rare[0] | is_rare[1], is_short[0] | is_short[1], shares)

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
            ranker, lines = best.ranker(i), best.lines[:, i]
            side = clean_two_sided(ranker, lines, self.noise_rate)
            return live_node(self.t, i, ranker, lines, side, self._data)
        share_neg, share_pos = verdict.shares[:, i].tolist()
        # The class that is less scarce; the paper's 1 - b.
        label = 0 if why == "no edge" else int(np.sign(share_pos - share_neg))
        if self.reached[i]:
            self.frozen.append(Frozen(self.t, i, label, share_neg, share_pos, why))
        return frozen_node(self.t, i, neg, pos, label, float(label))
