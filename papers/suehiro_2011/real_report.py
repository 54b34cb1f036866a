"""Report on Tables 3 and 4: our figures beside the paper's, and its figures of 1.0."""

from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Any

from papers.experiment import CaseResults, Result, Setup
from papers.page import Page, Verdict
from papers.statistics import differences, mean_sd, t_interval
from papers.suehiro_2011.judging import best_folds, best_setting, honest_folds, read, settings_of
from papers.suehiro_2011.real import (
    COLUMNS,
    NEGATED,
    TOPICS,
    UCI,
    Size,
    case_name,
    uci_size,
    words_size,
)
from papers.suehiro_2011.wording import (
    MISSING,
    beside,
    bracket,
    fraction_verdict,
    printed,
    say_beside,
)

NAMES = {"pairs": "LP-Pair", "heuristic": "the method", NEGATED: "LP-Pair with negations"}


def report_table3(page: Page, results: CaseResults, setup: Setup) -> None:
    """The UCI tables."""
    size, expected = uci_size(setup), printed(page, "table3")
    columns = [*(f"RankBoost {n}" for n in size.rounds), *COLUMNS[1:]]
    _check_sizes(page, results, size, expected["sizes"])
    _print_all(page, results, setup, size, UCI, columns, expected["rows"])
    _print_constants(page, results, size)
    claim_ones(page, results, size, expected["rows"])
    _claim_beats(page, results, size, UCI, "RankBoost", "Table 3")


def report_table4(page: Page, results: CaseResults, setup: Setup) -> None:
    """The topics of Reuters: the order of the methods."""
    size, expected = words_size(setup), printed(page, "table4")
    columns = [*(f"RankBoost {n}" for n in size.rounds), *COLUMNS[1:-1]]
    paper = {topic: _with_gap(figures) for topic, figures in expected["rows"].items()}
    _print_topic_sizes(page, results, setup, expected)
    _print_all(page, results, setup, size, TOPICS, columns, paper)
    _claim_beats(page, results, size, TOPICS, "RankBoost", "Table 4")
    _claim_soft(page, results, size)


def _with_gap(figures: Sequence[float]) -> list[float | None]:
    """Table 4 has no LP-Pair: it could not be run."""
    return [*figures[:4], None, figures[4]]


def merged(results: CaseResults, size: Size, table: str, column: str) -> Result | None:
    """The folds of a table and method in one result; None unless all were run."""
    names = [case_name(table, column, fold) for fold in range(size.n_folds)]
    if not all(name in results for name in names):
        return None
    lists = [key for key in results[names[0]] if "|" in key]
    return {key: [value for name in names for value in results[name][key]] for key in lists}


def folds_of(
    results: CaseResults, size: Size, table: str, column: str, name: str, honest: bool = False
) -> list[float]:
    """A number for each fold; ``column`` may name RankBoost's rounds, or leave them to choose."""
    method, _, rounds = column.partition(" ")
    method = column if method != "RankBoost" else method
    result = merged(results, size, table, method)
    if result is None:
        return []
    if rounds and method == "RankBoost":
        return read(result, method, rounds, name)
    if honest:
        return honest_folds(result, method, name)
    return best_folds(result, method, name, name if name == "ties_right" else "test")


def _check_sizes(
    page: Page, case_results: CaseResults, size: Size, expected: dict[str, list[int]]
) -> None:
    """Check that the tables are the paper's: features (one column per category) and classes."""
    seen = {}
    for table in UCI:
        results = [r for name, r in case_results.items() if name.startswith(f"{table} ")]
        if results:
            first = results[0]
            seen[table] = [first["n_features"], first["n_pos"], first["n_neg"]]
    same = [
        found_[:1] == expected[t][:1] if size.n_rows else found_ == expected[t]
        for t, found_ in seen.items()
    ]
    what = "N" if size.n_rows else "N, p and n"
    page.claim(
        f"the tables have the paper's {what}, with one column for each category",
        sizes_verdict(same),
        "; ".join(f"{t} {', '.join(map(str, v))}" for t, v in seen.items()) or MISSING,
    )


