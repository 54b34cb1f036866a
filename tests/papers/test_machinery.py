"""Running, keeping, going on, and writing pages, on a paper with nothing in it."""

import json
import os
from dataclasses import replace
from functools import partial

import pytest
from toy_paper import make_paper, report, square

from auctor._progress import Progress
from papers.catalogue import NAMES, Choice, choose
from papers.experiment import Case, Experiment, Setup, Size
from papers.page import Cause, Headline, Verdict
from papers.reproduce import Folders, Reproduction
from papers.results import Results
from papers.runner import Workers, run_experiment
from papers.statistics import mean_sd, mean_se, t_interval
from papers.verdicts import by_distance, distance, over_rows

TINY = Setup(Size.TINY)


@pytest.fixture
def toy(tmp_path):
    return make_paper(tmp_path / "toy")


@pytest.fixture
def folders(tmp_path):
    return Folders(tmp_path / "pages", tmp_path / "results")


def run(paper, folders, setup=TINY, **settings):
    return Reproduction(setup, folders, **settings).run([Choice(paper, paper.experiments[:1])])


def test_a_run_writes_a_page_a_picture_and_a_summary(toy, folders):
    outcome = run(toy, folders)
    page = (folders.pages / "toy.md").read_text()
    assert "| 2 | 4 |" in page
    assert "(toy/line.png)" in page
    assert (folders.pages / "toy" / "line.png").stat().st_size > 1000
    assert "`python -m papers toy/squares --tiny --seed 0`" in page
    assert "This experiment has not been run." in page  # of the other experiment
    assert outcome.written == [folders.pages / "toy.md", folders.pages / "index.md"]
    assert [claim.text for claim in outcome.claims] == ["squares grow", "1 x 1 = 1"]
    assert outcome.broken() == []


def test_what_cannot_be_run_is_listed_with_its_reason(toy, folders):
    outcome = run(toy, folders)
    assert outcome.obstacles.keys() == {"toy/squares: data", "toy/squares: package"}
    assert "no_such_table.csv" in outcome.obstacles["toy/squares: data"]
    assert "AUCTOR_DATA" in outcome.obstacles["toy/squares: data"]
    assert "no_such_package" in outcome.obstacles["toy/squares: package"]
    assert "no_such_table.csv" in (folders.pages / "toy.md").read_text()


def test_a_proved_claim_that_fails_is_noticed(tmp_path, folders):
    outcome = run(make_paper(tmp_path / "toy", one=2), folders)
    assert [claim.text for claim in outcome.broken()] == ["1 x 1 = 1"]


def test_a_stopped_run_goes_on_where_it_was(toy, folders, tmp_path, monkeypatch):
    trace = tmp_path / "trace"
    monkeypatch.setenv("TOY_TRACE", str(trace))
    monkeypatch.setenv("TOY_STOP", "2")
    with pytest.raises(KeyboardInterrupt):
        run(toy, folders)
    monkeypatch.delenv("TOY_STOP")
    run(toy, folders)
    assert trace.read_text().split() == ["1", "2", "2"]
    run(toy, folders)
    assert trace.read_text().split() == ["1", "2", "2"]
    outcome = run(toy, folders, again=True)
    assert trace.read_text().split() == ["1", "2", "2", "1", "2"]
    assert [path.name for path in outcome.put_aside] == ["toy.squares.tiny.old1"]
    again = run(toy, folders, again=True)
    assert [path.name for path in again.put_aside] == ["toy.squares.tiny.old2"]


def test_a_second_run_gives_the_same_page(toy, folders):
    run(toy, folders)
    first = (folders.pages / "toy.md").read_bytes()
    run(toy, folders, again=True)
    assert (folders.pages / "toy.md").read_bytes() == first


