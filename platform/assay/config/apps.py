from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """An app for the sake of the commands that start processes; it has no models."""

    name = "assay.config"
    label = "processes"
