"""Tables 3 and 4: tables of the UCI repository, and topics of Reuters (sections 5.2 and 5.3)."""

import csv
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Ints
from auctor.metrics import auc
from papers.experiment import Case, Result, Setup
from papers.suehiro_2011.judging import add_fold, measure
from papers.suehiro_2011.methods import EPSILONS, TOLERANCE, Method, draw_folds, score_settings
from papers.suehiro_2011.rankboost import score_hypotheses
from papers.tables import category_counts, find_file, read_rows

UCI = "hypothyroid", "ionosphere", "kr-vs-kp", "sick-euthyroid", "spambase"
TOPICS = "acq", "crude", "earn", "money-fx", "trade"
WORDS, LABELS = "reuters/X_words_binary.npz", "reuters/labels.csv"

# Each method with its hypotheses in one direction, as in the paper, then with negations as well.
ONE_WAY = ("RankBoost", "pairs", "heuristic", "reduced")
BOTH_WAYS = tuple(f"{method}, negations" for method in ONE_WAY)
# Hypotheses of another kind: thresholds on the features. Not in the paper for Table 3.
STUMPS = ("RankBoost, stumps", "SoftRankBoost")
COLUMNS = (*ONE_WAY, *BOTH_WAYS, *STUMPS)
# Seconds for one fold on one core, in the full size.
UCI_COST = {"RankBoost, stumps": 6.0, "SoftRankBoost": 3.0}
WORDS_COST = {"RankBoost": 20.0, "SoftRankBoost": 90.0, "heuristic": 50.0}
TOPIC_COLUMNS = (*ONE_WAY, "SoftRankBoost")


class Size(NamedTuple):
    """How much of a table is run."""

    n_folds: int
    rounds: tuple[int, ...]
    soft_rounds: int
    epsilons: tuple[float, ...]
    n_rows: int | None  # of each table, if not all
    slack: float = 1.0  # of the tolerances
    n_words: int | None = None  # the most frequent words, if not all


def uci_size(setup: Setup) -> Size:
    """5 folds of all rows, or less."""
    return setup.pick(
        Size(5, (1000, 5000, 10_000), 500, EPSILONS, None),
        Size(2, (50, 100, 200), 50, (0.1, 0.3), 600, 10.0),
        Size(2, (5, 10, 15), 5, (0.3,), 200, 10.0),
    )


def words_size(setup: Setup) -> Size:
    """5 folds of all articles, or less; margins to a gap of 1 % to save time."""
    return setup.pick(
        Size(5, (1000, 5000, 10_000), 500, EPSILONS, None, 100.0),
        Size(2, (10, 20, 40), 10, (0.3,), 500, 100.0, 2000),
        Size(2, (3, 5, 8), 5, (0.3,), 300, 1000.0, 300),
    )


def cases_of_table3(setup: Setup) -> Iterator[Case]:
    """A case for each table, method and fold."""
    size = uci_size(setup)
    for table in setup.pick(UCI, UCI, UCI[:2]):
        for column in COLUMNS:
            for fold in range(size.n_folds):
                work = partial(run_uci, table, column, fold, size, setup.seed)
                cost = UCI_COST.get(column, 3.0) * setup.pick(1.0, 0.03, 0.01)
                name = case_name(table, column, fold)
                turn = fold + (size.n_folds if column in STUMPS else 0)
                yield Case(name, work, tables=(table,), cost=cost, turn=turn)
    yield coding_case(setup)


CODED = "kr-vs-kp"  # the table whose features are all categories
CODINGS = "kr-vs-kp, codings"


def coding_case(setup: Setup) -> Case:
    """RankBoost on kr-vs-kp with fewer hypotheses, which may explain the paper's figure."""
    work = partial(run_codings, uci_size(setup), setup.seed)
    return Case(CODINGS, work, tables=(CODED,), cost=5.0 * setup.pick(1.0, 0.03, 0.01))


