"""Facts of the model card: what a reviewer asks of a model, each answer with where it is from.

What only people know (intended use, owner) is stated by the user, or marked as not stated. The
rest is from the training record of the model and from the results of the report.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from auctor._text import count, interval, signless
from auctor.metrics.group_table import OTHERS, WORDS
from auctor.models import TrainingRecord
from auctor.models.training_record import Validation
from auctor.report.plain import LONGEST_SENTENCE, clean, sentence

# Entries that the user states, and their titles.
STATED = {
    "intended_use": "Intended use",
    "users": "Intended users",
    "out_of_scope": "Out of scope",
    "limits": "Known limits",
    "owner": "Owner",
    "contact": "Contact",
}
NOT_STATED = "not stated"
_MOST_CLAIMS = 12  # differences between groups that the card lists
_GENERAL = (
    "The results hold for new rows that are like the evaluated ones. If the population, the "
    "product or the way of measuring changes, evaluate the model again."
)


def card_facts(
    card: Mapping[str, Any] | None, record: TrainingRecord | None, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """The model card in plain values; ``facts`` are the other facts of the report."""
    return {
        "stated": _stated(card or {}),
        "model": _model(record, facts),
        "data": _data(record, facts),
        "validation": _validation(record, facts),
        "stability": _of_periods(facts["periods"]),
        "subgroups": _of_subgroups(facts["subgroups"]),
        "limits": _limits(facts),
    }


def _stated(card: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries of the user, in the order of the card."""
    unknown = [key for key in card if key not in STATED]
    if unknown:
        raise ValueError(
            f"card has the entry {unknown[0]!r}; give {', '.join(map(repr, STATED))} only"
        )
    return [
        {"key": key, "title": title, "text": _paragraphs(card.get(key))}
        for key, title in STATED.items()
    ]


def _paragraphs(value: Any) -> list[str]:
    """Texts that are not empty; a single text is one paragraph."""
    parts = [value] if isinstance(value, str) else list(value or [])
    return [clean(part, LONGEST_SENTENCE) for part in parts if str(part).strip()]


def _entry(title: str, words: Any) -> list[dict[str, str]]:
    """One line of the card; nothing if there is nothing to say."""
    return [{"title": title, "text": str(words)}] if words else []


def _model(record: TrainingRecord | None, facts: Mapping[str, Any]) -> list[dict[str, str]]:
    """Which model this is: file, hash, learner, version, rule."""
    about, data = facts["about"], facts["data"]
    origin = None if record is None else record.origin
    return [
        *_entry("Model file", about.get("model")),
        *_entry("SHA-256 of the model file", about.get("model_hash")),
        *_entry("Learner", about.get("learner")),
        *_entry("Form", facts["shape"]["form"]),
        *_entry("Trained for", _metric(about.get("trained_for"))),
        *_entry("Fitted", None if origin is None else origin.date),
        *_entry("Fitted with", origin and origin.version and f"auctor {origin.version}"),
        *_entry("Report written with", f"auctor {facts['version']}"),
        *_entry(
            "Decision rule",
            f"“{data['positive']}” is predicted where the score is at or above "
            f"{data['model_threshold']:.4g}",
        ),
    ]


def _data(record: TrainingRecord | None, facts: Mapping[str, Any]) -> list[dict[str, str]]:
    """The training rows, from the model's record."""
    about, data = facts["about"], facts["data"]
    label = f"“{data['positive_label']}”"
    target = f"{about['target']} = {label}" if about.get("target") else label
    lines = [
        *_entry("Trained on", about.get("trained_on")),
        *_entry("SHA-256 of the training table", about.get("training_table_hash")),
        *_entry("Positive class", target),
    ]
    if record is None:
        return lines + _entry("Training record", "the model has none")
    rate = record.n_pos / record.n_rows
    lines += _entry("Fraction of positives", f"{rate:.1%} of the training rows")
    if record.columns:
        lines += _entry("Features", _features(record))
    if record.has_weights:
        sizes = " and ".join(f"{size:,.0f}" for size in record.effective_rows)
        lines += _entry(
            "Weights", f"{sizes} effective negative and positive rows of {record.n_rows:,} rows"
        )
    return lines


