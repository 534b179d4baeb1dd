from __future__ import annotations

from assay_sdk import AssayError


class IntegrationError(AssayError):
    """Something about a webhook or a ticket system that cannot be done; the message says why and what to do."""
