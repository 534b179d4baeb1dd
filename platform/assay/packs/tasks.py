"""What Celery calls. Each task names its tenant's schema; the work is in verifying.py."""

from __future__ import annotations

from celery import shared_task

from assay.packs import verifying
from assay.tenancy.services import TenantError, in_tenant

SECONDS = 780  # the verifier's own bound, and what it takes to load a pack


@shared_task(name="packs.verify", ignore_result=True, soft_time_limit=SECONDS, time_limit=SECONDS + 30)
def verify_version(schema: str, version_id: int) -> None:
    """Verify a pack version, if that is still to be done and nobody else is at it."""
    try:
        with in_tenant(schema):
            verifying.run(version_id)
    except TenantError:
        return  # the tenant is gone, and its packs with it
