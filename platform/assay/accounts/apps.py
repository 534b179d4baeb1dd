from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "assay.accounts"
    label = "accounts"
    verbose_name = "Accounts"
