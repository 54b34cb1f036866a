"""Tables 3 and 4: ensemblers of six base models."""

from collections.abc import Iterator
from functools import partial

from papers.csillag_2021.comparison import (
    Comparison,
    claim_agreement,
    count,
    count_firsts,
    fold_counts,
    judge_top,
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
    TABLES,
    Fold,
    Make,
    exactboost,
    loss_of,
    read_fold,
    stacked,
)
from papers.experiment import Case, CaseResults, Experiment, Result, Setup, Size
from papers.page import Page

NUMBERS = {"AUC": 3, "KS": 4}  # of the paper's tables
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


def collect(results: CaseResults) -> Comparison:
    """The losses of all cases."""
    comparison = Comparison()
    for name, result in results.items():
        table, fold = read_name(name)
        for metric, losses in result.items():
            for method, loss in losses.items():
                comparison.add(table, metric, method, fold, loss)
    return comparison


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report both tables, differences, and verdicts."""
    comparison = collect(results)
    page.text(
        "Six base models (AdaBoost, nearest neighbours, logistic regression, neural net, random "
        "forest, XGBoost) predict the training rows, by models of the other parts "
        f"of {setup.pick(5, 2, 2)}, and the test rows, by models of all training rows; these six "
        "columns are all that the ensemblers see. Test loss, mean ± standard deviation over "
        f"{fold_counts(comparison)}{_brackets(setup)}; ExactBoost makes "
        f"{setup.pick(250, 10, 2)} runs. Of gmsc {MOST_ROWS:,} rows are taken."
    )
    for metric in NUMBERS:
        _report_metric(page, comparison, metric)


def _brackets(setup: Setup) -> str:
    """A reduced run has other settings, so the paper's figures are not comparable."""
    return ", the paper's figure in brackets" if setup.size == Size.FULL else ""


def _report_metric(page: Page, comparison: Comparison, metric: str) -> None:
    methods, is_full = methods_of(metric), page.setup.size == Size.FULL
    published = page.expected["ensembling"][metric] if is_full else {}
    page.text(f"### Table {NUMBERS[metric]}: {metric}")
    spreads = page.expected["spreads"]["ensembling"][metric]
    print_losses(page, comparison, metric, methods, published, spreads)
    print_differences(page, comparison, metric, methods[1:])
    is_always = metric == "KS"
    tally = count(comparison.against(metric, methods[1:]))
    first, total = count_firsts(comparison, metric, methods)
    page.claim(
        f"ExactBoost is {'always' if is_always else 'generally'} the top performer among "
        f"{metric} ensemblers",
        judge_top(first, total, tally, is_always),
        f"lowest mean loss on {first} of {total} tables; {tally}",
    )
    source = f"Table {NUMBERS[metric]}"
    claim_agreement(page, comparison, source, metric, methods[1:], published)
    print_records(page, comparison, metric)


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
