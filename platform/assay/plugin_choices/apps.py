from django.apps import AppConfig


class PluginChoicesConfig(AppConfig):
    name = "assay.plugin_choices"
    label = "plugin_choices"
    verbose_name = "Plugins"
