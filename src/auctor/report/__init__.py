"""Reports: facts about a model as a dict of plain values, and the page that draws them."""

from auctor.report.page import render, write_report
from auctor.report.summary import summarize

__all__ = ["render", "summarize", "write_report"]
