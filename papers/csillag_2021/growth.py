"""Section 2: time of the order p n log n; caption of Table 2: less memory."""

import multiprocessing
from functools import partial
from math import log
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from auctor import DMKS, ExactBoost, RankBoost
from papers.csillag_2021.pair_rankboost import PairRankBoost
from papers.experiment import Case, CaseResults, Experiment, Result, Setup
from papers.page import Cause, Page, Verdict
from papers.statistics import Estimate, log_slope
from papers.verdicts import counted

_ROUNDS = 10
_PAIRS, _RANK, _DMKS = "RankBoost on pairs", "RankBoost (ours)", "DMKS (ours)"
OTHERS = (_PAIRS, _RANK, _DMKS)
_STATUS = Path("/proc/self/status")


def sizes(setup: Setup) -> tuple[list[int], list[int]]:
    """Rows n at one p, and features p at one n; the first of each is the common one."""
    rows = setup.pick([5000, 10_000, 20_000, 50_000], [1000, 2000, 4000], [200, 400, 800])
    return rows, setup.pick([10, 20, 40, 80], [5, 10, 20], [2, 4, 8])


def memory_rows(setup: Setup) -> list[int]:
    """Rows of the fits whose memory is measured."""
    return setup.pick([2000, 5000, 10_000], [2000], [])


def cases(setup: Setup) -> list[Case]:
    """Times by n and by p, and memory by n."""
    rows, features = sizes(setup)
    pairs = [*((n, features[0]) for n in rows), *((rows[0], p) for p in features[1:])]
    made = [
        Case(f"{metric}, n = {n}, p = {p}", partial(time_fits, metric, n, p, setup.seed),
             cost=n * p / 1e5)
        for metric in ("AUC", "KS")
        for n, p in pairs
    ]  # fmt: skip
    made += [
        Case(f"memory of {method}, n = {n}", partial(memory_of, method, n, setup.seed), cost=5.0)
        for n in memory_rows(setup)
        for method in ("ExactBoost", *OTHERS)
    ]
    return made


def draw(n: int, p: int, seed: int) -> tuple[Any, Any]:
    """Normal features, each of which moves the risk a little."""
    rng = np.random.default_rng([seed, 31, n, p])
    X = rng.normal(size=(n, p))
    return X, (X.sum(axis=1) / p**0.5 + rng.normal(size=n) > 0).astype(np.int64)


def make_exactboost(metric: str, seed: int) -> Any:
    """One run whose samples grow with the table: 20 % of the rows, without a largest number."""
    return ExactBoost(metric.lower(), n_runs=1, n_estimators=_ROUNDS, random_state=seed,
                      max_samples_per_class=None)  # fmt: skip


def time_fits(metric: str, n: int, p: int, seed: int, n_times: int = 3) -> Result:
    """Processor seconds of some fits."""
    X, y = draw(n, p, seed)
    make_exactboost(metric, seed).fit(X[:200], y[:200])  # compile first
    seconds = []
    for _ in range(n_times):
        start = process_time()
        make_exactboost(metric, seed).fit(X, y)
        seconds.append(process_time() - start)
    return {"metric": metric, "n": n, "p": p, "seconds": seconds}


def memory_of(method: str, n: int, seed: int) -> Result:
    """Megabytes that a fit takes at its peak, in a process of its own."""
    if not _STATUS.exists():
        raise OSError("the peak of memory is read from /proc, which this system does not have")
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return {"method": method, "n": n, "megabytes": pool.apply(_measure, (method, n, seed))}


def _measure(method: str, n: int, seed: int) -> float:
    X, y = draw(n, 10, seed)
    makers: dict[str, Any] = {
        "ExactBoost": lambda: make_exactboost("AUC", seed),
        _PAIRS: lambda: PairRankBoost(3),
        _RANK: lambda: RankBoost(_ROUNDS),
        _DMKS: lambda: DMKS(),
    }
    makers[method]().fit(X[:200], y[:200])  # compile first
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before = _status("VmRSS")
    makers[method]().fit(X, y)
    return max(_status("VmHWM") - before, 0.0)


