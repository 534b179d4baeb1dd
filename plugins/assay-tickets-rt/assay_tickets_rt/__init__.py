"""Request Tracker 5 as a ticket system, over its REST 2 interface, and a receiver of Assay's webhooks for it."""

from __future__ import annotations

from collections.abc import Callable

from assay_sdk import TicketSystem, TicketSystemType, hookimpl
from assay_tickets_rt.options import RtOptions

assay_api = 1


def build(options: RtOptions, secret: Callable[[str], str]) -> TicketSystem:
    from assay_tickets_rt.system import RequestTracker

    return RequestTracker(options, secret(options.token))


@hookimpl
def assay_ticket_systems() -> list[TicketSystemType]:
    return [TicketSystemType("request-tracker", "Request Tracker 5", RtOptions, build)]
