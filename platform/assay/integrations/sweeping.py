"""What the sweep (assay.runs.sweeping) does for deliveries, in each tenant's schema in turn."""

from __future__ import annotations

from assay.integrations import deliveries, events


def sweep_deliveries(schema: str) -> int:
    """Write events that were missed and ask workers for what is due. Gives the number of messages sent."""
    events.queue_missed()
    ids = deliveries.due()
    for delivery_id in ids:
        deliveries.ask(schema, delivery_id)
    return len(ids)
