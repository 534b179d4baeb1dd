"""The report of a verification as HTML, without a database or configured settings.

It is made from the JSON document of docs/reference/verifier.md, so that one that was stored can be shown again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.reports.render import engine
from assay.reports.verification_data import verification_data

if TYPE_CHECKING:
    from assay.engine.verifier import Verification


def render(found: Verification | Mapping[str, Any]) -> str:
    """The report without the page around it: one <main class="report">, no style."""
    return _rendered("reports/verification_body.html", found)


def render_page(found: Verification | Mapping[str, Any]) -> str:
    """The report as one page that needs nothing else: no script, no request to anywhere."""
    return _rendered("reports/verification.html", found)


def _rendered(template: str, found: Verification | Mapping[str, Any]) -> str:
    from django.template import Context

    document = found if isinstance(found, Mapping) else found.as_json()
    # Figures are worded by `verification_data`; the few bare numbers left are not to be changed by a locale.
    context = Context({"found": verification_data(document)}, use_l10n=False)
    return engine().get_template(template).render(context)
