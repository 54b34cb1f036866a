"""Hostile files of models and scorecards: a ValueError that helps, or a model that works.

``attack`` makes one file from a stored model or a card, alters its content or its text, and checks
what loading it leads to. What must never happen: another exception, a warning, a score that is not
finite, a model that does not survive being saved, or a minute of work.
"""

import contextlib
import copy
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from auctor.cli.show import model_text
from auctor.data import category_feature, number_feature, read_table
from auctor.kernels.trees import TreeNodes
from auctor.models import (
    AdditiveModel,
    Calibration,
    ExplainedModel,
    ForestModel,
    LinearModel,
    LinearTerm,
    Model,
    Scorecard,
    SumModel,
    Surface,
    compare_rows,
    load,
    load_scorecard,
    make_record,
    sum_models,
    to_json,
)
from auctor.models.make_record import make_validation
from auctor.models.serialization import CARD_FORMAT, checksum
from auctor.models.training_record import Measured, Origin
from auctor.report.shape import shape_facts

Rng = np.random.Generator
Field = tuple[Any, Any]  # a list or dict, and an index or key of it

GOLDEN = Path(__file__).parents[1] / "golden"
MOST_SECONDS = 60.0  # files of some kilobytes take milliseconds; a slow machine is no failure

VALUES = (
    *(None, True, False, 0, 1, -1, 2, 3, 255, 65_535, 65_536, 2**31, 2**53, 2**63, 10**30, 10**400),
    *(0.0, -0.0, 0.5, 1e-9, 5e-324, 1e15, 1e290, 1e299, 1e300, 1.7e308, -1.7e308),
    *(float("nan"), float("inf"), -float("inf")),
    *("", "x", "x0", "number", "category", "sum", "mean", "median", "tree", "\ud800", "a\nb", "=1"),
    *("x" * 5000, "\x00", "Ärger"),
)
CONTAINERS = (lambda: [], lambda: {}, lambda: [[]], lambda: [0.0], lambda: {"a": 1}, lambda: [None])


def attack(rng: Rng) -> None:
    """Make one altered file and check what loading it leads to.

    Parameters
    ----------
    rng : numpy.random.Generator
        All that is drawn comes from it: the same state makes the same file.
    """
    seed = str(rng.choice(_seeds()))
    content = json.loads(seed)
    for _ in range(int(rng.integers(0, 4))):
        mutate = MUTATIONS[int(rng.integers(len(MUTATIONS)))]
        content = mutate(content, rng)
    data = _signed(content, rng).encode("utf-8", "surrogatepass")
    if rng.random() < 0.3:
        damage = DAMAGES[int(rng.integers(len(DAMAGES)))]
        data = damage(data, rng)
    began = time.monotonic()
    check(data, rng, is_card=CARD_FORMAT in seed[:100])
    assert time.monotonic() - began < MOST_SECONDS, f"{len(data)} bytes took too long"


def check(data: bytes, rng: Rng, is_card: bool = False) -> None:
    """Load a file of these bytes: a ValueError that says what is wrong, or a model that works."""
    read: Callable[[Path], Any] = load_scorecard if is_card else load
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attacked.json"
        path.write_bytes(data)
        try:
            loaded = read(path)
        except ValueError as error:
            assert type(error) is ValueError
            assert re.match(r".*attacked\.json: .*\w{3}", str(error), re.DOTALL), error
            assert len(str(error)) < 1000, "an error of many lines helps nobody"
            return
        if is_card:
            use_card(loaded, path, rng)
        else:
            use(loaded, path, rng)


def use(model: Model, path: Path, rng: Rng) -> None:
    """All that one does with a model."""
    assert str(model) and shape_facts(model)["text"]
    X = rows_of(model, rng)
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    probabilities = model.predict_proba(X)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert len(model.predict(X)) == len(scores)
    explain(model, X, scores)
    assert model_text(model, "m.json") and all(map(str, compare_rows(model, X)))
    model.save(path)
    again = load(path)
    assert to_json(again) == to_json(model)
    assert again.decision_function(X).tobytes() == scores.tobytes()


