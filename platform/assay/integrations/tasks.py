"""What Celery calls. Each task names its tenant's schema; the work is in attempts.py."""

from __future__ import annotations

from celery import shared_task

from assay.integrations.attempts import attempt
from assay.tenancy.services import TenantError, in_tenant

SECONDS = 300  # for one attempt; a run with many failures opens many tickets


@shared_task(
    name="integrations.deliver", ignore_result=True, soft_time_limit=SECONDS, time_limit=SECONDS + 30
)
def deliver(schema: str, delivery_id: int) -> None:
    """Make one attempt at a delivery, if it is due and nobody else is at it."""
    try:
        with in_tenant(schema):
            attempt(delivery_id)
    except TenantError:
        return  # the tenant is gone, and its deliveries with it
