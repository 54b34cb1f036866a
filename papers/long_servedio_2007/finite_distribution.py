"""Follow a branching program over all rows of a finite distribution, with exact probabilities."""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats
from auctor.learners.martirank.program import Node, program_values


class Followed(NamedTuple):
    """Errors and frozen fractions of the two true classes, negatives first."""

    error: tuple[float, float]  # D-[H = 1] and D+[H = -1]
    frozen: tuple[float, float]  # fractions that end at a frozen node
    error_frozen: tuple[float, float]  # fractions that end at one with the wrong vote
    least_advantage: (
        float  # smallest two-sided advantage of the nodes that are reached and not frozen
    )
    fraction_below: float  # fraction of all steps that are taken at nodes below a given advantage


def follow_majority(layers: list[list[Node]], k: int, advantage: float) -> Followed:
    """Follow the program on the majority of k features, with all 2^k rows equally likely."""
    rows = np.array(list(product((-1, 1), repeat=k)))
    return follow(layers, rows, rows.sum(axis=1) > 0, advantage)


def follow(
    layers: list[list[Node]],
    rows: npt.NDArray[Any],
    is_pos: Bools,
    advantage: float,
) -> Followed:
    """Send the mass of every row of -1 and +1 down the program; a coin splits the mass."""
    value, final = program_values(layers, "majority")
    codes = np.where(rows > 0, 2, 1)  # code 0 is missing
    # Each class has total mass 1.
    mass = np.where(is_pos, 1.0 / is_pos.sum(), 1.0 / (~is_pos).sum())[None]
    ended, ended_pos = np.zeros(len(rows)), np.zeros(len(rows))
    least, below, steps, number = 0.5, 0.0, 0.0, 0
    for layer in layers:
        below_it = np.zeros((len(layer) + 1, len(rows)))
        for node, here in zip(layer, mass, strict=True):
            chance = value[number]
            number += 1
            if node.feature < 0:
                ended += here
                ended_pos += here * chance
                continue
            right = node.right[codes[:, node.feature]]
            below_it[node.index] += here * (1 - right)
            below_it[node.index + 1] += here * right
            own = _advantage(here, right, is_pos)
            if own is not None:
                least, steps = min(least, own), steps + here.sum()
                below += here.sum() if own < advantage - 1e-9 else 0.0
        mass = below_it
    says_pos = ended_pos + final @ mass
    return Followed(
        (float(says_pos[~is_pos].sum()), float(1.0 - says_pos[is_pos].sum())),
        (float(ended[~is_pos].sum()), float(ended[is_pos].sum())),
        (float(ended_pos[~is_pos].sum()), float((ended - ended_pos)[is_pos].sum())),
        least,
        float(below / max(steps, 1e-300)),
    )


def _advantage(mass: Floats, right: Floats, is_pos: Bools) -> float | None:
    """The two-sided advantage of a node; None if one class does not reach it."""
    pos, neg = mass[is_pos].sum(), mass[~is_pos].sum()
    if pos < 1e-12 or neg < 1e-12:
        return None
    goes_right = mass * right
    to_right = goes_right[is_pos].sum() / pos, goes_right[~is_pos].sum() / neg
    return float(min(to_right[0] - 0.5, 0.5 - to_right[1]))
