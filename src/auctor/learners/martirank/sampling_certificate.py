"""The certificate of SamplingMartiRank: the error rates of its vote on the true classes."""

from math import isnan, nan, sqrt
from typing import Any

import numpy as np

from auctor._text import count
from auctor._typing import Floats
from auctor.data import Partition, Workers
from auctor.learners.certificate import Certificate
from auctor.learners.martirank.noise import Counts, corrected, variance
from auctor.learners.martirank.sampling_program import SamplingProgram
from auctor.learners.martirank.sampling_settings import SamplingMartiRankSettings

# Standard errors of a 95 % interval.
_Z = 1.959964

# An estimated error rate this many standard errors below 0 contradicts the noise rate. By chance
# the estimate of a perfect vote is a little below 0.
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
    """Error rates of the vote, from draws that the program was not trained on.

    ``facts`` are further values of the certificate; ``origin`` says where the draws come from.
    """
    noise = program.noise_rate
    chance, ended = program.votes(part, workers)
    totals = corrected(np.array([part.n_rows - part.n_pos, part.n_pos]), noise)
    values = {
        "target_error": settings.target_error,
        "noise_rate": noise,
        "noise_rate_guessed": settings.noise_rate is None,
        **_errors(_by_label(part, chance), _by_label(part, 1.0 - chance), totals, noise),
        **_frozen_fractions(_by_label(part, ended), totals, noise),
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
    """The statement if the first node was frozen."""
    why = {
        "rare": "the fraction of a class is below target_error / (4 T (T + 1))",
        "short": "a class has fewer than min_samples_leaf rows in max_draws draws",
        "no edge": "no ranker is better than chance",
    }[program.frozen[0].why]
    return f"No node was trained, and all rows have the same score: {why}."


def _by_label(part: Partition, values: Any) -> Floats:
    """Sums over the draws of each label."""
    positive, negative = part.class_slices
    return np.array([values[negative].sum(), values[positive].sum()], dtype=np.float64)


def _errors(
    says_pos: Floats, says_neg: Floats, totals: Floats, noise_rate: float
) -> dict[str, Any]:
    """Error rates of both classes with 95 % confidence intervals; NaN for a class without draws.

    The intervals are those of votes whose coins are tossed, with probabilities in place of votes,
    and are cut off at 0 and 1. An interval far below 0 is not cut off: no vote has such an error
    rate, so that the draws contradict the noise rate.
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


def _frozen_fractions(
    stopped: Counts | Floats, totals: Floats, noise_rate: float
) -> dict[str, float]:
    """Fraction of each class that ends at frozen nodes; NaN for a class without draws."""
    fractions = np.clip(corrected(stopped, noise_rate) / np.maximum(totals, 1.0), 0.0, 1.0)
    negative, positive = np.where(totals >= 1.0, fractions, nan).tolist()
    return {"frozen_neg": negative, "frozen_pos": positive}


def _statement(values: dict[str, Any], n_rows: int, origin: str) -> str:
    known = [(name, word) for _, name, word in _CLASSES if not isnan(values[f"error_{name}"])]
    errors = [
        f"{values[f'error_{name}']:.4g} (95% CI {values[f'error_{name}_low']:.4g} to "
        f"{values[f'error_{name}_high']:.4g}) of the {word}"
        for name, word in known
    ]
    frozen = [f"{values[f'frozen_{name}']:.4g} of the {word}" for name, word in known]
    return (
        f"If {values['noise_rate']:.4g} of the labels are wrong{_guessed(values)}, the vote is "
        f"wrong for {' and '.join(errors)}, measured on {origin}. {_of_target(values)}"
        f"{_unknown(values, n_rows)} {' and '.join(frozen)} end at frozen nodes. "
        f"SamplingMartiRank has {values['n_layers']} layers, trained on {values['n_draws']:,} "
        f"draws, and {count(values['n_frozen'], 'frozen node')}; {values['n_short']} of the frozen "
        "nodes had too few draws."
    )


def _guessed(values: dict[str, Any]) -> str:
    # The intervals assume that the rate is known; an error of the guess shifts them.
    is_guessed = values["noise_rate_guessed"]
    return " (a guess whose error is not part of the intervals)" if is_guessed else ""


def _of_target(values: dict[str, Any]) -> str:
    """Whether both error rates are at most target_error."""
    target = f"target_error = {values['target_error']:g}"
    if values["noise_rate_contradicted"]:
        return (
            "An error rate cannot be below 0: the draws contradict noise_rate = "
            f"{values['noise_rate']:.4g}, or the program memorised rows that were drawn "
            f"repeatedly. The error rates cannot be compared with {target}."
        )
    if values["noise_rate_guessed"]:
        return f"With a guessed noise rate, the error rates cannot be compared with {target}."
    # Comparisons with NaN are False.
    highest = (values["error_pos_high"], values["error_neg_high"])
    if not all(high <= values["target_error"] for high in highest):
        return f"It is not shown that both error rates are at most {target}."
    # A rate that is a little wrong is not refuted, and shifts the intervals.
    condition = ", provided that exactly this fraction is wrong" if values["noise_rate"] else ""
    return f"Both error rates are at most {target}{condition}."


def _unknown(values: dict[str, Any], n_rows: int) -> str:
    """A sentence on the class that the sample lacks, if there is one."""
    words = [word for _, name, word in _CLASSES if isnan(values[f"error_{name}"])]
    return "".join(
        f" The error rate of the {word} is unknown, because the sample of {n_rows:,} has none."
        for word in words
    )
