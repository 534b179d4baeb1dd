from django.apps import AppConfig


class IntegrationsConfig(AppConfig):
    name = "assay.integrations"
    label = "integrations"
    verbose_name = "Integrations"
