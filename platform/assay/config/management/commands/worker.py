"""A worker, for real deployments: `manage.py worker --processes 8`."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from assay.config.processes import worker_command, worker_environment


class Command(BaseCommand):
    help = (
        "Run trials and deliveries until stopped. Start as many as you like, on as many machines as you like."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--processes", type=int, default=max(2, os.cpu_count() or 2))

    def handle(self, *args: Any, **options: Any) -> None:
        command = worker_command(options["processes"])
        # In place of this process, so that signals from a supervisor reach the worker itself.
        os.execvpe(command[0], command, worker_environment())
