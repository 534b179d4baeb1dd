from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """An app for the sake of the commands that start processes; it has no models."""

    name = "assay.config"
    label = "processes"

    def ready(self) -> None:
        """Have every process send its messages to our broker, not only those that Celery starts."""
        from assay.config import celery  # noqa: F401
