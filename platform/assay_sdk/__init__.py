"""All that a plugin may import: frozen contracts and hook specifications. No Django, no engine."""

from assay_sdk.bots import (
    AnswerKey,
    BotContext,
    BotEnding,
    BotReply,
    BotSession,
    Connector,
    ConnectorType,
    Meter,
    NoOptions,
)
from assay_sdk.checks import Checker, CheckerType, CheckResult, Evidence, Outcome, TrialView
from assay_sdk.faults import (
    AssayError,
    BotFault,
    LimitReached,
    OptionsError,
    PackFault,
    PlatformFault,
    PluginFault,
    ProviderOutage,
    SimulatorFault,
)
from assay_sdk.hooks import API_VERSION, ENTRY_POINT_GROUP, hookimpl
from assay_sdk.importers import ImportProblem, PackImporterType
from assay_sdk.models import ChatModel, ChatReply, ModelType, ToolCallRequest
from assay_sdk.tickets import FailureReport, TicketRef, TicketSystem, TicketSystemError, TicketSystemType
from assay_sdk.tools import ToolDoor, ToolKind, ToolResult, ToolSpec
from assay_sdk.users import Fact, Persona, PersonaType, Reaction, SimulatedUser, UserLine, UserScript

__all__ = [
    "API_VERSION",
    "ENTRY_POINT_GROUP",
    "AnswerKey",
    "AssayError",
    "BotContext",
    "BotEnding",
    "BotFault",
    "BotReply",
    "BotSession",
    "ChatModel",
    "ChatReply",
    "CheckResult",
    "Checker",
    "CheckerType",
    "Connector",
    "ConnectorType",
    "Evidence",
    "Fact",
    "FailureReport",
    "ImportProblem",
    "LimitReached",
    "Meter",
    "ModelType",
    "NoOptions",
    "OptionsError",
    "Outcome",
    "PackFault",
    "PackImporterType",
    "Persona",
    "PersonaType",
    "PlatformFault",
    "PluginFault",
    "ProviderOutage",
    "Reaction",
    "SimulatedUser",
    "SimulatorFault",
    "TicketRef",
    "TicketSystem",
    "TicketSystemError",
    "TicketSystemType",
    "ToolCallRequest",
    "ToolDoor",
    "ToolKind",
    "ToolResult",
    "ToolSpec",
    "TrialView",
    "UserLine",
    "UserScript",
    "hookimpl",
]
