"""A scorecard as an Excel file; needs openpyxl."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from auctor._files import complete_file
from auctor._text import without_controls
from auctor.models.scorecard.table import table_columns

if TYPE_CHECKING:
    from auctor.models.scorecard.card import Scorecard

_LONGEST_CELL = 32_767  # characters, the limit of Excel
_FORMATS = {"fraction": "0.0%", "positive_rate": "0.0%"}


def write_excel(card: "Scorecard", path: str | Path) -> None:
    """Write the card with a sheet of points, and a sheet of the scale and the quality."""
    if Path(path).suffix.lower() != ".xlsx":
        raise ValueError(f"{path} does not end in .xlsx; give the name of an Excel file")
    try:
        from openpyxl import Workbook
    except ImportError:
        raise ValueError(
            "writing an Excel file needs the package openpyxl; install it with "
            "pip install 'auctor[excel]', or write CSV"
        ) from None
    book = Workbook()
    _fill(book.active, "Points", table_columns(card))
    _fill(book.create_sheet(), "Scale", _scale_columns(card))
    with complete_file(path) as temporary:
        book.save(temporary)


def _scale_columns(card: "Scorecard") -> dict[str, list[Any]]:
    facts: dict[str, Any] = {
        "positive label": card.classes[1],
        "negative label": card.classes[0],
        **vars(card.scale),
        "digits": card.digits,
        "base points": card.base_points,
        "SHA-256 of the model": card.model_sha256,
    }
    if card.quality is not None:
        facts |= {name.replace("_", " "): v for name, v in vars(card.quality).items()}
    return {"name": list(facts), "value": list(facts.values())}


def _fill(sheet: Any, title: str, columns: dict[str, list[Any]]) -> None:
    """Write columns to a sheet; text is text, also where it begins like a formula."""
    from openpyxl.styles import Font

    sheet.title = title
    for k, (name, values) in enumerate(columns.items(), start=1):
        for i, value in enumerate([name, *values], start=1):
            cell = sheet.cell(i, k)
            if isinstance(value, str):
                cell.value = without_controls(value)[:_LONGEST_CELL]
                cell.data_type = "s"
                cell.quotePrefix = cell.value.startswith(("=", "+", "-", "@"))
            elif isinstance(value, float):
                # openpyxl writes 16 digits, which would move a cut: all digits, as a number.
                cell.value = repr(value)
                cell.data_type = "n"
            else:
                cell.value = value
            if i == 1:
                cell.font = Font(bold=True)
            elif name in _FORMATS:
                cell.number_format = _FORMATS[name]
        widest = max(len(str(value)) for value in [name, *values])
        sheet.column_dimensions[sheet.cell(1, k).column_letter].width = min(max(widest + 2, 9), 60)
    sheet.freeze_panes = "A2"