def test_cases_of_a_lower_turn_run_first(tmp_path, monkeypatch):
    trace = tmp_path / "trace"
    monkeypatch.setenv("TOY_TRACE", str(trace))
    turns = [Case(f"{n}", partial(square, n), turn=turn) for n, turn in ((1, 1), (2, 0), (3, 1))]
    experiment = Experiment("turns", "Turns", lambda setup: turns, report)
    results = Results(tmp_path / "r.jsonl", TINY)
    run_experiment(experiment, TINY, results, Workers(1), Progress(3, "", False))
    assert trace.read_text().split() == ["2", "1", "3"]


def test_processes_do_the_same_work(toy, folders):
    run(toy, folders, Setup(Size.FULL), n_jobs=2)
    results = Results(
        folders.kept(toy, toy.experiments[0], Setup(Size.FULL)), Setup(Size.FULL)
    ).stored()
    assert {name: result["square"] for name, result in results.items()} == {
        "1": 1,
        "2": 4,
        "3": 9,
        "4": 16,
    }
    assert os.getpid() not in {result["process"] for result in results.values()}


def test_a_line_cut_off_is_left_out_and_goes_with_the_next_writing(toy, folders):
    run(toy, folders)
    path = folders.kept(toy, toy.experiments[0], TINY)
    path.write_text(path.read_text()[:-9])
    results = Results(path, TINY)
    assert results.stored().keys() == {"1"}
    results.add("2", {"square": 4})
    kept = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("case") for line in kept] == [None, "1", "2"]
    assert results.put_aside is None


@pytest.mark.parametrize("other", [Setup(Size.TINY, seed=1), Setup(Size.QUICK)])
def test_another_seed_or_size_leaves_what_is_kept_alone(toy, folders, other):
    run(toy, folders)
    path = folders.kept(toy, toy.experiments[0], TINY)
    before = path.read_bytes()
    outcome = run(toy, folders, other)
    assert outcome.put_aside == [] and path.read_bytes() == before
    assert folders.kept(toy, toy.experiments[0], other) != path


def test_opening_results_changes_nothing(toy, folders):
    run(toy, folders)
    path = folders.kept(toy, toy.experiments[0], TINY)
    path.write_text(path.read_text().replace("0.1.0", "0.0.9"))
    before = path.read_bytes()
    results = Results(path, TINY)
    assert results.stored() == {} and path.read_bytes() == before
    results.add("1", {"square": 1})
    assert results.put_aside is not None and results.put_aside.read_bytes() == before


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_case_that_fails_does_not_cost_the_others_their_results(tmp_path, n_jobs):
    cases = [Case("bad", partial(square, "x")), Case("nan", partial(float, "nan"))]
    cases = [*cases, Case("good", partial(square, 3))]
    experiment = Experiment("some", "Some", lambda setup: cases, report)
    results = Results(tmp_path / f"{n_jobs}.jsonl", TINY)
    with Workers(n_jobs) as workers:
        failures = run_experiment(experiment, TINY, results, workers, Progress(3, "", False))
    assert results.stored().keys() == {"good"}
    assert failures["bad"].startswith("failed with TypeError")
    assert "JSON" in failures["nan"]


def test_pages_without_matplotlib(toy, folders, monkeypatch):
    monkeypatch.setattr("papers.page.find_spec", lambda name: None)
    run(toy, folders)
    assert "not drawn: pip install 'auctor[plot]'" in (folders.pages / "toy.md").read_text()


def test_checks_of_our_own_count_apart(toy, folders, monkeypatch):
    monkeypatch.setattr("papers.summary.NAMES", ("toy",))
    checked = replace(
        toy.experiments[0], report=lambda page, results, setup: page.check("x", True, "1")
    )
    run(replace(toy, experiments=(checked, *toy.experiments[1:])), folders)
    index = (folders.pages / "index.md").read_text()
    assert "| Nobody (1900) | 1 | 1 | 1 of 1 |" in index  # one not run, no claim, one of our own
    claims = (folders.pages / "claims.md").read_text()
    assert "| Table 2 |  | not run |  | not selected yet |" in claims
    assert "| Table 1 | x | holds | 1 |" in claims
    assert "reproduced |" not in claims


