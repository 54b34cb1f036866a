"""Bins, copies, labels and weights of a table that several members of a group hold."""

import numpy as np
import pandas as pd
import pytest
from data.thread_group import run_members
from hypothesis import given, settings
from hypothesis import strategies as st

from auctor.data.cluster.bins import find_bins
from auctor.data.cluster.copies import find_shared_copies
from auctor.data.cluster.parts_table import PartsTable, TablePart, read_part
from auctor.data.cluster.sorted_line import count_values, share_lines
from auctor.data.copies import find_copies
from auctor.data.group import ALONE, add_up
from auctor.data.labelled import read_rows
from auctor.data.table import read_table
from auctor.kernels.binning import find_centres, find_cuts

values_and_owners = st.lists(
    st.tuples(
        st.one_of(st.integers(-4, 4).map(float), st.floats(-1e6, 1e6)),
        st.integers(1, 4),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=60,
)


def columns_of(rows):
    values, weight, owner = zip(*rows, strict=True)
    return np.array(values), np.array(weight), np.array(owner)


@settings(max_examples=40)
@given(values_and_owners, st.integers(2, 12))
def test_bins_are_those_of_the_whole_column(rows, max_bins):
    values, weight, owner = columns_of(rows)
    order = np.argsort(values, kind="stable")
    cuts = find_cuts(values[order], weight[order], max_bins)
    centres = find_centres(values[order], weight[order], cuts)

    def find(group):
        own = owner == group.rank
        return find_bins(group, [count_values(values[own], weight[own][None])], max_bins)[0]

    alone = find_bins(ALONE, [count_values(values, weight[None])], max_bins)[0]
    for bins in [*run_members(3, find), alone]:
        assert bins.cuts.tobytes() == cuts.tobytes()
        assert bins.centres.tobytes() == centres.tobytes()


@settings(max_examples=20)
@given(values_and_owners)
def test_ranges_ascend_and_are_the_whole_line(rows):
    values, weight, owner = columns_of(rows)
    lines = run_members(
        3,
        lambda group: share_lines(
            group,
            [count_values(values[owner == group.rank], weight[owner == group.rank][None])],
        )[0],
    )
    whole = count_values(values, weight[None])
    assert np.concatenate([line.values for line in lines]).tolist() == whole.values.tolist()
    counts = np.concatenate([line.counts for line in lines], axis=1)
    assert counts.tolist() == whole.counts.tolist()


@pytest.mark.parametrize("n_distinct", [4, 40, 10_000])
def test_copies_are_those_of_the_whole_table(n_distinct):
    rng = np.random.default_rng(n_distinct)
    rows = rng.integers(0, n_distinct, size=60)
    frame = pd.DataFrame({"a": np.sin(rows), "b": rows % 3, "c": np.array(list("xyz"))[rows % 3]})
    positive, kept = rows % 5 == 0, rng.random(60) < 0.8
    positive[:10] = rng.random(10) < 0.5
    expected = find_copies(read_table(frame), kept, positive[kept])
    owner = rng.integers(0, 2, size=3)

    def find(group):
        own = [k for k in range(3) if owner[k] == group.rank]
        mine = np.isin(np.arange(60) // 20, own)
        parts = [TablePart(k, read_table(frame.iloc[20 * k : 20 * k + 20])) for k in own]
        table = PartsTable(parts, group)
        positions = table.positions(kept[mine])
        here = positive[mine][kept[mine]]
        return find_shared_copies(table, kept[mine], positions, here, frozenset())

    for found in run_members(2, find):
        if expected is None:
            assert found is None
        else:
            assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("frequency", [False, True])
@pytest.mark.parametrize(
    "weight",
    [
        np.array([0.1, 0.3, 0.7, 0.2, 0.0, 0.5]),
        np.array([2.0, 4.0, 6.0, 2.0, 8.0, 0.0]),
        np.array([0.1, np.pi, 1e-3, 0.2, 1.0, 7.0]),
        np.array([1e300, 2e300, 0.0, 3e300, 1e300, 1e300]),
    ],
)
def test_weights_are_those_of_the_whole_table(weight, frequency):
    y = np.array([0, 1, 1, 0, 1, 0])
    whole = read_rows(y, weight, None, 6, frequency)

    def read(group):
        own = slice(0, 2) if group.rank == 0 else slice(2, 6)
        return read_rows(y[own], weight[own], None, len(y[own]), frequency, group)

    members = run_members(2, read)
    assert np.concatenate([m.weight for m in members]).tolist() == whole.weight.tolist()
    assert {m.rows_per_unit for m in members} == {whole.rows_per_unit}


def read_labels_of(*labels):
    return run_members(
        len(labels),
        lambda g: read_rows(labels[g.rank], None, None, len(labels[g.rank]), False, g).classes,
    )


def test_labels_of_all_members_are_the_classes():
    found = read_labels_of(np.array([1, 1]), np.array([0.0]), np.array([], dtype=object))
    assert [classes.tolist() for classes in found] == [[0.0, 1.0]] * 3
    with pytest.raises(ValueError, match="y has 3 classes"):
        read_labels_of(np.array([0, 1]), np.array([2, 1]))
    with pytest.raises(ValueError, match="y has numbers and text in different parts"):
        read_labels_of(np.array([0, 1]), np.array(["a"], dtype=object))
    with pytest.raises(ValueError, match="1 missing label"):
        read_labels_of(np.array([0, 1]), np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="more than 1000 classes"):
        read_labels_of(np.array([0, 1]), np.arange(2000))


def test_columns_without_values_take_the_type_of_the_others():
    texts = pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    empty = pd.DataFrame({"b": [3, 4], "a": [np.nan, np.nan]})  # in another order, too
    none = read_part(5, texts.iloc[:0])
    assert none is None

    def read(group):
        part = TablePart(group.rank, read_table((texts, empty)[group.rank]))
        table = PartsTable([part], group)
        return table.names, table.is_text(0), table.categories(0), table.numbers(1).tolist()

    (names, is_text, categories, numbers), other = run_members(2, read)
    assert (names, is_text, numbers) == (("a", "b"), True, [1.0, 2.0])
    assert categories.indices.tolist() == [0, 1]
    assert other[2].indices.tolist() == [-1, -1]
    assert other[3] == [3.0, 4.0]


def test_errors_name_the_partition():
    with pytest.raises(ValueError, match="partition 3: X has columns of the same name"):
        read_part(3, pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(ValueError, match="X has no rows"):
        PartsTable([], ALONE)


def test_a_group_adds_whole_numbers_only():
    assert ALONE.sum(np.array([1, 2])).tolist() == [1, 2]
    with pytest.raises(TypeError, match="counts are of type float64"):
        ALONE.sum(np.array([1.0]))
    with pytest.raises(ValueError, match="different shapes"):
        add_up([np.array([1]), np.array([1, 2])])


def test_an_error_about_labels_is_the_same_for_all_members():
    def read(group):
        weight = np.array([1.0, 2.0] if group.rank else [1.0, 0.0])
        with pytest.raises(ValueError, match="y, without its rows of weight 0, has 1 class"):
            read_rows(np.array([0, group.rank ^ 1]), weight, None, 2, group=group)

    run_members(2, read)
