"""The Celery application. Postgres holds the truth; Celery only wakes workers.

Messages carry the tenant's schema in a header (tenant-schemas-celery), so a task runs in the schema it was
queued from. Tasks that touch runs name their schema as an argument besides, and check that it exists.
"""

from __future__ import annotations

import os

from tenant_schemas_celery.app import CeleryApp

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assay.config.settings")

app = CeleryApp("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# For every thread: without it, threads that serve requests would send to Celery's own default broker.
app.set_default()
