from __future__ import annotations

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.routers import SimpleRouter

from assay.api import plugins, views

router = SimpleRouter()
router.register("packs", views.PackViewSet)
router.register("pack-versions", views.PackVersionViewSet)
router.register("tasks", views.TaskViewSet)
router.register("bots", views.BotViewSet)
router.register("runs", views.RunViewSet)
router.register("plugins", plugins.PluginViewSet, basename="plugin")
router.register("trials", views.TrialViewSet)
router.register("regrades", views.RegradeViewSet)
router.register("regraded-trials", views.RegradedTrialViewSet)

urlpatterns = [
    path("v1/", include(router.urls)),
    path("v1/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("v1/docs/", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
]
