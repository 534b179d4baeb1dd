from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "assay.reports"
    label = "reports"
    verbose_name = "Reports"
