"""Reports: the results of a model as a dict of plain values, and as an HTML page."""

from auctor.report.page import render, write_report
from auctor.report.summary import summarize

__all__ = ["render", "summarize", "write_report"]
