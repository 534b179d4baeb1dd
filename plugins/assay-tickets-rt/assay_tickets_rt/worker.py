"""Turns the events that wait in the inbox into tickets, one after the other, until Request Tracker has taken them."""

from __future__ import annotations

import json
import logging
import threading

from assay_sdk import TicketSystem, TicketSystemError
from assay_sdk.ticketing import EventProblem, report_failures
from assay_tickets_rt.inbox import Inbox, Waiting

log = logging.getLogger(__name__)

WAITS = (5.0, 30.0, 120.0, 600.0, 1_800.0, 3_600.0)  # seconds before another try; the last one from then on
LONGEST = 7 * 86_400.0  # seconds after which an event is given up


class Worker:
    def __init__(self, inbox: Inbox, system: TicketSystem) -> None:
        self._inbox, self._system = inbox, system
        self._woken, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="tickets", daemon=True)

    def start(self) -> None:
        self._inbox.hurry()
        self._thread.start()

    def wake(self) -> None:
        self._woken.set()

    def stop(self, timeout: float = 30.0) -> None:
        """Ask it to end after the event in hand, which is repeated at the next start if it does not get that far."""
        self._stopped.set()
        self._woken.set()
        self._thread.join(timeout)

    def work(self) -> int:
        """Do what is due now; gives the number of events that are done with it."""
        done = 0
        while not self._stopped.is_set() and (waiting := self._inbox.due()):
            done += self._one(waiting)
        return done

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self.work()
            except Exception:
                log.exception("The inbox cannot be read; trying again.")
            self._woken.wait(1.0)
            self._woken.clear()

    def _one(self, waiting: Waiting) -> bool:
        try:
            reported = report_failures(self._system, json.loads(waiting.body), waiting.id, self._inbox)
        except EventProblem as error:
            self._inbox.give_up(waiting.id, str(error))
            log.error("Event %s is given up: %s", waiting.id, error)
            return False
        except TicketSystemError as error:
            problem = str(error)
        except Exception as error:
            log.exception("Event %s could not be turned into tickets.", waiting.id)
            problem = f"{type(error).__name__}: {error}"
        else:
            self._inbox.finish(waiting.id)
            log.info("Event %s. %s", waiting.id, reported)
            return True
        # Even what is permanent to Request Tracker (a wrong token, a queue without rights) is for people to put
        # right here, and the event should not be lost meanwhile.
        if waiting.age > LONGEST:
            self._inbox.give_up(waiting.id, problem)
            log.error("Event %s is given up: %s", waiting.id, problem)
        else:
            wait = WAITS[min(waiting.tries, len(WAITS) - 1)]
            self._inbox.postpone(waiting.id, problem, wait)
            log.warning("Event %s waits %g s: %s", waiting.id, wait, problem)
        return False
