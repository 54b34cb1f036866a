"""Tables 3 and 4: ensemblers of six base models."""

from collections.abc import Iterator
from functools import partial

from papers.csillag_2021.comparison import (
    Comparison,
    Published,
    agreement,
    claim_agreement,
    count,
    count_firsts,
    fold_counts,
    judge_top,
    mean_distance,
    print_differences,
    print_losses,
    read_name,
)
from papers.csillag_2021.methods import (
    ENSEMBLERS,
    EXACT,
    MOST_ROWS,
    N_FOLDS,
    OURS,
    OUT_OF_FOLD,
    PROTOCOLS,
    TABLES,
    Fold,
    Make,
    exactboost,
    loss_of,
    read_fold,
    stacked,
)
from papers.experiment import Case, CaseResults, Experiment, Result, Setup, Size
from papers.page import Cause, Headline, Page

NUMBERS = {"AUC": 3, "KS": 4}  # of the paper's tables
CUT = ("gmsc",)  # has fewer rows here than in the paper: shown, but not judged
# Seconds of a fold: base models, and both ensembles of ExactBoost with 250 runs.
COSTS = {
    "a1a": (12, 9),
    "german": (10, 8),
    "gmsc": (150, 30),
    "heart": (6, 4),
    "ionosphere": (6, 4),
    "liver": (5, 4),
}


def methods_of(metric: str) -> list[str]:
    """All ensemblers of a table, ExactBoost first."""
    return [OURS, *EXACT[metric], *ENSEMBLERS]


def work(table: str, fold: int, seed: int, n_runs: int, n_parts: int = 5) -> Result:
    """Base predictions once, then every ensembler of both tables on them."""
    return {
        protocol: {metric: _losses(metric, rows, seed, n_runs) for metric in NUMBERS}
        for protocol, rows in stacked(
            read_fold(table, fold, seed, MOST_ROWS), seed, n_parts
        ).items()
    }


def _losses(metric: str, rows: Fold, seed: int, n_runs: int) -> Result:
    ours: dict[str, Make] = {OURS: partial(exactboost, metric, n_runs=n_runs)}
    makes = ours | EXACT[metric] | ENSEMBLERS
    return {m: loss_of(metric, make(seed).fit(rows.X, rows.y), rows) for m, make in makes.items()}


def cases(setup: Setup) -> Iterator[Case]:
    """One case per fold."""
    n_runs = runs_of(setup)
    for table in setup.pick(TABLES, ("heart", "liver"), ("liver",)):
        base, ours = COSTS[table]
        for fold in range(setup.pick(N_FOLDS, 2, 1)):
            yield Case(
                f"{table}, fold {fold}",
                partial(work, table, fold, setup.seed, n_runs, setup.pick(5, 2, 2)),
                tables=(table,),
                packages=("xgboost",),
                cost=base + 2 * ours * n_runs / 250,
                turn=fold + (N_FOLDS if table == "gmsc" else 0),  # the slow one last
            )


def runs_of(setup: Setup) -> int:
    """Runs of ExactBoost: 50 for the paper's 250, which changes little (Figure 1)."""
    return setup.pick(50, 10, 2)


def collect(results: CaseResults, protocol: str) -> Comparison:
    """The losses of all cases by one protocol."""
    comparison = Comparison()
    for name, result in results.items():
        table, fold = read_name(name)
        for metric, losses in result[protocol].items():
            for method, loss in losses.items():
                comparison.add(table, metric, method, fold, loss)
    return comparison


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report both tables by both protocols, which of them the paper's figures fit, and verdicts."""
    comparisons = {protocol: collect(results, protocol) for protocol in PROTOCOLS}
    page.text(
        "Six base models (AdaBoost, nearest neighbours, logistic regression, neural net, random "
        "forest, XGBoost) are trained on the training rows and predict the test rows; these six "
        'columns are all that the ensemblers see. The paper trains "on training folds" and takes '
        'predictions "on test folds" as features; it does not say on which rows the ensemblers '
        "were then trained. Two protocols are run: predictions of the training rows out of fold "
        f"(by models of the other parts of {setup.pick(5, 2, 2)}), and in sample (by models that "
        "have seen these rows). Test loss, mean ± standard deviation over "
        f"{fold_counts(comparisons[OUT_OF_FOLD])}{_brackets(setup)}; ExactBoost makes "
        f"{runs_of(setup)} runs of the paper's 250. gmsc is cut to {MOST_ROWS:,} of its 150,000 "
        "rows: it is shown, but the paper's figures are not judged by it."
    )
    for metric in NUMBERS:
        page.text(f"### Table {NUMBERS[metric]}: {metric}")
        nearest = _print_both(page, comparisons, metric)
        _claim_metric(page, comparisons, metric, nearest)


