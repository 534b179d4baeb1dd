"""The site and a worker on this machine, until Ctrl-C."""

from __future__ import annotations

import os
import signal
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from assay.config import installation
from assay.config.processes import kept_working, port_is_free
from assay.tenancy.models import Domain


class Command(BaseCommand):
    help = "Serve the site with a worker beside it, until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--processes", type=int, default=max(2, min(8, os.cpu_count() or 2)))

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        if not port_is_free(host, port):
            raise CommandError(
                f"Port {port} on {host} is taken. Stop what uses it, or choose another: --port {port + 1}"
            )
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with installation.services():
                installation.migrate()
                domains = list(Domain.objects.select_related("tenant").order_by("tenant_id"))
                with kept_working(options["processes"], settings.STATE_DIR / "logs" / "worker.log"):
                    for domain in domains:
                        self.stdout.write(f"{domain.tenant.name}: http://{domain.domain}:{port}")
                    if len(domains) < 2:
                        self.stdout.write(
                            "There is no company yet: run the demo, or manage.py create_tenant."
                        )
                    self.stdout.write("Press Ctrl-C to stop.")
                    self.stdout.flush()
                    uvicorn.run(
                        "assay.config.asgi:application", host=host, port=port, log_level="warning", lifespan="off",
                        timeout_graceful_shutdown=10,
                    )  # fmt: skip
        except KeyboardInterrupt:
            pass
        self.stdout.write("Stopped.")
