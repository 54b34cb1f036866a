"""Scorecard: the points of a model as plain data, which scores rows and explains their scores."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from auctor._checks import check_choice, check_whole
from auctor._files import write_text_file
from auctor._text import count
from auctor._typing import Floats, Ints
from auctor.data import Category, Feature, Table, read_table, select
from auctor.data.missing_codes import MissingCodes, RecodedTable
from auctor.models.explanation import Values, by_term, shorten
from auctor.models.scorecard import excel, page
from auctor.models.scorecard.file import card_text, parse_card_text
from auctor.models.scorecard.labels import decimal_text
from auctor.models.scorecard.points import CardTerm, PointsPerUnit
from auctor.models.scorecard.quality import CardQuality
from auctor.models.scorecard.scale import PointScale
from auctor.models.scorecard.table import csv_text, table_columns

REFERENCES = ("best", "average")


@dataclass(frozen=True, eq=False)
class Scorecard:
    """A score as a table of points: ``model.to_scorecard()`` makes it.

    The points of a row are ``base_points`` plus the points of its bin in each term.

    Attributes
    ----------
    classes : tuple
        The labels (negative, positive).
    scale : PointScale
        Points to double the odds, the odds at the base score, and the direction.
    base_points : float
        The points that every row has.
    terms : tuple of PointsTable or PointsPerUnit
        The features and pairs of features, with their bins and points.
    digits : int or None
        Decimals of the points; None for points that are not rounded.
    feature_names : tuple of str
        The columns that the model was fitted on. Only those of the terms are needed.
    missing_codes : dict
        Name of a feature -> values of it that count as missing.
    model_sha256 : str
        The SHA-256 of the model's file.
    quality : CardQuality or None
        What the card loses against the model.

    Examples
    --------
    >>> from auctor import RankBoost
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
    >>> card = RankBoost(n_estimators=5).fit(X, y).model_.to_scorecard(odds=1, base_score=100)
    >>> print(card)
    Scorecard: 61 points + those of 1 feature; 20 points double the odds of 0
      x0: <= 1.5: 78, (1.5, 2.5]: 26, (2.5, 3.5]: 52, > 3.5: 0; missing: 39
    >>> card.score(X).tolist()
    [139.0, 87.0, 113.0, 61.0]
    """

    classes: tuple[Category, Category]
    scale: PointScale
    base_points: float
    terms: tuple[CardTerm, ...]
    digits: int | None
    feature_names: tuple[str, ...]
    missing_codes: MissingCodes = field(default_factory=dict)
    model_sha256: str = ""
    quality: CardQuality | None = None

    @property
    def term_names(self) -> tuple[str, ...]:
        """The features and pairs of features that have points."""
        return tuple(term.name for term in self.terms)

    @property
    def used_features(self) -> tuple[str, ...]:
        """The columns that a table must have."""
        return tuple(feature.name for feature in self._columns)

    @property
    def text_features(self) -> tuple[str, ...]:
        """Features whose categories are text, in which "1" must not be read as a number."""
        columns = (column for column in self._columns if column.is_category)
        return tuple(c.name for c in columns if any(isinstance(v, str) for v in c.categories))

    @property
    def _columns(self) -> tuple[Feature, ...]:
        """The features of the terms, in the order of the model."""
        named = {feature.name: feature for term in self.terms for feature in term.features}
        return tuple(named[name] for name in self.feature_names if name in named)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest possible points; NaN if a number has no known range."""
        low = self.base_points + sum(term.low for term in self.terms)
        return low, self.base_points + sum(term.high for term in self.terms)

    def points(self, X: Any) -> Floats:
        """The points of each row in each term, as an array (rows, terms).

        ``base_points`` plus the sum over a row is its score.
        """
        table, columns = self._read(X)
        return self._points(table, columns)

    def score(self, X: Any) -> Floats:
        """The points of each row.

        Parameters
        ----------
        X : table
            Rows of any kind that a model takes. Values of ``missing_codes`` count as missing, and
            unknown categories as "missing or other".

        Returns
        -------
        ndarray of shape (n_rows,)
            With whole points these are the sums that one adds up on paper.
        """
        return self._sum(self.points(X))

    def _sum(self, points: Floats) -> Floats:
        total = np.full(len(points), self._in_units(self.base_points))
        for term in points.T:
            total += self._in_units(term)
        return total if self.digits is None else total / 10.0**self.digits

    def _in_units(self, points: Any) -> Any:
        """Points as whole multiples of the last decimal, whose sums are exact."""
        return points if self.digits is None else np.rint(points * 10.0**self.digits)

    def probability(self, points: Any) -> Floats:
        """The probability of the positive class for points, such as those of ``score``."""
        return self.scale.probability(points)

    def points_lost(self, X: Any, reference: str = "best") -> Floats:
        """The points that each term costs each row, as an array (rows, terms).

        A cost is positive where the row is worse off than the reference: it has fewer points, or
        with ``direction="higher_risk"`` more.

        Parameters
        ----------
        X : table
        reference : {"best", "average"}, default="best"
            "best" compares with the best bin of the term, so that no cost is negative; "average"
            with the average points of the rows that the card was made with.
        """
        return self._lost(self.points(X), reference)

    def _lost(self, points: Floats, reference: str) -> Floats:
        check_choice(reference, REFERENCES, "reference")
        is_good = self.scale.direction == "lower_risk"
        if reference == "average":
            aims = [term.average for term in self.terms]
        else:
            aims = [term.high if is_good else term.low for term in self.terms]
        unknown = [t.name for t, aim in zip(self.terms, aims, strict=True) if np.isnan(aim)]
        if unknown:
            raise ValueError(
                f"reference is 'best', but the range of {unknown[0]!r}, which has points for each "
                "unit, is not known; give 'average', or make the card with rows: to_scorecard(X=X)"
            )
        lost: Floats = np.array(aims, dtype=np.float64) - points
        return lost if is_good else -lost

    def reasons(self, X: Any, n: int = 4, reference: str = "best") -> list[list[str]]:
        """The terms that cost each row most points, as text such as "tenure=1 (-12)".

        These are the reasons of an adverse decision, as lenders state them.

        Parameters
        ----------
        X : table
        n : int, default=4
            Number of reasons for each row.
        reference : {"best", "average"}, default="best"
            What the points of a row are compared with; see ``points_lost``. With "average" only
            features in which the row is below the average are reasons.

        Returns
        -------
        list of lists of str
            ``n`` lists with one text for each row: the largest cost first. The number in
            parentheses is the difference in points. The text is empty for a row with fewer reasons.

        Examples
        --------
        >>> from auctor import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> card = RankBoost(n_estimators=5).fit(X, y).model_.to_scorecard()
        >>> card.reasons([[1.0], [4.0]], n=1)
        [['', 'x0=4 (-78)']]
        """
        check_whole(n, "n")
        table, columns = self._read(X)
        points = self._points(table, columns)
        lost = np.maximum(self._lost(points, reference), 0.0)
        ranked = np.argsort(-lost, axis=1, kind="stable")[:, :n]
        used = self._columns
        place = {feature.name: j for j, feature in enumerate(used)}
        own = [tuple(place[feature.name] for feature in term.features) for term in self.terms]
        values = Values(table, np.array([columns[f.name] for f in used]), used, own)
        texts = np.full((len(points), n), "", dtype=object)
        sign = -1.0 if self.scale.direction == "lower_risk" else 1.0
        for term, rows, ranks in by_term(ranked):
            costs = lost[rows, term] > 0.0
            rows, ranks = rows[costs], ranks[costs]
            changes = (sign * lost[rows, term]).tolist()
            pairs = zip(values.texts(term, rows), changes, strict=True)
            texts[rows, ranks] = [f"{name} ({change:+.4g})" for name, change in pairs]
        return texts.T.tolist()

    def _points(self, table: Table, columns: Mapping[str, int]) -> Floats:
        out = np.zeros((len(self.terms), table.n_rows))
        for own, term in zip(out, self.terms, strict=True):
            places: Ints = np.array([columns[feature.name] for feature in term.features])
            own[:] = term._of_rows(table, places, self.digits)
        return out.T

    def _read(self, X: Any) -> tuple[Table, dict[str, int]]:
        """The rows as a table with missing codes replaced, and the column of each feature."""
        table = read_table(X, accept_sparse=True)
        used = self.used_features
        is_named = table.has_names and not set(used).isdisjoint(table.names)
        names = used if is_named else self.feature_names
        columns = dict(zip(names, select(table, names, "Scorecard").tolist(), strict=True))
        codes = {columns[name]: c for name, c in self.missing_codes.items() if name in columns}
        return (RecodedTable(table, codes) if codes else table), columns

    def to_dict(self) -> dict[str, list[Any]]:
        """The card as columns with a row for each bin; ``pandas.DataFrame`` takes the result.

        A bin of numbers reaches from ``lower`` to ``upper``, of which the one named in ``closed``
        ("left" or "right") belongs to it. Each category has a row of its own.
        """
        return table_columns(self)

    def to_csv(self, path: str | Path | None = None, *, spreadsheet_safe: bool = True) -> str:
        """The card as CSV text, also written to ``path`` if it is given.

        With ``spreadsheet_safe`` an apostrophe is put before names and categories that a
        spreadsheet would run as formulas, because they begin with one of = + - @.
        """
        text = csv_text(self, spreadsheet_safe)
        if path is not None:
            write_text_file(path, text)
        return text

    def to_excel(self, path: str | Path) -> None:
        """Write the card to an Excel file; needs openpyxl (``pip install 'auctor[excel]'``)."""
        excel.write_excel(self, path)

    def to_html(self, path: str | Path | None = None, *, title: str = "Scorecard") -> str:
        """The card as an HTML page, also written to ``path`` if it is given.

        The page loads nothing. Printed, it is a form to fill in on paper.
        """
        text = page.render(self, title)
        if path is not None:
            write_text_file(path, text)
        return text

    def to_json(self) -> str:
        """The text of the card's file."""
        return card_text(self)

    def save(self, path: str | Path) -> None:
        """Write the card to a JSON file, which ``load_scorecard`` reads."""
        write_text_file(path, self.to_json())

    @classmethod
    def from_json(cls, text: str) -> "Scorecard":
        """The card in the text of a file; a ValueError names the field that is wrong."""
        return cls(**parse_card_text(text))

    def text(self, points: float) -> str:
        """Points as text, with the decimals of the card."""
        return format_points(points, self.digits)

    def __str__(self) -> str:
        good = self.classes[0 if self.scale.direction == "lower_risk" else 1]
        n = sum(1 for term in self.terms if len(term.features) == 1)
        n_pairs = len(self.terms) - n
        pairs = f" and {count(n_pairs, 'pair')}" if n_pairs else ""
        lines = [
            f"Scorecard: {self.text(self.base_points)} points + those of {count(n, 'feature')}"
            f"{pairs}; {self.scale.pdo:g} points double the odds of {good!r}"
        ]
        return "\n".join([*lines, *map(self._term_text, self.terms)])

    def _term_text(self, term: CardTerm, most: int = 8) -> str:
        name = shorten(term.name)
        if isinstance(term, PointsPerUnit):
            missing = self.text(term.missing)
            return f"  {name}: {decimal_text(term.per_unit)} for each unit; missing: {missing}"
        if len(term.axes) == 2:
            shape = " x ".join(str(size - 1) for size in term.points.shape)
            return f"  {name}: {shape} bins, {self.text(term.low)} to {self.text(term.high)} points"
        pairs = list(zip(term.axes[0].texts(most=4), term.points.tolist(), strict=True))
        parts = [f"{bin_}: {self.text(points)}" for bin_, points in pairs[1:]]
        if len(parts) > most:
            parts = [*parts[: most - 1], f"... {len(parts) - most} more ...", parts[-1]]
        return f"  {name}: {', '.join(parts)}; {pairs[0][0]}: {self.text(pairs[0][1])}"


def format_points(points: float, digits: int | None) -> str:
    """Points as text, with the decimals of a card.

    Examples
    --------
    >>> format_points(12.0, 0), format_points(-0.25, 1), format_points(1 / 3, None)
    ('12', '-0.2', '0.33333')
    """
    return f"{points + 0.0:.5g}" if digits is None else f"{points + 0.0:.{digits}f}"


def load_scorecard(path: str | Path) -> Scorecard:
    """Load a scorecard that ``card.save`` or ``auctor export --to scorecard`` wrote.

    Raises
    ------
    ValueError
        If the file is damaged, truncated, of an unknown version, or not a scorecard at all; the
        message names the field that is wrong.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from auctor import RankBoost, load_scorecard
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
    >>> card = RankBoost(n_estimators=5).fit(X, y).model_.to_scorecard()
    >>> with TemporaryDirectory() as folder:
    ...     card.save(f"{folder}/card.json")
    ...     load_scorecard(f"{folder}/card.json").score(X).tolist() == card.score(X).tolist()
    True
    """
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder; give the name of a scorecard file")
    try:
        return Scorecard.from_json(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # UnicodeDecodeError is one, too
        raise ValueError(f"{path}: {error}") from None
