"""Forms: they read what a person typed. Whether it makes sense is for the services to say."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError

from assay.bots.models import BotVersion
from assay.packs.models import PackVersion
from assay.plugin_choices.services import available
from assay.runs.gate_text import read_conditions
from assay_sdk import OptionsError

LARGEST_UPLOAD = 55 * 1024 * 1024  # a pack is at most 50 MB; the rest of the bounds are the loader's


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "This e-mail address and password do not belong together here.",
        "inactive": "This account is switched off.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "E-mail address"


class PackUploadForm(forms.Form):
    file = forms.FileField(
        label="A pack's folder, as a zip",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
        error_messages={"required": "Choose a zip of the pack's folder."},
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > LARGEST_UPLOAD:
            raise ValidationError(f"The file has {file.size:,} bytes; the most is {LARGEST_UPLOAD:,}.")
        return file


class TaskForm(forms.Form):
    yaml = forms.CharField(
        label="Task",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 30, "spellcheck": "false", "class": "code"}),
    )


class OptionsField(forms.JSONField):
    """Shows half a surrogate pair again as the escape that it came as: no page can hold it otherwise."""

    def prepare_value(self, value: Any) -> Any:
        text = super().prepare_value(value)
        return text.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(text, str) else text


def _options_of(given: Any) -> dict[str, Any]:
    if given in (None, ""):
        return {}
    if not isinstance(given, dict):
        raise ValidationError('Options are a JSON object, such as {"base_url": "https://..."}.')
    return given


class OptionsForm(forms.Form):
    """Options of something that a plugin brings: a JSON object."""

    options = OptionsField(
        required=False,
        initial=dict,
        help_text="A JSON object. Secrets only by reference: secret:NAME",
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "class": "code"}),
    )

    def clean_options(self) -> dict[str, Any]:
        return _options_of(self.cleaned_data["options"])


class BotVersionForm(OptionsForm):
    spec = forms.CharField(
        label="Bot", max_length=200, help_text="CONNECTOR:TARGET, for example litellm:openai/my-model"
    )

    field_order = ["spec", "options"]


class BotForm(BotVersionForm):
    name = forms.CharField(max_length=100)
    description = forms.CharField(required=False, max_length=2000)

    field_order = ["name", "spec", "options", "description"]


class RunForm(forms.Form):
    """What a run is planned from. An empty gate means there is none."""

    pack_version = forms.ModelChoiceField(
        PackVersion.objects.select_related("pack").defer("bundle").order_by("-id"), label="Pack version"
    )
    bot_version = forms.ModelChoiceField(
        BotVersion.objects.select_related("bot").order_by("bot__name", "-number"), label="Bot version"
    )
    trials = forms.IntegerField(
        label="Trials of each task",
        initial=20,
        min_value=1,
        help_text="One success is not reliability: 20 show whether the bot is right every time",
    )
    tasks = forms.CharField(
        required=False, max_length=200, help_text="A pattern such as RET-RMA-*; empty: every enabled task"
    )
    persona = forms.ChoiceField(required=False, help_text="How the simulated customer talks")
    user = forms.CharField(
        label="Customer",
        required=False,
        initial="scripted",
        max_length=300,
        help_text="Who plays the customer: scripted, or a model, for example litellm:openai/gpt-5-mini",
    )
    user_options = OptionsField(
        label="Options of the customer's model",
        required=False,
        initial=dict,
        help_text='A JSON object, such as {"api_key": "secret:OPENAI", "audit_model": "litellm:openai/gpt-5-mini"}',
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "class": "code"}),
    )
    faults = forms.ChoiceField(
        label="Faults on purpose",
        required=False,
        help_text="Tool calls go wrong now and then, always so that a bot can get over it",
    )
    fault_options = OptionsField(
        label="Options of the faults",
        required=False,
        initial=dict,
        help_text='A JSON object, such as {"rate": 0.3}; empty: as the profile has it',
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "class": "code"}),
    )
    judge = forms.CharField(
        required=False,
        max_length=300,
        help_text="The model that judges reply rules which need one, for example litellm:openai/gpt-5-mini; "
        "without it such a trial is void",
    )
    judge_options = OptionsField(
        label="Options of the judge's model",
        required=False,
        initial=dict,
        help_text='A JSON object, such as {"api_key": "secret:OPENAI"}',
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "class": "code"}),
    )
    judge_votes = forms.IntegerField(
        label="Votes of the judge",
        required=False,
        initial=3,
        min_value=1,
        max_value=15,
        help_text="How often the judge is asked about each rule, both ways round",
    )
    checks = forms.MultipleChoiceField(
        label="Other checks",
        required=False,
        help_text="They are reported beside the figures and decide about no trial, unless the gate names one",
        widget=forms.CheckboxSelectMultiple,
    )
    seed = forms.IntegerField(required=False, min_value=0, help_text="Empty: drawn at random")
    gate_metric = forms.ChoiceField(
        label="Figure",
        required=False,
        choices=[
            ("", "No gate"),
            ("pass_hat", "pass^k: right all k times"),
            ("pass_at", "pass@k: right at least once"),
        ],
    )
    gate_k = forms.IntegerField(label="k, the number of trials", required=False, min_value=1, initial=5)
    gate_at_least = forms.FloatField(label="At least", required=False, initial=0.9, min_value=0, max_value=1)
    gate_checks = forms.CharField(
        label="Other checks that must be shown",
        required=False,
        max_length=2000,
        help_text="One a line, by the share of trials that pass it, such as communication.promises >= 0.95",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "class": "code"}),
    )
    gate_in_every_group = forms.BooleanField(
        label="In every group of tasks, not only over all", required=False
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        personas = available("persona")
        field: Any = self.fields["persona"]
        field.choices = [("", "As the task says"), *((name, kind.title) for name, kind in personas.items())]
        profiles: Any = self.fields["faults"]
        known = available("fault profile")
        profiles.choices = [("", "None"), *((n, k.title) for n, k in known.items() if n != "none")]
        checks: Any = self.fields["checks"]
        checks.choices = [(name, kind.title) for name, kind in available("check").items()]
        if not checks.choices:
            del self.fields["checks"]
        # The newest of each, unless the page that led here chose one.
        for name in ("pack_version", "bot_version"):
            chooser: Any = self.fields[name]
            chooser.empty_label = None
            if not self.initial.get(name):
                self.initial[name] = chooser.queryset.order_by("-pk").values_list("pk", flat=True).first()

    def what(self) -> list[forms.BoundField]:
        return [field for field in self if not field.name.startswith("gate_")]

    def gate(self) -> list[forms.BoundField]:
        return [field for field in self if field.name.startswith("gate_")]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("gate_metric"):
            for name in ("gate_k", "gate_at_least"):
                if data.get(name) is None and name not in self.errors:
                    self.add_error(name, "A gate needs this.")
        elif data.get("gate_checks"):
            self.add_error("gate_metric", "A gate on other checks needs a figure of the trials too.")
        return data

    def clean_gate_checks(self) -> list[dict[str, Any]]:
        try:
            return read_conditions(self.cleaned_data["gate_checks"])
        except OptionsError as error:
            raise ValidationError(str(error)) from None

    def clean_user_options(self) -> dict[str, Any]:
        return _options_of(self.cleaned_data["user_options"])

    def clean_judge_options(self) -> dict[str, Any]:
        return _options_of(self.cleaned_data["judge_options"])

    def clean_fault_options(self) -> dict[str, Any]:
        return _options_of(self.cleaned_data["fault_options"])

    def plan(self) -> dict[str, Any]:
        """The arguments of plan_run."""
        data = self.cleaned_data
        gate = None
        if data["gate_metric"]:
            gate = {
                "metric": data["gate_metric"],
                "k": data["gate_k"],
                "at_least": data["gate_at_least"],
                "checks": data["gate_checks"],
                "in_every_group": data["gate_in_every_group"],
            }
        return {
            "pack_version": data["pack_version"],
            "bot_version": data["bot_version"],
            "trials": data["trials"],
            "tasks": data["tasks"].strip() or None,
            "persona": data["persona"],
            "user": data["user"],
            "user_options": data["user_options"],
            "faults": data["faults"],
            "fault_options": data["fault_options"] if data["faults"] else {},
            "judge": data["judge"],
            "judge_options": data["judge_options"] if data["judge"].strip() else {},
            "judge_votes": data["judge_votes"] or 3,
            "checkers": [{"name": name} for name in data.get("checks", ())],
            "seed": data["seed"],
            "gate": gate,
        }


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="What it is for")


class SecretForm(forms.Form):
    name = forms.CharField(max_length=64, help_text="Used as secret:NAME")
    value = forms.CharField(
        strip=False, max_length=10_000, widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )


class WebhookForm(forms.Form):
    url = forms.CharField(label="URL", max_length=2000, widget=forms.URLInput)
    description = forms.CharField(required=False, max_length=200)


class TicketOptionsForm(OptionsForm):
    """The options of a ticket system that is connected already."""


class TicketConnectionForm(OptionsForm):
    name = forms.CharField(max_length=100)
    system = forms.ChoiceField(label="Ticket system")

    field_order = ["name", "system", "options"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["system"]
        field.choices = [(name, kind.title) for name, kind in available("ticket system").items()]
