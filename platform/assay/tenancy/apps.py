from django.apps import AppConfig


class TenancyConfig(AppConfig):
    name = "assay.tenancy"
    label = "tenancy"
    verbose_name = "Tenants"
