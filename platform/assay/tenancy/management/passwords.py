"""A new password from the command line."""

from __future__ import annotations

import getpass
import sys

from django.core.management.base import CommandError


def new_password(whose: str, *, from_stdin: bool) -> str:
    """Read from standard input, or asked for twice. Raises CommandError."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass(f"Password of the {whose}: ")
    if getpass.getpass("Again: ") != password:
        raise CommandError("The two passwords differ; nothing was made.")
    return password
