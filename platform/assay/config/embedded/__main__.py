"""`python -m assay.config.embedded COMMAND...`: run a command with the services up.

Postgres' own programs (psql, pg_dump, pg_restore) are on its PATH and find the embedded database by themselves.
"""

from __future__ import annotations

import os
import subprocess
import sys

from assay.config import embedded, environment
from assay.config.embedded.postgres import DATABASE, programs


def main(command: list[str]) -> int:
    if not command:
        print(__doc__, file=sys.stderr)
        return 2
    if "postgres" not in embedded.needed():
        print(f"{environment.DATABASE} is set: use that server's own programs.", file=sys.stderr)
        return 2
    place = {
        "PGHOST": str(environment.run_dir() / "pg"),
        "PGPORT": "5432",
        "PGUSER": "postgres",
        "PGDATABASE": DATABASE,
    }
    path = os.pathsep.join([str(programs()), os.environ.get("PATH", os.defpath)])
    with embedded.services():
        return subprocess.run(command, env={**os.environ, **place, "PATH": path}, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except environment.EnvironmentProblem as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit(130)