def _brackets(setup: Setup) -> str:
    """A reduced run has other settings, so the paper's figures are not comparable."""
    return ", the paper's figure in brackets" if setup.size == Size.FULL else ""


def _published(page: Page, metric: str) -> Published:
    return page.expected["ensembling"][metric] if page.setup.size == Size.FULL else {}


def _print_both(page: Page, comparisons: dict[str, Comparison], metric: str) -> str:
    """Losses by either protocol; return the protocol to which the paper's peers are nearer."""
    methods, published = methods_of(metric), _published(page, metric)
    spreads = page.expected["spreads"]["ensembling"][metric]
    distances = {}
    for protocol, comparison in comparisons.items():
        page.text(f"Predictions of the training rows {protocol}:")
        print_losses(page, comparison, metric, methods, published, spreads)
        cells = agreement(comparison.without(CUT), metric, methods[1:], published)
        if cells:
            distances[protocol] = mean_distance(cells)
    if not distances:
        return OUT_OF_FOLD
    nearest = min(distances, key=distances.__getitem__)
    page.text(
        "Mean absolute difference between the paper's figures of the peers and ours, on the tables "
        f"with all rows: {_tell_protocols(distances)}. The paper's figures are judged by the "
        f"nearer protocol, {nearest}; the order of the methods is given by both."
    )
    return nearest


def _tell_protocols(distances: dict[str, float]) -> str:
    return ", ".join(f"{protocol} {gap:.3f}" for protocol, gap in distances.items())


def _claim_metric(
    page: Page, comparisons: dict[str, Comparison], metric: str, nearest: str
) -> None:
    methods, published = methods_of(metric), _published(page, metric)
    print_differences(page, comparisons[nearest], metric, methods[1:])
    often = "always" if metric == "KS" else "generally"
    source = f"Table {NUMBERS[metric]}"
    judged = {protocol: comparison.without(CUT) for protocol, comparison in comparisons.items()}
    text = f"ExactBoost is {often} the top performer among {metric} ensemblers"
    told = {protocol: tell_top(of, metric) for protocol, of in judged.items()}
    others = [f"{protocol}: {words}" for protocol, words in told.items() if protocol != nearest]
    page.claim(
        f"{text} ({nearest})",
        judge_top(judged[nearest], metric, methods[1:]),
        told[nearest],
        headline=Headline(
            f"{source}: ExactBoost is {often} the best {metric} ensembler",
            f"lowest loss on {'7' if metric == 'KS' else '6'} of 7 tables",
            "; ".join([f"{nearest}: {told[nearest]}", *others]),
            Cause.UNKNOWN,
        ),
    )
    for protocol, comparison in judged.items():
        if protocol != nearest:
            verdict = judge_top(comparison, metric, methods[1:])
            page.addition(f"{text} ({protocol})", verdict, told[protocol])
    claim_agreement(
        page, judged[nearest], f"{source} ({nearest})", metric, methods[1:], published, Cause.SETUP
    )
    print_records(page, judged[nearest], metric)


def tell_top(comparison: Comparison, metric: str) -> str:
    """On how many tables ExactBoost is first, and how often it is ahead or behind."""
    methods = methods_of(metric)
    first, total = count_firsts(comparison, metric, methods)
    tally = count(comparison.against(metric, methods[1:]))
    return (
        f"lowest mean loss on {first} of {total} tables, beyond chance ahead in {tally.ahead} and "
        f"behind in {tally.behind} of {tally.total} comparisons"
    )


def print_records(page: Page, comparison: Comparison, metric: str) -> None:
    """ExactBoost against each ensembler, over all tables."""
    rows = []
    for peer in methods_of(metric)[1:]:
        tally = count(comparison.against(metric, [peer]))
        undecided = tally.total - tally.ahead - tally.behind
        rows.append([peer, tally.ahead, undecided, tally.behind, f"{tally.lower} of {tally.total}"])
    page.text("Tables on which ExactBoost is ahead of an ensembler or behind it beyond chance:")
    page.table(["against", "ahead", "undecided", "behind", "lower mean loss"], rows)


EXPERIMENT = Experiment("ensembling", "Tables 3 and 4: ensembling", cases, report)
