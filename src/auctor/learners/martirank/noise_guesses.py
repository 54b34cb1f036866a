"""Guess and check of an unknown noise rate eta (Long & Servedio 2007, section 5).

Each label has a fraction of at least eta everywhere: in all rows, at a node, at a node and all
nodes to its left or to its right. The smallest such fraction is an upper bound on eta, and equal to
eta if the true classes are separated somewhere. The labels contain no more information: a
distribution with noise, and one whose classes overlap as much everywhere, give the same draws.

Up to four guesses have a program each, trained on the same draws. At first they are 0, 1/4, 1/2 and
3/4 of the fraction of the rarer label. A guess is refuted if the smallest fraction, with its
statistical error, is below it. Before each layer refuted guesses are replaced by new ones between
the largest guess that is left and the smallest fraction; their programs continue from the layers of
that largest guess. So the guesses converge to the smallest fraction, at the cost of four programs
and without further draws.
"""

from collections.abc import Callable
from math import ceil

import numpy as np
from scipy.special import betaincinv

from auctor.learners.martirank.noise import Counts
from auctor.learners.martirank.oracle import Stopped
from auctor.learners.martirank.sampling_program import SamplingProgram

# Maximum number of programs; each has a histogram.
_N_GUESSES = 4

# Minimum distance of new guesses, relative to the fraction of the rarer label.
_FINE = 0.02

# Probability that one test of the counts refutes the true rate; a fit makes some thousands of
# tests.
_CHANCE = 1e-6

# The same for a rate that was given: refuting it ends the fit, not just a guess.
_CHANCE_GIVEN = 1e-9


class NoiseGuesses:
    """The programs of all guesses that are not refuted, in the order of their rates.

    Parameters
    ----------
    make : callable
        Makes an empty program for a noise rate.
    given : float or None
        The rate if it is known; then there is only one program.
    seen : ndarray of shape (2,)
        Counts of the labels of the draws so far.
    is_fresh : bool
        Whether every draw is a new row. The rows of a table are drawn repeatedly, and nodes that
        memorised them are purer than the noise rate allows: they cannot refute a given rate.
    """

    def __init__(
        self,
        make: Callable[[float], SamplingProgram],
        given: float | None,
        seen: Counts,
        is_fresh: bool,
    ) -> None:
        self._given, self._is_fresh = given, is_fresh
        self.refuted: list[float] = []
        self._bound = 0.5
        self.programs = [make(given or 0.0)]
        fraction = float(seen.min()) / float(seen.sum())
        self._fine = _FINE * fraction
        self._target = 0.75 * fraction  # the largest guess to make
        if given is None:
            self.refine(is_late=False)

    def check(self, seen: Counts) -> None:
        """Drop the guesses that some node refutes; raises Stopped if a given rate is refuted."""
        if self._given is not None:
            self._check_given(self._given, seen)
            return
        overall = float(seen.min()) / float(seen.sum())
        for counts in (seen[:, None], *(program.totals for program in self.programs)):
            bound, fraction = rate_bound(counts)
            if bound < self._bound:
                # Only nodes that certainly differ from all rows say something about the noise rate.
                self._bound, self._target = bound, fraction if bound < overall else self._target
        self.refuted += [p.noise_rate for p in self.programs if p.noise_rate > self._bound]
        self.programs = [p for p in self.programs if p.noise_rate <= self._bound]

    def refine(self, is_late: bool) -> None:
        """Replace refuted guesses by new ones; to be called between two layers.

        In the second half of the layers, when the nodes are as pure as they get, the second
        smallest guess is given up for a larger one; 0 stays because the others are compared with
        it.
        """
        largest = self.programs[-1]
        gap = self._target - largest.noise_rate
        if self._given is not None or gap < self._fine:
            return
        if is_late and len(self.programs) == _N_GUESSES:
            del self.programs[1]
        n_new = min(_N_GUESSES - len(self.programs), ceil(gap / self._fine))
        rates = [largest.noise_rate + gap * k / n_new for k in range(1, n_new + 1)]
        self.programs += [largest.fork(rate) for rate in rates]

    def _check_given(self, noise_rate: float, seen: Counts) -> None:
        advice = "give a smaller noise_rate, or None to have it guessed"
        if noise_rate > rate_bound(seen[:, None], _CHANCE_GIVEN)[0]:
            raise Stopped(
                f"noise_rate is {noise_rate:g}, which is more than the fraction of the rarer "
                f"label, {seen.min() / seen.sum():.4g}",
                advice,
            )
        if not self._is_fresh:
            return
        bound, fraction = rate_bound(self.programs[0].totals, _CHANCE_GIVEN)
        if noise_rate > bound:
            raise Stopped(
                f"noise_rate is {noise_rate:g}, but at some nodes the fraction of one label is "
                f"only {fraction:.4g}",
                advice,
            )


def rate_bound(counts: Counts, chance: float = _CHANCE) -> tuple[float, float]:
    """An upper bound on the noise rate from counts (class, node) of the labels of new draws.

    Also returns the fraction of the rarer label that the bound comes from. The bound is the
    smallest Clopper-Pearson limit at any node, or at several nodes from either end on, because a
    single node may have too few rows. ``chance`` is the probability that a limit is below the true
    rate.

    Examples
    --------
    >>> bound, fraction = rate_bound(np.array([[9000, 5000], [1000, 5000]]))
    >>> round(bound, 3), round(fraction, 3)
    (0.115, 0.1)
    """
    from_left, from_right = counts.cumsum(axis=1), counts[:, ::-1].cumsum(axis=1)
    sets = np.concatenate([counts, from_left, from_right], axis=1)
    sets = sets[:, sets.sum(axis=0) > 0]
    if sets.shape[1] == 0:
        return 0.5, 0.5
    fewest, most = sets.min(axis=0), sets.max(axis=0)
    bounds = betaincinv(fewest + 1.0, most, 1.0 - chance)
    k = int(bounds.argmin())
    return min(float(bounds[k]), 0.5), float(fewest[k] / (fewest[k] + most[k]))
