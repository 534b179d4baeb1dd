"""`assay plugins list`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from assay.cli.codes import OK, PROBLEMS
from assay.plugins.manager import get_manager


def list_plugins(as_json: bool) -> int:
    """List plugins and what they bring; exit code 1 when something could not be loaded."""
    manager = get_manager()
    kinds: dict[str, Mapping[str, Any]] = {
        "connectors": manager.connectors(),
        "models": manager.models(),
        "personas": manager.personas(),
        "checks": manager.checkers(),
        "fault profiles": manager.fault_profiles(),
        "pack importers": manager.importers(),
        "ticket systems": manager.ticket_systems(),
    }
    failures = [{"plugin": f.plugin, "sentence": f.sentence} for f in manager.failures]
    if as_json:
        shown = {
            "plugins": manager.versions(),
            **{
                kind.replace(" ", "_"): {n: i.title for n, i in found.items()}
                for kind, found in kinds.items()
            },
            "failures": failures,
        }
        print(json.dumps(shown, ensure_ascii=False))
    else:
        for name, version in manager.versions().items():
            print(f"{name} {version}")
        for kind, found in kinds.items():
            print(f"\n{kind}:")
            for name, item in found.items():
                print(f"  {name}: {item.title}")
            if not found:
                print("  none")
        for failure in failures:
            print(f"{failure['plugin']}: {failure['sentence']}", file=sys.stderr)
    return PROBLEMS if failures else OK