def sizes_verdict(same: Sequence[bool]) -> Verdict:
    """All tables, some of them, or none."""
    if not same:
        return Verdict.NOT_RUN
    if all(same):
        return Verdict.REPRODUCED
    return Verdict.PARTLY if any(same) else Verdict.NOT_REPRODUCED


def _print_topic_sizes(
    page: Page, results: CaseResults, setup: Setup, expected: dict[str, Any]
) -> None:
    """Articles of each topic, and words: our cut of Reuters beside the paper's."""
    rows = []
    for topic in TOPICS:
        first = next((r for name, r in results.items() if name.startswith(f"{topic} ")), None)
        if first is not None:
            theirs = beside(setup, [*expected["sizes"][topic], expected["n_words"]])
            ours = (first[key] for key in ("n_pos", "n_neg", "n_features"))
            pairs = zip(ours, theirs, strict=True)
            rows.append([topic, *(f"{own}{bracket(figure)}" for own, figure in pairs)])
    page.text(f"Articles about a topic and about others, and words; {say_beside(setup)}.")
    page.table(["topic", "p", "n", "words"], rows)


def _print_all(
    page: Page,
    results: CaseResults,
    setup: Setup,
    size: Size,
    tables: Iterable[str],
    columns: list[str],
    paper: dict[str, Any],
) -> None:
    page.text(
        f"AUC on held-out rows over {size.n_folds} folds, ± standard deviation over the folds; "
        f"{say_beside(setup)}; epsilon the best over all folds, ties counted half. The last "
        "columns are not in the paper."
    )
    heads = [NAMES.get(column, column) for column in columns]
    rows = []
    for table in tables:
        figures = beside(setup, [*paper[table], None, None][: len(columns)])
        cells = [
            _cell(folds_of(results, size, table, column, "test"), figure)
            for column, figure in zip(columns, figures, strict=True)
        ]
        rows.append([table, *cells])
    page.table(["", *heads], rows)
    page.text(
        "On held-out rows with epsilon, or RankBoost's rounds, chosen for each fold on the other "
        "folds:"
    )
    soft = ["RankBoost", *columns[3:]]
    rows = [
        [table, *(_cell(folds_of(results, size, table, c, "test", True), None) for c in soft)]
        for table in tables
    ]
    page.table(["", *(NAMES.get(c, c) for c in soft)], rows)
    page.text("The same fits (best epsilon) on the training rows:")
    rows = [
        [table, *(_cell(folds_of(results, size, table, c, "train"), None) for c in columns)]
        for table in tables
    ]
    page.table(["", *heads], rows)


def _cell(values: Sequence[float], figure: float | None) -> str:
    ours = mean_sd(values, 4) if values else MISSING
    return ours + bracket(figure)


def _print_constants(page: Page, results: CaseResults, size: Size) -> None:
    page.text(
        "**No margin.** Epsilons at which all scores are equal in every fold: the soft margin is 0 "
        "and all weight goes to the constant hypothesis. Such a score has an AUC of one half, and "
        "of 1 where ties count as right."
    )
    rows = []
    for table in UCI:
        cells = []
        for column in COLUMNS[2:]:
            result = merged(results, size, table, column)
            cells.append(
                MISSING if result is None else ", ".join(no_margin(result, column)) or "none"
            )
        rows.append([table, *cells])
    page.table(["", *(NAMES.get(c, c) for c in COLUMNS[2:])], rows)


def no_margin(result: Result, column: str) -> list[str]:
    """The epsilons at which all scores are equal."""
    return [
        setting
        for setting in sorted(settings_of(result, column), key=float)
        if all(value == 1.0 for value in read(result, column, setting, "ties_right"))
        and all(value == 0.5 for value in read(result, column, setting, "test"))
    ]


