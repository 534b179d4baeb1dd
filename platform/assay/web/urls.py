"""The pages of a tenant's site."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from assay.web.views import (
    bots,
    home,
    integrations,
    packs,
    plugins,
    regrades,
    runs,
    secrets,
    signing_in,
    tokens,
    trials,
)

urlpatterns = [
    path("sign-in/", signing_in.SignIn.as_view(), name="sign-in"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("", home.home, name="home"),
    path("packs/", packs.pack_list, name="packs"),
    path("packs/upload/", packs.upload, name="pack-upload"),
    path("packs/versions/<int:pk>/", packs.version, name="pack-version"),
    path("packs/versions/<int:pk>/failures/", trials.failures, name="pack-failures"),
    path("packs/versions/<int:pk>/policy/", packs.policy, name="pack-policy"),
    path("packs/versions/<int:pk>/verification/", packs.verification, name="pack-verification"),
    path(
        "packs/versions/<int:pk>/verification/report/",
        packs.verification_report,
        name="pack-verification-report",
    ),
    path("packs/versions/<int:pk>/verify/", packs.verify_again, name="pack-verify"),
    path("packs/versions/<int:pk>/download/", packs.download, name="pack-download"),
    path("tasks/<int:pk>/", packs.task, name="task"),
    path("tasks/<int:pk>/switch/", packs.switch, name="task-switch"),
    path("bots/", bots.bot_list, name="bots"),
    path("bots/<int:pk>/", bots.bot, name="bot"),
    path("runs/", runs.run_list, name="runs"),
    path("runs/new/", runs.new, name="run-new"),
    path("runs/<int:pk>/", runs.run, name="run"),
    path("runs/<int:pk>/progress/", runs.progress, name="run-progress"),
    path("runs/<int:pk>/move/", runs.move, name="run-move"),
    path("runs/<int:pk>/report/", runs.report, name="run-report"),
    path("runs/<int:pk>/tasks/<str:task_id>/", runs.task_trials, name="run-task"),
    path("runs/<int:pk>/regrades/", regrades.of_run, name="run-regrades"),
    path("runs/<int:pk>/regrade/", regrades.plan, name="run-regrade"),
    path("regrades/<int:pk>/", regrades.regrade, name="regrade"),
    path("trials/<int:pk>/", trials.trial, name="trial"),
    path("trials/<int:pk>/state/", trials.state, name="trial-state"),
    path("trials/<int:pk>/alike/", trials.alike_trials, name="trial-alike"),
    path("integrations/", integrations.overview, name="integrations"),
    path("integrations/webhooks/", integrations.add_webhook, name="webhook-add"),
    path("integrations/webhooks/<int:pk>/", integrations.webhook, name="webhook"),
    path("integrations/deliveries/<int:pk>/again/", integrations.again, name="delivery-again"),
    path("integrations/tickets/", integrations.connect, name="tickets-connect"),
    path("integrations/tickets/<int:pk>/", integrations.connection, name="tickets"),
    path("plugins/", plugins.plugin_list, name="plugins"),
    path("plugins/<str:name>/", plugins.plugin, name="plugin"),
    path("secrets/", secrets.secret_list, name="secrets"),
    path("secrets/<int:pk>/delete/", secrets.delete, name="secret-delete"),
    path("tokens/", tokens.token_list, name="tokens"),
    path("tokens/<int:pk>/revoke/", tokens.revoke, name="token-revoke"),
]