def _features(record: TrainingRecord) -> str:
    n_categories = sum(column.is_category for column in record.columns)
    n_missing = sum(column.n_missing > 0 for column in record.columns)
    missing = f"{n_missing} of them with missing values" if n_missing else "none has missing values"
    return f"{count(len(record.columns), 'feature')}, {n_categories} categorical; {missing}"


def _validation(record: TrainingRecord | None, facts: Mapping[str, Any]) -> list[dict[str, str]]:
    """How the model was validated when it was fitted, and what this report shows."""
    known = () if record is None else record.validations
    lines = [line for one in known for line in _entry(_title(one), _measured(one))]
    here = facts["headline"]["sentence"]
    return [
        *lines,
        *_entry("This report", f"{facts['about'].get('evaluated_on') or 'the given rows'}: {here}"),
        *_entry("Calibration", facts["calibration"]["verdict"]),
    ]


def _title(validation: Validation) -> str:
    return f"At the fit: {validation.kind}, {validation.description}"


def _measured(validation: Validation) -> str:
    parts = [
        f"{_metric(name)} {one.value:.3f} ({interval(one.low, one.high, one.level)})"
        for name, one in validation.metrics.items()
    ]
    return ", ".join(parts)


def _metric(name: Any) -> Any:
    """The name of a metric as it is written."""
    return name.upper() if name in ("auc", "ks") else name


def _of_periods(periods: Mapping[str, Any] | None) -> list[str]:
    """The verdict on the stability over time."""
    if periods is None:
        return ["Not assessed: no column with the time of the rows was given."]
    areas = [group["auc"]["value"] for group in periods["groups"]]
    known = [area for area in areas if area is not None]
    span = f", with AUCs from {min(known):.3f} to {max(known):.3f}" if known else ""
    return [f"{count(periods['n_groups'], 'period')}{span}. {_verdict(periods, 'period')}"]


def _of_subgroups(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """The verdicts on the subgroups of each column."""
    if not tables:
        return ["Not assessed: no column of subgroups was given."]
    return [
        f"By {table['name']}, {count(table['n_groups'], 'group')}: {_verdict(table, 'group')}"
        for table in tables
    ]


def _verdict(table: Mapping[str, Any], noun: str) -> str:
    """Which groups differ in what, and how many are too small, in a few words."""
    parts = _claims(table)
    if not table["n_tests"]:
        parts = [f"no {noun}s were compared, because fewer than two are large enough"]
    elif not parts:
        parts = [f"no test shows a difference between {noun}s"]
    if table["n_small"]:
        parts.append(f"{count(table['n_small'], noun)} too small to be compared in every measure")
    words = "; ".join(parts)
    return f"{words[:1].upper()}{words[1:]}."


def _claims(table: Mapping[str, Any]) -> list[str]:
    """The differences, by the groups that were compared; the most significant first."""
    shown = [test for test in table["tests"] if test["p_adjusted"] < 1 - table["level"]]
    claims: dict[tuple[str, str], list[str]] = {}
    for test in shown[:_MOST_CLAIMS]:
        claims.setdefault((test["group"], test["other"]), []).append(_claim(test))
    parts = [
        f"{clean(group)!r} differs in {', '.join(measures)}"
        if other == OTHERS
        else f"{clean(group)!r} and {clean(other)!r} differ in {', '.join(measures)}"
        for (group, other), measures in claims.items()
    ]
    left = table["n_differing"] - min(len(shown), _MOST_CLAIMS)
    return [*parts, f"and {count(left, 'more difference')}"] if left else parts


def _claim(test: Mapping[str, Any]) -> str:
    """A measure with the values of the two that were compared."""
    between = "against" if test["other"] == OTHERS else "and"
    values = f"{signless(test['value'])} {between} {signless(test['other_value'])}"
    return f"{WORDS[test['measure']]} ({values})"


def _limits(facts: Mapping[str, Any]) -> list[str]:
    """What the results cannot show."""
    notes = facts["about"].get("notes") or []
    notes = [notes] if isinstance(notes, str) else list(notes)
    small = sum(table["n_small"] for table in facts["subgroups"])
    if small:
        notes.append(
            f"{count(small, 'subgroup')} had too few rows to be compared in every measure."
        )
    return [*(sentence(note) for note in notes), _GENERAL]
