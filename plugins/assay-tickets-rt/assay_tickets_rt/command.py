"""The command assay-rt-receiver."""

from __future__ import annotations

import argparse
import fcntl
import logging
import os
import sys
from pathlib import Path

import uvicorn
from pydantic import ValidationError

from assay_sdk import TicketSystemError, outgoing
from assay_tickets_rt.inbox import Inbox
from assay_tickets_rt.options import RtOptions
from assay_tickets_rt.receiver import Receiver
from assay_tickets_rt.system import RequestTracker
from assay_tickets_rt.worker import Worker

_TOKEN, _SECRET = "ASSAY_RT_TOKEN", "ASSAY_WEBHOOK_SECRET"


def main(arguments: list[str] | None = None) -> int:
    """Receive webhooks until stopped. Exit codes: 0 in order, 1 Request Tracker refuses, 2 wrong settings."""
    given = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it writes a line for each request
    # Whoever starts the receiver chose the address of Request Tracker, which usually is in the same network.
    os.environ.setdefault(outgoing.ALLOW, "1")
    token, secrets = os.environ.get(_TOKEN, ""), os.environ.get(_SECRET, "").split()
    if not token:
        return _wrong(f"Put the authentication token of Request Tracker into {_TOKEN}.")
    try:
        options = RtOptions(
            url=given.url, queue=given.queue, token=f"env:{_TOKEN}", requestor=given.requestor
        )
    except ValidationError as error:
        return _wrong("; ".join(f"{e['loc'][0]}: {e['msg']}" for e in error.errors()) + ".")
    system = RequestTracker(options, token)
    if given.check:
        return _check(system)
    if not secrets:
        return _wrong(f"Put the endpoint's secret (whsec_...) into {_SECRET}; several with spaces between.")
    with given.memory.with_name(given.memory.name + ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return _wrong(f"Another receiver uses {given.memory}; give each a file of its own.")
        inbox = Inbox(given.memory)
        try:
            receiver = Receiver(secrets, inbox, Worker(inbox, system))
        except ValueError:
            return _wrong(f"{_SECRET} does not hold secrets of the form whsec_...")
        uvicorn.run(
            receiver, host=given.host, port=given.port, lifespan="on", log_level="warning", access_log=False
        )
        inbox.close()
    return 0


def _check(system: RequestTracker) -> int:
    try:
        print(system.check())
    except TicketSystemError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _wrong(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="assay-rt-receiver",
        description="Take Assay's webhooks and turn the failures of runs into tickets of Request Tracker.",
        epilog=f"Secrets come from the environment: {_TOKEN} and {_SECRET}.",
    )
    parser.add_argument("--url", required=True, help="address of Request Tracker: https://rt.example.com")
    parser.add_argument("--queue", required=True, help="queue for new tickets")
    parser.add_argument("--requestor", default="", help="address of the requestor of new tickets")
    parser.add_argument(
        "--memory", type=Path, default=Path("assay-rt-receiver.sqlite3"), help="file for what was told"
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--check", action="store_true", help="only sign in to Request Tracker and say so")
    return parser


if __name__ == "__main__":
    sys.exit(main())
