"""Make somebody who runs the installation and may sign in on the public schema's host."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from assay.tenancy.management.passwords import new_password
from assay.tenancy.services import TenantError, create_operator, ensure_public


class Command(BaseCommand):
    help = "Make an operator, who manages the companies of this installation in the operators' admin."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True)
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        password = new_password("operator", from_stdin=options["password_stdin"])
        try:
            ensure_public()
            operator = create_operator(email=options["email"], password=password)
        except TenantError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{operator.email} may sign in at {settings.ASSAY_OPERATORS_HOST}.")