def use_card(card: Scorecard, path: Path, rng: Rng) -> None:
    """All that one does with a scorecard."""
    assert str(card) and card.to_csv() and "</html>" in card.to_html()
    columns = {feature.name: feature for term in card.terms for feature in term.features}
    numbers = number_feature("other", np.empty(0))
    rows = [_values(columns.get(name, numbers), rng, 7) for name in card.feature_names]
    X = np.array(rows, dtype=object).T
    points = card.score(X)
    assert np.isfinite(points).all() and len(card.reasons(X, 2, "average")) == 2
    probability = card.probability(points)
    assert ((probability >= 0) & (probability <= 1)).all()
    card.save(path)
    again = load_scorecard(path)
    assert again.to_json() == card.to_json() and again.score(X).tobytes() == points.tobytes()


def explain(model: Model, X: Any, scores: Any) -> None:
    """Explanations of all rows add up; of other forms there are none, and they say so."""
    if not isinstance(model, ExplainedModel) or model.why_unexplained is not None:
        try:
            model.explain(X)
        except ValueError as error:
            assert re.search("additive and linear models|median over its trees", str(error))
            return
        raise AssertionError(f"a {model.form} model was explained")
    if model.needs_reference:
        model = model.with_reference(X)
    explanation = model.explain_rows(X)
    assert str(explanation) and str(explanation[0]) and len(explanation.reasons(3)) == 3
    sums = explanation.base + explanation.contributions.sum(axis=1)
    size = np.abs(explanation.contributions).sum(axis=1) + abs(explanation.base) + np.abs(scores)
    assert (np.abs(sums - scores) <= 1e-9 * np.maximum(size, 1.0)).all()


