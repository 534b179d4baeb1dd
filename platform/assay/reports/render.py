"""A report as HTML, without a database or configured settings."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.reports.data import report_data
from assay.reports.source import ReportSource

if TYPE_CHECKING:
    from django.template import Engine

# templates/ stands beside platform/ in the repository, and inside the package in a wheel
_PLACES = (
    Path(__file__).resolve().parents[3] / "templates",
    Path(__file__).resolve().parents[1] / "templates",
)


def render_source(source: ReportSource) -> str:
    """The report as one page that needs nothing else: no script, no request to anywhere."""
    from django.template import Context

    # Figures are worded by `report_data`; the few bare numbers left are not to be changed by a locale.
    context = Context({"report": report_data(source)}, use_l10n=False)
    return engine().get_template("reports/report.html").render(context)


@cache
def engine() -> Engine:
    """The templates, without Django's settings."""
    # An engine of its own, so that the command line can write reports without Django's settings.
    from django.template import Engine

    return Engine(dirs=[str(place) for place in _PLACES if (place / "reports").is_dir()], autoescape=True)
