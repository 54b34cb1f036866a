"""ExactBoost against Algorithm 1 in the open, and what every run promises."""

import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from auctor.data import prepare
from auctor.exceptions import ExactBoostWarning
from auctor.learners.exact import run as exact_run
from auctor.learners.exact.fit import ExactBoostSettings, fit_exactboost, make_plan, sample_sizes
from auctor.learners.exact.run import Run, largest_step
from auctor.learners.exact.table import gather
from auctor.testing import contracts
from tests.reference import exactboost as slow

METRICS = ("auc", "ks", "precision_at_k")
over_metrics = pytest.mark.parametrize("metric", METRICS)


def make_table(seed, n_pos=8, n_neg=16):
    """Two columns of noise and one that helps, positives and negatives mixed."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [n_pos, n_neg]))
    X = rng.normal(size=(len(y), 3))
    X[:, 1] += 0.8 * y
    X[:, 2] = np.round(X[:, 2])
    return X, y


def row_ranks(table):
    """Ranks (views, rows), as the reference takes them."""
    codes = [table.codes[feature] for feature in table.features]
    return np.array([r[own] for r, own in zip(table.ranks, codes, strict=True)], dtype=np.int64)


@pytest.fixture
def diary(monkeypatch):
    """For every round: (rows drawn, scale, views searched, search result)."""
    rounds = []
    draw, search = Run.draw, Run.search

    def recording_draw(run):
        drawn = draw(run)
        rows = np.concatenate([drawn.rows_pos, drawn.rows_neg]).astype(np.int64)
        rounds.append([rows, drawn.sample.scale, drawn.views.copy()])
        return drawn

    def recording_search(run, drawn, method):
        result = search(run, drawn, method)
        rounds[-1].append(result)
        return result

    monkeypatch.setattr(Run, "draw", recording_draw)
    monkeypatch.setattr(Run, "search", recording_search)
    return rounds


def replay(data, metric, diary, theta, top, start=None, is_best=True):
    """Algorithm 1 on the samples of the diary, with its choices, each checked to be the best."""
    table = gather(data)
    positive = np.arange(table.n_rows) < table.n_pos
    entries = iter(diary)

    def choose(sample, rank_pos, rank_neg):
        _, scale, views, result = next(entries)
        step, view = result.size / scale, max(result.view, 0)
        above = rank_pos[view] > result.cut, rank_neg[view] > result.cut
        value = slow.stump_values(metric, sample, *above, [step])[0]
        best = slow.best_stump(metric, sample, rank_pos[views], rank_neg[views], 2.0)[0]
        assert value == best if is_best else value <= best
        return view, result.cut, step

    samples = [entry[0] for entry in diary]
    return slow.algorithm_1(metric, row_ranks(table), positive, samples, theta, top, start, choose)


@over_metrics
@pytest.mark.parametrize("theta", [0.015625, 0.0625, 0.25])
@pytest.mark.parametrize(
    "sampling",
    [
        {"subsample": 1.0, "balanced": False},
        {"subsample": 0.5},
        {"subsample": 0.5, "balanced": False, "max_features": 2},
    ],
    ids=["all rows", "balanced", "two features"],
)
def test_a_run_is_that_of_algorithm_1(metric, theta, sampling, diary):
    data = prepare(*make_table(1))
    settings = ExactBoostSettings(
        metric, k=6, margin=theta, n_runs=1, n_estimators=8, gap_tol=0.0, **sampling
    )
    _, history, _ = fit_exactboost(data, settings)
    (run,) = history.runs
    rounds, score = replay(data, metric, diary, theta, 6.0)
    assert len(rounds) == len(run.losses) == 8
    assert run.losses == pytest.approx([r.loss for r in rounds], abs=1e-12)
    kept = [(r.view, r.cut) for r in rounds if r.is_kept and r.step != 0.0]
    assert kept == [(step.view, step.cut) for step in run.steps]
    assert run.misses == 0
    steps = sum(
        step.size / run.scale * (row_ranks(gather(data))[step.view] > step.cut)
        for step in run.steps
    )
    assert steps - steps.min() == pytest.approx(score, abs=1e-9)


@over_metrics
def test_a_run_from_given_scores_is_that_of_algorithm_1(metric, diary):
    X, y = make_table(2)
    data = prepare(X, y)
    start = np.random.default_rng(0).integers(0, 9, size=len(y)) / 8
    start[:2] = 0.0, 1.0
    settings = ExactBoostSettings(
        metric, k=6, margin=0.0625, n_runs=1, n_estimators=6, gap_tol=0.0, subsample=0.5
    )
    _, history, _ = fit_exactboost(data, settings, 5.0 * start - 3.0)
    (run,) = history.runs
    in_order = np.concatenate([start[y == 1], start[y == 0]])
    rounds, score = replay(data, metric, diary, 0.0625, 6.0, in_order)
    assert run.losses == pytest.approx([r.loss for r in rounds], abs=1e-12)
    added = sum(
        step.size / run.scale * (row_ranks(gather(data))[step.view] > step.cut)
        for step in run.steps
    )
    total = run.start_weight * in_order + added
    assert total - total.min() == pytest.approx(score, abs=1e-7)
    assert history.start_weight == run.start_weight


@over_metrics
def test_bisection_follows_algorithm_1_with_stumps_that_may_be_worse(metric, diary):
    data = prepare(*make_table(3))
    settings = ExactBoostSettings(
        metric, k=6, margin=0.0625, n_runs=1, n_estimators=8, subsample=0.5, search="bisect"
    )
    _, history, _ = fit_exactboost(data, settings)
    rounds, _ = replay(data, metric, diary, 0.0625, 6.0, is_best=False)
    assert history.runs[0].losses == pytest.approx([r.loss for r in rounds], abs=1e-12)


@over_metrics
@pytest.mark.parametrize("seed", range(3))
def test_the_first_stump_on_all_rows_is_the_best_that_there_is(metric, seed):
    X, y = make_table(seed)
    data = prepare(X, y)
    settings = ExactBoostSettings(
        metric,
        k=6,
        margin=0.125,
        n_runs=1,
        n_estimators=1,
        subsample=1.0,
        balanced=False,
        gap_tol=0.0,
    )
    _, history, _ = fit_exactboost(data, settings)
    table = gather(data)
    rounds, _ = slow.algorithm_1(
        metric, row_ranks(table), np.arange(24) < 8, [np.arange(24)], 0.125, top=6.0
    )
    # From equal scores any step that leads by the margin gives the same order.
    assert history.runs[0].losses == pytest.approx([rounds[0].loss], abs=1e-12)


@pytest.mark.parametrize("metric", ["auc", "ks"])
def test_on_all_rows_without_a_margin_the_loss_never_grows(metric):
    data = prepare(*make_table(4, 20, 30))
    settings = ExactBoostSettings(
        metric, margin=0.0, n_runs=2, n_estimators=15, subsample=1.0, balanced=False
    )
    _, history, _ = fit_exactboost(data, settings)
    for run in history.runs:
        assert (np.diff(run.losses) <= 0).all()
        assert run.losses[-1] < run.losses[0]


@pytest.mark.parametrize("metric", ["auc", "ks"])  # ties keep precision at k open
def test_the_best_stump_is_proved_without_a_margin_too(metric):
    data = prepare(*make_table(1))
    settings = ExactBoostSettings(metric, k=6, margin=0.0, n_runs=1, n_estimators=1, subsample=1.0)
    _, history, _ = fit_exactboost(data, settings)
    assert history.runs[0].misses == 0


def test_the_longest_step_loses_nothing_against_that_of_the_paper():
    for seed in range(40):
        problem = slow.random_problem(seed)
        search = problem.sample, problem.rank_pos, problem.rank_neg
        longest = largest_step(problem.sample.theta, problem.sample.reach)
        assert longest <= 2 * problem.sample.reach + 1
        for metric in METRICS:
            ours = slow.best_stump(metric, *search, longest, whole=True)[0]
            assert ours >= slow.best_stump(metric, *search, problem.largest, whole=True)[0]


@over_metrics
@pytest.mark.parametrize("weighted", [False, True])
def test_recorded_losses_are_those_of_the_scores(metric, weighted):
    X, y = contracts.messy_table(5)
    weight = np.random.default_rng(5).integers(1, 4, size=len(y)) if weighted else None
    data = prepare(X, y, sample_weight=weight, categorical_features=[4])
    settings = ExactBoostSettings(metric, k=12, margin=0.125, n_runs=3, n_estimators=6)
    _, history, _ = fit_exactboost(data, settings)
    table = gather(data)
    positive = np.arange(table.n_rows) < table.n_pos
    for run in history.runs:
        score = np.zeros(table.n_rows)
        for step in run.steps:
            score += step.size / run.scale * (row_ranks(table)[step.view] > step.cut)
        assert np.ptp(score) == pytest.approx(1.0, abs=1e-12)
        pos, neg = (np.repeat(score[k], table.weight[k]) for k in (positive, ~positive))
        top = (12.0 / data.mean_unit,) if metric == "precision_at_k" else ()
        loss = {"auc": slow.auc_loss, "ks": slow.ks_loss, "precision_at_k": slow.top_loss}[metric]
        assert run.losses[-1] == pytest.approx(loss(pos, neg, *top, 0.125), abs=1e-12)


def test_the_model_is_the_mean_of_the_runs():
    X, y = contracts.messy_table(6)
    data = prepare(X, y, categorical_features=[4])
    model, history, _ = fit_exactboost(data, ExactBoostSettings(n_runs=4, n_estimators=6))
    table = gather(data)
    mean = np.zeros(table.n_rows)
    for run in history.runs:
        for step in run.steps:
            mean += step.size / run.scale / 4 * (row_ranks(table)[step.view] > step.cut)
    scores = np.concatenate([model.decision_function(X)[y], model.decision_function(X)[~y]])
    assert scores - scores[0] == pytest.approx(mean - mean[0], abs=1e-7)
    assert history.n_steps == sum(len(run.steps) for run in history.runs)
    assert history.mean_losses == pytest.approx(np.mean([run.losses for run in history.runs], 0))


def test_runs_do_not_depend_on_their_number():
    data = prepare(*make_table(0, 20, 30))
    few, many = (
        fit_exactboost(data, ExactBoostSettings(n_runs=n, n_estimators=4))[1].runs for n in (2, 5)
    )
    assert few == many[:2]
    assert many[0] != many[1]


@pytest.mark.parametrize(
    ("metric", "search"), [("auc", "exact"), ("ks", "exact"), ("precision_at_k", "bisect")]
)
def test_same_bits_for_any_partition_and_any_number_of_threads(metric, search):
    def fit(data, n_jobs):
        settings = ExactBoostSettings(
            metric, n_runs=4, n_estimators=2, subsample=0.01, search=search, n_jobs=n_jobs
        )
        return fit_exactboost(data, settings)[0]

    contracts.check_partitions_and_threads(fit)


def small_fit(data, n_jobs):
    return fit_exactboost(data, ExactBoostSettings(n_runs=5, n_estimators=8, n_jobs=n_jobs))[0]


@pytest.mark.parametrize("seed", range(3))
def test_constant_columns_are_never_used(seed):
    contracts.check_constants_are_never_used(small_fit, seed)


def test_saved_models_score_the_same(tmp_path):
    X, y = contracts.messy_table(0)
    model = small_fit(prepare(X, y, categorical_features=[4]), 1)
    contracts.check_saved_model(model, X, tmp_path)


@over_metrics
def test_coarser_units_leave_the_scores_nearly_as_they_are(metric, monkeypatch):
    X, y = make_table(7, 60, 90)
    start = np.random.default_rng(1).normal(size=len(y))
    settings = ExactBoostSettings(metric, n_runs=3, n_estimators=12, subsample=0.5)
    usual, history, _ = fit_exactboost(prepare(X, y), settings, start)
    assert max(run.scale for run in history.runs) > 2.0**31
    # From the first step on, and so often that a start of 2^30 units has few left.
    monkeypatch.setattr(exact_run, "LARGEST_RANGE", 2.0**31)
    monkeypatch.setattr(exact_run, "COARSER", 2)
    coarse, coarse_history, _ = fit_exactboost(prepare(X, y), settings, start)
    assert max(run.scale for run in coarse_history.runs) <= 2.0**31
    scores = usual.decision_function(X)
    assert coarse.decision_function(X) == pytest.approx(scores, abs=1e-5 * np.ptp(scores))
    assert coarse_history.start_weight == pytest.approx(history.start_weight, rel=1e-5)
    losses = zip(history.runs, coarse_history.runs, strict=True)
    assert all(a.losses == pytest.approx(b.losses, abs=0.02) for a, b in losses)


@over_metrics
def test_the_real_coarser_units_are_harmless(metric, monkeypatch):
    X, y = make_table(8, 60, 90)
    settings = ExactBoostSettings(metric, n_runs=1, n_estimators=20, subsample=0.5)
    monkeypatch.setattr(exact_run, "LARGEST_RANGE", 2.0**33)
    _, history, _ = fit_exactboost(prepare(X, y), settings)
    (run,) = history.runs
    assert run.scale < 2.0**33
    assert run.losses[-1] < run.losses[0] - 0.02


def test_missing_values_stand_below_or_above_all_numbers():
    X = np.array([[np.nan], [1.0], [2.0], [3.0], [np.nan], [1.0], [2.0], [3.0]])
    table = gather(prepare(X, [1, 0, 1, 0, 1, 0, 1, 0]))
    assert table.features.tolist() == [0, 0]
    assert table.ranks[0].tolist() == [0, 1, 2, 3]
    assert table.ranks[1, 0] > table.ranks[1, 1:].max()
    assert (np.diff(table.ranks[1, 1:].astype(int)) > 0).all()


def test_a_column_that_is_missing_or_one_value_has_one_view():
    X = np.array([[np.nan], [1.0], [np.nan], [1.0]])
    table = gather(prepare(X, [1, 0, 1, 0]))
    assert table.n_views == 1
    model, *_ = fit_exactboost(
        prepare(X, [1, 0, 1, 0]), ExactBoostSettings(n_runs=1, n_estimators=2, subsample=1.0)
    )
    assert model.decision_function([[np.nan]])[0] > model.decision_function([[1.0]])[0]


def test_categories_are_cut_by_their_fraction_of_positives():
    X = np.repeat([["a"], ["b"], ["c"]], [4, 4, 4], axis=0)
    y = [1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0]
    data = prepare(X, y, categorical_features=[0])
    table = gather(data)
    by_name = dict(zip(data.features[0].categories, table.ranks[0, 1:].tolist(), strict=True))
    assert by_name == {"a": 0, "c": 1, "b": 2}
    model, *_ = fit_exactboost(data, ExactBoostSettings(n_runs=5, n_estimators=5, subsample=1.0))
    a, b, c, other = model.decision_function([["a"], ["b"], ["c"], ["never seen"]])
    assert a < c < b
    assert a <= other <= b


def test_a_missing_value_never_seen_scores_between_the_extremes():
    X, y = make_table(9, 30, 30)
    model, *_ = fit_exactboost(prepare(X, y), ExactBoostSettings(n_runs=5, n_estimators=8))
    for feature, steps in zip(model.features, model.steps, strict=True):
        assert steps[1:].min() <= steps[0] <= steps[1:].max(), feature.name


@over_metrics
@pytest.mark.parametrize("search", ["exact", "bisect"])
def test_one_row_of_each_class(metric, search):
    settings = ExactBoostSettings(
        metric, k=1, n_runs=2, n_estimators=3, subsample=1.0, search=search
    )
    X = [[0.0, 5.0], [1.0, 5.0]]
    model, history, certificate = fit_exactboost(prepare(X, [1, 0]), settings)
    assert model.decision_function(X)[0] > model.decision_function(X)[1]
    assert certificate.values["loss"] == 0.0
    assert all(run.losses[-1] == 0.0 for run in history.runs)


@over_metrics
@pytest.mark.parametrize("search", ["exact", "bisect"])
def test_a_table_of_constants_gives_a_flat_model(metric, search):
    data = prepare(np.ones((8, 2)), [0, 1] * 4)
    settings = ExactBoostSettings(
        metric, k=2, n_runs=2, n_estimators=3, subsample=1.0, search=search
    )
    model, history, certificate = fit_exactboost(data, settings)
    assert history.n_steps == 0
    assert len(history.mean_losses) == 0
    assert np.array_equal(model.decision_function(np.ones((3, 2))), np.full(3, -1.0))
    assert "constant" in certificate.statement


def test_a_constant_start_is_no_start():
    data = prepare(*make_table(0))
    settings = ExactBoostSettings(n_runs=2, n_estimators=3)
    plain, _, _ = fit_exactboost(data, settings)
    started, history, _ = fit_exactboost(data, settings, np.full(24, 7.0))
    assert contracts.same_model(plain, started)
    assert history.start_weight == 0.0


@pytest.mark.parametrize(
    ("n_pos", "changes", "sizes"),
    [
        (70, {}, (10, 10)),  # a fifth of 100 rows, half of each class
        (70, {"balanced": False}, (14, 6)),
        (70, {"subsample": 1.0}, (30, 30)),
        (70, {"subsample": 1.0, "balanced": False}, (70, 30)),
        (4, {"subsample": 0.3}, (2, 2)),  # half of the rarer class
        (4, {"subsample": 0.75}, (3, 3)),  # unless more is asked for
        (70, {"max_samples_per_class": 7}, (7, 7)),
        (70, {"balanced": False, "max_samples_per_class": 8}, (8, 6)),
        (70, {"max_samples_per_class": None}, (10, 10)),
    ],
)
def test_sizes_of_samples(n_pos, changes, sizes):
    table = gather(prepare(np.arange(100.0).reshape(-1, 1), np.arange(100) < n_pos))
    assert sample_sizes(table, ExactBoostSettings(**changes)) == sizes


def test_heavy_rows_are_drawn_more_often(diary):
    X, y = make_table(0, 20, 20)
    weight = np.where(np.arange(40) % 2, 9.0, 1.0)
    data = prepare(X, y, sample_weight=weight)
    fit_exactboost(data, ExactBoostSettings(n_runs=10, n_estimators=20, subsample=0.25))
    drawn = np.bincount(np.concatenate([entry[0] for entry in diary]), minlength=40)
    in_order = np.concatenate([weight[y == 1], weight[y == 0]])
    assert drawn[in_order == 9].sum() / drawn.sum() == pytest.approx(0.9, abs=0.03)


@over_metrics
def test_equal_weights_are_no_weights(metric):
    X, y = make_table(0)
    settings = ExactBoostSettings(metric, k=0.25, n_runs=2, n_estimators=3, subsample=0.5)
    plain, _, certificate = fit_exactboost(prepare(X, y), settings)
    tripled, _, other = fit_exactboost(prepare(X, y, sample_weight=np.full(24, 3.0)), settings)
    assert np.array_equal(plain.decision_function(X), tripled.decision_function(X))
    assert other.values == pytest.approx(certificate.values)


def test_as_many_features_as_the_table_has_may_be_asked_for_where_one_is_constant():
    X, y = make_table(0)
    X[:, 0] = 5.0
    plain = ExactBoostSettings(n_runs=2, n_estimators=3)
    usual = fit_exactboost(prepare(X, y), plain)[0]
    asked = fit_exactboost(prepare(X, y), replace(plain, max_features=3))[0]
    assert contracts.same_model(usual, asked)


@pytest.mark.parametrize(("asked", "n_views"), [(None, 3), (2, 2), (0.5, 2), ("sqrt", 2)])
def test_views_that_a_round_looks_at(asked, n_views):
    table = gather(prepare(*make_table(0)))
    assert make_plan(table, ExactBoostSettings(max_features=asked), 1.0).n_views == n_views


def test_other_seeds_draw_other_samples():
    data = prepare(*make_table(0, 20, 20))
    a, b, c = (
        fit_exactboost(data, ExactBoostSettings(n_runs=2, n_estimators=4, seed=seed))[0]
        for seed in (0, 0, 1)
    )
    assert contracts.same_model(a, b)
    assert not contracts.same_model(a, c)


def test_progress_goes_to_stderr_and_only_when_asked(capsys):
    data = prepare(*make_table(0))
    fit_exactboost(data, ExactBoostSettings(n_runs=3, n_estimators=2))
    assert capsys.readouterr().err == ""
    fit_exactboost(data, ExactBoostSettings(n_runs=3, n_estimators=2, verbose=True))
    assert "3/3" in capsys.readouterr().err


def interrupt_at(monkeypatch, number):
    """Let the run of this number send Ctrl-C to the main thread, and wait for the stop signal."""
    usual, started = Run.rounds, []

    def rounds(run, stopped):
        started.append(run)
        if len(started) <= number:
            return usual(run, stopped)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        while not stopped():
            time.sleep(0.001)
        return usual(run, stopped)

    monkeypatch.setattr(Run, "rounds", rounds)


@pytest.fixture
def ctrl_c():
    """The usual reaction to Ctrl-C, which a process in the background may lack."""
    if not hasattr(signal, "pthread_kill"):
        pytest.skip("this system cannot send a signal to a thread")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_the_fit_although_runs_were_finished(monkeypatch, ctrl_c):
    X, y = make_table(0, 20, 20)
    interrupt_at(monkeypatch, 2)
    with pytest.raises(KeyboardInterrupt):
        fit_exactboost(prepare(X, y), ExactBoostSettings(n_runs=50, n_estimators=3))


def test_ctrl_c_keeps_the_finished_runs_on_request(monkeypatch, ctrl_c):
    X, y = make_table(0, 20, 20)
    settings = ExactBoostSettings(n_runs=50, n_estimators=3, keep_interrupted=True)
    two, _, _ = fit_exactboost(prepare(X, y), replace(settings, n_runs=2))
    interrupt_at(monkeypatch, 2)
    with pytest.warns(ExactBoostWarning, match="mean of 2 of 50 runs"):
        model, history, _ = fit_exactboost(prepare(X, y), settings)
    assert history.stopped_by == "interrupted"
    assert len(history.runs) == 2
    assert contracts.same_model(model, two)


def test_ctrl_c_before_any_run_has_finished_ends_everything(monkeypatch, ctrl_c):
    interrupt_at(monkeypatch, 0)
    settings = ExactBoostSettings(n_runs=5, n_estimators=3, keep_interrupted=True)
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        fit_exactboost(prepare(*make_table(0)), settings)
    for thread in set(threading.enumerate()) - before:  # may be just about to end
        thread.join(timeout=10)
        assert not thread.is_alive(), thread.name


def test_an_error_in_a_run_is_not_swallowed(monkeypatch):
    def rounds(run, stopped):
        raise ZeroDivisionError("in a run")

    monkeypatch.setattr(Run, "rounds", rounds)
    with pytest.raises(ZeroDivisionError, match="in a run"):
        fit_exactboost(prepare(*make_table(0)), ExactBoostSettings(n_runs=3, n_estimators=3))


@pytest.mark.parametrize("margin", [0, 1, np.float32(0.25)], ids=["0", "1", "float32"])
def test_a_whole_number_for_the_margin_compiles_no_kernel_anew(margin):
    table = gather(prepare(*make_table(0)))
    assert type(make_plan(table, ExactBoostSettings(margin=margin), 1.0).theta) is float
