from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "assay.runs"
    label = "runs"
    verbose_name = "Runs"
