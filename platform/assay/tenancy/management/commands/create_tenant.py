"""Make a tenant from the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from assay.tenancy.management.passwords import new_password
from assay.tenancy.services import TenantError, create_tenant, ensure_public


class Command(BaseCommand):
    help = "Make a company: its schema, host name and owner, all or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", required=True, help="the company, for people")
        parser.add_argument("--schema", required=True, help="the Postgres schema, for example acme")
        parser.add_argument("--host", required=True, help="the host name, for example acme.example.com")
        parser.add_argument("--owner-email", required=True)
        parser.add_argument(
            "--owner-password-stdin",
            action="store_true",
            help="read the owner's password from standard input",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        password = new_password("owner", from_stdin=options["owner_password_stdin"])
        try:
            ensure_public()
            tenant = create_tenant(
                name=options["name"],
                schema=options["schema"],
                host=options["host"],
                owner_email=options["owner_email"],
                owner_password=password,
            )
        except TenantError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{tenant.name} is ready at {options['host'].lower()}.")
