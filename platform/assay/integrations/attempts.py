"""One attempt at a delivery: claim it, make it, write down what became of it."""

from __future__ import annotations

import logging

from celery.exceptions import SoftTimeLimitExceeded

from assay.integrations import deliveries, sending
from assay.integrations.deliveries import Attempt
from assay.integrations.events import TEST
from assay.integrations.models import Delivery

log = logging.getLogger(__name__)


def attempt(delivery_id: int) -> bool:
    """True when an attempt was made; False when the delivery is not due or another worker is at it."""
    claimed = deliveries.claim(delivery_id)
    if claimed is None:
        return False
    try:
        outcome = _make(claimed.delivery)
    except SoftTimeLimitExceeded:
        outcome = Attempt(
            False, "It took too long and was broken off; what was done until then is remembered."
        )
    except Exception as error:
        # A defect of ours: without a logged attempt it would be made again for ever, and nobody would see it.
        log.exception("delivery %s broke", delivery_id)
        outcome = Attempt(False, f"It broke: {type(error).__name__}.")
    deliveries.write(claimed, outcome, once=claimed.delivery.event.type == TEST)
    return True


def _make(delivery: Delivery) -> Attempt:
    if delivery.endpoint is not None:
        return sending.post(delivery.event, delivery.endpoint)
    assert delivery.connection is not None  # the database holds it
    return sending.tell(delivery.event, delivery.connection)
