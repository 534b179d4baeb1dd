from django.apps import AppConfig


class BotsConfig(AppConfig):
    name = "assay.bots"
    label = "bots"
    verbose_name = "Bots"
