from django.apps import AppConfig


class PacksConfig(AppConfig):
    name = "assay.packs"
    label = "packs"
    verbose_name = "Domain packs"
