"""A plugin as a third party would write it: one of everything, and nothing imported but assay_sdk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from assay_sdk import (
    BotContext,
    BotEnding,
    BotReply,
    CallAhead,
    ChatReply,
    CheckerType,
    CheckResult,
    ConnectorType,
    FailureReport,
    FaultKind,
    FaultProfileType,
    ModelType,
    NoOptions,
    Outcome,
    PackImporterType,
    PersonaType,
    Role,
    Situation,
    TicketRef,
    TicketSystemType,
    TrialView,
    UserLine,
    UserScript,
    hookimpl,
)

assay_api = 1


class ParrotOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    volume: int = Field(default=1, ge=1, le=3)
    key: str = ""


class ParrotSession:
    async def respond(self, message: str) -> BotReply:
        return BotReply(text=message, ends=BotEnding.CLOSED)

    async def close(self) -> None:
        return None

    def notes(self) -> Mapping[str, Any]:
        return {}


class Parrot:
    synthetic = False

    def __init__(self, target: str, options: ParrotOptions, key: str) -> None:
        self.target, self.options, self.key = target, options, key

    def describe(self) -> Mapping[str, Any]:
        return {"name": "parrot", "target": self.target, "volume": self.options.volume}

    async def open(self, context: BotContext) -> ParrotSession:
        return ParrotSession()

    async def aclose(self) -> None:
        return None


def build_parrot(target: str, options: ParrotOptions, secret: Callable[[str], str]) -> Parrot:
    return Parrot(target, options, secret(options.key) if options.key else "")


class Echo:
    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        seed: int | None = None,
    ) -> ChatReply:
        return ChatReply(text=str(messages[-1]["content"]), tool_calls=(), finish_reason="stop")

    def describe(self) -> Mapping[str, Any]:
        return {"name": "echo"}

    async def aclose(self) -> None:
        return None


class GreeterOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    greeting: str = Field(
        default="Hello there.", min_length=1, max_length=80, description="Said before each line"
    )
    mood: Literal["warm", "cool"] = "warm"
    thanks: bool = False


class Loud:
    def __init__(self, options: GreeterOptions) -> None:
        self.greeting = options.greeting

    def begin(self, script: UserScript) -> Role:
        return Role(script, "You greet the assistant in every message.")

    def shape(self, line: UserLine, situation: Situation) -> UserLine:
        return UserLine(f"{self.greeting} {line.text}", line.done, line.gave_up, line.facts_given)


class SaidSomethingOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    letters: int = Field(ge=1, le=100, default=1, description="How long a text must be to count")
    weights: dict[str, float] = Field(default_factory=dict, description="Unused")


class SaidSomething:
    def __init__(self, options: SaidSomethingOptions) -> None:
        self.letters = options.letters

    def check(self, trial: TrialView) -> CheckResult:
        said = any(event["type"] == "bot" and len(event["text"]) >= self.letters for event in trial.events)
        return CheckResult(
            "said-something", Outcome.PASS if said else Outcome.FAIL, False, 1.0 if said else 0.0
        )


class Notebook:
    def __init__(self) -> None:
        self.pages: dict[str, list[str]] = {}

    def find(self, fingerprint: str) -> TicketRef | None:
        return TicketRef(fingerprint, None) if fingerprint in self.pages else None

    def create(self, failure: FailureReport) -> TicketRef:
        self.pages[failure.fingerprint] = [failure.explanation]
        return TicketRef(failure.fingerprint, None)

    def comment(self, ticket: TicketRef, text: str) -> None:
        self.pages[ticket.id].append(text)

    def check(self) -> str:
        return "a notebook"


@hookimpl
def assay_connectors() -> list[ConnectorType]:
    return [ConnectorType("parrot", "Parrot", ParrotOptions, build_parrot, targets=("green", "grey"))]


@hookimpl
def assay_models() -> list[ModelType]:
    return [ModelType("echo", "Echo", NoOptions, lambda target, options, secret: Echo())]


@hookimpl
def assay_personas() -> list[PersonaType]:
    return [
        PersonaType(
            "greeter",
            "Greeter",
            "Says hello before each line.",
            "All the rest.",
            GreeterOptions,
            lambda options, seed: Loud(options),
        )
    ]


@hookimpl
def assay_checkers() -> list[CheckerType]:
    return [CheckerType("said-something", "Said something", SaidSomethingOptions, SaidSomething)]


class Grumpy:
    """Refuses the first try of every call."""

    def choose(self, call: CallAhead) -> Sequence[FaultKind]:
        return [FaultKind.SERVER_ERROR] if call.in_a_row == 0 and call.number % 2 == 0 else []


@hookimpl
def assay_fault_profiles() -> list[FaultProfileType]:
    return [
        FaultProfileType(
            "grumpy",
            "Grumpy",
            "Every second call meets an internal error (500).",
            NoOptions,
            lambda options, seed: Grumpy(),
        )
    ]


@hookimpl
def assay_pack_importers() -> list[PackImporterType]:
    return [PackImporterType("copy", "Copy", lambda files: "pack.yaml" in files, dict)]


@hookimpl
def assay_ticket_systems() -> list[TicketSystemType]:
    return [TicketSystemType("notebook", "Notebook", NoOptions, lambda options, secret: Notebook())]
