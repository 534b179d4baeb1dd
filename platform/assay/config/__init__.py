"""Settings, URLs and the processes' entry points (ASGI, Celery)."""