def claim_ones(page: Page, results: CaseResults, size: Size, paper: dict[str, list[float]]) -> None:
    """The paper's figures of 1.0: ours on held-out rows, and whether ties could make them."""
    ones, reached, tied, predicted, judged = [], 0, 0, 0, 0
    for table in UCI:
        for column, figure in (("pairs", paper[table][4]), ("heuristic", paper[table][5])):
            result = merged(results, size, table, column)
            if result is None:
                continue
            judged += 1
            has_constant = bool(no_margin(result, column))
            predicted += has_constant == (figure == 1.0)
            if figure == 1.0:
                ours = mean(read(result, column, best_setting(result, column), "test"))
                ones.append(f"{table} {NAMES[column]} {ours:.4f}")
                reached += ours >= 0.9995
                tied += has_constant
    if not ones:
        page.claim("AUCs of 1.0 in Table 3", Verdict.NOT_RUN, MISSING)
        return
    page.claim(
        "AUCs of 1.0 on held-out rows in Table 3",
        fraction_verdict(reached, len(ones)),
        f"{reached} of {len(ones)} reached; ours: {'; '.join(ones)}",
    )
    page.text(
        f"Of the paper's {len(ones)} figures of 1.0 that were run, {tied} have an epsilon at "
        "which all scores are equal, which would print 1.0 if ties counted as right. That reading "
        f"(1.0 exactly where there is such an epsilon) agrees with {predicted} of {judged} cells "
        "of LP-Pair and the method; it is a guess about the paper, not a finding of ours."
    )


def _claim_beats(
    page: Page, results: CaseResults, size: Size, tables: Iterable[str], other: str, where: str
) -> None:
    """The method against RankBoost, table by table, folds corrected for their overlap."""
    wins, losses, n_below, n_all, gaps = 0, 0, 0, 0, []
    for table in tables:
        ours = folds_of(results, size, table, "heuristic", "test", honest=True)
        theirs = folds_of(results, size, table, other, "test", honest=True)
        if len(ours) < 2 or len(theirs) < 2:
            continue
        estimate = t_interval(differences(ours, theirs), overlap=1 / (size.n_folds - 1))
        n_all += 1
        wins += estimate.low > 0
        losses += estimate.high < 0
        n_below += estimate.value < 0
        gaps.append(f"{table} {estimate.value:+.4f}")
    verdict = Verdict.NOT_RUN if n_all == 0 else beats_verdict(wins, losses, n_below, n_all)
    page.claim(
        f"the method has higher AUCs than {other} ({where}, epsilon and rounds chosen on other "
        "folds)",
        verdict,
        f"ahead in {wins}, behind in {losses} of {n_all} (95 %); {', '.join(gaps) or MISSING}",
    )


def beats_verdict(wins: int, losses: int, n_below: int, n_all: int) -> Verdict:
    """Judge by the tables on which it is ahead or behind, beyond chance and by the means."""
    if wins > n_all / 2 and losses == 0:
        return Verdict.REPRODUCED
    if losses > wins or n_below > n_all / 2:
        return Verdict.NOT_REPRODUCED
    return Verdict.UNDECIDED if wins == 0 else Verdict.PARTLY


def _claim_soft(page: Page, results: CaseResults, size: Size) -> None:
    """SoftRankBoost ahead of the method in 3 of 5 topics."""
    ahead, n_all = 0, 0
    for topic in TOPICS:
        soft = folds_of(results, size, topic, "SoftRankBoost", "test", honest=True)
        ours = folds_of(results, size, topic, "heuristic", "test", honest=True)
        if soft and ours:
            n_all += 1
            ahead += mean(soft) > mean(ours)
    text = "SoftRankBoost is ahead of the method in 3 of 5 topics (Table 4)"
    if n_all < len(TOPICS):
        page.claim(text, Verdict.NOT_RUN, f"{ahead} of {n_all} topics run")
        return
    verdict = (
        Verdict.REPRODUCED
        if ahead == 3
        else Verdict.PARTLY
        if ahead in (2, 4)
        else Verdict.NOT_REPRODUCED
    )
    page.claim(text, verdict, f"{ahead} of {n_all}")
