"""Simulated users and personas by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from assay.engine.blame import blamed
from assay.engine.dialogue.manners import Part
from assay.engine.dialogue.modelled import LINE_SECONDS, TRIES, ModelledUsers
from assay.engine.dialogue.scripted import ScriptedUser
from assay.plugins.bots import Secret, build_model
from assay.plugins.manager import get_manager
from assay.plugins.options import env_secret, pick, read_options
from assay_sdk import OptionsError, PersonaType, SimulatedUser, UserScript

SCRIPTED = "scripted"

UserMaker = Callable[[UserScript, Part | None, int], SimulatedUser]


class AuditOptions(BaseModel):
    """Options of a model-driven user that are not its model's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tries: Annotated[int, Field(ge=1, le=10)] = Field(
        TRIES, description="Lines that the model may write for one moment before the trial is void"
    )
    audit_model: str | None = Field(
        None, description="A model, NAME:MODEL, asked where wording decides; without it rules are all"
    )
    audit_options: dict[str, Any] = Field(
        default_factory=dict, description="Options of the model that audits, as for the one that plays"
    )


def choose_persona(name: str, options: Mapping[str, Any]) -> tuple[PersonaType, BaseModel]:
    """The persona type of that name and its checked options, from which each trial builds its own. OptionsError."""
    kind = pick("persona", name, get_manager().personas())
    with blamed(f"persona {name}"):
        return kind, read_options(f"persona {name!r}", kind.options, options)


def build_user(
    spec: str, options: Mapping[str, Any], secret: Secret = env_secret
) -> tuple[UserMaker, float | None]:
    """What makes the users of a run, and the seconds that one of their lines may take (None: the usual).

    `spec`: "scripted", or the model that plays, NAME:MODEL. `options`: those of that model and of AuditOptions.
    Raises OptionsError; PluginFault when a plugin breaks.
    """
    if spec.strip() in ("", SCRIPTED):
        if options:
            raise OptionsError(f"The {SCRIPTED} user has no options; leave out {', '.join(sorted(options))}.")
        return ScriptedUser, None
    own = {name: value for name, value in options.items() if name in AuditOptions.model_fields}
    audit: AuditOptions = read_options("the user", AuditOptions, own)
    if audit.audit_options and audit.audit_model is None:
        raise OptionsError("The user has audit_options without an audit_model; name the model too.")
    model = build_model(spec, {n: v for n, v in options.items() if n not in own}, secret)
    second = build_model(audit.audit_model, audit.audit_options, secret) if audit.audit_model else None
    return ModelledUsers(model, second, audit.tries), LINE_SECONDS


def describe_user(spec: str, user: UserMaker, options: Mapping[str, Any]) -> dict[str, Any]:
    """For the manifest, without secrets. `spec` and `options` as given to build_user, which made `user`."""
    if isinstance(user, ModelledUsers):
        return {"spec": spec.strip(), **user.describe(), "audit_spec": options.get("audit_model")}
    return {"spec": SCRIPTED, "kind": SCRIPTED}


def models_of(spec: str, options: Mapping[str, Any]) -> list[str]:
    """The specs of the chat models that take part in a user."""
    if spec.strip() in ("", SCRIPTED):
        return []
    audit = options.get("audit_model")
    return [spec.strip(), *([audit] if isinstance(audit, str) else [])]