def rows_of(model: Model, rng: Rng, n_rows: int = 7) -> Any:
    """Rows that fit a model: values around its cuts, its categories, others, missing ones."""
    columns = [_values(column, rng, n_rows) for column in _described(model)]
    names = list(model.feature_names)
    if rng.random() < 0.5 and all(name.isprintable() for name in names):
        return pd.DataFrame(dict(zip(names, columns, strict=True)))
    rows = np.empty((n_rows, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        rows[:, j] = column
    return rows


def _described(model: Any) -> Any:
    """The columns of a model; those of a sum are the columns of any of its parts."""
    if isinstance(model, SumModel):
        return _described(model.parts[0])
    return model.columns if isinstance(model, LinearModel) else model.features


def _values(column: Any, rng: Rng, n_rows: int) -> list[Any]:
    if column.is_category:
        # Truth values among numbers are no column; as numbers they are the same categories.
        known = [c if isinstance(c, str) else float(c) for c in column.categories if _fits(c)]
        is_text = any(isinstance(c, str) for c in column.categories)
        pool = [*known[:20], "unseen" if is_text or not column.categories else 12_345.0, None]
    else:
        cuts = np.asarray(getattr(column, "cuts", ()), dtype=np.float64)
        near = rng.choice(cuts, 5).tolist() if len(cuts) else []
        pool = [*near, *np.nextafter(near, np.inf).tolist(), -1e308, 0.0, 1.5, 1e308, np.nan]
        pool = [value for value in pool if not np.isinf(value)]
    return [pool[int(i)] for i in rng.integers(len(pool), size=n_rows)]


def _fits(category: Any) -> bool:
    """Whether a table of any kind can hold the category."""
    if isinstance(category, str):
        return category.isprintable()
    return abs(category) < 2**63


@cache
def _seeds() -> list[str]:
    """The stored models, some with what those lack (text, surfaces, nothing at all), and cards."""
    stored = [path.read_text() for path in sorted(GOLDEN.glob("*.model.json"))]
    made = _with_surfaces(), _with_text(), _smallest(), _with_cover(), _with_parts(), _recorded()
    cards = [
        _with_surfaces().to_scorecard(pdo=30),
        _with_text().to_scorecard(digits=1, direction="higher_risk"),
        _recorded().to_scorecard(max_bins=2, digits=None),
    ]
    return [*stored, *map(to_json, made), *(card.to_json() for card in cards)]


def _recorded() -> Model:
    """A model with a training record."""
    town = np.array(["b", "Ärger", "b", None] * 5, dtype=object)
    X = pd.DataFrame({"town": town, "age": np.linspace(-1.0, 4.0, 20)})
    model, positive = _with_surfaces(), np.arange(20) % 3 == 0
    origin = Origin("1", "2025-01-31T12:00:00Z", "rankboost", {"k": [1, None]}, "auc", "y", "t.csv")
    record = make_record(model, read_table(X), positive, origin=origin, importances=[0.75, 0.25])
    metrics = {"auc": Measured(0.7, 0.6, 0.8, 0.95)}
    scores = model.decision_function(X)
    validation = make_validation(
        model, record, scores, positive, metrics, kind="holdout", description="new.csv"
    )
    return replace(model, training=replace(record, validations=(validation,)))


def _with_surfaces() -> Model:
    town, age = category_feature("town", ("", "Ärger", "b")), number_feature("age", np.arange(3.0))
    axes = number_feature("age", np.array([0.5])), category_feature("town", ("b",))
    surfaces = (
        Surface((1, 0), axes, np.arange(6.0).reshape(3, 2)),
        Surface((0, 1), (town, age), np.arange(20.0).reshape(4, 5)),
    )
    steps = np.arange(4.0), np.arange(5.0)
    shared = ("no", "yes"), 0.25, Calibration(1.7, -0.3)
    model = AdditiveModel(*shared, (town, age), steps, -0.1, surfaces)
    return model.with_reference([["b", 1.0], ["", None]])


def _with_text() -> Model:
    terms = (
        LinearTerm("town", 0.0, 0.5, ("a", "b"), (1.0, -1.0)),
        LinearTerm("code", 0.0, 0.0, (1, 2.5), (0.25, 0.5)),
        LinearTerm("x", 2.0, 0.125),
    )
    return LinearModel((False, True), 0.0, Calibration(1.0, 0.0), terms, 0.5)


def _smallest() -> Model:
    feature = category_feature("empty", ())
    return AdditiveModel((0, 1), 0.0, Calibration(1.0, 0.0), (feature,), (np.zeros(1),), 0.0)


def _with_cover(aggregate: str = "sum") -> ForestModel:
    """Two trees over the features of ``_with_surfaces``: a number, then a category."""
    columns = {
        "feature": [1, 0, -1, -1, -1, 1, -1, -1],
        "cut": [2, 0, 0, 0, 0, 1, 0, 0],
        "above": [1, 0, 0, 0, 0, 0, 0, 0],
        "missing": [0, 0, 0, 0, 0, 1, 0, 0],
        "start": [-1, 0, -1, -1, -1, -1, -1, -1],
        "table": [0, 1, 0, 1],
        "left": [1, 3, -1, -1, -1, 6, -1, -1],
        "right": [2, 4, -1, -1, -1, 7, -1, -1],
    }
    nodes = TreeNodes(**{name: np.array(column) for name, column in columns.items()})
    rank = np.array([0.0, 0.0, 0.25, 1.0, 0.5, 0.0, 0.125, 0.75])
    cover = np.array([8.0, 5.0, 3.0, 1.0, 4.0, 8.0, 0.0, 8.0])
    town, age = category_feature("town", ("", "Ärger", "b")), number_feature("age", np.arange(3.0))
    shared = ("no", "yes"), 0.25, Calibration(1.7, -0.3)
    trees = np.array([0, 5]), nodes, rank, np.array([0.5, 0.5])
    return ForestModel(*shared, (town, age), aggregate, *trees, -0.1, cover)


def _with_parts() -> Model:
    return sum_models([_with_surfaces(), _with_cover()], [1.0, 0.375], intercept=0.5)


def _signed(content: Any, rng: Rng) -> str:
    """The text of the content; mostly with a checksum that fits, as somebody who knows how."""
    if isinstance(content, dict) and "sha256" in content and rng.random() < 0.95:
        with contextlib.suppress(ValueError):  # NaN has no checksum, and is refused before
            content = {**content, "sha256": checksum(content)}
    return json.dumps(content, indent=1 if rng.random() < 0.5 else None)


# What is done to the content.


def _fields(node: Any) -> Iterator[Field]:
    """Every place in the content, its containers and its leaves."""
    keys: Any = node.keys() if isinstance(node, dict) else range(len(node))
    for key in list(keys):
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from _fields(node[key])


def _pick(content: Any, rng: Rng, wanted: Callable[[Any], bool] = lambda value: True) -> Any:
    """A random place whose value is wanted; None where there is none.

    Half of them by a walk from the top, to which a short field is as near as a long list.
    """
    if not isinstance(content, (dict, list)):
        return None
    if rng.random() < 0.5 and (position := _walk(content, rng, wanted)) is not None:
        return position
    candidates = [(node, key) for node, key in _fields(content) if wanted(node[key])]
    return candidates[int(rng.integers(len(candidates)))] if candidates else None


def _walk(content: Any, rng: Rng, wanted: Callable[[Any], bool]) -> Any:
    node = content.get("body", content) if isinstance(content, dict) else content
    while isinstance(node, (dict, list)) and node:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        key = keys[int(rng.integers(len(keys)))]
        is_end = not isinstance(node[key], (dict, list)) or rng.random() < 0.2
        if is_end and wanted(node[key]):
            return node, key
        node = node[key]
    return None


def _sizes(content: Any) -> list[int]:
    """The lengths of the lists: a number of bins, of nodes, of terms."""
    return [len(node[key]) for node, key in _fields(content) if isinstance(node[key], list)]


def _value(rng: Rng) -> Any:
    if rng.random() < 0.2:
        return CONTAINERS[int(rng.integers(len(CONTAINERS)))]()
    return VALUES[int(rng.integers(len(VALUES)))]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def replace_value(content: Any, rng: Rng) -> Any:
    if (position := _pick(content, rng)) is None:
        return _value(rng)
    position[0][position[1]] = _value(rng)
    return content


def replace_number(content: Any, rng: Rng) -> Any:
    """A number by one of the same kind: what types alone do not tell."""
    if (position := _pick(content, rng, _is_number)) is not None:
        node, key = position
        old = node[key]
        if isinstance(old, int):
            size = int(rng.choice(_sizes(content) or [1])) + int(rng.integers(-2, 3))
            pool: Any = (0, 1, -1, old + 1, old - 1, -old, 2 * old, 7, 100, 65_536, *4 * (size,))
        else:
            pool = (0.0, -old, old * 1e10, old * 1e-10, float(np.nextafter(old, 9)), 0.25, 1e290)
        node[key] = pool[int(rng.integers(len(pool)))]
    return content


def remove(content: Any, rng: Rng) -> Any:
    if (position := _pick(content, rng)) is not None:
        del position[0][position[1]]
    return content


def add_field(content: Any, rng: Rng) -> Any:
    if (position := _pick(content, rng, lambda v: isinstance(v, dict))) is not None:
        name = ("extra", "reference", "surfaces", "", "steps", "cuts")[int(rng.integers(6))]
        position[0][position[1]][name] = _value(rng)
    return content


def rename_field(content: Any, rng: Rng) -> Any:
    if (position := _pick(content, rng, lambda v: isinstance(v, dict) and bool(v))) is not None:
        node = position[0][position[1]]
        name = list(node)[int(rng.integers(len(node)))]
        node[f"{name}2"] = node.pop(name)
    return content


def swap(content: Any, rng: Rng) -> Any:
    a, b = _pick(content, rng), _pick(content, rng)
    if a is not None and b is not None:
        first, second = copy.deepcopy(a[0][a[1]]), copy.deepcopy(b[0][b[1]])
        a[0][a[1]] = second
        # The first may have held the second's place, which then is gone.
        if b[0] is not a[0][a[1]]:
            b[0][b[1]] = first
    return content


def change_list(content: Any, rng: Rng) -> Any:
    if (position := _pick(content, rng, lambda v: isinstance(v, list))) is None:
        return content
    items = position[0][position[1]]
    kind = int(rng.integers(6))
    if kind == 0:
        items.clear()
    elif kind == 1:
        items += copy.deepcopy(items) * int(rng.integers(1, 4))
    elif kind == 2 and items:
        items.append(copy.deepcopy(items[int(rng.integers(len(items)))]))
    elif kind == 3:
        items.sort(key=str)
    elif kind == 4:
        rng.shuffle(items)
    else:
        del items[int(rng.integers(len(items) + 1)) :]
    return content


def other_form(content: Any, rng: Rng) -> Any:
    """The body of another model, or the name of another form."""
    other = json.loads(str(rng.choice(_seeds())))
    if isinstance(content, dict):
        # Scorecards have no form, and their terms are what the body of a model is.
        keys = ("form", "body") if "form" in other else ("scale", "terms")
        content[keys[int(rng.integers(2))]] = other[keys[int(rng.integers(2))]]
    return content


def rename_feature(content: Any, rng: Rng) -> Any:
    """Everywhere alike, so that the file stays in order."""
    if (position := _pick(content, rng, lambda v: isinstance(v, str))) is not None:
        old, new = position[0][position[1]], str(VALUES[-int(rng.integers(1, 16))])
        for node, key in list(_fields(content)):
            if node[key] == old:
                node[key] = new
    return content


def more_bins(content: Any, rng: Rng) -> Any:
    """Many more cuts, steps and the like: lists of numbers grow together."""
    factor = int(rng.choice([2, 50, 5000]))
    if (position := _pick(content, rng, lambda v: isinstance(v, dict) and "cuts" in v)) is not None:
        feature = position[0][position[1]]
        if isinstance(feature["cuts"], list):
            feature["cuts"] = [float(i) for i in range(factor)]
            if isinstance(feature.get("steps"), list):
                feature["steps"] = [float(i % 7) for i in range(factor + 1)]
    return content


def nest(content: Any, rng: Rng) -> Any:
    if (position := _pick(content, rng)) is not None:
        for _ in range(int(rng.choice([1, 3, 100]))):
            value = position[0][position[1]]
            position[0][position[1]] = [value] if rng.random() < 0.5 else {"a": value}
    return content


MUTATIONS = (
    *(replace_value, replace_value, replace_number, replace_number, replace_number, remove),
    *(add_field, rename_field, swap, change_list, change_list, other_form, rename_feature),
    *(more_bins, nest),
)


# What is done to the text.


def truncate(data: bytes, rng: Rng) -> bytes:
    return data[: int(rng.integers(len(data) + 1))]


def flip(data: bytes, rng: Rng) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def insert(data: bytes, rng: Rng) -> bytes:
    pieces = (
        b"NaN",
        b"Infinity",
        b"-Infinity",
        b"1e400",
        b"9" * 5000,
        b"\x00",
        b"\xff",
        b"{",
        b"]",
    )
    more = (b'"\\ud800"', b"[" * 100_000, b'{"a":' * 50_000, b"\xef\xbb\xbf", b",", b"null", b"-")
    piece = (*pieces, *more)[int(rng.integers(len(pieces) + len(more)))]
    at = int(rng.integers(len(data) + 1))
    return data[:at] + piece + data[at:]


def number_to(data: bytes, rng: Rng) -> bytes:
    """One number of the text by a literal that JSON or a float cannot hold."""
    matches = list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", data))
    if not matches:
        return data
    pieces = (b"NaN", b"-Infinity", b"1e999", b"1" * 4500, b"1" * 350, b"1e308", b"0x1", b"01")
    one = matches[int(rng.integers(len(matches)))]
    return data[: one.start()] + pieces[int(rng.integers(len(pieces)))] + data[one.end() :]


def repeat_field(data: bytes, rng: Rng) -> bytes:
    matches = list(re.finditer(rb'"\w+":', data))
    if not matches:
        return data
    one = matches[int(rng.integers(len(matches)))]
    return data[: one.start()] + one.group() + b" 1, " + data[one.start() :]


def encode(data: bytes, rng: Rng) -> bytes:
    kind = ("utf-16", "utf-8-sig", "utf-32", "latin-1")[int(rng.integers(4))]
    return data.decode("utf-8", "replace").encode(kind, "replace")


def empty(data: bytes, rng: Rng) -> bytes:
    return (b"", b" ", b"null", b"[]", b"{}", b'""', b"1")[int(rng.integers(7))]


DAMAGES = (truncate, flip, flip, insert, insert, number_to, repeat_field, encode, empty)