def test_headlines_are_on_the_first_page_and_at_the_head_of_the_papers(toy, folders, monkeypatch):
    monkeypatch.setattr("papers.summary.NAMES", ("toy",))
    told = Headline("squares grow fast", "1 to 9", "1 to 4", Cause.PAPER)

    def judge(page, results, setup):
        page.claim("grow", Verdict.NOT_REPRODUCED, "2 of 3", headline=told)
        page.claim("more", Verdict.UNDECIDED, "2 of 3", headline=told)

    judged = replace(toy.experiments[0], report=judge)
    run(replace(toy, experiments=(judged,)), folders)
    row = "squares grow fast | 1 to 9 | 1 to 4 | **{}** | {} |"
    index = (folders.pages / "index.md").read_text()
    assert row.format("not reproduced", "the paper") in index
    assert row.format("undecided", "too few runs") in index
    page = (folders.pages / "toy.md").read_text()
    assert "- **Not reproduced** (cause: the paper): squares grow fast. Paper: 1 to 9." in page


def test_the_cause_of_a_failed_claim_is_beside_it(toy, folders, monkeypatch):
    monkeypatch.setattr("papers.summary.NAMES", ("toy",))

    def judge(page, results, setup):
        page.claim("grow", Verdict.NOT_REPRODUCED, "2 of 3", cause=Cause.SETUP)
        page.claim("more", Verdict.UNDECIDED, "1 of 3", cause=Cause.SETUP)
        page.claim("good", Verdict.REPRODUCED, "3 of 3", cause=Cause.SETUP)
        page.addition("ours", Verdict.NOT_REPRODUCED, "0 of 3")

    run(replace(toy, experiments=(replace(toy.experiments[0], report=judge),)), folders)
    page = (folders.pages / "toy.md").read_text()
    assert "**Not reproduced** (cause: our set-up): grow (2 of 3)" in page
    assert "**Undecided** (cause: too few runs): more (1 of 3)" in page
    assert "**Reproduced**: good (3 of 3)" in page
    assert "**Beyond the paper, does not hold**: ours (0 of 3)" in page
    claims = (folders.pages / "claims.md").read_text()
    assert "| Table 1 | grow | not reproduced | our set-up | 2 of 3 |" in claims
    assert "| Table 1 | good | reproduced | – | 3 of 3 |" in claims
    assert "| Table 1 | ours | does not hold | 0 of 3 |" in claims


def test_pages_alone_run_nothing(toy, folders, tmp_path, monkeypatch):
    run(toy, folders)
    first = (folders.pages / "toy.md").read_text()
    trace = tmp_path / "trace"
    monkeypatch.setenv("TOY_TRACE", str(trace))
    (folders.pages / "toy.md").unlink()
    outcome = run(toy, folders, pages_only=True)
    again = (folders.pages / "toy.md").read_text()
    assert not trace.exists() and outcome.obstacles == {}
    assert first.partition("Not run (")[0] == again.partition("## Table 2")[0]
    # A run without results writes a page too.
    assert run(toy, Folders(tmp_path / "other", tmp_path / "none"), pages_only=True).claims == []


def test_a_section_of_an_earlier_run_stays_if_its_results_are_gone(toy, folders):
    claim = {"text": "old", "verdict": "in part", "number": "7", "headline": None}
    section = {"parts": ["An old table."], "claims": [claim]}
    path = folders.kept(toy, toy.experiments[1], TINY).with_suffix(".section.json")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(section))
    outcome = run(toy, folders)
    assert "An old table." in (folders.pages / "toy.md").read_text()
    assert outcome.claims[-1].text == "old" and outcome.claims[-1].verdict == Verdict.PARTLY


