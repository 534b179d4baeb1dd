#!/usr/bin/env python
"""Django's management commands, with platform/ on the path."""

import os
import sys
from pathlib import Path


def main() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parent / "platform"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assay.config.settings")
    from django.core.management import execute_from_command_line

    from assay.config.environment import EnvironmentProblem

    try:
        execute_from_command_line(sys.argv)
    except (
        EnvironmentProblem
    ) as problem:  # before a command could say it: the settings need a folder and a key
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
