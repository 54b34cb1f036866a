"""Reports: the results of a model as a dict of plain values, and as an HTML page."""

from auctor.report.monitor_page import render_monitoring
from auctor.report.monitoring import Monitoring, monitor
from auctor.report.page import render
from auctor.report.summary import summarize
from auctor.report.write import write_report

__all__ = ["Monitoring", "monitor", "render", "render_monitoring", "summarize", "write_report"]