def _status(key: str) -> float:
    """A line of /proc/self/status, in megabytes."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(key))
    return float(line.split()[1]) / 1024


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Times and their powers, then memory."""
    timed = [r for r in results.values() if "seconds" in r]
    rows, features = sizes(setup)
    if timed:
        page.text(
            f"Processor seconds of one run of {_ROUNDS} rounds on samples of 20 % of the rows, "
            "without the largest number of rows of a class that ExactBoost otherwise has; normal "
            "features; median of 3:"
        )
        shown = sorted({(r["p"], r["n"]) for r in timed}, key=lambda size: (size[0], size[1]))
        cells = [[f"{n:,}", p, *(_cell(timed, metric, n, p) for metric in ("AUC", "KS"))]
                 for p, n in shown]  # fmt: skip
        page.table(["n", "p", "AUC", "KS"], cells)
        for metric in ("AUC", "KS"):
            own = [r for r in timed if r["metric"] == metric]
            by_rows = [r for r in own if r["p"] == features[0]]
            _claim_power(page, metric, "n log n", [(r["n"] * log(r["n"]), r) for r in by_rows])
            by_features = [r for r in own if r["n"] == rows[0]]
            _claim_power(page, metric, "p", [(float(r["p"]), r) for r in by_features])
    _report_memory(page, [r for r in results.values() if "megabytes" in r])


def _cell(timed: list[Result], metric: str, n: int, p: int) -> str:
    seconds = [r["seconds"] for r in timed if (r["metric"], r["n"], r["p"]) == (metric, n, p)]
    return f"{median(seconds[0]):.3f}" if seconds else "–"


def _claim_power(page: Page, metric: str, what: str, sized: list[tuple[float, Result]]) -> None:
    points = [(size, seconds) for size, r in sized for seconds in r["seconds"]]
    power = None
    if len({size for size, _ in points}) > 1:
        power = log_slope([x for x, _ in points], [s for _, s in points]).interval()
    page.claim(
        f"ExactBoost is of order p n log n: its time grows no faster than {what} ({metric})",
        judge_power(power),
        "–"
        if power is None
        else f"fitted power of {what}: {power.value:.2f} ({power.low:.2f}, {power.high:.2f}); "
        "claimed: at most 1",
    )


def judge_power(power: Estimate | None) -> Verdict:
    """A power of at most 1, by its whole interval."""
    if power is None:
        return Verdict.NOT_RUN
    if power.high <= 1:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if power.low > 1 else Verdict.UNDECIDED


def _report_memory(page: Page, measured: list[Result]) -> None:
    if not measured:
        return
    known = {(r["method"], r["n"]): r["megabytes"] for r in measured}
    rows = sorted({n for _, n in known})
    page.text(
        "Megabytes that a fit adds at its peak, in a process of its own (10 features, half of the "
        "rows positive):"
    )
    head = ["n", "ExactBoost", *OTHERS]
    page.table(
        head,
        [[f"{n:,}", *(f"{known[m, n]:,.1f}" if (m, n) in known else "–" for m in head[1:])]
         for n in rows],
    )  # fmt: skip
    both = [n for n in rows if ("ExactBoost", n) in known and (_PAIRS, n) in known]
    less = sum(known["ExactBoost", n] < known[_PAIRS, n] for n in both)
    page.claim(
        "Table 2: ExactBoost uses less memory than a RankBoost that forms pairs",
        counted(less, len(both)) if both else Verdict.NOT_RUN,
        f"at {less} of {len(both)} sizes; {_ratios(known, both)} times as much memory on pairs",
    )
    last = [f"{m} {known[m, rows[-1]]:,.1f} MB" for m in head[1:] if (m, rows[-1]) in known]
    page.claim(
        "Table 2: ExactBoost uses less memory than this library's RankBoost and DMKS, which form "
        "no pairs",
        Verdict.NOT_COMPARABLE,
        f"at n = {rows[-1]:,}: {'; '.join(last)}",
        cause=Cause.SETUP,
    )


def _ratios(known: dict[tuple[str, int], float], rows: list[int]) -> str:
    ratios = [known[_PAIRS, n] / max(known["ExactBoost", n], 0.1) for n in rows]
    return f"{min(ratios):,.0f} to {max(ratios):,.0f}" if ratios else "–"


EXPERIMENT = Experiment(
    "growth", "Growth of time with n and p, and memory", cases, report, is_timed=True
)