def run_codings(size: Size, seed: int) -> Result:
    """AUC on held-out rows, by the values of an attribute that are hypotheses, in one direction."""
    rows = read_rows(CODED, seed, size.n_rows)
    ends = np.cumsum(category_counts(CODED))
    starts = np.concatenate([[0], ends[:-1]])
    chosen = {"all": np.arange(ends[-1]), "first": starts, "last": ends - 1}
    result: Result = {}
    for train, test in draw_folds(rows.y, size.n_folds, seed):
        for coding, columns in chosen.items():
            scored = score_hypotheses(rows.X[:, columns], rows.y, train, size.rounds[:1])
            for _, scores in scored:
                result.setdefault(coding, []).append(float(auc(rows.y[test], scores[test])))
    return result | {"n_hypotheses": {coding: len(columns) for coding, columns in chosen.items()}}


def cases_of_table4(setup: Setup) -> Iterator[Case]:
    """A case for each topic, method and fold."""
    size = words_size(setup)
    for topic in setup.pick(TOPICS, ("acq",), ("acq",)):
        for column in TOPIC_COLUMNS:
            for fold in range(size.n_folds):
                work = partial(run_topic, topic, column, fold, size, setup.seed)
                cost = WORDS_COST.get(column, 25.0) * setup.pick(1.0, 0.01, 0.003)
                name = case_name(topic, column, fold)
                # The two methods of the paper's claim first.
                turn = fold + (0 if column in ("RankBoost", "heuristic") else size.n_folds)
                yield Case(name, work, tables=(WORDS, LABELS), cost=cost, turn=turn)


def case_name(table: str, column: str, fold: int) -> str:
    """The name of the case."""
    return f"{table} {column} fold {fold}"


def run_uci(table: str, column: str, fold: int, size: Size, seed: int) -> Result:
    """AUCs of a method on one fold of a table, and what the table is made of."""
    rows = read_rows(table, seed, size.n_rows)
    facts = {"n_features": rows.X.shape[1], "n_missing": int(np.isnan(rows.X).sum())}
    result = run_fold(rows.X, rows.y, column, fold, size, seed, "features")
    return result | facts


def run_topic(topic: str, column: str, fold: int, size: Size, seed: int) -> Result:
    """AUCs of a method on one fold of the articles; each word is a hypothesis."""
    X, y = read_topic(topic, size, seed)
    return run_fold(X, y, column, fold, size, seed, "words") | {"n_features": X.shape[1]}


def read_topic(topic: str, size: Size, seed: int) -> tuple[Any, Ints]:
    """Words of articles as a sparse matrix of 0 and 1, and which are about the topic."""
    from scipy import sparse

    words, labels = find_file(WORDS), find_file(LABELS)
    assert words is not None and labels is not None, "cases name both files"
    with labels.open(encoding="utf-8") as lines:
        y = np.array([int(row[topic]) for row in csv.DictReader(lines)], dtype=np.int64)
    order = np.random.default_rng([seed, 4]).permutation(len(y))[: size.n_rows]
    X = sparse.csr_array(sparse.load_npz(words)).astype(np.float64)
    commonest = np.sort(np.argsort(-X.sum(axis=0), kind="stable")[: size.n_words])
    return X[order][:, commonest], y[order]


def run_fold(
    X: Any, y: Ints, column: str, fold: int, size: Size, seed: int, hypotheses: str
) -> Result:
    """AUCs of a method on one fold, for every setting of it."""
    train, test = draw_folds(y, size.n_folds, seed)[fold]
    negations = column.endswith(", negations")
    is_rankboost = column.startswith("RankBoost")
    method: Any = column if is_rankboost else column.removesuffix(", negations")
    settings = size.rounds if is_rankboost else size.epsilons
    options = _options(method, size, hypotheses, negations)
    result: Result = {"n_pos": int(y.sum()), "n_neg": int(len(y) - y.sum())}
    for scored in score_settings(method, X, y, train, settings, **options):
        add_fold(result, column, scored, measure(scored[1], y, y, train, test))
    return result


def _options(method: Method, size: Size, hypotheses: str, negations: bool) -> dict[str, Any]:
    if method.startswith("RankBoost"):
        return {}
    if method == "SoftRankBoost":
        return {"n_estimators": size.soft_rounds}
    tol = min(TOLERANCE[method] * size.slack, 0.02 if hypotheses == "features" else 0.01)
    return {"hypotheses": hypotheses, "negations": negations, "gap_tol": tol}
