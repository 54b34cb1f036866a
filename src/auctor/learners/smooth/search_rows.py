"""The rows on which penalties are searched: a random part of a large table.

A search fits each candidate in each fold, and its choice among multiples of the automatic amounts
needs fewer rows than the final fit. The amounts that were chosen on a part of the rows are carried
over as multiples of the automatic amounts, because these depend on the number of rows.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from auctor._typing import Bools
from auctor.data import RankingData
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.smooth.search import Candidate, FoldMasks, Search, find_amounts
from auctor.learners.smooth.settings import Amounts, SmoothSettings, auto_amounts


def draw_search_rows(
    data: RankingData, folds: Sequence[FoldMasks], most: int, seed: int
) -> Bools | None:
    """A mask of ``most`` random rows for a search; None if it needs all rows.

    Rows of the smaller class are kept up to half of ``most``, and rows of the other class fill the
    rest. The AUC compares rows of one class with rows of the other, so that the classes may be
    drawn at different rates. The folds remain as they are, and with them the rows that they keep
    together; if a fold would have no row of a class, the search needs all rows.
    """
    if data.n_rows <= most or not folds:
        return None
    fewer, more = sorted(data.class_rows, key=len)
    n_fewer = min(len(fewer), most // 2)
    rng = np.random.RandomState([seed, 1])  # not the seed of the folds, to be independent of them
    kept = np.zeros(len(folds[0][0]), dtype=bool)
    for rows, n_kept in ((fewer, n_fewer), (more, most - n_fewer)):
        kept[rng.permutation(rows)[:n_kept]] = True
    parts = [part & kept for fold in folds for part in fold]
    is_usable = all(part[rows].any() for part in parts for rows in (fewer, more))
    return kept if is_usable else None


def find_amounts_on_part(
    data: RankingData,
    settings: SmoothSettings,
    folds: Sequence[FoldMasks],
    rows: Bools,
    *,
    rule: str,
    surfaces: int,
    journal: Journal = NO_JOURNAL,
) -> Search:
    """``find_amounts`` on some of the rows, with amounts for a fit of all of them."""
    part = data.take(rows)
    search = find_amounts(part, settings, folds, rule=rule, surfaces=surfaces, journal=journal)
    ratios = Amounts(
        *(
            whole / own if own else 1.0
            for whole, own in zip(
                auto_amounts(data, settings), auto_amounts(part, settings), strict=True
            )
        )
    )

    def carry_over(candidate: Candidate) -> Candidate:
        scaled = (a * b for a, b in zip(candidate.amounts, ratios, strict=True))
        return replace(candidate, amounts=Amounts(*scaled))

    candidates = [carry_over(candidate) for candidate in search.candidates]
    return Search(carry_over(search.chosen), candidates, search.scores)
