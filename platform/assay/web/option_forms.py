"""A form made from the options of something that a plugin brings (a pydantic model).

Everything may be left empty: what is not set here is the plugin's own, or is said by whoever uses it. Whether a value
fits is the model's to say; the form only reads what was typed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from pydantic import BaseModel

from assay.web.forms import OptionsField

_LONG = 300  # a text that may be longer, or has lines, gets an area


class PartOptionsForm(forms.Form):
    """The options of one part. `options()` is what was set, by the options' own names."""

    def __init__(self, model: type[BaseModel], values: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        schema = _schema(model)
        known = schema.get("properties", {})
        for name, told in known.items():
            described = _resolve(told, schema)
            field = _field(described)
            field.required = False
            field.label = name
            field.help_text = _help(described, told, name in schema.get("required", ()))
            field.initial = _shown(field, values.get(name))
            self.fields[name] = field

    def options(self) -> dict[str, Any]:
        """What was set: a field that was left empty is not there. Call it when the form is valid."""
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}

    def refuse(self, problems: Sequence[tuple[str, str]]) -> None:
        """Put each problem beside the option that it is about."""
        for name, said in problems:
            self.add_error(name if name in self.fields else None, f"{said[:1].upper()}{said[1:]}.")


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    try:
        return dict(model.model_json_schema(mode="validation"))
    except Exception:  # noqa: BLE001 - a type of the plugin's own that no schema tells; each option is then JSON
        names = {field.alias or name: field for name, field in model.model_fields.items()}
        return {
            "properties": {name: {"description": field.description or ""} for name, field in names.items()},
            "required": [name for name, field in names.items() if field.is_required()],
        }


def _resolve(told: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """What an option takes besides null, with references followed."""
    found = dict(told)
    for _ in range(5):
        choices = [c for c in found.get("anyOf", found.get("allOf", ())) if c.get("type") != "null"]
        if "$ref" in found:
            name = str(found.pop("$ref")).rpartition("/")[2]
            found = {**schema.get("$defs", {}).get(name, {}), **found}
        elif len(choices) == 1:
            found = {**choices[0], **{k: v for k, v in found.items() if k not in ("anyOf", "allOf")}}
        else:
            break
    return found


def _field(told: Mapping[str, Any]) -> forms.Field:
    kind = told.get("type")
    if "const" in told or "enum" in told:
        return _choice([(value, str(value)) for value in told.get("enum", [told.get("const")])])
    if kind == "boolean":
        return _choice([(True, "Yes"), (False, "No")])
    if kind == "integer":
        return forms.IntegerField(error_messages={"invalid": "Write a whole number."})
    if kind == "number":
        return forms.FloatField(error_messages={"invalid": "Write a number."})
    if kind == "string":
        long = told.get("maxLength", 0) > _LONG
        widget = forms.Textarea(attrs={"rows": 4}) if long else forms.TextInput
        return forms.CharField(strip=False, max_length=10_000, widget=widget)
    return _Json(
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "code"}),
        error_messages={"invalid": 'Write JSON, such as {"name": "value"} or ["one", "two"].'},
    )


class _Json(OptionsField):
    """What is not set is an empty area, and not null."""

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None else super().prepare_value(value)


def _choice(values: Sequence[tuple[Any, str]]) -> forms.Field:
    # The values travel as JSON, so that True, 1 and "1" stay apart.
    return forms.TypedChoiceField(
        choices=[("", "Not set"), *((json.dumps(value), label) for value, label in values)],
        coerce=json.loads,
        empty_value=None,
    )


def _shown(field: forms.Field, value: Any) -> Any:
    """A stored value as the field shows it."""
    if value is None:
        return None
    if isinstance(field, forms.TypedChoiceField):
        return json.dumps(value)
    return value


def _help(described: Mapping[str, Any], told: Mapping[str, Any], needed: bool) -> str:
    said = str(told.get("description") or described.get("description") or "").strip()
    if needed:
        rest = "Needed: what is not set here has to be said each time"
    elif "default" in told and told["default"] not in (None, "", [], {}):
        rest = f"If not set: {json.dumps(told['default'], ensure_ascii=False)}"
    else:
        rest = ""
    if said and rest and not said.endswith("."):
        said += "."
    return " ".join(part for part in (said, rest) if part)