@pytest.mark.parametrize(
    ("verdicts", "joined"),
    [
        ("RRRU", Verdict.REPRODUCED),
        ("R" * 10 + "N", Verdict.REPRODUCED),  # one in ten is chance
        ("RUU", Verdict.PARTLY),
        ("RRN", Verdict.PARTLY),
        ("RNN", Verdict.NOT_REPRODUCED),
        ("RN", Verdict.NOT_REPRODUCED),
        ("NU", Verdict.NOT_REPRODUCED),
        ("UU", Verdict.UNDECIDED),
        ("", Verdict.NOT_RUN),
    ],
)
def test_rows_are_judged_together(verdicts, joined):
    named = {"R": Verdict.REPRODUCED, "N": Verdict.NOT_REPRODUCED, "U": Verdict.UNDECIDED}
    assert over_rows([named[letter] for letter in verdicts]) == joined


@pytest.mark.parametrize(
    ("values", "figure", "verdict"),
    [
        ([0.79, 0.81] * 20, 0.8, Verdict.REPRODUCED),
        ([0.7, 0.9], 0.8, Verdict.UNDECIDED),  # an interval of more than 0.05 decides nothing
        ([0.89, 0.91] * 20, 0.8, Verdict.BETTER),
        ([0.69, 0.71] * 20, 0.8, Verdict.NOT_REPRODUCED),
        ([0.8], 0.8, Verdict.UNDECIDED),
    ],
)
def test_a_figure_is_judged_by_the_interval_of_its_distance(values, figure, verdict):
    apart = distance(values, figure, rounding=0.0005, n_theirs=1000)
    assert by_distance(apart, is_proposed=True) == verdict
    if verdict == Verdict.BETTER:
        assert by_distance(apart, is_proposed=False) == Verdict.NOT_REPRODUCED


def test_the_papers_own_error_and_rounding_widen_the_interval():
    values = [0.79, 0.80, 0.81]
    many, one = (distance(values, 0.8, rounding=0.0, n_theirs=n) for n in (1e9, 1))
    assert one.high == pytest.approx(2 * many.high, rel=1e-6)  # sqrt(1/3 + 1) over sqrt(1/3)
    rounded = distance(values, 0.8, rounding=0.05, n_theirs=1e9)
    assert rounded.high - many.high == pytest.approx(0.05)


def test_results_refuse_what_json_has_no_number_for(tmp_path):
    results = Results(tmp_path / "r.jsonl", TINY)
    with pytest.raises(ValueError, match="JSON"):
        results.add("case", {"auc": float("nan")})
    assert not (tmp_path / "r.jsonl").exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("komory_2010", "did you mean 'komori_2010'"),
        ("komori_2010/tabel1", "did you mean 'table1'"),
        ("???", "there are long_servedio_2007"),
    ],
)
def test_an_unknown_name_is_reported_with_the_nearest(name, says):
    with pytest.raises(ValueError, match="not known") as error:
        choose([name])
    assert says in str(error.value)


def test_choices_come_once_and_in_order():
    chosen = choose(
        ["komori-2010/table1", "long_servedio_2007", "komori_2010/table2", "long_servedio_2007"]
    )
    assert [choice.paper.name for choice in chosen] == ["long_servedio_2007", "komori_2010"]
    assert [e.name for e in chosen[1].experiments] == ["table1", "table2"]
    assert [choice.paper.name for choice in choose(["all"])] == list(NAMES)


def test_statistics():
    assert mean_se([1.0, 2.0, 3.0]) == "2.0000 ± 0.5774"
    assert mean_sd([1.0, 2.0, 3.0], 1) == "2.0 ± 1.0"
    plain, corrected = t_interval([1.0, 2.0, 3.0]), t_interval([1.0, 2.0, 3.0], overlap=0.25)
    assert plain.low == pytest.approx(2 - 4.302653 / 3**0.5, abs=1e-5)
    assert corrected.high == pytest.approx(2 + 4.302653 * (1 / 3 + 0.25) ** 0.5, abs=1e-5)
