"""How often plugins failed in a run, by plugin: attempts that were void for it, and checks that said nothing."""

from __future__ import annotations

from typing import Any

from django.db import connection

from assay.plugins.parts import failures_by_plugin
from assay.runs.models import Run

# Of a void trial the attempts are counted, and not its last evidence besides.
_COUNT = """
WITH failed AS (
    SELECT a.id AS place, a.at, f.failure
    FROM runs_trialattempt a JOIN runs_trial t ON t.id = a.trial_id
    CROSS JOIN LATERAL jsonb_array_elements(a.plugin_failures) AS f(failure)
    WHERE t.run_id = %(run)s AND a.plugin_failures <> '[]'
    UNION ALL
    SELECT t.id, t.finished_at, f.failure
    FROM runs_evidence e JOIN runs_trial t ON t.id = e.trial_id
    CROSS JOIN LATERAL jsonb_array_elements(e.plugin_failures) AS f(failure)
    WHERE t.run_id = %(run)s AND t.status <> 'void' AND e.plugin_failures <> '[]'
)
SELECT failure ->> 'part', count(*), (array_agg(failure ->> 'sentence' ORDER BY at DESC, place DESC))[1]
FROM failed GROUP BY 1 ORDER BY 1
"""


def plugin_failures(run: Run) -> dict[str, dict[str, Any]]:
    """By plugin {"count", "parts": {part: count}, "last": its last sentence}, the most frequent first."""
    if run.finished_at is not None and "plugin_failures" in run.manifest:
        return dict(run.manifest["plugin_failures"])  # counted when it ended
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"run": run.pk})
        counted = [
            (str(part), int(count), str(sentence or "")) for part, count, sentence in cursor.fetchall()
        ]
    return failures_by_plugin(run.manifest.get("plugins") or {}, counted)
