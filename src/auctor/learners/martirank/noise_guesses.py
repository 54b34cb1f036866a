"""Guess and check of a noise rate that is not known (paper 000, section 5).

A label has a share of at least eta wherever one looks: in the whole, at a node, at a node and
all those to its left or to its right. The smallest such share is an upper bound of eta, and eta
itself where the true classes are told apart somewhere. More is not to be had from the labels:
a law with noise and one whose classes overlap as much everywhere draw the same.

Up to four guesses have a program each, on the same draws: at first 0, 1/4, 1/2 and 3/4 of the
scarcer label's share. A guess is refuted where that share, with its error, is below it.
Before each layer the places of refuted ones go to new guesses between the largest one left and
the smallest share, whose programs go on from the layers of the largest one. So the guesses
close in on the smallest share, at the cost of four programs and of no draw more.
"""

from collections.abc import Callable
from math import ceil

import numpy as np
from scipy.special import betaincinv

from auctor.learners.martirank.noise import Counts
from auctor.learners.martirank.oracle import Stopped
from auctor.learners.martirank.sampling_program import SamplingProgram

# Programs side by side; each holds a histogram.
_N_GUESSES = 4

# New guesses are no closer to each other than this part of the scarcer label's share.
_FINE = 0.02

# Chance that the true rate is refuted by one look at the counts; there are some thousands.
_CHANCE = 1e-6

# The same for a rate that was given: with it the fit ends, and not just a guess.
_CHANCE_GIVEN = 1e-9


class NoiseGuesses:
    """The programs of all guesses that stand, in the order of their rates.

    Parameters
    ----------
    make : callable
        An empty program for a noise rate.
    given : float or None
        The rate where it is known; it has the only program then.
    seen : ndarray of shape (2,)
        Labels of the draws so far.
    is_fresh : bool
        Whether no draw was seen before. Rows of a table come again, and nodes that learned them
        by heart are purer than the noise rate allows: they refute no rate that was given.
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
        share = float(seen.min()) / float(seen.sum())
        self._fine = _FINE * share
        self._target = 0.75 * share  # the largest guess to make
        if given is None:
            self.refine(is_late=False)

    def check(self, seen: Counts) -> None:
        """Drop the guesses that some node contradicts; a rate that was given is only checked."""
        if self._given is not None:
            self._check_given(self._given, seen)
            return
        whole = float(seen.min()) / float(seen.sum())
        for counts in (seen[:, None], *(program.totals for program in self.programs)):
            bound, share = rate_bound(counts)
            if bound < self._bound:
                # Only nodes that surely differ from the whole tell of the noise rate.
                self._bound, self._target = bound, share if bound < whole else self._target
        self.refuted += [p.noise_rate for p in self.programs if p.noise_rate > self._bound]
        self.programs = [p for p in self.programs if p.noise_rate <= self._bound]

    def refine(self, is_late: bool) -> None:
        """New guesses in the places of the refuted ones; for the time between two layers.

        Late, when nodes are as pure as they get, a guess that is too small makes room: the
        second one, for 0 is what the others are checked against.
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
        advice = "a smaller noise_rate, or None to have it guessed, will do"
        if noise_rate > rate_bound(seen[:, None], _CHANCE_GIVEN)[0]:
            raise Stopped(
                f"noise_rate={noise_rate:g} is more than the share of the scarcer label, which is "
                f"{seen.min() / seen.sum():.4g}",
                advice,
            )
        if not self._is_fresh:
            return
        bound, share = rate_bound(self.programs[0].totals, _CHANCE_GIVEN)
        if noise_rate > bound:
            raise Stopped(
                f"noise_rate={noise_rate:g} is refuted by nodes where a label has a share of no "
                f"more than {share:.4g}",
                advice,
            )


def rate_bound(counts: Counts, chance: float = _CHANCE) -> tuple[float, float]:
    """Upper bound of the noise rate from the labels (class, node) of fresh draws, and the share
    of the scarcer label that it comes from.

    The least bound (Clopper and Pearson's) at any node, or at several from either end on: one
    node alone may have too few rows to say much. ``chance`` is that of a bound below the rate.

    Examples
    --------
    >>> bound, share = rate_bound(np.array([[9000, 5000], [1000, 5000]]))
    >>> round(bound, 3), round(share, 3)
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
