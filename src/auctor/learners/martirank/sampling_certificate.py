"""What SamplingMartiRank certifies: the errors of its vote on the true classes."""

from math import isnan, nan, sqrt
from typing import Any

import numpy as np

from auctor._typing import Floats
from auctor.data import Partition, Workers
from auctor.learners.certificate import Certificate
from auctor.learners.martirank.noise import Counts, corrected, variance
from auctor.learners.martirank.sampling_program import SamplingProgram
from auctor.learners.martirank.sampling_settings import SamplingMartiRankSettings

# Standard errors of a 95 % interval.
_Z = 1.959964

# An error this many standard errors below 0 contradicts the noise rate: a perfect vote has one
# half a reach below 0 by chance alone.
_CONTRADICTED = 4.0

_CLASSES = ((1, "pos", "positives"), (0, "neg", "negatives"))


def certify(
    program: SamplingProgram,
    part: Partition,
    workers: Workers,
    settings: SamplingMartiRankSettings,
    facts: dict[str, Any],
    origin: str,
) -> Certificate:
    """Errors of the vote from draws that the program has not seen.

    ``facts`` are values that the learner knows, ``origin`` says where the draws are from.
    """
    noise = program.noise_rate
    chance, ended = program.votes(part, workers)
    totals = corrected(np.array([part.n_rows - part.n_pos, part.n_pos]), noise)
    values = {
        "epsilon": settings.target_error,
        "noise_rate": noise,
        "noise_rate_guessed": settings.noise_rate is None,
        **_errors(_by_label(part, chance), _by_label(part, 1.0 - chance), totals, noise),
        **_frozen_shares(_by_label(part, ended), totals, noise),
        "n_layers": len(program.layers),
        "n_frozen": len(program.frozen),
        "n_rare": sum(node.why == "rare" for node in program.frozen),
        "n_short": sum(node.why == "short" for node in program.frozen),
        **facts,
    }
    if not any(node.feature >= 0 for layer in program.layers for node in layer):
        return Certificate(_untrained(program), values)
    return Certificate(_statement(values, part.n_rows, origin), values)


def _untrained(program: SamplingProgram) -> str:
    """The statement where the first node is frozen already."""
    why = {
        "rare": "less of a class than epsilon / (4 T (T + 1)) of it is there",
        "short": "a class has fewer than min_samples_leaf rows in the draws of a layer (max_draws)",
        "no edge": "no ranker has an edge",
    }[program.frozen[0].why]
    return f"No node was trained, and every row scores alike: {why}."


def _by_label(part: Partition, values: Any) -> Floats:
    """Sum over the draws of each label."""
    return np.array([values[part.n_pos :].sum(), values[: part.n_pos].sum()], dtype=np.float64)


def _errors(
    says_pos: Floats, says_neg: Floats, totals: Floats, noise_rate: float
) -> dict[str, Any]:
    """Error rates of both classes with 95 % intervals; NaN for a class without a draw.

    The intervals are those of votes whose coins are tossed, so that chances count like votes.
    They are cut off at 0 and 1. An interval that lies far below 0 is left as it is: no vote has
    such an error, so that the draws contradict the noise rate.
    """
    values: dict[str, Any] = {"noise_rate_contradicted": False}
    for label, name, _ in _CLASSES:
        wrong = says_neg if label else says_pos
        rate = reach = nan
        if totals[label] >= 1.0:
            rate = float(corrected(wrong, noise_rate)[label] / totals[label])
            reach = _Z * sqrt(float(variance(wrong, noise_rate)[label])) / float(totals[label])
        is_below = rate + _CONTRADICTED / _Z * reach < 0.0
        values["noise_rate_contradicted"] |= is_below
        for ending, value in (("", rate), ("_low", rate - reach), ("_high", rate + reach)):
            cut = float(np.clip(value, 0.0, 1.0))
            values[f"error_{name}{ending}"] = value if is_below else cut
    values["auc"] = 1.0 - (values["error_neg"] + values["error_pos"]) / 2.0  # Lemma 5
    if values["noise_rate_contradicted"]:
        values["auc"] = nan
    return values


def _frozen_shares(stopped: Counts | Floats, totals: Floats, noise_rate: float) -> dict[str, float]:
    found = np.clip(corrected(stopped, noise_rate) / np.maximum(totals, 1.0), 0.0, 1.0)
    shares = np.where(totals >= 1.0, found, nan).tolist()
    return {"frozen_neg": shares[0], "frozen_pos": shares[1]}


def _statement(values: dict[str, Any], n_rows: int, origin: str) -> str:
    known = [(name, word) for _, name, word in _CLASSES if not isnan(values[f"error_{name}"])]
    errors = [
        f"{values[f'error_{name}']:.4g} (95% CI {values[f'error_{name}_low']:.4g} to "
        f"{values[f'error_{name}_high']:.4g}) of the {word}"
        for name, word in known
    ]
    held = [f"{values[f'frozen_{name}']:.4g} of the {word}" for name, word in known]
    rate = f"a rate of {values['noise_rate']:.4g}"
    if values["noise_rate_guessed"]:
        # The intervals take the rate for known; a guess that is off moves them as a whole.
        rate += ", which is a guess that the intervals do not account for"
    return (
        f"With labels wrong at {rate}, the vote errs on {' and '.join(errors)} by {origin}, "
        f"{_of_epsilon(values)}{_unknown(values, n_rows)}; frozen nodes hold {' and '.join(held)} "
        f"({values['n_layers']} layers of SamplingMartiRank from "
        f"{values['n_draws']:,} draws, {values['n_frozen']} nodes frozen, {values['n_short']} of "
        "them for want of draws)."
    )


def _of_epsilon(values: dict[str, Any]) -> str:
    """What follows for the error that was aimed at."""
    said = f"epsilon = {values['epsilon']:g}"
    if values["noise_rate_contradicted"]:
        rate = f"noise_rate={values['noise_rate']:.4g}"
        return (
            f"and no error is below 0: by these intervals the draws contradict {rate} (or rows "
            f"that came again and again were learned by heart), and nothing is said of {said}"
        )
    if values["noise_rate_guessed"]:
        return f"and nothing is said of {said}"
    # NaN is not within anything.
    highest = (values["error_pos_high"], values["error_neg_high"])
    is_within = all(high <= values["epsilon"] for high in highest)
    if not is_within:
        return f"not shown to be within {said}"
    # A rate that is a little off is not refuted, and moves the intervals as a whole.
    condition = " if the labels are wrong at exactly that rate" if values["noise_rate"] else ""
    return f"within {said}{condition}"


def _unknown(values: dict[str, Any], n_rows: int) -> str:
    """The class of which the sample has nothing to tell, if there is one."""
    words = [word for _, name, word in _CLASSES if isnan(values[f"error_{name}"])]
    return "".join(
        f"; the error on the {word} is not known, for the sample of {n_rows:,} shows none of them"
        for word in words
    )
