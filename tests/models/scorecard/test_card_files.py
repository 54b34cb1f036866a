"""Cards as JSON, CSV, Excel and HTML: read back they say the same; damage is refused."""

import csv
import io
import json
import re

import numpy as np
import openpyxl
import pytest
from models.scorecard.cards import FORMULA, MODELS, SCRIPT, additive, every_row
from models.scorecard.test_card import as_table
from models.test_damage import DELETE, change, fields, sign

import auctor
from auctor.data import category_feature
from auctor.models import PointsTable, Scorecard

HOSTILE = (None, [], {}, "x", -1, 10**400, 1e308, True, [[]], DELETE)


def finite_rows():
    columns = every_row()
    return as_table({**columns, "age": [a if a != 1e301 else 60.0 for a in columns["age"]]})


@pytest.fixture(scope="module", params=["additive", "linear"])
def card(request):
    X = finite_rows()
    y = np.where(np.arange(X.num_rows) % 3 == 0, "bad", "good")
    return MODELS[request.param].to_scorecard(X=X, y=y, pdo=33, odds=7, base_score=512)


class TestJson:
    def test_a_loaded_card_is_the_same(self, card, tmp_path):
        card.save(tmp_path / "card.json")
        loaded = auctor.load_scorecard(tmp_path / "card.json")
        X = as_table(every_row())
        assert (loaded.score(X) == card.score(X)).all()
        assert loaded.reasons(X, reference="average") == card.reasons(X, reference="average")
        assert loaded.scale == card.scale and loaded.quality == card.quality
        assert loaded.to_json() == card.to_json() and loaded.to_csv() == card.to_csv()
        assert loaded.to_html() == card.to_html()

    def test_it_is_no_model(self, card, tmp_path):
        card.save(tmp_path / "card.json")
        with pytest.raises(ValueError, match="this is a scorecard and not a model"):
            auctor.load(tmp_path / "card.json")
        MODELS["additive"].save(tmp_path / "model.json")
        with pytest.raises(ValueError, match="scorecard file: field 'format' must be"):
            auctor.load_scorecard(tmp_path / "model.json")
        with pytest.raises(ValueError, match="is a folder"):
            auctor.load_scorecard(tmp_path)

    def test_truncated_and_changed_files(self, card):
        text = card.to_json()
        for length in range(0, len(text) - 2, len(text) // 40):
            with pytest.raises(ValueError):
                Scorecard.from_json(text[:length])
        changed = text.replace('"base_points": ', '"base_points": 1')
        with pytest.raises(ValueError, match="scorecard file: field 'sha256' does not match"):
            Scorecard.from_json(changed)
        with pytest.raises(ValueError, match="nested too deeply"):
            Scorecard.from_json("[" * 100_000)

    def test_hostile_values_in_every_field(self, card):
        content, X = json.loads(card.to_json()), as_table(every_row())
        n_refused = 0
        # Of long lists the first two entries.
        places = [where for where, _ in fields(content) if where[-1] in (0, 1, str(where[-1]))]
        for where in places:
            for value in HOSTILE:
                try:
                    loaded = Scorecard.from_json(sign(change(content, where, value)))
                except ValueError as error:
                    assert type(error) is ValueError and str(error), where
                    n_refused += 1
                    continue
                try:  # a card of other points, but a card
                    assert np.isfinite(loaded.score(X)).all(), where
                except ValueError as error:  # another feature, or another kind of it
                    assert "column" in str(error), where
        assert n_refused > 500

    def test_an_unknown_version(self, card):
        content = json.loads(card.to_json())
        with pytest.raises(ValueError, match="'version' is 2; this release of auctor reads 1 to 1"):
            Scorecard.from_json(sign({**content, "version": 2}))


def points_of(rows, name, value):
    """The points of a value by the lines of a table, as a reader of the CSV file finds them."""
    own = [row for row in rows if row["term"] == name]
    if own[0]["kind"] == "per unit" and value is not None:
        return np.floor(float(own[0]["points"]) * value + 0.5)
    for row in own:
        if row["kind"] == "interval" and value is not None:
            low = float(row["lower"] or -np.inf)
            high = float(row["upper"] or np.inf)
            right = row["closed"] == "right"
            inside = low < value <= high if right else low <= value < high
        else:
            inside = row["kind"] == "category" and row["bin"] == (value or "(empty text)")
            inside = inside and value is not None
        if inside:
            return float(row["points"])
    return float(next(row["points"] for row in own if row["kind"] == "missing"))


class TestTables:
    def test_scores_from_the_csv_text_alone(self, card):
        rows = list(csv.DictReader(io.StringIO(card.to_csv(spreadsheet_safe=False))))
        X = finite_rows().to_pydict()
        for k, term in enumerate(card.terms):
            if len(term.features) == 1:
                ours = [points_of(rows, term.name, value) for value in X[term.features[0].name]]
                assert ours == card.points(as_table(X))[:, k].tolist(), term.name
        assert float(rows[0]["points"]) == card.base_points and rows[0]["kind"] == "base"

    def test_pairs_have_a_line_for_each_cell(self):
        card = MODELS["additive"].to_scorecard()
        columns, pair = card.to_dict(), card.terms[-1]
        lines = [k for k, name in enumerate(columns["term"]) if name == pair.name]
        assert len(lines) == pair.points.size
        assert sorted(columns["points"][k] for k in lines) == sorted(pair.points.ravel().tolist())
        assert {columns["feature_2"][k] for k in lines} == {FORMULA}

    def test_no_text_runs_in_a_spreadsheet(self, card, tmp_path):
        cells = [cell for row in csv.reader(io.StringIO(card.to_csv())) for cell in row]
        numbers = [cell for cell in cells if cell.startswith("-")]
        assert f"'{FORMULA}" in cells and "'@sum" in cells
        assert not any(cell.startswith(("=", "+", "@")) for cell in cells)
        assert all(float(cell) < 0 for cell in numbers)
        card.to_excel(tmp_path / "card.xlsx")
        book = openpyxl.load_workbook(tmp_path / "card.xlsx")
        kinds = {cell.data_type for sheet in book for row in sheet.rows for cell in row}
        assert "f" not in kinds
        again = openpyxl.load_workbook(tmp_path / "card.xlsx", data_only=True)["Points"]
        assert FORMULA in {cell.value for row in again.rows for cell in row}

    def test_the_excel_file_has_the_table(self, card, tmp_path):
        card.to_excel(tmp_path / "card.xlsx")
        book = openpyxl.load_workbook(tmp_path / "card.xlsx")
        columns = card.to_dict()
        head, *rows = book["Points"].iter_rows(values_only=True)
        assert list(head) == list(columns)
        assert [list(own) for own in zip(*rows, strict=True)] == list(columns.values())
        facts = dict(book["Scale"].iter_rows(min_row=2, values_only=True))
        assert facts["pdo"] == 33 and facts["odds"] == 7 and facts["base_score"] == 512
        assert facts["auc card"] == card.quality.auc_card
        with pytest.raises(ValueError, match=r"does not end in \.xlsx"):
            card.to_excel(tmp_path / "card.csv")


class TestPage:
    def test_names_are_text(self, card):
        page = card.to_html(title=SCRIPT)
        assert page.count("<script") == 1 and SCRIPT not in page
        assert "http://" not in page and "https://" not in page and "src=" not in page

    def test_it_shows_all_points(self, card):
        page = card.to_html()
        for term in card.terms:
            points = term.points.ravel() if isinstance(term, PointsTable) else [term.missing]
            assert all(f'value="{float(own)!r}"' in page for own in points), term.name
        assert f"<td>{card.base_points:.0f}</td>" in page
        assert "33 points double the odds of “good”" in page

    def test_names_without_a_place_in_html(self):
        card = MODELS["additive"].to_scorecard()
        odd = "\ud800\x00"
        page = Scorecard(("a", odd), card.scale, 1.0, (), 0, (odd,)).to_html()
        assert page.encode() and "\x00" not in page

    def test_a_category_that_is_called_as_the_bin_of_missing_values(self):
        towns = category_feature("town", ("missing or other", "b"))
        model = additive(features=(towns,), steps=(np.array([0.0, 1.0, 2.0]),), surfaces=())
        page = model.to_scorecard().to_html()
        labels, ids = (re.findall(f' {name}="(t0[^"]*)"', page) for name in ("for", "id"))
        assert labels == ids and len(set(ids)) == 3
